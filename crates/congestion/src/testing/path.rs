//! A path with one bottleneck, and flows that fill it, on virtual time.
//!
//! Packets of [`SMSS`] bytes are numbered in sending order and never retransmitted, as in DCCP. A
//! packet is found lost when the acknowledgement of a later one arrives.

use skywave_units::{Duration, Instant};

use super::bottleneck::Bottleneck;
use super::flow::Flow;
use crate::Control;

pub(crate) const SMSS: u32 = 1000;

/// A flow that has the bottleneck to itself.
pub(crate) struct Path<C> {
    pub(crate) link: Bottleneck,
    pub(crate) flow: Flow<C>,
    pub(crate) now: Instant,
}

impl<C: Control> Path<C> {
    /// A path with `mbps` megabits per second and a buffer of `bdps` bandwidth-delay products.
    pub(crate) fn new(control: C, mbps: f64, rtt: Duration, bdps: f64) -> Self {
        Self {
            link: Bottleneck::new(mbps, rtt, bdps),
            flow: Flow::new(control),
            now: Instant::ZERO,
        }
    }

    /// Changes the bandwidth and, in proportion, the buffer. Packets that wait are served at the
    /// new rate.
    pub(crate) fn change_rate(&mut self, factor: f64) {
        let waiting = self.flow.flight.iter_mut();
        let waiting = waiting.filter_map(|packet| packet.delivery.as_mut());
        self.link.change_rate(self.now, factor, waiting);
    }

    /// Runs until `until` holds after an event, for at most `most`. Returns whether it does.
    #[must_use]
    pub(crate) fn run_until(&mut self, most: Duration, until: impl Fn(&C) -> bool) -> bool {
        let end = self.now + most;
        while self.now < end {
            if until(&self.flow.control) {
                return true;
            }
            self.step(end);
        }
        until(&self.flow.control)
    }

    /// Runs until a state is reached, which must happen within a minute.
    #[track_caller]
    pub(crate) fn reach(&mut self, until: impl Fn(&C) -> bool) {
        let reached = self.run_until(Duration::from_secs(60), until);
        assert!(reached, "not after a minute");
    }

    pub(crate) fn run_for(&mut self, time: Duration) {
        let _ = self.run_until(time, |_| false);
    }

    /// Runs until `megabytes` have been acknowledged since the start, and returns how long that took.
    pub(crate) fn download(&mut self, megabytes: u64) -> Duration {
        let end = self.now + Duration::from_secs(600);
        while self.flow.acked * u64::from(SMSS) < megabytes * 1_000_000 && self.now < end {
            self.step(end);
        }
        self.now - Instant::ZERO
    }

    /// Handles the next event, or advances to `end`.
    fn step(&mut self, end: Instant) {
        let at = self.flow.next_event(self.now).filter(|&at| at < end);
        self.now = at.unwrap_or(end);
        if at.is_some() {
            self.flow.handle(self.now, &mut self.link);
        }
    }
}
