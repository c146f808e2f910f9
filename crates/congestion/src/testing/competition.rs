//! Flows that share a bottleneck.

use skywave_units::{Duration, Instant};

use super::bottleneck::Bottleneck;
use super::flow::{Application, Flow};
use super::path::SMSS;
use crate::AnyControl;

pub(crate) struct Competition {
    link: Bottleneck,
    /// Flows, and when each starts.
    pub(crate) flows: Vec<(Instant, Flow<AnyControl>)>,
    now: Instant,
}

impl Competition {
    pub(crate) const fn new(link: Bottleneck) -> Self {
        Self {
            link,
            flows: Vec::new(),
            now: Instant::ZERO,
        }
    }

    /// Adds a flow that starts after `delay`.
    pub(crate) fn add(&mut self, delay: Duration, control: AnyControl) {
        self.flows.push((Instant::ZERO + delay, Flow::new(control)));
    }

    pub(crate) fn run_for(&mut self, time: Duration) {
        let end = self.now + time;
        while self.now < end {
            self.step();
        }
    }

    /// Runs until the first flow has `main` megabytes acknowledged, and returns when that is. The
    /// second stops at `other`.
    pub(crate) fn download(&mut self, main: u64, other: u64) -> Duration {
        let has = |(_, flow): &(Instant, Flow<AnyControl>), megabytes: u64| {
            flow.acked * u64::from(SMSS) >= megabytes * 1_000_000
        };
        let end = Instant::ZERO + Duration::from_secs(600);
        while !has(&self.flows[0], main) && self.now < end {
            self.step();
            if has(&self.flows[1], other) {
                self.flows[1].1.application = Application::Paused;
            }
        }
        self.now - Instant::ZERO
    }

    fn step(&mut self) {
        let now = self.now;
        let events = self
            .flows
            .iter()
            .enumerate()
            .filter_map(|(index, (start, flow))| Some((flow.next_event(now.max(*start))?, index)));
        let Some((at, index)) = events.min() else {
            return;
        };
        self.now = at;
        self.flows[index].1.handle(at, &mut self.link);
    }
}
