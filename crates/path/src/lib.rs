//! What stands between endpoints: links, the queues at their heads and the losses on the way.
//!
//! Everything here is sans-IO and generic over [`Packet`]: the simulator drives it on virtual time
//! with its frames, a live emulator on real time with real buffers. [`Link`] is the whole of a
//! simplex link, [`Variation`] what makes its rate and delay change; [`Queue`] is what a new discipline
//! implements. What is random draws from a seeded generator that is handed in.

mod link;
mod loss;
mod packet;
mod queue;
mod ring;
#[cfg(test)]
mod testing;
mod variation;

pub use link::Link;
pub use loss::{ErrorRate, LossModel, LossProcess, RandomLoss};
pub use packet::Packet;
pub use queue::{
    AdaptiveRed, AnyQueue, CoDel, CoDelConfig, DropReason, DropTail, Dropped, FqCoDel,
    FqCoDelConfig, Limit, Mpcp, Pie, PieConfig, Queue, Red, RedConfig, RedThresholds, RedWeight,
    Weighted,
};
pub use variation::{Step, Variation};
