//! RED and adaptive RED: random drops on arrival based on the average queue (Floyd and Jacobson
//! 1993; Floyd, Gummadi and Shenker 2001), as implemented in ns-2.35.

mod average;
mod config;

pub use config::{AdaptiveRed, RedConfig, RedThresholds, RedWeight};

use rand::{Rng, RngExt};
use skywave_units::{Duration, Instant, Random, Rate};

use self::average::Average;
use super::{Admission, Arrival, DropReason, Line, Room, Verdict};

/// The RED queue.
///
/// It follows ns-2 with two differences. A limit in bytes is never exceeded, while ns-2 accepts a
/// packet whenever the bytes before it are below the limit. On a shared link, the queue counts as
/// idle once its last packet leaves it, not at the end of that packet's transmission.
#[derive(Clone, Debug)]
pub struct Red<R = Random> {
    config: RedConfig,
    room: Room,
    random: R,
    average: Average,
    /// The thresholds, in the unit in which the queue is measured.
    thresholds: RedThresholds,
    /// Slope and intercept of the drop probability between the thresholds, in units of `max_p`.
    line: (f64, f64),
    /// Slope and intercept of the drop probability from the maximum threshold to twice that
    /// threshold.
    gentle_line: (f64, f64),
    /// The drop probability at the maximum threshold.
    max_p: f64,
    /// The lower bound of `max_p` under adaptation.
    least_max_p: f64,
    /// When `max_p` was last changed.
    adapted_at: Instant,
    /// Packets since the last early drop or mark, including the arriving one.
    count: u64,
    /// Bytes in them.
    count_bytes: u64,
    /// Whether the average exceeded the minimum threshold at the previous packet.
    was_above: bool,
}

/// RED's decision on an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Judgement {
    /// Accept it.
    Keep,
    /// Mark it if possible, otherwise drop it.
    Mark,
    /// Drop it.
    Drop,
}

impl<R: Rng> Red<R> {
    /// Creates an empty queue at the head of a link with this rate and delay, which determine the
    /// defaults of `config`. Each random decision draws once from `random`.
    pub fn new(config: RedConfig, rate: Rate, delay: Duration, random: R) -> Self {
        let packets_per_second = config.packets_per_second(rate);
        let in_packets = config.thresholds(packets_per_second);
        let unit = if config.queue_in_bytes {
            f64::from(config.mean_packet)
        } else {
            1.0
        };
        let thresholds = RedThresholds {
            min: in_packets.min * unit,
            max: in_packets.max * unit,
        };
        let between = thresholds.max - thresholds.min;
        let max_p = config.max_p;
        Self {
            room: Room::from(config.limit),
            random,
            average: Average::new(
                config.weight.resolve(packets_per_second, delay),
                packets_per_second,
            ),
            line: (1.0 / between, -thresholds.min / between),
            gentle_line: ((1.0 - max_p) / thresholds.max, 2.0 * max_p - 1.0),
            max_p,
            least_max_p: config
                .adaptive
                .map_or(0.0, |adaptive| adaptive.least_max_p(rate)),
            adapted_at: Instant::ZERO,
            count: 0,
            count_bytes: 0,
            was_above: false,
            thresholds,
            config,
        }
    }

    /// Returns the average queue after the last arrival, in packets or bytes.
    pub const fn average(&self) -> f64 {
        self.average.value()
    }

    /// Returns the current drop probability at the maximum threshold, which adaptation changes.
    pub const fn max_p(&self) -> f64 {
        self.max_p
    }

    /// Returns the current queue, in packets or bytes.
    fn length(&self, line: &mut Line<'_>) -> u64 {
        if self.config.queue_in_bytes {
            line.bytes()
        } else {
            line.packets() as u64
        }
    }

    /// Adjusts `max_p` to bring the average half-way between the thresholds.
    fn adapt(&mut self, now: Instant) {
        let Some(adaptive) = self.config.adaptive else {
            return;
        };
        // Strictly later, as in ns-2's comparison of seconds.
        if now <= self.adapted_at + adaptive.interval {
            return;
        }
        let RedThresholds { min, max } = self.thresholds;
        let part = 0.4 * (max - min);
        if self.average() < min + part && self.max_p > self.least_max_p {
            self.max_p *= adaptive.decrease;
        } else if self.average() > max - part && self.max_p < adaptive.most_max_p {
            self.max_p += adaptive.increase.min(0.25 * self.max_p);
        } else {
            return;
        }
        self.adapted_at = now;
    }

    /// Returns the drop probability derived from the average alone.
    ///
    /// The gentle part starts from the configured `max_p` even if adaptation has changed it, as in
    /// ns-2.
    fn probability(&self) -> f64 {
        let average = self.average();
        let probability = if average < self.thresholds.max {
            (self.line.0 * average + self.line.1) * self.max_p
        } else if self.config.gentle {
            self.gentle_line.0 * average + self.gentle_line.1
        } else {
            1.0
        };
        probability.min(1.0)
    }

    /// Returns the drop probability that makes the distances between drops uniform instead of
    /// geometric and, if configured, makes larger packets more likely to be dropped.
    fn spread(&self, probability: f64, size: u32) -> f64 {
        let mean = self.config.mean_packet;
        let count = if self.config.drop_by_bytes {
            self.count_bytes / u64::from(mean)
        } else {
            self.count
        };
        let expected = count as f64 * probability;
        let mut spread = match (self.config.wait, expected) {
            (true, ..1.0) => 0.0,
            (true, ..2.0) => probability / (2.0 - expected),
            (false, ..1.0) => probability / (1.0 - expected),
            _ => 1.0,
        };
        if self.config.drop_by_bytes && spread < 1.0 {
            spread = spread * f64::from(size) / f64::from(mean);
        }
        spread.min(1.0)
    }

    /// Decides on a packet. `length` is the current queue, in packets or bytes.
    fn judge(&mut self, size: u32, length: u64) -> Judgement {
        self.count += 1;
        self.count_bytes += u64::from(size);
        let average = self.average();
        // A single waiting packet is no queue, in either unit.
        if average < self.thresholds.min || length <= 1 {
            self.was_above = false;
            return Judgement::Keep;
        }
        let forced_from = if self.config.gentle {
            2.0 * self.thresholds.max
        } else {
            self.thresholds.max
        };
        if self.config.mark_p.is_none() && average >= forced_from {
            self.restart_count();
            return Judgement::Drop;
        }
        if !self.was_above {
            self.was_above = true;
            self.count = 1;
            self.count_bytes = u64::from(size);
            return Judgement::Keep;
        }
        let probability = self.probability();
        if self.random.random::<f64>() > self.spread(probability, size) {
            return Judgement::Keep;
        }
        self.restart_count();
        let may_mark = self.config.ecn && self.config.mark_p.is_none_or(|most| probability <= most);
        if may_mark {
            Judgement::Mark
        } else {
            Judgement::Drop
        }
    }

    /// Implements [`Admission::admit`]; kept out of line because most links have drop-tail.
    #[inline(never)]
    fn decide(
        &mut self,
        now: Instant,
        line: &mut Line<'_>,
        size: u32,
        can_be_marked: bool,
    ) -> Result<Verdict, DropReason> {
        let length = self.length(line);
        let idle = line.idle_since().map(|since| now - since);
        self.average.update(length, idle);
        self.adapt(now);
        let judgement = self.judge(size, length);
        if !line.has_room_for(size, self.room) {
            self.restart_count();
            return Err(DropReason::Full);
        }
        match judgement {
            Judgement::Keep => Ok(Verdict::Keep),
            Judgement::Mark if can_be_marked => Ok(Verdict::Mark),
            Judgement::Mark | Judgement::Drop => Err(DropReason::Early),
        }
    }

    const fn restart_count(&mut self) {
        self.count = 0;
        self.count_bytes = 0;
    }
}

impl<R: Rng> Admission for Red<R> {
    #[inline(always)]
    fn admit(
        &mut self,
        now: Instant,
        line: &mut Line<'_>,
        arrival: Arrival,
    ) -> Result<Verdict, DropReason> {
        self.decide(now, line, arrival.size, arrival.can_be_marked)
    }

    fn inner_values(&self, record: &mut dyn FnMut(&str, f64)) {
        let average = if self.config.queue_in_bytes {
            "average_bytes"
        } else {
            "average_packets"
        };
        record(average, self.average());
        record("max_p", self.max_p);
    }
}

#[cfg(test)]
mod tests;
