//! An MPCP router's queue, and with chains of one packet a VCP router's: first in, first out, with
//! the load factor written on what leaves.

use skywave_congestion::load::{Marker, Meter, MeterConfig};
use skywave_units::{Instant, Rate};

use super::backlog::Backlog;
use super::{DropReason, Dropped, Limit, Queue};
use crate::Packet;

/// A drop-tail queue that measures its link's load factor and writes it on the packets that leave,
/// where they carry less: VCP (Xia et al. 2005; Chen et al. 2010, appendix), or a digit a packet,
/// MPCP (Li and Yousefi'zadeh 2009).
///
/// What carries no code, acknowledgements above all, passes as it is but counts as load. The code is
/// written when a packet begins its transmission, so it is as new as it can be.
#[derive(Clone, Debug)]
pub struct Mpcp<P> {
    limit: Limit,
    waiting: Backlog<P>,
    meter: Meter,
    marker: Marker,
}

impl<P: Packet> Mpcp<P> {
    /// An empty queue that holds up to `limit`, before a link on which what it marks may use `rate`:
    /// the link's rate, or the queue's share of it.
    pub fn new(limit: Limit, config: MeterConfig, rate: Rate, marker: Marker) -> Self {
        Self {
            limit,
            waiting: Backlog::new(),
            meter: Meter::new(config, rate),
            marker,
        }
    }
}

impl<P> Mpcp<P> {
    /// How many packets tell a load factor; 1 for VCP.
    pub const fn packets_of_chain(&self) -> u8 {
        self.marker.packets()
    }
}

impl<P: Packet> Queue<P> for Mpcp<P> {
    fn enqueue(
        &mut self,
        now: Instant,
        _free: Option<Instant>,
        packet: P,
    ) -> Result<Option<P>, Dropped<P>> {
        self.meter.on_arrival(now, packet.size());
        if !self.waiting.has_room_for(packet.size(), self.limit) {
            return Err(Dropped {
                packet,
                reason: DropReason::Full,
            });
        }
        self.waiting.push(now, packet);
        self.meter.on_queue(now, self.waiting.bytes());
        Ok(None)
    }

    fn dequeue(&mut self, now: Instant) -> Option<P> {
        let (_, mut packet) = self.waiting.pop(now)?;
        let code = packet.ecn();
        let load = self.meter.load(now);
        let marked = self.marker.mark(packet.flow(), packet.place(), load, code);
        if marked != code {
            packet.set_ecn(marked);
        }
        self.meter.on_queue(now, self.waiting.bytes());
        Some(packet)
    }

    fn expire(&mut self, _now: Instant) {}

    fn packets(&self) -> usize {
        self.waiting.packets()
    }

    fn bytes(&self) -> u64 {
        self.waiting.bytes()
    }
}

#[cfg(test)]
mod tests;
