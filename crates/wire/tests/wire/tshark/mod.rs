//! tshark decodes emitted packets to the intended values.
//!
//! Nothing can replace tshark here: without it these tests are skipped, with a message on stderr.
//! CI installs it.

mod dccp;
mod ip;
mod tcp;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use skywave_units::Instant;
use skywave_wire::capture::Writer;
use skywave_wire::ip::{DEFAULT_HOP_LIMIT, IpPacket};
use skywave_wire::{AddressPair, Ecn};

use crate::skipped;

/// tshark's value for a correct checksum.
pub(crate) const CHECKSUM_GOOD: &str = "1";

pub(crate) fn pairs() -> [AddressPair; 2] {
    [
        ("192.0.2.1", "198.51.100.2"),
        ("2001:db8::1", "2001:db8:1::2"),
    ]
    .map(|(source, destination)| {
        AddressPair::new(source.parse().unwrap(), destination.parse().unwrap()).unwrap()
    })
}

pub(crate) fn is_installed() -> bool {
    let version = Command::new("tshark").arg("--version").output();
    let installed = version.is_ok_and(|output| output.status.success());
    if !installed {
        skipped::skipped("tshark is not installed: apt-get install tshark");
    }
    installed
}

/// Writes a capture of these packets for tshark.
pub(crate) fn capture(
    name: &str,
    protocol: u8,
    packets: &[(AddressPair, Ecn, Vec<u8>)],
) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let mut writer = Writer::new(File::create(&path).unwrap()).unwrap();
    let link = writer.add_interface("bottleneck").unwrap();
    for (index, (addresses, ecn, payload)) in packets.iter().enumerate() {
        let (addresses, ecn) = (*addresses, *ecn);
        let payload = payload.clone().into();
        let mut bytes = Vec::new();
        IpPacket {
            identification: 0,
            addresses,
            ecn,
            hop_limit: DEFAULT_HOP_LIMIT,
            protocol,
            payload,
        }
        .emit(&mut bytes)
        .unwrap();
        let time = Instant::from_nanos(1_000_000_007 * index as u64);
        writer
            .write(link, time, &bytes, bytes.len() as u32)
            .unwrap();
    }
    path
}

/// tshark's values of `fields` for each packet; repeated values are joined by commas.
pub(crate) fn tshark(path: &Path, fields: &[&str]) -> Vec<Vec<String>> {
    let mut command = Command::new("tshark");
    command.arg("-n").arg("-r").arg(path);
    for preference in [
        "dccp.check_checksum:TRUE",
        "dccp.relative_sequence_numbers:FALSE",
        "tcp.check_checksum:TRUE",
        "tcp.relative_sequence_numbers:FALSE",
        "tcp.analyze_sequence_numbers:FALSE",
        "ip.check_checksum:TRUE",
    ] {
        command.args(["-o", preference]);
    }
    command.args([
        "-T",
        "fields",
        "-E",
        "separator=|",
        "-E",
        "occurrence=a",
        "-E",
        "aggregator=,",
    ]);
    for field in fields {
        command.args(["-e", field]);
    }
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    text.lines()
        .map(|line| line.split('|').map(str::to_owned).collect())
        .collect()
}
