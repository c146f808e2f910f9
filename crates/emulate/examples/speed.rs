//! How exact the emulator is, and how many packets a second it moves, compared with the kernel
//! alone. Needs root, or a user namespace: `unshare --user --map-root-user --net`.
//!
//! ```text
//! cargo run --release --package skywave-emulate --example speed
//! ```

use std::net::{Ipv4Addr, UdpSocket};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use skywave_emulate::{Emulation, Namespace, Network, Options, Registry, Report};
use skywave_scenario::LinkSpec;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// With the headers of IP and UDP a packet has 1,200 bytes.
const DATA: usize = 1172;
const SPAN: Duration = Duration::from_secs(5);

fn main() -> Outcome<()> {
    for (name, link, rate_bps, spins) in [
        (
            "100 Mbps",
            "rate = '100 Mbps'\ndelay = '10 ms'",
            95e6,
            false,
        ),
        (
            "100 Mbps, spin",
            "rate = '100 Mbps'\ndelay = '10 ms'",
            95e6,
            true,
        ),
        (
            "10 Mbps, spin",
            "rate = '10 Mbps'\ndelay = '10 ms'",
            9.5e6,
            true,
        ),
    ] {
        let (report, arrived) = run(link, spins, Some(rate_bps))?;
        let Some(lateness) = report.lateness else {
            return Err("no packet has arrived".into());
        };
        println!(
            "{name}: {arrived} packets; late by {:.0} us (median), {:.0} us (99th percentile), \
             {:.0} us (largest); {:.2} % by more than 1 ms; {} overflows",
            1e6 * lateness.median_s,
            1e6 * lateness.p99_s,
            1e6 * lateness.max_s,
            100.0 * lateness.beyond_1_ms,
            report.overflows,
        );
    }
    let link = "rate = '40 Gbps'\ndelay = '0 s'\nqueue = { drop-tail = { packets = 1000 } }";
    let (report, arrived) = run(link, false, None)?;
    let speed = arrived as f64 / SPAN.as_secs_f64();
    println!(
        "as fast as it can: {speed:.0} packets a second; {} overflows",
        report.overflows
    );
    for (name, qdisc) in [
        ("a pair of interfaces", None),
        (
            "the same behind the kernel's tbf at 40 Gbps",
            Some("tbf rate 40gbit burst 1mb limit 10mb"),
        ),
    ] {
        println!("{name}: {:.0} packets a second", kernel(qdisc)?);
    }
    Ok(())
}

/// Returns how many packets a second pass a plain pair of interfaces behind one of the kernel's
/// disciplines, as fast as possible. Needs `ip` and `tc`.
fn kernel(qdisc: Option<&'static str>) -> Outcome<f64> {
    let (from, to) = (Ipv4Addr::new(10, 9, 0, 1), Ipv4Addr::new(10, 9, 0, 2));
    let [near, far] = [Namespace::new()?, Namespace::new()?];
    // The first process in a namespace gives it a number for `ip`.
    let mut holder = far.run(|| Command::new("sleep").arg("60").spawn())?;
    let there = holder.id();
    let set_up = format!(
        "ip link add near0 type veth peer name far0 netns {there} && ip address add {from}/24 dev near0 && \
         ip link set near0 up && ethtool -K near0 tx off >/dev/null && \
         nsenter -t {there} -n sh -c 'ip address add {to}/24 dev far0 && ip link set far0 up'"
    );
    let shape = qdisc.map_or(String::new(), |qdisc| {
        format!(" && tc qdisc add dev near0 root {qdisc}")
    });
    let done = near.run(move || {
        Command::new("sh")
            .args(["-c", &format!("{set_up}{shape}")])
            .status()
    })?;
    if !done.success() {
        return Err("ip, ethtool or tc failed".into());
    }
    let receiver = far.run(move || UdpSocket::bind((to, 5001)))?;
    let sender = near.run(move || UdpSocket::bind((from, 5001)))?;
    sender.connect((to, 5001))?;
    let arrived = flood(receiver, &sender, None)?;
    holder.kill()?;
    holder.wait()?;
    Ok(arrived as f64 / SPAN.as_secs_f64())
}

/// Sends packets over a link for a while, at a rate or as fast as possible. Returns the report, and
/// how many arrived.
fn run(link: &str, spins: bool, rate_bps: Option<f64>) -> Outcome<(Report, u64)> {
    let registry = Registry::default();
    let ends = ["a", "b"];
    let spec = LinkSpec::from_toml_beside(link, &registry, ".".as_ref(), ends)?;
    let nodes = ends.map(str::to_owned);
    let network = Network::new(&nodes, &[spec], &nodes, &registry, 1)?;
    let hosts = vec![Namespace::new()?, Namespace::new()?];
    let options = Options {
        spins,
        ..Options::default()
    };
    let emulation = Emulation::start(network, hosts, &[], options)?;
    let [from, to] = [0, 1].map(|host| emulation.addresses()[host][0]);
    let receiver = emulation.hosts()[1].run(move || UdpSocket::bind((to, 5001)))?;
    let sender = emulation.hosts()[0].run(move || UdpSocket::bind((from, 5001)))?;
    sender.connect((to, 5001))?;
    let arrived = flood(receiver, &sender, rate_bps)?;
    Ok((emulation.stop()?, arrived))
}

/// Sends packets for a while, at a rate or as fast as possible. Returns how many arrived.
fn flood(receiver: UdpSocket, sender: &UdpSocket, rate_bps: Option<f64>) -> Outcome<u64> {
    receiver.set_read_timeout(Some(Duration::from_millis(200)))?;
    let (arrived, ended) = (
        Arc::new(AtomicU64::new(0)),
        Arc::new(AtomicBool::new(false)),
    );
    let (count, end) = (Arc::clone(&arrived), Arc::clone(&ended));
    let reader = thread::spawn(move || {
        let mut buffer = [0; 2048];
        while !end.load(Ordering::Relaxed) {
            count.fetch_add(
                u64::from(receiver.recv(&mut buffer).is_ok()),
                Ordering::Relaxed,
            );
        }
    });
    let begun = Instant::now();
    let gap = rate_bps.map(|bps| Duration::from_secs_f64(8.0 * 1200.0 / bps));
    let mut next = begun;
    while begun.elapsed() < SPAN {
        // A full buffer is not an error.
        let _ = sender.send(&[0; DATA]);
        if let Some(gap) = gap {
            next += gap;
            thread::sleep(next.saturating_duration_since(Instant::now()));
        }
    }
    thread::sleep(Duration::from_millis(300));
    ended.store(true, Ordering::Relaxed);
    let _ = reader.join();
    Ok(arrived.load(Ordering::Relaxed))
}
