//! The ends of a flow: transport endpoints, and the applications above them.

mod dccp;
mod tcp;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use skywave_congestion::{Clocking, RtoConfig};
use skywave_transport::Driven;
use skywave_transport::dccp::{Connection, RateStats, State};
use skywave_transport::tcp::{Ports, Receiver, Sender};
use skywave_transport::udp::Socket;
use skywave_units::{Duration, Instant};
use twox_hash::XxHash3_64;

use crate::scenario::{FlowSpec, SourceSpec, TransportSpec, UdpSpec};
use crate::successive::Successive;
use crate::web::{Connector, Opened};

/// Port of every receiver.
const RECEIVER_PORT: u16 = 5001;

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
pub(crate) struct HostStats {
    pub(crate) packets_sent: u64,
    pub(crate) bytes_sent: u64,
    pub(crate) retransmissions: u64,
    pub(crate) timeouts: u64,
    pub(crate) delivered_packets: u64,
    pub(crate) delivered_bytes: u64,
    pub(crate) cwnd: f64,
    pub(crate) ssthresh: f64,
    pub(crate) pipe: u32,
    pub(crate) srtt: Option<Duration>,
    /// Of a sender that has a rate rather than a window.
    pub(crate) rate: Option<RateStats>,
}

/// The random stream of this name: independent of every other stream of the scenario.
pub(crate) fn stream(seed: u64, name: &str) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(XxHash3_64::oneshot_with_seed(seed, name.as_bytes()))
}

/// When a flow begins.
pub(crate) fn start_of(flow: &FlowSpec, seed: u64) -> Instant {
    let start = Instant::ZERO + flow.start;
    if flow.start_jitter.is_zero() {
        return start;
    }
    let mut rng = stream(seed, &format!("{}/start", flow.name));
    start + Duration::from_nanos(rng.random_range(0..=flow.start_jitter.as_nanos()))
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
    /// The sender and the receiver of a flow.
    pub(crate) fn pair(flow: &FlowSpec, index: usize, seed: u64) -> (Self, Self) {
        if matches!(flow.source, SourceSpec::Web(_)) {
            let closed = || Self::Successive(Box::default());
            return (closed(), closed());
        }
        Self::connect(
            flow,
            &flow.name,
            sender_port(index),
            start_of(flow, seed),
            seed,
        )
    }

    /// Both ends of a flow's next connection, the `number`th.
    pub(crate) fn reopen(connector: &Connector, number: usize, now: Instant) -> Opened {
        let flow = &connector.flow;
        let port = sender_port(connector.index + number * connector.flows);
        let label = format!("{}/{number}", flow.name);
        let (sender, receiver) = Self::connect(flow, &label, port, now, connector.seed);
        Opened {
            ends: [sender, receiver],
            port,
        }
    }

    /// The two ends of a connection that begins at `start`; `label` names its random streams.
    fn connect(
        flow: &FlowSpec,
        label: &str,
        sender_port: u16,
        start: Instant,
        seed: u64,
    ) -> (Self, Self) {
        let name = |end: &str| format!("{label}/{end}");
        match &flow.transport {
            TransportSpec::Tcp(spec) => {
                let (local, remote) = (sender_port, RECEIVER_PORT);
                let isn = |end| XxHash3_64::oneshot_with_seed(seed, name(end).as_bytes());
                let sender = Sender::new(
                    tcp::sender_config(spec),
                    tcp::window(spec),
                    Ports { local, remote },
                    isn("sender"),
                );
                let receiver = Receiver::new(
                    tcp::receiver_config(spec),
                    Ports {
                        local: remote,
                        remote: local,
                    },
                    isn("receiver"),
                );
                (
                    Self::TcpSender(Box::new(Driven::new(sender))),
                    Self::TcpReceiver(Box::new(Driven::new(receiver))),
                )
            }
            TransportSpec::Dccp(spec) => {
                let config = std::sync::Arc::new(dccp::config(spec, datagram_size(&flow.source)));
                let sender = Connection::client(
                    std::sync::Arc::clone(&config),
                    sender_port,
                    RECEIVER_PORT,
                    start,
                    stream(seed, &name("sender")),
                );
                let receiver =
                    Connection::listen(config, RECEIVER_PORT, stream(seed, &name("receiver")));
                (
                    Self::Dccp(Box::new(Driven::new(sender))),
                    Self::Dccp(Box::new(Driven::new(receiver))),
                )
            }
            TransportSpec::Udp(UdpSpec {}) => {
                let socket =
                    |local, remote| Self::Udp(Box::new(Driven::new(Socket::new(local, remote))));
                (
                    socket(sender_port, RECEIVER_PORT),
                    socket(RECEIVER_PORT, sender_port),
                )
            }
        }
    }

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

/// Client ports are the dynamic range, one for each flow until they begin again.
const fn sender_port(flow: usize) -> u16 {
    const FIRST: u16 = 49_152;
    FIRST + (flow % (u16::MAX - FIRST) as usize) as u16
}

fn datagram_size(source: &SourceSpec) -> u64 {
    match source {
        SourceSpec::Ftp(ftp) => ftp.datagram.get(),
        SourceSpec::Cbr(cbr) => cbr.datagram.get(),
        SourceSpec::Voice(voice) => voice.largest_datagram(),
        SourceSpec::Web(web) => web.datagram.get(),
    }
}

/// `base` with what a scenario says of it.
fn rto_config(
    base: RtoConfig,
    tick: Option<Duration>,
    initial: Option<Duration>,
    min: Option<Duration>,
) -> RtoConfig {
    RtoConfig {
        clocking: tick.map_or(base.clocking, Clocking::Ticks),
        initial: initial.unwrap_or(base.initial),
        min: min.unwrap_or(base.min),
        ..base
    }
}
