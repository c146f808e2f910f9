//! A path with one bottleneck, and a sender that fills it, on virtual time.
//!
//! Packets of [`SMSS`] bytes are numbered in sending order and never retransmitted, as in DCCP. A
//! packet is found lost when the acknowledgement of a later one arrives.

use std::collections::VecDeque;

use skywave_units::{Duration, Instant};
use skywave_wire::Ecn;

use super::super::{Bbr, BbrConfig};
use crate::{Ack, AckedPacket, Control, DeliverySampler, Loss, LostPacket, Pacer, Sent};

pub(super) const SMSS: u32 = 1000;
const RTO: Duration = Duration::from_secs(1);

/// How much the application sends.
#[derive(Clone, Copy)]
pub(super) enum Application {
    Greedy,
    /// Bytes per second.
    Rate(f64),
    Paused,
}

/// A token bucket that drops what does not conform.
#[derive(Clone, Copy)]
pub(super) struct Policer {
    /// Bytes per second.
    pub(super) rate: f64,
    /// Bytes.
    pub(super) burst: f64,
    tokens: f64,
    filled_at: Instant,
}

impl Policer {
    pub(super) const fn new(rate: f64, burst: f64) -> Self {
        Self {
            rate,
            burst,
            tokens: burst,
            filled_at: Instant::ZERO,
        }
    }

    fn passes(&mut self, now: Instant) -> bool {
        let earned = self.rate * (now - self.filled_at).as_secs_f64();
        self.tokens = (self.tokens + earned).min(self.burst);
        self.filled_at = now;
        let passes = self.tokens >= f64::from(SMSS);
        if passes {
            self.tokens -= f64::from(SMSS);
        }
        passes
    }
}

/// A packet in flight, and when its acknowledgement arrives; `None` if it is lost.
struct Flying {
    number: u64,
    sent_at: Instant,
    arrival: Option<Instant>,
}

pub(super) struct Path {
    /// Bytes per second.
    pub(super) rate: f64,
    pub(super) rtt: Duration,
    /// Bytes that wait in front of the bottleneck.
    pub(super) buffer: f64,
    /// Every how many packets one is lost.
    pub(super) lose_every: Option<u64>,
    pub(super) policer: Option<Policer>,
    /// Acknowledgements arrive together, this often.
    pub(super) aggregation: Option<Duration>,
    pub(super) application: Application,
    pub(super) bbr: Bbr,
    pub(super) now: Instant,
    pub(super) acked: u64,
    pub(super) lost: u64,
    sampler: DeliverySampler,
    pacer: Pacer,
    free_at: Instant,
    /// When the application has the next packet.
    next_data: Instant,
    next: u64,
    flight: VecDeque<Flying>,
    last_sent: Instant,
    /// Losses before this packet belong to the last congestion event.
    event_end: u64,
}

impl Path {
    /// A path with `mbps` megabits per second and a buffer of `bdps` bandwidth-delay products.
    pub(super) fn new(mbps: f64, rtt: Duration, bdps: f64) -> Self {
        let rate = mbps * 125_000.0;
        Self {
            rate,
            rtt,
            buffer: (bdps * rate * rtt.as_secs_f64()).max(3.0 * f64::from(SMSS)),
            lose_every: None,
            policer: None,
            aggregation: None,
            application: Application::Greedy,
            bbr: Bbr::new(BbrConfig::new(SMSS, 10.0)),
            now: Instant::ZERO,
            acked: 0,
            lost: 0,
            sampler: DeliverySampler::default(),
            pacer: Pacer::default(),
            free_at: Instant::ZERO,
            next_data: Instant::ZERO,
            next: 0,
            flight: VecDeque::new(),
            last_sent: Instant::ZERO,
            event_end: 0,
        }
    }

    /// Changes the bandwidth and, in proportion, the buffer. Packets that wait are served at the
    /// new rate.
    pub(super) fn change_rate(&mut self, factor: f64) {
        let (now, rtt) = (self.now, self.rtt);
        let served_at =
            |at: Instant| now + Duration::from_secs_f64((at - now).as_secs_f64() / factor);
        for arrival in self
            .flight
            .iter_mut()
            .filter_map(|packet| packet.arrival.as_mut())
        {
            let departure = *arrival - rtt;
            if departure > now {
                *arrival = served_at(departure) + rtt;
            }
        }
        self.free_at = served_at(self.free_at.max(now));
        self.rate *= factor;
        self.buffer *= factor;
    }

    pub(super) fn bdp(&self) -> f64 {
        self.rate * self.rtt.as_secs_f64()
    }

    pub(super) fn in_flight(&self) -> usize {
        self.flight.len()
    }

    /// Runs until `until` holds after an event, for at most `most`. Returns whether it does.
    #[must_use]
    pub(super) fn run_until(&mut self, most: Duration, until: impl Fn(&Bbr) -> bool) -> bool {
        let end = self.now + most;
        while self.now < end {
            if until(&self.bbr) {
                return true;
            }
            self.step(end);
        }
        until(&self.bbr)
    }

    /// Runs until a state is reached, which must happen within a minute.
    #[track_caller]
    pub(super) fn reach(&mut self, until: impl Fn(&Bbr) -> bool) {
        let reached = self.run_until(Duration::from_secs(60), until);
        assert!(reached, "{:?} after a minute", self.bbr.state);
    }

    pub(super) fn run_for(&mut self, time: Duration) {
        let _ = self.run_until(time, |_| false);
    }

    /// Handles the next event, or advances to `end`.
    fn step(&mut self, end: Instant) {
        let ack = self.flight.iter().find_map(|packet| packet.arrival);
        let timeout = (!self.flight.is_empty()).then_some(self.last_sent + RTO);
        let send = self.next_departure();
        let event = [ack, send, ack.is_none().then_some(timeout).flatten()];
        let at = event.into_iter().flatten().min().unwrap_or(end);
        if at >= end {
            self.now = end;
            return;
        }
        self.now = at;
        if ack == Some(at) {
            self.take_ack();
        } else if send == Some(at) {
            self.send();
        } else {
            self.time_out();
        }
    }

    fn has_room(&self) -> bool {
        (self.flight.len() + 1) as f64 <= self.bbr.cwnd()
    }

    fn has_data(&self) -> bool {
        match self.application {
            Application::Greedy => true,
            Application::Rate(_) => self.next_data <= self.now,
            Application::Paused => false,
        }
    }

    fn next_departure(&self) -> Option<Instant> {
        if !self.has_room() {
            return None;
        }
        let data = match self.application {
            Application::Greedy => self.now,
            Application::Rate(_) => self.next_data,
            Application::Paused => return None,
        };
        let paced = self.pacer.earliest_departure().unwrap_or(self.now);
        Some(data.max(paced).max(self.now))
    }

    fn send(&mut self) {
        let now = self.now;
        if let Application::Rate(rate) = self.application {
            self.next_data = self.next_data.max(now - self.rtt)
                + Duration::from_secs_f64(f64::from(SMSS) / rate);
        }
        let number = self.next;
        self.next += 1;
        self.last_sent = now;
        let arrival = self.arrival(number);
        self.flight.push_back(Flying {
            number,
            sent_at: now,
            arrival,
        });
        self.sampler.on_sent(now, number, SMSS);
        let mut sent = Sent::new(now, number, SMSS, self.flight.len() as u32);
        sent.application_limited = !self.has_data() && self.has_room();
        if sent.application_limited {
            self.sampler.mark_application_limited();
        }
        self.bbr.on_sent(&sent);
        self.pacer.on_sent(now, SMSS, self.bbr.pacing());
    }

    /// Returns when the acknowledgement of a packet sent now arrives.
    fn arrival(&mut self, number: u64) -> Option<Instant> {
        if self
            .lose_every
            .is_some_and(|every| number.is_multiple_of(every))
        {
            return None;
        }
        if let Some(policer) = &mut self.policer
            && !policer.passes(self.now)
        {
            return None;
        }
        let start = self.free_at.max(self.now);
        if (start - self.now).as_secs_f64() * self.rate > self.buffer {
            return None;
        }
        self.free_at = start + Duration::from_secs_f64(f64::from(SMSS) / self.rate);
        let arrival = self.free_at + self.rtt;
        Some(self.aggregation.map_or(arrival, |interval| {
            Instant::ZERO + (arrival - Instant::ZERO).round_up_to(interval)
        }))
    }

    fn take_ack(&mut self) {
        let now = self.now;
        if !self.has_data() && self.has_room() {
            self.sampler.mark_application_limited();
        }
        let arrived = |packet: &Flying| packet.arrival.is_some_and(|at| at <= now);
        let last = self.flight.iter().rposition(arrived).unwrap_or(0);
        let (mut acked, mut lost, mut is_new) = (0, 0, false);
        for packet in self.flight.drain(..=last) {
            let Flying {
                number, sent_at, ..
            } = packet;
            if packet.arrival.is_some() {
                acked += 1;
                self.bbr
                    .on_packet_acked(&AckedPacket::new(number, sent_at, 1, Ecn::NotEct));
                self.sampler.on_acked(now, number);
            } else {
                lost += 1;
                is_new |= number >= self.event_end;
                self.bbr
                    .on_packet_lost(&LostPacket::new(now, number, sent_at, 1));
            }
        }
        if let Some(first) = self.flight.front() {
            self.sampler.forget_before(first.number);
        }
        self.acked += acked;
        self.lost += lost;
        let in_flight = self.flight.len() as u32;
        if is_new {
            self.event_end = self.next;
            self.bbr.on_loss(&Loss::new(now, in_flight, lost as u32));
        }
        let mut ack = Ack::new(now, acked as u32, in_flight);
        ack.delivery_rate = self.sampler.sample(Some(self.rtt));
        self.bbr.on_ack(&ack);
    }

    fn time_out(&mut self) {
        let now = self.now;
        for packet in self.flight.drain(..) {
            self.lost += 1;
            let lost = LostPacket::new(now, packet.number, packet.sent_at, 1);
            self.bbr.on_packet_lost(&lost);
        }
        self.sampler.on_timeout();
        self.event_end = self.next;
        self.bbr.on_timeout(now, 0);
    }
}
