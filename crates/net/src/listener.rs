//! Accepting connections.

use std::sync::Arc;

use crate::connection::Connection;
use crate::error::ConnectionError;
use crate::flow::Mailbox;
use crate::handle::Handle;
use crate::locked;

/// Accepts connections to one DCCP port of an endpoint, for one or more Service Codes.
///
/// Dropping a listener refuses later Requests and resets connections that nobody has accepted.
#[derive(Debug)]
pub struct Listener {
    pub(crate) handle: Arc<Handle>,
    pub(crate) mailbox: Arc<Mailbox>,
    pub(crate) port: u16,
}

impl Listener {
    /// Waits for the next connection whose handshake is complete. [`Connection::service_code`] says
    /// which service it requested. Cancel safe.
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
