//! Accepting connections.

use std::sync::Arc;

use crate::error::ConnectionError;
use crate::flow::Mailbox;
use crate::handles::connection::Connection;
use crate::handles::handle::Handle;
use crate::sync::{AtomicBool, Ordering, locked};

/// Accepts connections to one DCCP port of an endpoint, for one or more Service Codes.
///
/// [Closing](Self::close) or dropping a listener refuses later Requests and resets connections that
/// nobody has accepted.
#[derive(Debug)]
pub struct Listener {
    pub(crate) handle: Arc<Handle>,
    pub(crate) mailbox: Arc<Mailbox>,
    pub(crate) port: u16,
    /// Whether the application has closed it.
    pub(crate) is_closed: AtomicBool,
}

impl Listener {
    /// Waits for the next connection whose handshake is complete. [`Connection::service_code`] says
    /// which service it requested. Cancel safe.
    ///
    /// # Errors
    ///
    /// [`ConnectionError::EndpointClosed`] once the endpoint shuts down,
    /// [`ConnectionError::ListenerClosed`] after [`close`](Self::close).
    pub async fn accept(&self) -> Result<Connection, ConnectionError> {
        loop {
            if let Some(connection) = self.try_accept()? {
                return Ok(connection);
            }
            self.acceptable().await;
        }
    }

    /// Waits until a connection can be accepted, or it is certain that none ever will be. Cancel
    /// safe.
    pub async fn acceptable(&self) {
        self.mailbox.ready().await;
    }

    /// Returns the next connection whose handshake is complete, if there is one.
    ///
    /// # Errors
    ///
    /// [`ConnectionError::EndpointClosed`] once the endpoint shuts down,
    /// [`ConnectionError::ListenerClosed`] after [`close`](Self::close).
    pub fn try_accept(&self) -> Result<Option<Connection>, ConnectionError> {
        match self.mailbox.take() {
            Some(flow) => {
                flow.leave_backlog();
                Ok(Some(Connection::new(flow)))
            }
            None if self.is_closed.load(Ordering::Acquire) => Err(ConnectionError::ListenerClosed),
            None if self.mailbox.is_closed() => Err(ConnectionError::EndpointClosed),
            None => Ok(None),
        }
    }

    /// Returns the DCCP port.
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Refuses later Requests and resets connections that nobody has accepted, as dropping it does.
    pub fn close(&self) {
        if self.is_closed.swap(true, Ordering::AcqRel) {
            return;
        }
        locked(&self.handle.shared.table).stop_listening(self.port, &self.mailbox);
        let mut door = locked(&self.handle.shared.door);
        for &service in &self.mailbox.config.service_codes {
            door.withdraw(self.port, service);
        }
        drop(door);
        for flow in self.mailbox.close() {
            flow.abort(ConnectionError::Aborted);
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.close();
    }
}
