//! The ends of a flow: a transport endpoint each, or one after another.

use skywave_congestion::{Control, ControlFailure};
use skywave_transport::Driven;
use skywave_transport::dccp::{Connection, RateStats, State};
use skywave_transport::tcp::{Receiver, Sender};
use skywave_transport::udp::Socket;
use skywave_units::Duration;

use crate::ids::HostId;
use crate::packet::Body;

/// A transport endpoint. Boxed, so that an idle flow costs what it needs and no more.
pub(crate) enum Host {
    TcpSender(Box<Driven<Sender>>),
    TcpReceiver(Box<Driven<Receiver>>),
    Dccp(Box<Driven<Connection>>),
    Udp(Box<Driven<Socket>>),
    /// One connection after another.
    Successive(Box<Successive>),
}

/// What the simulator reads off an endpoint of whatever kind.
#[derive(Clone, Copy, Debug, Default)]
pub struct HostStats {
    /// Data packets sent, retransmissions included.
    pub packets_sent: u64,
    /// Bytes of application data in them.
    pub bytes_sent: u64,
    /// Data packets sent again.
    pub retransmissions: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Data packets taken in, duplicates not counted.
    pub delivered_packets: u64,
    /// Bytes of application data delivered (in order, for TCP).
    pub delivered_bytes: u64,
    /// cwnd, in packets; zero where there is no window.
    pub cwnd: f64,
    /// ssthresh, in packets; infinite before the first loss where the protocol says so.
    pub ssthresh: f64,
    /// Packets outstanding in the network, by the sender's estimate.
    pub pipe: u32,
    /// The smoothed round-trip time, once there is one.
    pub srtt: Option<Duration>,
    /// Of a sender that has a rate rather than a window.
    pub rate: Option<RateStats>,
}

/// An end of a flow whose connections follow one another. Holds a connection while there is one, and the counts of those before it: however many there
/// have been, it takes the memory of one.
#[derive(Default)]
pub(crate) struct Successive {
    current: Option<Current>,
    past: HostStats,
    /// Of the first connection whose control failed.
    failure: Option<ControlFailure>,
}

struct Current {
    host: Host,
    /// The sender's port, which no other connection of the flow has for long.
    port: u16,
}

impl HostStats {
    /// These, with the counts of earlier connections added.
    pub(crate) const fn counts_after(self, past: &Self) -> Self {
        Self {
            packets_sent: self.packets_sent + past.packets_sent,
            bytes_sent: self.bytes_sent + past.bytes_sent,
            retransmissions: self.retransmissions + past.retransmissions,
            timeouts: self.timeouts + past.timeouts,
            delivered_packets: self.delivered_packets + past.delivered_packets,
            delivered_bytes: self.delivered_bytes + past.delivered_bytes,
            ..self
        }
    }

    /// The counts alone.
    pub(crate) fn counts(&self) -> Self {
        Self::default().counts_after(self)
    }
}

impl Host {
    /// Counters and congestion state.
    pub(crate) fn stats(&self) -> HostStats {
        match self {
            Self::TcpSender(sender) => {
                let stats = sender.get().stats();
                HostStats {
                    packets_sent: stats.segments_sent,
                    bytes_sent: stats.bytes_sent,
                    retransmissions: stats.segments_retransmitted,
                    timeouts: u64::from(stats.timeouts),
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
                // A rate has no window: its columns stay zero.
                let window = stats.congestion.window().copied().unwrap_or_default();
                HostStats {
                    packets_sent: stats.counters.data_packets_sent,
                    bytes_sent: stats.counters.bytes_sent,
                    retransmissions: 0,
                    timeouts: stats.timeouts,
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
                    delivered_packets: counters.datagrams_received,
                    delivered_bytes: counters.bytes_received,
                    ..HostStats::default()
                }
            }
            Self::Successive(end) => end.stats(),
        }
    }

    /// Tells `record` the inner values of the congestion control, where there is one.
    pub(crate) fn inner_values(&self, record: &mut dyn FnMut(&'static str, f64)) {
        match self {
            Self::TcpSender(sender) => sender.get().control().inner_values(record),
            Self::Dccp(connection) => connection.get().inner_values(record),
            Self::TcpReceiver(_) | Self::Udp(_) => {}
            Self::Successive(end) => {
                if let Some(connection) = &end.current {
                    connection.host.inner_values(record);
                }
            }
        }
    }

    /// Why its congestion control could no longer decide, where that is so.
    pub(crate) fn failure(&self) -> Option<ControlFailure> {
        match self {
            Self::TcpSender(sender) => sender.get().control().failure(),
            Self::Dccp(connection) => connection.get().control_failure(),
            Self::TcpReceiver(_) | Self::Udp(_) => None,
            Self::Successive(end) => end.failure(),
        }
    }

    /// Whether its connection is over.
    pub(crate) fn is_over(&self) -> bool {
        match self {
            Self::TcpSender(sender) => sender.get().is_over(),
            Self::TcpReceiver(receiver) => receiver.get().is_finished(),
            Self::Dccp(connection) => {
                matches!(connection.get().state(), State::TimeWait | State::Closed)
            }
            Self::Udp(_) => false,
            Self::Successive(end) => end.is_over(),
        }
    }
}

impl Successive {
    /// Begins the next connection.
    pub(crate) fn open(&mut self, host: Host, port: u16) {
        self.close();
        self.current = Some(Current { host, port });
    }

    /// Forgets the connection; its counts stay.
    pub(crate) fn close(&mut self) {
        if let Some(connection) = self.current.take() {
            self.past = connection.host.stats().counts_after(&self.past).counts();
            self.failure = self.failure.take().or(connection.host.failure());
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

    fn failure(&self) -> Option<ControlFailure> {
        let current = self.current.as_ref();
        let failure = || current.and_then(|connection| connection.host.failure());
        self.failure.clone().or_else(failure)
    }

    /// The counts of all connections, and the state of the one in progress.
    pub(crate) fn stats(&self) -> HostStats {
        match &self.current {
            Some(connection) => connection.host.stats().counts_after(&self.past),
            None => self.past,
        }
    }
}
