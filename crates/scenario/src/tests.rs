//! Invalid scenarios and their error messages.

use skywave_congestion::tfrc;
use skywave_path::contract::Parcel;
use skywave_registry::{OpenSet, Value};
use skywave_transport::dccp::Ccid;
use skywave_units::Duration;
use skywave_wire::dccp::ServiceCode;

use crate::{Backend, Scenario, SocketSpec};

/// Runs nothing and has no probes.
struct Nobody;

impl Backend for Nobody {
    type Packet = Parcel;
    type Probe = ();

    fn register_probes(_probes: &mut OpenSet<()>) {}
}

type Registry = crate::Registry<Nobody>;

const GOOD: &str = r#"
    name = "two hosts"
    duration = "10 s"
    nodes = ["a", "b"]
    probes = { interval = "1 ms", links = ["a->b"] }

    [[links]]
    from = "a"
    to = "b"
    rate = "1 Mbps"
    delay = "10 ms"
    queue = { drop-tail = { packets = 20 } }

    [[flows]]
    name = "file"
    from = "a"
    to = "b"
    transport = { tcp = {} }
    source = { ftp = {} }

    [[flows]]
    name = "voice"
    from = "a"
    to = "b"
    start = "1 s"
    transport = { dccp = { ccid = 2 } }
    source = { ftp = { datagram = "160 B" } }
"#;

const QUEUE: &str = "queue = { drop-tail = { packets = 20 } }";

#[test]
fn a_good_scenario_reads_the_same_from_toml_and_json() {
    let scenario = Scenario::from_toml(GOOD, &Registry::default()).unwrap();
    let again = Scenario::from_json(&scenario.to_json(), &Registry::default()).unwrap();
    assert_eq!(scenario.to_json(), again.to_json());
}

/// A row: the text to replace in the valid scenario, its replacement, the field of the error, and
/// the start of its message.
type Row = (&'static str, &'static str, &'static str, &'static str);

#[track_caller]
fn assert_errors(rows: &[Row]) {
    for &(old, new, field, message) in rows {
        let text = GOOD.replacen(old, new, 1);
        assert_ne!(text, GOOD, "{old}");
        let error = Scenario::from_toml(&text, &Registry::default()).unwrap_err();
        assert_eq!(error.field, field, "{error}");
        assert!(error.message.starts_with(message), "{error}");
        assert!(!error.to_string().contains('\n'), "{error}");
    }
}

/// Values that are more likely slips than intended, or that cannot be displayed.
#[test]
fn nonsense_is_refused() {
    assert_errors(&[
        (
            "name = \"file\"",
            "name = \"fi\\u0000le\"",
            "flows[0].name",
            "the name has the invisible character U+0000",
        ),
        (
            "name = \"file\"",
            "name = \"fi\\u202Ele\"",
            "flows[0].name",
            "the name has the invisible character U+202E",
        ),
        (
            "delay = \"10 ms\"",
            "delay = \"100000 h\"",
            "links[0].delay",
            "360000000 s is too long: give at most 86400 s",
        ),
        (
            "ftp = {}",
            "ftp = { size = \"0 B\" }",
            "flows[0].source.ftp.size",
            "0 B: give a size above zero",
        ),
        (
            "start = \"1 s\"",
            "route = [\"x\"]",
            "flows[1].route[0]",
            "there is no node \"x\"",
        ),
    ]);
}

#[test]
fn a_channel_that_never_changes_is_refused() {
    assert_errors(&[(
        "delay = \"10 ms\"",
        "delay = \"10 ms\"\nloss = { gilbert-elliott = { good_to_bad = 0, bad_to_good = 0 } }",
        "links[0].loss.gilbert-elliott.good_to_bad",
        "the channel never changes",
    )]);
}

#[test]
fn parsers_errors_are_in_plain_words() {
    assert_errors(&[
        (
            "packets = 20",
            "packets = \"20\"",
            "links[0].queue.drop-tail.packets",
            "invalid type: string \"20\", expected a whole number",
        ),
        (
            "probes = {",
            "probes = 5 #",
            "probes",
            "invalid type: integer `5`, expected a table",
        ),
    ]);
    let error = Scenario::from_json("[]", &Registry::default()).unwrap_err();
    assert!(error.message.contains("expected a table"), "{error}");
    assert!(!error.message.contains("struct"), "{error}");
    let deep = format!("name = {}", "[".repeat(100_000));
    let error = Scenario::from_toml(&deep, &Registry::default()).unwrap_err();
    assert!(error.message.len() < 500, "{}", error.message.len());
    for (text, expected) in [
        (
            r#"{ "dumbbell": { "loss": 0.01 } }"#,
            "dumbbell.loss: invalid type: floating point `0.01`, expected the name of a loss \
             model, or one with its parameters",
        ),
        (
            r#"{ "flows": [{ "transport": 0.01 }] }"#,
            "flows[0].transport: give one of its forms, as { name = { .. } }",
        ),
    ] {
        let error = Scenario::from_json(text, &Registry::default()).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
    let text = r#"{ "name": 1 }"#;
    let error = Scenario::from_json(text, &Registry::default()).unwrap_err();
    assert!(!error.message.contains("line"), "{error}");
}

#[test]
fn errors_of_the_whole_name_their_field() {
    assert_errors(&[
        (
            "duration = \"10 s\"",
            "duration = \"0 s\"",
            "duration",
            "0 s: give a duration",
        ),
        ("duration = \"10 s\"", "", "", "missing field `duration`"),
    ]);
}

#[test]
fn errors_of_probes_name_their_field() {
    assert_errors(&[
        (
            "interval = \"1 ms\"",
            "interval = \"1 ns\"",
            "probes.interval",
            "1 ns gives 10000000000 samples",
        ),
        (
            "interval = \"1 ms\"",
            "interval = \"1 us\"",
            "probes.interval",
            "1 us gives 10000000 samples of 1 links and 2 flows",
        ),
        (
            "links = [\"a->b\"]",
            "links = [\"a->c\"]",
            "probes.links[0]",
            "there is no link \"a->c\"; links are a->b, b->a",
        ),
        (
            "links = [\"a->b\"]",
            "flows = [\"fiel\"]",
            "probes.flows[0]",
            "there is no flow \"fiel\"",
        ),
        (
            "interval = \"1 ms\"",
            "interval = \"1 ms\", tables = [\"rate\"]",
            "probes.tables[0]",
            "\"rate\" is not a known table: use ",
        ),
    ]);
}

#[test]
fn errors_of_links_name_their_field() {
    assert_errors(&[
        (
            "rate = \"1 Mbps\"",
            "rate = \"-1 Mbps\"",
            "links[0].rate",
            "\"-1 Mbps\" is not",
        ),
        (
            "rate = \"1 Mbps\"",
            "rate = \"0 bps\"",
            "links[0].rate",
            "0 bps",
        ),
        (
            "rate = \"1 Mbps\"",
            "rate = \"1 MB\"",
            "links[0].rate",
            "\"1 MB\" is not a rate",
        ),
        (
            "rate = \"1 Mbps\"",
            "rate = 1000000",
            "links[0].rate",
            "invalid type: integer",
        ),
        (
            "delay = \"10 ms\"",
            "dellay = \"10 ms\"",
            "links[0].dellay",
            "unknown field",
        ),
        (
            "from = \"a\"",
            "from = \"x\"",
            "links[0].from",
            "there is no node \"x\"",
        ),
        (
            "[[links]]",
            "[[links]]\nfrom = \"b\"\nto = \"a\"\nrate = \"1 Mbps\"\ndelay = \"1 ms\"\n[[links]]",
            "links[1]",
            "there is a link \"a->b\" already",
        ),
    ]);
}

#[test]
fn errors_of_weighted_queues_name_their_field() {
    assert_errors(&[
        (
            QUEUE,
            "queue = { weighted = { queues = [] } }",
            "links[0].queue.weighted.queues",
            "0 sub-queues: between 1 and 4",
        ),
        (
            QUEUE,
            "queue = { weighted = { queues = [{ weight = 1 }, { weight = 0 }] } }",
            "links[0].queue.weighted.queues[1].weight",
            "0: between 1 and 1000",
        ),
        (
            QUEUE,
            "queue = { weighted = { queues = [{ weight = 1, queue = { drop-tail = {} } }] } }",
            "links[0].queue.weighted.queues[0].queue.drop-tail",
            "give either `packets` or `bytes`",
        ),
        (
            QUEUE,
            "queue = { weighted = { queues = [{ weight = 1, queue = { weighted = { queues = [] } } }] } }",
            "links[0].queue.weighted.queues[0].queue",
            "a weighted queue has no weighted sub-queues",
        ),
    ]);
}

#[test]
fn errors_of_adaptive_red_name_their_field() {
    assert_errors(&[(
        QUEUE,
        "queue = { adaptive-red = { packets = 9, max_p = 1.5 } }",
        "links[0].queue.adaptive-red.max_p",
        "1.5 is not a probability",
    )]);
}

#[test]
fn errors_of_red_name_their_field() {
    assert_errors(&[
        (
            QUEUE,
            "queue = { red = {} }",
            "links[0].queue.red",
            "give either `packets` or `bytes`",
        ),
        (
            QUEUE,
            "queue = { red = { packets = 9, min_threshold = 7, max_threshold = 5 } }",
            "links[0].queue.red.max_threshold",
            "5 is not above `min_threshold`, 7",
        ),
        (
            QUEUE,
            "queue = { red = { packets = 9, max_threshold = 5 } }",
            "links[0].queue.red.max_threshold",
            "give `min_threshold` too",
        ),
        (
            QUEUE,
            "queue = { red = { packets = 9, min_threshold = nan } }",
            "links[0].queue.red.min_threshold",
            "NaN: give a finite number",
        ),
        (
            QUEUE,
            "queue = { red = { packets = 9, weight = 0.0 } }",
            "links[0].queue.red.weight",
            "a weight is above 0",
        ),
        (
            QUEUE,
            "queue = { red = { packets = 9, weight = 0.5, time_constant = \"1 s\" } }",
            "links[0].queue.red.time_constant",
            "give either `weight` or `time_constant`",
        ),
        (
            QUEUE,
            "queue = { red = { packets = 9, mean_packet = \"0 B\" } }",
            "links[0].queue.red.mean_packet",
            "0 B is not a packet",
        ),
    ]);
}

#[test]
fn errors_of_fq_codel_name_their_field() {
    assert_errors(&[(
        QUEUE,
        "queue = { fq-codel = { flows = 0 } }",
        "links[0].queue.fq-codel.flows",
        "0 queues: between 1 and 65536",
    )]);
}

#[test]
fn errors_of_codel_name_their_field() {
    assert_errors(&[(
        QUEUE,
        "queue = { codel = { packets = 9, interval = \"5 ms\" } }",
        "links[0].queue.codel.interval",
        "5 ms is not above `target`, 5 ms",
    )]);
}

#[test]
fn errors_of_pie_name_their_field() {
    assert_errors(&[(
        QUEUE,
        "queue = { pie = { packets = 9, update = \"0 s\" } }",
        "links[0].queue.pie.update",
        "0 s between updates",
    )]);
}

#[test]
fn errors_of_queues_name_their_field() {
    assert_errors(&[
        (
            "packets = 20",
            "packets = 0",
            "links[0].queue.drop-tail.packets",
            "a queue of 0",
        ),
        (
            "packets = 20",
            "",
            "links[0].queue.drop-tail",
            "give either",
        ),
        (
            QUEUE,
            "queue = { blue = {} }",
            "links[0].queue",
            "\"blue\" is not a known queue discipline: use adaptive-red",
        ),
    ]);
}

#[test]
fn errors_of_flows_name_their_field() {
    assert_errors(&[
        (
            "name = \"voice\"",
            "name = \"file\"",
            "flows[1].name",
            "another flow is named \"file\"",
        ),
        (
            "tcp = {}",
            "sctp = {}",
            "flows[0].transport",
            "unknown variant `sctp`",
        ),
        (
            "start = \"1 s\"",
            "class = 4",
            "flows[1].class",
            "there is no class 4: use 0 to 3",
        ),
    ]);
}

#[test]
fn errors_of_tcp_name_their_field() {
    assert_errors(&[
        (
            "tcp = {}",
            "tcp = { initial_cwnd = 4294967295 }",
            "flows[0].transport.tcp.initial_cwnd",
            "4294967295 packets",
        ),
        (
            "tcp = {}",
            "tcp = { recovery = \"fack\" }",
            "flows[0].transport.tcp.recovery",
            "unknown variant `fack`, expected one of `tahoe`, `reno`, `newreno`, `sack`, `vegas`",
        ),
        (
            "tcp = {}",
            "tcp = { control = \"bbr\" }",
            "flows[0].transport.tcp.control",
            "\"bbr\" is not a known control: use ",
        ),
    ]);
}

#[test]
fn errors_of_ccid_248_name_their_field() {
    assert_errors(&[(
        "ccid = 2",
        "ccid = 248, tfrc = {}",
        "flows[1].transport.dccp.tfrc",
        "CCID 248 is not TFRC",
    )]);
}

#[test]
fn errors_of_tfrc_sp_name_their_field() {
    assert_errors(&[(
        "ccid = 2",
        "ccid = 4, tfrc = { feedback = { per-round-trip = { reports = 0 } } }",
        "flows[1].transport.dccp.tfrc.feedback.per-round-trip.reports",
        "0 reports",
    )]);
}

#[test]
fn errors_of_tfrc_name_their_field() {
    assert_errors(&[
        (
            "ccid = 2",
            "ccid = 3, tfrc = { rules = \"rfc2001\" }",
            "flows[1].transport.dccp.tfrc.rules",
            "unknown variant `rfc2001`, expected one of `rfc5348`, `rfc3448`, `ns2`",
        ),
        (
            "ccid = 2",
            "ccid = 3, tfrc = { segment_size = \"0 B\" }",
            "flows[1].transport.dccp.tfrc.segment_size",
            "0 B do not fit",
        ),
        (
            "ccid = 2",
            "ccid = 3, tfrc = { feedback = { dynamic = { rtt_ref = \"0 s\" } } }",
            "flows[1].transport.dccp.tfrc.feedback.dynamic.rtt_ref",
            "0 s: give a time above zero",
        ),
        (
            "ccid = 2",
            "ccid = 3, tfrc = { feedback = { dynamic = { window = \"week\" } } }",
            "flows[1].transport.dccp.tfrc.feedback.dynamic.window",
            "unknown variant `week`, expected `interval` or `round-trip`",
        ),
    ]);
}

#[test]
fn errors_of_dccp_name_their_field() {
    assert_errors(&[
        (
            "ccid = 2",
            "ccid = 5",
            "flows[1].transport.dccp.ccid",
            "5 is not a known CCID",
        ),
        (
            "ccid = 2",
            "send_queue = 4294967295",
            "flows[1].transport.dccp.send_queue",
            "4294967295 packets",
        ),
        (
            "ccid = 2",
            "ccid = 2, tfrc = {}",
            "flows[1].transport.dccp.tfrc",
            "CCID 2 is not TFRC",
        ),
    ]);
}

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

#[test]
fn errors_of_cbr_name_their_field() {
    assert_errors(&[
        (
            "ftp = { datagram = \"160 B\" }",
            "cbr = { rate = \"10000 Gbps\", datagram = \"160 B\" }",
            "flows[1].source.cbr.rate",
            "10000 Gbps is more",
        ),
        (
            "ftp = { datagram = \"160 B\" }",
            "cbr = { rate = \"64 kbps\", datagram = \"1 MB\" }",
            "flows[1].source.cbr.datagram",
            "1000000 B",
        ),
        (
            "ftp = { datagram = \"160 B\" }",
            "cbr = { rate = \"64 kbps\", datagram = \"64496 B\" }",
            "flows[1].source.cbr.datagram",
            "64496 B do not fit a packet",
        ),
    ]);
}

#[test]
fn an_unknown_source_is_answered_with_those_that_are_known() {
    assert_errors(&[(
        "source = { ftp = {} }",
        "source = { webb = {} }",
        "flows[0].source",
        "\"webb\" is not a known source: use ",
    )]);
}

#[test]
fn errors_of_web_traffic_name_their_field() {
    assert_errors(&[
        (
            "source = { ftp = {} }",
            "source = { web = { think = [] } }",
            "flows[0].source.web.think",
            "give at least one part",
        ),
        (
            "source = { ftp = {} }",
            "source = { web = { think = [{ probability = 0.5, median = \"1 s\", shape = 2 }] } }",
            "flows[0].source.web.think",
            "the probabilities add up to 0.5, not to 1",
        ),
        (
            "source = { ftp = {} }",
            "source = { web = { think = [{ probability = 1.5, median = \"1 s\", shape = 2 }] } }",
            "flows[0].source.web.think[0].probability",
            "1.5: between 0 and 1",
        ),
        (
            "source = { ftp = {} }",
            "source = { web = { think = [{ probability = 1, median = \"0 s\", shape = 2 }] } }",
            "flows[0].source.web.think[0].median",
            "0 s: give a time above zero",
        ),
        (
            "source = { ftp = {} }",
            "source = { web = { think = [{ probability = 1, median = \"1 s\", shape = nan }] } }",
            "flows[0].source.web.think[0].shape",
            "NaN: give a finite number",
        ),
        (
            "source = { ftp = {} }",
            "source = { web = { size = { median = \"0 B\" } } }",
            "flows[0].source.web.size.median",
            "0 B: give a size above zero",
        ),
        (
            "source = { ftp = {} }",
            "source = { web = { size = { shape = 0 } } }",
            "flows[0].source.web.size.shape",
            "0: give a number above zero",
        ),
        (
            "source = { ftp = {} }",
            "source = { web = { datagram = \"1 MB\" } }",
            "flows[0].source.web.datagram",
            "1000000 B do not fit",
        ),
        (
            "tcp = {} }\n    source = { ftp = {} }",
            "udp = {} }\n    source = { web = {} }",
            "flows[0].source",
            "web traffic needs connections",
        ),
    ]);
}

#[test]
fn errors_of_cubic_name_their_field() {
    assert_errors(&[
        (
            "tcp = {}",
            "tcp = { cubic = {} }",
            "flows[0].transport.tcp.cubic",
            "these are parameters of `cubic`: give control = \"cubic\" too",
        ),
        (
            "tcp = {}",
            "tcp = { control = \"cubic\", cubic = { beta = 1.5 } }",
            "flows[0].transport.tcp.cubic.beta",
            "1.5: between 0 and 1",
        ),
        (
            "tcp = {}",
            "tcp = { control = \"cubic\", cubic = { betta = 0.5 } }",
            "flows[0].transport.tcp.cubic.betta",
            "unknown field `betta`",
        ),
    ]);
}

#[test]
fn the_least_ack_ratio_is_one_or_two() {
    assert_errors(&[(
        "ccid = 2",
        "ccid = 2, min_ack_ratio = 3",
        "flows[1].transport.dccp.min_ack_ratio",
        "out of range: give 1 or 2 (RFC 4341 section 6.1.2)",
    )]);
}

#[test]
fn errors_of_vegas_name_their_field() {
    assert_errors(&[(
        "ccid = 2",
        "ccid = 251, control = \"vegas\", vegas = { alpha = 4.0 }",
        "flows[1].transport.dccp.vegas.alpha",
        "4 is above beta, 3",
    )]);
}

#[test]
fn errors_of_the_senders_choice_name_their_field() {
    assert_errors(&[
        (
            "ccid = 2",
            "ccid = 2, control = \"cubic\"",
            "flows[1].transport.dccp.control",
            "CCID 2 has a control of its own: leave `control` out, or use ccid 251",
        ),
        (
            "ccid = 2",
            "ccid = 251, control = \"bbr\"",
            "flows[1].transport.dccp.control",
            "\"bbr\" is not a known control: use ",
        ),
        (
            "ccid = 2",
            "ccid = 251, vegas = {}",
            "flows[1].transport.dccp.vegas",
            "unknown field `vegas`",
        ),
    ]);
}

#[test]
fn errors_of_chosen_members_name_their_field() {
    assert_errors(&[(
        "tcp = {}",
        "tcp = { segmennt = \"1 kB\" }",
        "flows[0].transport.tcp.segmennt",
        "unknown field `segmennt`",
    )]);
}

#[test]
fn what_is_not_toml_or_json_says_where() {
    for (text, message) in [
        (
            "name = ",
            "line 1, column 8: string values must be quoted, ",
        ),
        (
            "\n[dumbbell\n",
            "line 2, column 10: unclosed table, expected `]`",
        ),
        (
            "\"\u{e9}\" = 1\r\n\"\u{e9}\" = 1",
            "line 2, column 1: duplicate key",
        ),
        (
            "\"\u{e9}\" = 1 x",
            "line 1, column 7: string values must be quoted, ",
        ),
        // A line of the text in the message would be taken for words of the parser.
        (
            "flows = [{ struct = map }]",
            "line 1, column 21: string values must be quoted, ",
        ),
    ] {
        let error = Scenario::from_toml(text, &Registry::default()).unwrap_err();
        let message = format!("not TOML: {message}");
        assert!(error.message.starts_with(&message), "{error}");
        assert!(!error.message.contains(['|', '^', '\n']), "{error}");
    }
    let deep = "a = ".to_owned() + &"[".repeat(100_000);
    let error = Scenario::from_toml(&deep, &Registry::default()).unwrap_err();
    assert!(error.message.starts_with("not TOML: "), "{error}");
    let error = Scenario::from_json("{\"name\": 1} x", &Registry::default()).unwrap_err();
    assert_eq!(
        error.message,
        "not JSON: line 1, column 13: trailing characters"
    );
}

/// Returns every field of a definition with its path.
fn fields(schema: &Value) -> impl Iterator<Item = (String, &Value)> {
    let definitions = schema["$defs"].as_object().unwrap();
    definitions.iter().flat_map(|(name, definition)| {
        let fields = definition["properties"].as_object().into_iter().flatten();
        fields.map(move |(field, schema)| (format!("{name}.{field}"), schema))
    })
}

#[test]
fn the_schema_says_of_each_field_what_it_is_and_of_each_number_its_unit() {
    let schema = Registry::default().schema();
    assert!(fields(&schema).count() > 150);
    for (path, field) in fields(&schema) {
        let is_documented = field["description"].is_string() || field["x-member"].is_string();
        assert!(is_documented, "{path} has no documentation: {field}");
        let of_type = |name: &str| {
            let types = &field["type"];
            types == name
                || types
                    .as_array()
                    .is_some_and(|all| all.contains(&name.into()))
        };
        if of_type("integer") || of_type("number") {
            assert!(field["x-unit"].is_string(), "{path} has no unit: {field}");
        }
    }
}

#[test]
fn the_schema_has_each_member_of_the_registry() {
    let registry = Registry::default();
    let schema = registry.schema();
    let definitions = &schema["$defs"];
    for name in registry.queues.names() {
        let forms = definitions["Queue"]["oneOf"].as_array().unwrap();
        let has = |form: &Value| form["properties"].get(name).is_some();
        assert_eq!(forms.iter().filter(|form| has(form)).count(), 1, "{name}");
    }
    for name in registry.controls.names() {
        for transport in ["Tcp", "Dccp"] {
            assert_eq!(definitions[transport]["properties"][name]["x-member"], name);
        }
    }
    for transport in ["Tcp", "Dccp"] {
        // A control in Python is named by its class, and its parameters stand under that name.
        let pattern = &definitions[transport]["properties"]["control"]["anyOf"][1]["pattern"];
        let tables = &definitions[transport]["patternProperties"];
        assert_eq!(tables[pattern.as_str().unwrap()]["type"], "object");
    }
}
