//! An MPCP router's queue, and with chains of one packet a VCP router's: first in, first out, with
//! the load factor written on what leaves.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_path::{
    AnyQueue, Backlog, Checked, Conduct, Dialect, DropReason, Dropped, Head, Keeps, Limit, Packet,
    QueueKind, Queues, Room, Writes,
};
use skywave_registry::ParameterError;
use skywave_units::{Bytes, Duration, Instant, Rate};

use crate::CODES;
use crate::load::{MAX_PACKETS, Marker, Meter, MeterConfig, QueueAverage};
use crate::parameters::chain_range;

/// A drop-tail queue that measures its link's load factor and writes it on the packets that leave,
/// where they carry less: VCP (Xia et al. 2005; Chen et al. 2010, appendix), or a digit a packet,
/// MPCP (Li and Yousefi'zadeh 2009).
///
/// What carries no code, acknowledgements above all, passes as it is but counts as load. The code is
/// written when a packet begins its transmission, so it is as new as it can be.
#[derive(Clone, Debug)]
pub struct Router<P> {
    room: Room,
    waiting: Backlog<P>,
    meter: Meter,
    marker: Marker,
}

impl<P: Packet> Router<P> {
    /// An empty queue that holds up to `limit`, before a link on which what it marks may use `rate`:
    /// the link's rate, or the queue's share of it.
    pub fn new(limit: Limit, config: MeterConfig, rate: Rate, marker: Marker) -> Self {
        Self {
            room: Room::from(limit),
            waiting: Backlog::new(),
            meter: Meter::new(config, rate),
            marker,
        }
    }
}

impl<P: Packet> Keeps<P> for Router<P> {
    fn enqueue(&mut self, now: Instant, packet: P) -> Result<(), Dropped<P>> {
        self.meter.on_arrival(now, packet.size());
        if !self.waiting.has_room_for(packet.size(), self.room) {
            return Err(Dropped {
                packet,
                reason: DropReason::Full,
            });
        }
        self.waiting.push(now, packet);
        self.meter.on_queue(now, self.waiting.bytes());
        Ok(())
    }

    fn dequeue(&mut self, now: Instant) -> Option<P> {
        let (_, mut packet) = self.waiting.pop(now)?;
        let code = packet.ecn();
        let load = self.meter.load(now);
        let marked = self.marker.mark(packet.flow(), packet.tag(), load, code);
        if marked != code {
            packet.set_ecn(marked);
        }
        self.meter.on_queue(now, self.waiting.bytes());
        Some(packet)
    }

    fn dropped(&mut self) -> Option<Dropped<P>> {
        None
    }

    fn packets(&self) -> usize {
        self.waiting.packets()
    }

    fn bytes(&self) -> u64 {
        self.waiting.bytes()
    }

    fn inner_values(&self, record: &mut dyn FnMut(&str, f64)) {
        record("load_factor", self.meter.last_load());
    }
}

/// A drop-tail queue that writes its link's load factor on what leaves. The link's nominal rate is
/// what load is compared with; a weighted sub-queue's share of it, where it is one.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "VcpRouter")]
#[serde(deny_unknown_fields, default)]
pub struct RouterParameters {
    /// Packets that may wait: give this or `bytes`.
    #[schemars(extend("x-unit" = "packets"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packets: Option<u32>,
    /// Bytes that may wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Bytes>,
    /// t_rho: how often the load factor is computed.
    pub interval: Duration,
    /// t_q: how often the queue is sampled.
    pub sampling: Duration,
    /// kappa_q: the share of the persistent queue that counts as load.
    #[schemars(extend("x-unit" = "1"))]
    pub queue_share: f64,
    /// gamma: the target utilisation.
    #[schemars(extend("x-unit" = "1"))]
    pub target_utilisation: f64,
    /// How the persistent queue is averaged.
    pub average: QueueAverageParameter,
    /// How many packets tell a load factor: 1 for VCP, n for MPCP(n).
    #[schemars(extend("x-unit" = "packets"))]
    pub chain: u8,
    /// Flows of which a router remembers where their chains stand, where they have more than one
    /// packet; further ones take over the memory of others.
    #[schemars(extend("x-unit" = "flows"))]
    pub flows: u32,
}

/// Flows that a router remembers by default: 64 KiB.
const FLOWS: u32 = 4096;
/// Flows that it may be asked to remember: 16 MiB.
const MOST_FLOWS: u32 = 1 << 20;

/// How a VCP router averages its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "QueueAverage")]
#[serde(rename_all = "kebab-case")]
pub enum QueueAverageParameter {
    /// Each sample by 1/8 (Chen, Yang and Hong 2010).
    Samples,
    /// The mean of an interval's samples by 1/4 (VCP's authors' code for ns-2).
    Means,
}

impl Default for RouterParameters {
    fn default() -> Self {
        let defaults = MeterConfig::default();
        Self {
            packets: None,
            bytes: None,
            interval: defaults.interval,
            sampling: defaults.sampling,
            queue_share: defaults.queue_share,
            target_utilisation: defaults.target,
            average: QueueAverageParameter::Samples,
            chain: 1,
            flows: FLOWS,
        }
    }
}

impl RouterParameters {
    fn kind<P: Packet + Send + 'static>(self) -> Checked<P> {
        let Self {
            interval,
            sampling,
            queue_share,
            target_utilisation: target,
            chain,
            flows,
            ..
        } = self;
        let limit = Limit::from_parameters(self.packets, self.bytes)?;
        ParameterError::unless((1..=MAX_PACKETS).contains(&chain), "chain", || {
            chain_range(chain)
        })?;
        ParameterError::unless((1..=MOST_FLOWS).contains(&flows), "flows", || {
            format!("{flows} flows to remember: 1 to {MOST_FLOWS}")
        })?;
        let is_period = !sampling.is_zero() && sampling <= interval;
        ParameterError::unless(is_period, "sampling", || {
            format!("{sampling} between samples: above zero, at most the interval of {interval}")
        })?;
        let is_target = target > 0.0 && target <= 1.0;
        ParameterError::unless(is_target, "target_utilisation", || {
            format!("{target}: above 0, at most 1")
        })?;
        ParameterError::unless((0.0..=1.0).contains(&queue_share), "queue_share", || {
            format!("{queue_share}: between 0 and 1")
        })?;
        let config = MeterConfig {
            interval,
            sampling,
            queue_share,
            target,
            average: match self.average {
                QueueAverageParameter::Samples => QueueAverage::Samples,
                QueueAverageParameter::Means => QueueAverage::Means,
            },
        };
        Ok(Arc::new(Kind {
            limit,
            config,
            chain,
            flows,
        }))
    }
}

struct Kind {
    limit: Limit,
    config: MeterConfig,
    chain: u8,
    flows: u32,
}

impl<P: Packet + Send + 'static> QueueKind<P> for Kind {
    fn conduct(&self) -> Conduct {
        Conduct {
            // The codes of VCP grow with the load factor; a digit of a larger level may be smaller.
            writes: if self.chain > 1 {
                Writes::AnyCode
            } else {
                Writes::LargerCodes
            },
            dialect: Some(Dialect {
                name: CODES,
                variant: u32::from(self.chain),
            }),
            ..Conduct::fifo(self.limit)
        }
    }

    fn build(&self, head: &Head<'_>) -> AnyQueue<P> {
        let marker = Marker::new(self.chain, self.flows as usize);
        AnyQueue::keeps(Router::new(self.limit, self.config, head.share, marker))
    }
}

/// Enters the queue discipline `vcp`, whose parameter `chain` makes MPCP of it.
pub(crate) fn register<P: Packet + Send + 'static>(queues: &mut Queues<P>) {
    queues.register(
        "vcp",
        "First in, first out; writes its link's load factor on packets (VCP, MPCP).",
        RouterParameters::kind,
    );
}

#[cfg(test)]
mod tests;
