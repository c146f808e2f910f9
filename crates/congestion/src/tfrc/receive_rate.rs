//! X_recv: the rate at which data arrives (RFC 5348 section 6.2, RFC 4342 section 8.3).

use std::collections::VecDeque;

use skywave_units::{Duration, Instant};

/// The number of remembered reports above which those closer together than a round-trip time
/// divided by this number are merged. A rate may then cover more than the window, by up to that
/// fraction of a round-trip time.
const MARKS: usize = 16;

/// The totals at some time.
#[derive(Clone, Copy, Debug)]
struct Mark {
    at: Instant,
    bytes: u64,
    packets: u64,
}

/// A rate of arrival.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Rates {
    /// Bytes per second.
    pub(super) bytes: f64,
    /// Packets per second.
    pub(super) packets: f64,
}

/// Measures the rate at which data arrives.
#[derive(Clone, Debug, Default)]
pub(super) struct ReceiveRate {
    bytes: u64,
    packets: u64,
    /// When the latest data packet arrived.
    arrived_at: Option<Instant>,
    /// The totals when reports were sent or a silence ended, oldest first; the first entry is the
    /// start.
    marks: VecDeque<Mark>,
}

impl ReceiveRate {
    /// Records the arrival of a data packet.
    pub(super) fn on_arrival(&mut self, now: Instant, bytes: u32) {
        if self.marks.is_empty() {
            self.mark(now, Duration::ZERO);
        }
        self.bytes = self.bytes.saturating_add(bytes.into());
        self.packets += 1;
        self.arrived_at = Some(now);
    }

    /// Adds the latest expiration of RFC 5348's feedback timer that is at least a `window` before
    /// `now`, if nothing has arrived since. Call it before an arrival is recorded.
    ///
    /// That timer restarts with each report and expires once per `window`, also without data, and
    /// X_recv covers the time since such an expiration (section 6.2). A receiver without the timer
    /// would measure over the whole silence.
    pub(super) fn skip_silence(&mut self, now: Instant, window: Duration) {
        let (Some(last), Some(arrived_at)) = (self.marks.back(), self.arrived_at) else {
            return;
        };
        let since = (now - last.at).as_nanos();
        let windows = since / window.as_nanos().max(1);
        if windows < 2 {
            return;
        }
        let expired_at = last.at + window * (windows - 1);
        if arrived_at <= expired_at {
            self.mark(expired_at, window);
        }
    }

    /// Returns the rates since the latest report that is at least `window` ago; zero before there is
    /// anything to measure.
    pub(super) fn rates(&self, now: Instant, window: Duration) -> Rates {
        let covers = |mark: &&Mark| now - mark.at >= window;
        let Some(mark) = self
            .marks
            .iter()
            .rev()
            .find(covers)
            .or_else(|| self.marks.front())
        else {
            return Rates::default();
        };
        let time = (now - mark.at).max(window).as_secs_f64();
        Rates {
            bytes: (self.bytes - mark.bytes) as f64 / time,
            packets: (self.packets - mark.packets) as f64 / time,
        }
    }

    /// Records that a report was sent. Forgets marks that no rate over `rtt` or less needs.
    pub(super) fn mark(&mut self, now: Instant, rtt: Duration) {
        while let [_, second, ..] = self.marks.make_contiguous()
            && now - second.at >= rtt
        {
            self.marks.pop_front();
        }
        if self.marks.len() >= MARKS
            && let [.., before, last] = self.marks.make_contiguous()
            && (last.at - before.at) * (MARKS as u64) < rtt
        {
            self.marks.pop_back();
        }
        self.marks.push_back(Mark {
            at: now,
            bytes: self.bytes,
            packets: self.packets,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(1_000);

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    /// For any number of reports, a rate covers at most a round-trip time and the time between
    /// reports, or a sixteenth of a round-trip time if that is longer, and memory stays small.
    #[test]
    fn any_number_of_reports() {
        for reports in [1_u64, 3, 15, 16, 17, 48, 1_000] {
            let between = 1_000 / reports;
            let most = 1_000 + if reports <= 16 { between } else { 63 + between };
            let mut rate = ReceiveRate::default();
            // One byte per ms, then two.
            for millis in 0..20_000 {
                rate.on_arrival(at(millis), 1 + u32::from(millis + most >= 20_000));
                if millis % between == 0 {
                    rate.mark(at(millis), RTT);
                }
            }
            assert!(rate.marks.len() <= 2 * MARKS + 3, "{reports}");
            let over_a_round_trip = rate.rates(at(19_999), RTT).bytes;
            assert!(
                (1_998.0..=2_002.0).contains(&over_a_round_trip),
                "{reports}: {over_a_round_trip}"
            );
        }
    }

    /// RFC 5348 section 6.2: after a silence, a rate covers the time since the latest expiration of
    /// the feedback timer that is at least a round-trip time ago.
    #[test]
    fn a_rate_after_a_silence_goes_back_to_an_expiration() {
        for (silence, covered) in [
            (1_999, 1_999),
            (2_000, 1_000),
            (2_500, 1_500),
            (2_999, 1_999),
            (3_000, 1_000),
            (4_500, 1_500),
        ] {
            let mut rate = ReceiveRate::default();
            rate.on_arrival(at(0), 1_000);
            rate.mark(at(0), RTT);
            rate.skip_silence(at(silence), RTT);
            rate.on_arrival(at(silence), 1_000);
            let found = rate.rates(at(silence), RTT).bytes;
            let expected = 1e6 / f64::from(covered);
            assert!(
                (found / expected - 1.0).abs() < 1e-9,
                "{silence} ms: {found}"
            );
        }
    }
}
