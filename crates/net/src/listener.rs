//! Waiting for connections.

use std::sync::Arc;

use crate::connection::Connection;
use crate::error::ConnectionError;
use crate::flow::Mailbox;
use crate::handle::Handle;
use crate::locked;

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
        let flow = self.mailbox.accept().await;
        let flow = flow.ok_or(ConnectionError::EndpointClosed)?;
        flow.leave_backlog();
        Ok(Connection::new(flow))
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
        for flow in self.mailbox.close() {
            flow.abort(ConnectionError::Aborted);
        }
    }
}
