//! What an idle flow costs.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use skywave_sim::Bench;

/// Resident memory of this process in bytes, where the system tells.
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

#[test]
fn an_idle_flow_costs_less_than_two_kilobytes() {
    let Some(before) = resident_bytes() else {
        eprintln!("skipped: this system does not tell resident memory in /proc");
        return;
    };
    let flows = 50_000;
    let bench = Bench {
        flows,
        rate: "1 Gbps".parse().unwrap(),
        buffer: 1000,
        duration: "1 s".parse().unwrap(),
        access: "10 Gbps".parse().unwrap(),
    };
    let idle = bench.idle().unwrap();
    let bytes_per_flow = (resident_bytes().unwrap() - before) / u64::from(flows);
    println!("{bytes_per_flow} bytes for each idle flow, its description included");
    assert!(bytes_per_flow < 2048, "{bytes_per_flow}");
    drop(idle);
}
