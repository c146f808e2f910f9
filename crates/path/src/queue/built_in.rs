//! The disciplines of this crate by name.

use super::Queues;
use crate::Packet;

/// Registers the disciplines of this crate, each as a user would register one of their own.
#[rustfmt::skip]
pub fn register_built_in<P: Packet + Send + 'static>(queues: &mut Queues<P>) {
    queues.register(super::spec::UNLIMITED, "First in, first out, never full.", super::drop_tail_spec::UnlimitedSpec::kind);
    queues.register("drop-tail", "First in, first out; drops what does not fit.", super::DropTailSpec::kind);
    queues.register("red", "Drops or marks at random, by the average queue.", super::RedSpec::kind);
    queues.register("adaptive-red", "RED that adapts its drop probability to a target (Floyd, Gummadi and Shenker 2001).", super::RedSpec::adaptive_kind);
    queues.register("codel", "Drops or marks what has waited too long for too long (RFC 8289).", super::CoDelSpec::kind);
    queues.register("fq-codel", "A CoDel queue for each flow, served in turn (RFC 8290).", super::FqCoDelSpec::kind);
    queues.register("pie", "Drops or marks at random, by the delay (RFC 8033).", super::PieSpec::kind);
    queues.register_composite(super::weighted::WEIGHTED, "A sub-queue for each class of traffic, which share the link by weight.", super::WeightedSpec::kind);
}
