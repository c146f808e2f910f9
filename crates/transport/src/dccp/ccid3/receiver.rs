//! The data-receiving half of CCIDs 3 and 4.

use skywave_congestion::tfrc::{self, Arrival};
use skywave_units::{Duration, Instant};
use skywave_wire::Ecn;
use skywave_wire::dccp::{DccpOption, ElapsedTime, OptionList, SeqNo};

use super::encode;
use super::rtt_estimate::ReceiverRtt;
use crate::dccp::ccid::{HcReceiver, ReceivedPacket};

/// The first packet's number on the scale of unwrapped sequence numbers; leaves room for earlier
/// ones.
const FIRST: u64 = 1 << 48;

/// Bytes of a report's options: Elapsed Time, Receive Rate, Loss Event Rate, Loss Intervals, and
/// Dropped Packets for CCID 4.
const REPORT: usize = 6 + 6 + 6 + (3 + 9 * (tfrc::INTERVALS + 1));
const DROPPED_PACKETS: usize = 2 + 3 * (tfrc::INTERVALS + 1);

/// CCID 3's receiver: one report per round-trip time, and an immediate one on each loss event (RFC
/// 4342 sections 6 and 10.3).
#[derive(Debug)]
pub(crate) struct Receiver {
    tfrc: tfrc::Receiver,
    /// Set for CCID 4.
    counts_drops: bool,
    /// The Send Loss Event Rate feature.
    sends_loss_event_rate: bool,
    /// The sender's reported round-trip time, if it reports one.
    rtt: Option<ReceiverRtt>,
    /// The newest packet, its unwrapped number, and when it arrived.
    newest: Option<(SeqNo, u64, Instant)>,
}

impl Receiver {
    /// Creates a receiver with these parameters.
    pub(crate) fn new(config: &tfrc::Config) -> Self {
        Self {
            tfrc: tfrc::Receiver::new(config),
            counts_drops: config.small_packets.is_some(),
            sends_loss_event_rate: false,
            rtt: None,
            newest: None,
        }
    }

    /// Returns the unwrapped number of `seq`.
    fn place(&mut self, seq: SeqNo, now: Instant) -> u64 {
        let Some((newest, place, _)) = self.newest else {
            self.newest = Some((seq, FIRST, now));
            return FIRST;
        };
        let place = place.saturating_add_signed(seq.distance_from(newest));
        if seq.is_after(newest) {
            self.newest = Some((seq, place, now));
        }
        place
    }
}

impl HcReceiver for Receiver {
    fn on_received(&mut self, now: Instant, packet: &ReceivedPacket<'_>) {
        let seq = self.place(packet.seq, now);
        if !packet.is_new {
            return;
        }
        if let Some(rtt) = &mut self.rtt {
            for option in packet.options {
                if let DccpOption::RttEstimate { micros, .. } = option {
                    rtt.on_option(now, *micros);
                }
            }
            self.tfrc.on_sender_rtt(Some(rtt.get()));
        }
        self.tfrc.on_arrival(&Arrival {
            seq,
            at: now,
            data: packet.data,
            marked: packet.ecn.is_ce() || packet.is_corrupted,
            nonce: packet.ecn == Ecn::Ect1,
            counter: packet.ccval,
            non_data_before: packet.ndp_count.unwrap_or(0),
        });
    }

    fn on_send_loss_event_rate(&mut self, wanted: bool) {
        self.sends_loss_event_rate = wanted;
    }

    fn on_send_rtt_estimate(&mut self, is_sent: bool) {
        self.rtt = is_sent.then(ReceiverRtt::new);
        self.tfrc.on_sender_rtt(self.rtt.map(|rtt| rtt.get()));
    }

    fn on_rtt(&mut self, rtt: Duration) {
        self.tfrc.on_rtt(rtt);
    }

    fn ack_due(&self) -> bool {
        self.tfrc.report_due()
    }

    fn ack_options_len(&self) -> usize {
        if self.counts_drops {
            REPORT + DROPPED_PACKETS
        } else {
            REPORT
        }
    }

    fn ack_options(&mut self, now: Instant, options: &mut OptionList) {
        let (Some((_, newest, arrived)), Some(settled)) = (self.newest, self.tfrc.settled()) else {
            return;
        };
        let Some(report) = self.tfrc.report(now) else {
            return;
        };
        let elapsed = ElapsedTime::from_duration(now - arrived);
        options.push(DccpOption::ElapsedTime(elapsed));
        options.push(encode::receive_rate(&report));
        if self.sends_loss_event_rate {
            options.push(encode::loss_event_rate(&report));
        }
        let unsettled = newest.saturating_sub(settled);
        options.push(encode::loss_intervals(self.tfrc.intervals(), unsettled));
        if self.counts_drops {
            options.push(encode::dropped_packets(self.tfrc.intervals()));
        }
    }

    fn on_ack_sent(&mut self, _now: Instant) {}

    fn deadline(&self) -> Option<Instant> {
        self.tfrc.deadline()
    }

    fn expire(&mut self, now: Instant) {
        self.tfrc.expire(now);
    }
}
