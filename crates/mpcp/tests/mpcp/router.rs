//! The queue discipline does what it declares.

use skywave_path::contract::{Parcel, check};
use skywave_path::{QueueSpec, Queues, register_built_in_queues};
use skywave_transport::dccp::mechanism::CcidKinds;
use skywave_transport::tcp::built_in_tcp_controls;

fn queues() -> Queues<Parcel> {
    let mut queues = Queues::new("queue discipline");
    register_built_in_queues(&mut queues);
    skywave_mpcp::register(
        &mut queues,
        &mut built_in_tcp_controls(),
        &mut CcidKinds::default(),
    );
    queues
}

/// Checks the contract of every queue, and returns how many packets the router has written into.
fn written(spec: &str) -> u32 {
    let read: QueueSpec = serde_json::from_str(spec).unwrap();
    let kind = read.read(&queues()).unwrap();
    let tallies = (0..200).map(|seed| check(&*kind, seed));
    tallies
        .map(|tally| {
            tally
                .unwrap_or_else(|fault| panic!("{spec}: {fault}"))
                .written
        })
        .sum()
}

#[test]
fn a_router_keeps_the_contract_of_every_queue() {
    assert!(written(r#"{ "vcp": { "packets": 20 } }"#) > 0);
    assert!(written(r#"{ "vcp": { "bytes": "20 kB", "chain": 3 } }"#) > 0);
}

/// Nine packets next to another queue cause no overload, so nothing need be written.
#[test]
fn a_router_keeps_the_contract_as_a_sub_queue() {
    written(
        r#"{ "weighted": { "queues": [
            { "weight": 2, "queue": { "vcp": { "packets": 9 } } },
            { "weight": 1, "queue": { "drop-tail": { "bytes": "9 kB" } } } ] } }"#,
    );
}
