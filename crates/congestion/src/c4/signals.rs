//! Congestion signals, and the thresholds above which they count (section 5). Rates of data are in
//! bytes per second, times in seconds.

/// The weight of a packet in the smoothed loss rate (section 5.3) and the smoothed CE rate.
const WEIGHT: f64 = 1.0 / 16.0;

/// A signal, with the beta by which it reduces the nominal rate (section 5.5).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Signal {
    Delay { beta: f64 },
    Losses { beta: f64 },
    Marks { beta: f64 },
}

impl Signal {
    pub(super) const fn beta(self) -> f64 {
        match self {
            Self::Delay { beta } | Self::Losses { beta } | Self::Marks { beta } => beta,
        }
    }
}

/// Returns the sensitivity coefficient of a flow with this nominal rate (section 5.1).
pub(super) fn sensitivity(rate: f64) -> f64 {
    let between = |low: f64, high: f64| ((rate - low) / (high - low)).clamp(0.0, 1.0);
    0.92 * between(5e4, 1e6) + 0.08 * between(1e6, 1e7)
}

/// Returns the delay threshold (section 5.2).
pub(super) fn delay_threshold(sensitivity: f64, nominal_max_rtt: f64, most: f64) -> f64 {
    let fraction = 1.0 / 16.0 + (1.0 - sensitivity) * 3.0 / 16.0;
    (fraction * nominal_max_rtt).min(most)
}

/// Returns the loss threshold (section 5.3).
pub(super) const fn loss_threshold(sensitivity: f64) -> f64 {
    0.02 + 0.5 * (1.0 - sensitivity)
}

/// Returns the CE threshold, which section 5.4 leaves open: that of picoquic.
pub(super) const fn ce_threshold(sensitivity: f64) -> f64 {
    (3.0 - 1.5 * sensitivity) / 16.0
}

/// A fraction of packets, averaged with a weight of 1/16 for each packet.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Smoothed(f64);

impl Smoothed {
    /// Adds `packets` packets.
    pub(super) fn add(&mut self, packets: u32, are_hit: bool) {
        let target = if are_hit { 1.0 } else { 0.0 };
        let kept = (1.0 - WEIGHT).powi(i32::try_from(packets).unwrap_or(i32::MAX));
        self.0 = target + (self.0 - target) * kept;
    }

    pub(super) const fn value(self) -> f64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Section 5.1.
    #[test]
    fn sensitivity_is_linear_between_the_corners_of_its_curve() {
        for (rate, expected) in [
            (0.0, 0.0),
            (50_000.0, 0.0),
            (525_000.0, 0.46),
            (1e6, 0.92),
            (5.5e6, 0.96),
            (1e7, 1.0),
            (1e9, 1.0),
        ] {
            let actual = sensitivity(rate);
            assert!((actual - expected).abs() < 1e-12, "{rate}: {actual}");
        }
    }

    /// Section 5.2: from a quarter to a sixteenth of the nominal max RTT, at most 25 ms.
    #[test]
    fn the_delay_threshold_is_a_fraction_of_the_nominal_max_rtt() {
        for (sensitivity, rtt, expected) in [
            (0.0, 0.08, 0.02),
            (1.0, 0.08, 0.005),
            (0.0, 1.0, 0.025),
            (1.0, 1.0, 0.025),
        ] {
            assert_eq!(delay_threshold(sensitivity, rtt, 0.025), expected);
        }
    }

    /// Section 5.3.
    #[test]
    fn the_loss_threshold_is_from_2_to_52_percent() {
        assert_eq!(loss_threshold(1.0), 0.02);
        assert_eq!(loss_threshold(0.0), 0.52);
    }

    /// Section 5.3: smoothed_loss_rate = (loss + 15*smoothed_loss_rate)/16, for each packet.
    #[test]
    fn packets_are_averaged_one_by_one() {
        let mut together = Smoothed::default();
        together.add(3, true);
        together.add(2, false);
        let one_by_one = [1.0, 1.0, 1.0, 0.0, 0.0]
            .into_iter()
            .fold(0.0, |rate, loss| (loss + 15.0 * rate) / 16.0);
        assert!((together.value() - one_by_one).abs() < 1e-15);
    }
}
