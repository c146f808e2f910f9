//! Sources in simulations: a user-defined one, registered like the built-in ones, and built-in ones
//! over every transport.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_registry::ParameterError;
use skywave_sim::{
    Carrier, Registry, RunOptions, Scenario, SendingEnd, Setup, Source, SourceKind, Summary, run,
};
use skywave_units::{Duration, Instant};
use skywave_wire::Payload;

/// Sends a burst of 500-byte datagrams every second.
#[derive(JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Bursts {
    datagrams: u32,
    /// Whether it requires a byte stream.
    #[serde(default)]
    streams: bool,
}

impl SourceKind for Bursts {
    fn datagram(&self) -> u64 {
        500
    }

    fn check_carrier(&self, carrier: Carrier) -> Result<(), &'static str> {
        if self.streams && carrier != Carrier::Stream {
            return Err("bursts need a byte stream: use tcp");
        }
        Ok(())
    }

    fn build(&self, setup: &Setup<'_>) -> Box<dyn Source> {
        Box::new(Bursting {
            start: setup.start,
            datagrams: self.datagrams,
        })
    }
}

#[derive(Debug)]
struct Bursting {
    start: Instant,
    datagrams: u32,
}

impl Source for Bursting {
    fn begins(&self) -> Instant {
        self.start
    }

    fn act(&mut self, now: Instant, transport: &mut dyn SendingEnd) -> Option<Instant> {
        for _ in 0..self.datagrams {
            assert!(transport.send(Payload::Synthetic(500)));
        }
        Some(now + Duration::from_secs(1))
    }
}

fn registry() -> Registry {
    let mut registry = Registry::default();
    let sources = &mut registry.sources;
    sources.register("bursts", "Bursts.", |bursts: Bursts| {
        ParameterError::unless(bursts.datagrams > 0, "datagrams", || {
            "0: use 1 or more".to_owned()
        })?;
        Ok(Arc::new(bursts))
    });
    registry
}

/// A flow that sends from 1 s to 5.5 s.
fn scenario(transport: &str, source: &str) -> Result<Scenario, String> {
    let text = format!(
        r#"
        name = "bursts"
        duration = "10 s"
        nodes = ["a", "b"]
        links = [{{ from = "a", to = "b", rate = "10 Mbps", delay = "5 ms" }}]

        [[flows]]
        name = "flow"
        from = "a"
        to = "b"
        start = "1 s"
        stop = "5.5 s"
        transport = {{ {transport} = {{}} }}
        source = {{ {source} }}
        "#
    );
    Scenario::from_toml(&text, &registry()).map_err(|error| error.to_string())
}

fn summary(transport: &str, source: &str) -> Summary {
    let scenario = scenario(transport, source).unwrap();
    let options = RunOptions {
        verify_physics: true,
        ..RunOptions::default()
    };
    let results = run(&scenario, &registry(), options, |_| true).unwrap();
    assert_eq!(results.violations, Vec::<String>::new());
    results.summary
}

/// Five bursts of three datagrams.
#[test]
fn a_source_of_ones_own_sends_over_every_transport() {
    for transport in ["tcp", "dccp", "udp"] {
        let delivered = summary(transport, "bursts = { datagrams = 3 }").flows[0].delivered_bytes;
        assert_eq!(delivered, 5 * 3 * 500, "{transport}");
    }
}

#[test]
fn errors_name_the_parameter_or_the_transport() {
    let error = |transport, source| scenario(transport, source).unwrap_err();
    assert_eq!(
        error("tcp", "bursts = { datagrams = 0 }"),
        "flows[0].source.bursts.datagrams: 0: use 1 or more"
    );
    assert_eq!(
        error("udp", "bursts = { datagrams = 1, streams = true }"),
        "flows[0].source: bursts need a byte stream: use tcp"
    );
}

/// The same datagrams leave at the same times over every transport, and all arrive.
#[test]
fn random_and_recorded_traffic_arrives_over_every_transport() {
    let period =
        "{ exponential = { mean = \"100 ms\" } }, off = { pareto = { mean = \"100 ms\" } }";
    for (source, expected) in [
        (
            r#"poisson = { rate = "400 kbps", datagram = "500 B" }"#.to_owned(),
            None,
        ),
        (
            format!(r#"on-off = {{ rate = "800 kbps", datagram = "500 B", on = {period} }}"#),
            None,
        ),
        (
            r#"replay = { times = ["0 s", "1 s", "1 s"], sizes = ["1 B", "900 B", "99 B"] }"#
                .to_owned(),
            Some(1_000),
        ),
        (
            r#"replay = { times = ["500 ms", "1 s"], sizes = ["1 B", "99 B"], repeat = true }"#
                .to_owned(),
            // The flow stops after 4.5 s, before what is due at that time.
            Some(400),
        ),
    ] {
        let delivered = ["tcp", "dccp", "udp"]
            .map(|transport| summary(transport, &source).flows[0].delivered_bytes);
        let expected = expected.unwrap_or(delivered[0]);
        assert!(expected >= 400);
        assert_eq!(delivered, [expected; 3], "{source}");
    }
}
