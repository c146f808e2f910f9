//! Congestion control for acknowledgements: the Ack Ratio (RFC 4341 section 6.1).

use skywave_wire::dccp::SeqNo;

use super::{AckRatioBounds, AckRatioRule};
use crate::dccp::ccid::{ReceivedPacket, ReceivedTrain};
use crate::dccp::detection::NUMDUPACK;

/// A packet received from the peer.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    seq: SeqNo,
    /// Whether its NDP Count says that the preceding packet carried data (RFC 4340 section 7.7).
    follows_data: bool,
}

/// Computes the Ack Ratio that suits the reverse path.
#[derive(Debug)]
pub(super) struct AckRatio {
    rule: AckRatioRule,
    ratio: u16,
    /// The peer's newest packets, newest first.
    arrivals: [Option<Arrival>; NUMDUPACK + 1],
    /// Whether the peer sends NDP Counts.
    has_ndp_counts: bool,
    /// Whether a packet without data has been lost or marked since the last acknowledgement.
    is_congested: bool,
    /// Packets before this one belong to a window whose congestion has already been answered.
    window_start: SeqNo,
    /// Data packets acknowledged or found lost in the current window.
    decided: f64,
    /// Consecutive windows without loss or mark.
    clean_windows: u32,
}

impl AckRatio {
    pub(super) const fn new(rule: AckRatioRule, initial: u16) -> Self {
        Self {
            rule,
            ratio: if initial == 0 { 1 } else { initial },
            arrivals: [None; NUMDUPACK + 1],
            has_ndp_counts: false,
            is_congested: false,
            window_start: SeqNo::ZERO,
            decided: 0.0,
            clean_windows: 0,
        }
    }

    pub(super) const fn get(&self) -> u16 {
        self.ratio
    }

    /// Sets the first packet that this end sends.
    pub(super) const fn start(&mut self, first: SeqNo) {
        self.window_start = first;
    }

    /// Records a packet from the peer. It may reveal that a packet without data was lost or marked
    /// on the reverse path (section 6.1.1).
    pub(super) fn observe(&mut self, packet: &ReceivedPacket<'_>) {
        self.has_ndp_counts |= packet.ndp_count.is_some();
        let is_marked = packet.data.is_none() && packet.ecn.is_ce();
        let arrival = Arrival {
            seq: packet.seq,
            follows_data: packet.ndp_count.is_none_or(|count| count == 0),
        };
        let is_lost = self.insert(arrival) && self.has_lost_non_data();
        self.is_congested |= is_marked || is_lost;
    }

    /// Records packets that arrived together. Holes before them show with the first ones, there are
    /// none between them, and only the newest need to be remembered.
    pub(super) fn observe_train(&mut self, train: &ReceivedTrain) {
        train
            .oldest(NUMDUPACK as u64)
            .for_each(|packet| self.observe(packet));
        for (known, age) in self.arrivals.iter_mut().zip(0..train.count) {
            *known = Some(Arrival {
                seq: train.last().sub(age),
                follows_data: true,
            });
        }
    }

    /// Inserts a packet in order. Returns false if it is a duplicate, or so late that it was
    /// already counted as lost.
    fn insert(&mut self, arrival: Arrival) -> bool {
        let [newest, ..] = &self.arrivals;
        if newest.is_none_or(|newest| arrival.seq.is_after(newest.seq)) {
            let [first, second, third, _] = self.arrivals;
            self.arrivals = [Some(arrival), first, second, third];
            return true;
        }
        let newer =
            |slot: &&Option<Arrival>| slot.is_some_and(|known| known.seq.is_after(arrival.seq));
        let place = self.arrivals.iter().take_while(newer).count();
        let is_duplicate = self
            .arrivals
            .get(place)
            .is_some_and(|slot| slot.is_some_and(|known| known.seq == arrival.seq));
        if place >= NUMDUPACK || is_duplicate {
            return false;
        }
        self.arrivals[place..].rotate_right(1);
        self.arrivals[place] = Some(arrival);
        true
    }

    /// Returns whether the hole that has just got [`NUMDUPACK`] later packets may include a packet
    /// without data.
    fn has_lost_non_data(&self) -> bool {
        let [.., Some(after), Some(before)] = self.arrivals else {
            return false;
        };
        let missing = after.seq.distance_from(before.seq) - 1;
        // Without NDP Counts, assume that a lost packet carried no data.
        let was_data = self.has_ndp_counts && after.follows_data && missing == 1;
        missing > 0 && !was_data
    }

    /// Handles an acknowledgement of our packet `ack` that newly showed `decided` data packets as
    /// received or lost and left a window of `cwnd`. `next` is the sequence number of the next packet.
    /// Adjusts the ratio to the losses and marks observed so far.
    pub(super) fn on_ack(&mut self, ack: SeqNo, decided: u32, cwnd: f64, next: SeqNo) {
        let is_congested = core::mem::take(&mut self.is_congested);
        let Some(bounds) = self.rule.bounds() else {
            return;
        };
        if !ack.is_before(self.window_start) {
            if is_congested {
                self.ratio = self.ratio.saturating_mul(2);
                self.start_window(next);
            } else if self.ratio > bounds.minimum {
                self.decided += f64::from(decided);
                self.count_clean_windows(bounds.minimum, cwnd);
            }
        }
        self.ratio = bounds.apply(self.ratio, cwnd);
    }

    /// Lowers the ratio by one for each K = cwnd / (R^2 - R) clean windows (section 6.1.2). Where K is
    /// below 1, one window lowers it several times: appendix A wants one acknowledgement more per
    /// window.
    fn count_clean_windows(&mut self, minimum: u16, cwnd: f64) {
        if self.decided < cwnd {
            return;
        }
        self.decided -= cwnd;
        self.clean_windows += 1;
        let mut windows = f64::from(self.clean_windows);
        while self.ratio > minimum {
            let ratio = f64::from(self.ratio);
            let steps = ratio * ratio - ratio;
            let is_ns2 = self.rule == AckRatioRule::Ns2TcpLike;
            if windows * steps < cwnd || is_ns2 && windows * steps == cwnd {
                return;
            }
            self.ratio -= 1;
            self.clean_windows = 0;
            if is_ns2 {
                return;
            }
            windows -= cwnd / steps;
        }
    }

    /// Handles a reduction of cwnd for lost or marked data: another window of data begins.
    pub(super) const fn on_reduction(&mut self) {
        self.decided = 0.0;
    }

    /// Handles a timeout that reduced the window to `cwnd`.
    pub(super) fn on_timeout(&mut self, cwnd: f64, next: SeqNo) {
        let Some(bounds) = self.rule.bounds() else {
            return;
        };
        self.start_window(next);
        self.ratio = bounds.apply(self.ratio, cwnd);
    }

    const fn start_window(&mut self, next: SeqNo) {
        self.window_start = next;
        self.decided = 0.0;
        self.clean_windows = 0;
    }
}

impl AckRatioBounds {
    /// Clamps the ratio as section 6.1.2 asks: to at most cwnd / 2, rounded up, though 2 is always
    /// acceptable, and to at least 2 once cwnd is 4 or more. With a minimum of 1 the exception for
    /// 2 does not apply.
    fn apply(self, ratio: u16, cwnd: f64) -> u16 {
        let low = if cwnd >= 4.0 {
            self.minimum.max(2)
        } else {
            self.minimum.max(1)
        };
        let for_acks = |acks: f64| (cwnd / acks).ceil() as u16;
        let most = for_acks(self.acks_per_window.max(2).into());
        let high = most.max(for_acks(2.0).min(2)).min(self.maximum);
        ratio.clamp(low, high.max(low))
    }
}

#[cfg(test)]
mod tests;
