//! What a router measures.

use skywave_units::{Duration, Instant, Rate};

/// How the samples of the queue become the persistent queue q.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueAverage {
    /// Each sample enters an exponential average with weight 1/8: Chen et al. 2010, equation A2.
    Samples,
    /// The mean of an interval's samples enters one with weight 1/4: what the authors of VCP say of
    /// their code for ns-2.
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
    /// t_rho: how often the load factor is computed.
    pub interval: Duration,
    /// t_q: how often the queue is sampled; at most `interval`, above zero.
    pub sampling: Duration,
    /// kappa_q: the share of the persistent queue that counts as load, so that it drains.
    pub queue_share: f64,
    /// gamma: the target utilisation, in (0, 1]. At a load factor of 1 the link is used so far.
    pub target: f64,
    /// How q is averaged.
    pub average: QueueAverage,
}

impl Default for MeterConfig {
    /// Chen et al. 2010, section 4: 200 ms, 10 ms, 0.5 and 0.98.
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

/// A link's load factor, measured from what arrives and what waits.
///
/// It has no timer. Told of each arrival and of each change of the queue, it makes up for the
/// samples and intervals that have passed since: between two changes the queue is what it was, so
/// nothing is lost by it, and a link that was silent for an hour costs no more than a busy one.
#[derive(Clone, Debug)]
pub struct Meter {
    config: MeterConfig,
    /// gamma C t_rho, in bytes: the arrivals of an interval that make a load factor of 1.
    capacity: f64,
    /// lambda: bytes that have arrived in this interval.
    arrived: u64,
    /// Bytes that wait, since the last change.
    waiting: u64,
    /// q, in bytes.
    queue: f64,
    /// The samples of this interval, and their number.
    samples: (f64, u64),
    next_sample: Instant,
    next_interval: Instant,
    load: f64,
}

impl Meter {
    /// The meter of an idle link of `rate`. Intervals and samples are counted from time zero.
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

    /// `bytes` arrive, whether they are taken in or dropped: a packet that finds no room is load
    /// too.
    pub fn on_arrival(&mut self, now: Instant, bytes: u32) {
        self.advance(now);
        self.arrived += u64::from(bytes);
    }

    /// From now on `bytes` wait.
    pub fn on_queue(&mut self, now: Instant, bytes: u64) {
        self.advance(now);
        self.waiting = bytes;
    }

    /// rho: the load factor of the last interval that is complete (Chen et al. 2010, equation A1);
    /// zero before there is one.
    pub fn load(&mut self, now: Instant) -> f64 {
        self.advance(now);
        self.load
    }

    /// The load factor as of the last call of another function, for whoever only looks on.
    pub const fn last_load(&self) -> f64 {
        self.load
    }

    /// Makes up for what has passed by `now`. At equal times a sample is taken before the interval
    /// ends, and both before what happens then.
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

    /// Takes the samples up to `end`, all of the same queue.
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

    /// Lets q come closer to `value`, `times` over.
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

    /// Of the intervals in which nothing has arrived only the last one is computed: the others only
    /// move q.
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
