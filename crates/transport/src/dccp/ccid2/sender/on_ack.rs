//! How the sender handles an acknowledgement (RFC 4341 section 5).

use skywave_congestion::{Ack, Control, Loss, LostPacket, Mark, MarkedPackets};
use skywave_units::{Duration, Instant};
use skywave_wire::dccp::{DccpOption, OptionList, SeqNo};

use super::Sender;
use crate::dccp::ccid::ReceivedPacket;
use crate::dccp::ccid2::RttSampling;
use crate::dccp::data_dropped::{DropCode, dropped};
use crate::dccp::detection::{LostPackets, News, Report, Suspects, Verdict};
use crate::dccp::timing::elapsed;

impl Sender {
    pub(super) fn on_ack(&mut self, now: Instant, ack: SeqNo, packet: &ReceivedPacket<'_>) {
        self.has_unacked_ack = true;
        self.note_application_limit(now);
        let flight_before = self.board.pipe();
        // Losses that belong to the event already answered, and losses of a new event.
        let (mut lost_before, mut lost) = (LostPackets::default(), LostPackets::default());
        let event_start = self.event_start;
        let (control, occasional) = (&mut self.control, &mut self.occasional);
        let mut rate = occasional.as_mut().and_then(|it| it.rate.as_mut());
        let mut news = self
            .board
            .take_in(ack, packet.options, |report| match report {
                Report::Acked(acked) => {
                    control.on_packet_acked(&acked);
                    if let Some(rate) = &mut rate {
                        rate.on_acked(now, acked.number);
                    }
                }
                Report::Lost { seq, sent_at } => {
                    control.on_packet_lost(&LostPacket::new(now, seq.get(), sent_at, 1));
                    let event = if seq.is_before(event_start) {
                        &mut lost_before
                    } else {
                        &mut lost
                    };
                    event.push(seq);
                }
            });
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
        if news.marked > 0 {
            let marked = MarkedPackets::new(now, news.marked, None);
            self.control.on_packets_marked(&marked);
        }
        self.look_for_suspects(now, ack, packet.options);
        let sample = self.sample(now, ack, &news, packet.options);

        let cwnd_before = self.control.cwnd();
        if packet.options.contains(&DccpOption::SlowReceiver) {
            self.control.on_receiver_overload(now, 0);
            let until = now + self.rtt_or_default();
            self.occasional().growth_held_until = Some(until);
        }
        self.grow(now, &news, sample);
        self.note_lost(&news, &lost_before);
        if self.reduces_per_packet {
            self.reduce_again(now, flight_before, lost_before.count());
        }
        self.reduce(now, flight_before, &news, lost);
        if buffer_drops > 0 {
            self.control.on_receiver_overload(now, buffer_drops);
        }
        let cwnd = self.control.cwnd();
        let has_changed = cwnd.floor() != cwnd_before.floor();
        self.window_changed |=
            has_changed && cwnd >= self.control.ssthresh() && self.peer_is_quiescent(now);

        if self.board.pipe() == 0 {
            if flight_before > 0 {
                // A sender that waits for a delayed acknowledgement is not idle.
                self.last_active = Some(now);
            }
            self.timeout = None;
        } else if news.newly_acked > 0 {
            self.timeout = Some(now + self.patience());
        }
        let next = self.board.next();
        let decided = news.newly_acked + news.lost;
        self.ack_ratio.on_ack(ack, decided, cwnd, next);
    }

    /// Reads Data Dropped, adds drops that count as marks to `news`, and returns how many packets
    /// the peer newly dropped in its receive buffer.
    fn take_in_drops(&mut self, ack: SeqNo, options: &OptionList, news: &mut News) -> u32 {
        let mut buffer_drops = 0;
        for (seq, code) in dropped(ack, options, self.board.first()) {
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
        let rtt = (now - sent_at) - elapsed(options);
        let is_sampled =
            self.sampling == RttSampling::EveryAck || !ack.is_before(self.sample_start);
        if is_sampled {
            self.sample_start = self.board.next();
            self.rtt.on_sample(sent_at, rtt);
        }
        (is_sampled || self.reports_every_rtt).then_some(rtt)
    }

    fn grow(&mut self, now: Instant, news: &News, rtt: Option<Duration>) {
        let first = self.board.first();
        let (mut held_until, mut delivery_rate) = (None, None);
        if let Some(occasional) = &mut self.occasional {
            occasional.growth_held_until.take_if(|until| now >= *until);
            held_until = occasional.growth_held_until;
            // Even while growth is held: acknowledged packets need not be remembered.
            if let Some(rate) = &mut occasional.rate {
                delivery_rate = rate.sample(rtt);
                rate.forget_before(first.get());
            }
        }
        let (Some(newest), None) = (news.newest_acked, held_until) else {
            return;
        };
        let mut ack = Ack::new(now, news.newly_acked, self.board.pipe());
        ack.marked = news.newly_acked_marked;
        ack.ack_ratio = self.ack_ratio.get().into();
        ack.rtt = rtt;
        ack.delivery_rate = delivery_rate;
        ack.application_limited = newest.is_after(self.last_full);
        self.control.on_ack(&ack);
    }

    /// Marks the rate sample as application-limited: cwnd had room, but there was no data to send.
    fn note_application_limit(&mut self, now: Instant) {
        let has_room = !self.is_full() && self.earliest_departure().is_none_or(|at| at <= now);
        let occasional = self.occasional.as_mut();
        let idle = occasional.filter(|it| has_room && it.nothing_waits);
        if let Some(rate) = idle.and_then(|it| it.rate.as_mut()) {
            rate.mark_application_limited();
        }
    }

    /// Checks whether packets inferred lost have arrived after all.
    fn look_for_suspects(&mut self, now: Instant, ack: SeqNo, options: &OptionList) {
        let Some(occasional) = &mut self.occasional else {
            return;
        };
        let Some(suspects) = &mut occasional.suspects else {
            return;
        };
        let verdict = suspects.take_in(now, ack, self.board.kind(), options);
        if verdict != Verdict::Open {
            occasional.suspects = None;
        }
        if verdict == Verdict::AllArrived {
            self.control.on_spurious_loss(now);
        }
    }

    /// Adds further losses to the event already answered; with marks, the event can no longer be
    /// undone.
    fn note_lost(&mut self, news: &News, lost: &LostPackets) {
        let Some(occasional) = &mut self.occasional else {
            return;
        };
        if news.has_marks {
            occasional.suspects = None;
        } else if lost.count() > 0 {
            occasional.suspects = occasional.suspects.take().and_then(|it| it.and(lost));
        }
    }

    /// Makes a reduction for each of `lost` more packets of an event.
    fn reduce_again(&mut self, now: Instant, flight_before: u32, lost: u32) {
        for _ in 0..lost {
            self.control.on_loss(&Loss::new(now, flight_before, 1));
            self.counts.reductions += 1;
        }
    }

    /// Reacts to misbehaviour "as if the receiver had reported one or more recent packets as
    /// ECN-marked" (RFC 4340 section 12.3).
    pub(super) fn reduce_as_if_marked(&mut self, now: Instant) {
        let mut news = News::default();
        news.congested(self.board.next().previous());
        self.reduce(now, self.board.pipe(), &news, LostPackets::default());
    }

    /// Makes one reduction for everything lost or marked among the packets sent before the event
    /// was noticed.
    fn reduce(&mut self, now: Instant, flight_before: u32, news: &News, lost: LostPackets) {
        let is_new_event = news
            .newest_congested
            .is_some_and(|seq| !seq.is_before(self.event_start));
        if !is_new_event {
            return;
        }
        if lost.count() > 0 {
            self.control
                .on_loss(&Loss::new(now, flight_before, lost.count()));
            if self.reduces_per_packet {
                self.reduce_again(now, flight_before, lost.count() - 1);
            }
            let until = now + self.rtt.rto();
            self.occasional().suspects = (!news.has_marks)
                .then(|| Suspects::new(until, lost))
                .flatten();
        } else {
            self.control
                .on_mark(&Mark::new(now, flight_before, news.marked.max(1)));
        }
        self.event_start = self.board.next();
        self.ack_ratio.on_reduction();
        self.counts.reductions += 1;
    }
}
