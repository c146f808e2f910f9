//! Sources, and the set of their kinds.

use std::fmt;
use std::sync::Arc;

use skywave_registry::{Choice, MemberFailure, OpenSet, ParameterError, Selection};
use skywave_units::{Duration, Instant, Random};

use crate::{Carrier, Codec, Journal, SendingEnd};

/// The sending application of a flow.
pub trait Source: fmt::Debug + Send {
    /// Returns when it first acts.
    fn begins(&self) -> Instant;

    /// Acts at the time it has asked for, and returns when it acts next, or `None` if it has no
    /// plans.
    fn act(&mut self, now: Instant, transport: &mut dyn SendingEnd) -> Option<Instant>;

    /// Hands over more datagrams if it has any waiting. Called when the transport may accept more,
    /// until it returns zero. Returns how many datagrams were accepted.
    fn refill(&mut self, now: Instant, transport: &mut dyn SendingEnd) -> usize {
        let _ = (now, transport);
        0
    }

    /// Returns whether it has handed over everything it will ever send. Its flow counts as active
    /// until the last of that has arrived.
    fn is_done(&self) -> bool {
        false
    }

    /// Stops for good. The transport is closed, and [`Source::act`] is not called again.
    fn stop(&mut self) {}

    /// Returns whether to open a connection at `now`, the time it has asked for, before it acts.
    /// Called only if its kind [opens connections](SourceKind::opens_connections).
    fn opens(&mut self, now: Instant) -> bool {
        let _ = now;
        false
    }

    /// Handles the end of its connection, through which `delivered` bytes have arrived, and returns
    /// when it acts next.
    fn ended(&mut self, now: Instant, delivered: u64) -> Option<Instant> {
        let _ = (now, delivered);
        None
    }

    /// Returns what it has done.
    fn journal(&self) -> Journal {
        Journal::default()
    }

    /// Returns why it can no longer decide, or `None` as long as it can. A simulation then ends.
    fn failure(&self) -> Option<MemberFailure> {
        None
    }
}

/// A source with its parameters, as stored in [`Sources`].
pub trait SourceKind: Send + Sync {
    /// Returns the size of its largest datagram, in bytes.
    fn datagram(&self) -> u64;

    /// Checks that it works over this transport. By default, it works over all of them.
    ///
    /// # Errors
    /// A message that says why it does not, and what to do.
    fn check_carrier(&self, carrier: Carrier) -> Result<(), &'static str> {
        let _ = carrier;
        Ok(())
    }

    /// Returns whether each of its files has its own connection.
    fn opens_connections(&self) -> bool {
        false
    }

    /// Returns how the receiver plays its datagrams, or `None` unless it is a voice call.
    fn playout(&self) -> Option<Playout> {
        None
    }

    /// Builds the source of a flow.
    fn build(&self, setup: &Setup<'_>) -> Box<dyn Source>;

    /// Returns whether the sources of different flows share state, such as a global variable or a
    /// learned model. A simulation then calls all members that do in order of time; it executes
    /// other parts of a network one after the other. Runs on other threads are not ordered.
    fn shares_state(&self) -> bool {
        false
    }
}

/// How the receiver of a voice call plays its frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Playout {
    /// The duration of speech in a frame.
    pub frame: Duration,
    /// How long after it was made a frame is played.
    pub deadline: Duration,
    /// The codec, if it is known.
    pub codec: Option<Codec>,
}

/// What a source knows about its flow.
#[derive(Clone, Copy)]
pub struct Setup<'a> {
    /// When the flow starts.
    pub start: Instant,
    /// The interval over which its [`Journal`] counts, from time zero.
    pub interval: Duration,
    stream: &'a dyn Fn(&str) -> Random,
}

impl<'a> Setup<'a> {
    /// Describes a flow that starts at `start` and counts over each `interval`. `stream` returns
    /// the flow's random stream for a purpose, always the same one.
    pub fn new(start: Instant, interval: Duration, stream: &'a dyn Fn(&str) -> Random) -> Self {
        Self {
            start,
            interval,
            stream,
        }
    }

    /// Returns the flow's random stream for this purpose, from its start.
    pub fn random(&self, purpose: &str) -> Random {
        (self.stream)(purpose)
    }
}

impl fmt::Debug for Setup<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Setup")
            .field("start", &self.start)
            .field("interval", &self.interval)
            .finish_non_exhaustive()
    }
}

/// The known kinds of sources.
pub type Sources = OpenSet<dyn SourceKind>;

/// Selects a kind of source.
#[derive(Clone, Copy, Debug)]
pub enum SourceChoice {}

impl Choice for SourceChoice {
    const KIND: &'static str = "source";
    const DEFINITION: &'static str = "Source";
}

/// A source as written in a file: `{ cbr = { rate = "64 kbps", datagram = "160 B" } }`.
pub type SourceSpec = Selection<SourceChoice>;

/// The checked parameters of a source.
pub type CheckedSource = Result<Arc<dyn SourceKind>, ParameterError>;
