//! How often a receiver reports, and over what time it measures X_recv.

use core::num::NonZeroU32;

use skywave_units::Duration;

/// How often a receiver reports while data arrives. Losses are always reported immediately.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FeedbackSchedule {
    /// Once per round-trip time according to the sender's window counter (RFC 4342 section 10.3),
    /// without a timer.
    WindowCounter,
    /// This many times per round-trip time as known to the receiver; each report covers a whole
    /// round-trip time (RFC 5348 section 6).
    PerRoundTrip(NonZeroU32),
    /// More often on longer round-trip times. [`DynamicFeedback`] also sets the measurement window
    /// for X_recv.
    Dynamic(DynamicFeedback),
}

/// Dynamic feedback (Sarwar, Boreli, Jourjon and Lochin 2008, equation 2): N reports per round-trip
/// time R, where N = min(max(round(R / R_ref), 1), R * X_recv / s), rounded down, and at least 1.
///
/// The second term requires at least one packet per report. X_recv is the last reported rate, and s
/// the mean size of the packets received. N is 1 before the first report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DynamicFeedback {
    /// R_ref: the round-trip time for which N is 1. 100 ms in the paper.
    pub rtt_ref: Duration,
    /// The measurement window for X_recv.
    pub window: ObservationWindow,
}

/// The measurement window for X_recv.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ObservationWindow {
    /// O = R / N, the time since the last report (Sarwar et al. section III).
    Interval,
    /// A whole round-trip time, regardless of the number of reports (RFC 5348 section 6).
    RoundTrip,
}

impl DynamicFeedback {
    /// Returns the paper's parameters: R_ref = 100 ms, O = R / N.
    pub const fn sarwar2008() -> Self {
        Self {
            rtt_ref: Duration::from_millis(100),
            window: ObservationWindow::Interval,
        }
    }

    /// Returns N, at an arrival rate of `packets` per second.
    fn reports(&self, rtt: Duration, packets: f64) -> u64 {
        let rtt = rtt.as_secs_f64();
        let wanted = (rtt / self.rtt_ref.as_secs_f64().max(1e-9)).round();
        wanted.min(rtt * packets).max(1.0) as u64
    }
}

impl FeedbackSchedule {
    /// Returns the interval between reports at an arrival rate of `packets` per second, or `None`
    /// if the window counter decides.
    pub(super) fn interval(self, rtt: Duration, packets: f64) -> Option<Duration> {
        match self {
            Self::WindowCounter => None,
            Self::PerRoundTrip(reports) => Some(rtt / u64::from(reports.get())),
            Self::Dynamic(dynamic) => Some(rtt / dynamic.reports(rtt, packets)),
        }
    }

    /// Returns the minimum time that a report covers.
    pub(super) fn window(self, rtt: Duration, packets: f64) -> Duration {
        match self {
            Self::Dynamic(DynamicFeedback {
                window: ObservationWindow::Interval,
                ..
            }) => self.interval(rtt, packets).unwrap_or(rtt),
            _ => rtt,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// Equation 2: R / R_ref rounded to the nearest integer, but no more reports than packets, and
    /// at least one.
    #[test]
    fn reports_per_round_trip_time() {
        let cases = [
            (1_200, 100.0, 12),
            (1_200, 5.0, 6),
            (1_200, 2.9, 3),
            (1_200, 0.1, 1),
            (1_200, 0.0, 1),
            (1_249, 1e9, 12),
            (1_250, 1e9, 13),
            (149, 1e9, 1),
            (40, 1e9, 1),
            (0, 1e9, 1),
        ];
        for (rtt, packets, reports) in cases {
            let schedule = FeedbackSchedule::Dynamic(DynamicFeedback::sarwar2008());
            let rtt = MS * rtt;
            let interval = schedule.interval(rtt, packets);
            assert_eq!(interval, Some(rtt / reports), "{rtt}, {packets} packets/s");
            assert_eq!(Some(schedule.window(rtt, packets)), interval);
            let whole = FeedbackSchedule::Dynamic(DynamicFeedback {
                window: ObservationWindow::RoundTrip,
                ..DynamicFeedback::sarwar2008()
            });
            assert_eq!(whole.interval(rtt, packets), interval);
            assert_eq!(whole.window(rtt, packets), rtt);
        }
    }
}
