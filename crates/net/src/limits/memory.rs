//! The data that waits in the queues of an endpoint's connections.

use crate::sync::{AtomicUsize, Ordering::Relaxed};

/// A budget of bytes for all connections. When it is spent, their queues do not grow, except that
/// an empty queue takes one datagram.
#[derive(Debug)]
pub(crate) struct Memory {
    limit: usize,
    used: AtomicUsize,
}

/// The share of the budget that one connection has taken. Its owner gives it back by calling
/// [`Memory::settle`] with zero.
#[derive(Debug, Default)]
pub(crate) struct Share(usize);

impl Memory {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            used: AtomicUsize::new(0),
        }
    }

    /// Returns the number of bytes left.
    pub(crate) fn room(&self) -> usize {
        self.limit.saturating_sub(self.used())
    }

    /// Returns the number of bytes in use.
    pub(crate) fn used(&self) -> usize {
        self.used.load(Relaxed)
    }

    /// Records that the connection with this share now holds `bytes`.
    #[inline]
    pub(crate) fn settle(&self, share: &mut Share, bytes: usize) {
        let before = core::mem::replace(&mut share.0, bytes);
        if bytes > before {
            self.used.fetch_add(bytes - before, Relaxed);
        } else if bytes < before {
            self.used.fetch_sub(before - bytes, Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_is_given_back() {
        let memory = Memory::new(100);
        let (mut first, mut second) = (Share::default(), Share::default());
        memory.settle(&mut first, 60);
        assert_eq!(memory.room(), 40);
        memory.settle(&mut second, 50);
        assert_eq!(memory.room(), 0, "an empty queue may exceed it");
        memory.settle(&mut first, 10);
        assert_eq!((memory.used(), memory.room()), (60, 40));
        memory.settle(&mut first, 0);
        memory.settle(&mut second, 0);
        assert_eq!(memory.used(), 0);
    }
}
