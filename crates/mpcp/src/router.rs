//! The queue of an MPCP router, or with chains of one packet of a VCP router: a FIFO that writes
//! the load factor into outgoing packets.

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

/// A drop-tail queue that measures its link's load factor and writes it into outgoing packets that
/// carry a smaller one: as in VCP (Xia et al. 2005; Chen et al. 2010, appendix), or one digit per
/// packet as in MPCP (Li and Yousefi'zadeh 2009).
///
/// Packets without a code, mainly acknowledgements, are not changed but count as load. The code is
/// written when the transmission begins, so that it is as recent as possible.
#[derive(Clone, Debug)]
pub struct Router<P> {
    room: Room,
    waiting: Backlog<P>,
    meter: Meter,
    marker: Marker,
}

impl<P: Packet> Router<P> {
    /// Creates an empty queue that holds up to `limit`. Marked traffic may use `rate`: the link's
    /// rate, or the queue's share of it.
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
            return Err(Dropped::new(packet, DropReason::Full));
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

/// A drop-tail queue that writes its link's load factor into outgoing packets. The load is relative
/// to the link's nominal rate, or to a weighted sub-queue's share of it.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "VcpRouter")]
#[serde(deny_unknown_fields, default)]
pub struct RouterParameters {
    /// Capacity in packets; give this or `bytes`.
    #[schemars(extend("x-unit" = "packets"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packets: Option<u32>,
    /// Capacity in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Bytes>,
    /// t_rho: the interval between computations of the load factor.
    pub interval: Duration,
    /// t_q: the interval between queue samples.
    pub sampling: Duration,
    /// kappa_q: the fraction of the persistent queue that counts as load.
    #[schemars(extend("x-unit" = "1"))]
    pub queue_share: f64,
    /// gamma: the target utilisation.
    #[schemars(extend("x-unit" = "1"))]
    pub target_utilisation: f64,
    /// How the persistent queue is averaged.
    pub average: QueueAverageParameter,
    /// The number of packets per load factor: 1 for VCP, n for MPCP(n).
    #[schemars(extend("x-unit" = "packets"))]
    pub chain: u8,
    /// The number of flows whose chains a router tracks, if chains have more than one packet.
    /// Further flows take over other flows' slots.
    #[schemars(extend("x-unit" = "flows"))]
    pub flows: u32,
}

/// The default number of tracked flows: 64 KiB.
const FLOWS: u32 = 4096;
/// The most flows that can be configured: 16 MiB.
const MOST_FLOWS: u32 = 1 << 20;

/// How a VCP router averages its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "QueueAverage")]
#[serde(rename_all = "kebab-case")]
pub enum QueueAverageParameter {
    /// Exponential average of samples with weight 1/8 (Chen, Yang and Hong 2010).
    Samples,
    /// Exponential average of interval means with weight 1/4 (the VCP authors' code for ns-2).
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
    /// Returns the configuration of the router's meter.
    ///
    /// # Errors
    /// [`ParameterError`] if a parameter is out of range, other than the capacity, which a meter
    /// does not know.
    pub fn meter(&self) -> Result<MeterConfig, ParameterError> {
        let Self {
            interval,
            sampling,
            queue_share,
            target_utilisation: target,
            chain,
            flows,
            ..
        } = *self;
        ParameterError::unless((1..=MAX_PACKETS).contains(&chain), "chain", || {
            chain_range(chain)
        })?;
        ParameterError::unless((1..=MOST_FLOWS).contains(&flows), "flows", || {
            format!("cannot track {flows} flows: give 1 to {MOST_FLOWS}")
        })?;
        let is_period = !sampling.is_zero() && sampling <= interval;
        ParameterError::unless(is_period, "sampling", || {
            format!(
                "{sampling} between samples is out of range: give a time above zero, at most the interval of {interval}"
            )
        })?;
        let is_target = target > 0.0 && target <= 1.0;
        ParameterError::unless(is_target, "target_utilisation", || {
            format!("{target} is out of range: give a value above 0, at most 1")
        })?;
        ParameterError::unless((0.0..=1.0).contains(&queue_share), "queue_share", || {
            format!("{queue_share} is out of range: give a value between 0 and 1")
        })?;
        Ok(MeterConfig {
            interval,
            sampling,
            queue_share,
            target,
            average: match self.average {
                QueueAverageParameter::Samples => QueueAverage::Samples,
                QueueAverageParameter::Means => QueueAverage::Means,
            },
        })
    }

    fn kind<P: Packet + Send + 'static>(self) -> Checked<P> {
        Ok(Arc::new(Kind {
            limit: Limit::from_parameters(self.packets, self.bytes)?,
            config: self.meter()?,
            chain: self.chain,
            flows: self.flows,
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
            // VCP's codes increase with the load factor, but a digit of a larger level may be
            // smaller.
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

/// Registers the queue discipline `vcp`, whose parameter `chain` extends it to MPCP.
pub(crate) fn register<P: Packet + Send + 'static>(queues: &mut Queues<P>) {
    queues.register(
        "vcp",
        "FIFO that writes its link's load factor into packets (VCP, MPCP).",
        RouterParameters::kind,
    );
}

#[cfg(test)]
mod tests;
