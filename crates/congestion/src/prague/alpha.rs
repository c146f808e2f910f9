//! The moving average of ECN feedback, and the rounds over which it is taken.

use skywave_units::{Duration, Instant};

use crate::Ack;

/// A round: it lasts until the packets in flight at its start are acknowledged or lost, and for a
/// reference round-trip time at least ("Reduced RTT-Dependence").
#[derive(Clone, Copy, Debug)]
pub(super) struct Round {
    start: Instant,
    /// Packets of its start that are not yet acknowledged or lost.
    left: u32,
}

impl Round {
    pub(super) const fn new(start: Instant, in_flight: u32) -> Self {
        Self {
            start,
            left: in_flight,
        }
    }

    /// Counts packets acknowledged or lost.
    pub(super) const fn count(&mut self, packets: u32) {
        self.left = self.left.saturating_sub(packets);
    }

    pub(super) fn is_over(&self, now: Instant, reference_rtt: Duration) -> bool {
        self.left == 0 && now - self.start >= reference_rtt
    }
}

/// alpha ("Moving Average of ECN Feedback"), of packets instead of bytes.
#[derive(Clone, Debug)]
pub(super) struct Alpha {
    pub(super) value: f64,
    gain: f64,
    round: Option<Round>,
    acked: u32,
    marked: u32,
    /// Rounds that have ended.
    pub(super) rounds: u32,
}

impl Alpha {
    pub(super) const fn new(value: f64, gain: f64) -> Self {
        Self {
            value,
            gain,
            round: None,
            acked: 0,
            marked: 0,
            rounds: 0,
        }
    }

    /// Returns to `value`, as after a timeout.
    pub(super) const fn reset(&mut self, value: f64) {
        *self = Self {
            rounds: self.rounds,
            ..Self::new(value, self.gain)
        };
    }

    /// Counts an acknowledgement with `marked` marked packets. At the end of a round it takes the
    /// fraction of the round in.
    pub(super) fn on_ack(&mut self, ack: &Ack, marked: u32, reference_rtt: Duration) {
        let round = self
            .round
            .get_or_insert_with(|| Round::new(ack.now, ack.in_flight + ack.newly_acked));
        round.count(ack.newly_acked);
        self.acked = self.acked.saturating_add(ack.newly_acked);
        self.marked = self.marked.saturating_add(marked);
        if self.acked == 0 || !round.is_over(ack.now, reference_rtt) {
            return;
        }
        *round = Round::new(ack.now, ack.in_flight);
        let fraction = f64::from(self.marked.min(self.acked)) / f64::from(self.acked);
        self.value += self.gain * (fraction - self.value);
        (self.acked, self.marked) = (0, 0);
        self.rounds = self.rounds.saturating_add(1);
    }

    /// Counts lost packets.
    pub(super) const fn on_lost(&mut self, packets: u32) {
        if let Some(round) = &mut self.round {
            round.count(packets);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(10);

    /// A round of ten packets, acknowledged one by one at `now`, with ten more in flight.
    fn round(alpha: &mut Alpha, now: Instant, marked: u32) {
        for packet in 0..10 {
            let ack = Ack::new(now, 1, 10);
            alpha.on_ack(&ack, u32::from(packet < marked), RTT);
        }
    }

    /// alpha += g * (frac - alpha), with g = 1/16.
    #[test]
    fn it_is_an_average_of_rounds() {
        let mut alpha = Alpha::new(0.0, 1.0 / 16.0);
        let mut now = Instant::ZERO;
        // The first acknowledgement begins the first round.
        round(&mut alpha, now, 0);
        let mut expected = 0.0;
        for marked in [0, 10, 5, 0] {
            now += RTT;
            round(&mut alpha, now, marked);
            if alpha.rounds > 1 {
                expected += (f64::from(marked) / 10.0 - expected) / 16.0;
            }
        }
        assert_eq!(alpha.rounds, 4);
        assert!((alpha.value - expected).abs() < 0.02, "{}", alpha.value);
    }

    #[test]
    fn a_round_lasts_for_a_reference_round_trip_at_least() {
        let mut alpha = Alpha::new(0.0, 1.0 / 16.0);
        for _ in 0..5 {
            round(&mut alpha, Instant::ZERO, 10);
        }
        assert_eq!(alpha.value, 0.0);
        round(&mut alpha, Instant::ZERO + RTT, 10);
        assert_eq!(alpha.value, 1.0 / 16.0);
    }
}
