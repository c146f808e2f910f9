//! Measures a router's load factor.

use skywave_units::{Duration, Instant, Rate};

/// How queue samples are averaged into the persistent queue q.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueAverage {
    /// Each sample enters an exponential average with weight 1/8 (Chen et al. 2010, equation A2).
    Samples,
    /// The mean of an interval's samples enters an exponential average with weight 1/4 (the VCP
    /// authors' description of their code for ns-2).
    Means,
}

impl QueueAverage {
    const fn weight(self) -> f64 {
        match self {
            Self::Samples => 0.125,
            Self::Means => 0.25,
        }
    }
}

/// Parameters of a [`Meter`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeterConfig {
    /// t_rho: the interval between computations of the load factor.
    pub interval: Duration,
    /// t_q: the interval between queue samples; above zero, at most `interval`.
    pub sampling: Duration,
    /// kappa_q: the fraction of the persistent queue that counts as load, so that the queue drains.
    pub queue_share: f64,
    /// gamma: the target utilisation, in (0, 1], which corresponds to a load factor of 1.
    pub target: f64,
    /// How q is averaged.
    pub average: QueueAverage,
}

impl Default for MeterConfig {
    /// Returns the values of Chen et al. 2010, section 4: 200 ms, 10 ms, 0.5 and 0.98.
    fn default() -> Self {
        Self {
            interval: Duration::from_millis(200),
            sampling: Duration::from_millis(10),
            queue_share: 0.5,
            target: 0.98,
            average: QueueAverage::Samples,
        }
    }
}

/// A link's load factor, measured from arrivals and the queue.
///
/// It has no timer. Each call first catches up with the samples and intervals since the last one.
/// The queue is constant between reported changes, so this loses nothing, and an hour of silence
/// costs no more than a busy period.
#[derive(Clone, Debug)]
pub struct Meter {
    config: MeterConfig,
    /// gamma C t_rho, in bytes: the arrivals per interval at a load factor of 1.
    capacity: f64,
    /// lambda: bytes arrived in this interval.
    arrived: u64,
    /// Bytes queued since the last change.
    waiting: u64,
    /// q, in bytes.
    queue: f64,
    /// The sum of this interval's samples, and their number.
    samples: (f64, u64),
    next_sample: Instant,
    next_interval: Instant,
    load: f64,
}

impl Meter {
    /// Creates a meter for an idle link of `rate`. Intervals and samples are aligned to time zero.
    pub fn new(config: MeterConfig, rate: Rate) -> Self {
        let bytes_per_s = rate.as_bps() as f64 / 8.0;
        Self {
            config,
            capacity: config.target * bytes_per_s * config.interval.as_secs_f64(),
            arrived: 0,
            waiting: 0,
            queue: 0.0,
            samples: (0.0, 0),
            next_sample: Instant::ZERO + config.sampling,
            next_interval: Instant::ZERO + config.interval,
            load: 0.0,
        }
    }

    /// Reports the arrival of `bytes`, accepted or dropped: a packet that finds no room is load
    /// too.
    pub fn on_arrival(&mut self, now: Instant, bytes: u32) {
        self.advance(now);
        self.arrived += u64::from(bytes);
    }

    /// Reports that `bytes` are queued from now on.
    pub fn on_queue(&mut self, now: Instant, bytes: u64) {
        self.advance(now);
        self.waiting = bytes;
    }

    /// Returns rho: the load factor of the last complete interval (Chen et al. 2010, equation A1);
    /// zero before the first.
    pub fn load(&mut self, now: Instant) -> f64 {
        self.advance(now);
        self.load
    }

    /// Returns the load factor as of the last call of another function.
    pub const fn last_load(&self) -> f64 {
        self.load
    }

    /// Catches up to `now`. At equal times, a sample is taken before the interval ends, and both
    /// before the event at that time.
    #[inline]
    fn advance(&mut self, now: Instant) {
        if now >= self.next_sample.min(self.next_interval) {
            self.catch_up(now);
        }
    }

    #[inline(never)]
    fn catch_up(&mut self, now: Instant) {
        while self.next_interval <= now {
            self.sample_until(self.next_interval);
            self.end_interval();
            self.skip_silence(now);
        }
        self.sample_until(now);
    }

    /// Takes the samples up to `end`, during which the queue is constant.
    fn sample_until(&mut self, end: Instant) {
        if self.next_sample > end {
            return;
        }
        let period = self.config.sampling;
        let count = (end - self.next_sample).as_nanos() / period.as_nanos() + 1;
        self.next_sample += period * count;
        let waiting = self.waiting as f64;
        match self.config.average {
            QueueAverage::Samples => self.approach(waiting, count),
            QueueAverage::Means => {
                self.samples.0 += waiting * count as f64;
                self.samples.1 += count;
            }
        }
    }

    /// Moves q towards `value`, `times` times.
    fn approach(&mut self, value: f64, times: u64) {
        let kept = (1.0 - self.config.average.weight()).powf(times as f64);
        self.queue = value + (self.queue - value) * kept;
    }

    fn end_interval(&mut self) {
        let (sum, count) = core::mem::take(&mut self.samples);
        if count > 0 {
            self.approach(sum / count as f64, 1);
        }
        let demand = self.arrived as f64 + self.config.queue_share * self.queue;
        self.load = demand / self.capacity;
        self.arrived = 0;
        self.next_interval += self.config.interval;
    }

    /// Handles intervals without arrivals: only the last one's load factor is computed, the others
    /// only change q.
    fn skip_silence(&mut self, now: Instant) {
        let interval = self.config.interval;
        let last = now.saturating_since(self.next_interval).as_nanos() / interval.as_nanos();
        if self.next_interval > now || last == 0 {
            return;
        }
        let end = self.next_interval + interval * (last - 1);
        self.sample_until(end);
        let (sum, count) = core::mem::take(&mut self.samples);
        if count > 0 {
            self.approach(sum / count as f64, last);
        }
        self.next_interval = end + interval;
    }
}

#[cfg(test)]
mod tests;
