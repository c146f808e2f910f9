//! A queue discipline of one's own: BLUE, beside drop-tail in the simulator.
//!
//! ```sh
//! cargo run -p skywave --example own_queue
//! ```
//!
//! `docs/tutorials/own-queue-rust.md` prints all that follows.

use std::env;
use std::error::Error;
use std::fs;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave::path::{
    Admission, AnyQueue, Arrival, Conduct, DropReason, Head, Limit, Line, QueueKind, Verdict,
    Writes,
};
use skywave::rand::RngExt;
use skywave::registry::ParameterError;
use skywave::sim::{Registry, RunOptions, Scenario, run};
use skywave::units::{Duration, Instant, Random};

/// What a scenario file can set: `queue = { blue = { packets = 60, ecn = true } }`.
#[derive(Clone, Copy, Debug, JsonSchema, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Blue {
    /// The most packets that wait.
    packets: u32,
    /// Whether to mark packets that support it, instead of dropping them.
    ecn: bool,
    /// By how much a full queue raises the probability of a drop or mark.
    increase: f64,
    /// By how much an idle link lowers it.
    decrease: f64,
    /// The least time between two changes.
    freeze_time: Duration,
}

impl Default for Blue {
    fn default() -> Self {
        Self {
            packets: 100,
            ecn: false,
            increase: 0.02,
            decrease: 0.002,
            freeze_time: Duration::from_millis(100),
        }
    }
}

impl Blue {
    fn check(&self) -> Result<(), ParameterError> {
        ParameterError::unless(self.packets > 0, "packets", || {
            "0: use 1 or more".to_owned()
        })?;
        for (name, step) in [("increase", self.increase), ("decrease", self.decrease)] {
            let is_share = (0.0..=1.0).contains(&step);
            ParameterError::unless(is_share, name, || format!("{step}: between 0 and 1"))?;
        }
        Ok(())
    }
}

impl<P> QueueKind<P> for Blue {
    fn conduct(&self) -> Conduct {
        Conduct {
            drops_early: true,
            writes: Writes::marks_if(self.ecn),
            ..Conduct::fifo(Limit::Packets(self.packets))
        }
    }

    fn build(&self, head: &Head<'_>) -> AnyQueue<P> {
        AnyQueue::admission(BlueQueue {
            blue: *self,
            probability: 0.0,
            changed: Instant::ZERO,
            random: head.random(),
        })
    }
}

/// Feng, Shin, Kandlur and Saha, "The BLUE Active Queue Management Algorithms" (2002), section III.
struct BlueQueue {
    blue: Blue,
    /// Of dropping or marking an arriving packet.
    probability: f64,
    /// When it changed last.
    changed: Instant,
    random: Random,
}

impl BlueQueue {
    fn change(&mut self, at: Instant, step: f64) {
        if at >= self.changed && at - self.changed > self.blue.freeze_time {
            self.probability = (self.probability + step).clamp(0.0, 1.0);
            self.changed = at;
        }
    }
}

impl Admission for BlueQueue {
    fn admit(
        &mut self,
        now: Instant,
        line: &mut Line<'_>,
        arrival: Arrival,
    ) -> Result<Verdict, DropReason> {
        if let Some(since) = line.idle_since() {
            self.change(since, -self.blue.decrease);
        }
        if line.packets() >= self.blue.packets as usize {
            self.change(now, self.blue.increase);
            return Err(DropReason::Full);
        }
        if self.random.random::<f64>() >= self.probability {
            Ok(Verdict::Keep)
        } else if self.blue.ecn && arrival.can_be_marked {
            Ok(Verdict::Mark)
        } else {
            Err(DropReason::Early)
        }
    }

    fn inner_values(&self, record: &mut dyn FnMut(&str, f64)) {
        record("probability", self.probability);
    }
}

const SCENARIO: &str = r#"
    name = "BLUE beside drop-tail"
    duration = "60 s"
    nodes = ["a1", "b1", "a2", "b2"]
    probes = { tables = ["queues"] }

    [[links]]
    from = "a1"
    to = "b1"
    rate = "10 Mbps"
    delay = "20 ms"
    queue = { blue = { packets = 100, ecn = true } }

    [[links]]
    from = "a2"
    to = "b2"
    rate = "10 Mbps"
    delay = "20 ms"
    queue = { drop-tail = { packets = 100 } }
"#;

/// The scenario, with `flows` transfers over each link.
fn beside_drop_tail(flows: u32) -> String {
    let flow = |link: u32, number: u32| {
        format!(
            r#"
    [[flows]]
    name = "{link}.{number}"
    from = "a{link}"
    to = "b{link}"
    start_jitter = "1 s"
    transport = {{ tcp = {{ ecn = true }} }}
    source = {{ ftp = {{}} }}
"#
        )
    };
    let flows = (1..=2).flat_map(|link| (1..=flows).map(move |number| flow(link, number)));
    SCENARIO.to_owned() + &flows.collect::<String>()
}

/// What a link did in a run.
#[derive(Debug)]
struct Outcome {
    link: String,
    utilisation: f64,
    drops: u64,
    marks: u64,
    longest_queue: u64,
}

/// Runs a scenario in the simulator. The outcome of each link that has sent data.
fn simulated(scenario: &str) -> Result<Vec<Outcome>, Box<dyn Error>> {
    let mut registry = Registry::default();
    registry
        .queues
        .register("blue", "Drops by loss and idleness.", |blue: Blue| {
            blue.check()?;
            Ok(Arc::new(blue))
        });
    let scenario = Scenario::from_toml(scenario, &registry)?;
    let results = run(&scenario, &registry, RunOptions::default(), |_| true)?;
    let links = results.summary.links.into_iter();
    Ok(links
        .filter(|link| link.utilisation > 0.1)
        .map(|link| Outcome {
            link: link.name,
            utilisation: link.utilisation,
            drops: link.drops,
            marks: link.marks,
            longest_queue: link.queue_max_packets,
        })
        .collect())
}

fn main() -> Result<(), Box<dyn Error>> {
    let file = env::args().nth(1);
    let scenario = match file {
        Some(file) => fs::read_to_string(file)?,
        None => beside_drop_tail(20),
    };
    for outcome in simulated(&scenario)? {
        println!(
            "{}: {:.1} % used, {} drops, {} marks, at most {} packets waiting",
            outcome.link,
            outcome.utilisation * 100.0,
            outcome.drops,
            outcome.marks,
            outcome.longest_queue
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use skywave::path::contract;

    use super::*;

    #[test]
    fn it_keeps_the_contract() {
        for ecn in [false, true] {
            let blue = Blue {
                packets: 10,
                ecn,
                increase: 0.2,
                freeze_time: Duration::from_millis(1),
                ..Blue::default()
            };
            for seed in 0..100 {
                contract::check(&blue, seed).unwrap();
            }
        }
    }

    #[test]
    fn it_marks_where_drop_tail_drops() {
        let [blue, drop_tail] = &simulated(&beside_drop_tail(20)).unwrap()[..] else {
            panic!("two links send data");
        };
        assert!(blue.utilisation > 0.9 && blue.marks > 0, "{blue:?}");
        assert!(blue.drops < drop_tail.drops / 2, "{blue:?} {drop_tail:?}");
    }

    #[test]
    fn a_wrong_parameter_is_named() {
        let wrong = beside_drop_tail(1).replacen("ecn = true } }", "increase = 2.0 } }", 1);
        let error = simulated(&wrong).unwrap_err().to_string();
        assert!(
            error.contains("blue.increase: 2: between 0 and 1"),
            "{error}"
        );
    }
}
