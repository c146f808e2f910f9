//! This crate's disciplines, by name.

use super::Queues;
use crate::Packet;

/// Registers this crate's disciplines, with the function that users call to register theirs.
#[rustfmt::skip]
pub fn register_built_in_queues<P: Packet + Send + 'static>(queues: &mut Queues<P>) {
    queues.register(super::kind::UNLIMITED, "FIFO without a limit.", super::drop_tail_spec::UnlimitedSpec::kind);
    queues.register("drop-tail", "FIFO that drops arriving packets when full.", super::DropTailSpec::kind);
    queues.register("red", "Drops or marks at random, depending on the average queue.", super::RedSpec::kind);
    queues.register("adaptive-red", "RED that adapts its drop probability to keep the average queue near a target (Floyd, Gummadi and Shenker 2001).", super::RedSpec::adaptive_kind);
    queues.register("codel", "Drops or marks packets to keep the standing delay near a target (RFC 8289).", super::CoDelSpec::kind);
    queues.register("fq-codel", "A CoDel queue per flow, served round robin (RFC 8290).", super::FqCoDelSpec::kind);
    queues.register("pie", "Drops or marks at random, depending on the delay (RFC 8033).", super::PieSpec::kind);
    queues.register("dualpi2", "A queue for L4S and one for Classic packets, with coupled marks and drops (RFC 9332).", super::DualPi2Spec::kind);
    queues.register("step", "FIFO that marks packets while its queue is above a threshold, as for DCTCP (RFC 8257).", super::StepSpec::kind);
    queues.register_composite(super::kernel_spec::KERNEL, "A queue of the Linux kernel, for runs in real time and on virtual time.", super::KernelQueueSpec::kind);
    queues.register_composite(super::weighted::WEIGHTED, "A sub-queue per traffic class; sub-queues share the link by weight.", super::WeightedSpec::kind);
}
