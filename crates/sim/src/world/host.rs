//! The ends of a flow: a single transport endpoint each, or several in succession.

use skywave_congestion::MemberFailure;
use skywave_transport::dccp::Connection;
use skywave_transport::peer::Peer;
use skywave_transport::tcp::{Receiver, Sender};
use skywave_transport::{Driven, EndStats, SendingEnd, Status};
use skywave_units::Instant;
use skywave_wire::Payload;

use crate::world::ids::HostId;
use crate::world::packet::Body;

/// A transport endpoint. Boxed, so that an idle flow uses no more memory than it needs.
pub(crate) enum Host {
    TcpSender(Box<Driven<Sender>>),
    TcpReceiver(Box<Driven<Receiver>>),
    Dccp(Box<Driven<Connection>>),
    /// UDP, or a transport of a user.
    Other(Box<Driven<Box<dyn Peer>>>),
    /// An end of a connection of the kernel.
    Kernel(Box<KernelEnd>),
    /// Successive connections.
    Successive(Box<Successive>),
    /// In another region of the network.
    Elsewhere,
}

/// One end of a connection of the kernel: what it is to send, and what was last known about it.
#[derive(Debug, Default)]
pub(crate) struct KernelEnd {
    pub(crate) supply: Supply,
    pub(crate) stats: EndStats,
}

/// What a connection of the kernel is to send.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Supply {
    /// The bytes handed over so far, if their number is known.
    pub bytes: u64,
    /// The datagrams handed over since the last time. Bytes that belong to none are cut into full
    /// ones.
    pub datagrams: Vec<Payload>,
    /// Whether an endless stream follows.
    pub is_endless: bool,
    /// Whether the sending side is to be closed after them.
    pub is_closed: bool,
}

impl KernelEnd {
    /// Returns what to hand over to the kernel.
    pub(crate) fn supply(&mut self) -> Supply {
        let datagrams = std::mem::take(&mut self.supply.datagrams);
        Supply {
            datagrams,
            ..self.supply
        }
    }
}

impl SendingEnd for KernelEnd {
    fn send(&mut self, datagram: Payload) -> bool {
        let bytes = datagram.len() as u64;
        if !self.supply.is_closed {
            self.supply.datagrams.push(datagram);
        }
        self.write(Some(bytes))
    }

    fn write(&mut self, bytes: Option<u64>) -> bool {
        match bytes {
            _ if self.supply.is_closed => {}
            Some(bytes) => self.supply.bytes += bytes,
            None => self.supply.is_endless = true,
        }
        true
    }

    fn waiting(&self) -> usize {
        0
    }

    fn close(&mut self, _now: Instant) {
        // An endless stream ends here.
        self.supply.is_endless = false;
        self.supply.is_closed = true;
    }
}

/// An end of a flow with successive connections. It holds the current connection and the counts of
/// past ones, so its memory does not depend on their number.
#[derive(Default)]
pub(crate) struct Successive {
    current: Option<Current>,
    past: EndStats,
    /// The failure of the first connection whose control failed.
    failure: Option<MemberFailure>,
}

struct Current {
    host: Host,
    /// The sender's port. It is not reused by the flow for a long time.
    port: u16,
}

impl Host {
    /// Returns the status of the end.
    pub(crate) fn status(&self) -> &dyn Status {
        match self {
            Self::TcpSender(sender) => sender.get(),
            Self::TcpReceiver(receiver) => receiver.get(),
            Self::Dccp(connection) => connection.get(),
            Self::Other(peer) => peer.get(),
            Self::Kernel(end) => &**end,
            Self::Successive(end) => &**end,
            Self::Elsewhere => &Elsewhere,
        }
    }
}

/// The status of a host in another region: nothing is known about it.
struct Elsewhere;

impl Status for Elsewhere {
    fn end_stats(&self) -> EndStats {
        EndStats::default()
    }

    fn is_over(&self) -> bool {
        false
    }
}

impl Status for KernelEnd {
    fn end_stats(&self) -> EndStats {
        self.stats
    }

    fn is_over(&self) -> bool {
        self.supply.is_closed && self.stats.is_idle
    }
}

impl Successive {
    /// Starts the next connection.
    pub(crate) fn open(&mut self, host: Host, port: u16) {
        self.close();
        self.current = Some(Current { host, port });
    }

    /// Drops the connection but keeps its counts.
    pub(crate) fn close(&mut self) {
        if let Some(connection) = self.current.take() {
            let status = connection.host.status();
            self.past = status.end_stats().counts_after(&self.past).counts();
            self.failure = self.failure.take().or(status.failure());
        }
    }

    /// Returns this end of the current connection.
    pub(crate) fn current(&mut self) -> Option<&mut Host> {
        self.current.as_mut().map(|connection| &mut connection.host)
    }

    /// Returns the end to which a packet for this host belongs; `None` for a late packet of an
    /// earlier connection.
    pub(crate) fn addressee(&mut self, to: HostId, body: &Body) -> Option<&mut Host> {
        let (source, destination) = body.ports();
        let port = if to.is_sender() { destination } else { source };
        self.current
            .as_mut()
            .filter(|connection| connection.port == port)
            .map(|connection| &mut connection.host)
    }

    /// Returns the bytes received by this end in the current connection.
    pub(crate) fn delivered_bytes(&self) -> u64 {
        let status = self.status();
        status.map_or(0, |status| status.end_stats().delivered_bytes)
    }

    fn status(&self) -> Option<&dyn Status> {
        let current = self.current.as_ref();
        current.map(|connection| connection.host.status())
    }
}

impl Status for Successive {
    /// Returns the counts of all connections and the state of the current one.
    fn end_stats(&self) -> EndStats {
        match self.status() {
            Some(status) => status.end_stats().counts_after(&self.past),
            None => {
                let mut stats = self.past;
                stats.is_idle = true;
                stats
            }
        }
    }

    fn inner_values(&self, record: &mut dyn FnMut(&'static str, f64)) {
        if let Some(status) = self.status() {
            status.inner_values(record);
        }
    }

    fn failure(&self) -> Option<MemberFailure> {
        let current = || self.status().and_then(Status::failure);
        self.failure.clone().or_else(current)
    }

    /// Returns whether there is a connection and it is over.
    fn is_over(&self) -> bool {
        self.status().is_some_and(Status::is_over)
    }
}

#[cfg(test)]
mod tests;
