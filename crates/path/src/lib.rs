//! The path between endpoints: links, their queues, and losses.
//!
//! The crate is sans-IO and generic over [`Packet`]. The simulator uses it in simulated time with
//! its frames, the emulator in real time with real buffers. [`Link`] is a complete simplex link;
//! [`Variation`] makes its rate and delay vary. A [`Topology`] holds the routes over links, and a
//! [`Network`] moves packets along them. Randomness comes from seeded generators supplied by the
//! caller.
//!
//! A new discipline implements [`Admission`] or [`Keeps`], and [`QueueKind`]. The documentation of
//! the `queue` module shows how, with an example; [`contract`] has tests for any discipline.

pub mod contract;
mod link;
mod loss;
mod network;
mod packet;
mod queue;
mod quick_start;
mod ring;
mod trace;
mod transmitter;
mod variation;

pub use link::Link;
pub use loss::{
    BernoulliSpec, CheckedLoss, ErrorUnit, GilbertElliottSpec, Loss, LossChoice, LossKind,
    LossSpec, Losses, PacketLossSpec, loss_probability, register_built_in_losses,
};
pub use network::{Hop, Network, NetworkObserver, NoRoute, Routed, Topology, Way};
pub use packet::{CLASSES, Packet};
pub use queue::{
    AdaptiveRed, Admission, AnyQueue, Arrival, Backlog, Checked, CoDel, CoDelConfig, CoDelSpec,
    Conduct, Dialect, Discipline, DropReason, DropTail, DropTailSpec, Dropped, DualPi2,
    DualPi2Config, DualPi2Scheduler, DualPi2Spec, FqCoDel, FqCoDelConfig, FqCoDelSpec, HandsOn,
    Head, Keeps, Kept, KernelQueue, KernelQueueError, KernelQueueSpec, Limit, Line, Pie, PieConfig,
    PieSpec, Qdisc, QueueChoice, QueueKind, QueueSpec, Queues, Red, RedConfig, RedSpec,
    RedThresholds, RedWeight, Room, Step, StepSpec, StepThreshold, SubQueueSpec, Verdict, Weighted,
    WeightedSpec, Writes, register_built_in_queues,
};
pub use quick_start::QuickStartRouter;
pub use trace::{
    CheckedTrace, Condition, LeoSpec, ListedSteps, Opportunities, OutagesSpec, Steps, Trace,
    TraceChoice, TraceKind, TraceSelection, TraceStep, Traces, WifiSpec, register_built_in_traces,
};
pub use variation::Variation;
