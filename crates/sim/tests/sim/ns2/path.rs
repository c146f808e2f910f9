//! The traces, and the path on which ns-2 recorded them:
//!
//! ```text
//! s1 --8 Mb/s, 0.1 ms-- r1 --0.8 Mb/s, 100 ms, 50 packets-- k1
//! ```

use std::path::Path;

use skywave_sim::{Registry, Scenario};

/// A flow over the path, which loses the packets with these arrival ordinals at the bottleneck.
pub(crate) struct Flow<'a> {
    pub(crate) seconds: u32,
    pub(crate) transport: &'a str,
    pub(crate) source: &'a str,
    pub(crate) losses: &'a [u64],
    /// The table to record in addition to packets.
    pub(crate) probe: &'a str,
}

impl Flow<'_> {
    pub(crate) fn scenario(&self) -> Scenario {
        let Self {
            seconds,
            transport,
            source,
            losses,
            probe,
        } = self;
        let text = format!(
            r#"
            name = "canonical"
            duration = "{seconds} s"
            nodes = ["s1", "r1", "k1"]
            probes = {{ packets = true, {probe} = true }}

            [[links]]
            from = "s1"
            to = "r1"
            rate = "8 Mbps"
            delay = "0.1 ms"

            [[links]]
            from = "r1"
            to = "k1"
            rate = "0.8 Mbps"
            delay = "100 ms"
            queue = {{ drop-tail = {{ packets = 49 }} }}
            loss = {{ packets = {losses:?} }}

            [[flows]]
            name = "flow"
            from = "s1"
            to = "k1"
            transport = {{ {transport} }}
            source = {{ {source} }}
            "#
        );
        Scenario::from_toml(&text, &Registry::default()).unwrap()
    }
}

/// The lines of a trace: the event's letter and its numbers.
pub(crate) fn golden(name: &str) -> Vec<(char, Vec<f64>)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../validation/ns2")
        .join(name);
    let text = std::fs::read_to_string(&path).expect("a golden trace of the repository");
    let line = |line: &str| {
        let (event, numbers) = line.split_once(',').unwrap();
        let numbers = numbers.split(',').map(|number| number.parse().unwrap());
        (event.parse().unwrap(), numbers.collect())
    };
    text.lines().skip(1).map(line).collect()
}
