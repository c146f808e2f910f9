//! When a frame may leave a link, given the link's current rate and delay.

use skywave_units::{Duration, Instant, Rate};

use skywave_path::Trace;
use skywave_scenario::Direction;

/// A link's rate and delay.
pub(super) struct Timing {
    /// Rate and delay from each time on, in order of time, starting at zero.
    conditions: Vec<(Instant, Rate, Duration)>,
    /// Whether a transmission goes on at each condition's rate.
    spans: bool,
    /// The maximum extra delay of a frame.
    jitter: Duration,
}

/// When a frame may arrive.
pub(super) struct Limits {
    /// Not before the arrival of the previous frame plus its own transmission time.
    pub(super) by_rate: Instant,
    /// Not before the start of its transmission plus transmission time and delay.
    pub(super) by_delay: Instant,
    /// Not after this.
    pub(super) latest: Instant,
}

impl Timing {
    /// The timing of a link in a run of this `duration`. A trace may have infinitely many steps;
    /// those after the end of the run do not matter.
    pub(super) fn new(
        direction: &Direction<'_>,
        trace: Option<&Trace>,
        duration: Duration,
    ) -> Self {
        let end = Instant::ZERO + duration;
        let conditions = match trace {
            None => vec![(Instant::ZERO, direction.rate, direction.delay)],
            Some(trace) => trace
                .conditions()
                .take_while(|condition| condition.since <= end)
                .map(|condition| (condition.since, condition.rate, condition.delay))
                .collect(),
        };
        Self {
            conditions,
            spans: trace.is_some_and(Trace::spans_steps),
            jitter: direction.jitter,
        }
    }

    /// Returns the rate and the delay at this time.
    fn at(&self, time: Instant) -> (Rate, Duration) {
        let passed = self
            .conditions
            .partition_point(|&(since, ..)| since <= time);
        let (_, rate, delay) = self.conditions[passed - 1];
        (rate, delay)
    }

    /// Returns the start and end of the transmission of a frame of `size` bytes if the link is free
    /// at `free`. It starts immediately unless the link is down.
    pub(super) fn transmission(&self, free: Instant, size: u32) -> (Instant, Instant) {
        let begins = if self.at(free).0.as_bps() > 0 {
            free
        } else {
            let later = self
                .conditions
                .iter()
                .find(|&&(since, rate, _)| since > free && rate.as_bps() > 0);
            later.map_or(Instant::MAX, |&(since, ..)| since)
        };
        if self.spans {
            return (begins, self.end_across_steps(begins, size));
        }
        let rate = u128::from(self.at(begins).0.as_bps()).max(1);
        // Rounded to the nearest nanosecond, as in the link.
        let nanos = (u128::from(size) * 8 * 1_000_000_000 + rate / 2) / rate;
        (begins, begins + Duration::from_nanos(nanos as u64))
    }

    /// Returns when as many bits have passed as a frame has, from `begins` on.
    fn end_across_steps(&self, begins: Instant, size: u32) -> Instant {
        // In bits times nanoseconds per second, and the end rounded down, as in the link: a packet
        // that ends a nanosecond later may miss an opportunity.
        let mut left = u128::from(size) * 8 * 1_000_000_000;
        let first = self
            .conditions
            .partition_point(|&(since, ..)| since <= begins)
            - 1;
        for (index, &(since, rate, _)) in self.conditions.iter().enumerate().skip(first) {
            let since = since.max(begins);
            let rate = u128::from(rate.as_bps());
            let until = self.conditions.get(index + 1).map(|&(until, ..)| until);
            let most = until.map_or(u128::MAX, |until| {
                rate * u128::from((until - since).as_nanos())
            });
            if left <= most
                && let Some(nanos) = left.checked_div(rate)
            {
                return since + Duration::from_nanos(nanos as u64);
            }
            left = left.saturating_sub(most);
        }
        Instant::MAX
    }

    /// Returns when a frame may arrive whose transmission began at `begun`, if the previous one
    /// arrived at `ahead`.
    pub(super) fn limits(&self, begun: Instant, size: u32, ahead: Instant) -> Limits {
        let (rate, delay) = self.at(begun);
        if self.spans {
            let ends = self.end_across_steps(begun, size);
            let rounding = Duration::from_nanos(1);
            return Limits {
                by_rate: ahead,
                by_delay: ends + delay.saturating_sub(rounding),
                latest: ahead.max(ends + delay + self.jitter) + rounding,
            };
        }
        // The transmission time in nanoseconds, rounded down.
        let nanos = u128::from(size) * 8 * 1_000_000_000 / u128::from(rate.as_bps()).max(1);
        let serialisation = Duration::from_nanos(nanos as u64);
        let by_rate = ahead + serialisation;
        let by_delay = begun + serialisation + delay;
        Limits {
            by_rate,
            by_delay,
            // One nanosecond for the rounding of the transmission time.
            latest: by_rate.max(by_delay + self.jitter) + Duration::from_nanos(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    /// 1000 B take 1 ms. The link is down from 10 to 20 ms, and afterwards has half the rate and a
    /// much shorter delay.
    fn timing() -> Timing {
        let [fast, slow] = [8, 4].map(|mbps| Rate::from_bps(mbps * 1_000_000));
        Timing {
            conditions: vec![
                (ms(0), fast, Duration::from_millis(100)),
                (ms(10), Rate::from_bps(0), Duration::from_millis(100)),
                (ms(20), slow, Duration::from_millis(5)),
            ],
            spans: false,
            jitter: Duration::from_millis(3),
        }
    }

    #[test]
    fn nothing_begins_while_a_link_is_out() {
        let timing = timing();
        assert_eq!(timing.transmission(ms(9), 1000), (ms(9), ms(10)));
        assert_eq!(timing.transmission(ms(10), 1000), (ms(20), ms(22)));
    }

    #[test]
    fn a_transmission_may_go_on_after_an_outage() {
        let spanning = Timing {
            spans: true,
            ..timing()
        };
        // Half of it before the outage, and the other half at half the rate.
        let half = Duration::from_micros(500);
        let begins = ms(9) + half;
        assert_eq!(spanning.transmission(begins, 1000), (begins, ms(21)));
        assert_eq!(spanning.transmission(ms(1), 1000), (ms(1), ms(2)));
    }

    #[test]
    fn a_frame_may_arrive_by_the_conditions_of_its_beginning() {
        let limits = timing().limits(ms(9), 1000, ms(0));
        assert_eq!((limits.by_delay, limits.by_rate), (ms(110), ms(1)));
        assert_eq!(limits.latest, ms(113) + Duration::from_nanos(1));
        // It may not overtake the previous frame, which takes longer.
        let limits = timing().limits(ms(20), 1000, ms(113));
        assert_eq!((limits.by_delay, limits.by_rate), (ms(27), ms(115)));
        assert_eq!(limits.latest, ms(115) + Duration::from_nanos(1));
    }
}
