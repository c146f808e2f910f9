//! The state of packets in flight, and the sample of each acknowledgement ("Per-packet (P) state",
//! "Per-ACK Rate Sample State").
//!
//! The transport measures the delivery rate; this log adds the values that only BBR uses.

use std::collections::VecDeque;

use skywave_units::Duration;

use crate::{Ack, AckedPacket, Sent};

/// RS: the sample of one acknowledgement. Volumes are in bytes, rates in bytes per second.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RateSample {
    /// RS.delivery_rate, if measurable.
    pub(super) delivery_rate: Option<f64>,
    /// RS.rtt.
    pub(super) rtt: Option<Duration>,
    /// RS.delivered.
    pub(super) delivered: f64,
    /// RS.prior_delivered; `None` if nothing was delivered.
    pub(super) prior_delivered: Option<u64>,
    /// RS.newly_acked.
    pub(super) newly_acked: f64,
    /// RS.tx_in_flight.
    pub(super) tx_in_flight: f64,
    /// RS.lost.
    pub(super) lost: f64,
    /// RS.is_app_limited.
    pub(super) is_app_limited: bool,
}

/// P: the state when a packet was sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet {
    pub(super) bytes: u64,
    /// The position in sending order. Lost packets with adjacent positions form one range.
    pub(super) order: u64,
    delivered: u64,
    lost: u64,
    pub(super) tx_in_flight: f64,
    pub(super) is_app_limited: bool,
    is_lost: bool,
    /// Whether it was acknowledged, but an earlier one was not: removing it would move those around it.
    is_acked: bool,
}

/// The packets not yet acknowledged, and the totals of the connection ("Transport Connection
/// State").
#[derive(Clone, Debug)]
pub(super) struct PacketLog {
    smss: u32,
    /// By number, in ascending order; the first is not acknowledged.
    packets: VecDeque<(u64, Packet)>,
    /// How many of them are acknowledged.
    acked: usize,
    next_order: u64,
    /// C.delivered.
    pub(super) delivered: u64,
    /// C.lost.
    pub(super) lost: u64,
    /// C.inflight. It counts every packet as a full one, as cwnd does.
    pub(super) in_flight: f64,
    /// Bytes of the packets in flight.
    outstanding: u64,
    /// C.app_limited.
    limited_until: Option<u64>,
    /// The last sent of the packets that the current acknowledgement reports.
    newest: Option<Packet>,
    newly_acked: u64,
}

impl PacketLog {
    pub(super) const fn new(smss: u32) -> Self {
        Self {
            smss,
            packets: VecDeque::new(),
            acked: 0,
            next_order: 0,
            delivered: 0,
            lost: 0,
            in_flight: 0.0,
            outstanding: 0,
            limited_until: None,
            newest: None,
            newly_acked: 0,
        }
    }

    /// Returns `packets` full packets in bytes.
    fn volume(&self, packets: u32) -> f64 {
        f64::from(packets) * f64::from(self.smss)
    }

    /// OnPacketSent ("Transmitting a data packet").
    pub(super) fn on_sent(&mut self, sent: &Sent) {
        self.in_flight = self.volume(sent.in_flight);
        let packet = Packet {
            bytes: u64::from(sent.bytes.max(1)),
            order: self.next_order,
            delivered: self.delivered,
            lost: self.lost,
            tx_in_flight: self.in_flight,
            is_app_limited: self.is_app_limited(),
            is_lost: false,
            is_acked: false,
        };
        self.next_order += 1;
        self.outstanding += packet.bytes;
        match self.find(sent.number) {
            Ok(place) => {
                let before = core::mem::replace(&mut self.packets[place].1, packet);
                self.acked -= usize::from(before.is_acked);
                self.take_out(&before);
            }
            Err(place) => self.packets.insert(place, (sent.number, packet)),
        }
        if sent.application_limited {
            self.mark_app_limited();
        }
        self.prune(sent.in_flight);
    }

    /// Returns whether C.app_limited is set.
    pub(super) const fn is_app_limited(&self) -> bool {
        self.limited_until.is_some()
    }

    /// MarkConnectionAppLimited ("Detecting application-limited phases").
    pub(super) fn mark_app_limited(&mut self) {
        self.limited_until = Some((self.delivered + self.outstanding).max(1));
    }

    /// UpdateRateSample ("Upon receiving an ACK").
    pub(super) fn on_acked(&mut self, acked: &AckedPacket) {
        let Some(packet) = self.take(acked.number) else {
            self.delivered += u64::from(self.smss);
            self.newly_acked += u64::from(self.smss);
            return;
        };
        self.take_out(&packet);
        self.delivered += packet.bytes;
        self.newly_acked += packet.bytes;
        if self.newest.is_none_or(|newest| packet.order > newest.order) {
            self.newest = Some(packet);
        }
    }

    /// Marks a packet as lost. Returns it unless it is unknown or was lost before.
    pub(super) fn on_lost(&mut self, number: u64) -> Option<Packet> {
        let place = self.find(number).ok()?;
        let (_, packet) = self.packets.get_mut(place)?;
        if packet.is_lost || packet.is_acked {
            return None;
        }
        let before = *packet;
        packet.is_lost = true;
        self.take_out(&before);
        self.lost += before.bytes;
        Some(before)
    }

    /// The sample of a lost packet, as HandleLostPacket takes it ("Probing for Bandwidth In
    /// ProbeBW").
    pub(super) fn loss_sample(&self, packet: &Packet) -> RateSample {
        RateSample {
            tx_in_flight: packet.tx_in_flight,
            lost: (self.lost - packet.lost) as f64,
            is_app_limited: packet.is_app_limited,
            ..RateSample::default()
        }
    }

    /// Recomputes C.inflight after losses.
    pub(super) fn count_in_flight(&mut self) {
        self.in_flight = self.in_flight.min(self.outstanding as f64);
    }

    /// Gives up everything in flight.
    pub(super) fn give_up(&mut self) {
        for (_, packet) in &mut self.packets {
            packet.is_lost = true;
        }
        self.outstanding = 0;
        self.in_flight = 0.0;
    }

    /// GenerateRateSample ("Upon receiving an ACK").
    pub(super) fn sample(&mut self, ack: &Ack, rtt: Option<Duration>) -> RateSample {
        self.in_flight = self.volume(ack.in_flight);
        self.limited_until.take_if(|until| self.delivered > *until);
        if ack.in_flight == 0 {
            self.packets
                .retain(|(_, packet)| !packet.is_lost && !packet.is_acked);
            self.acked = 0;
        }
        let newly_acked = core::mem::take(&mut self.newly_acked) as f64;
        let Some(packet) = self.newest.take() else {
            return RateSample {
                rtt,
                newly_acked,
                ..RateSample::default()
            };
        };
        let rate = ack.delivery_rate;
        RateSample {
            delivery_rate: rate.map(|rate| rate.rate().as_bps() as f64 / 8.0),
            rtt,
            delivered: (self.delivered - packet.delivered) as f64,
            prior_delivered: Some(packet.delivered),
            newly_acked,
            tx_in_flight: packet.tx_in_flight,
            lost: (self.lost - packet.lost) as f64,
            is_app_limited: packet.is_app_limited
                || rate.is_some_and(|rate| rate.is_application_limited),
        }
    }

    /// Takes out an unacknowledged packet.
    fn take(&mut self, number: u64) -> Option<Packet> {
        let place = self.find(number).ok()?;
        let (_, packet) = self.packets.get_mut(place)?;
        if packet.is_acked {
            return None;
        }
        let taken = *packet;
        packet.is_acked = true;
        self.acked += 1;
        while self
            .packets
            .front()
            .is_some_and(|(_, first)| first.is_acked)
        {
            self.packets.pop_front();
            self.acked -= 1;
        }
        Some(taken)
    }

    /// Returns the place of a packet, or the one at which to insert it. New packets are mostly the last
    /// ones, and acknowledged packets the first.
    fn find(&self, number: u64) -> Result<usize, usize> {
        if self.packets.back().is_none_or(|(last, _)| *last < number) {
            return Err(self.packets.len());
        }
        if self
            .packets
            .front()
            .is_some_and(|(first, _)| *first == number)
        {
            return Ok(0);
        }
        self.packets
            .binary_search_by_key(&number, |(number, _)| *number)
    }

    const fn take_out(&mut self, packet: &Packet) {
        if !packet.is_lost && !packet.is_acked {
            self.outstanding = self.outstanding.saturating_sub(packet.bytes);
        }
    }

    /// Drops packets that are no longer in flight and were never acknowledged under their own
    /// number, so that the log stays as small as the flight.
    fn prune(&mut self, in_flight: u32) {
        let most = 4 * in_flight as usize + 64;
        if self.acked > most {
            self.packets.retain(|(_, packet)| !packet.is_acked);
            self.acked = 0;
        }
        if self.packets.len() - self.acked <= most {
            return;
        }
        let oldest = self.next_order.saturating_sub(most as u64 / 2);
        let mut dropped = 0;
        self.packets.retain(|(_, packet)| {
            let stays = packet.order >= oldest && !packet.is_acked;
            if !stays && !packet.is_lost && !packet.is_acked {
                dropped += packet.bytes;
            }
            stays
        });
        self.acked = 0;
        self.outstanding = self.outstanding.saturating_sub(dropped);
    }
}
