//! What stands between endpoints: links, the queues at their heads and the losses on the way.
//!
//! Everything here is sans-IO and generic over [`Packet`]: the simulator drives it on virtual time
//! with its frames, a live emulator on real time with real buffers. [`Link`] is the whole of a
//! simplex link, [`Variation`] what makes its rate and delay change. What is random draws from a
//! seeded generator that is handed in.
//!
//! A new discipline implements [`Admission`] or [`Keeps`] and a [`QueueKind`]; the head of `queue`
//! says how, with an example, and [`contract`] is what it is held to.

pub mod contract;
mod link;
mod loss;
mod packet;
mod queue;
mod ring;
mod variation;

pub use link::Link;
pub use loss::{ErrorRate, LossModel, LossProcess, RandomLoss};
pub use packet::{CLASSES, Packet};
pub use queue::{
    AdaptiveRed, Admission, AnyQueue, Arrival, Backlog, Checked, CoDel, CoDelConfig, CoDelSpec,
    Conduct, Dialect, DropReason, DropTail, DropTailSpec, Dropped, FqCoDel, FqCoDelConfig,
    FqCoDelSpec, HandsOn, Head, Keeps, Kept, Limit, Line, Pie, PieConfig, PieSpec,
    QUEUE_DEFINITION, QueueKind, QueueSpec, Queues, Red, RedConfig, RedSpec, RedThresholds,
    RedWeight, Room, SubQueueSpec, Verdict, Weighted, WeightedSpec, Writes, register_built_in,
};
pub use variation::{Step, Variation};
