//! Loss models: packets that a link loses for reasons other than a full queue.

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Decides which arriving packets a link loses before they reach its queue. Lost packets take no
/// bandwidth (as with ns-2's `lossmodel`).
#[derive(Clone, Debug, Default, PartialEq)]
pub enum LossModel {
    /// Loses no packet.
    #[default]
    None,
    /// Loses the packets with these arrival ordinals, counting from 1, in ascending order. Every
    /// packet that arrives at the link counts, including handshakes.
    Named {
        /// The ordinals.
        ordinals: Vec<u64>,
        /// Arrivals so far.
        arrivals: u64,
        /// How many of `ordinals` have passed.
        passed: usize,
    },
    /// Loses packets at random.
    Random(Box<RandomLoss>),
}

/// Random packet loss.
#[derive(Clone, Debug, PartialEq)]
pub struct RandomLoss {
    process: LossProcess,
    /// The state of a Gilbert-Elliott channel.
    is_bad: bool,
    rng: Xoshiro256PlusPlus,
}

/// The random process that produces losses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LossProcess {
    /// Independent losses.
    Bernoulli(ErrorRate),
    /// Bursts (Gilbert 1960, Elliott 1963): a channel that is good or bad, starts good, and may
    /// change state before each packet.
    GilbertElliott {
        /// Probability that a good channel turns bad.
        good_to_bad: f64,
        /// Probability that a bad channel turns good; bad periods last 1 / `bad_to_good` packets on
        /// average.
        bad_to_good: f64,
        /// The error rate in the good state.
        good: ErrorRate,
        /// The error rate in the bad state.
        bad: ErrorRate,
    },
}

/// The probability of an error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ErrorRate {
    /// Probability that a packet is lost, regardless of its size.
    Packet(f64),
    /// Probability that a bit is wrong, independently of others; one wrong bit loses the packet.
    Bit(f64),
}

impl ErrorRate {
    /// Probability that a packet of `size` bytes is lost.
    pub fn loss_probability(self, size: u32) -> f64 {
        match self {
            Self::Packet(probability) => probability,
            // 1 - (1 - b)^(8 size), computed so that a bit error rate of 1e-17 is not rounded to
            // zero.
            Self::Bit(probability) => -(8.0 * f64::from(size) * (-probability).ln_1p()).exp_m1(),
        }
    }
}

impl LossModel {
    /// Loses the packets with these arrival ordinals (from 1). Order and repetitions do not matter.
    pub fn named(mut ordinals: Vec<u64>) -> Self {
        ordinals.sort_unstable();
        ordinals.dedup();
        Self::Named {
            ordinals,
            arrivals: 0,
            passed: 0,
        }
    }

    /// Loses packets at random; each packet draws once or twice from `rng`.
    pub fn random(process: LossProcess, rng: Xoshiro256PlusPlus) -> Self {
        Self::Random(Box::new(RandomLoss {
            process,
            is_bad: false,
            rng,
        }))
    }

    /// Counts an arrival of `size` bytes and returns whether it is lost.
    #[inline(never)]
    pub(crate) fn takes_next(&mut self, size: u32) -> bool {
        match self {
            Self::None => false,
            Self::Named {
                ordinals,
                arrivals,
                passed,
            } => {
                *arrivals += 1;
                let lost = ordinals.get(*passed) == Some(arrivals);
                *passed += usize::from(lost);
                lost
            }
            Self::Random(random) => random.takes_next(size),
        }
    }
}

impl RandomLoss {
    fn takes_next(&mut self, size: u32) -> bool {
        let errors = match self.process {
            LossProcess::Bernoulli(errors) => errors,
            LossProcess::GilbertElliott {
                good_to_bad,
                bad_to_good,
                good,
                bad,
            } => {
                let change = if self.is_bad {
                    bad_to_good
                } else {
                    good_to_bad
                };
                self.is_bad ^= self.draw() < change;
                if self.is_bad { bad } else { good }
            }
        };
        self.draw() < errors.loss_probability(size)
    }

    fn draw(&mut self) -> f64 {
        self.rng.random()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::SeedableRng;

    use super::*;

    const PACKETS: u32 = 100_000;

    fn losses(process: LossProcess, size: u32) -> Vec<bool> {
        let mut loss = LossModel::random(process, Xoshiro256PlusPlus::seed_from_u64(7));
        (0..PACKETS).map(|_| loss.takes_next(size)).collect()
    }

    fn share(losses: &[bool]) -> f64 {
        losses.iter().filter(|&&lost| lost).count() as f64 / losses.len() as f64
    }

    #[test]
    fn named_packets_are_lost_and_no_others() {
        let mut loss = LossModel::named(vec![5, 2, 2]);
        let lost: Vec<u64> = (1..=8).filter(|_| loss.takes_next(100)).collect();
        assert_eq!(lost, [2, 5]);
    }

    #[test]
    fn bernoulli_loses_the_share_that_it_is_given() {
        let lost = losses(LossProcess::Bernoulli(ErrorRate::Packet(0.01)), 1000);
        // Four standard deviations are 0.13 %.
        assert!((share(&lost) - 0.01).abs() < 0.0013, "{}", share(&lost));
        for probability in [0.0, 1.0] {
            let process = LossProcess::Bernoulli(ErrorRate::Packet(probability));
            assert!((share(&losses(process, 1000)) - probability).abs() < f64::EPSILON);
        }
    }

    #[test]
    fn of_bit_errors_a_long_packet_has_more() {
        let errors = ErrorRate::Bit(1e-6);
        let expected = 1.0 - (1.0_f64 - 1e-6).powi(8000);
        assert!((errors.loss_probability(1000) - expected).abs() < 1e-12);
        assert!((ErrorRate::Bit(1e-17).loss_probability(1000) - 8e-14).abs() < 1e-18);
        let lost = losses(LossProcess::Bernoulli(errors), 1000);
        assert!((share(&lost) - expected).abs() < 0.0012);
    }

    /// A channel that is bad for 10 of 110 packets on average, and loses all of them then.
    #[test]
    fn gilbert_elliott_loses_in_bursts() {
        let lost = losses(
            LossProcess::GilbertElliott {
                good_to_bad: 0.01,
                bad_to_good: 0.1,
                good: ErrorRate::Packet(0.0),
                bad: ErrorRate::Packet(1.0),
            },
            1000,
        );
        let bursts = lost.windows(2).filter(|pair| !pair[0] && pair[1]).count();
        let burst = share(&lost) * f64::from(PACKETS) / bursts as f64;
        assert!((share(&lost) - 1.0 / 11.0).abs() < 0.01, "{}", share(&lost));
        assert!((burst - 10.0).abs() < 1.0, "{burst}");
    }

    proptest! {
        #[test]
        fn a_loss_probability_is_one(bit_errors in 0.0..=1.0_f64, size in 0..=65_535_u32) {
            let probability = ErrorRate::Bit(bit_errors).loss_probability(size);
            prop_assert!((0.0..=1.0).contains(&probability), "{}", probability);
        }
    }
}
