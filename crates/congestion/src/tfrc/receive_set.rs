//! X_recv_set: recent receive rates, which limit the sending rate (RFC 5348 section 4.3).

use std::collections::VecDeque;

use skywave_units::{Duration, Instant};

/// The number of rates above which those closer together than a round-trip time divided by this
/// number are merged into the earliest, which is the greatest.
const ENTRIES: usize = 16;

/// The part of the set that can affect its maximum: rates decrease from oldest to newest, because
/// an older and smaller rate never matters again.
#[derive(Clone, Debug)]
pub(super) struct ReceiveSet(VecDeque<(Instant, f64)>);

impl ReceiveSet {
    /// Creates the set, "first initialized to contain a single item, with value Infinity".
    pub(super) fn new(now: Instant) -> Self {
        Self(VecDeque::from([(now, f64::INFINITY)]))
    }

    /// Returns the greatest rate, in bytes per second.
    pub(super) fn max(&self) -> f64 {
        self.0.front().map_or(0.0, |&(_, rate)| rate)
    }

    /// Returns the latest rate.
    pub(super) fn latest(&self) -> f64 {
        self.0.back().map_or(0.0, |&(_, rate)| rate)
    }

    /// Adds `rate` and removes rates older than two round-trip times: "Update X_recv_set()".
    pub(super) fn update(&mut self, now: Instant, rtt: Duration, rate: f64) {
        while self.0.back().is_some_and(|&(_, other)| other <= rate) {
            self.0.pop_back();
        }
        if self.0.len() >= ENTRIES
            && let [.., (before, _), (last, _)] = *self.0.make_contiguous()
            && (last - before) * (ENTRIES as u64) < rtt
        {
            self.0.pop_back();
        }
        self.0.push_back((now, rate));
        while self.0.len() > 1 && self.0.front().is_some_and(|&(at, _)| now - at > rtt * 2) {
            self.0.pop_front();
        }
    }

    /// Keeps only the greatest rate other than Infinity, with the current time: "Maximize
    /// X_recv_set()".
    pub(super) fn maximize(&mut self, now: Instant, rate: f64) {
        let known = self.0.iter().map(|&(_, rate)| rate);
        let greatest = known.filter(|rate| rate.is_finite()).fold(rate, f64::max);
        self.replace(now, greatest);
    }

    /// Halves the rates: "Halve entries in X_recv_set."
    pub(super) fn halve(&mut self) {
        for (_, rate) in &mut self.0 {
            *rate /= 2.0;
        }
    }

    /// Replaces all rates by this one.
    pub(super) fn replace(&mut self, now: Instant, rate: f64) {
        self.0.clear();
        self.0.push_back((now, rate));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(100);

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    /// T-5: the greatest of two round-trip times, Infinity at first.
    #[test]
    fn t_5_maximum_of_two_round_trips() {
        let mut set = ReceiveSet::new(at(0));
        set.update(at(100), RTT, 0.0);
        assert_eq!(set.max(), f64::INFINITY);
        set.update(at(200), RTT, 500.0);
        assert_eq!(set.max(), f64::INFINITY, "two round-trip times, not more");
        set.update(at(201), RTT, 400.0);
        assert_eq!(set.max(), 500.0);
        set.update(at(400), RTT, 100.0);
        assert_eq!(set.max(), 500.0);
        set.update(at(401), RTT, 90.0);
        assert_eq!((set.max(), set.latest()), (400.0, 90.0));
        set.update(at(402), RTT, 600.0);
        assert_eq!((set.max(), set.latest()), (600.0, 600.0));
        for step in 0..1_000 {
            set.update(at(403), RTT, 500.0 - f64::from(step) / 10.0);
        }
        assert!(set.0.len() <= ENTRIES);
        assert_eq!((set.max(), set.latest()), (600.0, 400.1));
    }

    /// For any number of reports, the maximum covers two round-trip times to within a sixteenth of
    /// one, and the set stays small.
    #[test]
    fn any_number_of_reports() {
        let mut set = ReceiveSet::new(at(0));
        for millis in 1..2_000 {
            // Falls by one with each millisecond.
            set.update(at(millis), RTT, 10_000.0 - millis as f64);
            assert!(set.0.len() <= 3 * ENTRIES);
            let exact = 10_000.0 - (millis as f64 - 200.0);
            let max = set.max();
            assert!(max <= exact || millis <= 200);
            assert!(max >= exact - 7.0, "{max}, not {exact}");
        }
    }

    /// T-5: Maximize drops Infinity and sets the time of the greatest rate to now.
    #[test]
    fn t_5_maximize_and_halve() {
        let mut set = ReceiveSet::new(at(0));
        set.maximize(at(50), 700.0);
        assert_eq!(set.max(), 700.0);
        set.maximize(at(1_000), 300.0);
        set.update(at(1_100), RTT, 10.0);
        assert_eq!(set.max(), 700.0);
        set.halve();
        assert_eq!((set.max(), set.latest()), (350.0, 5.0));
    }
}
