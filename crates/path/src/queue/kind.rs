//! Disciplines by name.

use std::fmt;
use std::sync::Arc;

use skywave_registry::{Choice, DefaultChoice, OpenSet, ParameterError, Selection};
use skywave_units::{Duration, Random, Rate};

use super::{AnyQueue, Conduct, Discipline};

/// A queue discipline with its parameters, as stored in [`Queues`].
pub trait QueueKind<P>: Send + Sync {
    /// Returns the permitted behaviour of its queues.
    fn conduct(&self) -> Conduct;

    /// Returns the permitted behaviour of its queues towards packets of this traffic class; by
    /// default [`QueueKind::conduct`].
    fn conduct_for(&self, class: u8) -> Conduct {
        let _ = class;
        self.conduct()
    }

    /// Builds an empty queue for the head of a link.
    fn build(&self, head: &Head<'_>) -> AnyQueue<P>;

    /// Returns whether the queues of different links share state, such as a global variable or a
    /// learned model. A simulation then calls all members that do in order of time; it executes
    /// other parts of a network one after the other. Runs on other threads are not ordered.
    fn shares_state(&self) -> bool {
        false
    }

    /// Returns the kernel's queueing discipline for which it stands; `None` if it is one of ours. Who
    /// runs the link then opens a [`KernelQueue`](super::KernelQueue) instead of building one.
    fn of_kernel(&self) -> Option<&Discipline> {
        None
    }

    /// Returns whether its queues may run in a simulation.
    fn is_simulated(&self) -> bool {
        true
    }
}

/// The known disciplines.
pub type Queues<P> = OpenSet<dyn QueueKind<P>>;

/// Selects a discipline.
#[derive(Clone, Copy, Debug)]
pub enum QueueChoice {}

impl Choice for QueueChoice {
    const KIND: &'static str = "queue discipline";
    const DEFINITION: &'static str = "Queue";
}

/// The name of the unlimited queue, which is a link's default.
pub(super) const UNLIMITED: &str = "unlimited";

impl DefaultChoice for QueueChoice {
    const DEFAULT: &'static str = UNLIMITED;
}

/// A discipline as written in a file: `"unlimited"` or `{ red = { packets = 50 } }`.
pub type QueueSpec = Selection<QueueChoice>;

/// The checked parameters of a discipline.
pub type Checked<P> = Result<Arc<dyn QueueKind<P>>, ParameterError>;

/// The link that a queue belongs to.
#[derive(Clone, Copy)]
pub struct Head<'a> {
    /// The link's name, from which random streams are derived.
    pub link: &'a str,
    /// The link's rate.
    pub rate: Rate,
    /// The queue's share of that rate while the link's other queues are busy too.
    pub share: Rate,
    /// The link's propagation delay.
    pub delay: Duration,
    /// Returns the random stream for a name, always the same one.
    stream: &'a dyn Fn(&str) -> Random,
    /// The index of the queue among the link's queues.
    index: usize,
}

impl<'a> Head<'a> {
    /// Creates the head of a link with a single queue. `stream` returns the random stream for a
    /// name.
    pub fn new(
        link: &'a str,
        rate: Rate,
        delay: Duration,
        stream: &'a dyn Fn(&str) -> Random,
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

    /// Returns the head for sub-queue `index`, which gets `share` of the link while all are busy.
    #[must_use]
    pub const fn sub_queue(self, index: usize, share: Rate) -> Self {
        Self {
            index,
            share,
            ..self
        }
    }

    /// Returns the queue's random stream, from its start.
    pub fn random(&self) -> Random {
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
