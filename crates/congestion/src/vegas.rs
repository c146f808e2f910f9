//! TCP Vegas: delay-based congestion control.
//!
//! Brakmo and Peterson, "TCP Vegas: End to End Congestion Avoidance on a Global Internet" (1995),
//! with the arithmetic of ns-2.35's `Agent/TCP/Vegas`, or as Linux has it. There is no RFC.

mod linux;
mod parameters;

use skywave_units::{Duration, Instant};

pub use self::parameters::VegasParameters;
use crate::slow_start::SlowStart;
use crate::{Ack, AckedPacket, Control, Interests, Loss, Mark, Sent};

/// The minimum cwnd, in packets; also ssthresh after a loss.
const LEAST_CWND: f64 = 2.0;

/// The rounding error within which a computed number of packets counts as exactly a half.
const TIE: f64 = 1e-9;

/// Parameters of [`Vegas`]. Windows are in packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VegasConfig {
    /// Number of queued packets below which congestion avoidance increases cwnd by one packet per
    /// round.
    pub alpha: f64,
    /// Number of queued packets above which congestion avoidance reduces cwnd by one packet per
    /// round.
    pub beta: f64,
    /// Number of queued packets above which slow start ends.
    pub gamma: f64,
    /// The initial cwnd, and the upper bound of cwnd after an idle period.
    pub initial_cwnd: f64,
    /// The initial ssthresh; infinite for "arbitrarily high".
    pub initial_ssthresh: f64,
    /// Which rules to follow where ns-2 deviates from the paper.
    pub rules: VegasRules,
}

/// Which rules a [`Vegas`] follows where ns-2 deviates from the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum VegasRules {
    /// The paper's: a loss ends slow start at once, and a recovery's inflation is not part of cwnd.
    /// A round without a round-trip time sample is ignored.
    Published,
    /// `Agent/TCP/Vegas` of ns-2.35.
    /// - A connection starts with one packet, and continues with the initial window once that is
    ///   acknowledged.
    /// - A round without a round-trip time sample, as after a timeout, uses its own duration. If
    ///   segments behind the lost ones had arrived, a single acknowledgement ends that round at
    ///   once; its duration, far too short, becomes the minimum round-trip time for good.
    /// - A reduction applies to cwnd including inflation.
    /// - The inflation of a fast retransmit is part of cwnd. [`Vegas::deflate`] ends it, and slow
    ///   start with it, by restoring cwnd after the last reduction. Without that call cwnd keeps
    ///   its size and slow start continues.
    /// - After a timeout there is no reduction to restore, so deflation leaves zero: nothing is
    ///   sent until acknowledgements increase cwnd, or until the next timeout. (If nothing is
    ///   outstanding either, ns-2 never sends again; this implementation leaves one packet.)
    Ns2,
}

impl VegasConfig {
    /// Creates a configuration with alpha 1, beta 3 and gamma 1 (ns-2's defaults), and an initial
    /// window of `initial_cwnd`.
    pub const fn new(initial_cwnd: f64) -> Self {
        Self {
            alpha: 1.0,
            beta: 3.0,
            gamma: 1.0,
            initial_cwnd,
            initial_ssthresh: f64::INFINITY,
            rules: VegasRules::Published,
        }
    }
}

/// A Vegas window.
///
/// Once per round, compares the packets that the window would carry at the minimum round-trip time
/// with those that it actually carried; the difference is the number of queued packets. In slow
/// start the window grows only every other round, so that each comparison sees a steady window. A
/// loss reduces the window by a quarter, the loss of a retransmission by half.
#[derive(Clone, Debug)]
pub struct Vegas {
    config: VegasConfig,
    cwnd: f64,
    /// Used for its ssthresh only: Vegas grows in its own way.
    slow_start: SlowStart,
    /// The cwnd that [`VegasRules::Ns2`] restores when a recovery's inflation ends.
    uninflated: f64,
    /// The increase of cwnd per acknowledgement of the round.
    increment: f64,
    /// Whether cwnd grows in this round of slow start.
    grows: bool,
    /// Packets acknowledged so far.
    acked: u64,
    round: Round,
    /// The minimum round-trip time, in seconds.
    base_rtt: f64,
    /// The number of queued packets in the last round.
    queued: f64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Round {
    /// The number of acknowledged packets at which the round ends. It includes the first packet
    /// sent after the round began. After a timeout, that packet had already been sent before the
    /// round.
    end: u64,
    /// When the round began; `None` before the first packet.
    began: Option<Instant>,
    /// The sum of the round's round-trip times, in seconds.
    rtt_sum: f64,
    rtt_count: u32,
}

impl Vegas {
    /// Creates a window of initial size.
    pub fn new(config: VegasConfig) -> Self {
        let cwnd = match config.rules {
            VegasRules::Published => config.initial_cwnd.max(1.0),
            VegasRules::Ns2 => 1.0,
        };
        Self {
            config,
            cwnd,
            uninflated: 0.0,
            slow_start: SlowStart::new(config.initial_ssthresh, LEAST_CWND),
            increment: 0.0,
            grows: false,
            acked: 0,
            round: Round {
                end: 1,
                ..Round::default()
            },
            base_rtt: f64::INFINITY,
            queued: 0.0,
        }
    }

    /// Ends a round and evaluates its round-trip times or, if there are none, the `sample` of the
    /// acknowledgement that ended it. `next` is the number of the next packet to be sent, counting
    /// from 1.
    fn end_round(&mut self, now: Instant, next: u64, sample: Option<Duration>) {
        let round = self.round;
        let sent = next as i64 - round.end as i64;
        self.round = Round {
            end: next,
            began: Some(now),
            ..Round::default()
        };
        let rtt = match (round.rtt_count, self.config.rules, sample) {
            (0, VegasRules::Published, None) => return,
            (0, VegasRules::Published, Some(sample)) => sample.as_secs_f64(),
            (0, VegasRules::Ns2, _) => (now - round.began.unwrap_or(now)).as_secs_f64(),
            (samples, ..) => round.rtt_sum / f64::from(samples),
        };
        if rtt <= 0.0 {
            return;
        }
        if rtt < self.base_rtt || sent <= 1 {
            self.base_rtt = rtt;
        }
        let expected = (next - self.acked) as f64 / self.base_rtt;
        let actual = sent as f64 / rtt;
        // Rounded to whole packets, as in ns-2. Exactly half a packet is common, as when a round
        // takes twice the minimum round-trip time, and counts as a whole one.
        let queued = ((expected - actual) * self.base_rtt + 0.5 + TIE).trunc();
        self.queued = queued;
        if self.slow_start.is_on(self.cwnd) {
            self.grow_in_slow_start(queued);
        } else {
            self.avoid_congestion(queued);
        }
    }

    fn grow_in_slow_start(&mut self, queued: f64) {
        self.grows = !self.grows;
        self.increment = 0.0;
        if !self.grows {
            return;
        }
        if queued > self.config.gamma {
            self.slow_start.on_congestion(LEAST_CWND);
            self.lower(self.cwnd - self.cwnd / 8.0);
        } else {
            self.increment = 1.0;
        }
    }

    fn avoid_congestion(&mut self, queued: f64) {
        self.increment = 0.0;
        if queued > self.config.beta {
            self.lower(self.cwnd - 1.0);
        } else if queued < self.config.alpha {
            self.increment = self.cwnd.recip();
        }
    }

    /// Lowers cwnd to `rest` packets, but not below 2.
    fn lower(&mut self, rest: f64) {
        self.cwnd = rest.max(LEAST_CWND).min(self.cwnd);
    }

    /// Returns cwnd in whole packets, or the flight if that does not fill cwnd.
    fn used(&self, in_flight: u32) -> f64 {
        self.cwnd.floor().min(f64::from(in_flight))
    }

    /// Increases cwnd itself by `packets` sent on duplicate acknowledgements, under
    /// [`VegasRules::Ns2`]; does nothing under other rules.
    pub fn inflate(&mut self, packets: u32) {
        if self.config.rules == VegasRules::Ns2 {
            self.cwnd += f64::from(packets);
        }
    }

    /// Removes the inflation that [`Vegas::inflate`] has added. ns-2's Vegas fails to do so if
    /// nothing has been added since a retransmission, so the call is optional.
    pub fn deflate(&mut self) {
        if self.config.rules == VegasRules::Ns2 && self.cwnd > self.uninflated {
            self.cwnd = self.uninflated;
            self.slow_start.on_congestion(LEAST_CWND);
        }
    }

    /// Reduces cwnd to `rest` packets. Slow start ends for good, but under ns-2's rules only when
    /// the inflation ends.
    fn reduce(&mut self, rest: f64) {
        self.cwnd = rest.max(LEAST_CWND);
        self.uninflated = self.cwnd;
        if self.config.rules == VegasRules::Published {
            self.slow_start.on_congestion(LEAST_CWND);
        }
    }
}

impl Control for Vegas {
    fn interests(&self) -> Interests {
        Interests {
            packets: true,
            ..Interests::default()
        }
    }

    fn on_sent(&mut self, sent: &Sent) {
        self.round.began.get_or_insert(sent.now);
    }

    fn on_packet_acked(&mut self, _packet: &AckedPacket) {
        if self.acked == 0 && self.config.rules != VegasRules::Published {
            self.cwnd = self.config.initial_cwnd.max(1.0);
        }
        self.acked += 1;
    }

    fn on_ack(&mut self, ack: &Ack) {
        let outstanding = u64::from(ack.in_flight) + 1;
        if self.acked >= self.round.end {
            self.end_round(ack.now, self.acked + outstanding, ack.rtt);
        }
        // Slow start may end in the middle of a round.
        if self.increment >= 1.0 && !self.slow_start.is_on(self.cwnd) {
            self.increment = 0.0;
        }
        if self.cwnd - outstanding as f64 <= 2.0 && !ack.reports_marks() {
            self.cwnd += self.increment;
        }
        if ack.in_flight == 0 {
            self.cwnd = self.cwnd.max(1.0);
        }
        // A zero sample is impossible and would divide by zero.
        if let Some(rtt) = ack.rtt.filter(|rtt| !rtt.is_zero()) {
            let rtt = rtt.as_secs_f64();
            self.round.rtt_sum += rtt;
            self.round.rtt_count += 1;
            self.base_rtt = self.base_rtt.min(rtt);
        }
    }

    fn on_loss(&mut self, loss: &Loss) {
        let used = self.used(loss.in_flight);
        self.reduce(if loss.is_repeated {
            (used / 2.0).floor()
        } else if used <= 3.0 {
            LEAST_CWND
        } else {
            used - (used / 4.0).floor()
        });
    }

    /// Responds as to a loss, except that fewer than 2 packets may remain.
    fn on_mark(&mut self, mark: &Mark) {
        let used = self.used(mark.in_flight);
        if self.config.rules == VegasRules::Published && used <= LEAST_CWND {
            self.reduce(LEAST_CWND);
            self.limit_cwnd(used - 1.0);
        } else {
            self.on_loss(&Loss::of_mark(mark));
        }
    }

    fn on_timeout(&mut self, _now: Instant, in_flight: u32) {
        let half = (self.used(in_flight) / 2.0).floor();
        self.slow_start.on_congestion(half.max(LEAST_CWND));
        self.cwnd = LEAST_CWND;
        self.uninflated = 0.0;
    }

    fn on_restart(&mut self, _now: Instant) {
        self.cwnd = self.cwnd.min(self.config.initial_cwnd.max(1.0));
    }

    fn on_receiver_overload(&mut self, _now: Instant, dropped: u32) {
        self.cwnd = (self.cwnd - f64::from(dropped)).max(1.0);
        self.slow_start.on_receiver_overload(self.cwnd, LEAST_CWND);
    }

    fn limit_cwnd(&mut self, limit: f64) {
        self.cwnd = self.cwnd.min(limit.max(1.0));
    }

    fn on_validation(&mut self, cwnd: f64, ssthresh: f64) {
        // A reduction ends slow start for good.
        if ssthresh > cwnd {
            self.slow_start.on_validation(ssthresh, LEAST_CWND);
        }
        self.limit_cwnd(cwnd);
    }

    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    fn ssthresh(&self) -> f64 {
        self.slow_start.ssthresh()
    }

    fn inner_values(&self, record: &mut dyn FnMut(&'static str, f64)) {
        if self.base_rtt.is_finite() {
            record("base_rtt_s", self.base_rtt);
        }
        record("queued_packets", self.queued);
    }
}

#[cfg(test)]
mod tests;
