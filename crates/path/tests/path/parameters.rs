//! Queue disciplines and loss models selected by name: which parameters are rejected.

use serde_json::{Value, json};
use skywave_path::contract::Parcel;
use skywave_path::{
    DropReason, Losses, Queues, register_built_in_losses, register_built_in_queues,
};
use skywave_units::Instant;

/// Returns the name of the parameter that is rejected, if one is.
fn refused(queue: &str, parameters: &Value) -> Option<String> {
    let mut queues: Queues<Parcel> = Queues::new("queue discipline");
    register_built_in_queues(&mut queues);
    let read = queues.read(queue, parameters);
    read.err().map(|error| error.field)
}

/// Returns the parameters of a queue of ten packets, with these in addition.
fn with(more: &Value) -> Value {
    let mut parameters = json!({ "packets": 10 });
    let given = more.as_object().unwrap().clone();
    parameters.as_object_mut().unwrap().extend(given);
    parameters
}

#[test]
fn a_queue_has_one_limit_which_is_not_zero() {
    for queue in ["drop-tail", "red", "adaptive-red", "codel", "pie"] {
        for (parameters, field) in [
            (json!({ "packets": 1 }), None),
            (json!({ "bytes": "1 B" }), None),
            (json!({ "packets": 0 }), Some("packets")),
            (json!({ "bytes": "0 B" }), Some("bytes")),
            (json!({}), Some("")),
            (json!({ "packets": 1, "bytes": "1 B" }), Some("")),
        ] {
            let found = refused(queue, &parameters);
            assert_eq!(found.as_deref(), field, "{queue} {parameters}");
        }
    }
}

#[test]
fn bounds_are_refused_or_accepted_as_documented() {
    let least = f64::MIN_POSITIVE;
    let above_one = 1.0_f64.next_up();
    for (queue, accepted) in [
        (
            "red",
            json!({ "max_p": least, "mark_p": least, "weight": least }),
        ),
        ("red", json!({ "max_p": 1.0, "mark_p": 1.0, "weight": 1.0 })),
        (
            "red",
            json!({ "min_threshold": least, "max_threshold": 1.0 }),
        ),
        (
            "red",
            json!({ "mean_packet": "1 B", "time_constant": "1 ns" }),
        ),
        ("red", json!({ "mean_packet": "65535 B" })),
        ("codel", json!({ "target": "1 ns", "interval": "2 ns" })),
        (
            "fq-codel",
            json!({ "packets": 1, "flows": 1, "quantum": "64 B" }),
        ),
        (
            "fq-codel",
            json!({ "packets": 10_000_000, "flows": 65_536, "quantum": "1 MB" }),
        ),
        (
            "pie",
            json!({ "target": "1 ns", "update": "1 us", "mark_p": 1.0 }),
        ),
        (
            "dualpi2",
            json!({ "k": least, "alpha": least, "beta": least, "p_c_max": least }),
        ),
        (
            "dualpi2",
            json!({ "target": "1 ns", "t_update": "1 us", "p_c_max": 1.0, "weight": 1 }),
        ),
        (
            "dualpi2",
            json!({ "min_th": "0 s", "range": "0 s", "th_len": 0, "mtu": "65535 B", "weight": 1000 }),
        ),
        ("dualpi2", json!({ "tshift": "0 s", "mtu": "1 B" })),
    ] {
        let parameters = with(&accepted);
        assert_eq!(refused(queue, &parameters), None, "{queue} {accepted}");
    }
    for (queue, field, value) in [
        ("red", "max_p", json!(0.0)),
        ("red", "max_p", json!(above_one)),
        ("red", "mark_p", json!(0.0)),
        ("red", "mark_p", json!(above_one)),
        ("red", "weight", json!(0.0)),
        ("red", "weight", json!(above_one)),
        ("red", "min_threshold", json!(0.0)),
        ("red", "max_threshold", json!(20.0)),
        ("red", "mean_packet", json!("0 B")),
        ("red", "mean_packet", json!("65536 B")),
        ("red", "time_constant", json!("0 s")),
        ("codel", "target", json!("0 s")),
        ("codel", "interval", json!("5 ms")),
        ("fq-codel", "packets", json!(0)),
        ("fq-codel", "packets", json!(10_000_001)),
        ("fq-codel", "flows", json!(0)),
        ("fq-codel", "flows", json!(65_537)),
        ("fq-codel", "quantum", json!("63 B")),
        ("fq-codel", "quantum", json!("1000001 B")),
        ("fq-codel", "target", json!("0 s")),
        ("fq-codel", "interval", json!("5 ms")),
        ("pie", "target", json!("0 s")),
        ("pie", "update", json!("999 ns")),
        ("pie", "mark_p", json!(0.0)),
        ("pie", "mark_p", json!(above_one)),
        ("pie", "mean_packet", json!("0 B")),
        ("pie", "mean_packet", json!("65536 B")),
        ("dualpi2", "packets", json!(0)),
        ("dualpi2", "k", json!(0.0)),
        ("dualpi2", "k", json!(-1.0)),
        ("dualpi2", "target", json!("0 s")),
        ("dualpi2", "t_update", json!("999 ns")),
        ("dualpi2", "alpha", json!(0.0)),
        ("dualpi2", "beta", json!(-1.0)),
        ("dualpi2", "p_c_max", json!(0.0)),
        ("dualpi2", "p_c_max", json!(above_one)),
        ("dualpi2", "mtu", json!("0 B")),
        ("dualpi2", "mtu", json!("65536 B")),
        ("dualpi2", "weight", json!(0)),
        ("dualpi2", "weight", json!(1001)),
    ] {
        let found = refused(queue, &with(&json!({ field: value })));
        assert_eq!(found.as_deref(), Some(field), "{queue} {field} {value}");
    }
}

#[test]
fn a_limit_of_dualpi2_has_room_for_an_mtu() {
    for (parameters, field) in [
        (json!({ "bytes": "1500 B" }), None),
        (json!({ "bytes": "1499 B" }), Some("bytes")),
        (json!({ "bytes": "1499 B", "mtu": "1 kB" }), None),
        (json!({}), Some("")),
        (json!({ "packets": 1, "bytes": "9 kB" }), Some("")),
    ] {
        let found = refused("dualpi2", &parameters);
        assert_eq!(found.as_deref(), field, "{parameters}");
    }
}

#[test]
fn a_coupling_of_zero_is_explained_in_one_line() {
    let mut queues: Queues<Parcel> = Queues::new("queue discipline");
    register_built_in_queues(&mut queues);
    let error = queues.read("dualpi2", &with(&json!({ "k": 0 }))).err();
    let message = error.unwrap().to_string();
    assert_eq!(
        message,
        "k: 0 couples nothing: above 0 (RFC 9332 recommends 2)"
    );
}

#[test]
fn thresholds_of_red_are_in_order() {
    for (parameters, field) in [
        (
            json!({ "min_threshold": 5.0, "max_threshold": 5.0 }),
            Some("max_threshold"),
        ),
        (
            json!({ "min_threshold": 5.0, "max_threshold": 0.0 }),
            Some("max_threshold"),
        ),
        (json!({ "min_threshold": 5.0, "max_threshold": 5.1 }), None),
        (
            json!({ "weight": 0.1, "time_constant": "1 s" }),
            Some("time_constant"),
        ),
    ] {
        let found = refused("red", &with(&parameters));
        assert_eq!(found.as_deref(), field, "{parameters}");
    }
}

#[test]
fn bounds_of_losses_are_refused_or_accepted_as_documented() {
    let mut losses = Losses::new("loss model");
    register_built_in_losses(&mut losses);
    let burst = |field: &str, value: f64| {
        let mut parameters = json!({ "good_to_bad": 0.5, "bad_to_good": 0.5 });
        parameters[field] = json!(value);
        ("gilbert-elliott", parameters)
    };
    for ((loss, parameters), field) in [
        (("packets", json!([1, 7, 7, 2])), None),
        (("packets", json!([1, 0])), Some("")),
        (("bernoulli", json!({ "probability": 0.0 })), None),
        (("bernoulli", json!({ "probability": 1.0 })), None),
        (
            ("bernoulli", json!({ "probability": -1e-9 })),
            Some("probability"),
        ),
        (
            ("bernoulli", json!({ "probability": 1.0_f64.next_up() })),
            Some("probability"),
        ),
        (burst("good_to_bad", 0.0), None),
        (burst("bad_to_good", 0.0), None),
        (burst("in_good", 1.0), None),
        (burst("good_to_bad", 1.1), Some("good_to_bad")),
        (burst("bad_to_good", 1.1), Some("bad_to_good")),
        (burst("in_good", -0.1), Some("in_good")),
        (burst("in_bad", 1.1), Some("in_bad")),
        (
            (
                "gilbert-elliott",
                json!({ "good_to_bad": 0.0, "bad_to_good": 0.0 }),
            ),
            Some("good_to_bad"),
        ),
    ] {
        let found = losses
            .read(loss, &parameters)
            .err()
            .map(|error| error.field);
        assert_eq!(found.as_deref(), field, "{loss} {parameters}");
    }
}

/// A bad channel loses every packet, unless the scenario says how many.
#[test]
fn a_bad_channel_loses_all_by_default() {
    let mut losses = Losses::new("loss model");
    register_built_in_losses(&mut losses);
    let parameters = json!({ "good_to_bad": 1.0, "bad_to_good": 0.0 });
    let kind = losses.read("gilbert-elliott", &parameters).unwrap().member;
    let mut loss = kind.build(rand::SeedableRng::seed_from_u64(1));
    let lost = (0..100).filter(|_| loss.loses(Instant::ZERO, 1000)).count();
    assert!(lost >= 99, "{lost}");
}

/// The words in tables, which users' programs read.
#[test]
fn reasons_of_drops_have_names() {
    let reasons = [
        DropReason::Full,
        DropReason::Early,
        DropReason::Loss,
        DropReason::Nat,
    ];
    assert_eq!(
        reasons.map(DropReason::name),
        ["full", "early", "loss", "nat"]
    );
}

#[test]
fn a_queue_of_the_kernel_names_a_discipline_and_a_queue_of_ours() {
    let ours = json!({ "drop-tail": { "packets": 9 } });
    let kernels = json!({ "kernel": { "qdisc": "codel" } });
    for (parameters, field) in [
        (json!({ "qdisc": "codel limit 100" }), None),
        (
            json!({ "qdisc": "codel", "simulated": ours, "mtu": "9 kB" }),
            None,
        ),
        (json!({ "qdisc": " " }), Some("qdisc")),
        (json!({ "qdisc": "-batch file" }), Some("qdisc")),
        // tc has underscores.
        (json!({ "qdisc": "fq-codel limit 9" }), Some("qdisc")),
        (json!({ "qdisc": "codel", "mtu": "70 kB" }), Some("mtu")),
        (
            json!({ "qdisc": "codel", "simulated": kernels }),
            Some("simulated"),
        ),
        (
            json!({ "qdisc": "codel", "simulated": { "drop-tail": {} } }),
            Some("simulated.drop-tail"),
        ),
    ] {
        let found = refused("kernel", &parameters);
        assert_eq!(found.as_deref(), field, "{parameters}");
    }
    let weighted = json!({ "queues": [{ "weight": 1, "queue": kernels }] });
    let found = refused("weighted", &weighted);
    assert_eq!(found.as_deref(), Some("queues[0].queue"));
}
