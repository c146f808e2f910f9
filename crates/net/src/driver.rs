//! The task that drives an endpoint: receives packets and runs timers.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};

use skywave_transport::dccp::RateLimit;
use tokio::runtime::Handle;
use tokio::task::AbortHandle;

use crate::error::ConnectionError;
use crate::flow::{Flow, Shared};
use crate::incoming::Incoming;
use crate::locked;

/// The most reads per turn, before other tasks get theirs.
const READS: usize = 8;
/// The most packets per turn, apart from those of the last read. Less than a connection's default
/// receive queue, so that its reader runs in time.
const INTAKE: u64 = 64;
/// The most reports of the network heeded per second: timers and probes find out without them, and
/// attackers can forge as many as they like.
const REPORTS: u32 = 1_000;

/// Drives an endpoint until it has neither handles nor connections.
#[derive(Debug)]
pub(crate) struct Driver {
    shared: Arc<Shared>,
    incoming: Incoming,
    /// Always empty between uses; kept for its memory.
    flows: Vec<Arc<Flow>>,
    errors: AbortHandle,
}

/// What to do after a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    /// Run another turn after other tasks have run.
    More,
    /// Stop: there are neither handles nor connections.
    Last,
}

impl Driver {
    pub(crate) fn new(shared: Arc<Shared>, runtime: &Handle) -> Self {
        let reported = Arc::clone(&shared);
        let errors = runtime.spawn(async move {
            let mut heeded = RateLimit::default();
            let mut report = |error| {
                let is_heeded = heeded.allows(reported.clock.now(), REPORTS);
                reported.network_error(&error, is_heeded);
            };
            while reported.socket.network_errors(&mut report).await.is_ok() {}
        });
        Self {
            incoming: shared.socket.incoming(),
            shared,
            flows: Vec::new(),
            errors: errors.abort_handle(),
        }
    }

    pub(crate) async fn run(mut self) {
        while poll_fn(|context| self.turn(context)).await == Turn::More {
            // Do not wake this task directly: on a single-threaded runtime, dozens of turns would
            // pass before the task that the runtime blocks on, which may be the reader.
            tokio::task::yield_now().await;
        }
    }

    /// Does the work available now; pending if there is none.
    fn turn(&mut self, context: &mut Context<'_>) -> Poll<Turn> {
        self.shared.driven_by(context.waker());
        let may_send = self.send_backlog(context);
        let has_more = self.receive(context);
        self.expire(context);
        if may_send {
            self.flush();
        }
        if self.is_done() {
            return Poll::Ready(Turn::Last);
        }
        // If there is a backlog, room in the socket wakes the driver; otherwise handle what this
        // turn has produced.
        if has_more || (may_send && self.shared.has_pending()) {
            return Poll::Ready(Turn::More);
        }
        Poll::Pending
    }

    /// Sends the backlog. Returns whether new packets may be sent.
    fn send_backlog(&self, context: &mut Context<'_>) -> bool {
        let Shared {
            sender,
            socket,
            counters,
            ..
        } = &*self.shared;
        sender.poll_backlog(context, socket, counters).is_ready()
    }

    /// Reads what has arrived. Returns whether there may be more.
    fn receive(&mut self, context: &mut Context<'_>) -> bool {
        let mut intake = 0;
        for _ in 0..READS {
            let Shared { socket, clock, .. } = &*self.shared;
            match socket.poll_receive(context, &mut self.incoming) {
                Poll::Pending => return false,
                // The error concerns a sent packet, not the socket: read again.
                Poll::Ready(Err(_)) => continue,
                Poll::Ready(Ok(())) => {}
            }
            let now = clock.now();
            let mut count = 0;
            let (shared, received) = (&self.shared, &mut self.flows);
            self.incoming.for_each(|arrival| {
                count += arrival.count() as u64;
                shared.dispatch(now, arrival, received);
            });
            // Answer once for the whole read: this causes fewer acknowledgements, and larger
            // batches of packets that they permit.
            for flow in received.drain(..) {
                flow.answer(now);
            }
            shared.counters.received(count);
            intake += count;
            if intake >= INTAKE {
                break;
            }
        }
        true
    }

    fn expire(&mut self, context: &mut Context<'_>) {
        // Poll until pending, so that the alarm wakes this task.
        while self.shared.timers.poll(context).is_ready() {
            let now = self.shared.clock.now();
            self.shared.timers.take_due(now, &mut self.flows);
            for flow in self.flows.drain(..) {
                flow.expire(now);
            }
        }
    }

    fn flush(&mut self) {
        self.shared.take_pending(&mut self.flows);
        for flow in self.flows.drain(..) {
            flow.flush(self.shared.clock.now());
        }
    }

    fn is_done(&self) -> bool {
        self.shared.is_orphaned.load(Ordering::Acquire) && locked(&self.shared.table).live() == 0
    }
}

impl Drop for Driver {
    /// The runtime is shutting down or everything is over: wake those who wait for packets, and
    /// release the socket.
    fn drop(&mut self) {
        self.errors.abort();
        for flow in self.shared.close() {
            // The peer learns of this if the socket has room for another packet.
            flow.abort(ConnectionError::EndpointClosed);
            flow.discard();
        }
        locked(&self.shared.table).clear();
        self.shared.timers.clear();
        self.shared.closing.clear();
        self.shared.take_pending(&mut self.flows);
        self.shared.fewer.notify_waiters();
    }
}
