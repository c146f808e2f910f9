//! The data-sending half of CCIDs 3 and 4.

use skywave_congestion::tfrc::{self, Feedback, WindowCounter};
use skywave_units::{Duration, Instant, Rate};
use skywave_wire::dccp::{DccpOption, SeqNo};

use super::report::{KnownIntervals, Report};
use super::sent::{Sent, SentLog};
use crate::dccp::ccid::{HcSender, Permit, ReceivedPacket, SentPacket};
use crate::dccp::data_dropped::{DropCode, dropped};
use crate::dccp::timing::{DEFAULT_RTT, elapsed};
use crate::dccp::{Congestion, RateStats};

/// In a loss interval of at most this many round-trip times, every loss counts (RFC 5622 section
/// 5).
const SHORT_INTERVAL: f64 = 2.0;

/// The smallest Sequence Window to request: the feature's initial value (RFC 4340 section 7.5.2).
const LEAST_WINDOW: u64 = 100;

/// CCID 3's sender: sends at the rate that the receiver's reports allow (RFC 4342 section 5).
#[derive(Debug)]
pub(crate) struct Sender {
    tfrc: tfrc::Sender,
    /// Set for CCID 4.
    counts_losses: bool,
    counter: WindowCounter,
    sent: SentLog,
    /// The first packet sent.
    first_sent: Option<SeqNo>,
    /// CCVal of the next data packet.
    next_counter: u8,
    intervals: KnownIntervals,
    /// The newest packet whose Drop Code has been processed.
    newest_drop: Option<SeqNo>,
    /// Data packets that the peer received and dropped.
    dropped_by_peer: u64,
    peer_stopped_listening: bool,
    /// When we last acknowledged anything.
    acked_at: Option<Instant>,
    ack_of_ack_due: bool,
}

impl Sender {
    /// Creates a sender with these parameters.
    pub(crate) fn new(config: tfrc::Config) -> Self {
        Self {
            counts_losses: config.small_packets.is_some(),
            tfrc: tfrc::Sender::new(config),
            counter: WindowCounter::default(),
            sent: SentLog::default(),
            first_sent: None,
            next_counter: 0,
            intervals: KnownIntervals::default(),
            newest_drop: None,
            dropped_by_peer: 0,
            peer_stopped_listening: false,
            acked_at: None,
            ack_of_ack_due: false,
        }
    }

    fn rtt(&self) -> Duration {
        self.tfrc.rtt().unwrap_or(DEFAULT_RTT)
    }

    /// Returns the number of packets newly dropped in the peer's receive buffer.
    fn take_in_drops(&mut self, ack: SeqNo, packet: &ReceivedPacket<'_>) -> u32 {
        let Some(oldest) = self.newest_drop.map(SeqNo::next).or(self.first_sent) else {
            return 0;
        };
        let mut buffer_drops = 0;
        for (seq, code) in dropped(ack, packet.options, oldest) {
            self.newest_drop = Some(self.newest_drop.map_or(seq, |newest| newest.max(seq)));
            self.dropped_by_peer += 1;
            match code {
                DropCode::NotListening => self.peer_stopped_listening = true,
                DropCode::ReceiveBuffer => buffer_drops += 1,
                _ => {}
            }
        }
        buffer_drops
    }

    /// Returns the limit on X_recv if the receiving host could not keep up (RFC 4342 section 5.2);
    /// `None` if it could.
    fn receiver_limit(&self, receive_rate: f64, drops: u32, is_slow: bool) -> Option<f64> {
        if drops == 0 && !is_slow {
            return None;
        }
        let packet = self.tfrc.segment_size() / self.rtt().as_secs_f64().max(1e-9);
        let x_drop = (receive_rate - f64::from(drops) * packet).max(receive_rate.min(packet));
        Some(receive_rate.min(x_drop / 2.0))
    }

    fn feedback(
        &mut self,
        ack: SeqNo,
        packet: &ReceivedPacket<'_>,
        sent: Sent,
        drops: u32,
    ) -> Option<Feedback> {
        let short = SHORT_INTERVAL * self.tfrc.packets_per_rtt();
        let short = self.counts_losses.then_some(short);
        let Report {
            receive_rate,
            loss_event_rate,
            loss_event,
        } = self.intervals.read(ack, packet.options, short)?;
        let is_slow = packet.options.contains(&DccpOption::SlowReceiver);
        let limited = self.receiver_limit(receive_rate, drops, is_slow);
        Some(Feedback {
            sent_at: sent.at,
            delay: elapsed(packet.options),
            receive_rate: limited.unwrap_or(receive_rate),
            loss_event_rate,
            loss_event,
            receiver_limited: limited.is_some(),
        })
    }
}

impl HcSender for Sender {
    fn may_send(&self, now: Instant, _bytes: u32) -> Permit {
        if self.peer_stopped_listening {
            return Permit::Blocked;
        }
        match self.tfrc.earliest_departure(now) {
            at if at > now => Permit::At(at),
            _ => Permit::Now,
        }
    }

    fn ccval(&mut self, now: Instant) -> u8 {
        let rtt = self.rtt();
        self.next_counter = self.counter.on_send(now, rtt);
        self.next_counter
    }

    fn on_handshake_rtt(&mut self, rtt: Duration) {
        self.tfrc.on_handshake_rtt(rtt);
    }

    fn on_sent(&mut self, now: Instant, packet: &SentPacket) {
        self.first_sent.get_or_insert(packet.seq);
        let counter = packet.data.map(|_| self.next_counter);
        self.sent.on_sent(packet.seq, Sent { at: now, counter });
        if let Some(bytes) = packet.data {
            self.tfrc.on_sent(now, bytes);
        }
        if packet.ack.is_some() {
            self.acked_at = Some(now);
            self.ack_of_ack_due = false;
        }
    }

    fn quick_start_request(&mut self) -> Option<Rate> {
        self.tfrc.quick_start_request()
    }

    fn on_quick_start(&mut self, now: Instant, rate: Rate) {
        self.tfrc.on_quick_start(now, rate);
    }

    fn on_received(&mut self, now: Instant, packet: &ReceivedPacket<'_>) {
        let Some(ack) = packet.ack else {
            return;
        };
        // Section 6.3: acknowledge acknowledgements only if the receiver keeps state until then.
        let is_held = packet.options.iter().any(|option| {
            matches!(
                option,
                DccpOption::AckVector { .. } | DccpOption::DataDropped(_)
            )
        });
        let rtt = self.rtt();
        self.ack_of_ack_due |= is_held && self.acked_at.is_none_or(|at| now - at >= rtt);
        let drops = self.take_in_drops(ack, packet);
        let Some(sent) = self.sent.on_ack(ack) else {
            return;
        };
        if let Some(counter) = sent.counter {
            self.counter.on_ack(counter);
        }
        if let Some(feedback) = self.feedback(ack, packet, sent, drops) {
            self.tfrc.on_feedback(now, &feedback);
        }
    }

    fn srtt(&self) -> Option<Duration> {
        self.tfrc.rtt()
    }

    /// Returns five times the packets per round-trip time (RFC 4340 section 7.5.2).
    fn sequence_window(&self) -> Option<u64> {
        Some(
            (self.tfrc.packets_per_rtt() as u64)
                .saturating_mul(5)
                .max(LEAST_WINDOW),
        )
    }

    fn ack_of_ack_due(&self) -> bool {
        self.ack_of_ack_due
    }

    fn congestion(&self) -> Congestion {
        let stats = self.tfrc.stats();
        Congestion::Rate(RateStats {
            rate: stats.rate,
            allowed_rate: stats.allowed_rate,
            receive_rate: stats.receive_rate,
            loss_event_rate: stats.loss_event_rate,
            reports: stats.reports,
            loss_events: stats.loss_events,
            dropped_by_peer: self.dropped_by_peer,
        })
    }

    fn timeouts(&self) -> u64 {
        self.tfrc.stats().timeouts
    }

    fn peer_stopped_listening(&self) -> bool {
        self.peer_stopped_listening
    }

    fn deadline(&self) -> Option<Instant> {
        self.tfrc.deadline()
    }

    fn expire(&mut self, now: Instant) {
        self.tfrc.expire(now);
    }
}
