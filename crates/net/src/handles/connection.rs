//! The application's handle to a connection.

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use bytes::Bytes;
use skywave_transport::dccp::{self, Ccid, State, Stats};
use skywave_transport::session::Session;
use skywave_wire::dccp::ServiceCode;

use crate::error::{ConnectionError, SendError, TrySendError};
use crate::flow::Flow;

/// A datagram from the peer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Datagram {
    /// The data; may be empty.
    pub data: Bytes,
    /// Whether it failed its Data Checksum (RFC 4340 section 9.3). Such data is delivered only if
    /// [`dccp::Config::deliver_corrupted`] is set.
    pub corrupted: bool,
}

impl From<dccp::Datagram> for Datagram {
    fn from(datagram: dccp::Datagram) -> Self {
        Self {
            data: datagram.payload.into_bytes(),
            corrupted: datagram.corrupted,
        }
    }
}

/// Closes the connection when the application's last handle is dropped.
#[derive(Debug)]
struct Hold(Arc<Flow>);

impl Drop for Hold {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// A DCCP connection: unreliable datagrams under congestion control.
///
/// It can be cloned and used from several tasks. Dropping the last clone closes the connection in
/// the background, like [`close`](Self::close); queued datagrams are sent first.
#[derive(Clone, Debug)]
pub struct Connection(Arc<Hold>);

impl Connection {
    pub(crate) fn new(flow: Arc<Flow>) -> Self {
        Self(Arc::new(Hold(flow)))
    }

    fn flow(&self) -> &Arc<Flow> {
        &self.0.0
    }

    /// Waits until the handshake is complete.
    pub(crate) async fn established(&self) -> Result<(), ConnectionError> {
        let flow = self.flow();
        loop {
            let changed = flow.changed.notified();
            if flow.is_established() {
                return Ok(());
            }
            if let Some(end) = flow.end() {
                return Err(end);
            }
            changed.await;
        }
    }

    /// Sends a datagram, waiting while the send queue ([`dccp::Config::send_queue`]) is full. The
    /// datagram leaves when congestion control permits, and may be lost.
    ///
    /// Cancel safe: if cancelled, the datagram has not been queued.
    ///
    /// # Errors
    ///
    /// The datagram is too large, or the connection is over: see [`SendError`].
    pub async fn send(&self, datagram: impl Into<Bytes>) -> Result<(), SendError> {
        let mut datagram = datagram.into();
        self.flow().cooperate().await;
        loop {
            let writable = self.flow().writable.notified();
            match self.offer(&mut datagram) {
                Ok(()) => return Ok(()),
                Err(TrySendError::Failed(error)) => return Err(error),
                Err(TrySendError::Full) => writable.await,
            }
        }
    }

    /// Sends a datagram without waiting.
    ///
    /// # Errors
    ///
    /// The queue is full, or the datagram cannot be sent: see [`TrySendError`].
    pub fn try_send(&self, datagram: impl Into<Bytes>) -> Result<(), TrySendError> {
        self.offer(&mut datagram.into())
    }

    /// Queues `datagram`, which is taken only on success.
    fn offer(&self, datagram: &mut Bytes) -> Result<(), TrySendError> {
        let sent = self.flow().offer(datagram);
        sent.map_err(|error| self.meaning(error))
    }

    /// Converts the reason for refusing a datagram.
    fn meaning(&self, error: dccp::SendError) -> TrySendError {
        match error {
            dccp::SendError::QueueFull => TrySendError::Full,
            dccp::SendError::TooLarge { size, mps } => SendError::TooLarge {
                size,
                maximum: mps as usize,
            }
            .into(),
            dccp::SendError::PeerNotListening => SendError::PeerNotListening.into(),
            _ => SendError::Connection(self.end().unwrap_or(ConnectionError::Closed)).into(),
        }
    }

    /// Sends all of `datagrams` in order, like [`send`](Self::send) but with less work for each.
    ///
    /// Cancel safe: datagrams not yet queued remain in `datagrams`.
    ///
    /// # Errors
    ///
    /// The first remaining datagram cannot be sent: see [`SendError`].
    pub async fn send_many(&self, datagrams: &mut VecDeque<Bytes>) -> Result<(), SendError> {
        let flow = self.flow();
        tokio::task::coop::consume_budget().await;
        loop {
            let writable = flow.writable.notified();
            match flow
                .offer_all(datagrams)
                .map_err(|error| self.meaning(error))
            {
                Ok(()) => return Ok(()),
                Err(TrySendError::Failed(error)) => return Err(error),
                Err(TrySendError::Full) => writable.await,
            }
        }
    }

    /// Waits for the next datagram from the peer, in order of arrival. Returns `None` once the
    /// connection has been closed normally and everything has been read.
    ///
    /// Cancel safe: no datagram is lost.
    ///
    /// # Errors
    ///
    /// The connection ended abnormally and everything has been read.
    pub async fn recv(&self) -> Result<Option<Datagram>, ConnectionError> {
        self.flow().cooperate().await;
        self.next(|| self.try_recv()).await
    }

    /// Waits for datagrams from the peer and appends those available, at most `limit`, to
    /// `datagrams`. Returns their number; zero once the connection has been closed normally and
    /// everything has been read. Needs less work per datagram than [`recv`](Self::recv).
    ///
    /// Cancel safe: no datagram is lost.
    ///
    /// # Errors
    ///
    /// The connection ended abnormally and everything has been read.
    pub async fn recv_many(
        &self,
        datagrams: &mut Vec<Datagram>,
        limit: usize,
    ) -> Result<usize, ConnectionError> {
        if limit == 0 {
            return Ok(0);
        }
        tokio::task::coop::consume_budget().await;
        let flow = self.flow();
        let mut read = || flow.read_all(limit, |datagram| datagrams.push(datagram.into()));
        let some = self
            .next(|| Some(read()).filter(|&count| count > 0))
            .await?;
        Ok(some.unwrap_or(0))
    }

    /// Waits until `read` returns something; `None` after a normal end.
    async fn next<T>(
        &self,
        mut read: impl FnMut() -> Option<T>,
    ) -> Result<Option<T>, ConnectionError> {
        if let Some(some) = read() {
            return Ok(Some(some));
        }
        loop {
            // Check this first, so that data arriving in between is not missed.
            let end = self.flow().end();
            if let Some(some) = read() {
                return Ok(Some(some));
            }
            match end {
                None => self.readable().await,
                Some(ConnectionError::Closed) => return Ok(None),
                Some(error) => return Err(error),
            }
        }
    }

    /// Waits until there is a datagram to read, or none can arrive any more. Cancel safe.
    pub async fn readable(&self) {
        let flow = self.flow();
        loop {
            let readable = flow.readable.notified();
            if flow.has_unread() || flow.end().is_some() {
                return;
            }
            readable.await;
        }
    }

    /// Returns the next datagram from the peer, if one is available.
    pub fn try_recv(&self) -> Option<Datagram> {
        self.flow().read().map(Datagram::from)
    }

    /// Waits until everything queued has been sent. Cancel safe.
    ///
    /// # Errors
    ///
    /// The connection ended first.
    pub async fn flush(&self) -> Result<(), ConnectionError> {
        let flow = self.flow();
        loop {
            let sent = flow.writable.notified();
            let end = flow.end();
            let is_sent = match end {
                None => true,
                // The peer may have closed before everything was sent.
                Some(ConnectionError::Closed) => flow.discarded() == 0,
                Some(_) => false,
            };
            if is_sent && flow.is_flushed() {
                return Ok(());
            }
            if let Some(end) = end {
                return Err(end);
            }
            sent.await;
        }
    }

    /// Closes the connection: accepts no more datagrams, sends queued ones (for at most
    /// [`dccp::Config::linger`]), and waits for the peer. Received datagrams can still be read. If
    /// cancelled, closing continues in the background.
    ///
    /// # Errors
    ///
    /// The connection ended abnormally, before or during the close, or
    /// [`ConnectionError::Discarded`].
    pub async fn close(&self) -> Result<(), ConnectionError> {
        let flow = self.flow();
        flow.close();
        match self.closed().await {
            ConnectionError::Closed => match flow.discarded() {
                0 => Ok(()),
                datagrams => Err(ConnectionError::Discarded { datagrams }),
            },
            error => Err(error),
        }
    }

    /// Waits until the connection is over. [`ConnectionError::Closed`] is the normal end.
    pub async fn closed(&self) -> ConnectionError {
        let flow = self.flow();
        loop {
            let changed = flow.changed.notified();
            if let Some(end) = flow.end() {
                return end;
            }
            changed.await;
        }
    }

    /// Returns why the connection is over, or `None` while it is not.
    pub fn end(&self) -> Option<ConnectionError> {
        self.flow().end()
    }

    /// Ends the connection immediately with a Reset, "Aborted", and discards queued datagrams.
    pub fn abort(&self) {
        self.flow().abort(ConnectionError::Aborted);
    }

    /// Splits the connection into halves for a sending and a receiving task. It is closed when both
    /// are dropped.
    pub fn split(self) -> (SendHalf, RecvHalf) {
        (SendHalf(self.clone()), RecvHalf(self))
    }

    /// Returns whether a thread is using the connection at this moment: its packets arrive or
    /// leave, or its congestion control is called. Other methods wait until that is over.
    pub fn is_busy(&self) -> bool {
        self.flow().is_busy()
    }

    /// Returns counters and the state of congestion control.
    pub fn stats(&self) -> Stats {
        self.flow().look(dccp::Connection::stats)
    }

    /// Returns the CCIDs in force for the data that this end sends, and for the data that it
    /// receives.
    pub fn ccids(&self) -> [Ccid; 2] {
        self.flow().look(dccp::Connection::ccids)
    }

    /// Returns the state of the connection (RFC 4340 section 4.3).
    pub fn state(&self) -> State {
        self.flow().look(dccp::Connection::state)
    }

    /// Returns the maximum amount of data in a datagram, in bytes (RFC 4340 section 14), as
    /// permitted by [`dccp::Config::mps`] and the path. The maximum changes with the path. When it
    /// falls, queued datagrams that are now too large are discarded and counted in
    /// [`datagrams_discarded`](dccp::Counters::datagrams_discarded).
    pub fn max_datagram_size(&self) -> usize {
        self.flow().look_at_session(Session::mps) as usize
    }

    /// Returns how many more datagrams fit in the send queue now.
    pub fn send_room(&self) -> usize {
        self.flow().look_at_session(Session::send_room)
    }

    /// Returns the Service Code of the connection.
    pub fn service_code(&self) -> ServiceCode {
        self.flow().look(dccp::Connection::service_code)
    }

    /// Returns the peer's IP address and UDP port; the port is 0 over IP.
    pub fn peer_address(&self) -> SocketAddr {
        self.flow().key.path.peer
    }

    /// Returns the peer's DCCP port.
    pub fn peer_port(&self) -> u16 {
        self.flow().key.remote_port
    }

    /// Returns the IP address of this end.
    pub fn local_ip(&self) -> IpAddr {
        self.flow().key.path.local
    }

    /// Returns the DCCP port of this end.
    pub fn local_port(&self) -> u16 {
        self.flow().key.local_port
    }
}

/// The sending half of a [`Connection`].
#[derive(Debug)]
pub struct SendHalf(Connection);

impl SendHalf {
    /// Sends a datagram, waiting for room: see [`Connection::send`].
    ///
    /// # Errors
    ///
    /// See [`Connection::send`].
    pub async fn send(&mut self, datagram: impl Into<Bytes>) -> Result<(), SendError> {
        self.0.send(datagram).await
    }

    /// Sends several datagrams: see [`Connection::send_many`].
    ///
    /// # Errors
    ///
    /// See [`Connection::send_many`].
    pub async fn send_many(&mut self, datagrams: &mut VecDeque<Bytes>) -> Result<(), SendError> {
        self.0.send_many(datagrams).await
    }

    /// Sends a datagram without waiting: see [`Connection::try_send`].
    ///
    /// # Errors
    ///
    /// See [`Connection::try_send`].
    pub fn try_send(&mut self, datagram: impl Into<Bytes>) -> Result<(), TrySendError> {
        self.0.try_send(datagram)
    }

    /// Closes the connection and waits for the peer: see [`Connection::close`].
    ///
    /// # Errors
    ///
    /// See [`Connection::close`].
    pub async fn close(&mut self) -> Result<(), ConnectionError> {
        self.0.close().await
    }

    /// Returns the connection, for everything else.
    pub const fn connection(&self) -> &Connection {
        &self.0
    }
}

/// The receiving half of a [`Connection`].
#[derive(Debug)]
pub struct RecvHalf(Connection);

impl RecvHalf {
    /// Waits for the next datagram: see [`Connection::recv`].
    ///
    /// # Errors
    ///
    /// See [`Connection::recv`].
    pub async fn recv(&mut self) -> Result<Option<Datagram>, ConnectionError> {
        self.0.recv().await
    }

    /// Waits for datagrams: see [`Connection::recv_many`].
    ///
    /// # Errors
    ///
    /// See [`Connection::recv_many`].
    pub async fn recv_many(
        &mut self,
        datagrams: &mut Vec<Datagram>,
        limit: usize,
    ) -> Result<usize, ConnectionError> {
        self.0.recv_many(datagrams, limit).await
    }

    /// Returns the next datagram, if one is available: see [`Connection::try_recv`].
    pub fn try_recv(&mut self) -> Option<Datagram> {
        self.0.try_recv()
    }

    /// Returns the connection, for everything else.
    pub const fn connection(&self) -> &Connection {
        &self.0
    }
}
