//! PIE: drops packets at random on arrival to keep the delay near a target (RFC 8033).

use std::sync::Arc;

use rand::{Rng, RngExt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_registry::ParameterError;
use skywave_units::{Bytes, Duration, Instant, Random};

use super::parameters::{check_above_zero, check_mean_packet, check_probability};
use super::{
    AnyQueue, Backlog, Checked, Conduct, DropReason, Dropped, Head, Keeps, Limit, QueueKind, Room,
    Writes, mark,
};
use crate::Packet;

/// The shortest update period; with shorter ones, updates would dominate the run time.
const LEAST_UPDATE: Duration = Duration::from_micros(1);

/// Gain for the distance from the target, in 1/s (RFC 8033 section 4.2).
const ALPHA: f64 = 0.125;
/// Gain for the trend of the delay, in 1/s.
const BETA: f64 = 1.25;
/// Up to each drop probability, the gains are divided by this: small probabilities change slowly.
const GAIN_DIVISORS: [(f64, f64); 6] = [
    (0.000_001, 2048.0),
    (0.000_01, 512.0),
    (0.000_1, 128.0),
    (0.001, 32.0),
    (0.01, 8.0),
    (0.1, 2.0),
];
/// The factor applied to the drop probability after a period without congestion.
const DECAY: f64 = 0.98;
/// Below this drop probability, nothing is dropped if the delay is short.
const SAFE_PROBABILITY: f64 = 0.2;
/// From a drop probability of 0.1 on, the largest increase is 0.02 (RFC 8033 section 5.5).
const CAP: (f64, f64) = (0.1, 0.02);
/// No packet is dropped until the probabilities accumulated since the last drop reach the first
/// value; one is always dropped at the second (RFC 8033 section 5.4).
const ACCUMULATED: (f64, f64) = (0.85, 8.5);

/// Parameters of PIE.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PieConfig {
    /// `QDELAY_REF`: the target queue delay.
    pub target: Duration,
    /// `T_UPDATE`: the period of drop probability updates; above zero.
    pub update: Duration,
    /// `MAX_BURST`: how long a burst is allowed without drops.
    pub max_burst: Duration,
    /// `MEAN_PKTSIZE` in bytes: nothing is dropped while at most two such packets wait.
    pub mean_packet: u32,
    /// Whether to mark packets instead of dropping them, if they can be marked (RFC 8033 section
    /// 5.1).
    pub ecn: bool,
    /// `mark_ecnth`: the drop probability at and above which packets are dropped even if they could
    /// be marked (RFC 8033 section 5.1).
    pub mark_p: f64,
    /// Whether to derandomise drops so that they do not cluster (RFC 8033 section 5.4).
    pub derandomise: bool,
    /// Whether to limit the increase of a high drop probability (RFC 8033 section 5.5).
    pub cap: bool,
}

impl Default for PieConfig {
    /// Returns the basic scheme with the values of RFC 8033 section 4, without options.
    fn default() -> Self {
        Self {
            target: Duration::from_millis(15),
            update: Duration::from_millis(15),
            max_burst: Duration::from_millis(150),
            mean_packet: 1000,
            ecn: false,
            mark_p: 0.1,
            derandomise: false,
            cap: false,
        }
    }
}

/// The PIE queue. The delay is measured with time stamps (RFC 8033 section 4.3).
///
/// Timer updates are performed at the next call, each for its own time and before other work at
/// that time.
#[derive(Clone, Debug)]
pub struct Pie<P, R = Random> {
    config: PieConfig,
    room: Room,
    waiting: Backlog<P>,
    random: R,
    drop_probability: f64,
    /// The waiting time of the last packet that left; zero once the queue is empty.
    delay: Duration,
    /// `delay` at the last update.
    old_delay: Duration,
    burst_allowance: Duration,
    next_update: Instant,
    /// The sum of the probabilities of the packets since the last drop.
    accumulated: f64,
}

impl<P: Packet, R: Rng> Pie<P, R> {
    /// Creates an empty queue that holds up to `limit` and draws from `random`. Updates occur at
    /// whole multiples of the period.
    pub fn new(limit: Limit, config: PieConfig, random: R) -> Self {
        Self {
            config,
            room: Room::from(limit),
            waiting: Backlog::new(),
            random,
            drop_probability: 0.0,
            delay: Duration::ZERO,
            old_delay: Duration::ZERO,
            burst_allowance: config.max_burst,
            next_update: Instant::from_nanos(config.update.as_nanos()),
            accumulated: 0.0,
        }
    }

    /// Returns the probability with which an arriving packet is dropped.
    pub const fn drop_probability(&self) -> f64 {
        self.drop_probability
    }

    /// Performs the updates up to `now`.
    fn update(&mut self, now: Instant) {
        while self.next_update <= now {
            if self.drop_probability == 0.0 && self.delay.is_zero() && self.old_delay.is_zero() {
                // Until the next packet, only the burst allowance changes.
                let period = self.config.update;
                let updates = (now - self.next_update).as_nanos() / period.as_nanos() + 1;
                self.burst_allowance -= period * updates;
                self.next_update += period * updates;
            } else {
                self.calculate_drop_probability();
                self.next_update += self.config.update;
            }
        }
    }

    /// Updates the drop probability (RFC 8033 section 4.2).
    fn calculate_drop_probability(&mut self) {
        let (target, delay) = (self.config.target.as_secs_f64(), self.delay.as_secs_f64());
        let trend = delay - self.old_delay.as_secs_f64();
        let probability = self.drop_probability;
        let divisor = GAIN_DIVISORS
            .iter()
            .find(|&&(below, _)| probability < below)
            .map_or(1.0, |&(_, divisor)| divisor);
        let mut step = (ALPHA * (delay - target) + BETA * trend) / divisor;
        if self.config.cap && probability >= CAP.0 {
            step = step.min(CAP.1);
        }
        self.drop_probability += step;
        if self.delay.is_zero() && self.old_delay.is_zero() {
            self.drop_probability *= DECAY;
        }
        self.drop_probability = self.drop_probability.clamp(0.0, 1.0);
        self.old_delay = self.delay;
        self.burst_allowance -= self.config.update;
    }

    /// Returns whether to drop or mark the arriving packet (RFC 8033 section 4.1).
    fn drop_early(&mut self) -> bool {
        let is_short = |delay| delay * 2 < self.config.target;
        let probability = self.drop_probability;
        if probability == 0.0 && is_short(self.delay) && is_short(self.old_delay) {
            self.burst_allowance = self.config.max_burst;
        }
        let few = self.waiting.bytes() <= 2 * u64::from(self.config.mean_packet);
        let safe = is_short(self.old_delay) && probability < SAFE_PROBABILITY;
        if !self.burst_allowance.is_zero() || safe || few {
            return false;
        }
        if self.config.derandomise {
            if probability == 0.0 {
                self.accumulated = 0.0;
            }
            self.accumulated += probability;
            if self.accumulated < ACCUMULATED.0 {
                return false;
            }
            if self.accumulated >= ACCUMULATED.1 {
                self.accumulated = 0.0;
                return true;
            }
        }
        let drops = self.random.random::<f64>() < probability;
        if drops {
            self.accumulated = 0.0;
        }
        drops
    }
}

impl<P: Packet, R: Rng> Keeps<P> for Pie<P, R> {
    fn enqueue(&mut self, now: Instant, mut packet: P) -> Result<(), Dropped<P>> {
        self.update(now);
        let reason = if !self.waiting.has_room_for(packet.size(), self.room) {
            self.accumulated = 0.0;
            Some(DropReason::Full)
        } else if self.drop_early() {
            let may_mark = self.config.ecn && self.drop_probability < self.config.mark_p;
            (!may_mark || !mark(&mut packet)).then_some(DropReason::Early)
        } else {
            None
        };
        if let Some(reason) = reason {
            return Err(Dropped { packet, reason });
        }
        self.waiting.push(now, packet);
        Ok(())
    }

    fn dequeue(&mut self, now: Instant) -> Option<P> {
        self.update(now);
        let Some((delay, packet)) = self.waiting.pop(now) else {
            self.delay = Duration::ZERO;
            return None;
        };
        self.delay = delay;
        Some(packet)
    }

    fn dropped(&mut self) -> Option<Dropped<P>> {
        None
    }

    fn packets(&self) -> usize {
        self.waiting.packets()
    }

    fn bytes(&self) -> u64 {
        self.waiting.bytes()
    }

    fn inner_values(&self, record: &mut dyn FnMut(&str, f64)) {
        record("drop_probability", self.drop_probability);
        record("delay_s", self.delay.as_secs_f64());
    }
}

/// Parameters of PIE, as written in a file.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Pie")]
#[serde(deny_unknown_fields, default)]
pub struct PieSpec {
    /// Capacity in packets; give this or `bytes`.
    #[schemars(extend("x-unit" = "packets"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packets: Option<u32>,
    /// Capacity in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Bytes>,
    /// The target delay.
    pub target: Duration,
    /// The period of drop probability updates.
    pub update: Duration,
    /// How long a burst is allowed without drops.
    pub max_burst: Duration,
    /// The mean packet size; nothing is dropped while at most two such packets wait.
    pub mean_packet: Bytes,
    /// Whether to mark packets instead of dropping them, if they can be marked.
    pub ecn: bool,
    /// The drop probability from which on packets are dropped even if they could be marked (RFC 8033
    /// section 5.1).
    #[schemars(extend("x-unit" = "1"))]
    pub mark_p: f64,
    /// Whether to derandomise drops so that they do not cluster (RFC 8033 section 5.4).
    pub derandomise: bool,
    /// Whether to limit the increase of a high drop probability (RFC 8033 section 5.5).
    pub cap: bool,
}

impl Default for PieSpec {
    fn default() -> Self {
        let defaults = PieConfig::default();
        Self {
            packets: None,
            bytes: None,
            target: defaults.target,
            update: defaults.update,
            max_burst: defaults.max_burst,
            mean_packet: Bytes::new(u64::from(defaults.mean_packet)),
            ecn: defaults.ecn,
            mark_p: defaults.mark_p,
            derandomise: defaults.derandomise,
            cap: defaults.cap,
        }
    }
}

impl PieSpec {
    pub(super) fn kind<P: Packet + Send + 'static>(self) -> Checked<P> {
        let limit = Limit::from_parameters(self.packets, self.bytes)?;
        check_mean_packet(self.mean_packet)?;
        check_above_zero(self.target, "target")?;
        check_probability(self.mark_p, "mark_p")?;
        ParameterError::unless(self.update >= LEAST_UPDATE, "update", || {
            format!("{} between updates: at least {LEAST_UPDATE}", self.update)
        })?;
        let config = PieConfig {
            target: self.target,
            update: self.update,
            max_burst: self.max_burst,
            mean_packet: self.mean_packet.get() as u32,
            ecn: self.ecn,
            mark_p: self.mark_p,
            derandomise: self.derandomise,
            cap: self.cap,
        };
        Ok(Arc::new(Kind { limit, config }))
    }
}

struct Kind {
    limit: Limit,
    config: PieConfig,
}

impl<P: Packet + Send + 'static> QueueKind<P> for Kind {
    fn conduct(&self) -> Conduct {
        Conduct {
            drops_early: true,
            writes: Writes::marks_if(self.config.ecn),
            ..Conduct::fifo(self.limit)
        }
    }

    fn build(&self, head: &Head<'_>) -> AnyQueue<P> {
        AnyQueue::keeps(Pie::new(self.limit, self.config, head.random()))
    }
}

#[cfg(test)]
mod tests;
