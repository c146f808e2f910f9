//! The task that an endpoint lives by: it receives, and does what is due.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};

use tokio::runtime::Handle;
use tokio::task::AbortHandle;

use crate::error::ConnectionError;
use crate::flow::{Flow, Shared};
use crate::incoming::Incoming;
use crate::locked;

/// Reads in one turn, before other tasks get theirs.
const READS: usize = 8;
/// Packets in one turn, but for those of the last read: less than a connection's receive queue takes
/// by default, so that its reader comes in time.
const INTAKE: u64 = 64;

/// Drives an endpoint until it has neither handles nor connections.
#[derive(Debug)]
pub(crate) struct Driver {
    shared: Arc<Shared>,
    incoming: Incoming,
    /// Empty, but for its memory.
    flows: Vec<Arc<Flow>>,
    errors: AbortHandle,
}

/// What comes after a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    /// Another one, once other tasks have had theirs.
    More,
    /// Nothing ever: there are neither handles nor connections.
    Last,
}

impl Driver {
    pub(crate) fn new(shared: Arc<Shared>, runtime: &Handle) -> Self {
        let reported = Arc::clone(&shared);
        let errors = runtime.spawn(async move {
            let report = |error| reported.network_error(&error);
            while reported.socket.network_errors(report).await.is_ok() {}
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
            // Not by waking itself: on a single thread that would let dozens of turns pass before
            // the task that the runtime blocks on, perhaps the one that reads.
            tokio::task::yield_now().await;
        }
    }

    /// Does what there is to do; pending when that is all for now.
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
        // With a backlog, room in the socket wakes the driver; else what came up in this turn.
        if has_more || (may_send && self.shared.has_pending()) {
            return Poll::Ready(Turn::More);
        }
        Poll::Pending
    }

    /// Whether nothing stands in the way of new packets.
    fn send_backlog(&self, context: &mut Context<'_>) -> bool {
        let Shared {
            sender,
            socket,
            counters,
            ..
        } = &*self.shared;
        sender.poll_backlog(context, socket, counters).is_ready()
    }

    /// Takes in what has arrived; says whether there may be more.
    fn receive(&mut self, context: &mut Context<'_>) -> bool {
        let mut intake = 0;
        for _ in 0..READS {
            let Shared { socket, clock, .. } = &*self.shared;
            match socket.poll_receive(context, &mut self.incoming) {
                Poll::Pending => return false,
                // Of a packet that was sent, not of the socket: the next read goes on.
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
            // Once for all that the read has brought: fewer acknowledgements, and larger batches of
            // what they permit.
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
        // Until it has to be waited for, so that the alarm wakes this task.
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
    /// The runtime goes down, or everything is over: nobody may wait for packets that never come, and
    /// nothing may keep the socket.
    fn drop(&mut self) {
        self.errors.abort();
        let flows = self.shared.close();
        locked(&self.shared.table).clear();
        for flow in flows {
            // The peer learns of it if the socket has room for one more packet.
            flow.abort(ConnectionError::EndpointClosed);
        }
        self.shared.timers.clear();
        self.shared.take_pending(&mut self.flows);
        self.shared.fewer.notify_waiters();
    }
}
