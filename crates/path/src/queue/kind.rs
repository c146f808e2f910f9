//! Disciplines by name.

use std::fmt;
use std::sync::Arc;

use rand_xoshiro::Xoshiro256PlusPlus;
use skywave_registry::{OpenSet, ParameterError};
use skywave_units::{Duration, Rate};

use super::{AnyQueue, Conduct};

/// A queue discipline with its parameters: what [`Queues`] hold by name.
pub trait QueueKind<P>: Send + Sync {
    /// What its queues may do.
    fn conduct(&self) -> Conduct;

    /// What its queues may do to packets of this class of traffic, where that differs.
    fn conduct_for(&self, class: u8) -> Conduct {
        let _ = class;
        self.conduct()
    }

    /// An empty queue at the head of a link.
    fn build(&self, head: &Head<'_>) -> AnyQueue<P>;
}

/// The disciplines that are known.
pub type Queues<P> = OpenSet<dyn QueueKind<P>>;

/// What a discipline's type of parameters makes: itself, checked.
pub type Checked<P> = Result<Arc<dyn QueueKind<P>>, ParameterError>;

/// Where a queue stands.
#[derive(Clone, Copy)]
pub struct Head<'a> {
    /// The link's name, which random streams are named after.
    pub link: &'a str,
    /// The link's rate.
    pub rate: Rate,
    /// What the queue has of it while others on the link are busy, too.
    pub share: Rate,
    /// The link's propagation delay.
    pub delay: Duration,
    /// Gives the random stream of a name: always the same.
    stream: &'a dyn Fn(&str) -> Xoshiro256PlusPlus,
    /// Which of the link's queues it is.
    index: usize,
}

impl<'a> Head<'a> {
    /// The head of a link that has this one queue. `stream` gives the random stream of a name.
    pub fn new(
        link: &'a str,
        rate: Rate,
        delay: Duration,
        stream: &'a dyn Fn(&str) -> Xoshiro256PlusPlus,
    ) -> Self {
        Self {
            link,
            rate,
            share: rate,
            delay,
            stream,
            index: 0,
        }
    }

    /// The place of a sub-queue of this index, which has `share` of the link while all are busy.
    #[must_use]
    pub const fn sub_queue(self, index: usize, share: Rate) -> Self {
        Self {
            index,
            share,
            ..self
        }
    }

    /// The queue's random stream, from its beginning.
    pub fn random(&self) -> Xoshiro256PlusPlus {
        (self.stream)(&format!("{}/queue{}", self.link, self.index))
    }
}

impl fmt::Debug for Head<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Head")
            .field("link", &self.link)
            .field("rate", &self.rate)
            .field("share", &self.share)
            .field("delay", &self.delay)
            .field("index", &self.index)
            .finish_non_exhaustive()
    }
}
