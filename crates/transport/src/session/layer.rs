//! A layer between an application and its connection.

use std::collections::VecDeque;
use std::fmt::Debug;
use std::sync::Arc;

use bytes::Bytes;
use skywave_units::Instant;

use super::event::{Cause, Event, History};
use crate::dccp::{Connection, Datagram, SendError, State};

/// A protocol between an application and its connection. It has a handshake of its own, and
/// transforms each datagram on its way.
///
/// Its methods are called only after the connection is established, except for
/// [`is_ready`](Self::is_ready) and [`overhead`](Self::overhead). It never blocks and reads no
/// clock.
pub trait Layer: Debug + Send {
    /// Seals a datagram of the application, which makes it longer by at most
    /// [`overhead`](Self::overhead). It is called only if the layer [is ready](Self::is_ready) and
    /// the result will be queued. Sealed datagrams leave in order, and each may be lost.
    fn seal(&mut self, datagram: Bytes) -> Bytes;

    /// Opens a datagram that arrived at `now`. Returns the datagram of the peer's application that
    /// it contains, or `None` if it is one of the layer's own or not authentic.
    fn open(&mut self, now: Instant, datagram: Bytes) -> Option<Bytes>;

    /// Returns the layer's next own datagram, of at most `mps` bytes. Called after every input
    /// until it returns `None`, while the send queue has room. A client's handshake begins with the
    /// first call.
    fn transmit(&mut self, now: Instant, mps: u32) -> Option<Bytes>;

    /// Returns whether the layer's handshake is complete. Once it is, it remains so.
    fn is_ready(&self) -> bool;

    /// Returns the maximum number of bytes that sealing adds to a datagram. This is constant.
    fn overhead(&self) -> u32;

    /// Returns when [`expire`](Self::expire) must next be called, or `None` for never.
    fn deadline(&self) -> Option<Instant>;

    /// Handles the timers due at `now`, such as one that repeats a datagram of the handshake. The
    /// next deadline is later than `now`.
    fn expire(&mut self, now: Instant);

    /// Returns why the layer has failed (a forged handshake, an alert from the peer), or `None` if
    /// it has not. A session whose layer has failed sends what [`close`](Self::close) returns, and
    /// closes with [`Cause::LayerFailed`].
    fn failure(&self) -> Option<&str> {
        None
    }

    /// Ends the layer, because the application closes the session or the layer has failed. Returns
    /// its last datagram, of at most `mps` bytes, such as DTLS's close_notify or a fatal alert.
    /// That datagram leaves after everything that is queued, even if the queue is full. Nothing is
    /// sealed afterwards.
    fn close(&mut self, now: Instant, mps: u32) -> Option<Bytes> {
        let _ = (now, mps);
        None
    }
}

/// A layer, and its state as the application has seen it.
#[derive(Debug)]
pub(super) struct Layered {
    layer: Box<dyn Layer>,
    events: VecDeque<Event>,
    /// Whether [`Event::Connected`] has been queued for the application.
    is_announced: bool,
    /// Whether a datagram was refused before [`Event::Connected`].
    was_refused: bool,
    /// Why the layer has failed.
    failure: Option<Arc<str>>,
}

impl Layered {
    pub(super) const fn new(layer: Box<dyn Layer>) -> Self {
        Self {
            layer,
            events: VecDeque::new(),
            is_announced: false,
            was_refused: false,
            failure: None,
        }
    }

    pub(super) const fn is_announced(&self) -> bool {
        self.is_announced
    }

    /// Returns the largest size of a datagram before it is sealed.
    pub(super) fn mps(&self, connection: &Connection) -> u32 {
        connection.mps().saturating_sub(self.layer.overhead())
    }

    /// Seals and queues a datagram of `size` bytes.
    pub(super) fn send(
        &mut self,
        connection: &mut Connection,
        size: usize,
        datagram: impl FnOnce() -> Bytes,
    ) -> Result<(), SendError> {
        let longest = size.saturating_add(self.layer.overhead() as usize);
        let sent = if self.is_announced {
            connection.send_with(longest, || self.layer.seal(datagram()).into())
        } else {
            // One that can never be sent need not wait.
            connection.admit(longest).and({
                self.was_refused = true;
                Err(SendError::QueueFull)
            })
        };
        sent.map_err(|error| match error {
            SendError::TooLarge { .. } => SendError::TooLarge {
                size,
                mps: self.mps(connection),
            },
            error => error,
        })
    }

    /// Opens the last `count` datagrams that arrived.
    pub(super) fn open(&mut self, now: Instant, connection: &mut Connection, count: usize) {
        connection.replace_newest(count, |datagram| {
            // No layer could open what has been corrupted.
            let is_intact = !datagram.corrupted;
            let payload = is_intact.then(|| datagram.payload.into_bytes())?;
            Some(Datagram {
                payload: self.layer.open(now, payload)?.into(),
                corrupted: false,
            })
        });
    }

    /// Queues the layer's own datagrams, or closes the connection if the layer has failed.
    pub(super) fn send_own(
        &mut self,
        now: Instant,
        connection: &mut Connection,
        history: &mut History,
    ) {
        self.take_events(connection, history);
        if !runs(connection, history) {
            return;
        }
        if let Some(reason) = self.layer.failure() {
            self.failure = Some(reason.into());
            self.close(now, connection, history);
            return;
        }
        while connection.send_room() > 0
            && let Some(own) = self.layer.transmit(now, connection.mps())
        {
            // A refusal is like a loss, after which the layer sends it again.
            let _ = connection.send(own.into());
        }
    }

    /// Sends the layer's last datagram, then closes the connection.
    pub(super) fn close(
        &mut self,
        now: Instant,
        connection: &mut Connection,
        history: &mut History,
    ) {
        self.take_events(connection, history);
        if runs(connection, history)
            && let Some(last) = self.layer.close(now, connection.mps())
        {
            connection.send_last(last.into());
        }
        history.is_closing = true;
        connection.close(now);
    }

    /// Returns the next event.
    pub(super) fn event(
        &mut self,
        connection: &mut Connection,
        history: &mut History,
    ) -> Option<Event> {
        self.take_events(connection, history);
        self.events.pop_front()
    }

    /// Takes the connection's events, and checks whether the layer has become ready.
    fn take_events(&mut self, connection: &mut Connection, history: &mut History) {
        while let Some(event) = history.next_event(connection) {
            match event {
                // The layer's handshake comes first.
                Event::Connected => {}
                Event::Writable if !self.is_announced => {}
                Event::PathMtu { discarded, .. } => self.events.push_back(Event::PathMtu {
                    mps: self.mps(connection),
                    discarded,
                }),
                Event::Closed {
                    code,
                    origin,
                    cause,
                } => {
                    let failure = self.failure.clone();
                    self.events.push_back(Event::Closed {
                        code,
                        origin,
                        cause: failure.map_or(cause, |reason| Cause::LayerFailed { reason }),
                    });
                }
                event => self.events.push_back(event),
            }
        }
        if !self.is_announced && history.is_connected && self.layer.is_ready() {
            self.is_announced = true;
            self.events.push_back(Event::Connected);
            if self.was_refused {
                self.events.push_back(Event::Writable);
            }
        }
    }

    /// Returns when the layer's timers are due.
    pub(super) fn deadline(&self, connection: &Connection, history: &History) -> Option<Instant> {
        let runs = runs(connection, history);
        runs.then(|| self.layer.deadline()).flatten()
    }

    /// Handles the layer's timers that are due at `now`.
    pub(super) fn expire(&mut self, now: Instant, connection: &Connection, history: &History) {
        let deadline = self.deadline(connection, history);
        if deadline.is_some_and(|at| at <= now) {
            self.layer.expire(now);
        }
    }
}

/// Returns whether a layer can send: the connection is established, and neither closing nor over.
const fn runs(connection: &Connection, history: &History) -> bool {
    history.is_connected
        && !history.is_closing
        && matches!(connection.state(), State::PartOpen | State::Open)
}
