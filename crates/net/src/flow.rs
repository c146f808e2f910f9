//! One connection at an endpoint: the protocol's state machine, its application's wakers, and its
//! place in the table and among the timers.
//!
//! Whoever has something for the connection, the driver a packet or the application a datagram,
//! locks it, changes it, and sends what follows from that before letting go of the lock. A datagram
//! so leaves without waiting for another task, and an acknowledgement sends what it permits at once.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use skywave_transport::dccp::{Connection, Datagram, Event, Origin, SendError, State};
use skywave_transport::{Driven, Endpoint as _};
use skywave_units::{Duration, Instant};
use skywave_wire::Ecn;
use skywave_wire::dccp::{DccpOption, Packet, ResetCode};
use tokio::sync::Notify;

use crate::error::ConnectionError;
use crate::listener::Mailbox;
use crate::locked;
use crate::path::Key;
use crate::shared::Shared;

/// After a datagram has left at once, those that follow within this time wait for the driver's next
/// turn, and leave in one system call. It is about what a system call costs.
const GATHER: Duration = Duration::from_micros(50);

/// Datagrams that are taken from a connection at once, ahead of being read.
const INBOX: usize = 32;

/// A connection of an endpoint.
#[derive(Debug)]
pub(crate) struct Flow {
    pub(crate) id: u64,
    pub(crate) key: Key,
    pub(crate) shared: Arc<Shared>,
    /// Who waits to accept it.
    mailbox: Option<Arc<Mailbox>>,
    state: Mutex<FlowState>,
    /// There is something to read, or there never will be.
    pub(crate) readable: Notify,
    /// There is room to send, or there never will be.
    pub(crate) writable: Notify,
    /// The connection is established, or over.
    pub(crate) changed: Notify,
}

#[derive(Debug)]
pub(crate) struct FlowState {
    connection: Driven<Connection>,
    /// Taken from the connection, for the application to read.
    inbox: VecDeque<Datagram>,
    /// The entry among the timers.
    registered: Option<Instant>,
    /// Datagrams wait for the driver until then.
    gather_until: Instant,
    /// The driver knows that there may be something to send.
    is_pending: bool,
    /// The most data of a datagram that the path takes, in bytes.
    max_datagram: usize,
    is_established: bool,
    is_closing: bool,
    is_aborted: bool,
    /// Somebody waits until the send queue is empty.
    is_flushing: bool,
    /// It counts against its listener's backlog.
    is_in_backlog: bool,
    is_over: bool,
    end: Option<ConnectionError>,
}

/// What others shall be told once the lock is open again.
#[derive(Clone, Copy, Debug, Default)]
struct News {
    readable: bool,
    writable: bool,
    established: bool,
    ended: bool,
    /// It can leave the table.
    over: bool,
    time_wait: Option<Instant>,
}

impl Flow {
    pub(crate) fn new(
        shared: &Arc<Shared>,
        key: Key,
        mailbox: Option<Arc<Mailbox>>,
        connection: Connection,
        max_datagram: usize,
    ) -> Arc<Self> {
        let state = FlowState {
            connection: Driven::new(connection),
            inbox: VecDeque::new(),
            registered: None,
            gather_until: Instant::ZERO,
            is_pending: false,
            max_datagram,
            is_established: false,
            is_closing: false,
            is_aborted: false,
            is_flushing: false,
            is_in_backlog: mailbox.is_some(),
            is_over: false,
            end: None,
        };
        Arc::new(Self {
            id: shared.next_id(),
            key,
            shared: Arc::clone(shared),
            mailbox,
            state: Mutex::new(state),
            readable: Notify::new(),
            writable: Notify::new(),
            changed: Notify::new(),
        })
    }

    /// Packets have arrived for it: all of them are taken in before anything is sent.
    pub(crate) fn receive(self: &Arc<Self>, now: Instant, packets: &mut Vec<(Ecn, Packet)>) {
        let mut state = locked(&self.state);
        state.gather_until = Instant::ZERO;
        let had = state.connection.get().readable();
        let (_, mut news) = self.drive(&mut state, now, |connection| {
            for (ecn, packet) in packets.drain(..) {
                connection.receive(now, ecn, packet);
            }
        });
        news.readable |= state.connection.get().readable() > had;
        drop(state);
        self.announce(news);
    }

    /// A timer may be due.
    pub(crate) fn expire(self: &Arc<Self>, now: Instant) {
        let mut state = locked(&self.state);
        // The entry that has led here is gone from the timers.
        let registered = state.registered.take();
        self.shared.timers.set(self, registered, None);
        let (_, news) = self.drive(&mut state, now, |connection| connection.expire(now));
        drop(state);
        self.announce(news);
    }

    /// The driver's turn has come for what was left to it.
    pub(crate) fn flush(self: &Arc<Self>, now: Instant) {
        let mut state = locked(&self.state);
        state.is_pending = false;
        let (_, news) = self.drive(&mut state, now, |_| ());
        drop(state);
        self.announce(news);
    }

    /// Does something of the application's, and sends what follows from it.
    pub(crate) fn apply<T>(self: &Arc<Self>, action: impl FnOnce(&mut Connection) -> T) -> T {
        let now = self.shared.clock.now();
        let mut state = locked(&self.state);
        let (answer, news) = self.drive(&mut state, now, action);
        drop(state);
        self.announce(news);
        answer
    }

    /// Gives the connection a datagram of `size` bytes: it leaves at once, or with those that
    /// follow it.
    pub(crate) fn offer(
        self: &Arc<Self>,
        size: usize,
        send: impl FnOnce(&mut Connection) -> Result<(), SendError>,
    ) -> Result<(), SendError> {
        let mut state = locked(&self.state);
        if size > state.max_datagram {
            return Err(SendError::TooLarge {
                size,
                mps: u32::try_from(state.max_datagram).unwrap_or(u32::MAX),
            });
        }
        let now = if state.is_pending {
            // The driver drains the connection at another time than this.
            state.gather_until
        } else {
            self.shared.clock.now()
        };
        if state.is_pending || now < state.gather_until {
            let (answer, _) = state.connection.apply(now, send);
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
        let mut state = locked(&self.state);
        if let Some(datagram) = state.inbox.pop_front() {
            return Some(datagram);
        }
        if state.connection.get().readable() == 0 {
            return None;
        }
        let now = self.shared.clock.now();
        let mut inbox = core::mem::take(&mut state.inbox);
        let ((), news) = self.drive(&mut state, now, |connection| {
            inbox.extend(core::iter::from_fn(|| connection.recv()).take(INBOX));
        });
        let datagram = inbox.pop_front();
        state.inbox = inbox;
        drop(state);
        self.announce(news);
        datagram
    }

    /// Looks at the connection.
    pub(crate) fn look<T>(&self, action: impl FnOnce(&Connection) -> T) -> T {
        action(locked(&self.state).connection.get())
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

    /// Forgets it without a word to the peer: another connection takes its place.
    pub(crate) fn discard(self: &Arc<Self>) {
        let mut state = locked(&self.state);
        state.end.get_or_insert(ConnectionError::Closed);
        state.is_over = true;
        if let Some(before) = state.registered.take() {
            self.shared.timers.set(self, Some(before), None);
        }
        drop(state);
        self.leave_backlog();
    }

    /// Whether `packet` brings an Init Cookie while the handshake that is remembered here is of
    /// another Request: an earlier one, of which nothing was remembered, has been answered too.
    pub(crate) fn is_met_by_cookie(&self, packet: &Packet) -> bool {
        let is_cookie = |option: &DccpOption| matches!(option, DccpOption::InitCookie(_));
        packet.options.iter().any(is_cookie)
            && self.look(|connection| connection.state() == State::Respond)
    }

    /// Takes it out of its listener's backlog.
    pub(crate) fn leave_backlog(&self) {
        if core::mem::take(&mut locked(&self.state).is_in_backlog)
            && let Some(mailbox) = &self.mailbox
        {
            mailbox.leave();
        }
    }

    pub(crate) fn is_established(&self) -> bool {
        locked(&self.state).is_established
    }

    /// Why it is over; `None` while it is not.
    pub(crate) fn end(&self) -> Option<ConnectionError> {
        locked(&self.state).end.clone()
    }

    /// The most data that a datagram may carry, in bytes.
    pub(crate) fn max_datagram(&self) -> usize {
        let state = locked(&self.state);
        state
            .max_datagram
            .min(state.connection.get().mps() as usize)
    }

    /// The path takes packets with `maximum` bytes of data, no more.
    pub(crate) fn lower_max_datagram(&self, maximum: usize) {
        let mut state = locked(&self.state);
        state.max_datagram = state.max_datagram.min(maximum);
    }

    /// Changes the connection, sends all packets that follow, and sets its timer.
    fn drive<T>(
        self: &Arc<Self>,
        state: &mut FlowState,
        now: Instant,
        action: impl FnOnce(&mut Connection) -> T,
    ) -> (T, News) {
        let (answer, mut drain) = state.connection.apply(now, action);
        let drained = self.shared.sender.send_all(
            &self.shared.socket,
            &self.key.path,
            &self.shared.counters,
            || drain.transmit(),
        );
        let news = if drained {
            self.settle(state, now)
        } else {
            // The socket is full: the rest leaves when it has room again.
            self.leave_to_driver(state);
            News::default()
        };
        (answer, news)
    }

    fn leave_to_driver(self: &Arc<Self>, state: &mut FlowState) {
        if !core::mem::replace(&mut state.is_pending, true) {
            self.shared.defer(Arc::clone(self));
        }
    }

    /// After everything has been sent: takes in events, and sets the timer.
    fn settle(self: &Arc<Self>, state: &mut FlowState, now: Instant) -> News {
        let mut news = News::default();
        let FlowState {
            connection,
            is_established,
            is_closing,
            is_aborted,
            is_flushing,
            end,
            ..
        } = state;
        let (protocol_state, drain) = connection.apply(now, |connection| {
            if *is_flushing && connection.stats().queued == 0 {
                *is_flushing = false;
                news.writable = true;
            }
            while let Some(event) = connection.event() {
                match event {
                    Event::Connected => {
                        *is_established = true;
                        news.established = true;
                    }
                    Event::Closed { code, origin } => {
                        end.get_or_insert_with(|| meaning(code, origin, *is_closing, *is_aborted));
                        news.ended = true;
                    }
                    // Writable, or PeerNotListening: whoever waits to send looks again.
                    _ => news.writable = true,
                }
            }
            connection.state()
        });
        let deadline = drain.deadline();
        if matches!(protocol_state, State::Closed | State::TimeWait) {
            if !core::mem::replace(&mut state.is_over, true) {
                news.over = true;
                news.time_wait = deadline.filter(|_| protocol_state == State::TimeWait);
                // An end without an event: a connection that was aborted before it began.
                state.end.get_or_insert(ConnectionError::Aborted);
                news.ended = true;
            }
            if let Some(before) = state.registered.take() {
                self.shared.timers.set(self, Some(before), None);
            }
        } else if let Some(at) = deadline
            && state.registered.is_none_or(|registered| at < registered)
        {
            self.shared.timers.set(self, state.registered, Some(at));
            state.registered = Some(at);
        }
        news
    }

    fn announce(self: &Arc<Self>, news: News) {
        if news.readable {
            self.readable.notify_waiters();
        }
        if news.writable {
            self.writable.notify_waiters();
        }
        if news.established {
            self.changed.notify_waiters();
            if let Some(mailbox) = &self.mailbox {
                mailbox.deliver(self);
            }
        }
        if news.ended {
            self.announce_end();
        }
        if news.over {
            self.leave_backlog();
            self.shared.forget(self.key, news.time_wait);
        }
    }

    fn announce_end(&self) {
        self.changed.notify_waiters();
        self.readable.notify_waiters();
        self.writable.notify_waiters();
    }
}

/// What the end of a connection means to its application.
fn meaning(code: ResetCode, origin: Origin, is_closing: bool, is_aborted: bool) -> ConnectionError {
    match (origin, code) {
        (_, ResetCode::CLOSED) => ConnectionError::Closed,
        // The Reset that ended the connection was lost, and the peer has forgotten it since.
        (Origin::Remote, ResetCode::NO_CONNECTION) if is_closing => ConnectionError::Closed,
        (Origin::Remote, ResetCode::CONNECTION_REFUSED) => ConnectionError::Refused,
        (Origin::Remote, ResetCode::BAD_SERVICE_CODE) => ConnectionError::BadServiceCode,
        (Origin::Remote, ResetCode::TOO_BUSY) => ConnectionError::TooBusy,
        (Origin::Remote, code) => ConnectionError::Reset { code },
        (Origin::Local, ResetCode::ABORTED) if is_aborted => ConnectionError::Aborted,
        (Origin::Local, ResetCode::ABORTED) => ConnectionError::TimedOut,
        (Origin::Local, code) => ConnectionError::Violation { code },
    }
}
