//! A VCP router's queue: first in, first out, with the load factor written on what leaves.

use skywave_congestion::load::{Meter, MeterConfig, Zone};
use skywave_units::{Instant, Rate};

use super::backlog::Backlog;
use super::{DropReason, Dropped, Limit, Queue};
use crate::Packet;

/// A drop-tail queue that measures its link's load factor and raises the code of each packet that
/// leaves to that of its [`Zone`] (Xia et al. 2005; Chen et al. 2010, appendix).
///
/// What carries no code, acknowledgements above all, passes as it is but counts as load. The code is
/// written when a packet begins its transmission, so it is as new as it can be.
#[derive(Clone, Debug)]
pub struct Vcp<P> {
    limit: Limit,
    waiting: Backlog<P>,
    meter: Meter,
}

impl<P: Packet> Vcp<P> {
    /// An empty queue that holds up to `limit`, before a link on which VCP may use `rate`: the link's
    /// rate, or the queue's share of it.
    pub fn new(limit: Limit, config: MeterConfig, rate: Rate) -> Self {
        Self {
            limit,
            waiting: Backlog::new(),
            meter: Meter::new(config, rate),
        }
    }
}

impl<P: Packet> Queue<P> for Vcp<P> {
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
        let raised = Zone::of(self.meter.load(now)).raise(code);
        if raised != code {
            packet.set_ecn(raised);
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
