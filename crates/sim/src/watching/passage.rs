//! How packets pass a link, as far as this is known before a run.

use skywave_path::{Condition, Trace};
use skywave_scenario::{Direction, LinkSpec, Scenario, ScenarioError, TraceSpec, stream};
use skywave_units::{Duration, Instant, Rate};

use crate::warning::Warning;
use crate::watching::backend::Registry;

/// How many packets in a row a link must lose to count as one that lets none pass.
const PACKETS: u32 = 1000;

/// A direction of a link, before a run of a certain duration.
pub(crate) struct Passage<'a> {
    direction: Direction<'a>,
    /// How it changes in the run, if it does.
    trace: Option<Trace>,
    link: &'a LinkSpec,
    is_back: bool,
    /// The field of the link; `None` for access links of a dumbbell, which share their fields.
    table: Option<String>,
    duration: Duration,
}

/// The sizes in bytes of the smallest and the largest of the packets on a link that its flows send
/// first.
#[derive(Clone, Copy)]
pub(crate) struct Sizes {
    pub(crate) least: u32,
    pub(crate) most: u32,
}

/// A setting, and what it does to packets.
type Finding = (&'static str, String);

impl<'a> Passage<'a> {
    /// Returns the directions of all links, in the order of the network. `links` are those of the
    /// scenario's topology.
    ///
    /// # Errors
    /// [`ScenarioError`] if a kind of trace is unknown.
    pub(crate) fn all(
        scenario: &Scenario,
        links: &'a [LinkSpec],
        registry: &Registry,
    ) -> Result<Vec<Self>, ScenarioError> {
        let duration = scenario.duration;
        // The dumbbell's come first, and its bottleneck before its access links.
        let of_dumbbell = links.len() - scenario.links.len();
        let mut all = Vec::with_capacity(2 * links.len());
        for (index, link) in links.iter().enumerate() {
            let table = match index.checked_sub(of_dumbbell) {
                Some(index) => Some(format!("links[{index}]")),
                None => (index == 0).then(|| "dumbbell".to_owned()),
            };
            for (direction, is_back) in link.directions().zip([false, true]) {
                let changes = |trace: &Trace| {
                    let constant = (direction.rate, direction.delay);
                    conditions(trace, duration).any(|(now, _)| (now.rate, now.delay) != constant)
                };
                all.push(Self {
                    direction,
                    trace: direction.trace(registry, scenario.seed)?.filter(changes),
                    link,
                    is_back,
                    table: table.clone(),
                    duration,
                });
            }
        }
        Ok(all)
    }

    /// Returns the least time that a packet of `size` bytes takes: it does not wait, and has no
    /// jitter. Returns zero for a link that changes, about which nothing is known.
    pub(crate) fn least_time(&self, size: u32) -> Duration {
        if self.trace.is_some() {
            return Duration::ZERO;
        }
        let Direction { rate, delay, .. } = self.direction;
        rate.transmission_time(size.into()) + delay
    }

    /// Returns warnings about what keeps packets of these sizes from arriving during the run or
    /// holds them up, and about what has no effect on the run.
    ///
    /// # Errors
    /// [`ScenarioError`] if the loss model is unknown.
    pub(crate) fn warnings(
        &self,
        Sizes { least, most }: Sizes,
        registry: &Registry,
        seed: u64,
    ) -> Result<Vec<Warning>, ScenarioError> {
        let findings = [
            self.takes_too_long(least),
            self.is_never_up(least),
            self.has_steps_that_are_too_short(most),
            self.loses_all(least, registry, seed)?,
            self.may_hold_packets_back(),
            self.has_idle_trace(),
        ];
        let warnings = findings.into_iter().flatten().map(|(setting, what)| {
            let message = format!("{} {what}", self.direction.name());
            Warning::new(self.field(setting), message)
        });
        Ok(warnings.collect())
    }

    fn takes_too_long(&self, size: u32) -> Option<Finding> {
        let (time, run) = (self.least_time(size), self.duration);
        (time > run).then(|| {
            let delay = self.direction.delay;
            let is_rate = time - delay > delay;
            let time = time.round_up_to(Duration::from_millis(1));
            (
                if is_rate { "rate" } else { "delay" },
                format!("takes {time} for a packet of {size} B, longer than the run of {run}"),
            )
        })
    }

    fn is_never_up(&self, size: u32) -> Option<Finding> {
        let trace = self.trace.as_ref()?;
        let run = self.duration;
        // What is left of a packet that is there from the beginning.
        let mut left = nanobits(size);
        let arrives = conditions(trace, run).any(|(now, lasts)| {
            let fits = left <= sent(now.rate, lasts) && now.rate > Rate::default();
            let until = lasts.min(time(left, now.rate));
            left = left.saturating_sub(sent(now.rate, lasts));
            fits && now.since + until + now.delay <= Instant::ZERO + run
        });
        (!arrives).then(|| {
            let what = format!("delivers no packet of {size} B in the run of {run}");
            ("trace", what)
        })
    }

    /// Reports steps too short for a packet of `size` bytes, for listed steps only: opportunities
    /// are short by design, and some outages follow each other closely.
    fn has_steps_that_are_too_short(&self, size: u32) -> Option<Finding> {
        let Some(TraceSpec::Steps(_)) = self.direction.trace else {
            return None;
        };
        let run = self.duration;
        let mut all = conditions(self.trace.as_ref()?, run).peekable();
        // A step may change only the delay.
        let rates = std::iter::from_fn(|| {
            let (now, mut lasts) = all.next()?;
            while let Some((_, longer)) = all.next_if(|(next, _)| next.rate == now.rate) {
                lasts += longer;
            }
            Some((now, lasts))
        });
        let mut short = rates.filter(|&(now, lasts)| {
            let ends_in_run = now.since + lasts < Instant::ZERO + run;
            let is_up = now.rate > Rate::default();
            ends_in_run && is_up && sent(now.rate, lasts) < nanobits(size)
        });
        let (now, lasts) = short.next()?;
        let (rate, from) = (now.rate, now.since.since_epoch());
        let takes = time(nanobits(size), rate).round_up_to(Duration::from_millis(1));
        let more = match short.count() {
            0 => String::new(),
            more => format!(" ({more} more like this)"),
        };
        let what = format!(
            "takes {takes} for a packet of {size} B at {rate}, longer than the step from {from} to {}{more}: \
             the packet goes on at the next rate",
            from + lasts
        );
        Some(("trace", what))
    }

    fn loses_all(
        &self,
        size: u32,
        registry: &Registry,
        seed: u64,
    ) -> Result<Option<Finding>, ScenarioError> {
        let Some(loss) = self.direction.loss else {
            return Ok(None);
        };
        let kind = loss.read(&registry.losses)?;
        if !kind.may_be_tried() {
            return Ok(None);
        }
        let random = stream(seed, &format!("{}/loss", self.direction.name()));
        let mut loss = kind.build(random);
        let loses_all = (0..PACKETS).all(|_| loss.loses(Instant::ZERO, size));
        Ok(loses_all.then(|| ("loss", format!("loses each of its first {PACKETS} packets"))))
    }

    fn may_hold_packets_back(&self) -> Option<Finding> {
        let (jitter, run) = (self.direction.jitter, self.duration);
        (jitter > run).then(|| {
            let what =
                format!("holds packets back for up to {jitter}, longer than the run of {run}");
            ("jitter", what)
        })
    }

    fn has_idle_trace(&self) -> Option<Finding> {
        (self.direction.trace.is_some() && self.trace.is_none()).then(|| {
            let run = self.duration;
            let what = format!("has a trace that changes nothing in the run of {run}");
            ("trace", what)
        })
    }

    /// Returns the field of a setting.
    fn field(&self, setting: &str) -> String {
        let Some(table) = &self.table else {
            let plural = if setting == "delay" { "s" } else { "" };
            return format!("dumbbell.access_{setting}{plural}");
        };
        // The reverse direction has the rate and the delay of the other one, unless it has its own.
        let back = self.link.back.as_ref().filter(|_| self.is_back);
        let has_own = back.is_some_and(|back| match setting {
            "rate" => back.rate.is_some(),
            "delay" => back.delay.is_some(),
            _ => true,
        });
        let back = if has_own { ".back" } else { "" };
        format!("{table}{back}.{setting}")
    }
}

/// Returns the rates and delays that apply in the run, and how long each does.
fn conditions(trace: &Trace, run: Duration) -> impl Iterator<Item = (Condition, Duration)> {
    let end = Instant::ZERO + run;
    let mut all = trace.conditions().peekable();
    std::iter::from_fn(move || {
        let mut now = all.next_if(|condition| condition.since < end)?;
        // A step at time zero takes the place of the link's own settings.
        while let Some(next) = all.next_if(|next| next.since == now.since) {
            now = next;
        }
        let until = all.peek().map_or(end, |next| next.since.min(end));
        Some((now, until - now.since))
    })
}

/// Returns the nanobits in this many bytes. A rate in bits per second is as many nanobits per
/// nanosecond.
fn nanobits(bytes: u32) -> u128 {
    8_000_000_000 * u128::from(bytes)
}

/// Returns the nanobits that a link of this rate sends in this time.
fn sent(rate: Rate, time: Duration) -> u128 {
    u128::from(rate.as_bps()) * u128::from(time.as_nanos())
}

/// Returns the time that a link of this rate takes for these nanobits.
fn time(nanobits: u128, rate: Rate) -> Duration {
    match u128::from(rate.as_bps()) {
        0 => Duration::MAX,
        rate => Duration::from_nanos(u64::try_from(nanobits.div_ceil(rate)).unwrap_or(u64::MAX)),
    }
}
