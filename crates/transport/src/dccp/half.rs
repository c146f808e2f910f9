//! The CCIDs that a connection can run, chosen by number (RFC 4340 section 10). Each direction has
//! one of its own: it begins with CCID 2 and changes when the CCID feature does.

use skywave_units::{Duration, Instant};
use skywave_wire::dccp::{DccpOption, OptionList};

use super::ackvec::VectorKind;
use super::ccid::{
    HcReceiver, HcSender, Permit, ReceivedPacket, ReceivedTrain, SentPacket, SentTrain,
};
use super::{Ccid, Config, Congestion, RateStats, WindowStats, ccid2, ccid3, ccid4, mpcp};

/// The data-sending half of whichever CCID is in force.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "CCID 2, with which every connection begins, shall not cost an allocation"
)]
pub(crate) enum Sender {
    /// CCID 2.
    TcpLike(ccid2::Sender),
    /// CCID 3.
    Tfrc(Box<ccid3::Sender>),
    /// CCID 4.
    TfrcSp(Box<ccid3::Sender>),
    /// CCIDs 248 to 250.
    Mpcp(Box<ccid2::Sender>),
}

/// The data-receiving half of whichever CCID is in force.
#[derive(Debug)]
pub(crate) enum Receiver {
    /// CCID 2, and CCIDs 248 to 250, which acknowledge at the same times.
    TcpLike(ccid2::Receiver),
    /// CCID 3, and CCID 4, whose receiver differs by its parameters only.
    Tfrc(Box<ccid3::Receiver>),
}

/// Calls the same method on whichever half this is.
macro_rules! each {
    ($half:expr, $inner:ident => $call:expr) => {
        match $half {
            Self::TcpLike($inner) => $call,
            Self::Tfrc($inner) => $call,
        }
    };
    (sender $half:expr, $inner:ident => $call:expr) => {
        match $half {
            Self::TcpLike($inner) => $call,
            Self::Tfrc($inner) | Self::TfrcSp($inner) => $call,
            Self::Mpcp($inner) => $call,
        }
    };
}

impl Sender {
    /// The sender of a new connection, under the CCID that connections begin with, on a path with this
    /// Maximum Packet Size.
    pub(crate) fn new(config: &Config, mps: u32) -> Self {
        Self::of(Ccid::TcpLike, config, mps)
    }

    /// The sender of `ccid` on a path with this Maximum Packet Size.
    pub(crate) fn of(ccid: Ccid, config: &Config, mps: u32) -> Self {
        match ccid {
            Ccid::TcpLike => {
                Self::TcpLike(ccid2::Sender::new(&config.ccid2, mps, config.ack_ratio))
            }
            Ccid::Tfrc => Self::Tfrc(Box::new(ccid3::Sender::new(ccid3::profile(&config.tfrc)))),
            Ccid::TfrcSp => {
                let profile = ccid4::profile(&config.tfrc, config.allow_short_seqnos);
                Self::TfrcSp(Box::new(ccid3::Sender::new(profile)))
            }
            Ccid::Vcp | Ccid::Dpcp | Ccid::Tpcp => {
                let packets = ccid.chain().unwrap_or(1);
                Self::Mpcp(Box::new(mpcp::sender(config, packets, mps)))
            }
        }
    }

    /// How congestion control stands.
    pub(crate) fn congestion(&self) -> Congestion {
        match self {
            Self::TcpLike(sender) => window_stats(sender),
            Self::Mpcp(sender) => window_stats(sender),
            Self::Tfrc(sender) | Self::TfrcSp(sender) => {
                let stats = sender.stats();
                Congestion::Rate(RateStats {
                    rate: stats.rate,
                    allowed_rate: stats.allowed_rate,
                    receive_rate: stats.receive_rate,
                    loss_event_rate: stats.loss_event_rate,
                    reports: stats.reports,
                    loss_events: stats.loss_events,
                })
            }
        }
    }

    /// Timeouts so far.
    pub(crate) fn timeouts(&self) -> u64 {
        match self {
            Self::TcpLike(sender) => sender.stats().counts.timeouts,
            Self::Mpcp(sender) => sender.stats().counts.timeouts,
            Self::Tfrc(sender) | Self::TfrcSp(sender) => sender.stats().timeouts,
        }
    }

    /// Whether the peer's application reads no more data.
    pub(crate) const fn peer_stopped_listening(&self) -> bool {
        each!(sender self, sender => sender.peer_stopped_listening())
    }

    /// Whether data has to wait until the peer has agreed to send Ack Vectors (RFC 4341
    /// section 4).
    pub(crate) const fn needs_ack_vector(&self) -> bool {
        matches!(self, Self::TcpLike(_))
    }

    /// Which vectors tell what became of the packets that are sent.
    pub(crate) const fn vector_kind(&self) -> VectorKind {
        match self {
            Self::Mpcp(_) => VectorKind::Load,
            Self::TcpLike(_) | Self::Tfrc(_) | Self::TfrcSp(_) => VectorKind::Ack,
        }
    }

    /// Whether the CCID understands this option of its own, which the receiving half at the peer has
    /// sent (RFC 4340 section 10.3).
    pub(crate) const fn reads(&self, option: &DccpOption) -> bool {
        match option {
            DccpOption::LossEventRate(_)
            | DccpOption::LossIntervals { .. }
            | DccpOption::ReceiveRate(_) => matches!(self, Self::Tfrc(_) | Self::TfrcSp(_)),
            DccpOption::DroppedPackets(_) => matches!(self, Self::TfrcSp(_)),
            DccpOption::LoadVector(_) => matches!(self, Self::Mpcp(_)),
            _ => false,
        }
    }
}

fn window_stats(sender: &ccid2::Sender) -> Congestion {
    let stats = sender.stats();
    Congestion::Window(WindowStats {
        cwnd: stats.cwnd,
        ssthresh: stats.ssthresh,
        pipe: stats.pipe,
        lost: stats.counts.lost,
        marked: stats.counts.marked,
    })
}

impl HcSender for Sender {
    fn may_send(&self, now: Instant, bytes: u32) -> Permit {
        each!(sender self, sender => sender.may_send(now, bytes))
    }

    fn ccval(&mut self, now: Instant) -> u8 {
        each!(sender self, sender => sender.ccval(now))
    }

    fn data_options(&mut self, now: Instant, options: &mut OptionList) {
        each!(sender self, sender => sender.data_options(now, options));
    }

    fn on_handshake_rtt(&mut self, rtt: Duration) {
        each!(sender self, sender => sender.on_handshake_rtt(rtt));
    }

    fn may_send_together(&self) -> u64 {
        each!(sender self, sender => sender.may_send_together())
    }

    fn on_sent(&mut self, now: Instant, packet: &SentPacket) {
        each!(sender self, sender => sender.on_sent(now, packet));
    }

    fn on_train_sent(&mut self, now: Instant, train: &SentTrain) {
        each!(sender self, sender => sender.on_train_sent(now, train));
    }

    fn on_received(&mut self, now: Instant, packet: &ReceivedPacket<'_>) {
        each!(sender self, sender => sender.on_received(now, packet));
    }

    fn on_train_received(&mut self, now: Instant, train: &ReceivedTrain) {
        each!(sender self, sender => sender.on_train_received(now, train));
    }

    fn srtt(&self) -> Option<Duration> {
        each!(sender self, sender => sender.srtt())
    }

    fn ack_ratio(&self) -> Option<u16> {
        each!(sender self, sender => sender.ack_ratio())
    }

    fn on_ack_ratio(&mut self, ratio: u16) {
        each!(sender self, sender => sender.on_ack_ratio(ratio));
    }

    fn sequence_window(&self) -> Option<u64> {
        each!(sender self, sender => sender.sequence_window())
    }

    fn ack_of_ack_due(&self) -> bool {
        each!(sender self, sender => sender.ack_of_ack_due())
    }

    fn deadline(&self) -> Option<Instant> {
        each!(sender self, sender => sender.deadline())
    }

    fn expire(&mut self, now: Instant) {
        each!(sender self, sender => sender.expire(now));
    }
}

impl Receiver {
    /// The receiver of a new connection, under the CCID and the Ack Ratio that connections begin
    /// with.
    pub(crate) fn new(config: &Config, ack_ratio: u16) -> Self {
        Self::of(Ccid::TcpLike, config, ack_ratio)
    }

    /// The receiver of `ccid`.
    pub(crate) fn of(ccid: Ccid, config: &Config, ack_ratio: u16) -> Self {
        let profile = match ccid {
            Ccid::TcpLike | Ccid::Vcp | Ccid::Dpcp | Ccid::Tpcp => {
                return Self::TcpLike(ccid2::Receiver::new(&config.ccid2, ack_ratio));
            }
            Ccid::Tfrc => ccid3::profile(&config.tfrc),
            Ccid::TfrcSp => ccid4::profile(&config.tfrc, config.allow_short_seqnos),
        };
        Self::Tfrc(Box::new(ccid3::Receiver::new(&profile)))
    }
}

impl HcReceiver for Receiver {
    fn on_received(&mut self, now: Instant, packet: &ReceivedPacket<'_>) {
        each!(self, receiver => receiver.on_received(now, packet));
    }

    fn on_train_received(&mut self, now: Instant, train: &ReceivedTrain) {
        each!(self, receiver => receiver.on_train_received(now, train));
    }

    fn on_ack_ratio(&mut self, ratio: u16) {
        each!(self, receiver => receiver.on_ack_ratio(ratio));
    }

    fn on_send_loss_event_rate(&mut self, wanted: bool) {
        each!(self, receiver => receiver.on_send_loss_event_rate(wanted));
    }

    fn on_send_rtt_estimate(&mut self, is_sent: bool) {
        each!(self, receiver => receiver.on_send_rtt_estimate(is_sent));
    }

    fn on_rtt(&mut self, rtt: Duration) {
        each!(self, receiver => receiver.on_rtt(rtt));
    }

    fn ack_due(&self) -> bool {
        each!(self, receiver => receiver.ack_due())
    }

    fn ack_options_len(&self) -> usize {
        each!(self, receiver => receiver.ack_options_len())
    }

    fn ack_options(&mut self, now: Instant, options: &mut OptionList) {
        each!(self, receiver => receiver.ack_options(now, options));
    }

    fn on_ack_sent(&mut self, now: Instant) {
        each!(self, receiver => receiver.on_ack_sent(now));
    }

    fn deadline(&self) -> Option<Instant> {
        each!(self, receiver => receiver.deadline())
    }

    fn expire(&mut self, now: Instant) {
        each!(self, receiver => receiver.expire(now));
    }
}
