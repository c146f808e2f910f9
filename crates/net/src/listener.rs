//! Waiting for connections.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use skywave_transport::dccp;
use tokio::sync::Notify;

use crate::connection::Connection;
use crate::endpoint::Handle;
use crate::error::ConnectionError;
use crate::flow::Flow;
use crate::locked;

/// Where connections wait to be accepted.
#[derive(Debug)]
pub(crate) struct Mailbox {
    pub(crate) config: Arc<dccp::Config>,
    established: Mutex<VecDeque<Arc<Flow>>>,
    arrived: Notify,
    /// Connections in their handshake or waiting.
    backlog: AtomicUsize,
    is_closed: AtomicBool,
}

impl Mailbox {
    pub(crate) fn new(config: Arc<dccp::Config>) -> Self {
        Self {
            config,
            established: Mutex::default(),
            arrived: Notify::new(),
            backlog: AtomicUsize::new(0),
            is_closed: AtomicBool::new(false),
        }
    }

    /// Whether there is room for one more; takes it up if so.
    pub(crate) fn enter(&self, limit: usize) -> bool {
        let room = |waiting| (waiting < limit).then_some(waiting + 1);
        self.backlog
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, room)
            .is_ok()
    }

    /// Whether no more than `limit` wait.
    pub(crate) fn has_room(&self, limit: usize) -> bool {
        self.backlog.load(Ordering::Relaxed) < limit
    }

    pub(crate) fn leave(&self) {
        self.backlog.fetch_sub(1, Ordering::Relaxed);
    }

    /// The handshake of `flow` is complete.
    pub(crate) fn deliver(&self, flow: &Arc<Flow>) {
        let mut established = locked(&self.established);
        if self.is_closed.load(Ordering::Relaxed) {
            drop(established);
            flow.abort(ConnectionError::Aborted);
            return;
        }
        established.push_back(Arc::clone(flow));
        drop(established);
        self.arrived.notify_one();
    }

    /// Nobody accepts any more.
    pub(crate) fn close(&self) {
        let mut established = locked(&self.established);
        self.is_closed.store(true, Ordering::Relaxed);
        let waiting = core::mem::take(&mut *established);
        drop(established);
        for flow in waiting {
            flow.abort(ConnectionError::Aborted);
        }
        self.arrived.notify_waiters();
    }
}

/// Accepts connections to one DCCP port of an endpoint, for one or several Service Codes.
///
/// A listener that is dropped refuses what comes later, and resets what nobody has accepted.
#[derive(Debug)]
pub struct Listener {
    pub(crate) handle: Arc<Handle>,
    pub(crate) mailbox: Arc<Mailbox>,
    pub(crate) port: u16,
}

impl Listener {
    /// The next connection, its handshake complete. [`Connection::service_code`] tells what it is
    /// for. Cancelling loses nothing.
    ///
    /// # Errors
    ///
    /// [`ConnectionError::EndpointClosed`] once the endpoint shuts down.
    pub async fn accept(&self) -> Result<Connection, ConnectionError> {
        loop {
            let arrived = self.mailbox.arrived.notified();
            let (next, more) = {
                let mut established = locked(&self.mailbox.established);
                (established.pop_front(), !established.is_empty())
            };
            if let Some(flow) = next {
                if more {
                    // For the next who waits: one notification may stand for several arrivals.
                    self.mailbox.arrived.notify_one();
                }
                flow.leave_backlog();
                return Ok(Connection::new(flow));
            }
            if self.mailbox.is_closed.load(Ordering::Relaxed) {
                return Err(ConnectionError::EndpointClosed);
            }
            arrived.await;
        }
    }

    /// The DCCP port.
    pub const fn port(&self) -> u16 {
        self.port
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        locked(&self.handle.shared.table).stop_listening(self.port, &self.mailbox);
        let mut door = locked(&self.handle.shared.door);
        for &service in &self.mailbox.config.service_codes {
            door.withdraw(self.port, service);
        }
        drop(door);
        self.mailbox.close();
    }
}
