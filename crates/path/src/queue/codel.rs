//! CoDel: keeps the queueing delay near a target (RFC 8289).

use std::collections::VecDeque;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_registry::ParameterError;
use skywave_units::{Bytes, Duration, Instant};

use super::parameters::check_above_zero;
use super::{
    AnyQueue, Backlog, Checked, Conduct, DropReason, Dropped, Head, Keeps, Limit, QueueKind, Room,
    Writes, mark,
};
use crate::Packet;

/// Parameters of CoDel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoDelConfig {
    /// The acceptable standing queue delay.
    pub target: Duration,
    /// How long the delay must exceed the target before anything is dropped: on the order of the
    /// longest typical round-trip time.
    pub interval: Duration,
    /// Whether to mark packets instead of dropping them, if they can be marked.
    pub ecn: bool,
}

impl Default for CoDelConfig {
    /// Returns the values of RFC 8289 section 4.5, for the open Internet, without marking.
    fn default() -> Self {
        Self {
            target: Duration::from_millis(5),
            interval: Duration::from_millis(100),
            ecn: false,
        }
    }
}

/// CoDel on a single FIFO.
#[derive(Clone, Debug)]
pub struct CoDel<P> {
    room: Room,
    waiting: Backlog<P>,
    control: Control,
    config: CoDelConfig,
    dropped: VecDeque<Dropped<P>>,
}

impl<P: Packet> CoDel<P> {
    /// Creates an empty queue that holds up to `limit`.
    pub fn new(limit: Limit, config: CoDelConfig) -> Self {
        Self {
            room: Room::from(limit),
            waiting: Backlog::new(),
            control: Control::new(),
            config,
            dropped: VecDeque::new(),
        }
    }
}

impl<P: Packet> Keeps<P> for CoDel<P> {
    fn enqueue(&mut self, now: Instant, packet: P) -> Result<(), Dropped<P>> {
        if !self.waiting.has_room_for(packet.size(), self.room) {
            return Err(Dropped {
                packet,
                reason: DropReason::Full,
            });
        }
        self.waiting.push(now, packet);
        Ok(())
    }

    fn dequeue(&mut self, now: Instant) -> Option<P> {
        let mut lane = Lane {
            waiting: &mut self.waiting,
            others: 0,
            dropped: &mut self.dropped,
        };
        self.control.dequeue(now, &self.config, &mut lane)
    }

    fn dropped(&mut self) -> Option<Dropped<P>> {
        self.dropped.pop_front()
    }

    fn packets(&self) -> usize {
        self.waiting.packets()
    }

    fn bytes(&self) -> u64 {
        self.waiting.bytes()
    }

    fn inner_values(&self, record: &mut dyn FnMut(&str, f64)) {
        record("count", f64::from(self.control.count));
        record("dropping", f64::from(u8::from(self.control.dropping)));
    }
}

/// Parameters of CoDel, as written in a file.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "CoDel")]
#[serde(deny_unknown_fields, default)]
pub struct CoDelSpec {
    /// Capacity in packets; give this or `bytes`.
    #[schemars(extend("x-unit" = "packets"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packets: Option<u32>,
    /// Capacity in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Bytes>,
    /// The acceptable standing delay.
    pub target: Duration,
    /// How long the delay must exceed the target before anything is dropped.
    pub interval: Duration,
    /// Whether to mark packets instead of dropping them, if they can be marked.
    pub ecn: bool,
}

impl Default for CoDelSpec {
    fn default() -> Self {
        let CoDelConfig {
            target,
            interval,
            ecn,
        } = CoDelConfig::default();
        Self {
            packets: None,
            bytes: None,
            target,
            interval,
            ecn,
        }
    }
}

impl CoDelSpec {
    pub(super) fn kind<P: Packet + Send + 'static>(self) -> Checked<P> {
        let limit = Limit::from_parameters(self.packets, self.bytes)?;
        check_times(self.target, self.interval)?;
        let config = CoDelConfig {
            target: self.target,
            interval: self.interval,
            ecn: self.ecn,
        };
        Ok(Arc::new(Kind { limit, config }))
    }
}

/// Checks CoDel's times.
pub(super) fn check_times(target: Duration, interval: Duration) -> Result<(), ParameterError> {
    check_above_zero(target, "target")?;
    ParameterError::unless(target < interval, "interval", || {
        format!("{interval} is not above `target`, {target}: give a longer interval")
    })
}

struct Kind {
    limit: Limit,
    config: CoDelConfig,
}

impl<P: Packet + Send + 'static> QueueKind<P> for Kind {
    fn conduct(&self) -> Conduct {
        Conduct {
            drops_early: true,
            drops_inside: true,
            writes: Writes::marks_if(self.config.ecn),
            ..Conduct::fifo(self.limit)
        }
    }

    fn build(&self, _head: &Head<'_>) -> AnyQueue<P> {
        AnyQueue::keeps(CoDel::new(self.limit, self.config))
    }
}

/// The packets that a [`Control`] operates on.
pub(super) struct Lane<'a, P> {
    pub(super) waiting: &'a mut Backlog<P>,
    /// Bytes waiting elsewhere for the same link (RFC 8289 section 4.4).
    pub(super) others: u64,
    /// Where dropped packets go.
    pub(super) dropped: &'a mut VecDeque<Dropped<P>>,
}

/// The state of the algorithm, with the names of RFC 8289 section 5.2.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Control {
    /// When the delay will have exceeded the target for an interval; `None` while it is below.
    first_above_time: Option<Instant>,
    /// When to drop the next packet; outside the drop state, when the next one would have been
    /// dropped.
    drop_next: Instant,
    /// Packets dropped in this drop state.
    count: u32,
    /// `count` at the start of the last drop state.
    last_count: u32,
    dropping: bool,
    /// The size of the largest packet seen, which stands in for the MTU (RFC 8289 section 4.1).
    max_packet: u32,
}

impl Control {
    pub(super) const fn new() -> Self {
        Self {
            first_above_time: None,
            drop_next: Instant::ZERO,
            count: 0,
            last_count: 0,
            dropping: false,
            max_packet: 0,
        }
    }

    /// Returns the packet that leaves at `now`, after dropping those that are due (RFC 8289 section
    /// 5.5). A marked packet counts as dropped, but leaves.
    pub(super) fn dequeue<P: Packet>(
        &mut self,
        now: Instant,
        config: &CoDelConfig,
        lane: &mut Lane<'_, P>,
    ) -> Option<P> {
        let Some((mut packet, mut ok_to_drop)) = self.head(now, config, lane) else {
            self.dropping = false;
            return None;
        };
        if self.dropping {
            self.dropping = ok_to_drop;
            while self.dropping && now >= self.drop_next {
                self.count = self.count.saturating_add(1);
                if config.ecn && mark(&mut packet) {
                    self.drop_next = control_law(self.drop_next, self.count, config.interval);
                    break;
                }
                lane.drop(packet);
                let Some(next) = self.head(now, config, lane) else {
                    self.dropping = false;
                    return None;
                };
                (packet, ok_to_drop) = next;
                self.dropping = ok_to_drop;
                if ok_to_drop {
                    self.drop_next = control_law(self.drop_next, self.count, config.interval);
                }
            }
        } else if ok_to_drop {
            let marked = config.ecn && mark(&mut packet);
            // If the delay exceeds the target again soon after the last drop state, start with the
            // drop rate that worked then.
            let delta = self.count.wrapping_sub(self.last_count);
            let recent = now - self.drop_next < config.interval * 16;
            self.count = if delta > 1 && recent { delta } else { 1 };
            self.last_count = self.count;
            self.drop_next = control_law(now, self.count, config.interval);
            self.dropping = true;
            if !marked {
                lane.drop(packet);
                packet = self.head(now, config, lane)?.0;
            }
        }
        Some(packet)
    }

    /// Returns the oldest packet, and whether the delay has exceeded the target for an interval
    /// (RFC 8289 section 5.6, `dodequeue`).
    fn head<P: Packet>(
        &mut self,
        now: Instant,
        config: &CoDelConfig,
        lane: &mut Lane<'_, P>,
    ) -> Option<(P, bool)> {
        let Some((sojourn, packet)) = lane.waiting.pop(now) else {
            self.first_above_time = None;
            return None;
        };
        self.max_packet = self.max_packet.max(packet.size());
        let left = lane.waiting.bytes() + lane.others;
        if sojourn < config.target || left <= u64::from(self.max_packet) {
            self.first_above_time = None;
            return Some((packet, false));
        }
        let above = *self.first_above_time.get_or_insert(now + config.interval);
        Some((packet, now >= above))
    }
}

impl<P> Lane<'_, P> {
    fn drop(&mut self, packet: P) {
        self.dropped.push_back(Dropped {
            packet,
            reason: DropReason::Early,
        });
    }
}

/// Returns when to drop the next packet: the interval shrinks with the square root of the number of
/// drops (RFC 8289 section 5.6).
fn control_law(since: Instant, count: u32, interval: Duration) -> Instant {
    since + Duration::from_nanos((interval.as_nanos() as f64 / f64::from(count).sqrt()) as u64)
}

#[cfg(test)]
mod tests;
