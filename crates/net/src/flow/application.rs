//! What an application does with its connection.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use skywave_transport::dccp::{Connection, Datagram, SendError};
use skywave_units::Instant;

use super::{Flow, FlowState, GATHER};
use crate::error::ConnectionError;
use crate::locked;

/// Datagrams that are taken from a connection at once, ahead of being read.
const INBOX: usize = 32;

/// Datagrams for one unit of the budget that a task has before others get a turn, which is of 128.
const USES: u32 = 4;

impl Flow {
    /// Gives the connection a datagram: it leaves at once, or with those that follow it. It is taken
    /// only where there is no error.
    pub(crate) fn offer(self: &Arc<Self>, datagram: &mut Bytes) -> Result<(), SendError> {
        self.hand_over(|connection| {
            connection.send_with(datagram.len(), || core::mem::take(datagram).into())
        })
    }

    /// As [`offer`](Self::offer), one datagram after the other, until all are taken or one is not.
    pub(crate) fn offer_all(
        self: &Arc<Self>,
        datagrams: &mut VecDeque<Bytes>,
    ) -> Result<(), SendError> {
        self.hand_over(|connection| connection.send_all(datagrams))
    }

    fn hand_over(
        self: &Arc<Self>,
        send: impl FnOnce(&mut Connection) -> Result<(), SendError>,
    ) -> Result<(), SendError> {
        let mut state = locked(&self.state);
        let now = if state.is_pending {
            // The driver drains the connection at another time than this.
            state.gather_until
        } else {
            self.shared.clock.now()
        };
        if state.is_pending || now < state.gather_until {
            let (answer, ()) = state.connection.apply(now, send, |drain| drain.postpone());
            self.leave_to_driver(&mut state);
            return answer;
        }
        state.gather_until = now + GATHER;
        let (answer, news) = self.drive(&mut state, now, send);
        drop(state);
        self.announce(news);
        answer
    }

    /// The next datagram for the application.
    pub(crate) fn read(self: &Arc<Self>) -> Option<Datagram> {
        let mut datagram = None;
        self.read_all(1, |next| datagram = Some(next));
        datagram
    }

    /// Hands up to `limit` datagrams to the application, and says how many there were.
    pub(crate) fn read_all(
        self: &Arc<Self>,
        limit: usize,
        mut take: impl FnMut(Datagram),
    ) -> usize {
        let mut state = locked(&self.state);
        let mut count = 0;
        while count < limit
            && let Some(datagram) = state.inbox.pop_front()
        {
            take(datagram);
            count += 1;
        }
        if count < limit && state.connection.get().readable() > 0 {
            let FlowState {
                connection, inbox, ..
            } = &mut *state;
            let read = |connection: &mut Connection| {
                while count < limit
                    && let Some(datagram) = connection.recv()
                {
                    take(datagram);
                    count += 1;
                }
                let ahead = INBOX.saturating_sub(limit);
                inbox.extend(core::iter::from_fn(|| connection.recv()).take(ahead));
            };
            // No packet and no timer follows from reading, whatever the time is.
            connection.apply(Instant::ZERO, read, |drain| drain.postpone());
        }
        count
    }

    /// Begins to close it.
    pub(crate) fn close(self: &Arc<Self>) {
        locked(&self.state).is_closing = true;
        let now = self.shared.clock.now();
        self.apply(|connection| connection.close(now));
    }

    /// Ends it at once; `reason` is what its application is told.
    pub(crate) fn abort(self: &Arc<Self>, reason: ConnectionError) {
        {
            let mut state = locked(&self.state);
            state.is_aborted = true;
            state.end.get_or_insert(reason);
        }
        let now = self.shared.clock.now();
        self.apply(|connection| connection.abort(now));
    }

    /// Whether the send queue is empty; where it is not, `writable` tells when it is.
    pub(crate) fn is_flushed(&self) -> bool {
        let mut state = locked(&self.state);
        state.is_flushing = state.connection.get().stats().queued > 0;
        !state.is_flushing
    }

    /// Lets other tasks run now and then while one sends or reads without end.
    ///
    /// A datagram that only enters or leaves a queue costs far less than what a task's budget is
    /// reckoned in, and every turn that ends too early makes small batches.
    pub(crate) async fn cooperate(&self) {
        if self
            .uses
            .fetch_add(1, Ordering::Relaxed)
            .is_multiple_of(USES)
        {
            tokio::task::coop::consume_budget().await;
        }
    }
}
