//! What has arrived and what has not (RFC 5348 sections 5.1 to 5.3, RFC 4342 section 6.1).

use std::collections::VecDeque;

use skywave_units::{Duration, Instant};

use super::interval::{Averaging, INTERVALS, LossInterval};

/// A packet is lost once this many later ones have arrived (section 5.1).
const NDUPACK: usize = 3;

/// Losses at most so many quarters of a round-trip time apart belong to one loss event (RFC 4342
/// section 10.2).
const EVENT_QUARTERS: u64 = 4;

/// A packet that has arrived for the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Its sequence number, on a scale that does not wrap.
    pub seq: u64,
    /// When.
    pub at: Instant,
    /// Bytes of data; `None` where it is a packet that cannot carry data.
    pub data: Option<u32>,
    /// Whether it is marked (ECN CE).
    pub marked: bool,
    /// Its ECN nonce: one for ECT(1).
    pub nonce: bool,
    /// The window counter in it, modulo 16; of packets with data only.
    pub counter: u8,
    /// How many packets without data its sender says to have sent immediately before it (DCCP's NDP
    /// Count); zero where it does not say.
    pub non_data_before: u64,
}

/// How losses are told to be within a round-trip time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Clock {
    /// By the window counters of the packets in between (RFC 4342 section 10.2).
    WindowCounter,
    /// By the times of arrival and this round-trip time (RFC 5348 section 5.2).
    Arrivals(Duration),
}

/// What an arrival has changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct News {
    /// Packets were found lost or marked.
    pub(super) losses: bool,
    /// They began a loss event, or more than one.
    pub(super) loss_event: bool,
    /// They began the first one of all.
    pub(super) first_loss_event: bool,
    /// A loss event turned out to be none: the packet was only late.
    pub(super) removed_event: bool,
}

/// The packet history of a receiver.
///
/// Packets are *settled* in order: up to `next` it is decided which have arrived. Memory is bounded:
/// at most two packets wait beyond a hole, and nine loss intervals are kept.
#[derive(Clone, Debug)]
pub(super) struct History {
    averaging: Averaging,
    /// The first sequence number that is not settled.
    next: u64,
    /// Packets beyond a hole that may still be filled, in order.
    waiting: Vec<Arrival>,
    /// Newest first; never empty.
    intervals: VecDeque<LossInterval>,
    /// The last settled packet that arrived.
    last: Option<(u64, Instant)>,
    /// The window counter of the last settled packet with data; zero before there is one, as the
    /// sender's.
    counter: u8,
    /// Whether a packet with data has been settled as arrived.
    has_data: bool,
}

impl History {
    /// A history that begins with packet `first`.
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

    /// The loss intervals, the newest first.
    pub(super) fn intervals(&self) -> impl ExactSizeIterator<Item = &LossInterval> {
        self.intervals.iter()
    }

    /// The last sequence number that belongs to an interval.
    pub(super) const fn settled(&self) -> u64 {
        self.next - 1
    }

    /// Whether a packet with data had arrived before the first loss.
    pub(super) const fn has_data(&self) -> bool {
        self.has_data
    }

    /// Gives the first interval of all its length (section 6.3.1).
    pub(super) fn seed(&mut self, length: f64) {
        if let Some(first) = self.intervals.back_mut() {
            first.data_length = length.ceil().max(1.0) as u64;
            first.seeded = Some(length.max(1.0));
        }
    }

    /// p.
    pub(super) fn loss_event_rate(&self) -> f64 {
        self.averaging.loss_event_rate(self.intervals.iter())
    }

    /// A packet has arrived, which is no duplicate.
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
        // missing before it is part of that.
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

    /// The packets from `next` up to `after` are lost.
    fn settle_hole(&mut self, clock: Clock, after: &Arrival, news: &mut News) {
        let hole = after.seq - self.next;
        let without_data = after.non_data_before.min(hole);
        let lost = hole - without_data;
        if lost > 0 {
            // Section 5.2: where the first lost one would have arrived.
            let at = self.last.map_or(after.at, |(seq, at)| {
                let share = (self.next - seq) as f64 / (after.seq - seq) as f64;
                at + Duration::from_secs_f64((after.at - at).as_secs_f64() * share)
            });
            self.lose(clock, at, lost, news);
        }
        self.current().lossless_length += without_data;
        self.next = after.seq;
    }

    fn settle_arrival(&mut self, clock: Clock, arrival: &Arrival, news: &mut News) {
        self.next = arrival.seq + 1;
        self.last = Some((arrival.seq, arrival.at));
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
            // The first interval's data length is not defined yet (RFC 4342 section 6.1.1).
            current.data_length += u64::from(!is_first);
        }
        self.has_data = true;
    }

    /// `count` packets in a row are lost, or one is marked; `at` is when the first one was due. With
    /// nothing received in between, they are one loss event at most (RFC 4342 section 10.2).
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

    /// A packet has arrived that was held for lost. Where it was the only loss of an interval, that
    /// interval was none: it joins the one before (RFC 5348 sections 5.1 and 6).
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

    /// Joins interval `index` to the older one, if that is still known.
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
        // There always is one: `truncate` and `merge` leave at least one.
        &mut self.intervals[0]
    }
}

impl Arrival {
    /// Marks of packets without data are no congestion of the data (RFC 4342 section 6.1).
    const fn is_congested(&self) -> bool {
        self.marked && self.data.is_some()
    }
}

#[cfg(test)]
mod tests;
