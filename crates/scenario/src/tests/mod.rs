//! Invalid scenarios and their error messages.

mod flows;
mod queues;
mod schema;
mod sockets;
mod sources;

use skywave_path::contract::Parcel;
use skywave_registry::OpenSet;

use crate::{Backend, Scenario};

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
            "flows[0].transport: invalid type: floating point `0.01`, expected a transport with its \
             parameters: { tcp = { .. } }",
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
            "\"-1 Mbps\" is negative",
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

/// The parts of what is too long never get into memory.
#[test]
fn texts_that_are_too_long_are_refused_before_they_are_read() {
    let long = format!("description = \"{}\"", "x".repeat(32 << 20));
    let error = Scenario::from_toml(&long, &Registry::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the text has 33554448 bytes, and TOML may have at most 33554432: use fewer flows, and put \
         long traces into files of their own"
    );
    let flow = r#"{"name":"a","from":"a","to":"b","transport":{"udp":{}},"source":"ftp"}"#;
    let link = r#"{"from":"a","to":"b","rate":"1 bps","delay":"0 s"}"#;
    for (field, element, most) in [
        ("flows", flow, 100_000),
        ("links", link, 250_000),
        ("nodes", "\"a\"", 250_000),
    ] {
        // What follows the element that is too much is no longer read.
        let text = format!("{{\"{field}\":[{},7]}}", vec![element; most + 1].join(","));
        let error = Scenario::from_json(&text, &Registry::default()).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("{field}: there are more than {most}: leave some out")
        );
    }
}
