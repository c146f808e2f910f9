//! Loss models: packets that a link loses for reasons other than a full queue.

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Which arriving packets a link loses before they reach its queue: what is lost takes no bandwidth
/// (as with ns-2's `lossmodel`).
#[derive(Clone, Debug, Default, PartialEq)]
pub enum LossModel {
    /// None.
    #[default]
    None,
    /// The packets with these arrival ordinals, counted from 1 and in increasing order. Every
    /// packet that arrives at the link counts, handshakes too.
    Named {
        /// The ordinals.
        ordinals: Vec<u64>,
        /// Arrivals so far.
        arrivals: u64,
        /// How many of `ordinals` are behind us.
        passed: usize,
    },
    /// At random.
    Random(Box<RandomLoss>),
}

/// Packets lost at random.
#[derive(Clone, Debug, PartialEq)]
pub struct RandomLoss {
    process: LossProcess,
    /// Of a Gilbert-Elliott channel.
    is_bad: bool,
    rng: Xoshiro256PlusPlus,
}

/// How random losses come about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LossProcess {
    /// Each packet for itself.
    Bernoulli(ErrorRate),
    /// In bursts (Gilbert 1960, Elliott 1963): a channel that is good or bad, begins good and may
    /// change before each packet.
    GilbertElliott {
        /// Probability that a good channel becomes bad.
        good_to_bad: f64,
        /// Probability that a bad channel becomes good; a bad spell is 1 / `bad_to_good` packets
        /// long on average.
        bad_to_good: f64,
        /// Errors while it is good.
        good: ErrorRate,
        /// Errors while it is bad.
        bad: ErrorRate,
    },
}

/// How likely an error is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ErrorRate {
    /// Probability that a packet is lost, whatever its size.
    Packet(f64),
    /// Probability that a bit is wrong, each for itself; one wrong bit loses the packet.
    Bit(f64),
}

impl ErrorRate {
    /// Probability that a packet of `size` bytes is lost.
    pub fn loss_probability(self, size: u32) -> f64 {
        match self {
            Self::Packet(probability) => probability,
            // 1 - (1 - b)^(8 size); a bit error rate of 1e-17 is more than nothing.
            Self::Bit(probability) => -(8.0 * f64::from(size) * (-probability).ln_1p()).exp_m1(),
        }
    }
}

impl LossModel {
    /// Loses the packets with these arrival ordinals (from 1); order and repetition do not matter.
    pub fn named(mut ordinals: Vec<u64>) -> Self {
        ordinals.sort_unstable();
        ordinals.dedup();
        Self::Named {
            ordinals,
            arrivals: 0,
            passed: 0,
        }
    }

    /// Loses packets at random; `rng` draws once or twice for each packet.
    pub fn random(process: LossProcess, rng: Xoshiro256PlusPlus) -> Self {
        Self::Random(Box::new(RandomLoss {
            process,
            is_bad: false,
            rng,
        }))
    }

    /// Counts an arrival of `size` bytes and says whether it is lost.
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

    /// A channel that is bad for ten packets in a hundred and ten, and loses all of them then.
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
