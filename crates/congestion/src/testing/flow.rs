//! A sender that fills a path, as far as its application, cwnd and pacing permit.

use std::collections::VecDeque;

use skywave_units::{Duration, Instant};
use skywave_wire::Ecn;

use super::bottleneck::{Bottleneck, Delivery};
use super::path::SMSS;
use crate::{
    Ack, AckedPacket, Control, DeliverySampler, Loss, LostPacket, Mark, MarkedPackets, Pacer, Sent,
};

const RTO: Duration = Duration::from_secs(1);

/// How much the application sends.
#[derive(Clone, Copy)]
pub(crate) enum Application {
    Greedy,
    /// Bytes per second.
    Rate(f64),
    Paused,
}

/// A packet in flight; one that is lost has no delivery.
pub(super) struct Flying {
    number: u64,
    sent_at: Instant,
    pub(super) delivery: Option<Delivery>,
}

pub(crate) struct Flow<C> {
    pub(crate) application: Application,
    pub(crate) control: C,
    /// By how much the round trip of this flow exceeds that of the bottleneck.
    pub(crate) extra_rtt: Duration,
    pub(crate) acked: u64,
    pub(crate) lost: u64,
    pub(crate) marked: u64,
    sampler: DeliverySampler,
    pacer: Pacer,
    /// When the application has the next packet.
    next_data: Instant,
    next: u64,
    pub(super) flight: VecDeque<Flying>,
    last_sent: Instant,
    /// Losses and marks before this packet belong to the last congestion event.
    event_end: u64,
}

impl<C: Control> Flow<C> {
    pub(crate) fn new(control: C) -> Self {
        Self {
            application: Application::Greedy,
            control,
            extra_rtt: Duration::ZERO,
            acked: 0,
            lost: 0,
            marked: 0,
            sampler: DeliverySampler::default(),
            pacer: Pacer::default(),
            next_data: Instant::ZERO,
            next: 0,
            flight: VecDeque::new(),
            last_sent: Instant::ZERO,
            event_end: 0,
        }
    }

    pub(crate) fn in_flight(&self) -> usize {
        self.flight.len()
    }

    fn next_ack(&self) -> Option<Instant> {
        let mut deliveries = self.flight.iter().filter_map(|packet| packet.delivery);
        deliveries.next().map(|delivery| delivery.arrival)
    }

    /// Returns when the next event happens.
    pub(super) fn next_event(&self, now: Instant) -> Option<Instant> {
        let ack = self.next_ack();
        let timeout = (!self.flight.is_empty()).then_some(self.last_sent + RTO);
        let event = [
            ack,
            self.next_departure(now),
            timeout.filter(|_| ack.is_none()),
        ];
        event.into_iter().flatten().min()
    }

    /// Handles the event of `now`.
    pub(super) fn handle(&mut self, now: Instant, link: &mut Bottleneck) {
        if self.next_ack() == Some(now) {
            self.take_ack(now, link.rtt);
        } else if self.next_departure(now) == Some(now) {
            self.send(now, link);
        } else {
            self.time_out(now);
        }
    }

    fn has_room(&self) -> bool {
        (self.flight.len() + 1) as f64 <= self.control.cwnd()
    }

    fn has_data(&self, now: Instant) -> bool {
        match self.application {
            Application::Greedy => true,
            Application::Rate(_) => self.next_data <= now,
            Application::Paused => false,
        }
    }

    fn next_departure(&self, now: Instant) -> Option<Instant> {
        if !self.has_room() {
            return None;
        }
        let data = match self.application {
            Application::Greedy => now,
            Application::Rate(_) => self.next_data,
            Application::Paused => return None,
        };
        let paced = self.pacer.earliest_departure().unwrap_or(now);
        Some(data.max(paced).max(now))
    }

    fn send(&mut self, now: Instant, link: &mut Bottleneck) {
        if let Application::Rate(rate) = self.application {
            self.next_data = self.next_data.max(now - link.rtt)
                + Duration::from_secs_f64(f64::from(SMSS) / rate);
        }
        let number = self.next;
        self.next += 1;
        self.last_sent = now;
        let mut delivery = link.carry(now, number);
        if let Some(delivery) = &mut delivery {
            delivery.arrival += self.extra_rtt;
        }
        self.flight.push_back(Flying {
            number,
            sent_at: now,
            delivery,
        });
        self.sampler.on_sent(now, number, SMSS);
        let mut sent = Sent::new(now, number, SMSS, self.flight.len() as u32);
        sent.application_limited = !self.has_data(now) && self.has_room();
        if sent.application_limited {
            self.sampler.mark_application_limited();
        }
        self.control.on_sent(&sent);
        self.pacer.on_sent(now, SMSS, self.control.pacing());
    }

    fn take_ack(&mut self, now: Instant, min_rtt: Duration) {
        if !self.has_data(now) && self.has_room() {
            self.sampler.mark_application_limited();
        }
        let flight_before = self.flight.len() as u32;
        let was_full = !self.has_room();
        let arrived = |packet: &Flying| {
            packet
                .delivery
                .is_some_and(|delivery| delivery.arrival <= now)
        };
        let last = self.flight.iter().rposition(arrived).unwrap_or(0);
        let (mut acked, mut lost, mut marked, mut rtt) = (0, 0, 0, None);
        let (mut is_new_loss, mut is_new_mark) = (false, false);
        for packet in self.flight.drain(..=last) {
            let Flying {
                number, sent_at, ..
            } = packet;
            if let Some(delivery) = packet.delivery {
                acked += 1;
                rtt = Some(now - sent_at);
                let ecn = if delivery.is_marked {
                    marked += 1;
                    is_new_mark |= number >= self.event_end;
                    Ecn::Ce
                } else {
                    Ecn::NotEct
                };
                self.control
                    .on_packet_acked(&AckedPacket::new(number, sent_at, 1, ecn));
                self.sampler.on_acked(now, number);
            } else {
                lost += 1;
                is_new_loss |= number >= self.event_end;
                self.control
                    .on_packet_lost(&LostPacket::new(now, number, sent_at, 1));
            }
        }
        if let Some(first) = self.flight.front() {
            self.sampler.forget_before(first.number);
        }
        self.acked += acked;
        self.lost += lost;
        self.marked += u64::from(marked);
        let in_flight = self.flight.len() as u32;
        if marked > 0 {
            self.control
                .on_packets_marked(&MarkedPackets::new(now, marked, None));
        }
        if is_new_loss {
            self.control
                .on_loss(&Loss::new(now, in_flight, lost as u32));
        }
        let mut ack = Ack::new(now, acked as u32, in_flight);
        ack.marked = marked;
        ack.rtt = rtt;
        ack.application_limited = !was_full;
        ack.delivery_rate = self.sampler.sample(Some(min_rtt));
        self.control.on_ack(&ack);
        if is_new_mark && !is_new_loss {
            self.control.on_mark(&Mark::new(now, flight_before, marked));
        }
        if is_new_loss || is_new_mark {
            self.event_end = self.next;
        }
    }

    fn time_out(&mut self, now: Instant) {
        for packet in self.flight.drain(..) {
            self.lost += 1;
            let lost = LostPacket::new(now, packet.number, packet.sent_at, 1);
            self.control.on_packet_lost(&lost);
        }
        self.sampler.on_timeout();
        self.event_end = self.next;
        self.control.on_timeout(now, 0);
    }
}
