//! A bottleneck: a buffer in front of a link, and what else happens to packets on the way.

use skywave_units::{Duration, Instant};

use super::jitter::Jitter;
use super::path::SMSS;

/// A token bucket that drops what does not conform.
#[derive(Clone, Copy)]
pub(crate) struct Policer {
    /// Bytes per second.
    rate: f64,
    /// Bytes.
    burst: f64,
    tokens: f64,
    filled_at: Instant,
}

impl Policer {
    pub(crate) const fn new(rate: f64, burst: f64) -> Self {
        Self {
            rate,
            burst,
            tokens: burst,
            filled_at: Instant::ZERO,
        }
    }

    fn passes(&mut self, now: Instant) -> bool {
        let earned = self.rate * (now - self.filled_at).as_secs_f64();
        self.tokens = (self.tokens + earned).min(self.burst);
        self.filled_at = now;
        let passes = self.tokens >= f64::from(SMSS);
        if passes {
            self.tokens -= f64::from(SMSS);
        }
        passes
    }
}

/// What the path does with a packet that it delivers.
#[derive(Clone, Copy)]
pub(crate) struct Delivery {
    /// When it leaves the bottleneck.
    pub(super) departure: Instant,
    /// When its acknowledgement arrives.
    pub(super) arrival: Instant,
    pub(super) is_marked: bool,
}

pub(crate) struct Bottleneck {
    /// Bytes per second.
    pub(crate) rate: f64,
    pub(crate) rtt: Duration,
    /// Bytes that wait in front of the bottleneck.
    pub(crate) buffer: f64,
    /// Every how many packets one is lost.
    pub(crate) lose_every: Option<u64>,
    pub(crate) policer: Option<Policer>,
    /// Acknowledgements arrive together, this often.
    pub(crate) aggregation: Option<Duration>,
    /// How long a packet waits at most without a mark: the step of RFC 9331 section 5.2.
    pub(crate) marks_above: Option<Duration>,
    /// Every how many packets one is marked besides.
    pub(crate) mark_every: Option<u64>,
    pub(crate) jitter: Option<Jitter>,
    free_at: Instant,
    last_arrival: Instant,
}

impl Bottleneck {
    /// A bottleneck of `mbps` megabits per second and a buffer of `bdps` bandwidth-delay products.
    pub(crate) fn new(mbps: f64, rtt: Duration, bdps: f64) -> Self {
        let rate = mbps * 125_000.0;
        Self {
            rate,
            rtt,
            buffer: (bdps * rate * rtt.as_secs_f64()).max(3.0 * f64::from(SMSS)),
            lose_every: None,
            policer: None,
            aggregation: None,
            marks_above: None,
            mark_every: None,
            jitter: None,
            free_at: Instant::ZERO,
            last_arrival: Instant::ZERO,
        }
    }

    /// Multiplies the bandwidth and the buffer by `factor`. The packets of `waiting` that have not
    /// left are served at the new rate.
    pub(super) fn change_rate<'a>(
        &mut self,
        now: Instant,
        factor: f64,
        waiting: impl Iterator<Item = &'a mut Delivery>,
    ) {
        let served_at =
            |at: Instant| now + Duration::from_secs_f64((at - now).as_secs_f64() / factor);
        self.last_arrival = now;
        for delivery in waiting {
            if delivery.departure > now {
                let after = delivery.arrival - delivery.departure;
                delivery.departure = served_at(delivery.departure);
                delivery.arrival = delivery.departure + after;
            }
            self.last_arrival = self.last_arrival.max(delivery.arrival);
        }
        self.free_at = served_at(self.free_at.max(now));
        self.rate *= factor;
        self.buffer *= factor;
    }

    pub(crate) fn bdp(&self) -> f64 {
        self.rate * self.rtt.as_secs_f64()
    }

    /// Returns what happens to a packet sent at `now`; `None` if it is lost.
    pub(super) fn carry(&mut self, now: Instant, number: u64) -> Option<Delivery> {
        if self
            .lose_every
            .is_some_and(|every| number.is_multiple_of(every))
        {
            return None;
        }
        if let Some(policer) = &mut self.policer
            && !policer.passes(now)
        {
            return None;
        }
        let start = self.free_at.max(now);
        let wait = start - now;
        if wait.as_secs_f64() * self.rate > self.buffer {
            return None;
        }
        self.free_at = start + Duration::from_secs_f64(f64::from(SMSS) / self.rate);
        let mut arrival = self.free_at + self.rtt;
        if let Some(jitter) = &mut self.jitter {
            arrival += jitter.draw();
        }
        if let Some(interval) = self.aggregation {
            arrival = Instant::ZERO + (arrival - Instant::ZERO).round_up_to(interval);
        }
        self.last_arrival = self.last_arrival.max(arrival);
        Some(Delivery {
            departure: self.free_at,
            arrival: self.last_arrival,
            is_marked: self.marks_above.is_some_and(|most| wait > most)
                || self
                    .mark_every
                    .is_some_and(|every| number.is_multiple_of(every)),
        })
    }
}
