//! Links whose rate and delay vary.

use std::fmt;
use std::sync::Arc;

use rand::{RngExt, SeedableRng};
use skywave_units::{Duration, Instant, Random, Rate};

use crate::transmitter::Transmission;
use crate::{ListedSteps, Trace};

/// How a link's rate and delay vary: along a trace, at random, or both.
///
/// A change of the rate affects the packet in transmission: it continues at the new rate, and
/// pauses while the link is down. So the delivered bits are the integral of the rate. A packet's
/// propagation delay is the one that applies at the end of its transmission, and stays the same
/// while it is in flight.
///
/// The link stays a FIFO and never exceeds its rate: if the delay falls, packets that would
/// overtake earlier ones arrive after them, spaced by their transmission times, unless the
/// variation allows [overtaking](Variation::with_overtaking). Pauses in the middle of a
/// transmission count as part of it.
pub struct Variation {
    trace: Trace,
    /// The maximum of a uniformly distributed extra delay per packet.
    jitter: Duration,
    rng: Option<Random>,
    last_arrival: Instant,
    /// By how much the last packet arrives after it, in units of 2^-32 ns.
    last_rest: u64,
    overtaking: bool,
}

impl Variation {
    /// Creates the variation of a link that follows `trace`.
    pub const fn new(trace: Trace) -> Self {
        Self {
            trace,
            jitter: Duration::ZERO,
            rng: None,
            last_arrival: Instant::ZERO,
            last_rest: 0,
            overtaking: false,
        }
    }

    /// Creates the variation of a link whose rate and delay are constant.
    pub fn none(rate: Rate, delay: Duration) -> Self {
        let random = Random::seed_from_u64(0);
        Self::new(Trace::new(
            Arc::new(ListedSteps::new(&[])),
            rate,
            delay,
            random,
        ))
    }

    /// Adds a uniformly distributed delay of up to `most` to each packet; each packet draws once
    /// from `rng`. A delay of a few packets' transmission times is enough to break the phase
    /// effects of drop-tail queues (Floyd and Jacobson 1992).
    pub fn with_jitter(mut self, most: Duration, rng: Random) -> Self {
        self.jitter = most;
        self.rng = Some(rng);
        self
    }

    /// Lets packets overtake earlier ones when the delay falls, as after a change of route, or
    /// because of jitter.
    pub const fn with_overtaking(mut self) -> Self {
        self.overtaking = true;
        self
    }

    /// Returns the trace along which rate and delay vary.
    pub(crate) const fn trace(&self) -> &Trace {
        &self.trace
    }

    /// Returns whether rate and delay have no steps. There may be jitter.
    pub(crate) fn is_constant(&self) -> bool {
        self.trace.conditions().nth(1).is_none()
    }

    /// Returns whether packets may overtake earlier ones.
    pub(crate) const fn is_overtaking(&self) -> bool {
        self.overtaking
    }

    /// Returns the average rate from time zero to `end`.
    pub fn mean_rate(&self, end: Instant) -> Rate {
        // A century at a terabit per second, in bits times nanoseconds, fits 128 bits.
        let mut total = 0;
        let (mut since, mut rate) = (Instant::ZERO, Rate::default());
        let begun = self.trace.conditions().take_while(|next| next.since < end);
        for condition in begun {
            total += u128::from(rate.as_bps()) * u128::from((condition.since - since).as_nanos());
            (since, rate) = (condition.since, condition.rate);
        }
        total += u128::from(rate.as_bps()) * u128::from((end - since).as_nanos());
        Rate::from_bps((total / u128::from(end.as_nanos().max(1))) as u64)
    }

    /// Returns when a packet arrives if `delay` applies at the end of its transmission. The
    /// exact times of the transmission are those of `transmission` plus `rests`, in units of 2^-32 ns.
    pub(crate) fn arrival(
        &mut self,
        transmission: Transmission,
        rests: (u64, u64),
        delay: Duration,
    ) -> Instant {
        let Transmission { begins, ends } = transmission;
        let jitter = match &mut self.rng {
            Some(rng) => Duration::from_nanos(rng.random_range(0..=self.jitter.as_nanos())),
            None => Duration::ZERO,
        };
        let arrival = ends + delay + jitter;
        if self.overtaking {
            return arrival;
        }
        // Remainders add up over packets that follow one another closely.
        let (rest_before, rest) = rests;
        let length = (u128::from((ends - begins).as_nanos()) << 32) + u128::from(rest);
        let length = length.saturating_sub(rest_before.into());
        let follows = length + u128::from(self.last_rest);
        let earliest = self.last_arrival + Duration::from_nanos((follows >> 32) as u64);
        (self.last_arrival, self.last_rest) = if arrival > earliest {
            (arrival, rest)
        } else {
            (earliest, (follows & u128::from(u32::MAX)) as u64)
        };
        self.last_arrival
    }
}

impl fmt::Debug for Variation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Variation")
            .field("trace", &self.trace)
            .field("jitter", &self.jitter)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::Parcel;
    use crate::{DropTail, Limit, Link, TraceStep};

    fn ms(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    fn step(at_ms: u64, kbps: u64, delay_ms: u64) -> TraceStep {
        TraceStep {
            at: Duration::from_millis(at_ms),
            rate: Some(Rate::from_bps(kbps * 1000)),
            delay: Some(Duration::from_millis(delay_ms)),
        }
    }

    /// Returns a link that follows these steps.
    fn trace(steps: &[TraceStep]) -> Variation {
        let random = Random::seed_from_u64(0);
        Variation::new(Trace::new(
            Arc::new(ListedSteps::new(steps)),
            RATE,
            DELAY,
            random,
        ))
    }

    /// 1000 bytes take 10 ms; propagation 100 ms.
    const RATE: Rate = Rate::from_bps(800_000);
    const DELAY: Duration = Duration::from_millis(100);

    /// Returns the arrival times of packets of 1000 bytes sent at these times, in ms.
    fn arrivals(variation: Variation, at_ms: &[u64]) -> Vec<Instant> {
        let queue = DropTail::new(Limit::Unlimited);
        let mut link = Link::new(queue, RATE, DELAY).varying(variation);
        for (&at, id) in at_ms.iter().zip(0..) {
            assert!(link.enqueue(ms(at), Parcel::new(id, 1000)).is_ok());
        }
        let mut arrivals = Vec::new();
        while let Some(at) = link.deadline() {
            assert_eq!(link.dequeue(at).unwrap().id as usize, arrivals.len());
            arrivals.push(at);
        }
        arrivals
    }

    #[test]
    fn a_packet_goes_on_at_the_new_rate_and_has_the_delay_of_its_end() {
        let trace = trace(&[step(15, 400, 150)]);
        // The second takes 5 ms for its first half, and 10 ms for the other one.
        assert_eq!(arrivals(trace, &[0, 0, 0]), [ms(110), ms(175), ms(195)]);
    }

    #[test]
    fn a_packet_that_ends_at_a_step_has_the_delay_before() {
        let trace = trace(&[step(10, 800, 150)]);
        assert_eq!(arrivals(trace, &[0, 0]), [ms(110), ms(170)]);
    }

    #[test]
    fn overtaking_reorders_where_the_delay_falls() {
        let queue = DropTail::new(Limit::Packets(9));
        // The second packet's transmission ends when the delay has fallen from 100 to 20 ms.
        let variation = trace(&[step(0, 800, 100), step(15, 800, 20)]).with_overtaking();
        let mut link = Link::new(queue, RATE, DELAY).varying(variation);
        assert_eq!(link.enqueue(ms(0), Parcel::new(1, 1000)), Ok(true));
        assert_eq!(link.deadline(), Some(ms(110)));
        assert_eq!(
            link.enqueue(ms(0), Parcel::new(2, 1000)),
            Ok(true),
            "the next arrival is new"
        );
        assert_eq!(link.deadline(), Some(ms(40)));
        assert_eq!(link.enqueue(ms(0), Parcel::new(3, 1000)), Ok(false));
        let mut arrive = |at| link.dequeue(ms(at)).map(|parcel| parcel.id);
        assert_eq!(
            (arrive(40), arrive(50), arrive(109), arrive(110)),
            (Some(2), Some(3), None, Some(1))
        );
    }

    /// A packet that arrives together with earlier ones does not overtake them.
    #[test]
    fn packets_that_arrive_together_keep_their_order() {
        let queue = DropTail::new(Limit::Packets(9));
        // The transmissions end at 10 and 20 ms.
        let variation = trace(&[step(15, 800, 90)]).with_overtaking();
        let mut link = Link::new(queue, RATE, DELAY).varying(variation);
        for id in 1..=2 {
            assert_eq!(link.enqueue(ms(0), Parcel::new(id, 1000)), Ok(id == 1));
        }
        let mut arrive = || link.dequeue(ms(110)).map(|parcel| parcel.id);
        assert_eq!((arrive(), arrive()), (Some(1), Some(2)));
    }

    /// A pause is part of a transmission that has begun, not of one that begins afterwards.
    #[test]
    fn packets_held_back_are_spaced_by_their_transmission_times() {
        let trace = trace(&[step(10, 0, 100), step(60, 800, 20)]);
        // On its own, the second would arrive at 90 ms.
        assert_eq!(arrivals(trace, &[0, 0]), [ms(110), ms(120)]);
    }

    #[test]
    fn nobody_overtakes_where_the_delay_falls() {
        let trace = trace(&[step(10, 800, 20)]);
        // On their own, the second and third would arrive at 40 and 50 ms.
        assert_eq!(arrivals(trace, &[0, 10, 10]), [ms(110), ms(120), ms(130)]);
    }

    #[test]
    fn a_link_that_is_out_pauses_until_its_next_step() {
        let steps = [step(5, 0, 100), step(40, 0, 100), step(50, 800, 100)];
        assert_eq!(
            arrivals(trace(&steps), &[0, 0, 55]),
            [ms(155), ms(165), ms(175)]
        );
        // Packets that arrive in the meantime begin afterwards.
        assert_eq!(arrivals(trace(&steps), &[6, 7]), [ms(160), ms(170)]);
    }

    #[test]
    fn jitter_delays_and_keeps_the_order() {
        let jitter = Duration::from_millis(50);
        let rng = Random::seed_from_u64(1);
        let variation = Variation::none(RATE, DELAY).with_jitter(jitter, rng);
        let sent: Vec<u64> = (0..1000).map(|packet| 30 * packet).collect();
        let arrivals = arrivals(variation, &sent);
        let extra: Vec<f64> = arrivals
            .iter()
            .zip(&sent)
            .map(|(&arrival, &sent)| (arrival - ms(sent + 110)).as_secs_f64())
            .collect();
        assert!(extra.iter().all(|&extra| extra <= 0.05));
        let mean = extra.iter().sum::<f64>() / extra.len() as f64;
        // 25 ms, plus a little for packets that wait for the one ahead.
        assert!((0.024..0.028).contains(&mean), "{mean}");
        let closest = arrivals.windows(2).map(|pair| pair[1] - pair[0]).min();
        assert_eq!(closest, Some(Duration::from_millis(10)));
    }

    #[test]
    fn the_mean_rate_weighs_by_time() {
        let trace = trace(&[step(100, 0, 1), step(150, 400, 1)]);
        assert_eq!(trace.mean_rate(ms(50)), RATE);
        assert_eq!(trace.mean_rate(ms(200)), Rate::from_bps(500_000));
    }
}
