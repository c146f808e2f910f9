//! Reading a scenario and checking what its types cannot say.

use std::collections::BTreeSet;

use serde::Deserialize;
use skywave_units::{Duration, Rate};

use super::{
    DccpSpec, DropTailSpec, Dumbbell, FlowSpec, LinkSpec, LossSpec, QueueSpec, Scenario,
    ScenarioError, SourceSpec, TcpSpec, TransportSpec,
};

/// The longest run: beyond it the clock of 64-bit nanoseconds has no room for timers.
const LONGEST_RUN: Duration = Duration::from_secs(100 * 365 * 24 * 3600);
/// Rows of samples of one run: beyond them tables no longer fit a memory.
const MOST_ROWS: u64 = 20_000_000;
/// Hosts of one dumbbell, a side.
const MOST_PAIRS: u32 = 100_000;
/// A datagram fits an IPv4 packet beside the longest headers: 65,535 bytes less 20 of IP and 1,020
/// of DCCP, whose Data Offset counts up to 255 words (RFC 4340 section 5.1).
const LARGEST_DATAGRAM: u64 = 65_535 - 20 - 255 * 4;
/// Packets that may wait in a sender or leave it at once: all of them take memory at one instant.
const MOST_PACKETS: u32 = 1_000_000;

impl Scenario {
    /// Reads TOML.
    ///
    /// # Errors
    /// [`ScenarioError`] with the field that is wrong; the scenario has been validated.
    pub fn from_toml(text: &str) -> Result<Self, ScenarioError> {
        let document = toml::de::Deserializer::parse(text)
            .map_err(|error| ScenarioError::new("", one_line(&error.to_string())))?;
        Self::read(document, |error: &toml::de::Error| {
            error.message().to_owned()
        })
    }

    /// Reads JSON.
    ///
    /// # Errors
    /// [`ScenarioError`] with the field that is wrong; the scenario has been validated.
    pub fn from_json(text: &str) -> Result<Self, ScenarioError> {
        let mut document = serde_json::Deserializer::from_str(text);
        let scenario = Self::read(&mut document, |error: &serde_json::Error| error.to_string())?;
        document
            .end()
            .map_err(|error| ScenarioError::new("", error.to_string()))?;
        Ok(scenario)
    }

    fn read<'de, D>(document: D, message: fn(&D::Error) -> String) -> Result<Self, ScenarioError>
    where
        D: serde::Deserializer<'de>,
    {
        let mut track = serde_path_to_error::Track::new();
        let tracked = serde_path_to_error::Deserializer::new(document, &mut track);
        let scenario = Self::deserialize(tracked).map_err(|error| {
            let path = track.path().to_string();
            let field = if path == "." { String::new() } else { path };
            ScenarioError::new(field, one_line(&message(&error)))
        })?;
        scenario.validate()?;
        Ok(scenario)
    }

    /// The scenario as JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a scenario has only string keys")
    }

    /// Checks what the types cannot say: that names are known, rates are not zero, queues hold
    /// something.
    ///
    /// # Errors
    /// [`ScenarioError`] with the first field that is wrong.
    pub fn validate(&self) -> Result<(), ScenarioError> {
        check(!self.name.is_empty(), "name", || {
            "give the scenario a name".to_owned()
        })?;
        check(
            !self.duration.is_zero() && self.duration <= LONGEST_RUN,
            "duration",
            || format!("{} is not a run: between 1 ns and 100 years", self.duration),
        )?;
        if let Some(dumbbell) = &self.dumbbell {
            dumbbell.validate("dumbbell")?;
        }
        let nodes = self.all_nodes()?;
        let links = self.all_links(&nodes)?;
        check(!self.flows.is_empty(), "flows", || {
            "there is no flow: add one".to_owned()
        })?;
        let mut names = BTreeSet::new();
        for (index, flow) in self.flows.iter().enumerate() {
            let field = format!("flows[{index}]");
            flow.validate(&field, &nodes)?;
            check(
                names.insert(flow.name.as_str()),
                &format!("{field}.name"),
                || format!("\"{}\" is the name of another flow too", flow.name),
            )?;
        }
        let interval = self.probes.interval;
        check(!interval.is_zero(), "probes.interval", || {
            "0 s between samples: give a time above zero".to_owned()
        })?;
        for (index, link) in self.probes.links.iter().enumerate() {
            check(
                links.contains(link),
                &format!("probes.links[{index}]"),
                || format!("there is no link \"{link}\"; links are {}", list(&links)),
            )?;
        }
        let sampled = match self.probes.links.len() {
            0 => links.len(),
            named => named,
        };
        let samples = self.duration.as_nanos() / interval.as_nanos();
        let rows = samples.saturating_mul((sampled + self.flows.len()) as u64);
        check(rows <= MOST_ROWS, "probes.interval", || {
            format!(
                "{interval} gives {samples} samples of {sampled} links and {} flows: at most \
                 {MOST_ROWS} rows in all",
                self.flows.len()
            )
        })
    }

    /// The names of all directed links, those of the dumbbell included.
    fn all_links(&self, nodes: &BTreeSet<String>) -> Result<BTreeSet<String>, ScenarioError> {
        let mut names = BTreeSet::new();
        if let Some(dumbbell) = &self.dumbbell {
            names.extend(dumbbell.expand().1.iter().flat_map(LinkSpec::directions));
        }
        for (index, link) in self.links.iter().enumerate() {
            let field = format!("links[{index}]");
            link.validate(&field, nodes)?;
            for name in link.directions() {
                check(!names.contains(&name), &field, || {
                    format!("there is a link \"{name}\" already, and packets would take that one")
                })?;
                names.insert(name);
            }
        }
        Ok(names)
    }

    /// All nodes, those of the dumbbell included.
    fn all_nodes(&self) -> Result<BTreeSet<String>, ScenarioError> {
        let mut nodes = BTreeSet::new();
        if let Some(dumbbell) = &self.dumbbell {
            nodes.extend(dumbbell.expand().0);
        }
        for (index, node) in self.nodes.iter().enumerate() {
            check(
                nodes.insert(node.clone()),
                &format!("nodes[{index}]"),
                || format!("\"{node}\" is there twice"),
            )?;
        }
        check(!nodes.is_empty(), "nodes", || {
            "there are no nodes: list them, or describe a dumbbell".to_owned()
        })?;
        Ok(nodes)
    }

    /// All nodes and links, the dumbbell expanded.
    pub(crate) fn topology(&self) -> (Vec<String>, Vec<LinkSpec>) {
        let (mut nodes, mut links) = self
            .dumbbell
            .as_ref()
            .map(Dumbbell::expand)
            .unwrap_or_default();
        nodes.extend(self.nodes.iter().cloned());
        links.extend(self.links.iter().cloned());
        (nodes, links)
    }
}

impl Dumbbell {
    fn validate(&self, field: &str) -> Result<(), ScenarioError> {
        check(
            (1..=MOST_PAIRS).contains(&self.pairs),
            &format!("{field}.pairs"),
            || format!("{} pairs of hosts: between 1 and {MOST_PAIRS}", self.pairs),
        )?;
        check_rate(self.rate, &format!("{field}.rate"))?;
        check_rate(self.access_rate, &format!("{field}.access_rate"))?;
        check(
            !self.access_delays.is_empty(),
            &format!("{field}.access_delays"),
            || "give at least one delay".to_owned(),
        )?;
        check_queue(&self.queue, &format!("{field}.queue"))?;
        check_loss(self.loss.as_ref(), &format!("{field}.loss"))
    }
}

impl LinkSpec {
    /// The names of its directions.
    fn directions(&self) -> impl Iterator<Item = String> + use<> {
        let back = (!self.one_way).then(|| format!("{}->{}", self.to, self.from));
        std::iter::once(format!("{}->{}", self.from, self.to)).chain(back)
    }

    fn validate(&self, field: &str, nodes: &BTreeSet<String>) -> Result<(), ScenarioError> {
        check_ends(&self.from, &self.to, field, nodes)?;
        check_rate(self.rate, &format!("{field}.rate"))?;
        check_queue(&self.queue, &format!("{field}.queue"))?;
        check_loss(self.loss.as_ref(), &format!("{field}.loss"))
    }
}

impl FlowSpec {
    fn validate(&self, field: &str, nodes: &BTreeSet<String>) -> Result<(), ScenarioError> {
        check(!self.name.is_empty(), &format!("{field}.name"), || {
            "give the flow a name".to_owned()
        })?;
        check_ends(&self.from, &self.to, field, nodes)?;
        if let Some(stop) = self.stop {
            check(stop > self.start, &format!("{field}.stop"), || {
                format!("{stop} is not after the start, {}", self.start)
            })?;
        }
        match &self.transport {
            TransportSpec::Tcp(tcp) => tcp.validate(&format!("{field}.transport.tcp"))?,
            TransportSpec::Dccp(dccp) => dccp.validate(&format!("{field}.transport.dccp"))?,
        }
        match &self.source {
            SourceSpec::Ftp(ftp) => {
                check_datagram(ftp.datagram.get(), &format!("{field}.source.ftp.datagram"))
            }
            SourceSpec::Cbr(cbr) => {
                check_rate(cbr.rate, &format!("{field}.source.cbr.rate"))?;
                check_datagram(cbr.datagram.get(), &format!("{field}.source.cbr.datagram"))?;
                let interval = cbr.rate.transmission_time(cbr.datagram.get());
                check(
                    !interval.is_zero(),
                    &format!("{field}.source.cbr.rate"),
                    || {
                        let datagram = cbr.datagram;
                        format!(
                            "{} is more than one datagram of {datagram} a nanosecond",
                            cbr.rate
                        )
                    },
                )
            }
        }
    }
}

impl TcpSpec {
    fn validate(&self, field: &str) -> Result<(), ScenarioError> {
        check_datagram(self.segment.get(), &format!("{field}.segment"))?;
        check_packets(self.initial_cwnd, &format!("{field}.initial_cwnd"))?;
        check_ssthresh(self.initial_ssthresh, &format!("{field}.initial_ssthresh"))?;
        // RFC 7323 section 2.3: a window of at most 2^30 bytes.
        let window = u64::from(self.receive_window) * self.segment.get();
        check(
            (1..=1 << 30).contains(&window),
            &format!("{field}.receive_window"),
            || {
                format!(
                    "{} segments are {window} B: between 1 B and 1 GiB",
                    self.receive_window
                )
            },
        )?;
        check_timer(self.initial_rto, &format!("{field}.initial_rto"))?;
        check_timer(self.min_rto, &format!("{field}.min_rto"))
    }
}

impl DccpSpec {
    fn validate(&self, field: &str) -> Result<(), ScenarioError> {
        check(
            (2..=4).contains(&self.ccid),
            &format!("{field}.ccid"),
            || format!("{} is not a known CCID: use 2, 3 or 4", self.ccid),
        )?;
        check_packets(self.initial_cwnd, &format!("{field}.initial_cwnd"))?;
        check_ssthresh(self.initial_ssthresh, &format!("{field}.initial_ssthresh"))?;
        check_packets(self.send_queue, &format!("{field}.send_queue"))?;
        check(self.ack_ratio > 0, &format!("{field}.ack_ratio"), || {
            "an Ack Ratio of 0 is not allowed (RFC 4340 section 11.3): use 1 or more".to_owned()
        })?;
        check_timer(self.initial_rto, &format!("{field}.initial_rto"))?;
        check_timer(self.min_rto, &format!("{field}.min_rto"))
    }
}

fn check(holds: bool, field: &str, message: impl FnOnce() -> String) -> Result<(), ScenarioError> {
    if holds {
        Ok(())
    } else {
        Err(ScenarioError::new(field, message()))
    }
}

fn check_ends(
    from: &str,
    to: &str,
    field: &str,
    nodes: &BTreeSet<String>,
) -> Result<(), ScenarioError> {
    for (key, node) in [("from", from), ("to", to)] {
        check(nodes.contains(node), &format!("{field}.{key}"), || {
            format!("there is no node \"{node}\"; nodes are {}", list(nodes))
        })?;
    }
    check(from != to, &format!("{field}.to"), || {
        format!("both ends are \"{to}\"")
    })
}

fn check_rate(rate: Rate, field: &str) -> Result<(), ScenarioError> {
    check(rate > Rate::from_bps(0), field, || {
        "0 bps: give a rate above zero".to_owned()
    })
}

fn check_queue(queue: &QueueSpec, field: &str) -> Result<(), ScenarioError> {
    let QueueSpec::DropTail(DropTailSpec { packets, bytes }) = queue else {
        return Ok(());
    };
    let field = format!("{field}.drop-tail");
    check(packets.is_some() != bytes.is_some(), &field, || {
        "give either `packets` or `bytes`".to_owned()
    })?;
    check(*packets != Some(0), &format!("{field}.packets"), || {
        "a queue of 0 packets holds nothing: use 1 or more, or leave the queue out".to_owned()
    })?;
    check(
        bytes.is_none_or(|bytes| bytes.get() > 0),
        &format!("{field}.bytes"),
        || "a queue of 0 B holds nothing: give more, or leave the queue out".to_owned(),
    )
}

fn check_loss(loss: Option<&LossSpec>, field: &str) -> Result<(), ScenarioError> {
    match loss {
        Some(LossSpec::Packets(ordinals)) => {
            check(!ordinals.contains(&0), &format!("{field}.packets"), || {
                "packets are counted from 1: there is no packet 0".to_owned()
            })
        }
        None => Ok(()),
    }
}

fn check_datagram(bytes: u64, field: &str) -> Result<(), ScenarioError> {
    check((1..=LARGEST_DATAGRAM).contains(&bytes), field, || {
        format!("{bytes} B do not fit a packet: between 1 B and {LARGEST_DATAGRAM} B")
    })
}

/// Packets that are there at once.
fn check_packets(packets: Option<u32>, field: &str) -> Result<(), ScenarioError> {
    let packets = packets.unwrap_or(1);
    check((1..=MOST_PACKETS).contains(&packets), field, || {
        format!("{packets} packets: between 1 and {MOST_PACKETS}")
    })
}

/// A threshold, which may be as large as it likes.
fn check_ssthresh(packets: Option<u32>, field: &str) -> Result<(), ScenarioError> {
    check(packets != Some(0), field, || {
        "0 packets: use 1 or more".to_owned()
    })
}

fn check_timer(timer: Option<Duration>, field: &str) -> Result<(), ScenarioError> {
    check(timer != Some(Duration::ZERO), field, || {
        "0 s: give a time above zero".to_owned()
    })
}

/// A few names, enough to see what kind they are.
fn list(names: &BTreeSet<String>) -> String {
    const SHOWN: usize = 8;
    let mut text = names
        .iter()
        .take(SHOWN)
        .cloned()
        .collect::<Vec<_>>()
        .join(", ");
    if names.len() > SHOWN {
        text.push_str(&format!(" and {} more", names.len() - SHOWN));
    }
    text
}

fn one_line(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

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
        source = { cbr = { rate = "64 kbps", datagram = "160 B" } }
    "#;

    #[test]
    fn a_good_scenario_reads_the_same_from_toml_and_json() {
        let scenario = Scenario::from_toml(GOOD).unwrap();
        let again = Scenario::from_json(&scenario.to_json()).unwrap();
        assert_eq!(scenario.to_json(), again.to_json());
    }

    /// Each row: what is replaced in the good scenario, by what, and how the error begins.
    #[test]
    fn every_error_names_its_field() {
        for (old, new, field, message) in [
            (
                "ccid = 2",
                "ccid = 5",
                "flows[1].transport.dccp.ccid",
                "5 is not a known CCID",
            ),
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
                "from = \"a\"",
                "from = \"x\"",
                "links[0].from",
                "there is no node \"x\"",
            ),
            (
                "name = \"voice\"",
                "name = \"file\"",
                "flows[1].name",
                "\"file\" is the name",
            ),
            (
                "duration = \"10 s\"",
                "duration = \"0 s\"",
                "duration",
                "0 s is not a run",
            ),
            ("duration = \"10 s\"", "", "", "missing field `duration`"),
            (
                "rate = \"64 kbps\"",
                "rate = \"10000 Gbps\"",
                "flows[1].source.cbr.rate",
                "10000 Gbps is more",
            ),
            (
                "interval = \"1 ms\"",
                "interval = \"1 ns\"",
                "probes.interval",
                "1 ns gives 10000000000 samples",
            ),
            (
                "datagram = \"160 B\"",
                "datagram = \"1 MB\"",
                "flows[1].source.cbr.datagram",
                "1000000 B",
            ),
            (
                "datagram = \"160 B\"",
                "datagram = \"64496 B\"",
                "flows[1].source.cbr.datagram",
                "64496 B do not fit a packet",
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
                "[[links]]",
                "[[links]]\nfrom = \"b\"\nto = \"a\"\nrate = \"1 Mbps\"\ndelay = \"1 ms\"\n[[links]]",
                "links[1]",
                "there is a link \"a->b\" already",
            ),
            (
                "ccid = 2",
                "send_queue = 4294967295",
                "flows[1].transport.dccp.send_queue",
                "4294967295 packets",
            ),
            (
                "tcp = {}",
                "tcp = { initial_cwnd = 4294967295 }",
                "flows[0].transport.tcp.initial_cwnd",
                "4294967295 packets",
            ),
            (
                "tcp = {}",
                "sctp = {}",
                "flows[0].transport",
                "unknown variant `sctp`",
            ),
        ] {
            let text = GOOD.replacen(old, new, 1);
            assert_ne!(text, GOOD, "{old}");
            let error = Scenario::from_toml(&text).unwrap_err();
            assert_eq!(error.field, field, "{error}");
            assert!(error.message.starts_with(message), "{error}");
            assert!(!error.to_string().contains('\n'), "{error}");
        }
    }

    #[test]
    fn what_is_not_toml_or_json_says_where() {
        let error = Scenario::from_toml("name = ").unwrap_err();
        assert!(error.to_string().contains("line 1"), "{error}");
        let error = Scenario::from_json("{\"name\": 1} x").unwrap_err();
        assert_eq!(error.field, "name");
    }
}
