//! Quick-Start (RFC 4782, RFC 5634) over whole paths.

use skywave_sim::Results;

use crate::support::{counts, floats, run_verified, table, words};

/// The rate that a 2 Mbit/s link approves if it may give away nine tenths (RFC 4782 table 1).
const APPROVED_BPS: f64 = 1_280_000.0;

/// A path of `links` links of 2 Mbit/s, with a delay of about 250 ms from end to end. Link number `odd`
/// does not take part in Quick-Start.
struct Path<'a> {
    links: u32,
    odd: Option<u32>,
    loss: &'a str,
    tfrc: &'a str,
    quick_start: &'a str,
    /// When each flow starts, in seconds.
    starts: &'a [f64],
}

const PATH: Path<'_> = Path {
    links: 1,
    odd: None,
    loss: "",
    tfrc: r#"{ rules = "rfc5348" }"#,
    quick_start: r#"quick_start = "10 Mbps","#,
    starts: &[0.0],
};

impl Path<'_> {
    fn run(&self) -> Results {
        let nodes: Vec<_> = (0..=self.links).map(|node| format!("n{node}")).collect();
        let mut scenario = format!(
            r#"
            name = "quick start"
            duration = "10 s"
            nodes = {nodes:?}
            verify_wire = true
            probes = {{ interval = "100 ms", rates = true }}
            "#
        );
        let delay = 250 / self.links;
        for link in 0..self.links {
            let share = if self.odd == Some(link) {
                ""
            } else {
                "quick_start = 0.9"
            };
            let loss = if link == 0 { self.loss } else { "" };
            scenario += &format!(
                r#"
                [[links]]
                from = "n{link}"
                to = "n{}"
                rate = "2 Mbps"
                delay = "{delay} ms"
                queue = {{ drop-tail = {{ packets = 1000 }} }}
                {share}
                {loss}
                "#,
                link + 1
            );
        }
        for (flow, start) in self.starts.iter().enumerate() {
            let Self {
                tfrc,
                quick_start,
                links,
                ..
            } = self;
            scenario += &format!(
                r#"
                [[flows]]
                name = "flow {flow}"
                from = "n0"
                to = "n{links}"
                start = "{start} s"
                transport = {{ dccp = {{ ccid = 3, {quick_start} tfrc = {tfrc} }} }}
                source = {{ ftp = {{ datagram = "1000 B" }} }}
                "#
            );
        }
        run_verified(&scenario)
    }
}

/// The rate in bit/s, headers included, at which packets of flow 0 arrived at link 0 between two
/// times in seconds.
fn rate_bps(results: &Results, from: f64, to: f64) -> f64 {
    let batch = table(results, "link_flows");
    let rows = floats(batch, "time_s")
        .iter()
        .zip(counts(batch, "arrivals"));
    let (links, flows) = (words(batch, "link"), words(batch, "flow"));
    let packets: u64 = links
        .into_iter()
        .zip(flows)
        .zip(rows)
        .filter(|&((link, flow), (&at, _))| {
            link == "n0->n1" && flow == "flow 0" && at > from + 1e-9 && at <= to + 1e-9
        })
        .map(|(_, (_, &count))| count)
        .sum();
    packets as f64 * 1_036.0 * 8.0 / (to - from)
}

/// The allowed rates of a flow in bit/s of data, with their times in seconds.
fn allowed(results: &Results, flow: &str) -> Vec<(f64, f64)> {
    let batch = table(results, "rates");
    let rows = floats(batch, "time_s")
        .iter()
        .zip(counts(batch, "allowed_rate_bps"));
    words(batch, "flow")
        .into_iter()
        .zip(rows)
        .filter(|&(name, _)| name == flow)
        .map(|(_, (&at, &rate))| (at, rate as f64))
        .collect()
}

/// The greatest allowed rate of a flow until a time in seconds, in bit/s of data.
fn greatest(results: &Results, flow: &str, until: f64) -> f64 {
    let rows = allowed(results, flow);
    let early = rows.iter().take_while(|&&(at, _)| at <= until);
    early.map(|&(_, rate)| rate).fold(0.0, f64::max)
}

/// RFC 5634 section 3.2.3: the handshake takes one round-trip time, request and response another.
/// Two round-trip times after the start, the flow sends at the approved rate; without Quick-Start
/// it is far from that.
#[test]
fn the_approved_rate_is_reached_in_two_round_trip_times() {
    for tfrc in [r#"{ rules = "rfc5348" }"#, r#"{ rules = "rfc3448" }"#] {
        let results = Path { tfrc, ..PATH }.run();
        let rate = rate_bps(&results, 1.1, 1.6);
        assert!(
            (0.8 * APPROVED_BPS..1.01 * APPROVED_BPS).contains(&rate),
            "{tfrc}: {rate}"
        );
        let without = Path {
            tfrc,
            quick_start: "",
            ..PATH
        }
        .run();
        let rate = rate_bps(&without, 1.1, 1.6);
        assert!(rate < 0.25 * APPROVED_BPS, "{tfrc}: {rate}");
    }
}

/// RFC 4782 sections 3.3 and 8.2: what is given away to several flows, whenever they ask, is never
/// more than the share.
#[test]
fn flows_together_are_given_no_more_than_the_share() {
    for starts in [[0.0, 0.0], [0.0, 0.3], [0.0, 1.0]] {
        let results = Path {
            starts: &starts,
            ..PATH
        }
        .run();
        let second = starts[1] + 1.4;
        let first = greatest(&results, "flow 0", 1.4);
        let sum = first + greatest(&results, "flow 1", second);
        assert!(sum <= 1_800_000.0, "{starts:?}: {sum}");
        assert!(first > 0.9 * APPROVED_BPS, "{starts:?}: {first}");
    }
}

/// RFC 4782 section 3.3: on a path with a router that does not take part, wherever it is, nothing
/// is approved, and the flow does the same as without Quick-Start.
#[test]
fn a_router_without_quick_start_denies_and_does_no_harm() {
    let path = |odd, quick_start| {
        let results = Path {
            links: 3,
            odd,
            quick_start,
            ..PATH
        }
        .run();
        allowed(&results, "flow 0")
    };
    let asked = path(None, PATH.quick_start);
    let without = path(None, "");
    assert!(asked.iter().any(|&(at, x)| at < 1.4 && x > 1e6));
    for odd in 0..3 {
        let denied = path(Some(odd), PATH.quick_start);
        for (&(at, x), &(_, wanted)) in denied.iter().zip(&without) {
            assert!(
                (0.9..1.1).contains(&(x / wanted)),
                "link {odd}, {at} s: {x}, not {wanted}"
            );
        }
    }
}

/// RFC 5634 section 3.2.5: after the loss of a Quick-Start Packet, the rate is that of the
/// throughput equation or twice the receive rate, whichever is less.
#[test]
fn a_lost_quick_start_packet_ends_quick_start() {
    let results = Path {
        loss: "loss = { packets = [40] }",
        ..PATH
    }
    .run();
    assert!(greatest(&results, "flow 0", 1.4) > 0.9 * APPROVED_BPS);
    let rows = allowed(&results, "flow 0");
    let after = rows.iter().find(|&&(at, _)| at >= 2.1).unwrap();
    assert!(after.1 < 0.7 * APPROVED_BPS, "{after:?}");
}
