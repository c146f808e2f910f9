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
        ("dctcp", json!({ "gain": least, "initial_alpha": 0.0 })),
        ("dctcp", json!({ "gain": below_one, "initial_alpha": 1.0 })),
        (
            "htcp",
            json!({ "low_speed_period": "3600 s", "min_beta": least, "max_beta": below_one, "tick": "1 s" }),
        ),
        (
            "htcp",
            json!({ "low_speed_period": "0 s", "min_beta": 0.6, "max_beta": 0.6, "tick": "0 s" }),
        ),
        ("hybla", json!({ "rtt0": "1 ns" })),
        ("hybla", json!({ "rtt0": "60 s" })),
        (
            "illinois",
            json!({ "alpha_min": least, "alpha_max": least, "beta_min": least, "beta_max": least,
                "window_threshold": 0.0, "theta": 0, "eta_1": 0.0, "eta_2": 0.0, "eta_3": least }),
        ),
        (
            "illinois",
            json!({ "alpha_max": 10_000.0, "beta_max": below_one, "eta_1": below_one, "eta_2": below_one,
                "eta_3": 1.0 }),
        ),
        (
            "westwood",
            json!({ "filter": 0.0, "min_interval": "0 s", "tick": "1 s" }),
        ),
        (
            "westwood",
            json!({ "filter": below_one, "min_interval": "60 s", "tick": "0 s" }),
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
        ("dctcp", "gain", 0.0),
        ("dctcp", "gain", 1.0),
        ("dctcp", "initial_alpha", -least),
        ("dctcp", "initial_alpha", 1.0_f64.next_up()),
        ("htcp", "min_beta", 0.0),
        ("htcp", "min_beta", 1.0),
        ("htcp", "max_beta", 0.5_f64.next_down()),
        ("htcp", "max_beta", 1.0),
        ("illinois", "alpha_min", 0.0),
        ("illinois", "alpha_min", 10.0_f64.next_up()),
        ("illinois", "alpha_max", 0.0),
        ("illinois", "alpha_max", 10_000.0_f64.next_up()),
        ("illinois", "beta_min", 0.0),
        ("illinois", "beta_min", 0.5_f64.next_up()),
        ("illinois", "beta_max", 0.0),
        ("illinois", "beta_max", 1.0),
        ("illinois", "window_threshold", -least),
        ("illinois", "eta_1", -least),
        ("illinois", "eta_1", 1.0),
        ("illinois", "eta_2", -least),
        ("illinois", "eta_2", 0.8),
        ("illinois", "eta_3", 0.0),
        ("illinois", "eta_3", 1.0_f64.next_up()),
        ("westwood", "filter", -least),
        ("westwood", "filter", 1.0),
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

#[test]
fn times_beyond_their_bounds_are_refused() {
    for (control, name, value) in [
        ("htcp", "low_speed_period", "3601 s"),
        ("htcp", "tick", "1001 ms"),
        ("hybla", "rtt0", "0 s"),
        ("hybla", "rtt0", "61 s"),
        ("westwood", "min_interval", "61 s"),
        ("westwood", "tick", "1001 ms"),
    ] {
        let found = refused(control, &json!({ name: value }));
        assert_eq!(found.as_deref(), Some(name), "{control} {value}");
    }
}

/// The others need only the summary of each acknowledgement.
#[test]
fn most_controls_need_each_packet() {
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
        let needs_packets = !["aimd", "cubic", "reno"].contains(&name);
        assert_eq!(interests.packets, needs_packets, "{name}");
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

/// HyStart++ belongs to controls whose slow start it may end.
#[test]
fn a_control_without_hystart_refuses_it() {
    for control in [
        "aimd", "bbr", "c4", "dctcp", "htcp", "hybla", "illinois", "prague", "vegas", "westwood",
    ] {
        let read = built_in_controls().read(control, &json!({ "hystart": true }));
        let error = read.unwrap_err().to_string();
        assert!(error.contains("unknown field `hystart`"), "{error}");
    }
}

/// Prague and DCTCP need every mark. Prague sends data with ECT(1) (RFC 9331 section 4.1), or ECT(0)
/// if asked to.
#[test]
fn only_scalable_controls_ask_for_every_mark() {
    let set = built_in_controls();
    for name in set.names() {
        let wants = set.read(name, &json!({})).unwrap().member.wants();
        let code = match name {
            "prague" => Some(Ect::One),
            "dctcp" => Some(Ect::Zero),
            _ => None,
        };
        assert_eq!(
            (wants.accurate_ecn, wants.ecn),
            (code.is_some(), code),
            "{name}"
        );
    }
    let private = set.read("prague", &json!({ "ect0": true })).unwrap();
    assert_eq!(private.member.wants().ecn, Some(Ect::Zero));
}
