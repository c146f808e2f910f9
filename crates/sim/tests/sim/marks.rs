//! What a control learns of marks, with each feedback of TCP, against the marks of the queue.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_congestion::{
    Ack, AnyControl, Control, ControlContext, ControlKind, Ect, Loss, MarkedPackets, Wants,
    register_control,
};
use skywave_scenario::Scenario;
use skywave_sim::{Registry, Results, RunOptions, run};
use skywave_units::Instant;

use crate::support::{floats, table, words};

/// A window of 40 packets that counts marks.
#[derive(Clone, Copy, Debug, Default, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Counts {
    /// Whether data carries ECT(1).
    l4s: bool,
}

impl ControlKind for Counts {
    fn wants(&self) -> Wants {
        let code = if self.l4s { Ect::One } else { Ect::Zero };
        Wants::default()
            .with_sack()
            .with_ecn(code)
            .with_accurate_ecn()
    }

    fn build(&self, _context: &ControlContext) -> AnyControl {
        AnyControl::new(Counter::default())
    }
}

#[derive(Debug, Default)]
struct Counter {
    packets: u32,
    bytes: u64,
}

impl Control for Counter {
    fn on_packets_marked(&mut self, marked: &MarkedPackets) {
        self.packets += marked.packets;
        self.bytes += marked.bytes.unwrap_or(0);
    }

    fn on_ack(&mut self, _ack: &Ack) {}
    fn on_loss(&mut self, _loss: &Loss) {}
    fn on_timeout(&mut self, _now: Instant, _in_flight: u32) {}
    fn limit_cwnd(&mut self, _limit: f64) {}

    fn cwnd(&self) -> f64 {
        40.0
    }

    fn inner_values(&self, record: &mut dyn FnMut(&'static str, f64)) {
        record("marked_packets", self.packets.into());
        record("marked_bytes", self.bytes as f64);
    }
}

fn registry() -> Registry {
    let mut registry = Registry::default();
    register_control::<Counts>(&mut registry.controls, "counts", "Counts marks.");
    registry
}

fn scenario(tcp: &str, link: &str) -> String {
    format!(
        "name = \"marks\"\nduration = \"30 s\"\nseed = 1\nnodes = [\"a\", \"b\"]\n\
         probes = {{ interval = \"1 s\", tables = [\"controls\"] }}\n\
         [[links]]\nfrom = \"a\"\nto = \"b\"\nrate = \"10 Mbps\"\ndelay = \"10 ms\"\n\
         queue = {{ codel = {{ packets = 100, target = \"5 ms\", interval = \"20 ms\", ecn = true }} }}\n{link}\n\
         [[flows]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\nsource = {{ ftp = {{ size = \"5 MB\" }} }}\n\
         transport = {{ tcp = {{ control = \"counts\", {tcp} }} }}\n"
    )
}

/// Returns the packets that the queue has marked, and the packets and bytes that the sender knows to
/// be marked.
fn marks(tcp: &str, link: &str) -> (f64, f64, f64) {
    let registry = registry();
    let scenario = Scenario::from_toml(&scenario(tcp, link), &registry).unwrap();
    let results: Results = run(&scenario, &registry, RunOptions::default(), |_| true).unwrap();
    assert_eq!(results.summary.flows[0].delivered_bytes, 5_000_000);
    let values = table(&results, "controls");
    let (names, numbers) = (words(values, "name"), floats(values, "value"));
    let last = |name| {
        let index = names.iter().rposition(|&of| of == name).unwrap();
        numbers[index]
    };
    let marked = results.summary.links[0].marks as f64;
    assert!(marked > 50.0, "{marked}");
    (marked, last("marked_packets"), last("marked_bytes"))
}

const LOSSY_BACK: &str = "back = { loss = { bernoulli = { probability = 0.3 } } }";

/// Counters do not depend on which acknowledgements arrive.
#[test]
fn accurate_ecn_reports_every_mark() {
    for tcp in [
        "",
        "counts = { l4s = true }",
        "delayed_ack = \"200 ms\"",
        "counts = { l4s = true }, delayed_ack = \"200 ms\"",
    ] {
        for link in ["", LOSSY_BACK] {
            let (marked, packets, bytes) = marks(tcp, link);
            assert_eq!((packets, bytes), (marked, 1000.0 * marked), "{tcp} {link}");
        }
    }
}

/// Without loss, acknowledgements of one packet tell its mark.
#[test]
fn the_echo_of_dctcp_reports_every_mark() {
    for tcp in [
        "ecn_feedback = \"dctcp\"",
        "profile = \"linux\"",
        "ecn_feedback = \"dctcp\", delayed_ack = \"200 ms\"",
    ] {
        let (marked, packets, bytes) = marks(tcp, "");
        assert_eq!((packets, bytes), (marked, 1000.0 * marked), "{tcp}");
    }
}

#[test]
fn the_echo_of_rfc_3168_is_an_upper_bound() {
    let (marked, packets, _) = marks("ecn_feedback = \"rfc3168\"", "");
    assert!(packets > marked, "{packets} {marked}");
}

#[test]
fn a_control_gets_the_feedback_that_it_needs_or_an_error() {
    let error = |tcp: &str| {
        let text = scenario(tcp, "");
        Scenario::from_toml(&text, &registry())
            .unwrap_err()
            .to_string()
    };
    for feedback in ["rfc3168", "dctcp"] {
        let tcp = format!("counts = {{ l4s = true }}, ecn_feedback = \"{feedback}\"");
        assert_eq!(
            error(&tcp),
            "flows[0].transport.tcp.ecn_feedback: `counts` sends ECT(1) and responds to the fraction \
             of marked packets, which only Accurate ECN reports (RFC 9331 section 4.1): give accurate"
        );
    }
    assert!(error("profile = \"ns2\"").contains("ns-2's receivers report marks as RFC 3168 says"));
    let prague = scenario("profile = \"ns2\"", "").replace("\"counts\"", "\"prague\"");
    let error = Scenario::from_toml(&prague, &registry()).unwrap_err();
    assert!(
        error.to_string().contains("give another profile"),
        "{error}"
    );
    for (control, recovery) in [
        ("reno", ""),
        ("reno", ", recovery = \"sack\""),
        ("cubic", ""),
    ] {
        let replaced = format!("control = \"{control}\"{recovery}, forward_rto = true, ");
        let text = scenario("", "").replace("control = \"counts\", ", &replaced);
        let error = Scenario::from_toml(&text, &registry()).unwrap_err();
        assert!(
            error.to_string().contains("give recovery = \"rack\" too"),
            "{error}"
        );
    }
    let bbr = scenario("", "").replace("\"counts\"", "\"bbr\", cwnd_validation = true");
    let error = Scenario::from_toml(&bbr, &registry()).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("cwnd_validation: `bbr` derives cwnd from its model"),
        "{error}"
    );
    let plain = scenario("", "").replace("control = \"counts\", ", "ecn_feedback = \"accurate\"");
    let error = Scenario::from_toml(&plain, &registry()).unwrap_err();
    assert!(error.to_string().contains("give ecn = true too"), "{error}");
}
