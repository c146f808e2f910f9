//! The interfaces of a CCID's two halves.

use core::fmt;

use skywave_congestion::MemberFailure;
use skywave_units::{Duration, Instant, Rate};
use skywave_wire::dccp::OptionList;

use super::{Permit, ReceivedPacket, ReceivedTrain, SentPacket, SentTrain};
use crate::dccp::Congestion;

/// The data-sending half of a CCID.
pub trait HcSender: fmt::Debug {
    /// Returns whether one data packet of `bytes` may leave at `now`.
    fn may_send(&self, now: Instant, bytes: u32) -> Permit;

    /// Returns the CCVal of the next data packet.
    fn ccval(&mut self, now: Instant) -> u8 {
        let _ = now;
        0
    }

    /// Adds the CCID's own options to a data packet that is about to leave.
    fn data_options(&mut self, now: Instant, options: &mut OptionList) {
        let _ = (now, options);
    }

    /// Reports the round-trip time measured by the handshake.
    fn on_handshake_rtt(&mut self, rtt: Duration) {
        let _ = rtt;
    }

    /// Returns how many data packets of `bytes` bytes may leave back to back at `now`, after one of
    /// that size, before the CCID must be asked again.
    fn may_send_together(&self, now: Instant, bytes: u32) -> u64 {
        let _ = (now, bytes);
        0
    }

    /// Reports that a packet has left.
    fn on_sent(&mut self, now: Instant, packet: &SentPacket);

    /// Reports that packets permitted by [`HcSender::may_send_together`] have left. Equivalent to
    /// calling [`HcSender::on_sent`] for each.
    fn on_train_sent(&mut self, now: Instant, train: &SentTrain) {
        train.for_each(|packet| self.on_sent(now, packet));
    }

    /// Returns the rate to ask the path for with the data packet that has just been reported,
    /// headers of IP and above included, or `None` for no Quick-Start request (RFC 5634). Asked
    /// only while the connection may send one.
    fn quick_start_request(&mut self) -> Option<Rate> {
        None
    }

    /// Reports that the path has approved `rate`, headers of IP and above included. Called after
    /// [`HcSender::on_received`] for the packet with the response.
    fn on_quick_start(&mut self, now: Instant, rate: Rate) {
        let _ = (now, rate);
    }

    /// Reports that packets may be longer from now on: up to `after` bytes, headers of IP and above
    /// included, instead of `before`. The sending rate in bytes must not rise for that reason alone
    /// (RFC 8899 section 3).
    fn on_larger_packets(&mut self, before: u32, after: u32) {
        let _ = (before, after);
    }

    /// Reports an arrival: its acknowledgement information and, through its own sequence number and
    /// ECN bits, the state of the reverse path.
    fn on_received(&mut self, now: Instant, packet: &ReceivedPacket<'_>);

    /// Reports that the peer has acknowledged a packet that was never sent. The sender must react as
    /// if a recent packet had been marked (RFC 4340 section 12.3).
    fn on_false_ack(&mut self, now: Instant) {
        let _ = now;
    }

    /// Reports packets that arrived together. Equivalent to calling [`HcSender::on_received`] for
    /// each.
    fn on_train_received(&mut self, now: Instant, train: &ReceivedTrain) {
        train.for_each(|packet| self.on_received(now, packet));
    }

    /// Returns the smoothed round-trip time, or `None` before the first sample.
    fn srtt(&self) -> Option<Duration>;

    /// Returns the Ack Ratio that this sender wants its peer to use, or `None` if the CCID does not
    /// use Ack Ratios. The connection negotiates it at most once per round-trip time.
    fn ack_ratio(&self) -> Option<u16> {
        None
    }

    /// Reports that the peer now uses another Ack Ratio.
    fn on_ack_ratio(&mut self, ratio: u16) {
        let _ = ratio;
    }

    /// Returns the Sequence Window suited to the current rate: about five times the packets per
    /// round-trip time (RFC 4340 section 7.5.2). The connection negotiates it when the current one
    /// is too small.
    fn sequence_window(&self) -> Option<u64> {
        None
    }

    /// Returns whether the peer's acknowledgements should be acknowledged now, so that the peer can
    /// discard old Ack Vector state (RFC 4341 section 6.2).
    fn ack_of_ack_due(&self) -> bool {
        false
    }

    /// Returns the current state of congestion control.
    fn congestion(&self) -> Congestion;

    /// Passes the mechanism's internal values to `record`, each with a name that includes its unit.
    fn inner_values(&self, record: &mut dyn FnMut(&'static str, f64)) {
        let _ = record;
    }

    /// Returns why congestion control can no longer decide, after which the connection is reset, or
    /// `None` as long as it can.
    fn failure(&self) -> Option<MemberFailure> {
        None
    }

    /// Returns the number of timeouts so far.
    fn timeouts(&self) -> u64;

    /// Returns whether the peer's application has stopped reading (RFC 4340 section 11.7.2, Drop
    /// Code 1), in which case no data may leave.
    fn peer_stopped_listening(&self) -> bool;

    /// Returns when the next timer expires.
    fn deadline(&self) -> Option<Instant>;

    /// Handles timers that are due.
    fn expire(&mut self, now: Instant);
}

/// The data-receiving half of a CCID.
pub trait HcReceiver: fmt::Debug {
    /// Reports an arrival. Called after the Ack Vector buffer has recorded it.
    fn on_received(&mut self, now: Instant, packet: &ReceivedPacket<'_>);

    /// Reports packets that arrived together. Equivalent to calling [`HcReceiver::on_received`] for
    /// each.
    fn on_train_received(&mut self, now: Instant, train: &ReceivedTrain) {
        train.for_each(|packet| self.on_received(now, packet));
    }

    /// Reports a new value of the peer's Ack Ratio feature.
    fn on_ack_ratio(&mut self, ratio: u16) {
        let _ = ratio;
    }

    /// Reports whether the peer wants Loss Event Rate options (RFC 4342 section 8.4).
    fn on_send_loss_event_rate(&mut self, wanted: bool) {
        let _ = wanted;
    }

    /// Reports whether the peer sends its round-trip time (RFC 6323).
    fn on_send_rtt_estimate(&mut self, is_sent: bool) {
        let _ = is_sent;
    }

    /// Reports the smoothed round-trip time measured by the sending half, or the handshake's if
    /// there is none.
    fn on_rtt(&mut self, rtt: Duration) {
        let _ = rtt;
    }

    /// Returns whether an acknowledgement should leave at once.
    fn ack_due(&self) -> bool;

    /// Returns the most bytes of options that [`HcReceiver::ack_options`] adds.
    fn ack_options_len(&self) -> usize;

    /// Adds the CCID's own options to a packet with an acknowledgement number.
    fn ack_options(&mut self, now: Instant, options: &mut OptionList);

    /// Reports that a packet with an acknowledgement number has left, so none is due any longer.
    fn on_ack_sent(&mut self, now: Instant);

    /// Returns when the next timer (a delayed acknowledgement) expires.
    fn deadline(&self) -> Option<Instant>;

    /// Handles timers that are due; [`HcReceiver::ack_due`] may become true.
    fn expire(&mut self, now: Instant);
}
