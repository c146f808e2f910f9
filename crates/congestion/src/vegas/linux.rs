//! Vegas as Linux 6.12 has it; its rules were read in the kernel's module.
//!
//! It differs from the paper: slow start doubles the window every round trip, the queue is computed
//! from the shortest round-trip time of a round, and a loss halves the window.

use skywave_units::Duration;

use crate::Ack;
use crate::law::{Cause, Congestion, Law};
use crate::window::{Phase, Window};

/// The round-trip times that a round needs. With fewer, all may be those of delayed
/// acknowledgements, and the window grows as Reno's.
const LEAST_SAMPLES: u32 = 3;
/// The lower bound of cwnd after a round.
const LEAST_CWND: f64 = 2.0;
/// The fraction of cwnd that is a lower bound of ssthresh after a round.
const LEAST_SSTHRESH: f64 = 0.75;

/// Linux's laws of Vegas. Round-trip times are whole microseconds, rounded down, plus one so that
/// none is zero.
#[derive(Clone, Debug)]
pub(super) struct LinuxVegas {
    alpha: f64,
    beta: f64,
    gamma: f64,
    /// The shortest round-trip time since data was last sent with nothing in flight.
    base_rtt: u64,
    round: Round,
    /// The queued packets in the last round.
    queued: f64,
}

#[derive(Clone, Copy, Debug)]
struct Round {
    /// Packets to be acknowledged until the next acknowledgement ends the round.
    left: u32,
    /// Its shortest round-trip time.
    min_rtt: u64,
    samples: u32,
}

impl Round {
    const fn new(left: u32) -> Self {
        Self {
            left,
            min_rtt: u64::MAX,
            samples: 0,
        }
    }
}

impl LinuxVegas {
    /// Creates laws with these alpha, beta and gamma.
    pub(super) const fn new((alpha, beta, gamma): (f64, f64, f64)) -> Self {
        Self {
            alpha,
            beta,
            gamma,
            base_rtt: u64::MAX,
            round: Round::new(0),
            queued: 0.0,
        }
    }

    fn measure(&mut self, rtt: Duration) {
        let rtt = rtt.as_nanos() / 1000 + 1;
        self.base_rtt = self.base_rtt.min(rtt);
        self.round.min_rtt = self.round.min_rtt.min(rtt);
        self.round.samples += 1;
    }

    /// Notes `packets` acknowledged. Returns the round if it is over: a packet sent after its start
    /// is acknowledged.
    fn end_round(&mut self, packets: u32, in_flight: u32) -> Option<Round> {
        let is_over = self.round.left < packets;
        self.round.left = self.round.left.saturating_sub(packets);
        is_over.then(|| core::mem::replace(&mut self.round, Round::new(in_flight)))
    }

    /// Changes the window once per round.
    fn adjust(&mut self, window: &mut Window, ack: &Ack, min_rtt: u64) {
        let cwnd = window.cwnd();
        let (base_rtt, min_rtt) = (self.base_rtt as f64, min_rtt as f64);
        self.queued = (cwnd * (min_rtt - base_rtt) / base_rtt).floor();
        if window.in_slow_start() {
            if self.queued > self.gamma {
                let target = (cwnd * base_rtt / min_rtt).floor() + 1.0;
                window.limit_cwnd(target);
                window.set_ssthresh(window.ssthresh().min(window.cwnd()));
            } else {
                window.slow_start(ack);
            }
        } else if self.queued > self.beta {
            window.limit_cwnd(cwnd - 1.0);
            window.set_ssthresh(window.ssthresh().min(window.cwnd()));
        } else if self.queued < self.alpha {
            window.grow_by(1.0);
        }
        window.grow_by((LEAST_CWND - window.cwnd()).max(0.0));
        let least = (LEAST_SSTHRESH * window.cwnd()).floor();
        window.set_ssthresh(window.ssthresh().max(least));
    }
}

impl Law for LinuxVegas {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack, phase: Phase) {
        if let Some(rtt) = ack.rtt {
            self.measure(rtt);
        }
        if ack.newly_acked == 0 || phase == Phase::Reducing {
            return;
        }
        let ended = if phase == Phase::Recovered {
            self.round = Round::new(ack.in_flight);
            None
        } else {
            self.end_round(ack.newly_acked, ack.in_flight)
        };
        // Only Reno's growth depends on whether cwnd is in use.
        match ended {
            Some(round) if round.samples >= LEAST_SAMPLES => {
                self.adjust(window, ack, round.min_rtt);
            }
            Some(_) if window.may_grow(ack, phase) => window.grow_as_reno(ack),
            None if window.in_slow_start() => {
                window.slow_start(ack);
            }
            _ => {}
        }
        if ack.in_flight == 0 {
            self.base_rtt = u64::MAX;
            self.round = Round::new(0);
        }
    }

    fn rest(&mut self, window: &Window, congestion: Congestion) -> f64 {
        if congestion.cause == Cause::Timeout {
            // As nothing counts as in flight any more, what is sent next begins anew.
            self.base_rtt = u64::MAX;
            self.round = Round::new(congestion.in_flight);
        }
        window.used(congestion.in_flight) / 2.0
    }

    fn inner_values(&self, record: &mut dyn FnMut(&'static str, f64)) {
        if self.base_rtt < u64::MAX {
            record("base_rtt_s", self.base_rtt as f64 / 1e6);
        }
        record("queued_packets", self.queued);
    }
}

#[cfg(test)]
mod tests;
