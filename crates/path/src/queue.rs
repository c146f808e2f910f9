//! Queue disciplines: what waits, in which order it leaves, what is marked and what is refused.
//!
//! [`DropTail`], [`Red`] (adaptive RED included), [`CoDel`], [`FqCoDel`], [`Pie`], and
//! [`Weighted`], which serves several of them side by side. They are found by name in [`Queues`], and
//! so is one of your own.
//!
//! # To add a discipline
//!
//! A discipline is one file and one line of registration. The file has the discipline, its parameters
//! (serde, with defaults), and a [`QueueKind`], which checked parameters become: what its queues may
//! do ([`Conduct`]) and how one is built. The line is a call of [`OpenSet::register`](skywave_registry::OpenSet::register); the disciplines
//! of this crate are registered by the same function, in [`register_built_in`].
//!
//! There are two kinds:
//!
//! - What is first in, first out and decides on arrival, for good, is an [`Admission`]. It is told of
//!   packets and does not have them. `drop_tail` is the model.
//! - What reorders, or drops or marks what it has taken in, [keeps](Keeps) packets until the link is
//!   ready for one, most simply in a [`Backlog`], which knows how long each has waited. `codel` is
//!   the model.
//!
//! A queue is never woken: what happens by the clock is made up for at the next call, as `pie` does.
//! A discipline draws from the random stream of its [`Head`].
//!
//! What a discipline does must be what it declares: the simulator's verifier holds it to that, and
//! so does [`contract::check`](crate::contract::check) in a test.
//!
//! This one drops a packet at random from a share of its limit on:
//!
//! ```
//! use std::sync::Arc;
//!
//! use rand::RngExt;
//! use rand_xoshiro::Xoshiro256PlusPlus;
//! use schemars::JsonSchema;
//! use serde::{Deserialize, Serialize};
//! use skywave_path::{
//!     Admission, AnyQueue, Arrival, Conduct, DropReason, Head, Limit, Line, Link, LossModel,
//!     QueueKind, QueueSpec, Queues, Verdict, register_built_in,
//! };
//! use skywave_path::contract::{self, Parcel};
//! use skywave_registry::ParameterError;
//! use skywave_units::{Duration, Instant, Rate};
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
//!     random: Xoshiro256PlusPlus,
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
//! register_built_in(&mut queues);
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
//! let stream = |_name: &str| rand::SeedableRng::seed_from_u64(1);
//! let queue = lottery.build(&Head::new("a->b", rate, delay, &stream));
//! let mut link = Link::new(queue, rate, delay, LossModel::None);
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
mod fq_codel;
mod keeps;
mod kind;
mod limit;
mod parameters;
mod pie;
mod red;
mod red_spec;
mod spec;
mod weighted;

pub use admission::{Admission, Arrival, HandsOn, Kept, Line, Verdict};
pub use any::AnyQueue;
pub use backlog::Backlog;
pub use built_in::register_built_in;
pub use codel::{CoDel, CoDelConfig, CoDelSpec};
pub use conduct::{Conduct, Dialect, Writes};
pub use drop_tail::DropTail;
pub use drop_tail_spec::DropTailSpec;
pub use fq_codel::{FqCoDel, FqCoDelConfig, FqCoDelSpec};
pub use keeps::Keeps;
pub use kind::{Checked, Head, QueueKind, Queues};
pub use limit::{Limit, Room};
pub use pie::{Pie, PieConfig, PieSpec};
pub use red::{AdaptiveRed, Red, RedConfig, RedThresholds, RedWeight};
pub use red_spec::RedSpec;
pub use spec::{QUEUE_DEFINITION, QueueSpec};
pub use weighted::{SubQueueSpec, Weighted, WeightedSpec};

use skywave_wire::Ecn;

use crate::Packet;

/// Why a packet did not get through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DropReason {
    /// The queue was full.
    Full,
    /// The discipline dropped it before the queue was full, to slow its sender down.
    Early,
    /// The link's loss model took it.
    Loss,
}

impl DropReason {
    /// The word used in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Early => "early",
            Self::Loss => "loss",
        }
    }
}

/// A packet that did not get through, handed back with the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dropped<P> {
    /// The packet.
    pub packet: P,
    /// Why.
    pub reason: DropReason,
}

/// Writes Congestion Experienced where the transport understands it (RFC 3168 section 5), and says
/// whether it does.
fn mark<P: Packet>(packet: &mut P) -> bool {
    let capable = packet.ecn().is_capable();
    if capable {
        packet.set_ecn(Ecn::Ce);
    }
    capable
}
