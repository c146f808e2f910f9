//! One connection at an endpoint: the protocol's state machine, its application's wakers, and its
//! place in the table and among the timers.
//!
//! Whoever has something for the connection, the driver a packet or the application a datagram,
//! locks it, changes it, and sends what follows from that before letting go of the lock. A datagram
//! so leaves without waiting for another task, and an acknowledgement sends what it permits at once.

mod application;

use std::collections::VecDeque;
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex};

use skywave_transport::dccp::{Connection, Datagram, Event, Origin, State};
use skywave_transport::{Driven, End as _};
use skywave_units::{Duration, Instant};
use skywave_wire::dccp::{DccpOption, Packet, ResetCode};
use tokio::sync::Notify;

use crate::error::ConnectionError;
use crate::locked;
use crate::path::Key;
use crate::{mailbox, shared};

/// Where connections wait to be accepted.
pub(crate) type Mailbox = mailbox::Mailbox<Flow>;

/// What the connections of an endpoint share with its driver and its handles.
pub(crate) type Shared = shared::Shared<Flow>;

/// After datagrams have left, those that follow within this time wait for the driver's next turn, and
/// leave in one system call. It is about what a few system calls cost.
const GATHER: Duration = Duration::from_micros(50);

/// A connection of an endpoint.
#[derive(Debug)]
pub(crate) struct Flow {
    pub(crate) id: u64,
    pub(crate) key: Key,
    pub(crate) shared: Arc<Shared>,
    /// Who waits to accept it.
    mailbox: Option<Arc<Mailbox>>,
    state: Mutex<FlowState>,
    /// Datagrams that the application has sent or read, or tried to.
    uses: AtomicU32,
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
    /// The driver has handed over packets, and not yet had them answered.
    has_received: bool,
    /// There was something to read among them.
    has_news: bool,
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
        mut connection: Connection,
        mtu: Option<u32>,
    ) -> Arc<Self> {
        let lower_headers = key.path.lower_headers(shared.socket.encapsulation);
        connection.set_path(mtu.unwrap_or(u32::MAX), lower_headers);
        let state = FlowState {
            connection: Driven::new(connection),
            inbox: VecDeque::new(),
            registered: None,
            gather_until: Instant::ZERO,
            is_pending: false,
            has_received: false,
            has_news: false,
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
            uses: AtomicU32::new(0),
            readable: Notify::new(),
            writable: Notify::new(),
            changed: Notify::new(),
        })
    }

    /// Packets have arrived for it: `receive` hands them over, and [`answer`](Self::answer) sends what
    /// follows. Says whether these are the first since then.
    pub(crate) fn receive(&self, now: Instant, receive: impl FnOnce(&mut Connection)) -> bool {
        let mut state = locked(&self.state);
        let had = state.connection.get().readable();
        // `answer` drains.
        let ((), ()) = state
            .connection
            .apply(now, receive, |drain| drain.postpone());
        if state.connection.get().readable() > had {
            state.has_news = true;
            // What the application answers leaves at once.
            state.gather_until = Instant::ZERO;
        }
        !core::mem::replace(&mut state.has_received, true)
    }

    /// Sends what follows from the packets that have been received.
    pub(crate) fn answer(self: &Arc<Self>, now: Instant) {
        let mut state = locked(&self.state);
        state.has_received = false;
        let has_news = core::mem::take(&mut state.has_news);
        let (_, mut news) = self.drive(&mut state, now, |_| ());
        news.readable |= has_news;
        drop(state);
        self.announce(news);
    }

    /// A timer may be due.
    pub(crate) fn expire(self: &Arc<Self>, now: Instant) {
        let mut state = locked(&self.state);
        // The entry that has led here is gone from the timers.
        let registered = state.registered.take();
        self.shared.timers.set(self.id, self, registered, None);
        let (_, news) = self.drive(&mut state, now, |connection| connection.expire(now));
        drop(state);
        self.announce(news);
    }

    /// The driver's turn has come for what was left to it.
    pub(crate) fn flush(self: &Arc<Self>, now: Instant) {
        let mut state = locked(&self.state);
        state.is_pending = false;
        let (_, news) = self.drive(&mut state, now, |_| ());
        // An application that goes on sending does so in batches, not with the next one by itself.
        state.gather_until = self.shared.clock.now() + GATHER;
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

    /// Looks at the connection.
    pub(crate) fn look<T>(&self, action: impl FnOnce(&Connection) -> T) -> T {
        action(locked(&self.state).connection.get())
    }

    /// Forgets it without a word to the peer: another connection takes its place.
    pub(crate) fn discard(self: &Arc<Self>) {
        let mut state = locked(&self.state);
        state.end.get_or_insert(ConnectionError::Closed);
        state.is_over = true;
        if let Some(before) = state.registered.take() {
            self.shared.timers.set(self.id, self, Some(before), None);
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

    /// Changes the connection, sends all packets that follow, and sets its timer.
    fn drive<T>(
        self: &Arc<Self>,
        state: &mut FlowState,
        now: Instant,
        action: impl FnOnce(&mut Connection) -> T,
    ) -> (T, News) {
        let (answer, is_drained) = state.connection.apply(now, action, |mut drain| {
            let is_drained = self.shared.sender.send_all(
                &self.shared.socket,
                &self.key.path,
                &self.shared.counters,
                |outgoing| drain.transmit_all(outgoing),
            );
            // `settle` finishes, or the driver does once the socket has room.
            drain.postpone().map(|()| is_drained)
        });
        let news = if is_drained {
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
        let take_events = |connection: &mut Connection| {
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
                        end.get_or_insert_with(|| match (origin, code) {
                            // What Linux answers where nobody listens.
                            (Origin::Remote, ResetCode::NO_CONNECTION) if !*is_established => {
                                ConnectionError::Refused
                            }
                            _ => meaning(code, origin, *is_closing, *is_aborted),
                        });
                        news.ended = true;
                    }
                    // Writable, or PeerNotListening: whoever waits to send looks again.
                    _ => news.writable = true,
                }
            }
            connection.state()
        };
        let (protocol_state, deadline) = connection.apply(now, take_events, |drain| drain.finish());
        if matches!(protocol_state, State::Closed | State::TimeWait) {
            if !core::mem::replace(&mut state.is_over, true) {
                news.over = true;
                news.time_wait = deadline.filter(|_| protocol_state == State::TimeWait);
                // An end without an event: a connection that was aborted before it began.
                state.end.get_or_insert(ConnectionError::Aborted);
                news.ended = true;
            }
            if let Some(before) = state.registered.take() {
                self.shared.timers.set(self.id, self, Some(before), None);
            }
        } else if let Some(at) = deadline
            && state.registered.is_none_or(|registered| at < registered)
        {
            self.shared
                .timers
                .set(self.id, self, state.registered, Some(at));
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
            if let Some(mailbox) = &self.mailbox
                && !mailbox.deliver(self)
            {
                self.abort(ConnectionError::Aborted);
            }
        }
        if news.ended {
            self.announce_end();
        }
        if news.over {
            self.leave_backlog();
            self.shared.forget(self.key, self, news.time_wait);
        }
    }

    fn announce_end(&self) {
        self.changed.notify_waiters();
        self.readable.notify_waiters();
        self.writable.notify_waiters();
    }
}

impl Shared {
    /// Takes no new connections from now on, and resets those that nobody has accepted. Returns all
    /// connections.
    pub(crate) fn close(&self) -> Vec<Arc<Flow>> {
        let (listeners, flows) = {
            let mut table = locked(&self.table);
            (table.close(), table.flows())
        };
        for mailbox in listeners {
            for flow in mailbox.close() {
                flow.abort(ConnectionError::Aborted);
            }
        }
        flows
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
