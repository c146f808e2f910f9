//! How often a receiver reports, and over which time it measures X_recv.

use core::num::NonZeroU32;

use skywave_units::Duration;

/// How often a receiver reports while data arrives. Losses are reported at once all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FeedbackSchedule {
    /// Once in each round-trip time as the sender's window counter tells it (RFC 4342 section
    /// 10.3): no timer.
    WindowCounter,
    /// This many times in each round-trip time as the receiver knows it; each report covers a
    /// whole one (RFC 5348 section 6).
    PerRoundTrip(NonZeroU32),
    /// More often, the longer the round-trip time is.
    Dynamic(DynamicFeedback),
}

/// Dynamic feedback (Sarwar, Boreli, Jourjon and Lochin 2008, equation 2): N reports in a
/// round-trip time R, where N = min(max(round(R / R_ref), 1), R * X_recv / s), rounded down, and at
/// least 1.
///
/// The second term asks for a packet in each report; X_recv is the rate that was reported last, and s
/// the mean size of what arrived. N is 1 before there is such a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DynamicFeedback {
    /// R_ref: a path of this round-trip time has one report in it. The authors have 100 ms.
    pub rtt_ref: Duration,
    /// What X_recv is measured over.
    pub window: ObservationWindow,
}

/// The time over which X_recv is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ObservationWindow {
    /// O = R / N, from one report to the next (Sarwar et al. section III).
    Interval,
    /// A whole round-trip time, however many reports there are in it (RFC 5348 section 6).
    RoundTrip,
}

impl DynamicFeedback {
    /// The authors' own: R_ref = 100 ms, O = R / N.
    pub const fn sarwar2008() -> Self {
        Self {
            rtt_ref: Duration::from_millis(100),
            window: ObservationWindow::Interval,
        }
    }

    /// N, where `packets` arrive in a second.
    fn reports(&self, rtt: Duration, packets: f64) -> u64 {
        let rtt = rtt.as_secs_f64();
        let wanted = (rtt / self.rtt_ref.as_secs_f64().max(1e-9)).round();
        wanted.min(rtt * packets).max(1.0) as u64
    }
}

impl FeedbackSchedule {
    /// The time between two reports, where `packets` arrive in a second; `None` where the window
    /// counter decides.
    pub(super) fn interval(self, rtt: Duration, packets: f64) -> Option<Duration> {
        match self {
            Self::WindowCounter => None,
            Self::PerRoundTrip(reports) => Some(rtt / u64::from(reports.get())),
            Self::Dynamic(dynamic) => Some(rtt / dynamic.reports(rtt, packets)),
        }
    }

    /// The least time that a report covers.
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

    /// Equation 2: R over R_ref to the nearest integer, but no more reports than packets, and one at
    /// least.
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
