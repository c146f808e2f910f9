//! The CCIDs that a connection can run, chosen by number (RFC 4340 section 10).

use skywave_units::{Duration, Instant};
use skywave_wire::dccp::OptionList;

use super::ccid::{HcReceiver, HcSender, Permit, ReceivedPacket, SentPacket};
use super::{Config, ccid2};

/// The data-sending half of whichever CCID is in force.
#[derive(Debug)]
pub(crate) enum Sender {
    /// CCID 2.
    TcpLike(ccid2::Sender),
}

/// The data-receiving half of whichever CCID is in force.
#[derive(Debug)]
pub(crate) enum Receiver {
    /// CCID 2.
    TcpLike(ccid2::Receiver),
}

impl Sender {
    /// The sender of a new connection, under the CCID that connections begin with.
    pub(crate) fn new(config: &Config) -> Self {
        Self::TcpLike(ccid2::Sender::new(
            &config.ccid2,
            config.mps,
            config.ack_ratio,
        ))
    }

    /// How congestion control stands.
    pub(crate) fn stats(&self) -> ccid2::Stats {
        match self {
            Self::TcpLike(sender) => sender.stats(),
        }
    }

    /// Whether the peer's application reads no more data.
    pub(crate) const fn peer_stopped_listening(&self) -> bool {
        match self {
            Self::TcpLike(sender) => sender.peer_stopped_listening(),
        }
    }

    /// Whether data has to wait until the peer has agreed to send Ack Vectors (RFC 4341
    /// section 4).
    pub(crate) const fn needs_ack_vector(&self) -> bool {
        match self {
            Self::TcpLike(_) => true,
        }
    }
}

impl HcSender for Sender {
    fn may_send(&self, now: Instant, bytes: u32) -> Permit {
        match self {
            Self::TcpLike(sender) => sender.may_send(now, bytes),
        }
    }

    fn ccval(&mut self, now: Instant) -> u8 {
        match self {
            Self::TcpLike(sender) => sender.ccval(now),
        }
    }

    fn data_options(&mut self, now: Instant, options: &mut OptionList) {
        match self {
            Self::TcpLike(sender) => sender.data_options(now, options),
        }
    }

    fn on_sent(&mut self, now: Instant, packet: &SentPacket) {
        match self {
            Self::TcpLike(sender) => sender.on_sent(now, packet),
        }
    }

    fn on_received(&mut self, now: Instant, packet: &ReceivedPacket<'_>) {
        match self {
            Self::TcpLike(sender) => sender.on_received(now, packet),
        }
    }

    fn srtt(&self) -> Option<Duration> {
        match self {
            Self::TcpLike(sender) => sender.srtt(),
        }
    }

    fn ack_ratio(&self) -> Option<u16> {
        match self {
            Self::TcpLike(sender) => sender.ack_ratio(),
        }
    }

    fn sequence_window(&self) -> Option<u64> {
        match self {
            Self::TcpLike(sender) => sender.sequence_window(),
        }
    }

    fn ack_of_ack_due(&self) -> bool {
        match self {
            Self::TcpLike(sender) => sender.ack_of_ack_due(),
        }
    }

    fn deadline(&self) -> Option<Instant> {
        match self {
            Self::TcpLike(sender) => sender.deadline(),
        }
    }

    fn expire(&mut self, now: Instant) {
        match self {
            Self::TcpLike(sender) => sender.expire(now),
        }
    }
}

impl Receiver {
    /// The receiver of a new connection, under the CCID and the Ack Ratio that connections begin
    /// with.
    pub(crate) fn new(config: &Config, ack_ratio: u16) -> Self {
        Self::TcpLike(ccid2::Receiver::new(&config.ccid2, ack_ratio))
    }
}

impl HcReceiver for Receiver {
    fn on_received(&mut self, now: Instant, packet: &ReceivedPacket<'_>) {
        match self {
            Self::TcpLike(receiver) => receiver.on_received(now, packet),
        }
    }

    fn on_ack_ratio(&mut self, ratio: u16) {
        match self {
            Self::TcpLike(receiver) => receiver.on_ack_ratio(ratio),
        }
    }

    fn on_rtt(&mut self, rtt: Duration) {
        match self {
            Self::TcpLike(receiver) => receiver.on_rtt(rtt),
        }
    }

    fn ack_due(&self) -> bool {
        match self {
            Self::TcpLike(receiver) => receiver.ack_due(),
        }
    }

    fn ack_options(&mut self, now: Instant, options: &mut OptionList) {
        match self {
            Self::TcpLike(receiver) => receiver.ack_options(now, options),
        }
    }

    fn on_ack_sent(&mut self, now: Instant) {
        match self {
            Self::TcpLike(receiver) => receiver.on_ack_sent(now),
        }
    }

    fn deadline(&self) -> Option<Instant> {
        match self {
            Self::TcpLike(receiver) => receiver.deadline(),
        }
    }

    fn expire(&mut self, now: Instant) {
        match self {
            Self::TcpLike(receiver) => receiver.expire(now),
        }
    }
}
