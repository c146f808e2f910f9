//! What an acknowledgement means to the sender (RFC 4341 section 5).

use skywave_congestion::{AckSummary, WindowControl};
use skywave_units::{Duration, Instant};
use skywave_wire::dccp::{DccpOption, OptionList, SeqNo};

use super::Sender;
use crate::dccp::ccid::ReceivedPacket;
use crate::dccp::ccid2::RttSampling;
use crate::dccp::ccid2::scoreboard::News;
use crate::dccp::data_dropped::{DropCode, dropped};
use crate::dccp::timing::elapsed;

impl Sender {
    pub(super) fn on_ack(&mut self, now: Instant, ack: SeqNo, packet: &ReceivedPacket<'_>) {
        self.has_unacked_ack = true;
        let flight_before = self.board.pipe();
        let window = &mut self.window;
        let mut news = self
            .board
            .take_in(ack, packet.options, |acked| window.on_packet_acked(acked));
        let buffer_drops = self.take_in_drops(ack, packet.options, &mut news);
        self.board.forget_decided();
        if news.bad_nonce && self.verify_nonce {
            self.counts.bad_nonces += 1;
            // "As if the receiver had reported one or more recent packets as ECN-marked" (RFC 4340
            // section 12.3).
            news.congested(ack);
        }
        self.counts.acked += u64::from(news.newly_acked);
        self.counts.lost += u64::from(news.lost);
        self.counts.marked += u64::from(news.marked);
        let sample = self.sample(now, ack, &news, packet.options);

        let cwnd_before = self.window.cwnd();
        if packet.options.contains(&DccpOption::SlowReceiver) {
            self.window.on_receiver_overload(now, 0);
            self.growth_held_until = Some(now + self.rtt_or_default());
        }
        self.grow(now, &news, sample);
        self.reduce(now, flight_before, &news);
        if buffer_drops > 0 {
            self.window.on_receiver_overload(now, buffer_drops);
        }
        let cwnd = self.window.cwnd();
        let has_changed = cwnd.floor() != cwnd_before.floor();
        self.window_changed |=
            has_changed && cwnd >= self.window.ssthresh() && self.peer_is_quiescent(now);

        if self.board.pipe() == 0 {
            self.timeout = None;
        } else if news.newly_acked > 0 {
            self.timeout = Some(now + self.patience());
        }
        let next = self.board.next();
        self.ack_ratio.on_ack(ack, news.newly_acked, cwnd, next);
    }

    /// Reads Data Dropped, adds what counts as a mark to `news`, and returns how many packets the
    /// peer has newly dropped in its receive buffer.
    fn take_in_drops(&mut self, ack: SeqNo, options: &OptionList, news: &mut News) -> u32 {
        let mut buffer_drops = 0;
        for (seq, code) in dropped(ack, options) {
            if !self.board.drop_data(seq) {
                continue;
            }
            self.counts.dropped_by_peer += 1;
            match code {
                DropCode::ProtocolConstraints => {}
                DropCode::NotListening => self.peer_stopped_listening = true,
                DropCode::ReceiveBuffer => buffer_drops += 1,
                DropCode::Corrupt | DropCode::DeliveredCorrupt | DropCode::Reserved => {
                    news.congested(seq);
                }
            }
        }
        buffer_drops
    }

    fn sample(
        &mut self,
        now: Instant,
        ack: SeqNo,
        news: &News,
        options: &OptionList,
    ) -> Option<Duration> {
        let sent_at = news.sample?;
        if self.sampling == RttSampling::OncePerWindow {
            if ack.is_before(self.sample_start) {
                return None;
            }
            self.sample_start = self.board.next();
        }
        let rtt = (now - sent_at) - elapsed(options);
        self.rtt.on_sample(sent_at, rtt);
        Some(rtt)
    }

    fn grow(&mut self, now: Instant, news: &News, rtt: Option<Duration>) {
        if self.growth_held_until.is_some_and(|until| now >= until) {
            self.growth_held_until = None;
        }
        let (Some(newest), None) = (news.newest_acked, self.growth_held_until) else {
            return;
        };
        self.window.on_ack(&AckSummary {
            now,
            newly_acked: news.newly_acked,
            in_flight: self.board.pipe(),
            ack_ratio: self.ack_ratio.get().into(),
            rtt,
            application_limited: newest.is_after(self.last_full),
            ecn_echo: false,
        });
    }

    /// One reduction for all that was lost or marked among packets sent before the first of it was
    /// noticed.
    fn reduce(&mut self, now: Instant, flight_before: u32, news: &News) {
        if news
            .newest_congested
            .is_some_and(|seq| !seq.is_before(self.event_start))
        {
            self.window.on_congestion(now, flight_before);
            self.event_start = self.board.next();
            self.counts.reductions += 1;
        }
    }
}
