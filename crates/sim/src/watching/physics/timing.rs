//! When a frame may leave a link, given the link's rate and delay over time.

use skywave_units::{Duration, Instant, Rate};

use skywave_path::Trace;
use skywave_scenario::Direction;

/// A link's rate and delay.
pub(super) struct Timing {
    /// In order of time, starting at zero.
    conditions: Vec<Condition>,
    /// The maximum extra delay of a frame.
    jitter: Duration,
}

/// A link's rate and delay from some time on.
struct Condition {
    since: Instant,
    rate: u128,
    delay: Duration,
    /// What the link can have sent by this time, in nanobits.
    sent: u128,
}

/// A rate in bits per second is as many nanobits per nanosecond.
const NANOBITS_PER_BIT: u128 = 1_000_000_000;

/// A time in which a link sends without a break.
#[derive(Clone, Copy)]
pub(super) struct Busy {
    since: Instant,
    /// What it has sent, in bits.
    bits: u128,
}

impl Busy {
    /// Creates a link that begins to send at this time.
    pub(super) const fn since(since: Instant) -> Self {
        Self { since, bits: 0 }
    }

    /// Adds a frame of `size` bytes behind the others.
    pub(super) const fn with(self, size: u32) -> Self {
        Self {
            bits: self.bits + 8 * size as u128,
            ..self
        }
    }
}

/// When a frame has arrived, or may arrive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Arrival {
    pub(super) at: Instant,
    /// How much later, in units of 2^-32 ns.
    pub(super) rest: u64,
}

/// When a frame may arrive.
pub(super) struct Limits {
    /// Not before the arrival of the previous frame plus its own transmission time.
    pub(super) by_rate: Arrival,
    /// Not before the end of its transmission plus the delay.
    pub(super) by_delay: Instant,
    /// Not after this.
    pub(super) latest: Instant,
}

impl Timing {
    /// Creates the timing of a link in a run of this `duration`. A trace may have infinitely many
    /// steps; those after the end of the run do not matter.
    pub(super) fn new(
        direction: &Direction<'_>,
        trace: Option<&Trace>,
        duration: Duration,
    ) -> Self {
        let end = Instant::ZERO + duration;
        let conditions: Vec<_> = match trace {
            None => vec![(Instant::ZERO, direction.rate, direction.delay)],
            Some(trace) => trace
                .conditions()
                .take_while(|condition| condition.since <= end)
                .map(|condition| (condition.since, condition.rate, condition.delay))
                .collect(),
        };
        Self::of(&conditions, direction.jitter)
    }

    /// Creates the timing of a link with these rates and delays from each time on.
    fn of(conditions: &[(Instant, Rate, Duration)], jitter: Duration) -> Self {
        let (mut last, mut last_rate, mut sent) = (Instant::ZERO, 0, 0);
        let conditions = conditions.iter().map(|&(since, rate, delay)| {
            sent += last_rate * u128::from((since - last).as_nanos());
            (last, last_rate) = (since, u128::from(rate.as_bps()));
            Condition {
                since,
                rate: last_rate,
                delay,
                sent,
            }
        });
        Self {
            conditions: conditions.collect(),
            jitter,
        }
    }

    /// Returns the index of the last condition for which this is true, or that of the first one.
    fn last(&self, has_begun: impl Fn(&Condition) -> bool) -> usize {
        let begun = self.conditions.partition_point(has_begun);
        begun.saturating_sub(1)
    }

    /// Returns in which nanosecond a link sends the last bit of its frames.
    pub(super) fn end(&self, busy: Busy) -> Instant {
        if busy.bits == 0 {
            return busy.since;
        }
        let (now, left) = self.last_bit(busy);
        let nanos = match now.rate {
            0 => u64::MAX,
            rate => u64::try_from(left / rate).unwrap_or(u64::MAX),
        };
        now.since + Duration::from_nanos(nanos)
    }

    /// Returns how much later than in [`Timing::end`] that is, in units of 2^-32 ns.
    pub(super) fn rest(&self, busy: Busy) -> u64 {
        if busy.bits == 0 {
            return 0;
        }
        let (now, left) = self.last_bit(busy);
        let rest = left.checked_rem(now.rate).unwrap_or(0) << 32;
        rest.checked_div(now.rate).unwrap_or(0) as u64
    }

    /// Returns the condition under which a link sends the last bit of its frames, and the nanobits
    /// that it has sent by then since the condition began.
    fn last_bit(&self, busy: Busy) -> (&Condition, u128) {
        let now = &self.conditions[self.last(|now| now.since <= busy.since)];
        let before = now.sent + now.rate * u128::from((busy.since - now.since).as_nanos());
        let wanted = before + busy.bits * NANOBITS_PER_BIT;
        let now = &self.conditions[self.last(|now| now.sent < wanted)];
        (now, wanted - now.sent)
    }

    /// Returns `busy` for a frame that enters the link at this time: a link that is idle by then
    /// starts over.
    pub(super) fn for_frame(&self, busy: Busy, entered: Instant) -> Busy {
        if self.end(busy) < entered {
            Busy::since(entered)
        } else {
            busy
        }
    }

    /// Returns when the transmission of the next frame begins: immediately unless the link is down.
    fn begin(&self, busy: Busy) -> Instant {
        let free = self.end(busy);
        let mut now = self.conditions[self.last(|now| now.since <= free)..].iter();
        let up = now.find(|now| now.rate > 0);
        up.map_or(Instant::MAX, |now| now.since.max(free))
    }

    /// Returns when the next frame of a link, of `size` bytes, may arrive if the previous one
    /// arrived at `ahead`.
    pub(super) fn limits(&self, busy: Busy, size: u32, ahead: Arrival) -> Limits {
        let (begins, ends) = (self.begin(busy), self.end(busy.with(size)));
        let delay = self.last_bit(busy.with(size)).0.delay;
        let lasts =
            (u128::from((ends - begins).as_nanos()) << 32) + u128::from(self.rest(busy.with(size)));
        let by_rate = u128::from(ahead.rest) + lasts.saturating_sub(self.rest(busy).into());
        let by_rate = Arrival {
            at: ahead.at + Duration::from_nanos((by_rate >> 32) as u64),
            rest: (by_rate & u128::from(u32::MAX)) as u64,
        };
        let by_delay = ends + delay;
        Limits {
            by_rate,
            by_delay,
            latest: by_rate.at.max(by_delay + self.jitter),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    fn arrived(at_ms: u64) -> Arrival {
        Arrival {
            at: ms(at_ms),
            rest: 0,
        }
    }

    /// 1000 B take 1 ms. The link is down from 10 to 20 ms, and afterwards has half the rate and a
    /// much shorter delay.
    fn timing() -> Timing {
        let [fast, slow] = [8, 4].map(|mbps| Rate::from_bps(mbps * 1_000_000));
        let conditions = [
            (ms(0), fast, Duration::from_millis(100)),
            (ms(10), Rate::from_bps(0), Duration::from_millis(100)),
            (ms(20), slow, Duration::from_millis(5)),
        ];
        Timing::of(&conditions, Duration::from_millis(3))
    }

    /// When the transmission of a frame of 1000 B begins and ends if the link is free from `free` on.
    fn transmission(free: Instant) -> (Instant, Instant) {
        let (timing, busy) = (timing(), Busy::since(free));
        (timing.begin(busy), timing.end(busy.with(1000)))
    }

    #[test]
    fn nothing_begins_while_a_link_is_out() {
        assert_eq!(transmission(ms(9)), (ms(9), ms(10)));
        assert_eq!(transmission(ms(10)), (ms(20), ms(22)));
    }

    #[test]
    fn a_transmission_goes_on_after_an_outage() {
        // Half of it before the outage, and the other half at half the rate.
        let begins = ms(9) + Duration::from_micros(500);
        assert_eq!(transmission(begins), (begins, ms(21)));
        assert_eq!(transmission(ms(1)), (ms(1), ms(2)));
    }

    #[test]
    fn frames_follow_each_other_within_a_nanosecond() {
        let timing = Timing::of(
            &[(ms(0), Rate::from_bps(400_000_000_000), Duration::ZERO)],
            Duration::ZERO,
        );
        let mut busy = Busy::since(ms(0));
        let ends = [2, 5, 7, 10, 12].map(|_| {
            busy = timing.for_frame(busy, ms(0)).with(128);
            timing.end(busy).as_nanos()
        });
        // 2.56 ns each.
        assert_eq!(ends, [2, 5, 7, 10, 12]);
        let next = timing.for_frame(busy, timing.end(busy));
        assert_eq!(timing.end(next.with(128)).as_nanos(), 15);
        let later = timing.for_frame(busy, timing.end(busy) + Duration::from_nanos(1));
        assert_eq!(timing.end(later.with(128)).as_nanos(), 15, "after a break");
    }

    #[test]
    fn a_frame_may_arrive_by_the_conditions_of_its_transmission() {
        let timing = timing();
        let limits = timing.limits(Busy::since(ms(9)), 1000, arrived(0));
        assert_eq!((limits.by_delay, limits.by_rate.at), (ms(110), ms(1)));
        assert_eq!(limits.latest, ms(113));
        // It has the delay of its end.
        let half = Busy::since(ms(9) + Duration::from_micros(500));
        assert_eq!(timing.limits(half, 1000, arrived(0)).by_delay, ms(26));
        // It may not overtake the previous frame, which takes longer.
        let limits = timing.limits(Busy::since(ms(20)), 1000, arrived(113));
        assert_eq!((limits.by_delay, limits.by_rate.at), (ms(27), ms(115)));
        assert_eq!(limits.latest, ms(115));
    }
}
