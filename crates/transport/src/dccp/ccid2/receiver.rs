//! The data-receiving half of CCID 2: when to acknowledge (RFC 4340 section 11.3, RFC 4341 section
//! 6). The connection's Ack Vector says what is acknowledged.

use skywave_units::{Duration, Instant};
use skywave_wire::Ecn;
use skywave_wire::dccp::{DccpOption, OptionList, SeqNo};

use super::Config;
use crate::dccp::ccid::{HcReceiver, ReceivedPacket, ReceivedTrain};
use crate::dccp::timing::{DEFAULT_RTT, time_since};

/// Bytes of an Elapsed Time option.
const ELAPSED_TIME: usize = 6;

/// CCID 2's receiver: one acknowledgement per Ack Ratio data packets, none later than the
/// delayed-acknowledgement time.
#[derive(Debug)]
pub struct Receiver {
    delayed_ack: Duration,
    immediate_acks: bool,
    ack_ratio: u16,
    /// Data packets not yet covered by an acknowledgement.
    unacked: u32,
    is_due: bool,
    /// When the oldest of them must be acknowledged.
    timer: Option<Instant>,
    /// The newest packet and its arrival time, from which Elapsed Time counts.
    newest: Option<(SeqNo, Instant)>,
    /// The time until which further marks do not cause an immediate acknowledgement.
    marks_answered_until: Option<Instant>,
    rtt: Duration,
}

impl Receiver {
    /// Creates a receiver whose peer's Ack Ratio is `ack_ratio`.
    pub fn new(config: &Config, ack_ratio: u16) -> Self {
        Self {
            delayed_ack: config.delayed_ack,
            immediate_acks: config.immediate_acks,
            ack_ratio: ack_ratio.max(1),
            unacked: 0,
            is_due: false,
            timer: None,
            newest: None,
            marks_answered_until: None,
            rtt: DEFAULT_RTT,
        }
    }

    /// Returns whether `seq` directly follows the newest packet. Duplicates count as out of order
    /// too: their sender may have missed the acknowledgement.
    fn is_in_order(&self, seq: SeqNo) -> bool {
        self.newest.is_none_or(|(newest, _)| seq == newest.next())
    }

    /// Handles the arrival of `count` data packets.
    fn count_data(&mut self, now: Instant, count: u64, ecn: Ecn, is_in_order: bool) {
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        self.unacked = self.unacked.saturating_add(count);
        self.timer.get_or_insert(now + self.delayed_ack);
        self.is_due |= self.unacked >= self.ack_ratio.into();
        if self.immediate_acks {
            let is_marked = ecn.is_ce() && self.is_fresh_mark(now);
            self.is_due |= is_marked || !is_in_order;
        }
    }

    /// Returns whether a mark that arrives at `now` counts as new, which one does per round-trip
    /// time (RFC 4340 section 11.3).
    fn is_fresh_mark(&mut self, now: Instant) -> bool {
        let is_fresh = self.marks_answered_until.is_none_or(|until| now >= until);
        if is_fresh {
            self.marks_answered_until = Some(now + self.rtt);
        }
        is_fresh
    }
}

impl HcReceiver for Receiver {
    fn on_received(&mut self, now: Instant, packet: &ReceivedPacket<'_>) {
        let is_in_order = self.is_in_order(packet.seq);
        if self
            .newest
            .is_none_or(|(newest, _)| packet.seq.is_after(newest))
        {
            self.newest = Some((packet.seq, now));
        }
        if packet.data.is_some() {
            self.count_data(now, 1, packet.ecn, is_in_order);
        }
    }

    fn on_train_received(&mut self, now: Instant, train: &ReceivedTrain) {
        let is_in_order = self.is_in_order(train.first);
        self.newest = Some((train.last(), now));
        self.count_data(now, train.count, train.ecn, is_in_order);
    }

    fn on_ack_ratio(&mut self, ratio: u16) {
        // Zero means "no Ack Ratio in use", which CCID 2 cannot work with: acknowledge each packet.
        self.ack_ratio = ratio.max(1);
        self.is_due |= self.unacked >= self.ack_ratio.into();
    }

    fn on_rtt(&mut self, rtt: Duration) {
        self.rtt = rtt;
    }

    fn ack_due(&self) -> bool {
        self.is_due
    }

    fn ack_options_len(&self) -> usize {
        ELAPSED_TIME
    }

    fn ack_options(&mut self, now: Instant, options: &mut OptionList) {
        let elapsed = self
            .newest
            .and_then(|(_, arrived)| time_since(arrived, now));
        options.extend(elapsed.map(DccpOption::ElapsedTime));
    }

    fn on_ack_sent(&mut self, _now: Instant) {
        self.unacked = 0;
        self.is_due = false;
        self.timer = None;
    }

    fn deadline(&self) -> Option<Instant> {
        self.timer
    }

    fn expire(&mut self, now: Instant) {
        if self.timer.is_some_and(|at| at <= now) {
            self.timer = None;
            self.is_due = true;
        }
    }
}

#[cfg(test)]
mod tests;
