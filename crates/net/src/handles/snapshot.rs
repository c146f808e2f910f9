//! Snapshots of an endpoint's connections.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::vec;

use skywave_transport::dccp::{Ccid, Role, State, Stats};
use skywave_transport::session::Session;
use skywave_wire::dccp::ServiceCode;

use crate::flow::{Flow, Shared};
use crate::sync::locked;
use crate::totals::Totals;

/// The connections of an endpoint: see [`Endpoint::connections`](crate::Endpoint::connections).
///
/// Iterates over the connections that existed when it was created, in no particular order, and
/// describes each as it is when its turn comes.
#[derive(Debug)]
pub struct Connections {
    flows: vec::IntoIter<Arc<Flow>>,
    ended: Totals,
}

/// A snapshot of one connection.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ConnectionSnapshot {
    /// A number that is unique among all connections of the endpoint, including earlier ones.
    pub id: u64,
    /// The peer's IP address and UDP port; the port is 0 over IP.
    pub peer_address: SocketAddr,
    /// The peer's DCCP port.
    pub peer_port: u16,
    /// The IP address of this end.
    pub local_ip: IpAddr,
    /// The DCCP port of this end.
    pub local_port: u16,
    /// Which side of the handshake this end is on.
    pub role: Role,
    /// The Service Code.
    pub service_code: ServiceCode,
    /// The state (RFC 4340 section 4.3).
    pub state: State,
    /// The CCIDs in force for the data that this end sends, and for the data that it receives.
    pub ccids: [Ccid; 2],
    /// The maximum amount of data in a datagram, in bytes.
    pub max_datagram_size: u32,
    /// Counters and the state of congestion control.
    pub stats: Stats,
}

impl Connections {
    pub(crate) fn of(shared: &Shared) -> Self {
        // Under one lock, so that each connection is either among these or among the ended ones.
        let table = locked(&shared.table);
        Self {
            flows: table.flows().into_iter(),
            ended: *table.ended(),
        }
    }

    /// Returns the totals of the connections that were over when this was created. Together with
    /// those iterated over, they are the totals of all connections, which never decrease.
    pub const fn ended(&self) -> &Totals {
        &self.ended
    }
}

impl Iterator for Connections {
    type Item = ConnectionSnapshot;

    fn next(&mut self) -> Option<ConnectionSnapshot> {
        self.flows.next().map(|flow| flow.snapshot())
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.flows.size_hint()
    }
}

impl ExactSizeIterator for Connections {}

impl Flow {
    fn snapshot(&self) -> ConnectionSnapshot {
        let look = |session: &Session| {
            let connection = session.connection();
            ConnectionSnapshot {
                id: self.id,
                peer_address: self.key.path.peer,
                peer_port: self.key.remote_port,
                local_ip: self.key.path.local,
                local_port: self.key.local_port,
                role: connection.role(),
                service_code: connection.service_code(),
                state: connection.state(),
                ccids: connection.ccids(),
                max_datagram_size: session.mps(),
                stats: connection.stats(),
            }
        };
        self.look_at_session(look)
    }
}
