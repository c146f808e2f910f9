//! A connection of an endpoint: the protocol's state machine, its application's wakers, and its
//! entries in the table and the timers.
//!
//! The driver (with a received packet) or the application (with a datagram to send) locks the
//! connection, changes it, and sends the resulting packets before it releases the lock. Packets
//! therefore stay in order, a datagram leaves without waiting for another task, and an
//! acknowledgement immediately releases the packets that it permits.

mod application;

use std::collections::VecDeque;
use std::sync::{Arc, TryLockError};

use skywave_transport::dccp::{Connection, Datagram, Role, State};
use skywave_transport::session::{Event, Session};
use skywave_transport::{Driven, End as _};
use skywave_units::{Duration, Instant};
use skywave_wire::Ecn;
use skywave_wire::dccp::{DccpOption, Packet};
use tokio::sync::Notify;
use tracing::{Span, debug, info, info_span};

use crate::error::ConnectionError;
use crate::limits::memory::Share;
use crate::path::{Key, route};
use crate::qlog::{Log, Logged};
use crate::shared;
use crate::shared::closing::Place;
use crate::shared::mailbox;
use crate::shared::shard::Shard;
use crate::sync::{AtomicU32, Mutex, locked};

/// The queue in which connections wait to be accepted.
pub(crate) type Mailbox = mailbox::Mailbox<Flow>;

/// The state shared by an endpoint's connections, driver and handles.
pub(crate) type Shared = shared::Shared<Flow>;

/// After a datagram has left, datagrams that follow within this time wait for the driver's next
/// turn and leave in one system call. Roughly the cost of a few system calls.
const GATHER: Duration = Duration::from_micros(50);

/// A connection of an endpoint.
#[derive(Debug)]
pub(crate) struct Flow {
    pub(crate) id: u64,
    pub(crate) key: Key,
    pub(crate) shared: Arc<Shared>,
    /// The shard that sends its packets and runs its timers. Any shard may deliver packets to it.
    shard: usize,
    /// The queue in which it waits to be accepted.
    mailbox: Option<Arc<Mailbox>>,
    /// Its identity in the log.
    span: Span,
    state: Mutex<FlowState>,
    /// The number of datagrams that the application has sent or read, or tried to.
    uses: AtomicU32,
    /// Notified when there is something to read, or never will be.
    pub(crate) readable: Notify,
    /// Notified when there is room to send, or never will be.
    pub(crate) writable: Notify,
    /// Notified when the connection is established or over.
    pub(crate) changed: Notify,
}

#[derive(Debug)]
pub(crate) struct FlowState {
    session: Driven<Session>,
    /// Datagrams taken from the connection but not yet read by the application.
    inbox: VecDeque<Datagram>,
    /// The bytes of data in it.
    inbox_bytes: usize,
    /// The share of the endpoint's memory that its queues take.
    memory: Share,
    /// Its place among the closing connections.
    closing: Option<Place>,
    /// The current entry in the timers.
    registered: Option<Instant>,
    /// The time until which datagrams wait for the driver.
    gather_until: Instant,
    /// Whether the driver knows that there may be something to send.
    is_pending: bool,
    /// Whether the driver has delivered packets that are not yet answered.
    has_received: bool,
    /// Whether these packets contained something to read.
    has_news: bool,
    is_closing: bool,
    /// Datagrams discarded because they became too large for the path.
    too_large: u64,
    /// Whether a task waits until the send queue is empty.
    is_flushing: bool,
    /// Whether it counts against its listener's backlog.
    is_in_backlog: bool,
    is_over: bool,
    end: Option<ConnectionError>,
    /// The protocol's state when it was last checked.
    latest: State,
    log: Option<Log>,
}

/// Notifications to make after the lock is released.
#[derive(Clone, Copy, Debug, Default)]
struct News {
    readable: bool,
    writable: bool,
    established: bool,
    ended: bool,
    /// Whether the connection can leave the table.
    over: bool,
    time_wait: Option<Instant>,
}

impl FlowState {
    #[inline]
    const fn connection(&self) -> &Connection {
        self.session.get().connection()
    }
}

impl Flow {
    pub(crate) fn new(
        shared: &Arc<Shared>,
        key: Key,
        mailbox: Option<Arc<Mailbox>>,
        mut session: Session,
        mtu: Option<u32>,
    ) -> Arc<Self> {
        let lower_headers = key.path.lower_headers(shared.local.encapsulation);
        let now = shared.clock.now();
        session.set_path(now, mtu.unwrap_or(u32::MAX), lower_headers);
        let id = shared.next_id();
        let log = shared
            .logs
            .as_ref()
            .and_then(|logs| logs.begin(id, &key, now, session.connection().role()));
        let state = FlowState {
            latest: session.connection().state(),
            session: Driven::new(session),
            inbox: VecDeque::new(),
            inbox_bytes: 0,
            memory: Share::default(),
            closing: None,
            registered: None,
            gather_until: Instant::ZERO,
            is_pending: false,
            has_received: false,
            has_news: false,
            is_closing: false,
            too_large: 0,
            is_flushing: false,
            is_in_backlog: mailbox.is_some(),
            is_over: false,
            end: None,
            log,
        };
        Arc::new(Self {
            id,
            key,
            span: info_span!(
                "connection",
                id,
                peer = %key.path.peer,
                local_port = key.local_port,
                peer_port = key.remote_port,
            ),
            shared: Arc::clone(shared),
            shard: shared.home(&key),
            mailbox,
            state: Mutex::new(state),
            uses: AtomicU32::new(0),
            readable: Notify::new(),
            writable: Notify::new(),
            changed: Notify::new(),
        })
    }

    fn shard(&self) -> &Shard<Self> {
        &self.shared.shards[self.shard]
    }

    /// Delivers arrived packets by calling `receive`; [`answer`](Self::answer) must follow. Returns
    /// whether these are the first since the last answer.
    pub(crate) fn receive(
        &self,
        now: Instant,
        receive: impl FnOnce(&mut Session, Option<&mut Log>),
    ) -> bool {
        let room = self.shared.memory.room();
        if room == 0 {
            self.shared.memory_is_full(now);
        }
        let mut state = locked(&self.state);
        if state.is_over {
            // Its counts may already be among the totals.
            return false;
        }
        let had = state.connection().readable();
        let FlowState { session, log, .. } = &mut *state;
        let receive = |session: &mut Session| {
            session.set_queue_room(room);
            receive(session, log.as_mut());
        };
        // `answer` drains later.
        let ((), ()) = session.apply(now, receive, |drain| drain.postpone());
        self.account(&mut state);
        if state.connection().readable() > had {
            state.has_news = true;
            // Let the application's reply leave at once.
            state.gather_until = Instant::ZERO;
        }
        !core::mem::replace(&mut state.has_received, true)
    }

    /// Records the Request that opened it.
    pub(crate) fn log_request(&self, now: Instant, ecn: Ecn, request: &Packet) {
        if let Some(log) = &mut locked(&self.state).log {
            log.received(now, ecn, request);
        }
    }

    /// Sends the packets that follow from the received ones.
    pub(crate) fn answer(self: &Arc<Self>, now: Instant) {
        let mut state = locked(&self.state);
        state.has_received = false;
        let has_news = core::mem::take(&mut state.has_news);
        let (_, mut news) = self.drive(&mut state, now, |_| ());
        news.readable |= has_news;
        drop(state);
        self.announce(news);
    }

    /// Handles a timer that may be due.
    pub(crate) fn expire(self: &Arc<Self>, now: Instant) {
        let mut state = locked(&self.state);
        // The entry that caused this call is no longer among the timers.
        let registered = state.registered.take();
        self.shard().timers.set(self.id, self, registered, None);
        let (_, news) = self.drive(&mut state, now, |session| {
            session.expire(now);
            if session.wants_local_mtu()
                && let Ok(route) = route(&self.shared.local, self.key.path.peer)
            {
                // The route may remember what an ICMP report has claimed, even one about another
                // connection.
                let mtu = route.mtu.max(session.connection().path_mtu());
                session.on_local_mtu(now, mtu);
            }
        });
        drop(state);
        self.announce(news);
    }

    /// Sends the packets that were left to the driver.
    pub(crate) fn flush(self: &Arc<Self>, now: Instant) {
        let mut state = locked(&self.state);
        state.is_pending = false;
        let (_, news) = self.drive(&mut state, now, |_| ());
        // A continuously sending application should keep sending in batches, not one by one.
        state.gather_until = self.shared.clock.now() + GATHER;
        drop(state);
        self.announce(news);
    }

    /// Performs an action of the application and sends the resulting packets.
    pub(crate) fn apply<T>(self: &Arc<Self>, action: impl FnOnce(&mut Session) -> T) -> T {
        let now = self.shared.clock.now();
        let mut state = locked(&self.state);
        let (answer, news) = self.drive(&mut state, now, action);
        drop(state);
        self.announce(news);
        answer
    }

    /// Reports the bytes in its queues to the endpoint's memory.
    #[inline]
    fn account(&self, state: &mut FlowState) {
        let bytes = state.connection().queued_bytes() + state.inbox_bytes;
        self.shared.memory.settle(&mut state.memory, bytes);
    }

    /// Reads from the connection.
    pub(crate) fn look<T>(&self, action: impl FnOnce(&Connection) -> T) -> T {
        action(locked(&self.state).connection())
    }

    /// Reads from the session.
    pub(crate) fn look_at_session<T>(&self, action: impl FnOnce(&Session) -> T) -> T {
        action(locked(&self.state).session.get())
    }

    /// Returns whether it is locked.
    pub(crate) fn is_busy(&self) -> bool {
        matches!(self.state.try_lock(), Err(TryLockError::WouldBlock))
    }

    /// Drops the connection without notifying the peer, to make room for another.
    pub(crate) fn discard(self: &Arc<Self>) {
        let mut state = locked(&self.state);
        state.end.get_or_insert(ConnectionError::Closed);
        state.is_over = true;
        state.log = None;
        self.set_timer(&mut state, None);
        drop(state);
        self.withdraw();
        self.forget(None);
    }

    /// Returns whether it still has something for an application that has not accepted it yet: it
    /// was closed normally, and received data has not been read.
    fn is_worth_accepting(&self) -> bool {
        let state = locked(&self.state);
        let is_waiting = state.is_in_backlog
            && state.session.get().is_established()
            && state.end == Some(ConnectionError::Closed);
        drop(state);
        is_waiting && self.has_unread()
    }

    /// Leaves its listener without having been accepted.
    fn withdraw(self: &Arc<Self>) {
        if self.leave_backlog()
            && let Some(mailbox) = &self.mailbox
        {
            mailbox.withdraw(self);
        }
    }

    /// Returns whether `packet` carries an Init Cookie for a different Request than the one stored
    /// here: an earlier Request was answered without being stored.
    pub(crate) fn is_met_by_cookie(&self, packet: &Packet) -> bool {
        let is_cookie = |option: &DccpOption| matches!(option, DccpOption::InitCookie(_));
        packet.options.iter().any(is_cookie)
            && self.look(|connection| connection.state() == State::Respond)
    }

    /// Removes it from its listener's backlog. Returns whether it was in it.
    pub(crate) fn leave_backlog(&self) -> bool {
        let was_in = core::mem::take(&mut locked(&self.state).is_in_backlog);
        if was_in && let Some(mailbox) = &self.mailbox {
            mailbox.leave();
            mailbox.opened(self.id);
        }
        was_in
    }

    pub(crate) fn is_established(&self) -> bool {
        locked(&self.state).session.get().is_established()
    }

    /// Returns why it is over, or `None` while it is not.
    pub(crate) fn end(&self) -> Option<ConnectionError> {
        locked(&self.state).end.clone()
    }

    /// Changes the connection, sends all resulting packets, and sets its timer.
    fn drive<T>(
        self: &Arc<Self>,
        state: &mut FlowState,
        now: Instant,
        action: impl FnOnce(&mut Session) -> T,
    ) -> (T, News) {
        let FlowState { session, log, .. } = state;
        let (answer, is_drained) =
            session.apply(now, action, |mut drain| {
                let Shard { sender, socket, .. } = self.shard();
                let is_drained =
                    sender.send_all(socket, &self.key.path, &self.shared.counters, |outlet| {
                        match log {
                            None => drain.transmit_all(outlet),
                            Some(log) => drain.transmit_all(&mut Logged { outlet, log, now }),
                        }
                    });
                // `settle` finishes the drain, or the driver does once the socket has room.
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
            self.shard().pending.defer(Arc::clone(self));
        }
    }

    /// Processes events and sets the timer, after everything has been sent.
    fn settle(self: &Arc<Self>, state: &mut FlowState, now: Instant) -> News {
        let mut news = News::default();
        let FlowState {
            session,
            too_large,
            is_flushing,
            end,
            ..
        } = state;
        let take_events = |session: &mut Session| {
            if *is_flushing && session.connection().stats().queued == 0 {
                *is_flushing = false;
                news.writable = true;
            }
            while let Some(event) = session.event() {
                match event {
                    Event::Connected => news.established = true,
                    Event::Closed {
                        code,
                        origin,
                        cause,
                    } => {
                        debug!(parent: &self.span, ?origin, %code, "reset");
                        end.get_or_insert_with(|| cause.into());
                        news.ended = true;
                    }
                    Event::PathMtu { mps, discarded } => {
                        debug!(parent: &self.span, mps, discarded, "path MTU changed");
                        *too_large += discarded as u64;
                        news.writable = true;
                    }
                    // Writable, or PeerNotListening: tasks waiting to send must check again.
                    _ => news.writable = true,
                }
            }
            session.connection().state()
        };
        let (protocol_state, deadline) = session.apply(now, take_events, |drain| drain.finish());
        let before = core::mem::replace(&mut state.latest, protocol_state);
        if before != protocol_state {
            let (from, to) = (before.name(), protocol_state.name());
            debug!(parent: &self.span, %from, %to, "state");
        }
        self.account(state);
        if let Some(log) = &mut state.log {
            if news.established {
                log.established();
            }
            log.metrics(now, state.session.get().connection());
        }
        if matches!(protocol_state, State::Closed | State::TimeWait) {
            if !core::mem::replace(&mut state.is_over, true) {
                self.retire(state, now, deadline, &mut news);
            }
            self.set_timer(state, None);
        } else if let Some(at) = deadline
            && state.registered.is_none_or(|registered| at < registered)
        {
            self.set_timer(state, Some(at));
        }
        news
    }

    /// Handles the end of the connection.
    #[cold]
    fn retire(
        &self,
        state: &mut FlowState,
        now: Instant,
        deadline: Option<Instant>,
        news: &mut News,
    ) {
        let session = state.session.get();
        let connection = session.connection();
        news.over = true;
        news.time_wait = match (connection.state(), connection.role()) {
            (State::TimeWait, _) => deadline,
            // The peer holds TIMEWAIT, and refuses a Request from the same port.
            (_, Role::Client) => Some(now + connection.timewait()),
            (_, Role::Server) => None,
        };
        // An end without an event: the connection was aborted before it began.
        let reason = state.end.get_or_insert(ConnectionError::Aborted);
        news.ended = true;
        // Closes the file.
        state.log = None;
        if session.is_established() {
            self.log_end(now, reason, connection);
        }
    }

    /// Replaces the entry in the timers.
    fn set_timer(self: &Arc<Self>, state: &mut FlowState, at: Option<Instant>) {
        let before = core::mem::replace(&mut state.registered, at);
        if before != at {
            self.shard().timers.set(self.id, self, before, at);
        }
    }

    /// Logs the end of an established connection.
    #[cold]
    fn log_end(&self, now: Instant, reason: &ConnectionError, connection: &Connection) {
        // Peers may open as many as they like.
        let suppressed = match connection.role() {
            Role::Client => Some(0),
            Role::Server => self.shared.notices.ends.pass(now),
        };
        if let Some(suppressed) = suppressed {
            let counters = connection.stats().counters;
            info!(
                parent: &self.span,
                ?reason,
                bytes_sent = counters.bytes_sent,
                bytes_received = counters.bytes_received,
                suppressed,
                "connection over",
            );
        }
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
                mailbox.opened(self.id);
                if !mailbox.deliver(self) {
                    self.abort(ConnectionError::Aborted);
                }
            }
            // It may have ended meanwhile, before it could be withdrawn.
            if let Some(mailbox) = &self.mailbox
                && !locked(&self.state).is_in_backlog
            {
                mailbox.withdraw(self);
            }
        }
        if news.ended {
            self.announce_end();
        }
        if news.over {
            if !self.is_worth_accepting() {
                self.withdraw();
            }
            let place = locked(&self.state).closing.take();
            if let Some(place) = place {
                self.shared.closing.leave(place);
            }
            self.forget(news.time_wait);
        }
    }

    /// Leaves the table.
    fn forget(self: &Arc<Self>, time_wait: Option<Instant>) {
        let counted = self.look(Connection::stats);
        self.shared.forget(self.key, self, &counted, time_wait);
    }

    fn announce_end(&self) {
        self.changed.notify_waiters();
        self.readable.notify_waiters();
        self.writable.notify_waiters();
    }
}

/// Gives back the memory that it still holds.
impl Drop for Flow {
    fn drop(&mut self) {
        let mut state = locked(&self.state);
        self.shared.memory.settle(&mut state.memory, 0);
    }
}

impl Shared {
    /// Stops accepting connections and resets those that nobody has accepted. Returns all
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
