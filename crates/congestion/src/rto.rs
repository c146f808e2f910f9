//! Round-trip time estimation and retransmission timeout (RFC 6298).

use skywave_units::{Duration, Instant};

/// The resolution of round-trip times and timeouts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Clocking {
    /// Nanoseconds, with the arithmetic of RFC 6298.
    Exact,
    /// A timer with this period, as in BSD and ns-2. A sample is the number of ticks between
    /// sending and acknowledgement, at least one. SRTT and RTTVAR are integers with three and two
    /// fractional bits. The RTO is a whole number of ticks, at least two. After four consecutive
    /// back-offs, SRTT is added to RTTVAR and then discarded.
    Ticks(Duration),
}

/// Parameters of [`RttEstimator`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RtoConfig {
    /// Resolution.
    pub clocking: Clocking,
    /// The offset of the epoch within a tick; only for [`Clocking::Ticks`]. ns-2 draws it at random
    /// for each connection.
    pub tick_phase: Duration,
    /// G of RFC 6298, the minimum that RTTVAR adds to SRTT; only for [`Clocking::Exact`].
    pub granularity: Duration,
    /// RTO before the first sample.
    pub initial: Duration,
    /// Lower bound, applied before back-off.
    pub min: Duration,
    /// Upper bound, applied after back-off.
    pub max: Duration,
}

impl RtoConfig {
    /// Returns the parameters of RFC 6298: initially 1 s, between 1 s and 60 s.
    pub const fn rfc6298() -> Self {
        Self {
            clocking: Clocking::Exact,
            tick_phase: Duration::ZERO,
            granularity: Duration::from_millis(1),
            initial: Duration::from_secs(1),
            min: Duration::from_secs(1),
            max: Duration::from_secs(60),
        }
    }

    /// Returns the parameters of Linux 6.12's TCP: RFC 6298's, but RTTVAR adds at least 200 ms to
    /// SRTT (`tcp_rto_min`), and the upper bound is 120 s.
    pub const fn linux() -> Self {
        Self {
            granularity: Duration::from_millis(200),
            min: Duration::from_millis(200),
            max: Duration::from_secs(120),
            ..Self::rfc6298()
        }
    }

    /// Returns the parameters of ns-2.35's TCP: ticks of 10 ms, initially 3 s, between 200 ms and
    /// 60 s.
    pub const fn ns2_tcp() -> Self {
        Self {
            clocking: Clocking::Ticks(Duration::from_millis(10)),
            tick_phase: Duration::ZERO,
            granularity: Duration::from_millis(10),
            initial: Duration::from_secs(3),
            min: Duration::from_millis(200),
            max: Duration::from_secs(60),
        }
    }
}

/// Estimates the round-trip time and computes the RTO.
///
/// The caller must not pass samples of retransmitted packets (Karn's rule).
#[derive(Clone, Debug)]
pub struct RttEstimator {
    /// A [`Clock`] in pieces, which leave room for `back_offs` beside the last.
    unit: Duration,
    phase: Duration,
    has_ticks: bool,
    min: Duration,
    max: Duration,
    /// 8 SRTT, in nanoseconds or ticks; 0 before the first sample.
    srtt_x8: i64,
    /// 4 RTTVAR, in nanoseconds or ticks.
    rttvar_x4: i64,
    /// The RTO with back-off and lower bound applied, but not the other bounds. Cached because it
    /// is read far more often than it changes.
    backed_off: Duration,
    /// The number of back-offs since the last sample.
    back_offs: u32,
}

/// A [`Clocking`] with the parameters that apply to it.
#[derive(Clone, Copy, Debug)]
enum Clock {
    Exact { granularity: Duration },
    Ticks { tick: Duration, phase: Duration },
}

/// Samples are clamped to this value (36 years), so that sums cannot overflow.
const MAX_SAMPLE: i64 = i64::MAX / 8;

impl RttEstimator {
    /// Creates an estimator without samples.
    pub fn new(config: RtoConfig) -> Self {
        let (unit, has_ticks) = match config.clocking {
            Clocking::Exact => (config.granularity, false),
            Clocking::Ticks(tick) => (tick, true),
        };
        let mut estimator = Self {
            unit,
            phase: config.tick_phase,
            has_ticks,
            min: config.min,
            max: config.max,
            srtt_x8: 0,
            rttvar_x4: 0,
            backed_off: Duration::ZERO,
            back_offs: 0,
        };
        estimator.start_from(config.initial);
        estimator
    }

    const fn clock(&self) -> Clock {
        if self.has_ticks {
            Clock::Ticks {
                tick: self.unit,
                phase: self.phase,
            }
        } else {
            Clock::Exact {
                granularity: self.unit,
            }
        }
    }

    /// Resets the back-off; the RTO becomes `base`, within its bounds.
    fn start_from(&mut self, base: Duration) {
        self.back_offs = 0;
        // A zero timeout could not even be backed off.
        self.backed_off = base.max(self.min).max(Duration::from_nanos(1));
    }

    /// Processes the round-trip time of a packet sent at `sent_at`, and resets the back-off.
    pub fn on_sample(&mut self, sent_at: Instant, rtt: Duration) {
        let nanos = i64::try_from(rtt.as_nanos())
            .unwrap_or(i64::MAX)
            .min(MAX_SAMPLE);
        match self.clock() {
            Clock::Exact { granularity } => self.on_exact_sample(nanos.max(1), granularity),
            Clock::Ticks { tick, phase } => {
                self.on_ticks_sample(sent_at + phase, nanos as u64, tick);
            }
        }
    }

    /// Updates SRTT and RTTVAR with a sample, as in RFC 6298 section 2, steps 2.2 and 2.3.
    fn on_exact_sample(&mut self, sample: i64, granularity: Duration) {
        if self.srtt_x8 == 0 {
            self.srtt_x8 = sample * 8;
            self.rttvar_x4 = sample * 2;
        } else {
            let error = (self.srtt_x8 / 8 - sample).abs();
            self.rttvar_x4 += error - self.rttvar_x4 / 4;
            self.srtt_x8 += sample - self.srtt_x8 / 8;
        }
        let margin = (self.rttvar_x4 as u64).max(granularity.as_nanos());
        let srtt = Duration::from_nanos(self.srtt_x8 as u64 / 8);
        self.start_from(srtt + Duration::from_nanos(margin));
    }

    fn on_ticks_sample(&mut self, sent_at: Instant, nanos: u64, tick: Duration) {
        let period = tick.as_nanos().max(1);
        let into_tick = sent_at.as_nanos() % period;
        let sample = ((into_tick + nanos) / period).max(1) as i64;
        if self.srtt_x8 == 0 {
            self.srtt_x8 = sample * 8;
            self.rttvar_x4 = sample * 2;
        } else {
            let error = sample - (self.srtt_x8 >> 3);
            self.srtt_x8 = (self.srtt_x8 + error).max(1);
            let change = error.abs() - (self.rttvar_x4 >> 2);
            self.rttvar_x4 = (self.rttvar_x4 + change).max(1);
        }
        self.start_from(tick * ((self.srtt_x8 + (self.rttvar_x4 << 3)) as u64 >> 3));
    }

    /// Doubles the RTO after it has expired (RFC 6298 step 5.5), until the next sample.
    pub fn back_off(&mut self) {
        if self.rto() < self.max {
            self.back_offs += 1;
            self.backed_off = self.backed_off * 2;
        }
        if matches!(self.clock(), Clock::Ticks { .. }) && self.back_offs > 3 {
            self.rttvar_x4 += self.srtt_x8 >> 3;
            self.srtt_x8 = 0;
        }
    }

    /// Returns the retransmission timeout.
    pub fn rto(&self) -> Duration {
        let rto = self.backed_off.min(self.max);
        match self.clock() {
            Clock::Exact { .. } => rto,
            Clock::Ticks { tick, .. } => rto.max(tick * 2),
        }
    }

    /// Returns the smoothed round-trip time, or `None` before the first sample.
    pub fn srtt(&self) -> Option<Duration> {
        (self.srtt_x8 != 0).then(|| self.in_time(self.srtt_x8, 8))
    }

    /// Returns the mean deviation of the round-trip time, or `None` before the first sample.
    pub fn rttvar(&self) -> Option<Duration> {
        (self.rttvar_x4 != 0).then(|| self.in_time(self.rttvar_x4, 4))
    }

    fn in_time(&self, sum: i64, scale: u64) -> Duration {
        match self.clock() {
            Clock::Exact { .. } => Duration::from_nanos(sum as u64 / scale),
            Clock::Ticks { tick, .. } => tick * (sum as u64) / scale,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn exact() -> RttEstimator {
        RttEstimator::new(RtoConfig {
            min: MS * 200,
            ..RtoConfig::rfc6298()
        })
    }

    /// Feeds samples whose packets all left at a tick.
    fn feed(estimator: &mut RttEstimator, millis: &[u64]) {
        for &sample in millis {
            estimator.on_sample(Instant::ZERO, MS * sample);
        }
    }

    #[test]
    fn starts_with_the_initial_timeout() {
        let estimator = exact();
        assert_eq!(estimator.rto(), Duration::from_secs(1));
        assert_eq!((estimator.srtt(), estimator.rttvar()), (None, None));
    }

    // RFC 6298 section 2, worked by hand: 100, then 200, then 100 ms.
    // 1: SRTT 100, RTTVAR 50, RTO 100 + 200.
    // 2: RTTVAR 3/4 50 + 1/4 100 = 62.5, SRTT 7/8 100 + 1/8 200 = 112.5, RTO 112.5 + 250.
    // 3: RTTVAR 3/4 62.5 + 1/4 12.5 = 50, SRTT 7/8 112.5 + 1/8 100 = 110.9375, RTO 310.9375.
    #[test]
    fn follows_a_sequence_worked_by_hand() {
        let mut estimator = exact();
        for (sample, srtt, rttvar, rto) in [
            (100, 100_000, 50_000, 300_000),
            (200, 112_500, 62_500, 362_500),
            (100, 110_937, 50_000, 310_937),
        ] {
            feed(&mut estimator, &[sample]);
            assert_eq!(estimator.srtt().map(Duration::as_micros), Some(srtt));
            assert_eq!(estimator.rttvar().map(Duration::as_micros), Some(rttvar));
            assert_eq!(estimator.rto().as_micros(), rto);
        }
    }

    #[test]
    fn granularity_is_the_least_margin() {
        let mut estimator = exact();
        feed(&mut estimator, &[400; 200]);
        assert_eq!(estimator.rto(), MS * 401);
    }

    // C2-6: the back-off is kept until there is a new sample, and it is bounded.
    #[test]
    fn back_off_doubles_until_a_sample() {
        let mut estimator = exact();
        feed(&mut estimator, &[100]);
        for rto in [600, 1200, 2400, 4800, 9600, 19_200, 38_400, 60_000, 60_000] {
            estimator.back_off();
            assert_eq!(estimator.rto(), MS * rto);
        }
        feed(&mut estimator, &[100]);
        assert!(estimator.rto() < MS * 300);
    }

    #[test]
    fn the_minimum_is_applied_before_back_off() {
        let mut estimator = exact();
        feed(&mut estimator, &[10; 50]);
        assert_eq!(estimator.rto(), MS * 200);
        estimator.back_off();
        assert_eq!(estimator.rto(), MS * 400);
    }

    // BSD arithmetic worked by hand with ticks of 10 ms. 205 ms is 20 ticks: SRTT 20, RTTVAR 10,
    // RTO 60. 300 ms: error 10, 8 SRTT = 170, 4 RTTVAR = 40 + 10 - 10, RTO = (170 + 320) / 8 = 61.
    // 200 ms: SRTT is taken as 21, error -1, 8 SRTT = 169, 4 RTTVAR = 40 + 1 - 10 = 31,
    // RTO = (169 + 248) / 8 = 52.
    #[test]
    fn ticks_follow_a_sequence_worked_by_hand() {
        let mut estimator = RttEstimator::new(RtoConfig::ns2_tcp());
        assert_eq!(estimator.rto(), Duration::from_secs(3));
        for (sample, rto) in [(205, 600), (300, 610), (200, 520)] {
            feed(&mut estimator, &[sample]);
            assert_eq!(estimator.rto(), MS * rto);
        }
        assert_eq!(estimator.srtt(), Some(Duration::from_micros(211_250)));
    }

    #[test]
    fn a_sample_in_ticks_counts_the_ticks_that_fell() {
        let mut estimator = RttEstimator::new(RtoConfig::ns2_tcp());
        estimator.on_sample(Instant::from_nanos(9_000_000), MS * 2);
        assert_eq!(estimator.srtt(), Some(MS * 10));
        let phased = RtoConfig {
            tick_phase: MS * 6,
            ..RtoConfig::ns2_tcp()
        };
        let mut estimator = RttEstimator::new(phased);
        estimator.on_sample(Instant::from_nanos(3_000_000), MS * 11);
        assert_eq!(estimator.srtt(), Some(MS * 20));
    }

    #[test]
    fn four_back_offs_give_srtt_up() {
        let mut estimator = RttEstimator::new(RtoConfig::ns2_tcp());
        feed(&mut estimator, &[200]);
        for _ in 0..3 {
            estimator.back_off();
        }
        assert_eq!(estimator.srtt(), Some(MS * 200));
        estimator.back_off();
        assert_eq!(estimator.srtt(), None);
        assert_eq!(estimator.rto(), MS * 600 * 16);
        feed(&mut estimator, &[300]);
        assert_eq!(
            (estimator.srtt(), estimator.rto()),
            (Some(MS * 300), MS * 900)
        );
    }

    /// ns-2's `rtt_backoff`: "t_rttvar_ += (t_srtt_ >> T_SRTT_BITS); t_srtt_ = 0", where RTTVAR has two
    /// fractional bits.
    #[test]
    fn srtt_that_is_given_up_adds_to_rttvar() {
        let mut estimator = RttEstimator::new(RtoConfig::ns2_tcp());
        feed(&mut estimator, &[200]);
        assert_eq!(estimator.rttvar(), Some(MS * 100));
        for _ in 0..4 {
            estimator.back_off();
        }
        assert_eq!(estimator.rttvar(), Some(MS * (100 + 200 / 4)));
    }

    #[test]
    fn a_timeout_in_ticks_is_at_least_two() {
        let estimator = RttEstimator::new(RtoConfig {
            initial: MS,
            min: Duration::ZERO,
            ..RtoConfig::ns2_tcp()
        });
        assert_eq!(estimator.rto(), MS * 20);
    }

    proptest! {
        #[test]
        fn timeouts_stay_within_their_bounds(
            ticks in any::<bool>(),
            steps in proptest::collection::vec(proptest::option::of(any::<u64>()), 0..100),
            sent_at in any::<u64>(),
        ) {
            let config = if ticks { RtoConfig::ns2_tcp() } else { RtoConfig::rfc6298() };
            let mut estimator = RttEstimator::new(config);
            for step in steps {
                let before = estimator.rto();
                match step {
                    Some(rtt) => estimator.on_sample(
                        Instant::from_nanos(sent_at),
                        Duration::from_nanos(rtt),
                    ),
                    None => {
                        estimator.back_off();
                        prop_assert!(estimator.rto() >= before);
                    }
                }
                prop_assert!(estimator.rto() >= config.min && estimator.rto() <= config.max);
            }
        }

        #[test]
        fn srtt_lies_among_the_samples(samples in proptest::collection::vec(1..5_000u64, 1..100)) {
            let mut estimator = exact();
            feed(&mut estimator, &samples);
            let [low, high] = [samples.iter().min(), samples.iter().max()].map(|sample| {
                MS * sample.copied().unwrap_or_default()
            });
            let srtt = estimator.srtt().unwrap();
            prop_assert!(srtt + Duration::from_nanos(1) >= low && srtt <= high);
            prop_assert!(estimator.rto() >= srtt);
        }
    }
}
