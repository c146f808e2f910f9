//! Controls selected by name: which parameters are rejected, and what a control needs.

use serde_json::{Value, json};
use skywave_congestion::{Control, ControlContext, Ect, built_in_controls};

/// Returns the name of the parameter that is rejected, if one is.
fn refused(control: &str, parameters: &Value) -> Option<String> {
    let read = built_in_controls().read(control, parameters);
    read.err().map(|error| error.field)
}

#[test]
fn bounds_are_refused_or_accepted_as_documented() {
    let least = f64::MIN_POSITIVE;
    let below_one = 1.0_f64.next_down();
    for (control, accepted) in [
        ("aimd", json!({ "increase": least, "decrease": 0.01 })),
        ("aimd", json!({ "increase": 10_000.0, "decrease": 0.99 })),
        ("cubic", json!({ "c": least, "beta": least })),
        ("cubic", json!({ "c": f64::MAX, "beta": below_one })),
        (
            "bbr",
            json!({ "loss_threshold": least, "beta": least, "headroom": 0.0 }),
        ),
        (
            "bbr",
            json!({ "loss_threshold": below_one, "beta": below_one, "headroom": below_one }),
        ),
        (
            "c4",
            json!({ "beta": least, "max_jitter": "0 s", "max_delay_threshold": "1 ns", "cruising_eras": 1 }),
        ),
        ("c4", json!({ "beta": below_one, "rules": "picoquic" })),
        (
            "prague",
            json!({ "gain": least, "initial_alpha": 0.0, "reference_rtt": "0 s", "min_rate": "1 bps" }),
        ),
        (
            "prague",
            json!({ "gain": 1.0, "initial_alpha": 1.0, "max_burst_delay": "0 s" }),
        ),
        ("vegas", json!({ "alpha": 0.0, "beta": 0.0, "gamma": 0.0 })),
        ("vegas", json!({ "alpha": 2.0, "beta": 2.0 })),
    ] {
        assert_eq!(refused(control, &accepted), None, "{control} {accepted}");
    }
    for (control, name, value) in [
        ("aimd", "increase", 0.0),
        ("aimd", "increase", 10_000.0_f64.next_up()),
        ("aimd", "decrease", 0.01_f64.next_down()),
        ("aimd", "decrease", 0.99_f64.next_up()),
        ("cubic", "c", 0.0),
        ("cubic", "c", -1.0),
        ("cubic", "beta", 0.0),
        ("cubic", "beta", 1.0),
        ("bbr", "loss_threshold", 0.0),
        ("bbr", "loss_threshold", 1.0),
        ("bbr", "beta", 0.0),
        ("bbr", "beta", 1.0),
        ("bbr", "headroom", -least),
        ("bbr", "headroom", 1.0),
        ("vegas", "alpha", -least),
        ("vegas", "beta", -least),
        ("vegas", "gamma", -least),
        ("vegas", "alpha", 3.0_f64.next_up()),
        ("c4", "beta", 0.0),
        ("c4", "beta", 1.0),
        ("prague", "gain", 0.0),
        ("prague", "gain", 1.0_f64.next_up()),
        ("prague", "initial_alpha", -least),
        ("prague", "initial_alpha", 1.0_f64.next_up()),
    ] {
        let found = refused(control, &json!({ name: value }));
        assert_eq!(found.as_deref(), Some(name), "{control} {value}");
    }
    for (control, name, value) in [
        ("c4", "max_delay_threshold", json!("0 s")),
        ("c4", "cruising_eras", json!(0)),
        ("prague", "min_rate", json!("0 bps")),
    ] {
        let found = refused(control, &json!({ name: value }));
        assert_eq!(found.as_deref(), Some(name), "{control} {value}");
    }
}

/// Vegas and C4 delimit their rounds by single packets, and BBR models the path by them; the others
/// need only the summary of each acknowledgement.
#[test]
fn only_some_need_each_packet() {
    let set = built_in_controls();
    let context = ControlContext {
        packet_size: 1000,
        initial_cwnd: 4.0,
        initial_ssthresh: f64::INFINITY,
        ns2: false,
        linux: false,
    };
    for name in set.names() {
        let kind = set.read(name, &json!({})).unwrap().member;
        let interests = kind.build(&context).interests();
        let has_rate = ["bbr", "c4"].contains(&name);
        assert_eq!(interests.packets, has_rate || name == "vegas", "{name}");
        assert_eq!(interests.delivery_rate, has_rate, "{name}");
        assert_eq!(interests.every_ack, has_rate, "{name}");
    }
}

/// The systems whose default is CUBIC use SACK (RFC 9438 section 1), and controls with a model of the
/// path need it.
#[test]
fn only_some_ask_for_sack_and_pacing() {
    let set = built_in_controls();
    for name in set.names() {
        let wants = set.read(name, &json!({})).unwrap().member.wants();
        let is_paced = ["bbr", "c4", "prague"].contains(&name);
        assert_eq!(wants.sack, is_paced || name == "cubic", "{name}");
        assert_eq!(wants.rack, is_paced, "{name}");
        assert_eq!(wants.pacing, is_paced, "{name}");
    }
}

/// Prague needs every mark. It sends data with ECT(1) (RFC 9331 section 4.1), or ECT(0) if asked to.
#[test]
fn only_prague_asks_for_every_mark() {
    let set = built_in_controls();
    for name in set.names() {
        let wants = set.read(name, &json!({})).unwrap().member.wants();
        assert_eq!(wants.accurate_ecn, name == "prague", "{name}");
        let code = (name == "prague").then_some(Ect::One);
        assert_eq!(wants.ecn, code, "{name}");
    }
    let private = set.read("prague", &json!({ "ect0": true })).unwrap();
    assert_eq!(private.member.wants().ecn, Some(Ect::Zero));
}
