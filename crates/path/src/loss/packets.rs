//! Loses chosen packets.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_registry::ParameterError;
use skywave_units::{Instant, Random};

use super::{CheckedLoss, Loss, LossKind};

/// The packets to lose, by order of arrival at the link, counted from 1. Order and repetitions do
/// not matter; every packet that arrives at the link counts, including handshakes.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[schemars(inline, extend("x-class" = "PacketLoss"))]
#[serde(transparent)]
pub struct PacketLossSpec(pub Vec<u64>);

impl PacketLossSpec {
    pub(super) fn kind(self) -> CheckedLoss {
        ParameterError::unless(!self.0.contains(&0), "", || {
            "packets are counted from 1: there is no packet 0".to_owned()
        })?;
        Ok(Arc::new(self))
    }
}

impl LossKind for PacketLossSpec {
    fn build(&self, _: Random) -> Box<dyn Loss + Send> {
        let mut ordinals = self.0.clone();
        ordinals.sort_unstable();
        ordinals.dedup();
        Box::new(PacketLoss {
            ordinals,
            arrivals: 0,
            passed: 0,
        })
    }
}

#[derive(Debug)]
struct PacketLoss {
    /// The packets to lose, in ascending order.
    ordinals: Vec<u64>,
    /// Arrivals so far.
    arrivals: u64,
    /// How many of `ordinals` have passed.
    passed: usize,
}

impl Loss for PacketLoss {
    fn loses(&mut self, _now: Instant, _size: u32) -> bool {
        self.arrivals += 1;
        let lost = self.ordinals.get(self.passed) == Some(&self.arrivals);
        self.passed += usize::from(lost);
        lost
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    #[test]
    fn named_packets_are_lost_and_no_others() {
        let random = Random::seed_from_u64(1);
        let mut loss = PacketLossSpec(vec![5, 2, 2]).build(random);
        let lost: Vec<u64> = (1..=8).filter(|_| loss.loses(Instant::ZERO, 100)).collect();
        assert_eq!(lost, [2, 5]);
    }
}
