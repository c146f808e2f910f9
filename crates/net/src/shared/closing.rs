//! Connections that their application has closed and that still wait for their peer.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::sync::{Mutex, locked};

/// The connections that are closing, in the order in which they began to close.
#[derive(Debug)]
pub(crate) struct Closing<F> {
    limit: usize,
    waiting: Mutex<Waiting<F>>,
}

#[derive(Debug)]
struct Waiting<F> {
    next: u64,
    flows: BTreeMap<u64, Arc<F>>,
}

/// A connection's place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place(u64);

impl<F> Closing<F> {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            waiting: Mutex::new(Waiting {
                next: 0,
                flows: BTreeMap::new(),
            }),
        }
    }

    /// Adds a connection. Returns its place, and the one that has been closing longest if there are
    /// too many.
    pub(crate) fn enter(&self, flow: &Arc<F>) -> (Place, Option<Arc<F>>) {
        let mut waiting = locked(&self.waiting);
        let place = waiting.next;
        waiting.next += 1;
        waiting.flows.insert(place, Arc::clone(flow));
        let oldest = if waiting.flows.len() > self.limit {
            waiting.flows.pop_first().map(|(_, oldest)| oldest)
        } else {
            None
        };
        (Place(place), oldest)
    }

    /// Removes a connection, if it is still there.
    pub(crate) fn leave(&self, place: Place) {
        locked(&self.waiting).flows.remove(&place.0);
    }

    pub(crate) fn count(&self) -> usize {
        locked(&self.waiting).flows.len()
    }

    /// Removes all.
    pub(crate) fn clear(&self) {
        let flows = core::mem::take(&mut locked(&self.waiting).flows);
        drop(flows);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_that_waits_longest_goes_first() {
        let closing = Closing::new(2);
        let flows = [1, 2, 3, 4].map(Arc::new);
        let (first, none) = closing.enter(&flows[0]);
        assert!(none.is_none());
        assert!(closing.enter(&flows[1]).1.is_none());
        closing.leave(first);
        assert!(closing.enter(&flows[2]).1.is_none());
        let (_, oldest) = closing.enter(&flows[3]);
        assert_eq!(oldest.as_deref(), Some(&2));
        assert_eq!(closing.count(), 2);
    }
}
