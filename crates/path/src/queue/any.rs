//! A discipline chosen at run time.

use std::fmt;

use skywave_registry::MemberFailure;

use super::{Admission, DropTail, HandsOn, Keeps, Kept, Red};
use crate::Packet;

/// The queue of a link.
///
/// It either passes packets on or keeps them. Drop-tail and RED have their own variants, so that on
/// most links a packet costs a comparison instead of a virtual call; otherwise they are
/// [`Admission`]s like any user's.
// A separate tag is compared in one instruction; a niche in the tag of a limit takes several.
#[repr(u8)]
pub enum AnyQueue<P> {
    /// Drop-tail.
    DropTail(HandsOn<DropTail>),
    /// RED, adaptive or not.
    Red(Box<HandsOn<Red>>),
    /// Any other FIFO discipline that decides on arrival.
    Admission(Box<HandsOn<Box<dyn Admission + Send>>>),
    /// Any discipline that keeps packets.
    Keeps(Box<dyn Keeps<P> + Send>),
}

impl<P> AnyQueue<P> {
    /// Wraps a FIFO discipline that decides on arrival.
    pub fn admission(admission: impl Admission + Send + 'static) -> Self {
        Self::Admission(Box::new(HandsOn::new(Box::new(admission))))
    }

    /// Returns why the discipline can no longer decide, or `None` as long as it can.
    pub fn failure(&self) -> Option<MemberFailure> {
        match self {
            Self::DropTail(_) | Self::Red(_) => None,
            Self::Admission(queue) => queue.admission().failure(),
            Self::Keeps(queue) => queue.failure(),
        }
    }

    /// Wraps a discipline that keeps packets.
    pub fn keeps(queue: impl Keeps<P> + Send + 'static) -> Self {
        Self::Keeps(Box::new(queue))
    }
}

impl<P: Packet + Send + 'static> AnyQueue<P> {
    /// Converts any discipline into one that keeps packets, for use on a shared link.
    pub fn into_keeps(self) -> Box<dyn Keeps<P> + Send> {
        match self {
            Self::DropTail(queue) => Box::new(Kept::new(queue.into_admission())),
            Self::Red(queue) => Box::new(Kept::new(queue.into_admission())),
            Self::Admission(queue) => Box::new(Kept::new(queue.into_admission())),
            Self::Keeps(queue) => queue,
        }
    }
}

impl<P> From<DropTail> for AnyQueue<P> {
    fn from(queue: DropTail) -> Self {
        Self::DropTail(HandsOn::new(queue))
    }
}

impl<P> From<Red> for AnyQueue<P> {
    fn from(queue: Red) -> Self {
        Self::Red(Box::new(HandsOn::new(queue)))
    }
}

impl<P> fmt::Debug for AnyQueue<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DropTail(queue) => queue.fmt(f),
            Self::Red(queue) => queue.fmt(f),
            Self::Admission(_) => f.write_str("Admission(..)"),
            Self::Keeps(_) => f.write_str("Keeps(..)"),
        }
    }
}
