//! The ends of a flow: transport endpoints, and the applications above them.

use core::num::NonZeroU32;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use skywave_congestion::{
    Aimd, AimdConfig, Clocking, Cubic, CubicConfig, GrowthLaw, RtoConfig, Vegas, VegasConfig,
    Window, tfrc,
};
use skywave_transport::{Driven, dccp, tcp, udp};
use skywave_units::{Duration, Instant};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::scenario::{
    DccpSpec, FeedbackSpec, FlowSpec, Growth, PerRoundTripSpec, Profile, ReceiverRttSpec,
    SmoothingSpec, SourceSpec, TcpControl, TcpRecovery, TcpSpec, TfrcRules, TransportSpec, UdpSpec,
    WindowSpec,
};

/// Port of every receiver.
const RECEIVER_PORT: u16 = 5001;

/// A transport endpoint. Boxed, so that an idle flow costs what it needs and no more.
pub(crate) enum Host {
    TcpSender(Box<Driven<tcp::Sender>>),
    TcpReceiver(Box<Driven<tcp::Receiver>>),
    Dccp(Box<Driven<dccp::Connection>>),
    Udp(Box<Driven<udp::Socket>>),
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
    pub(crate) rate: Option<dccp::RateStats>,
}

/// The random stream of this name: independent of every other stream of the scenario.
pub(crate) fn stream(seed: u64, name: &str) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(xxh3_64_with_seed(name.as_bytes(), seed))
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

impl Host {
    /// The sender and the receiver of a flow.
    pub(crate) fn pair(flow: &FlowSpec, index: usize, seed: u64) -> (Self, Self) {
        let name = |end: &str| format!("{}/{end}", flow.name);
        let start = start_of(flow, seed);
        let sender_port = sender_port(index);
        match &flow.transport {
            TransportSpec::Tcp(spec) => {
                let (local, remote) = (sender_port, RECEIVER_PORT);
                let isn = |end| xxh3_64_with_seed(name(end).as_bytes(), seed);
                let sender = tcp::Sender::new(
                    sender_config(spec),
                    tcp_window(spec),
                    tcp::Ports { local, remote },
                    isn("sender"),
                );
                let receiver = tcp::Receiver::new(
                    receiver_config(spec),
                    tcp::Ports {
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
                let config = std::sync::Arc::new(dccp_config(spec, datagram_size(&flow.source)));
                let sender = dccp::Connection::client(
                    std::sync::Arc::clone(&config),
                    sender_port,
                    RECEIVER_PORT,
                    start,
                    stream(seed, &name("sender")),
                );
                let receiver = dccp::Connection::listen(
                    config,
                    RECEIVER_PORT,
                    stream(seed, &name("receiver")),
                );
                (
                    Self::Dccp(Box::new(Driven::new(sender))),
                    Self::Dccp(Box::new(Driven::new(receiver))),
                )
            }
            TransportSpec::Udp(UdpSpec {}) => {
                let socket = |local, remote| {
                    Self::Udp(Box::new(Driven::new(udp::Socket::new(local, remote))))
                };
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
    }
}

/// ns-2 draws at random where in a tick each connection begins; half a tick is as good a draw as
/// any, and keeps runs alike.
const NS2_TICK_PHASE: Duration = Duration::from_millis(5);

/// ns-2's Sack1 sink (`maxSackBlocks_`).
const NS2_SACK_BLOCKS: u8 = 3;

fn recovery(spec: &TcpSpec) -> tcp::RecoveryAlgorithm {
    use tcp::RecoveryAlgorithm;
    let is_ns2 = spec.profile == Profile::Ns2;
    match spec.recovery() {
        TcpRecovery::Tahoe => RecoveryAlgorithm::Tahoe,
        TcpRecovery::Reno => RecoveryAlgorithm::Reno {
            once_per_window: is_ns2,
        },
        TcpRecovery::NewReno => RecoveryAlgorithm::NewReno,
        TcpRecovery::Sack if is_ns2 => RecoveryAlgorithm::Sack1,
        TcpRecovery::Sack => RecoveryAlgorithm::Sack,
        TcpRecovery::Vegas => RecoveryAlgorithm::Vegas,
    }
}

fn sender_config(spec: &TcpSpec) -> tcp::SenderConfig {
    let base = match spec.profile {
        Profile::Rfc => tcp::SenderConfig::rfc(recovery(spec)),
        Profile::Ns2 => {
            let base = tcp::SenderConfig::ns2(recovery(spec));
            let rto = RtoConfig {
                tick_phase: spec.tick_phase.unwrap_or(NS2_TICK_PHASE),
                ..base.rto
            };
            tcp::SenderConfig { rto, ..base }
        }
    };
    tcp::SenderConfig {
        segment_size: spec.segment.get() as u16,
        syn_options: has_syn_options(spec),
        limited_transmit: spec.limited_transmit,
        rto: rto_config(base.rto, spec.tick, spec.initial_rto, spec.min_rto),
        ..base
    }
}

/// ns-2's SYN is a bare header, and its windows have no limit; here a window of 64 KiB or more
/// needs the window scale option, and the SYN grows by it.
fn has_syn_options(spec: &TcpSpec) -> bool {
    spec.profile == Profile::Rfc || window_bytes(spec) > u32::from(u16::MAX)
}

fn window_bytes(spec: &TcpSpec) -> u32 {
    spec.receive_window * spec.segment.get() as u32
}

fn tcp_window(spec: &TcpSpec) -> Window {
    let segment = spec.segment.get() as u32;
    let aimd = match spec.profile {
        Profile::Rfc => AimdConfig::rfc5681(segment),
        Profile::Ns2 => AimdConfig::ns2_tcp(spec.receive_window),
    };
    let initial_cwnd = spec.initial_cwnd.map_or(aimd.initial_cwnd, f64::from);
    let initial_ssthresh = spec
        .initial_ssthresh
        .map_or(aimd.initial_ssthresh, f64::from);
    match spec.control {
        TcpControl::Reno => Aimd::new(AimdConfig {
            initial_cwnd,
            initial_ssthresh,
            ..aimd
        })
        .into(),
        TcpControl::Cubic => Cubic::new(CubicConfig {
            initial_cwnd,
            initial_ssthresh,
            ..CubicConfig::rfc9438(segment)
        })
        .into(),
        TcpControl::Vegas => Vegas::new(VegasConfig {
            initial_ssthresh,
            begins_with_one_packet: spec.profile == Profile::Ns2,
            ..VegasConfig::new(initial_cwnd)
        })
        .into(),
    }
}

fn receiver_config(spec: &TcpSpec) -> tcp::ReceiverConfig {
    tcp::ReceiverConfig {
        max_segment_size: spec.segment.get() as u16,
        window: window_bytes(spec),
        syn_options: has_syn_options(spec),
        sack_blocks: match (recovery(spec).uses_sack(), spec.profile) {
            (false, _) => 0,
            (true, Profile::Rfc) => tcp::ReceiverConfig::default().sack_blocks,
            (true, Profile::Ns2) => NS2_SACK_BLOCKS,
        },
        delayed_ack: spec.delayed_ack,
    }
}

/// ns-2's module has no timer in PARTOPEN; the shortest that no run here sees expire.
const NS2_PARTOPEN_RETRY: Duration = Duration::from_secs(3);

/// ns-2's module checks no Sequence Window. This one is wide enough never to be renegotiated, which
/// would cost acknowledgements of its own.
const NS2_SEQUENCE_WINDOW: u64 = 10_000;

fn dccp_config(spec: &DccpSpec, datagram: u64) -> dccp::Config {
    let base = match spec.profile {
        Profile::Rfc => dccp::Config::default(),
        Profile::Ns2 => dccp::Config {
            ccid2: dccp::Ccid2Config::ns2(),
            allow_short_seqnos: true,
            send_queue: 1000,
            partopen_retry: NS2_PARTOPEN_RETRY,
            repeat_confirms: false,
            sequence_window: NS2_SEQUENCE_WINDOW,
            ..dccp::Config::default()
        },
    };
    let ccid2 = base.ccid2;
    let growth = match spec.growth {
        None => ccid2.growth,
        Some(Growth::Rfc4341) => GrowthLaw::Rfc4341,
        Some(Growth::Ns2TcpLike) => GrowthLaw::Ns2TcpLike,
    };
    let ccids = vec![dccp::Ccid::from_number(spec.ccid).unwrap_or(dccp::Ccid::TcpLike)];
    dccp::Config {
        sender_ccids: ccids.clone(),
        receiver_ccids: ccids,
        tfrc: tfrc_config(spec),
        request_rtt_estimate: spec
            .tfrc
            .as_ref()
            .is_some_and(|tfrc| tfrc.receiver_rtt == ReceiverRttSpec::Option),
        ccid2: dccp::Ccid2Config {
            initial_cwnd: spec.initial_cwnd.map(f64::from).or(ccid2.initial_cwnd),
            initial_ssthresh: spec
                .initial_ssthresh
                .map_or(ccid2.initial_ssthresh, f64::from),
            growth,
            rto: rto_config(ccid2.rto, None, spec.initial_rto, spec.min_rto),
            delayed_ack: spec.delayed_ack.unwrap_or(ccid2.delayed_ack),
            immediate_acks: spec.immediate_acks.unwrap_or(ccid2.immediate_acks),
            ..ccid2
        },
        allow_short_seqnos: spec.short_seqnos.unwrap_or(base.allow_short_seqnos),
        ecn_incapable: !spec.ecn,
        ack_ratio: spec.ack_ratio,
        mps: datagram as u32,
        send_queue: spec
            .send_queue
            .map_or(base.send_queue, |packets| packets as usize),
        ..base
    }
}

fn tfrc_config(spec: &DccpSpec) -> tfrc::Config {
    let given = spec.tfrc.clone().unwrap_or_default();
    let rules = given.rules.unwrap_or(match spec.profile {
        Profile::Rfc => TfrcRules::Rfc5348,
        Profile::Ns2 => TfrcRules::Ns2,
    });
    let mut config = match rules {
        TfrcRules::Rfc5348 => tfrc::Config::rfc5348(),
        TfrcRules::Rfc3448 => tfrc::Config::rfc3448(),
        TfrcRules::Ns2 => tfrc::Config::ns2(),
    };
    if given.oscillation_prevention == Some(false) {
        config = config.without_oscillation_prevention();
    }
    tfrc::Config {
        segment_size: given.segment_size.map_or(config.segment_size, |size| {
            tfrc::SegmentSize::Fixed(size.get() as u32)
        }),
        smoothing: match given.smoothing {
            None => config.smoothing,
            Some(SmoothingSpec::PerReport) => tfrc::Smoothing::PerReport,
            Some(SmoothingSpec::PerRoundTrip) => tfrc::Smoothing::PerRoundTrip,
        },
        feedback: match given.feedback {
            FeedbackSpec::WindowCounter => tfrc::FeedbackSchedule::WindowCounter,
            FeedbackSpec::PerRoundTrip(PerRoundTripSpec { reports }) => {
                let reports = NonZeroU32::new(reports).unwrap_or(NonZeroU32::MIN);
                tfrc::FeedbackSchedule::PerRoundTrip(reports)
            }
            FeedbackSpec::Dynamic(dynamic) => {
                tfrc::FeedbackSchedule::Dynamic(tfrc::DynamicFeedback {
                    rtt_ref: dynamic.rtt_ref,
                    window: match dynamic.window {
                        WindowSpec::Interval => tfrc::ObservationWindow::Interval,
                        WindowSpec::RoundTrip => tfrc::ObservationWindow::RoundTrip,
                    },
                })
            }
        },
        ..config
    }
}

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
