//! The queue discipline does what it declares.

use skywave_path::contract::{Parcel, check};
use skywave_path::{QueueSpec, Queues, register_built_in};
use skywave_transport::dccp::mechanism::CcidKinds;
use skywave_transport::tcp::built_in_tcp_controls;

fn queues() -> Queues<Parcel> {
    let mut queues = Queues::new("queue discipline");
    register_built_in(&mut queues);
    skywave_mpcp::register(
        &mut queues,
        &mut built_in_tcp_controls(),
        &mut CcidKinds::default(),
    );
    queues
}

#[test]
fn a_router_keeps_the_contract_of_every_queue() {
    for spec in [
        r#"{ "vcp": { "packets": 20 } }"#,
        r#"{ "vcp": { "bytes": "20 kB", "chain": 3 } }"#,
        r#"{ "weighted": { "queues": [
            { "weight": 2, "queue": { "vcp": { "packets": 9 } } },
            { "weight": 1, "queue": { "drop-tail": { "bytes": "9 kB" } } } ] } }"#,
    ] {
        let read: QueueSpec = serde_json::from_str(spec).unwrap();
        let kind = read.read(&queues()).unwrap();
        let mut written = 0;
        for seed in 0..200 {
            let tally = check(&*kind, seed).unwrap_or_else(|fault| panic!("{spec}: {fault}"));
            written += tally.written;
        }
        // Nine packets next to another queue do not cause overload.
        assert!(written > 0 || spec.contains("weighted"), "{spec}");
    }
}
