//! The configuration of a socket.

use skywave_congestion::tfrc;
use skywave_transport::dccp::Ccid;
use skywave_units::Duration;
use skywave_wire::dccp::ServiceCode;

use super::Registry;
use crate::SocketSpec;

#[test]
fn the_default_of_sockets_is_that_of_connections() {
    let config = SocketSpec::default().config(&Registry::default()).unwrap();
    assert!(config.check().is_ok());
    let default = skywave_transport::dccp::Config::default();
    assert_eq!(format!("{config:?}"), format!("{default:?}"));
    assert_eq!(SocketSpec::from_json("{}").unwrap(), SocketSpec::default());
}

/// Every CCID that needs no routers is accepted, the preferred one first; a control takes only its
/// own.
#[test]
fn a_socket_accepts_every_common_ccid() {
    let config = |text: &str| {
        let spec = SocketSpec::from_json(text).unwrap();
        let config = spec.config(&Registry::default()).unwrap();
        assert!(config.check().is_ok());
        config
    };
    let numbers = |list: &[Ccid]| list.iter().map(|ccid| ccid.0).collect::<Vec<_>>();
    let tfrc = config(r#"{ "ccid": 3 }"#);
    assert_eq!(numbers(&tfrc.sender_ccids), [3, 2, 4, 251]);
    assert_eq!(numbers(&tfrc.receiver_ccids), [3, 2, 4, 251]);
    assert!(!tfrc.follow_client_ccids);
    assert!(config("{}").follow_client_ccids);
    assert_eq!(numbers(&config(r#"{ "ccid": 248 }"#).sender_ccids), [248]);
    let cubic = config(r#"{ "control": "cubic" }"#);
    assert_eq!(numbers(&cubic.sender_ccids), [251]);
    assert_eq!(numbers(&cubic.receiver_ccids), [251, 2, 3, 4]);
}

#[test]
fn a_socket_takes_the_control_and_its_parameters() {
    let text = r#"{ "control": "cubic", "cubic": { "beta": 0.8 }, "service_codes": ["VOIP", 7] }"#;
    let spec = SocketSpec::from_json(text).unwrap();
    let config = spec.config(&Registry::default()).unwrap();
    assert_eq!(config.sender_ccids, [Ccid::SENDERS_CHOICE]);
    let codes = [ServiceCode(u32::from_be_bytes(*b"VOIP")), ServiceCode(7)];
    assert_eq!(config.service_codes, codes);
}

#[test]
fn a_socket_takes_what_a_scenario_takes_of_ssthresh_and_tfrc() {
    let config = |text: &str| {
        let spec = SocketSpec::from_json(text).unwrap();
        spec.config(&Registry::default()).unwrap()
    };
    let window = config(r#"{ "initial_ssthresh": 20 }"#);
    assert_eq!(window.ccid2.initial_ssthresh, 20.0);
    let ratio = config(r#"{ "max_ack_ratio": 4 }"#).ccid2.ack_ratio;
    assert_eq!(ratio.bounds().map(|bounds| bounds.maximum), Some(4));
    let rates = config(
        r#"{ "ccid": 3, "tfrc": { "rules": "rfc3448", "receiver_rtt": "option",
             "feedback": { "dynamic": { "rtt_ref": "50 ms" } } } }"#,
    );
    assert!(rates.request_rtt_estimate);
    assert_eq!(
        rates.tfrc,
        tfrc::Config {
            feedback: tfrc::FeedbackSchedule::Dynamic(tfrc::DynamicFeedback {
                rtt_ref: Duration::from_millis(50),
                window: tfrc::ObservationWindow::Interval,
            }),
            ..tfrc::Config::rfc3448()
        }
    );
}

#[test]
fn errors_of_sockets_name_their_field() {
    for (text, expected) in [
        (
            r#"{ "ccid": 7 }"#,
            "ccid: 7 is not a known CCID: use 2, 3, 4",
        ),
        (r#"{ "ccid": 300 }"#, "ccid: invalid value"),
        (
            r#"{ "ccid": 2, "control": "reno" }"#,
            "ccid: CCID 2 has a control of its own",
        ),
        (
            r#"{ "ccid": 3, "control": "reno" }"#,
            "ccid: CCID 3 has a control of its own",
        ),
        (
            r#"{ "control": "cubik" }"#,
            "control: \"cubik\" is not a known control",
        ),
        (
            r#"{ "service_codes": ["TOOLONG"] }"#,
            "service_codes[0]: \"TOOLONG\" is not four",
        ),
        (r#"{ "linger": 5 }"#, "linger: "),
        (
            r#"{ "ccid": 2, "tfrc": {} }"#,
            "tfrc: CCID 2 is not TFRC: leave out tfrc",
        ),
        (
            r#"{ "ccid": 3, "initial_ssthresh": 20 }"#,
            "initial_ssthresh: CCID 3 is TFRC, which has no ssthresh",
        ),
        (
            r#"{ "ccid": 3, "max_ack_ratio": 4 }"#,
            "max_ack_ratio: CCID 3 is TFRC, which has no Ack Ratio",
        ),
        (r#"{ "max_ack_ratio": 1 }"#, "max_ack_ratio: below 2"),
        (r#"{ "initial_ssthresh": 0 }"#, "initial_ssthresh: 0"),
        (
            r#"{ "ccid": 3, "tfrc": { "feedback": { "per-round-trip": { "reports": 0 } } } }"#,
            "tfrc.feedback.per-round-trip.reports: 0 reports",
        ),
        ("[", "EOF"),
    ] {
        assert_socket_error(text, expected);
    }
}

#[test]
fn errors_of_cubic_on_a_socket_name_their_field() {
    let beta = r#"{ "control": "cubic", "cubic": { "beta": 2.0 } }"#;
    assert_socket_error(beta, "cubic.beta: ");
    assert_socket_error(r#"{ "cubic": {} }"#, "cubic: ");
}

#[track_caller]
fn assert_socket_error(text: &str, expected: &str) {
    let config = SocketSpec::from_json(text).and_then(|spec| spec.config(&Registry::default()));
    let error = config.unwrap_err().to_string();
    assert!(error.starts_with(expected), "{error}");
}
