//! An end of a flow whose connections follow one another.

use crate::host::{Host, HostStats};
use crate::ids::HostId;
use crate::packet::Body;

/// Holds a connection while there is one, and the counts of those before it: however many there
/// have been, it takes the memory of one.
#[derive(Default)]
pub(crate) struct Successive {
    current: Option<Connection>,
    past: HostStats,
}

struct Connection {
    host: Host,
    /// The sender's port, which no other connection of the flow has for long.
    port: u16,
}

impl Successive {
    /// Begins the next connection.
    pub(crate) fn open(&mut self, host: Host, port: u16) {
        self.close();
        self.current = Some(Connection { host, port });
    }

    /// Forgets the connection; its counts stay.
    pub(crate) fn close(&mut self) {
        if let Some(connection) = self.current.take() {
            self.past = connection.host.stats().counts_after(&self.past).counts();
        }
    }

    /// This end of the connection in progress.
    pub(crate) fn current(&mut self) -> Option<&mut Host> {
        self.current.as_mut().map(|connection| &mut connection.host)
    }

    /// The end that a packet for this host is for; none where it is a late one of an earlier
    /// connection.
    pub(crate) fn addressee(&mut self, to: HostId, body: &Body) -> Option<&mut Host> {
        let (source, destination) = body.ports();
        let port = if to.is_sender() { destination } else { source };
        self.current
            .as_mut()
            .filter(|connection| connection.port == port)
            .map(|connection| &mut connection.host)
    }

    /// Bytes that this end has received in the connection in progress.
    pub(crate) fn delivered_bytes(&self) -> u64 {
        self.current
            .as_ref()
            .map_or(0, |connection| connection.host.stats().delivered_bytes)
    }

    /// Whether there is a connection, and it is over.
    pub(crate) fn is_over(&self) -> bool {
        self.current
            .as_ref()
            .is_some_and(|connection| connection.host.is_over())
    }

    /// The counts of all connections, and the state of the one in progress.
    pub(crate) fn stats(&self) -> HostStats {
        match &self.current {
            Some(connection) => connection.host.stats().counts_after(&self.past),
            None => self.past,
        }
    }
}
