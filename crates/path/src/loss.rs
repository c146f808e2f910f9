//! Losses: packets that a link loses for reasons other than a full queue.
//!
//! A new model implements [`Loss`] and [`LossKind`]; [`Losses`] holds the models by name.

use std::fmt;
use std::sync::Arc;

use skywave_registry::{Choice, MemberFailure, OpenSet, ParameterError, Selection};
use skywave_units::{Instant, Random};

mod bernoulli;
mod errors;
mod gilbert_elliott;
mod packets;

pub use bernoulli::BernoulliSpec;
pub use errors::{ErrorUnit, loss_probability};
pub use gilbert_elliott::GilbertElliottSpec;
pub use packets::PacketLossSpec;

/// Decides which arriving packets a link loses before they reach its queue. Lost packets take no
/// bandwidth (as with ns-2's `lossmodel`).
pub trait Loss: fmt::Debug {
    /// Returns whether the link loses the packet of `size` bytes that arrives at `now`. Called once
    /// for each packet that arrives at the link, in order.
    fn loses(&mut self, now: Instant, size: u32) -> bool;

    /// Returns why it can no longer decide, or `None` as long as it can. Whoever drives the link
    /// then stops; until it does, the contract still holds.
    fn failure(&self) -> Option<MemberFailure> {
        None
    }
}

/// A loss model with its parameters, as stored in [`Losses`].
pub trait LossKind: Send + Sync {
    /// Builds the losses of a link, before its first packet. `random` is a stream used for nothing
    /// else.
    fn build(&self, random: Random) -> Box<dyn Loss + Send>;

    /// Returns whether a check of a scenario may ask such losses about packets that nobody sends, to
    /// warn of links that lose all. Losses that may take long, or act, refuse.
    fn may_be_tried(&self) -> bool {
        true
    }

    /// Returns whether the losses of different links share state, such as a global variable or a
    /// learned model. A simulation then calls all members that do in order of time; it executes
    /// other parts of a network one after the other. Runs on other threads are not ordered.
    fn shares_state(&self) -> bool {
        false
    }
}

/// The known loss models.
pub type Losses = OpenSet<dyn LossKind>;

/// Selects a loss model.
#[derive(Clone, Copy, Debug)]
pub enum LossChoice {}

impl Choice for LossChoice {
    const KIND: &'static str = "loss model";
    const DEFINITION: &'static str = "Loss";
}

/// A loss model as written in a file: `{ bernoulli = { probability = 0.01 } }`.
pub type LossSpec = Selection<LossChoice>;

/// The checked parameters of a loss model.
pub type CheckedLoss = Result<Arc<dyn LossKind>, ParameterError>;

/// Registers this crate's loss models, with the function that users call to register theirs.
#[rustfmt::skip]
pub fn register_built_in_losses(losses: &mut Losses) {
    losses.register("packets", "The packets to lose, by order of arrival at the link, counted from 1.", PacketLossSpec::kind);
    losses.register("bernoulli", "Independent random losses of packets or bits.", BernoulliSpec::kind);
    losses.register("gilbert-elliott", "Random losses in bursts.", GilbertElliottSpec::kind);
}

#[cfg(test)]
mod testing {
    use rand::SeedableRng;

    use super::*;

    pub(super) const PACKETS: u32 = 100_000;

    /// Returns whether each of [`PACKETS`] packets of this size is lost.
    pub(super) fn losses(kind: &dyn LossKind, size: u32) -> Vec<bool> {
        let mut loss = kind.build(Random::seed_from_u64(7));
        (0..PACKETS)
            .map(|_| loss.loses(Instant::ZERO, size))
            .collect()
    }

    /// Returns the share of packets that are lost.
    pub(super) fn share(losses: &[bool]) -> f64 {
        losses.iter().filter(|&&lost| lost).count() as f64 / losses.len() as f64
    }
}
