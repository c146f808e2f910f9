//! TCP Vegas: a window that follows the delay.
//!
//! Brakmo and Peterson, "TCP Vegas: End to End Congestion Avoidance on a Global Internet" (1995),
//! with the arithmetic of ns-2.35's `Agent/TCP/Vegas`. No RFC describes it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_registry::ParameterError;
use skywave_units::{Duration, Instant};

use crate::{
    Ack, AckedPacket, AnyControl, Control, ControlContext, ControlKind, Interests, Loss, Sent,
};

/// The least that Vegas leaves of cwnd, in packets; ssthresh after a loss.
const LEAST_CWND: f64 = 2.0;

/// Parameters of [`Vegas`]. Windows are in packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VegasConfig {
    /// Packets in queues below which congestion avoidance grows by one packet each round.
    pub alpha: f64,
    /// Packets in queues above which it shrinks by one packet.
    pub beta: f64,
    /// Packets in queues above which slow start ends.
    pub gamma: f64,
    /// cwnd of a new connection, and the most that is left of it after an idle period.
    pub initial_cwnd: f64,
    /// ssthresh of a new connection; infinite for "arbitrarily high".
    pub initial_ssthresh: f64,
    /// Where ns-2 and the paper part.
    pub rules: VegasRules,
}

/// Whose rules a [`Vegas`] follows where they differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum VegasRules {
    /// The paper's: a loss ends slow start at once, and a recovery's inflation is no part of cwnd. A
    /// round without a sample of the round-trip time says nothing.
    Published,
    /// `Agent/TCP/Vegas` of ns-2.35.
    /// - A connection begins with one packet, and with the initial window when that has been
    ///   acknowledged.
    /// - A round without a sample of the round-trip time, as after a timeout, took as long as it
    ///   lasted. If segments behind the lost ones had arrived, one acknowledgement ends that round at
    ///   once, and its length, far too short, becomes the smallest round-trip time for good.
    /// - A reduction is of cwnd as it stands, inflation included.
    /// - The inflation of a fast retransmit is part of cwnd. [`Vegas::deflate`] ends it,
    ///   and slow start too, by going back to where the last reduction left cwnd. Without
    ///   it cwnd stays as large as it is, and slow start goes on.
    /// - After a timeout there is no reduction to go back to, and what is left is zero: nothing
    ///   is sent until acknowledgements make cwnd grow, or the next timeout. (Where nothing is
    ///   outstanding either, ns-2 never sends again; here one packet is left.)
    Ns2,
}

impl VegasConfig {
    /// Alpha 1, beta 3 and gamma 1, ns-2's defaults, with an initial window of `initial_cwnd`.
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

/// Parameters of the control `vegas`, in packets that wait in queues.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Vegas")]
#[serde(deny_unknown_fields, default)]
pub struct VegasParameters {
    /// Below this, congestion avoidance grows by one packet each round.
    #[schemars(extend("x-unit" = "packets"))]
    pub alpha: f64,
    /// Above this, it shrinks by one packet.
    #[schemars(extend("x-unit" = "packets"))]
    pub beta: f64,
    /// Above this, slow start ends.
    #[schemars(extend("x-unit" = "packets"))]
    pub gamma: f64,
}

impl Default for VegasParameters {
    /// ns-2's: 1, 3 and 1.
    fn default() -> Self {
        let VegasConfig {
            alpha, beta, gamma, ..
        } = VegasConfig::new(0.0);
        Self { alpha, beta, gamma }
    }
}

impl VegasParameters {
    /// The window that these parameters describe, by `rules`.
    pub const fn window(&self, context: &ControlContext, rules: VegasRules) -> VegasConfig {
        VegasConfig {
            alpha: self.alpha,
            beta: self.beta,
            gamma: self.gamma,
            initial_cwnd: context.initial_cwnd,
            initial_ssthresh: context.initial_ssthresh,
            rules,
        }
    }
}

impl ControlKind for VegasParameters {
    fn check(&self) -> Result<(), ParameterError> {
        for (name, value) in [
            ("alpha", self.alpha),
            ("beta", self.beta),
            ("gamma", self.gamma),
        ] {
            if !(value >= 0.0 && value.is_finite()) {
                return Err(ParameterError::new(name, format!("{value}: 0 or more")));
            }
        }
        if self.alpha > self.beta {
            let message = format!("{} is above beta, {}", self.alpha, self.beta);
            return Err(ParameterError::new("alpha", message));
        }
        Ok(())
    }

    fn build(&self, context: &ControlContext) -> AnyControl {
        let config = self.window(context, VegasRules::Published);
        AnyControl::new(Vegas::new(config))
    }
}

/// A Vegas window.
///
/// Once per round of packets it compares what the window should carry at the smallest round-trip
/// time seen with what it has carried, and takes the difference for packets that wait in queues.
/// In slow start only every other round grows, so that the comparison is of a steady window. A loss
/// takes a quarter off, a loss of what was sent again a half.
#[derive(Clone, Debug)]
pub struct Vegas {
    config: VegasConfig,
    cwnd: f64,
    ssthresh: f64,
    /// What [`VegasRules::Ns2`] goes back to when a recovery's inflation ends.
    uninflated: f64,
    /// What each acknowledgement of the round adds to cwnd.
    increment: f64,
    /// Whether this round of slow start grows.
    grows: bool,
    /// Packets acknowledged so far.
    acked: u64,
    round: Round,
    /// The smallest round-trip time, in seconds.
    base_rtt: f64,
    /// What the last round found waiting in queues, in packets.
    queued: f64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Round {
    /// The round ends when this many packets have been acknowledged: the next one to be sent when it
    /// began is among them. After a timeout that has been sent before.
    end: u64,
    /// When it began; `None` before the first packet.
    began: Option<Instant>,
    /// Round-trip times of the round, in seconds.
    rtt_sum: f64,
    rtt_count: u32,
}

impl Vegas {
    /// A window at its initial size.
    pub fn new(config: VegasConfig) -> Self {
        let cwnd = match config.rules {
            VegasRules::Published => config.initial_cwnd.max(1.0),
            VegasRules::Ns2 => 1.0,
        };
        Self {
            config,
            cwnd,
            uninflated: 0.0,
            ssthresh: config.initial_ssthresh.max(LEAST_CWND),
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

    /// The round is over: what its round-trip times say, or where there are none the `sample` of the
    /// acknowledgement that ends it. `next` is the number of the packet that will be sent next,
    /// counted from 1.
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
        // Rounded to whole packets, as ns-2 does.
        let queued = ((expected - actual) * self.base_rtt + 0.5).trunc();
        self.queued = queued;
        if self.cwnd < self.ssthresh {
            self.slow_start(queued);
        } else {
            self.avoid_congestion(queued);
        }
    }

    fn slow_start(&mut self, queued: f64) {
        self.grows = !self.grows;
        self.increment = 0.0;
        if !self.grows {
            return;
        }
        if queued > self.config.gamma {
            self.ssthresh = LEAST_CWND;
            self.cwnd = (self.cwnd - self.cwnd / 8.0).max(LEAST_CWND);
        } else {
            self.increment = 1.0;
        }
    }

    fn avoid_congestion(&mut self, queued: f64) {
        self.increment = 0.0;
        if queued > self.config.beta {
            self.cwnd = (self.cwnd - 1.0).max(LEAST_CWND);
        } else if queued < self.config.alpha {
            self.increment = self.cwnd.recip();
        }
    }

    /// cwnd in whole packets, or the flight where that leaves cwnd unused.
    fn used(&self, in_flight: u32) -> f64 {
        self.cwnd.floor().min(f64::from(in_flight))
    }

    /// Lets cwnd itself grow by `packets` that duplicate acknowledgements let out, as
    /// [`VegasRules::Ns2`] has it; other rules know no such thing.
    pub fn inflate(&mut self, packets: u32) {
        if self.config.rules == VegasRules::Ns2 {
            self.cwnd += f64::from(packets);
        }
    }

    /// What [`Vegas::inflate`] has added ends. It need not be called: ns-2's Vegas forgets to, where
    /// nothing has been added since a retransmission.
    pub fn deflate(&mut self) {
        if self.config.rules == VegasRules::Ns2 && self.cwnd > self.uninflated {
            self.cwnd = self.uninflated;
            self.ssthresh = LEAST_CWND;
        }
    }

    /// Leaves `rest` of the window. Slow start ends for good, with ns-2 only when the inflation
    /// does.
    fn reduce(&mut self, rest: f64) {
        self.cwnd = rest.max(LEAST_CWND);
        self.uninflated = self.cwnd;
        if self.config.rules == VegasRules::Published {
            self.ssthresh = LEAST_CWND;
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
        if self.increment >= 1.0 && self.cwnd >= self.ssthresh {
            self.increment = 0.0;
        }
        if self.cwnd - outstanding as f64 <= 2.0 && !ack.ecn_echo {
            self.cwnd += self.increment;
        }
        if ack.in_flight == 0 {
            self.cwnd = self.cwnd.max(1.0);
        }
        // No path takes no time: such a sample would divide by zero.
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

    fn on_timeout(&mut self, _now: Instant, in_flight: u32) {
        self.ssthresh = (self.used(in_flight) / 2.0).floor().max(LEAST_CWND);
        self.cwnd = LEAST_CWND;
        self.uninflated = 0.0;
    }

    fn on_restart(&mut self, _now: Instant) {
        self.cwnd = self.cwnd.min(self.config.initial_cwnd.max(1.0));
    }

    fn on_receiver_overload(&mut self, _now: Instant, dropped: u32) {
        self.cwnd = (self.cwnd - f64::from(dropped)).max(1.0);
        self.ssthresh = self.ssthresh.min(self.cwnd).max(LEAST_CWND);
    }

    fn limit_cwnd(&mut self, limit: f64) {
        self.cwnd = self.cwnd.min(limit.max(1.0));
    }

    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    fn ssthresh(&self) -> f64 {
        self.ssthresh
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
