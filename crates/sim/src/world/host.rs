//! The ends of a flow: a single transport endpoint each, or several in succession.

use skywave_congestion::{Control, ControlFailure};
use skywave_traffic::SendingEnd;
use skywave_transport::Driven;
use skywave_transport::dccp::{Connection, RateStats, State};
use skywave_transport::tcp::{Receiver, Sender};
use skywave_transport::udp::Socket;
use skywave_units::{Duration, Instant};
use skywave_wire::Payload;

use crate::world::ids::HostId;
use crate::world::packet::Body;

/// A transport endpoint. Boxed, so that an idle flow uses no more memory than it needs.
pub(crate) enum Host {
    TcpSender(Box<Driven<Sender>>),
    TcpReceiver(Box<Driven<Receiver>>),
    Dccp(Box<Driven<Connection>>),
    Udp(Box<Driven<Socket>>),
    /// An end of a connection of the kernel.
    Kernel(Box<KernelEnd>),
    /// Successive connections.
    Successive(Box<Successive>),
}

/// What the simulator reads from an endpoint of any kind.
#[derive(Clone, Copy, Debug, Default)]
pub struct HostStats {
    /// Data packets sent, including retransmissions.
    pub packets_sent: u64,
    /// Bytes of application data in them.
    pub bytes_sent: u64,
    /// Data packets retransmitted.
    pub retransmissions: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// How long data waited only because it did not fit TCP's receive window, until the sender's
    /// last event.
    pub receive_window_limited: Duration,
    /// Whether everything that the application handed over has been sent and, over TCP,
    /// acknowledged.
    pub is_idle: bool,
    /// Data packets received, excluding duplicates.
    pub delivered_packets: u64,
    /// Bytes of application data delivered (in order, for TCP).
    pub delivered_bytes: u64,
    /// cwnd, in packets; zero if there is no window.
    pub cwnd: f64,
    /// ssthresh, in packets; infinite before the first loss if the protocol defines it so.
    pub ssthresh: f64,
    /// Packets in flight, as estimated by the sender.
    pub pipe: u32,
    /// The smoothed round-trip time; `None` before the first sample.
    pub srtt: Option<Duration>,
    /// The state of a sender with a rate instead of a window.
    pub rate: Option<RateStats>,
}

/// One end of a connection of the kernel: what it is to send, and what was last known about it.
#[derive(Debug, Default)]
pub(crate) struct KernelEnd {
    pub(crate) supply: Supply,
    pub(crate) stats: HostStats,
}

/// What a connection of the kernel is to send.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Supply {
    /// The bytes handed over so far, if their number is known.
    pub bytes: u64,
    /// Whether an endless stream follows.
    pub is_endless: bool,
    /// Whether the sending side is to be closed after them.
    pub is_closed: bool,
}

impl SendingEnd for KernelEnd {
    fn send(&mut self, datagram: Payload) -> bool {
        self.write(Some(datagram.len() as u64))
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
    past: HostStats,
    /// The failure of the first connection whose control failed.
    failure: Option<ControlFailure>,
}

struct Current {
    host: Host,
    /// The sender's port. It is not reused by the flow for a long time.
    port: u16,
}

impl HostStats {
    /// Returns these values with the counts of earlier connections added.
    pub(crate) fn counts_after(self, past: &Self) -> Self {
        // Without `..`, so that a new field must be listed either as a count or as something else.
        let Self {
            packets_sent,
            bytes_sent,
            retransmissions,
            timeouts,
            receive_window_limited,
            delivered_packets,
            delivered_bytes,
            is_idle: _,
            cwnd: _,
            ssthresh: _,
            pipe: _,
            srtt: _,
            rate: _,
        } = *past;
        Self {
            packets_sent: self.packets_sent + packets_sent,
            bytes_sent: self.bytes_sent + bytes_sent,
            retransmissions: self.retransmissions + retransmissions,
            timeouts: self.timeouts + timeouts,
            receive_window_limited: self.receive_window_limited + receive_window_limited,
            delivered_packets: self.delivered_packets + delivered_packets,
            delivered_bytes: self.delivered_bytes + delivered_bytes,
            ..self
        }
    }

    /// Returns only the counts.
    pub(crate) fn counts(&self) -> Self {
        Self::default().counts_after(self)
    }
}

impl Host {
    /// Returns counters and congestion state.
    pub(crate) fn stats(&self) -> HostStats {
        match self {
            Self::TcpSender(sender) => {
                let stats = sender.get().stats();
                HostStats {
                    packets_sent: stats.segments_sent,
                    bytes_sent: stats.bytes_sent,
                    retransmissions: stats.segments_retransmitted,
                    timeouts: u64::from(stats.timeouts),
                    receive_window_limited: stats.receive_window_limited,
                    is_idle: sender.get().is_idle(),
                    cwnd: stats.cwnd,
                    ssthresh: stats.ssthresh,
                    pipe: stats.flight.div_ceil(sender.get().segment_size()) as u32,
                    srtt: stats.srtt,
                    ..HostStats::default()
                }
            }
            Self::TcpReceiver(receiver) => {
                let stats = receiver.get().stats();
                HostStats {
                    delivered_packets: stats.segments_received - stats.duplicates,
                    delivered_bytes: stats.bytes_delivered,
                    ..HostStats::default()
                }
            }
            Self::Dccp(connection) => {
                let stats = connection.get().stats();
                // A rate has no window, so the window's columns stay zero.
                let window = stats.congestion.window().copied().unwrap_or_default();
                HostStats {
                    packets_sent: stats.counters.data_packets_sent,
                    bytes_sent: stats.counters.bytes_sent,
                    retransmissions: 0,
                    timeouts: stats.timeouts,
                    receive_window_limited: Duration::ZERO,
                    is_idle: stats.queued == 0,
                    delivered_packets: stats.counters.data_packets_received,
                    delivered_bytes: stats.counters.bytes_received,
                    cwnd: window.cwnd,
                    ssthresh: window.ssthresh,
                    pipe: window.pipe,
                    srtt: stats.srtt,
                    rate: stats.congestion.rate().copied(),
                }
            }
            Self::Udp(socket) => {
                let counters = socket.get().counters();
                HostStats {
                    packets_sent: counters.datagrams_sent,
                    bytes_sent: counters.bytes_sent,
                    is_idle: true,
                    delivered_packets: counters.datagrams_received,
                    delivered_bytes: counters.bytes_received,
                    ..HostStats::default()
                }
            }
            Self::Kernel(end) => end.stats,
            Self::Successive(end) => end.stats(),
        }
    }

    /// Passes the inner values of the congestion control, if there is one, to `record`.
    pub(crate) fn inner_values(&self, record: &mut dyn FnMut(&'static str, f64)) {
        match self {
            Self::TcpSender(sender) => sender.get().control().inner_values(record),
            Self::Dccp(connection) => connection.get().inner_values(record),
            Self::TcpReceiver(_) | Self::Udp(_) | Self::Kernel(_) => {}
            Self::Successive(end) => {
                if let Some(connection) = &end.current {
                    connection.host.inner_values(record);
                }
            }
        }
    }

    /// Why its congestion control could no longer decide, if it has failed.
    pub(crate) fn failure(&self) -> Option<ControlFailure> {
        match self {
            Self::TcpSender(sender) => sender.get().control().failure(),
            Self::Dccp(connection) => connection.get().control_failure(),
            Self::TcpReceiver(_) | Self::Udp(_) | Self::Kernel(_) => None,
            Self::Successive(end) => end.failure(),
        }
    }

    /// Returns whether the body is a packet of its protocol.
    pub(crate) fn speaks(&self, body: &Body) -> bool {
        match (self, body) {
            (Self::TcpSender(_) | Self::TcpReceiver(_), Body::Tcp(_) | Body::Bare(_))
            | (Self::Dccp(_), Body::Dccp(_))
            | (Self::Udp(_), Body::Udp(_)) => true,
            (Self::Successive(end), body) => end
                .current
                .as_ref()
                .is_some_and(|connection| connection.host.speaks(body)),
            _ => false,
        }
    }

    /// Returns whether its connection is over.
    pub(crate) fn is_over(&self) -> bool {
        match self {
            Self::TcpSender(sender) => sender.get().is_over(),
            Self::TcpReceiver(receiver) => receiver.get().is_finished(),
            Self::Dccp(connection) => {
                matches!(connection.get().state(), State::TimeWait | State::Closed)
            }
            Self::Udp(_) => false,
            Self::Kernel(end) => end.supply.is_closed && end.stats.is_idle,
            Self::Successive(end) => end.is_over(),
        }
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
            self.past = connection.host.stats().counts_after(&self.past).counts();
            self.failure = self.failure.take().or(connection.host.failure());
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
        self.current
            .as_ref()
            .map_or(0, |connection| connection.host.stats().delivered_bytes)
    }

    /// Returns whether there is a connection and it is over.
    pub(crate) fn is_over(&self) -> bool {
        self.current
            .as_ref()
            .is_some_and(|connection| connection.host.is_over())
    }

    fn failure(&self) -> Option<ControlFailure> {
        let current = self.current.as_ref();
        let failure = || current.and_then(|connection| connection.host.failure());
        self.failure.clone().or_else(failure)
    }

    /// Returns the counts of all connections and the state of the current one.
    pub(crate) fn stats(&self) -> HostStats {
        match &self.current {
            Some(connection) => connection.host.stats().counts_after(&self.past),
            None => HostStats {
                is_idle: true,
                ..self.past
            },
        }
    }
}

#[cfg(test)]
mod tests;
