//! The halves of the CCID in force, dispatched at run time.

use skywave_congestion::MemberFailure;
use skywave_units::{Duration, Instant, Rate};
use skywave_wire::dccp::OptionList;

use crate::dccp::ccid::{
    HcReceiver, HcSender, Permit, ReceivedPacket, ReceivedTrain, SentPacket, SentTrain,
};
use crate::dccp::{Congestion, ccid2};

/// The data-sending half of a CCID.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "CCID 2, with which every connection begins, must not cost an allocation"
)]
pub enum SenderHalf {
    /// CCID 2's sender with any control, called directly for speed.
    Window(ccid2::Sender),
    /// Any other sender.
    Other(Box<dyn HcSender + Send>),
}

/// The data-receiving half of a CCID.
#[derive(Debug)]
pub enum ReceiverHalf {
    /// CCID 2's receiver, called directly for speed.
    Window(ccid2::Receiver),
    /// Any other receiver.
    Other(Box<dyn HcReceiver + Send>),
}

impl SenderHalf {
    /// Wraps a sender of any type.
    pub fn new(sender: impl HcSender + Send + 'static) -> Self {
        Self::Other(Box::new(sender))
    }
}

impl ReceiverHalf {
    /// Wraps a receiver of any type.
    pub fn new(receiver: impl HcReceiver + Send + 'static) -> Self {
        Self::Other(Box::new(receiver))
    }
}

impl From<ccid2::Sender> for SenderHalf {
    fn from(sender: ccid2::Sender) -> Self {
        Self::Window(sender)
    }
}

impl From<ccid2::Receiver> for ReceiverHalf {
    fn from(receiver: ccid2::Receiver) -> Self {
        Self::Window(receiver)
    }
}

/// Calls the same method on whichever half this is.
macro_rules! each {
    ($half:expr, $inner:ident => $call:expr) => {
        match $half {
            Self::Window($inner) => $call,
            Self::Other($inner) => $call,
        }
    };
}

#[deny(clippy::missing_trait_methods)]
impl HcSender for SenderHalf {
    fn may_send(&self, now: Instant, bytes: u32) -> Permit {
        each!(self, sender => sender.may_send(now, bytes))
    }

    fn ccval(&mut self, now: Instant) -> u8 {
        each!(self, sender => sender.ccval(now))
    }

    fn data_options(&mut self, now: Instant, options: &mut OptionList) {
        each!(self, sender => sender.data_options(now, options));
    }

    fn on_handshake_rtt(&mut self, rtt: Duration) {
        each!(self, sender => sender.on_handshake_rtt(rtt));
    }

    fn may_send_together(&self, now: Instant, bytes: u32) -> u64 {
        each!(self, sender => sender.may_send_together(now, bytes))
    }

    fn on_sent(&mut self, now: Instant, packet: &SentPacket) {
        each!(self, sender => sender.on_sent(now, packet));
    }

    fn on_train_sent(&mut self, now: Instant, train: &SentTrain) {
        each!(self, sender => sender.on_train_sent(now, train));
    }

    fn quick_start_request(&mut self) -> Option<Rate> {
        each!(self, sender => sender.quick_start_request())
    }

    fn on_quick_start(&mut self, now: Instant, rate: Rate) {
        each!(self, sender => sender.on_quick_start(now, rate));
    }

    fn on_larger_packets(&mut self, before: u32, after: u32) {
        each!(self, sender => sender.on_larger_packets(before, after));
    }

    fn on_received(&mut self, now: Instant, packet: &ReceivedPacket<'_>) {
        each!(self, sender => sender.on_received(now, packet));
    }

    fn on_false_ack(&mut self, now: Instant) {
        each!(self, sender => sender.on_false_ack(now));
    }

    fn on_train_received(&mut self, now: Instant, train: &ReceivedTrain) {
        each!(self, sender => sender.on_train_received(now, train));
    }

    fn srtt(&self) -> Option<Duration> {
        each!(self, sender => sender.srtt())
    }

    fn ack_ratio(&self) -> Option<u16> {
        each!(self, sender => sender.ack_ratio())
    }

    fn on_ack_ratio(&mut self, ratio: u16) {
        each!(self, sender => sender.on_ack_ratio(ratio));
    }

    fn sequence_window(&self) -> Option<u64> {
        each!(self, sender => sender.sequence_window())
    }

    fn ack_of_ack_due(&self) -> bool {
        each!(self, sender => sender.ack_of_ack_due())
    }

    fn congestion(&self) -> Congestion {
        each!(self, sender => sender.congestion())
    }

    fn inner_values(&self, record: &mut dyn FnMut(&'static str, f64)) {
        each!(self, sender => sender.inner_values(record));
    }

    #[inline(always)]
    fn failure(&self) -> Option<MemberFailure> {
        each!(self, sender => sender.failure())
    }

    fn timeouts(&self) -> u64 {
        each!(self, sender => sender.timeouts())
    }

    fn peer_stopped_listening(&self) -> bool {
        each!(self, sender => sender.peer_stopped_listening())
    }

    fn deadline(&self) -> Option<Instant> {
        each!(self, sender => sender.deadline())
    }

    fn expire(&mut self, now: Instant) {
        each!(self, sender => sender.expire(now));
    }
}

#[deny(clippy::missing_trait_methods)]
impl HcReceiver for ReceiverHalf {
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
