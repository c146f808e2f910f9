//! Arrivals, losses and loss events (RFC 5348 sections 5.1 to 5.3, RFC 4342 section 6.1).

use std::collections::VecDeque;

use skywave_units::{Duration, Instant};

use super::interval::{Averaging, INTERVALS, LossInterval};

/// A packet is considered lost once this many later ones have arrived (section 5.1).
const NDUPACK: usize = 3;

/// Losses at most this many quarters of a round-trip time apart belong to the same loss event (RFC
/// 4342 section 10.2).
const EVENT_QUARTERS: u64 = 4;

/// The first arrival of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Its unwrapped sequence number.
    pub seq: u64,
    /// When it arrived.
    pub at: Instant,
    /// Bytes of data; `None` for a packet type that cannot carry data.
    pub data: Option<u32>,
    /// Whether it was marked (ECN CE).
    pub marked: bool,
    /// Its ECN nonce: 1 for ECT(1).
    pub nonce: bool,
    /// Its window counter, modulo 16; only for packets with data.
    pub counter: u8,
    /// How many packets without data were sent immediately before it, according to its sender
    /// (DCCP's NDP Count); zero if unknown.
    pub non_data_before: u64,
}

/// How to decide whether losses are within a round-trip time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Clock {
    /// By the window counters of the packets in between (RFC 4342 section 10.2).
    WindowCounter,
    /// By arrival times and this round-trip time (RFC 5348 section 5.2).
    Arrivals(Duration),
}

/// The changes caused by an arrival.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct News {
    /// Whether packets were found lost or marked.
    pub(super) losses: bool,
    /// Whether these started a loss event, or more than one.
    pub(super) loss_event: bool,
    /// Whether they started the first loss event of the connection.
    pub(super) first_loss_event: bool,
    /// Whether a loss event was undone because its packet was only late.
    pub(super) removed_event: bool,
}

/// A receiver's packet history.
///
/// Packets are *settled* in order: for all packets before `next` it is decided whether they
/// arrived. Memory is bounded: at most two packets wait beyond a hole, and nine loss intervals are
/// kept.
#[derive(Clone, Debug)]
pub(super) struct History {
    averaging: Averaging,
    /// The first sequence number not settled.
    next: u64,
    /// Packets beyond a hole that may still be filled, in order.
    waiting: Vec<Arrival>,
    /// Newest first; never empty.
    intervals: VecDeque<LossInterval>,
    /// When the packet before `next` arrived, if one did.
    last: Option<Instant>,
    /// The window counter of the last settled packet with data; initially zero, like the sender's.
    counter: u8,
    /// Whether a packet with data was settled as arrived.
    has_data: bool,
}

impl History {
    /// Creates a history that starts with packet `first`.
    pub(super) fn new(first: u64, averaging: Averaging) -> Self {
        Self {
            averaging,
            next: first,
            waiting: Vec::with_capacity(NDUPACK),
            intervals: VecDeque::from([LossInterval::first()]),
            last: None,
            counter: 0,
            has_data: false,
        }
    }

    /// Returns the loss intervals, newest first.
    pub(super) fn intervals(&self) -> impl ExactSizeIterator<Item = &LossInterval> {
        self.intervals.iter()
    }

    /// Returns the last sequence number that belongs to an interval.
    pub(super) const fn settled(&self) -> u64 {
        self.next - 1
    }

    /// Returns whether a packet with data arrived before the first loss.
    pub(super) const fn has_data(&self) -> bool {
        self.has_data
    }

    /// Sets the length of the first interval (section 6.3.1).
    pub(super) fn seed(&mut self, length: f64) {
        if let Some(first) = self.intervals.back_mut() {
            first.data_length = length.ceil().max(1.0) as u64;
            first.seeded = Some(length.max(1.0));
        }
    }

    /// Returns p.
    pub(super) fn loss_event_rate(&self) -> f64 {
        self.averaging.loss_event_rate(self.intervals.iter())
    }

    /// Handles an arrival, which must not be a duplicate.
    pub(super) fn on_arrival(&mut self, clock: Clock, arrival: &Arrival) -> News {
        let mut news = News::default();
        if arrival.seq < self.next {
            news.removed_event = self.fill(arrival);
            return news;
        }
        let place = self
            .waiting
            .partition_point(|waiting| waiting.seq < arrival.seq);
        self.waiting.insert(place, *arrival);
        // "A marked packet is detected as a congestion event as soon as it arrives", and what is
        // missing before it is part of that event.
        let marked = self.waiting.iter().rposition(Arrival::is_congested);
        let mut certain = marked.map_or(0, |place| place + 1);
        while let Some(&first) = self.waiting.first() {
            let is_decided = first.seq == self.next || certain > 0 || self.waiting.len() >= NDUPACK;
            if !is_decided {
                break;
            }
            self.waiting.remove(0);
            certain = certain.saturating_sub(1);
            if first.seq > self.next {
                self.settle_hole(clock, &first, &mut news);
            }
            self.settle_arrival(clock, &first, &mut news);
        }
        news
    }

    /// Settles the packets from `next` up to `after` as lost.
    fn settle_hole(&mut self, clock: Clock, after: &Arrival, news: &mut News) {
        let hole = after.seq - self.next;
        let without_data = after.non_data_before.min(hole);
        let lost = hole - without_data;
        if lost > 0 {
            // Section 5.2: interpolate the arrival time of the first lost packet, which was sent
            // right after the last one that arrived.
            let at = self.last.map_or(after.at, |at| {
                let share = 1.0 / (hole + 1) as f64;
                at + Duration::from_secs_f64((after.at - at).as_secs_f64() * share)
            });
            self.lose(clock, at, lost, news);
        }
        self.current().lossless_length += without_data;
        self.next = after.seq;
    }

    fn settle_arrival(&mut self, clock: Clock, arrival: &Arrival, news: &mut News) {
        self.next = arrival.seq + 1;
        self.last = Some(arrival.at);
        if arrival.data.is_none() {
            self.current().lossless_length += 1;
            return;
        }
        let advance = u64::from(arrival.counter.wrapping_sub(self.counter) & 0xf);
        self.counter = arrival.counter;
        self.current().quarters += advance;
        if arrival.marked {
            self.lose(clock, arrival.at, 1, news);
        } else {
            let is_first = self.intervals.len() == 1;
            let current = self.current();
            current.lossless_length += 1;
            current.nonce ^= arrival.nonce;
            // The data length of the first interval is not defined yet (RFC 4342 section 6.1.1).
            current.data_length += u64::from(!is_first);
        }
        self.has_data = true;
    }

    /// Records `count` consecutive lost packets, or a marked one. `at` is when the first was due.
    /// They form at most one loss event, because nothing was received in between (RFC 4342 section
    /// 10.2).
    fn lose(&mut self, clock: Clock, at: Instant, count: u64, news: &mut News) {
        news.losses = true;
        let is_first = self.intervals.len() == 1;
        let is_over = match clock {
            Clock::WindowCounter => self.current().quarters > EVENT_QUARTERS,
            Clock::Arrivals(rtt) => at > self.current().began + rtt,
        };
        if is_first || is_over {
            news.loss_event = true;
            news.first_loss_event |= is_first;
            self.begin_interval(at);
        }
        let current = self.current();
        current.loss_length += current.lossless_length + count;
        current.lossless_length = 0;
        current.lossy_nonce ^= core::mem::take(&mut current.nonce);
        current.data_length += count;
        current.losses += count;
    }

    fn begin_interval(&mut self, at: Instant) {
        let df = self.averaging.discount_of(self.intervals.iter());
        for interval in self.intervals.iter_mut().skip(1) {
            interval.discount *= df;
        }
        self.intervals.truncate(INTERVALS);
        self.intervals.push_front(LossInterval {
            began: at,
            ..LossInterval::first()
        });
    }

    /// Handles the late arrival of a packet counted as lost. If it was the only loss of its
    /// interval, the interval is merged into the previous one (RFC 5348 sections 5.1 and 6).
    fn fill(&mut self, late: &Arrival) -> bool {
        if late.data.is_none() || late.marked {
            return false;
        }
        let mut end = self.next;
        for index in 0..self.intervals.len() {
            let interval = &mut self.intervals[index];
            let lossy_end = end.saturating_sub(interval.lossless_length);
            let start = lossy_end.saturating_sub(interval.loss_length);
            if late.seq >= lossy_end {
                return false;
            }
            if late.seq < start {
                end = start;
                continue;
            }
            interval.losses = interval.losses.saturating_sub(1);
            interval.lossy_nonce ^= late.nonce;
            if interval.losses > 0 {
                return false;
            }
            return self.merge(index);
        }
        false
    }

    /// Merges interval `index` into the previous one, if that is still known.
    fn merge(&mut self, index: usize) -> bool {
        if index + 1 >= self.intervals.len() {
            return false;
        }
        let Some(none) = self.intervals.remove(index) else {
            return false;
        };
        let becomes_first = self.intervals.len() == 1;
        let older = &mut self.intervals[index];
        older.lossless_length += none.loss_length + none.lossless_length;
        older.nonce ^= none.lossy_nonce ^ none.nonce;
        older.quarters += none.quarters;
        older.data_length += none.data_length;
        older.seeded = older.seeded.map(|length| length + none.data_length as f64);
        if becomes_first && older.loss_length == 0 {
            older.data_length = 0;
            older.seeded = None;
        }
        true
    }

    fn current(&mut self) -> &mut LossInterval {
        // Never empty: `truncate` and `merge` leave at least one.
        &mut self.intervals[0]
    }
}

impl Arrival {
    /// Returns whether the packet has data and was marked. Marks on packets without data do not
    /// count as congestion of the data (RFC 4342 section 6.1).
    const fn is_congested(&self) -> bool {
        self.marked && self.data.is_some()
    }
}

#[cfg(test)]
mod tests;
