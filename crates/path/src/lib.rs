//! What stands between endpoints: links, the queues at their heads and the losses on the way.
//!
//! Everything here is sans-IO and generic over [`Packet`]: the simulator drives it on virtual time
//! with its frames, a live emulator on real time with real buffers. [`Link`] is the whole of a
//! simplex link; [`Queue`] is what a new discipline implements.

mod link;
mod loss;
mod packet;
mod queue;
#[cfg(test)]
mod testing;

pub use link::Link;
pub use loss::LossModel;
pub use packet::Packet;
pub use queue::{
    AdaptiveRed, AnyQueue, CoDel, CoDelConfig, DropReason, DropTail, Dropped, FqCoDel,
    FqCoDelConfig, Limit, Pie, PieConfig, Queue, Red, RedConfig, RedThresholds, RedWeight,
    Weighted,
};
