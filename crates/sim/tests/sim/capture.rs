//! A captured link, as other programs see it.

use std::io::Write;
use std::process::Command;

use bytes::Bytes;
use skywave_sim::{Registry, RunError, RunOptions, Scenario, run};
use skywave_wire::capture::{Reader, Transport};

use crate::skipped;
use crate::support::SharedFile;

const SCENARIO: &str = r#"
    name = "captured"
    duration = "4 s"
    dumbbell = { pairs = 1, rate = "1 Mbps", delay = "20 ms", queue = { drop-tail = { packets = 5 } }, access_rate = "10 Mbps", access_delays = ["1 ms"] }

    [[flows]]
    name = "dccp"
    from = "s1"
    to = "d1"
    stop = "3 s"
    transport = { dccp = {} }
    source = { ftp = { datagram = "500 B" } }

    [[flows]]
    name = "tcp"
    from = "s1"
    to = "d1"
    transport = { tcp = {} }
    source = { ftp = { size = "100 kB" } }
"#;

/// The captures of both directions of the bottleneck, and the number of packets delivered there.
fn captures() -> (Vec<Vec<u8>>, u64) {
    let scenario = Scenario::from_toml(SCENARIO, &Registry::default()).unwrap();
    let files = [SharedFile::default(), SharedFile::default()];
    let captures = ["r1->r2", "r2->r1"]
        .into_iter()
        .zip(&files)
        .map(|(link, file)| {
            (
                link.to_owned(),
                Box::new(file.clone()) as Box<dyn Write + Send>,
            )
        })
        .collect();
    let options = RunOptions {
        captures,
        ..RunOptions::default()
    };
    let summary = run(&scenario, &Registry::default(), options, |_| true)
        .unwrap()
        .summary;
    let delivered = summary
        .links
        .iter()
        .filter(|link| ["r1->r2", "r2->r1"].contains(&link.name.as_str()));
    let packets = delivered.map(|link| link.delivered).sum();
    (files.iter().map(SharedFile::bytes).collect(), packets)
}

#[test]
fn a_capture_holds_every_packet_of_the_link() {
    let (files, packets) = captures();
    let mut seen = 0;
    for file in files {
        for frame in Reader::new(Bytes::from(file)).unwrap() {
            let decoded = frame.unwrap().decode(&[]).unwrap();
            assert!(!matches!(decoded.transport, Transport::Other), "{decoded}");
            seen += 1;
        }
    }
    assert_eq!(seen, packets);
}

#[test]
fn tshark_reads_it_without_a_complaint() {
    // Nothing can replace tshark as a judge; CI installs it.
    if Command::new("tshark").arg("--version").output().is_err() {
        return skipped::skipped("tshark is not installed: apt-get install tshark");
    }
    let (files, packets) = captures();
    let mut seen = 0;
    for (index, file) in files.into_iter().enumerate() {
        let path =
            std::env::temp_dir().join(format!("skywave-{}-{index}.pcapng", std::process::id()));
        std::fs::write(&path, file).unwrap();
        let output = Command::new("tshark")
            .args([
                "-o",
                "dccp.check_checksum:TRUE",
                "-o",
                "tcp.check_checksum:TRUE",
            ])
            .args([
                "-T",
                "fields",
                "-e",
                "frame.protocols",
                "-e",
                "_ws.expert.severity",
            ])
            .args(["-e", "_ws.expert.message", "-e", "_ws.malformed", "-r"])
            .arg(&path)
            .output()
            .unwrap();
        std::fs::remove_file(&path).unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        for line in text.lines() {
            seen += 1;
            assert!(line.contains(":dccp") || line.contains(":tcp"), "{line}");
            assert!(!line.to_lowercase().contains("malformed"), "{line}");
            assert!(!line.to_lowercase().contains("checksum"), "{line}");
        }
    }
    assert_eq!(seen, packets);
}

#[test]
fn an_unknown_link_is_named() {
    let scenario = Scenario::from_toml(SCENARIO, &Registry::default()).unwrap();
    let file: Box<dyn Write + Send> = Box::new(SharedFile::default());
    let captures = vec![("r1->r9".to_owned(), file)];
    let options = RunOptions {
        captures,
        ..RunOptions::default()
    };
    let error = run(&scenario, &Registry::default(), options, |_| true).unwrap_err();
    assert!(
        matches!(&error, RunError::UnknownLink { link, .. } if link == "r1->r9"),
        "{error}"
    );
    assert!(error.to_string().contains("r1->r2"), "{error}");
}
