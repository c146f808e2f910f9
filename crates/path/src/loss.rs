//! Loss models: packets that a link loses for reasons other than a full queue.

/// Which arriving packets a link loses before they reach its queue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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

    /// Counts an arrival and says whether it is lost.
    pub(crate) fn takes_next(&mut self) -> bool {
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
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_packets_are_lost_and_no_others() {
        let mut loss = LossModel::named(vec![5, 2, 2]);
        let lost: Vec<u64> = (1..=8).filter(|_| loss.takes_next()).collect();
        assert_eq!(lost, [2, 5]);
    }
}
