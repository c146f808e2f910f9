//! The classic topology: senders, a router, the bottleneck, a router, receivers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_units::{Duration, Rate};

use crate::check::{check, check_delay, check_rate};
use crate::link::Selections;
use crate::{BackSpec, LinkSpec, LossSpec, NatSpec, QueueSpec, ScenarioError, TraceSpec};
use crate::{Backend, Registry};

/// The most hosts per side.
const MOST_PAIRS: u32 = 100_000;

/// A dumbbell: hosts `s1`.. `sN` behind router `r1`, hosts `d1`.. `dN` behind router `r2`.
///
/// ```text
///  s1 ─┐                 ┌─ d1
///      r1 ─ bottleneck ─ r2
///  s2 ─┘                 └─ d2
/// ```
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dumbbell {
    /// The number of hosts on each side, at most 100,000.
    #[schemars(extend("x-unit" = "pairs"))]
    pub pairs: u32,
    /// The rate of the bottleneck.
    pub rate: Rate,
    /// The propagation delay of the bottleneck, at most 24 hours.
    pub delay: Duration,
    /// The queue of the bottleneck in each direction.
    #[serde(default)]
    pub queue: QueueSpec,
    /// The losses of the bottleneck in the forward direction, other than by the queue. Absent:
    /// none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<LossSpec>,
    /// How rate and delay of the bottleneck change over time in the forward direction. Absent: they
    /// do not change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceSpec>,
    /// Maximum random extra delay of each packet at the bottleneck in the forward direction,
    /// uniformly distributed.
    #[serde(default)]
    pub jitter: Duration,
    /// Whether packets overtake earlier ones where the delay falls, as when a route changes, and by
    /// jitter. Otherwise they arrive behind them, spaced by their transmission times.
    #[serde(default)]
    pub overtaking: bool,
    /// A NAT in front of both directions of the bottleneck. Absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nat: Option<NatSpec>,
    /// The share of the rate of each link, above 0 and up to 1, that Quick-Start may give away (RFC
    /// 4782): a request is approved as long as the peak use of the last 3 s and the rates approved
    /// in them stay below it. Absent: no link takes part in Quick-Start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-unit" = "1"))]
    pub quick_start: Option<f64>,
    /// Settings of the bottleneck's reverse direction that differ. Absent: rate, delay and queue
    /// are those of the forward direction, and there are no losses, trace or jitter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub back: Option<BackSpec>,
    /// The rate of the access links. Their queues are unlimited.
    pub access_rate: Rate,
    /// The propagation delays of the access links of pairs 1, 2 and so on, the same on both sides,
    /// at most 24 hours. If there are more pairs than delays, the list repeats.
    pub access_delays: Vec<Duration>,
}

impl Dumbbell {
    fn bottleneck(&self) -> LinkSpec {
        LinkSpec {
            from: "r1".to_owned(),
            to: "r2".to_owned(),
            rate: self.rate,
            delay: self.delay,
            queue: self.queue.clone(),
            loss: self.loss.clone(),
            trace: self.trace.clone(),
            jitter: self.jitter,
            overtaking: self.overtaking,
            nat: self.nat,
            quick_start: self.quick_start,
            back: self.back.clone(),
            one_way: false,
        }
    }

    /// Returns the nodes and links it stands for.
    pub(crate) fn expand(&self) -> (Vec<String>, Vec<LinkSpec>) {
        let mut nodes = vec!["r1".to_owned(), "r2".to_owned()];
        let mut links = vec![self.bottleneck()];
        let access = |from: &str, to: &str, delay| LinkSpec {
            from: from.to_owned(),
            to: to.to_owned(),
            rate: self.access_rate,
            delay,
            queue: QueueSpec::default(),
            loss: None,
            trace: None,
            jitter: Duration::ZERO,
            overtaking: false,
            nat: None,
            quick_start: self.quick_start,
            back: None,
            one_way: false,
        };
        for (pair, &delay) in (1..=self.pairs).zip(self.access_delays.iter().cycle()) {
            let (source, sink) = (format!("s{pair}"), format!("d{pair}"));
            links.push(access(&source, "r1", delay));
            links.push(access("r2", &sink, delay));
            nodes.extend([source, sink]);
        }
        (nodes, links)
    }

    pub(crate) fn validate<B: Backend>(
        &self,
        field: &str,
        registry: &Registry<B>,
    ) -> Result<(), ScenarioError> {
        check(
            (1..=MOST_PAIRS).contains(&self.pairs),
            &format!("{field}.pairs"),
            || format!("{} pairs of hosts: use 1 to {MOST_PAIRS}", self.pairs),
        )?;
        self.bottleneck().validate_directions(field, registry)?;
        check_rate(self.access_rate, &format!("{field}.access_rate"))?;
        for (index, &delay) in self.access_delays.iter().enumerate() {
            check_delay(delay, &format!("{field}.access_delays[{index}]"))?;
        }
        check(
            !self.access_delays.is_empty(),
            &format!("{field}.access_delays"),
            || "give at least one delay".to_owned(),
        )
    }

    pub(crate) const fn selections(&mut self) -> Selections<'_> {
        Selections {
            queue: &mut self.queue,
            loss: self.loss.as_mut(),
            trace: self.trace.as_mut(),
            back: self.back.as_mut(),
        }
    }
}
