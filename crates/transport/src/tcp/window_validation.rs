//! Congestion window validation: new CWV.
//!
//! Source: RFC 7661. Its times are measured as in section 4.5.2, without timers. The largest pipeACK
//! sample is found as in section 4.5.1. A sample begins and ends with what is in flight rather than
//! with the clock (section 4.2 permits "other equivalent methods"): in slow start, a round trip of data
//! is exactly half of cwnd, and one of time may be less if the round-trip time grows.

use skywave_units::{Duration, Instant};

use super::reassembly::Range;

/// The Non-Validated Period (section 4.4).
const NON_VALIDATED_PERIOD: Duration = Duration::from_secs(300);
/// The least pipeACK Sampling Period (section 4.2).
const LEAST_SAMPLING_PERIOD: Duration = Duration::from_secs(1);
/// The number of measurement periods in a pipeACK Sampling Period (section 4.5.1).
const MEASUREMENT_PERIODS: usize = 5;

/// Finds out whether cwnd reflects what the path was recently seen to carry, in bytes.
#[derive(Debug)]
pub(super) struct WindowValidation {
    /// IW, in segments.
    initial_cwnd: f64,
    pipe_ack: PipeAck,
    /// Half of cwnd at the last pipeACK sample, in bytes.
    enough: u64,
    /// When the non-validated phase began, if it lasts.
    since: Option<Instant>,
    /// A congestion event in that phase whose recovery is not over.
    event: Option<Event>,
    /// `since` before the last timeout, which may turn out to be spurious.
    since_before_timeout: Option<Instant>,
}

/// A congestion event in the non-validated phase.
#[derive(Debug)]
struct Event {
    /// max(pipeACK, LossFlightSize).
    used: u64,
    /// R: bytes sent again, each counted once. What is sent again out of order, such as by the rescue
    /// of RFC 6675 section 4, hides earlier data that is sent again afterwards.
    resent: u64,
    /// The byte after the last one sent again.
    resent_to: u64,
}

/// cwnd and ssthresh, in segments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Windows {
    pub(super) cwnd: f64,
    pub(super) ssthresh: f64,
}

impl WindowValidation {
    /// Creates the validation of a connection whose initial window is `initial_cwnd` segments.
    pub(super) fn new(initial_cwnd: f64) -> Self {
        Self {
            initial_cwnd,
            pipe_ack: PipeAck::default(),
            enough: 0,
            since: None,
            event: None,
            since_before_timeout: None,
        }
    }

    /// Returns whether the non-validated phase lasts.
    pub(super) const fn is_lapsed(&self) -> bool {
        self.since.is_some()
    }

    /// Returns whether pipeACK is undefined, so that the standard methods apply (section 4.3).
    pub(super) const fn is_undefined(&self) -> bool {
        self.pipe_ack.begun.is_none()
    }

    /// Learns from an acknowledgement of `acked` outside of a recovery. Everything before `max` has been
    /// sent, and the window is of `cwnd` bytes.
    pub(super) fn on_ack(
        &mut self,
        now: Instant,
        acked: Range,
        max: u64,
        srtt: Duration,
        cwnd: u64,
    ) {
        if self.pipe_ack.on_ack(now, acked, max, srtt) {
            self.enough = cwnd / 2;
            self.since_before_timeout = None;
            self.update(now, srtt);
        }
    }

    /// Enters or leaves the non-validated phase (section 4.3).
    fn update(&mut self, now: Instant, srtt: Duration) {
        let Some(pipe_ack) = self.pipe_ack.get(now, srtt) else {
            return;
        };
        if pipe_ack >= self.enough {
            self.since = None;
        } else if self.since.is_none() {
            let lapsed = self.pipe_ack.lapse(self.enough, srtt).unwrap_or(now);
            self.since = Some(lapsed.min(now));
        }
    }

    /// Notes that new data is about to leave. Returns the windows with which it does if the
    /// non-validated phase has lasted longer than permitted: reduced once for each
    /// period (section 4.4.3).
    pub(super) fn on_send(
        &mut self,
        now: Instant,
        srtt: Duration,
        windows: Windows,
    ) -> Option<Windows> {
        self.update(now, srtt);
        let mut since = self.since?;
        let mut reduced = None;
        while now - since > NON_VALIDATED_PERIOD {
            let Windows { cwnd, ssthresh } = reduced.unwrap_or(windows);
            let least = self.initial_cwnd.min(cwnd);
            let next = Windows {
                cwnd: (cwnd / 2.0).max(least),
                ssthresh: ssthresh.max(0.75 * cwnd),
            };
            since += NON_VALIDATED_PERIOD;
            if cwnd <= least {
                // Nothing is left to give up, however long the pause was.
                since = now;
            }
            reduced = Some(next);
        }
        self.since = Some(since);
        reduced
    }

    /// Notes a loss with `flight` bytes in flight. Returns max(pipeACK, LossFlightSize), in bytes, in
    /// the non-validated phase: half of it is the window of the recovery (section 4.4.1).
    pub(super) fn on_loss(&mut self, now: Instant, flight: u64, srtt: Duration) -> Option<u64> {
        let used = self.on_mark(now, flight, srtt);
        self.event = used.map(|used| Event {
            used,
            resent: 0,
            resent_to: 0,
        });
        used
    }

    /// Does the same for a mark, after which nothing is sent again.
    pub(super) fn on_mark(&mut self, now: Instant, flight: u64, srtt: Duration) -> Option<u64> {
        self.update(now, srtt);
        let is_lapsed = self.since.take().is_some();
        let pipe_ack = self.pipe_ack.get(now, srtt).unwrap_or(0);
        self.pipe_ack = PipeAck::default();
        is_lapsed.then_some(pipe_ack.max(flight))
    }

    /// Notes that the bytes from `start` to `end` are sent again.
    pub(super) fn on_resent(&mut self, start: u64, end: u64) {
        if let Some(event) = &mut self.event {
            event.resent += end.saturating_sub(start.max(event.resent_to));
            event.resent_to = event.resent_to.max(end);
        }
    }

    /// Returns cwnd and ssthresh, in bytes, after the recovery from a loss in the non-validated phase
    /// (section 4.4.1).
    pub(super) fn on_recovered(&mut self) -> Option<u64> {
        let event = self.event.take()?;
        Some(event.used.saturating_sub(event.resent) / 2)
    }

    /// Notes a timeout, which ends the non-validated phase (section 4.4).
    pub(super) fn on_timeout(&mut self) {
        self.since_before_timeout = self.since.take();
        self.event = None;
        self.pipe_ack = PipeAck::default();
    }

    /// Resumes the non-validated phase that a spurious timeout ended.
    pub(super) fn on_spurious_timeout(&mut self) {
        self.since = self.since_before_timeout.take();
    }
}

/// pipeACK: the largest number of bytes that were acknowledged within a round-trip time, in the last
/// Sampling Period. Undefined until the first sample (section 4.2).
#[derive(Debug, Default)]
struct PipeAck {
    /// The data that the sample under way measures.
    sample: Option<Range>,
    /// When the current measurement period began; `None` before the first sample.
    begun: Option<Instant>,
    /// The largest sample of each measurement period, the current one first, and when it was taken.
    largest: [(Instant, u64); MEASUREMENT_PERIODS],
}

impl PipeAck {
    fn sampling_period(srtt: Duration) -> Duration {
        LEAST_SAMPLING_PERIOD.max(srtt * 3)
    }

    /// Returns whether the acknowledgement ends a sample.
    fn on_ack(&mut self, now: Instant, acked: Range, max: u64, srtt: Duration) -> bool {
        let sample = *self.sample.get_or_insert(Range {
            start: acked.start,
            end: max,
        });
        if acked.end < sample.end {
            return false;
        }
        self.add(now, acked.end - sample.start, srtt);
        // The next one begins with the next acknowledgement, when all that this one permits has left.
        self.sample = None;
        true
    }

    fn add(&mut self, now: Instant, bytes: u64, srtt: Duration) {
        let length = Self::sampling_period(srtt) / MEASUREMENT_PERIODS as u64;
        if self.begun.is_none_or(|begun| now - begun >= length) {
            self.begun = Some(now);
            self.largest.rotate_right(1);
            self.largest[0] = (now, bytes);
        } else if bytes >= self.largest[0].1 {
            self.largest[0] = (now, bytes);
        }
    }

    fn get(&self, now: Instant, srtt: Duration) -> Option<u64> {
        self.begun?;
        let period = Self::sampling_period(srtt);
        let recent = self.largest.iter().filter(|(at, _)| now - *at <= period);
        recent.map(|(_, bytes)| *bytes).max().or(Some(0))
    }

    /// Returns when the last sample of at least `enough` bytes became too old, if there was one.
    fn lapse(&self, enough: u64, srtt: Duration) -> Option<Instant> {
        let mut samples = self.largest.iter();
        let last = samples.find(|(_, bytes)| *bytes >= enough && *bytes > 0)?;
        Some(last.0 + Self::sampling_period(srtt))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SRTT: Duration = Duration::from_millis(100);

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    /// Figure 1: samples of 5, 3, 4 and 2 with a pause between the second and the third.
    #[test]
    fn rfc7661_4_5_1_pipe_ack_is_the_largest_sample_of_the_sampling_period() {
        let mut pipe_ack = PipeAck::default();
        assert_eq!(pipe_ack.get(at(0), SRTT), None, "undefined");
        for (millis, bytes) in [(0, 5), (200, 3), (600, 4), (800, 2)] {
            pipe_ack.add(at(millis), bytes, SRTT);
        }
        assert_eq!(pipe_ack.get(at(1000), SRTT), Some(5));
        assert_eq!(
            pipe_ack.get(at(1001), SRTT),
            Some(4),
            "the first is too old"
        );
        assert_eq!(pipe_ack.get(at(1601), SRTT), Some(2));
        assert_eq!(pipe_ack.get(at(9000), SRTT), Some(0));
    }

    #[test]
    fn rfc7661_4_2_a_sample_is_what_a_round_trip_acknowledges() {
        let mut pipe_ack = PipeAck::default();
        let mut on_ack = |millis, start, end, max| {
            let ends = pipe_ack.on_ack(at(millis), Range { start, end }, max, SRTT);
            ends.then(|| pipe_ack.get(at(millis), SRTT).unwrap())
        };
        assert_eq!(on_ack(0, 1, 1001, 6001), None);
        assert_eq!(on_ack(50, 1001, 5001, 14_001), None);
        assert_eq!(on_ack(60, 5001, 7001, 16_001), Some(7000));
        // What was in flight then.
        assert_eq!(on_ack(150, 7001, 15_001, 16_001), None);
        assert_eq!(on_ack(160, 15_001, 16_001, 30_001), Some(9000));
    }

    /// The second period that has passed halves the window again, but not below IW.
    #[test]
    fn rfc7661_4_4_3_each_period_without_validation_halves_the_window() {
        let windows = |cwnd, ssthresh| Windows { cwnd, ssthresh };
        for (seconds, initial_cwnd, expected) in [
            (301, 10.0, None),
            (302, 10.0, Some(windows(40.0, 60.0))),
            (602, 10.0, Some(windows(20.0, 60.0))),
            (602, 30.0, Some(windows(30.0, 60.0))),
            (1_000_000, 10.0, Some(windows(10.0, 60.0))),
        ] {
            let mut validation = WindowValidation::new(initial_cwnd);
            let acked = Range {
                start: 1,
                end: 80_001,
            };
            validation.on_ack(at(0), acked, 80_001, SRTT, 80_000);
            // Enough for a second, and no longer.
            let now = at(seconds * 1000);
            let reduced = validation.on_send(now, SRTT, windows(80.0, 50.0));
            assert_eq!(reduced, expected, "{seconds} {initial_cwnd}");
        }
    }
}
