//! Queue disciplines: which packets are refused, marked or delayed, and in which order they leave.
//!
//! The disciplines are [`DropTail`], [`Red`] (including adaptive RED), [`CoDel`], [`FqCoDel`],
//! [`Pie`], [`DualPi2`], and [`Weighted`], which serves several of them side by side. They are looked
//! up by name in [`Queues`]; you can register your own.
//!
//! # Adding a discipline
//!
//! A discipline is one file plus one call. The file contains the discipline, its parameters (serde,
//! with defaults), and a [`QueueKind`] built from checked parameters, which declares the behaviour
//! of its queues ([`Conduct`]) and builds them. The call is
//! [`OpenSet::register`](skywave_registry::OpenSet::register), which [`register_built_in_queues`]
//! uses too.
//!
//! There are two kinds:
//!
//! - A FIFO that makes its final decision on arrival is an [`Admission`]. It is notified of packets
//!   but does not hold them. See `drop_tail` for a model.
//! - A discipline that reorders, or that drops or marks accepted packets, [keeps](Keeps) them until
//!   the link is ready, most simply in a [`Backlog`], which knows how long each has waited. See
//!   `codel` for a model.
//!
//! A queue has no timer: work that depends on the clock is done at the next call, as in `pie`. A
//! discipline draws from the random stream of its [`Head`].
//!
//! A discipline must do exactly what it declares. The simulator's verifier checks this in every
//! run, and [`contract::check`](crate::contract::check) in a test.
//!
//! This example drops packets at random once the queue is fuller than a given fraction of its limit
//! (`examples/own_queue.rs` is a complete program):
//!
//! ```
//! use std::sync::Arc;
//!
//! # mod skywave {
//! #     pub use rand;
//! #     pub use {skywave_path as path, skywave_registry as registry, skywave_units as units};
//! # }
//! use schemars::JsonSchema;
//! use serde::{Deserialize, Serialize};
//! use skywave::path::{
//!     Admission, AnyQueue, Arrival, Conduct, DropReason, Head, Limit, Line, Link,
//!     QueueKind, QueueSpec, Queues, Verdict, register_built_in_queues,
//! };
//! use skywave::path::contract::{self, Parcel};
//! use skywave::rand::{RngExt, SeedableRng};
//! use skywave::registry::ParameterError;
//! use skywave::units::{Duration, Instant, Random, Rate};
//!
//! #[derive(JsonSchema, Serialize, Deserialize)]
//! #[serde(deny_unknown_fields)]
//! struct Lottery {
//!     packets: u32,
//!     #[serde(default = "half")]
//!     free: f64,
//! }
//!
//! fn half() -> f64 {
//!     0.5
//! }
//!
//! impl<P> QueueKind<P> for Lottery {
//!     fn conduct(&self) -> Conduct {
//!         Conduct {
//!             drops_early: true,
//!             ..Conduct::fifo(Limit::Packets(self.packets))
//!         }
//!     }
//!
//!     fn build(&self, head: &Head<'_>) -> AnyQueue<P> {
//!         AnyQueue::admission(LotteryQueue {
//!             most: self.packets as usize,
//!             free: self.free,
//!             random: head.random(),
//!         })
//!     }
//! }
//!
//! struct LotteryQueue {
//!     most: usize,
//!     free: f64,
//!     random: Random,
//! }
//!
//! impl Admission for LotteryQueue {
//!     fn admit(
//!         &mut self,
//!         _now: Instant,
//!         line: &mut Line<'_>,
//!         _arrival: Arrival,
//!     ) -> Result<Verdict, DropReason> {
//!         let fill = line.packets() as f64 / self.most as f64;
//!         if fill >= 1.0 {
//!             Err(DropReason::Full)
//!         } else if fill > self.free && self.random.random::<f64>() < fill {
//!             Err(DropReason::Early)
//!         } else {
//!             Ok(Verdict::Keep)
//!         }
//!     }
//! }
//!
//! let mut queues: Queues<Parcel> = Queues::new("queue discipline");
//! register_built_in_queues(&mut queues);
//! queues.register("lottery", "Drops at random.", |lottery: Lottery| {
//!     let is_share = (0.0..=1.0).contains(&lottery.free);
//!     ParameterError::unless(is_share, "free", || "between 0 and 1".to_owned())?;
//!     Ok(Arc::new(lottery))
//! });
//!
//! let spec: QueueSpec = serde_json::from_str(r#"{ "lottery": { "packets": 10 } }"#)?;
//! let lottery = spec.read(&queues)?;
//! contract::check(&*lottery, 1)?;
//!
//! let (rate, delay) = (Rate::from_bps(8_000_000), Duration::from_millis(10));
//! let stream = |_name: &str| Random::seed_from_u64(1);
//! let queue = lottery.build(&Head::new("a->b", rate, delay, &stream));
//! let mut link = Link::new(queue, rate, delay);
//! let taken = (0..20).filter(|&id| link.enqueue(Instant::ZERO, Parcel::new(id, 1000)).is_ok());
//! assert!((6..=11).contains(&taken.count()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod admission;
mod any;
mod backlog;
mod built_in;
mod codel;
mod conduct;
mod drop_tail;
mod drop_tail_spec;
mod dualpi2;
mod fq_codel;
mod keeps;
mod kernel;
mod kernel_spec;
mod kind;
mod limit;
mod parameters;
mod pie;
mod red;
mod red_spec;
mod step;
mod weighted;

pub use admission::{Admission, Arrival, HandsOn, Kept, Line, Verdict};
pub use any::AnyQueue;
pub use backlog::Backlog;
pub use built_in::register_built_in_queues;
pub use codel::{CoDel, CoDelConfig, CoDelSpec};
pub use conduct::{Conduct, Dialect, Writes};
pub use drop_tail::DropTail;
pub use drop_tail_spec::DropTailSpec;
pub use dualpi2::{DualPi2, DualPi2Config, DualPi2Scheduler, DualPi2Spec};
pub use fq_codel::{FqCoDel, FqCoDelConfig, FqCoDelSpec};
pub use keeps::Keeps;
pub use kernel::{Discipline, KernelQueue, KernelQueueError, Qdisc};
pub use kernel_spec::KernelQueueSpec;
pub use kind::{Checked, Head, QueueChoice, QueueKind, QueueSpec, Queues};
pub use limit::{Limit, Room};
pub use pie::{Pie, PieConfig, PieSpec};
pub use red::{AdaptiveRed, Red, RedConfig, RedThresholds, RedWeight};
pub use red_spec::RedSpec;
pub use step::{Step, StepSpec, StepThreshold};
pub use weighted::{SubQueueSpec, Weighted, WeightedSpec};

use skywave_wire::Ecn;

use crate::Packet;

/// The reason why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DropReason {
    /// The queue was full.
    Full,
    /// The discipline dropped it before the queue was full, to slow down its sender.
    Early,
    /// The link's loss model lost it.
    Loss,
    /// A NAT in front of the link found no connection for it.
    Nat,
}

impl DropReason {
    /// Returns the word used in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Early => "early",
            Self::Loss => "loss",
            Self::Nat => "nat",
        }
    }
}

/// A dropped packet, returned with the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Dropped<P> {
    /// The packet.
    pub packet: P,
    /// The reason.
    pub reason: DropReason,
}

impl<P> Dropped<P> {
    /// Returns `packet` as dropped for `reason`.
    #[inline]
    pub const fn new(packet: P, reason: DropReason) -> Self {
        Self { packet, reason }
    }
}

/// Writes Congestion Experienced if the transport supports it (RFC 3168 section 5). Returns whether
/// it does.
fn mark<P: Packet>(packet: &mut P) -> bool {
    let capable = packet.ecn().is_capable();
    if capable {
        packet.set_ecn(Ecn::Ce);
    }
    capable
}
