//! Measures what a mark costs in the kernel: by the kernel's run statistics, on real packets
//! between two network namespaces, and by running the program repeatedly on one frame. Needs root,
//! `ip` and clang.
//!
//! ```text
//! cargo run --release --package skywave-kernel-router --example cost
//! ```

use std::error::Error;
use std::net::UdpSocket;
use std::process::Command;

use nix::sys::socket::{setsockopt, sockopt};
use skywave_emulate::Namespace;
use skywave_kernel_router::{Config, LinkHeader, Object, Program};
use skywave_mpcp::RouterParameters;
use skywave_units::Rate;
use skywave_wire::dccp::{Kind, OptionList, Packet, SeqNo};
use skywave_wire::{Checksum, Ecn, Payload};

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

const PACKETS: u64 = 200_000;
const REPEAT: u32 = 1_000_000;
const DATA: u32 = 1000;
/// The port of DCCP in UDP.
const PORT: u16 = 6511;
/// An overload: every code is raised to 11.
const OVERLOAD: f64 = 9.0;

fn main() -> Outcome<()> {
    let object = Object::compile()?;
    println!("                            run statistics   same frame, no statistics");
    for (name, chain, ecn) in [
        ("counts, no code (00)", 1, Ecn::NotEct),
        ("VCP, nothing to raise", 1, Ecn::Ce),
        ("VCP, raises 01 to 11", 1, Ecn::Ect1),
        ("DPCP over DCCP, raises", 2, Ecn::Ect1),
        ("TPCP over DCCP, raises", 3, Ecn::Ect1),
    ] {
        let (real, raised) = real(&object, chain, ecn)?;
        let same = same(&object, chain, ecn)?;
        println!("{name:26} {real:9.1} ns {same:16.1} ns   ({raised} of {PACKETS} raised)");
    }
    println!("The statistics themselves are in the first column; the second never writes after");
    println!("its first run.");
    Ok(())
}

fn load(object: &Object, chain: u8) -> Outcome<Program> {
    let config = Config {
        load: RouterParameters {
            chain,
            ..RouterParameters::default()
        },
        ..Config::new(Rate::from_bps(4_000_000))
    };
    let mut program = Program::load(object, &config, LinkHeader::Ethernet)?;
    program.set_load(OVERLOAD)?;
    Ok(program)
}

/// Returns a DCCP-Data packet in UDP.
fn dccp(seq: u64) -> Outcome<Vec<u8>> {
    let packet = Packet {
        source_port: 49_152,
        destination_port: 5001,
        ccval: 0,
        cscov: 0,
        extended: true,
        seq: SeqNo::new(seq),
        kind: Kind::Data,
        options: OptionList::new(),
        payload: Payload::Synthetic(DATA),
    };
    Ok(packet.to_bytes(Checksum::Ignored)?.to_vec())
}

/// Sends packets over a device with the program. Returns the mean time of a run in nanoseconds, and
/// how many packets were raised.
fn real(object: &Object, chain: u8, ecn: Ecn) -> Outcome<(f64, u64)> {
    let object = object.clone();
    let near = Namespace::new()?;
    near.run(move || {
        ip("link add marked type veth peer name other")?;
        ip("address add 192.0.2.1/24 dev marked")?;
        ip("link set marked up")?;
        ip("link set other up")?;
        // Nobody answers for it.
        ip("neighbour add 192.0.2.2 lladdr 02:00:00:00:00:02 dev marked")?;
        let mut program = load(&object, chain)?;
        program.attach("marked")?;
        let socket = UdpSocket::bind(("192.0.2.1", 0))?;
        socket.connect(("192.0.2.2", PORT))?;
        setsockopt(&socket, sockopt::Ipv4Tos, &i32::from(ecn.bits()))?;
        let mut packet = dccp(0)?;
        let before = program.run_time()?;
        let statistics = Program::enable_run_time()?;
        for seq in 0..PACKETS {
            // The number is in the last bytes of the header.
            packet[8 + 4..16].copy_from_slice(&(seq as u32).to_be_bytes());
            socket.send(&packet)?;
        }
        let after = program.run_time()?;
        drop(statistics);
        let nanoseconds = (after.time - before.time).as_nanos() as f64;
        let raised = program.counters()?.raised;
        Ok((nanoseconds / (after.runs - before.runs) as f64, raised))
    })
}

/// Runs the program repeatedly on one frame. Returns the mean time in nanoseconds.
fn same(object: &Object, chain: u8, ecn: Ecn) -> Outcome<f64> {
    let program = load(object, chain)?;
    let payload = dccp(1)?;
    let builder = etherparse::PacketBuilder::ethernet2([2; 6], [2; 6])
        .ip(etherparse::IpHeaders::Ipv4(
            etherparse::Ipv4Header {
                ecn: etherparse::IpEcn::try_new(ecn.bits()).unwrap_or_default(),
                ..etherparse::Ipv4Header::new(
                    0,
                    64,
                    etherparse::IpNumber::UDP,
                    [192, 0, 2, 1],
                    [192, 0, 2, 2],
                )?
            },
            Default::default(),
        ))
        .udp(40_000, PORT);
    let mut frame = vec![];
    builder.write(&mut frame, &payload)?;
    Ok(program.time(&frame, REPEAT)?.as_nanos() as f64)
}

/// Runs `ip` in the namespace of the calling thread.
fn ip(arguments: &str) -> Outcome<()> {
    let status = Command::new("ip").args(arguments.split(' ')).status()?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("ip {arguments} has failed").into())
    }
}
