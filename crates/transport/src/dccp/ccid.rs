//! The line between a DCCP connection and its congestion control: two half-connections, each
//! with a sender and a receiver of its own (RFC 4340 section 10).
//!
//! The connection owns sequence numbers, features, the Ack Vector buffer and the encoding of
//! packets. A CCID decides *when* data may leave ([`HcSender`]) and *when* an acknowledgement is
//! due ([`HcReceiver`]), and attaches options of its own.

use skywave_units::{Duration, Instant};
use skywave_wire::Ecn;
use skywave_wire::dccp::{OptionList, SeqNo};

/// Whether a data packet may leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Permit {
    /// Now.
    Now,
    /// Not before this time (pacing).
    At(Instant),
    /// Not until an acknowledgement or a timer changes something.
    Blocked,
}

/// A packet of ours that has just left, data or not: each one uses a sequence number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SentPacket {
    /// Its sequence number.
    pub(crate) seq: SeqNo,
    /// Bytes of application data; `None` where the packet cannot carry data.
    pub(crate) data: Option<u32>,
    /// Its acknowledgement number; `None` on the types without one.
    pub(crate) ack: Option<SeqNo>,
    /// The ECN bits it was sent with.
    pub(crate) ecn: Ecn,
}

/// Data packets of ours that have left together, one after the other, all alike.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SentTrain {
    /// The sequence number of the first one.
    pub(crate) first: SeqNo,
    /// Packets; perhaps none.
    pub(crate) count: u64,
    /// Bytes of application data in each.
    pub(crate) data: u32,
    /// The ECN bits that they were sent with.
    pub(crate) ecn: Ecn,
}

impl SentTrain {
    const fn packet(&self, index: u64) -> SentPacket {
        SentPacket {
            seq: self.first.add(index),
            data: Some(self.data),
            ack: None,
            ecn: self.ecn,
        }
    }

    /// The last one; `None` where there are none.
    pub(crate) fn last(&self) -> Option<SentPacket> {
        Some(self.packet(self.count.checked_sub(1)?))
    }

    /// Hands over each packet by itself.
    pub(crate) fn for_each(&self, mut take: impl FnMut(&SentPacket)) {
        for index in 0..self.count {
            take(&self.packet(index));
        }
    }
}

/// A sequence-valid packet of the peer's, as congestion control sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReceivedPacket<'a> {
    /// Its sequence number, extended to 48 bits.
    pub(crate) seq: SeqNo,
    /// Whether it has not come before.
    pub(crate) is_new: bool,
    /// Its acknowledgement number, where it has one.
    pub(crate) ack: Option<SeqNo>,
    /// Bytes of application data; `None` where the type cannot carry data.
    pub(crate) data: Option<u32>,
    /// Whether its data failed the Data Checksum. Congestion control is to take that for a mark (RFC
    /// 4340 section 11.7.2, Drop Codes 3 and 7).
    pub(crate) is_corrupted: bool,
    /// CCVal.
    pub(crate) ccval: u8,
    /// The ECN bits of its IP header.
    pub(crate) ecn: Ecn,
    /// NDP Count, where the packet carries one.
    pub(crate) ndp_count: Option<u64>,
    /// All its options, for the CCID's own ones and the Ack Vector.
    pub(crate) options: &'a OptionList,
}

/// Data packets without options that have come together, new and in order, all alike.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReceivedTrain {
    /// The sequence number of the first one.
    pub(crate) first: SeqNo,
    /// Packets, at least one.
    pub(crate) count: u64,
    /// Bytes of application data in each.
    pub(crate) data: u32,
    /// CCVal.
    pub(crate) ccval: u8,
    /// The ECN bits of their IP headers.
    pub(crate) ecn: Ecn,
}

impl ReceivedTrain {
    /// The sequence number of the last packet.
    pub(crate) const fn last(&self) -> SeqNo {
        self.first.add(self.count - 1)
    }

    /// Hands over each packet by itself.
    pub(crate) fn for_each(&self, mut take: impl FnMut(&ReceivedPacket<'_>)) {
        let options = OptionList::new();
        for index in 0..self.count {
            take(&ReceivedPacket {
                seq: self.first.add(index),
                is_new: true,
                ack: None,
                data: Some(self.data),
                is_corrupted: false,
                ccval: self.ccval,
                ecn: self.ecn,
                ndp_count: None,
                options: &options,
            });
        }
    }

    /// Its first `count` packets, or all.
    pub(crate) fn oldest(&self, count: u64) -> Self {
        Self {
            count: count.min(self.count),
            ..*self
        }
    }
}

/// The data-sending half of a CCID.
pub(crate) trait HcSender {
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

    /// How many data packets may leave now, one right after the other, before anything is asked again.
    fn may_send_together(&self) -> u64 {
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

    /// The next timer.
    fn deadline(&self) -> Option<Instant>;

    /// Handles timers that are due.
    fn expire(&mut self, now: Instant);
}

/// The data-receiving half of a CCID.
pub(crate) trait HcReceiver {
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
