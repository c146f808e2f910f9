//! The moving average of ECN feedback, and the rounds over which it is taken.

use skywave_units::{Duration, Instant};

use crate::marked_fraction::MarkedFraction;

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
    pub(super) fraction: MarkedFraction,
    round: Option<Round>,
    /// Rounds that have ended.
    pub(super) rounds: u32,
}

impl Alpha {
    pub(super) const fn new(value: f64, gain: f64) -> Self {
        Self {
            fraction: MarkedFraction::new(gain, value),
            round: None,
            rounds: 0,
        }
    }

    pub(super) const fn value(&self) -> f64 {
        self.fraction.average()
    }

    /// Returns to `value`, as after a timeout.
    pub(super) fn reset(&mut self, value: f64, gain: f64) {
        *self = Self {
            rounds: self.rounds,
            ..Self::new(value, gain)
        };
    }

    /// Ends an acknowledgement that has reported `acked` packets since the last one, after which
    /// `in_flight` packets are in flight. At the end of a round it takes the fraction of the round in.
    pub(super) fn on_ack(
        &mut self,
        now: Instant,
        acked: u32,
        in_flight: u32,
        reference_rtt: Duration,
    ) {
        let round = self
            .round
            .get_or_insert_with(|| Round::new(now, in_flight + acked));
        round.count(acked);
        if acked == 0 || !round.is_over(now, reference_rtt) {
            return;
        }
        *round = Round::new(now, in_flight);
        self.fraction.end_window();
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
            alpha.fraction.on_packet_acked();
            alpha.fraction.on_packets_marked(u32::from(packet < marked));
            alpha.on_ack(now, 1, 10, RTT);
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
        assert!((alpha.value() - expected).abs() < 0.02, "{}", alpha.value());
    }

    #[test]
    fn a_round_lasts_for_a_reference_round_trip_at_least() {
        let mut alpha = Alpha::new(0.0, 1.0 / 16.0);
        for _ in 0..5 {
            round(&mut alpha, Instant::ZERO, 10);
        }
        assert_eq!(alpha.value(), 0.0);
        round(&mut alpha, Instant::ZERO + RTT, 10);
        assert_eq!(alpha.value(), 1.0 / 16.0);
    }
}
