//! The queue of connections waiting to be accepted.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use skywave_transport::dccp;
use skywave_units::{Duration, Instant};
use tokio::sync::Notify;

use crate::sync::{AtomicBool, AtomicUsize, Mutex, Ordering, locked};

/// The flows of a listener that are in their handshake or wait to be accepted.
#[derive(Debug)]
pub(crate) struct Mailbox<F> {
    pub(crate) config: Arc<dccp::Config>,
    /// The flows in their handshake, by number in the order in which they began, with the time at
    /// which each began.
    half_open: Mutex<BTreeMap<u64, (Instant, Arc<F>)>>,
    established: Mutex<VecDeque<Arc<F>>>,
    arrived: Notify,
    /// The number of connections in their handshake or waiting.
    backlog: AtomicUsize,
    is_closed: AtomicBool,
}

impl<F> Mailbox<F> {
    pub(crate) fn new(config: Arc<dccp::Config>) -> Self {
        Self {
            config,
            half_open: Mutex::default(),
            established: Mutex::default(),
            arrived: Notify::new(),
            backlog: AtomicUsize::new(0),
            is_closed: AtomicBool::new(false),
        }
    }

    /// Reserves a place. Returns false if `limit` places are taken.
    pub(crate) fn enter(&self, limit: usize) -> bool {
        let room = |waiting| (waiting < limit).then_some(waiting + 1);
        self.backlog
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, room)
            .is_ok()
    }

    /// Returns whether fewer than `limit` places are taken.
    pub(crate) fn has_room(&self, limit: usize) -> bool {
        self.backlog.load(Ordering::Relaxed) < limit
    }

    pub(crate) fn leave(&self) {
        self.backlog.fetch_sub(1, Ordering::Relaxed);
    }

    /// Returns the number of flows in their handshake.
    pub(crate) fn half_open(&self) -> usize {
        locked(&self.half_open).len()
    }

    /// Records that the handshake of `flow`, with this number, begins.
    pub(crate) fn opens(&self, number: u64, now: Instant, flow: &Arc<F>) {
        locked(&self.half_open).insert(number, (now, Arc::clone(flow)));
    }

    /// Records that the handshake of the flow with this number is over.
    pub(crate) fn opened(&self, number: u64) {
        locked(&self.half_open).remove(&number);
    }

    /// Takes out the flow that has been in its handshake longest, if that is at least `age`.
    pub(crate) fn take_half_open(&self, now: Instant, age: Duration) -> Option<Arc<F>> {
        let mut half_open = locked(&self.half_open);
        let oldest = half_open.first_entry()?;
        (now - oldest.get().0 >= age).then(|| oldest.remove().1)
    }

    /// Queues `flow`, whose handshake is complete. Returns false if the listener is closed.
    #[must_use]
    pub(crate) fn deliver(&self, flow: &Arc<F>) -> bool {
        let mut established = locked(&self.established);
        if self.is_closed.load(Ordering::Relaxed) {
            return false;
        }
        established.push_back(Arc::clone(flow));
        drop(established);
        self.arrived.notify_one();
        true
    }

    /// Takes out a flow that must no longer be accepted.
    pub(crate) fn withdraw(&self, flow: &Arc<F>) {
        locked(&self.established).retain(|waiting| !Arc::ptr_eq(waiting, flow));
    }

    /// Takes the next flow.
    pub(crate) fn take(&self) -> Option<Arc<F>> {
        locked(&self.established).pop_front()
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Relaxed)
    }

    /// Waits until there is a flow to take, or the listener is closed. Cancel safe.
    pub(crate) async fn ready(&self) {
        loop {
            let arrived = self.arrived.notified();
            if !locked(&self.established).is_empty() {
                // Wake the next waiter too: one notification may stand for several arrivals, and
                // the task that waited here may be cancelled before it takes anything.
                self.arrived.notify_one();
                return;
            }
            if self.is_closed() {
                return;
            }
            arrived.await;
        }
    }

    /// Closes the queue and returns the flows that nobody has accepted. Those in their handshake end
    /// when it is complete.
    #[must_use]
    pub(crate) fn close(&self) -> VecDeque<Arc<F>> {
        locked(&self.half_open).clear();
        let mut established = locked(&self.established);
        self.is_closed.store(true, Ordering::Relaxed);
        let waiting = core::mem::take(&mut *established);
        drop(established);
        self.arrived.notify_waiters();
        waiting
    }
}
