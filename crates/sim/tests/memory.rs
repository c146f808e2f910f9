//! The memory of an idle flow.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use memory_stats::memory_stats;
use skywave_sim::Bench;

#[test]
fn an_idle_flow_takes_less_than_1200_bytes() {
    let resident_bytes = || memory_stats().unwrap().physical_mem as u64;
    let before = resident_bytes();
    let flows = 50_000;
    let bench = Bench {
        flows,
        rate: "1 Gbps".parse().unwrap(),
        buffer: 1000,
        duration: "1 s".parse().unwrap(),
        access: "10 Gbps".parse().unwrap(),
        threads: 1,
    };
    let idle = bench.idle().unwrap();
    let bytes_per_flow = (resident_bytes() - before) / u64::from(flows);
    println!("{bytes_per_flow} bytes per idle flow, including its description");
    assert!(bytes_per_flow < 1200, "{bytes_per_flow}");
    drop(idle);
}
