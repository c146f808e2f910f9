//! DualPI2: a queue for L4S and one for Classic traffic, with coupled AQMs (RFC 9332).
//!
//! The code follows the pseudocode of RFC 9332 Appendix A.2, with its names. Where that leaves a
//! choice:
//!
//! - The scheduler is WRR, which Appendix A.2 recommends, or a time-shifted FIFO.
//! - `lq.len()` and `lq.time()` count the packet that leaves: its own sojourn time is the delay
//!   (Note a), and it is "1 packet queued" if it was alone.
//! - p_CL is at most 1, like all probabilities of Appendix A. Otherwise `recur()` would count marks
//!   that a saturated queue owes, and drop for them.
//! - Nothing is random: `recur()` spaces marks and drops evenly.
//!
//! The heuristics that Appendix A.1 lists as additions of Linux are omitted, except those of WRR.

mod base_aqm;
mod config;
mod lane;
mod scheduler;
mod spec;

pub use config::{DualPi2Config, DualPi2Scheduler};
pub use spec::DualPi2Spec;

use std::collections::VecDeque;

use skywave_units::{Duration, Instant};
use skywave_wire::Ecn;

use self::base_aqm::BaseAqm;
use self::lane::Lane;
use self::scheduler::{Queue, Scheduler};
use super::{DropReason, Dropped, Keeps, Limit, Room, mark};
use crate::Packet;

/// The coupled probability from which on the L4S queue drops too (RFC 9332 Figure 2, line 21).
const P_L_MAX: f64 = 1.0;

/// The DualPI2 queue.
///
/// Timer updates are performed at the next call, each for its own time and before other work at
/// that time.
#[derive(Clone, Debug)]
pub struct DualPi2<P> {
    config: DualPi2Config,
    room: Room,
    /// `lq`: the L4S queue.
    l4s: Lane<P>,
    /// `cq`: the Classic queue.
    classic: Lane<P>,
    base: BaseAqm,
    scheduler: Scheduler,
    /// p_L at the last L4S packet, whether it left or was dropped.
    p_l: f64,
    dropped: VecDeque<Dropped<P>>,
}

impl<P: Packet> DualPi2<P> {
    /// Creates an empty queue; both queues together hold up to `limit`. Updates occur at whole
    /// multiples of the period.
    pub fn new(limit: Limit, config: DualPi2Config) -> Self {
        Self {
            config,
            room: Room::from(limit),
            l4s: Lane::new(),
            classic: Lane::new(),
            base: BaseAqm::new(config.t_update),
            scheduler: Scheduler::new(config.scheduler, config.mtu),
            p_l: 0.0,
            dropped: VecDeque::new(),
        }
    }

    /// Returns p', the base probability.
    pub const fn base_probability(&self) -> f64 {
        self.base.probability()
    }

    /// Returns p_C, the probability with which a Classic packet is dropped or marked (RFC 9332
    /// Figure 8, line 5).
    pub const fn p_c(&self) -> f64 {
        self.base.probability() * self.base.probability()
    }

    /// Returns p_CL, the coupled probability with which an L4S packet is marked at least (RFC 9332
    /// Figure 8, line 4).
    pub const fn p_cl(&self) -> f64 {
        (self.base.probability() * self.config.k).min(1.0)
    }

    /// Performs the updates up to `now`. The longer of the two delays drives them, so that an
    /// overload of the L4S queue alone is controlled too (RFC 9332 Figure 8, line 2a).
    fn update(&mut self, now: Instant) {
        let (l4s, classic) = (&self.l4s.waiting, &self.classic.waiting);
        let is_empty = l4s.packets() + classic.packets() == 0;
        self.base.update(now, is_empty, &self.config, |at| {
            classic.delay(at).max(l4s.delay(at))
        });
    }

    /// Returns the oldest L4S packet, unless it is dropped (RFC 9332 Figure 7, lines 4a to 8j).
    fn dequeue_l4s(&mut self, now: Instant) -> Option<P> {
        let length = self.l4s.waiting.packets();
        let (p_c, p_cl) = (self.p_c(), self.p_cl());
        let mut packet = self.l4s.pop(now)?;
        if p_cl < P_L_MAX {
            let native = if length > self.config.th_len as usize {
                self.config.native_probability(self.l4s.delay)
            } else {
                0.0
            };
            self.p_l = native.max(p_cl);
        } else {
            self.p_l = p_cl;
            if self.l4s.recur(p_c) {
                self.drop(packet);
                return None;
            }
        }
        if self.l4s.recur(self.p_l) {
            mark(&mut packet);
        }
        Some(packet)
    }

    /// Returns the oldest Classic packet, unless it is dropped (RFC 9332 Figure 7, lines 10 to 17).
    fn dequeue_classic(&mut self, now: Instant) -> Option<P> {
        let p_c = self.p_c();
        let mut packet = self.classic.pop(now)?;
        if self.classic.recur(p_c) && (p_c >= self.config.p_c_max() || !mark(&mut packet)) {
            self.drop(packet);
            return None;
        }
        Some(packet)
    }

    fn drop(&mut self, packet: P) {
        self.dropped
            .push_back(Dropped::new(packet, DropReason::Early));
    }
}

/// Returns whether a packet with this ECN field belongs into the L4S queue (RFC 9331 section 5.1).
const fn is_l4s(ecn: Ecn) -> bool {
    matches!(ecn, Ecn::Ect1 | Ecn::Ce)
}

impl<P: Packet> Keeps<P> for DualPi2<P> {
    fn enqueue(&mut self, now: Instant, packet: P) -> Result<(), Dropped<P>> {
        self.update(now);
        // Room for an MTU is required of every packet, lest large ones be dropped more often
        // (RFC 9332 Appendix A.1).
        let size = packet.size().max(self.config.mtu);
        if !self.room.fits(size, self.packets(), self.bytes()) {
            return Err(Dropped::new(packet, DropReason::Full));
        }
        let lane = if is_l4s(packet.ecn()) {
            &mut self.l4s
        } else {
            &mut self.classic
        };
        lane.waiting.push(now, packet);
        Ok(())
    }

    fn dequeue(&mut self, now: Instant) -> Option<P> {
        self.update(now);
        for lane in [&mut self.l4s, &mut self.classic] {
            if lane.waiting.packets() == 0 {
                lane.delay = Duration::ZERO;
            }
        }
        while let Some(turn) = self
            .scheduler
            .turn(now, &self.l4s.waiting, &self.classic.waiting)
        {
            let packet = match turn.queue {
                Queue::L4s => self.dequeue_l4s(now),
                Queue::Classic => self.dequeue_classic(now),
            };
            if let Some(packet) = packet {
                self.scheduler.sends(turn, packet.size());
                return Some(packet);
            }
        }
        None
    }

    fn dropped(&mut self) -> Option<Dropped<P>> {
        self.dropped.pop_front()
    }

    fn packets(&self) -> usize {
        self.l4s.waiting.packets() + self.classic.waiting.packets()
    }

    fn bytes(&self) -> u64 {
        self.l4s.waiting.bytes() + self.classic.waiting.bytes()
    }

    fn inner_values(&self, record: &mut dyn FnMut(&str, f64)) {
        record("base_probability", self.base_probability());
        record("p_c", self.p_c());
        record("p_cl", self.p_cl());
        record("p_l", self.p_l);
        let (l4s, classic) = (&self.l4s, &self.classic);
        record("l4s_delay_s", l4s.delay.as_secs_f64());
        record("l4s_packets", l4s.waiting.packets() as f64);
        record("l4s_bytes", l4s.waiting.bytes() as f64);
        record("classic_delay_s", classic.delay.as_secs_f64());
        record("classic_packets", classic.waiting.packets() as f64);
        record("classic_bytes", classic.waiting.bytes() as f64);
    }
}

#[cfg(test)]
mod pseudocode;
#[cfg(test)]
mod tests;
