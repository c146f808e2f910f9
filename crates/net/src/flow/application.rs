//! The application's operations on its connection.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use skywave_transport::dccp::{Datagram, SendError};
use skywave_transport::session::Session;
use skywave_units::Instant;

use super::{Flow, FlowState, GATHER};
use crate::error::ConnectionError;
use crate::sync::{Ordering, locked};

/// The maximum number of datagrams taken from a connection at once, ahead of being read.
const INBOX: usize = 32;

/// How many datagrams consume one unit of a task's cooperative budget, which is 128 units.
const USES: u32 = 4;

impl Flow {
    /// Passes a datagram to the connection, which sends it at once or together with those that
    /// follow. The datagram is taken only on success.
    pub(crate) fn offer(self: &Arc<Self>, datagram: &mut Bytes) -> Result<(), SendError> {
        self.hand_over(|session| {
            session.send_with(datagram.len(), || core::mem::take(datagram).into())
        })
    }

    /// Offers one datagram after another, like [`offer`](Self::offer), until all are taken or one
    /// is refused.
    pub(crate) fn offer_all(
        self: &Arc<Self>,
        datagrams: &mut VecDeque<Bytes>,
    ) -> Result<(), SendError> {
        self.hand_over(|session| session.send_all(datagrams))
    }

    fn hand_over(
        self: &Arc<Self>,
        send: impl FnOnce(&mut Session) -> Result<(), SendError>,
    ) -> Result<(), SendError> {
        let room = self.shared.memory.room();
        let send = |session: &mut Session| {
            session.set_queue_room(room);
            send(session)
        };
        let mut state = locked(&self.state);
        let now = if state.is_pending {
            // The driver will drain the connection later.
            state.gather_until
        } else {
            self.shared.clock.now()
        };
        if state.is_pending || now < state.gather_until {
            let (answer, ()) = state.session.apply(now, send, |drain| drain.postpone());
            self.leave_to_driver(&mut state);
            return answer;
        }
        state.gather_until = now + GATHER;
        let (answer, news) = self.drive(&mut state, now, send);
        drop(state);
        self.announce(news);
        answer
    }

    /// Returns the next datagram for the application.
    pub(crate) fn read(self: &Arc<Self>) -> Option<Datagram> {
        let mut datagram = None;
        self.read_all(1, |next| datagram = Some(next));
        datagram
    }

    /// Passes up to `limit` datagrams to the application. Returns their number.
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
            state.inbox_bytes -= datagram.payload.len();
            take(datagram);
            count += 1;
        }
        if count < limit && state.connection().readable() > 0 {
            let FlowState {
                session,
                inbox,
                inbox_bytes,
                ..
            } = &mut *state;
            let read = |session: &mut Session| {
                while count < limit
                    && let Some(datagram) = session.recv()
                {
                    take(datagram);
                    count += 1;
                }
                let ahead = INBOX.saturating_sub(limit);
                let next = core::iter::from_fn(|| session.recv()).take(ahead);
                inbox.extend(next.inspect(|next| *inbox_bytes += next.payload.len()));
            };
            // Reading causes no packet and no timer, so the time does not matter.
            session.apply(Instant::ZERO, read, |drain| drain.postpone());
        }
        if count > 0 {
            self.account(&mut state);
        }
        count
    }

    /// Returns whether there is a datagram to read.
    pub(crate) fn has_unread(&self) -> bool {
        let state = locked(&self.state);
        state.inbox.len() + state.connection().readable() > 0
    }

    /// Starts closing the connection.
    pub(crate) fn close(self: &Arc<Self>) {
        let oldest = {
            let mut state = locked(&self.state);
            if core::mem::replace(&mut state.is_closing, true) || state.is_over {
                None
            } else {
                let (place, oldest) = self.shared.closing.enter(self);
                state.closing = Some(place);
                oldest
            }
        };
        let now = self.shared.clock.now();
        self.apply(|session| session.close(now));
        if let Some(oldest) = oldest {
            self.shared.counters.closing_dropped();
            self.shared
                .limit_reached(now, "closing dropped", oldest.key.path.peer);
            oldest.abort(ConnectionError::TooManyClosing);
        }
    }

    /// Ends the connection immediately and reports `reason` to the application.
    pub(crate) fn abort(self: &Arc<Self>, reason: ConnectionError) {
        locked(&self.state).end.get_or_insert(reason);
        let now = self.shared.clock.now();
        self.apply(|session| session.abort(now));
    }

    /// Returns whether the send queue is empty. If not, `writable` reports when it is.
    pub(crate) fn is_flushed(&self) -> bool {
        let mut state = locked(&self.state);
        state.is_flushing = state.connection().stats().queued > 0;
        !state.is_flushing
    }

    /// Returns the number of datagrams taken from the application and never sent, because the
    /// connection ended.
    pub(crate) fn discarded(&self) -> u64 {
        let state = locked(&self.state);
        let counters = state.connection().stats().counters;
        counters.datagrams_discarded - state.too_large
    }

    /// Yields to other tasks now and then while one sends or reads without pause.
    ///
    /// Queueing or dequeueing a datagram costs far less than a unit of a task's budget, and ending
    /// a turn too early makes batches small.
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
