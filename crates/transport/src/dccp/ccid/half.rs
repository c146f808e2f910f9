//! The two halves of a CCID.

use core::fmt;

use skywave_units::{Duration, Instant};
use skywave_wire::dccp::OptionList;

use super::{Permit, ReceivedPacket, ReceivedTrain, SentPacket, SentTrain};
use crate::dccp::Congestion;

/// The data-sending half of a CCID.
pub trait HcSender: fmt::Debug {
    /// Whether one data packet of `bytes` may leave at `now`.
    fn may_send(&self, now: Instant, bytes: u32) -> Permit;

    /// CCVal for the next data packet.
    fn ccval(&mut self, now: Instant) -> u8 {
        let _ = now;
        0
    }

    /// Adds the CCID's own options to a data packet that is about to leave.
    fn data_options(&mut self, now: Instant, options: &mut OptionList) {
        let _ = (now, options);
    }

    /// The handshake has taken this round-trip time.
    fn on_handshake_rtt(&mut self, rtt: Duration) {
        let _ = rtt;
    }

    /// How many data packets may leave at `now`, one right after the other, before anything is asked
    /// again.
    fn may_send_together(&self, now: Instant) -> u64 {
        let _ = now;
        0
    }

    /// A packet has left.
    fn on_sent(&mut self, now: Instant, packet: &SentPacket);

    /// Packets have left that [`HcSender::may_send_together`] has permitted: the same as
    /// [`HcSender::on_sent`] for each of them.
    fn on_train_sent(&mut self, now: Instant, train: &SentTrain) {
        train.for_each(|packet| self.on_sent(now, packet));
    }

    /// A packet has come: acknowledgement information in it, and, through its own sequence number
    /// and ECN bits, the state of the path that acknowledgements take.
    fn on_received(&mut self, now: Instant, packet: &ReceivedPacket<'_>);

    /// Packets have come together: the same as [`HcSender::on_received`] for each of them.
    fn on_train_received(&mut self, now: Instant, train: &ReceivedTrain) {
        train.for_each(|packet| self.on_received(now, packet));
    }

    /// The smoothed round-trip time, once there is a sample.
    fn srtt(&self) -> Option<Duration>;

    /// The Ack Ratio that the sender would like its peer to use, where the CCID uses Ack Ratios.
    /// The connection negotiates it, at most once per round-trip time.
    fn ack_ratio(&self) -> Option<u16> {
        None
    }

    /// The peer goes by another Ack Ratio from now on.
    fn on_ack_ratio(&mut self, ratio: u16) {
        let _ = ratio;
    }

    /// The Sequence Window that fits the current rate (RFC 4340 section 7.5.2: about five times
    /// the packets of a round-trip time). The connection negotiates it when it is too small.
    fn sequence_window(&self) -> Option<u64> {
        None
    }

    /// Whether the peer's acknowledgements should be acknowledged now, so that it can forget old
    /// Ack Vector state (RFC 4341 section 6.2).
    fn ack_of_ack_due(&self) -> bool {
        false
    }

    /// How congestion control stands.
    fn congestion(&self) -> Congestion;

    /// Tells `record` the values inside that explain what it does, each by a name with its unit.
    fn inner_values(&self, record: &mut dyn FnMut(&'static str, f64)) {
        let _ = record;
    }

    /// Timeouts so far.
    fn timeouts(&self) -> u64;

    /// Whether the peer's application reads no more data (RFC 4340 section 11.7.2, Drop Code 1), so
    /// that none may leave.
    fn peer_stopped_listening(&self) -> bool;

    /// The next timer.
    fn deadline(&self) -> Option<Instant>;

    /// Handles timers that are due.
    fn expire(&mut self, now: Instant);
}

/// The data-receiving half of a CCID.
pub trait HcReceiver: fmt::Debug {
    /// A packet has come. Called after the Ack Vector buffer has taken it in.
    fn on_received(&mut self, now: Instant, packet: &ReceivedPacket<'_>);

    /// Packets have come together: the same as [`HcReceiver::on_received`] for each of them.
    fn on_train_received(&mut self, now: Instant, train: &ReceivedTrain) {
        train.for_each(|packet| self.on_received(now, packet));
    }

    /// The peer's Ack Ratio feature has a new value.
    fn on_ack_ratio(&mut self, ratio: u16) {
        let _ = ratio;
    }

    /// The peer wants, or no longer wants, Loss Event Rate options (RFC 4342 section 8.4).
    fn on_send_loss_event_rate(&mut self, wanted: bool) {
        let _ = wanted;
    }

    /// The peer sends, or no longer sends, its round-trip time (RFC 6323).
    fn on_send_rtt_estimate(&mut self, is_sent: bool) {
        let _ = is_sent;
    }

    /// The smoothed round-trip time that the other half measures, when it knows one, or that of the
    /// handshake.
    fn on_rtt(&mut self, rtt: Duration) {
        let _ = rtt;
    }

    /// Whether an acknowledgement shall leave at once.
    fn ack_due(&self) -> bool;

    /// Bytes of options that [`HcReceiver::ack_options`] adds at most.
    fn ack_options_len(&self) -> usize;

    /// Adds the CCID's own options to a packet with an acknowledgement number.
    fn ack_options(&mut self, now: Instant, options: &mut OptionList);

    /// A packet with an acknowledgement number has left: what was due is done.
    fn on_ack_sent(&mut self, now: Instant);

    /// The next timer (a delayed acknowledgement).
    fn deadline(&self) -> Option<Instant>;

    /// Handles timers that are due; [`HcReceiver::ack_due`] may become true.
    fn expire(&mut self, now: Instant);
}
