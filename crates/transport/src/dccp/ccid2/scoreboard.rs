//! What became of each packet that was sent: RFC 4341 section 5's pipe, and the loss inference.

use std::collections::VecDeque;
use std::iter::repeat_n;

use skywave_congestion::AckedPacket;
use skywave_units::Instant;
use skywave_wire::Ecn;
use skywave_wire::dccp::{OptionList, SeqNo};

use crate::dccp::ackvec::{Run, VectorKind, nonce_of, vectors};
use crate::dccp::ccid::SentPacket;

/// Later packets that must have arrived before a packet counts as lost (RFC 4341 section 5).
pub(super) const NUMDUPACK: usize = 3;

/// Packets remembered at most: more than a window of 10 Gbit/s over 200 ms.
const HISTORY_MAX: usize = 1 << 18;

/// A packet that was sent.
#[derive(Clone, Copy, Debug)]
struct Sent {
    at: Instant,
    ecn: Ecn,
    is_data: bool,
    /// What its acknowledgements have told of its ECN field; `None` before the first.
    acked: Option<Ecn>,
    /// Whether the peer has said that it dropped the data (RFC 4340 section 11.7).
    dropped: bool,
    /// Parity of the ECN nonces of all packets up to and including this one.
    parity: bool,
}

/// What an acknowledgement has told that was not known before. Numbers are of data packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct News {
    /// Reported received, marked or not, for the first time.
    pub(super) newly_acked: u32,
    /// The newest of them.
    pub(super) newest_acked: Option<SeqNo>,
    /// Reported marked for the first time.
    pub(super) marked: u32,
    /// Inferred lost.
    pub(super) lost: u32,
    /// The newest packet that was marked or lost, by which a congestion event is dated.
    pub(super) newest_congested: Option<SeqNo>,
    /// When the packet that the acknowledgement number names was sent: of data, and acknowledged
    /// for the first time.
    pub(super) sample: Option<Instant>,
    /// Whether an Ack Vector's ECN Nonce Echo was wrong.
    pub(super) bad_nonce: bool,
}

impl News {
    /// Adds a packet that was lost or marked.
    pub(super) fn congested(&mut self, seq: SeqNo) {
        let newest = self.newest_congested.get_or_insert(seq);
        *newest = newest.max(seq);
    }
}

/// A ring of the packets that were sent, one entry for each sequence number.
///
/// Packets older than the third newest arrival are *decided*: received or lost, for good. Only what
/// lies above is looked at when an acknowledgement comes, so the work is proportional to what is
/// new in it, not to the window. Decided packets are kept only for the nonces, as long as the peer
/// may still report them.
#[derive(Debug)]
pub(super) struct Scoreboard {
    /// Which vectors the peer sends.
    kind: VectorKind,
    ring: VecDeque<Sent>,
    /// Sequence number of the ring's first packet, or of the next to be sent.
    first: SeqNo,
    /// All packets up to this one are decided.
    decided: SeqNo,
    /// The newest packets reported received, newest first.
    arrivals: [Option<SeqNo>; NUMDUPACK],
    /// Data packets that are neither received nor lost.
    undecided_data: u32,
    pipe: u32,
    /// Packets before this one are not in pipe: a timeout has emptied it.
    pipe_start: SeqNo,
    /// Parity of the nonces of all packets before the ring's first.
    parity_before: bool,
    /// Whether any packet was sent with a nonce of 1.
    uses_nonces: bool,
    /// The oldest packet that the last acknowledgement reported.
    reported_from: SeqNo,
}

impl Scoreboard {
    pub(super) const fn new(kind: VectorKind) -> Self {
        Self {
            kind,
            ring: VecDeque::new(),
            first: SeqNo::ZERO,
            decided: SeqNo::ZERO.previous(),
            arrivals: [None; NUMDUPACK],
            undecided_data: 0,
            pipe: 0,
            pipe_start: SeqNo::ZERO,
            parity_before: false,
            uses_nonces: false,
            reported_from: SeqNo::ZERO,
        }
    }

    /// Data packets outstanding.
    pub(super) const fn pipe(&self) -> u32 {
        self.pipe
    }

    /// The sequence number after the last packet sent.
    pub(super) fn next(&self) -> SeqNo {
        self.first.add(self.ring.len() as u64)
    }

    /// Enters a packet that has just left.
    pub(super) fn on_sent(&mut self, now: Instant, packet: &SentPacket) {
        let is_data = packet.data.is_some();
        if self.undecided_data == 0 && !is_data && !self.uses_nonces {
            // Nothing depends on it.
            return self.restart(packet.seq.next());
        }
        match packet.seq.distance_from(self.next()) {
            0 => {}
            // Packets that the connection sent on its own account.
            skipped @ 1..1024 => {
                for _ in 0..skipped {
                    self.push(now, Ecn::NotEct, false);
                }
            }
            _ => self.restart(packet.seq),
        }
        if is_data {
            self.on_data_following(now, packet.ecn, 1);
        } else {
            self.push(now, packet.ecn, false);
            self.bound();
        }
    }

    /// Enters data packets that have left right behind the last packet that was entered.
    pub(super) fn on_data_following(&mut self, now: Instant, ecn: Ecn, packets: u32) {
        if nonce_of(ecn) {
            for _ in 0..packets {
                self.push(now, ecn, true);
            }
        } else {
            let sent = self.sent(now, ecn, true);
            self.ring.extend(repeat_n(sent, packets as usize));
        }
        self.pipe += packets;
        self.undecided_data += packets;
        self.bound();
    }

    fn bound(&mut self) {
        while self.ring.len() > HISTORY_MAX {
            self.forget_first();
        }
    }

    fn push(&mut self, at: Instant, ecn: Ecn, is_data: bool) {
        self.uses_nonces |= nonce_of(ecn);
        let sent = self.sent(at, ecn, is_data);
        self.ring.push_back(sent);
    }

    /// What to remember of the next packet.
    fn sent(&self, at: Instant, ecn: Ecn, is_data: bool) -> Sent {
        let before = self
            .ring
            .back()
            .map_or(self.parity_before, |last| last.parity);
        Sent {
            at,
            ecn,
            is_data,
            acked: None,
            dropped: false,
            parity: before ^ nonce_of(ecn),
        }
    }

    /// Forgets everything; the next packet will be `next`.
    fn restart(&mut self, next: SeqNo) {
        self.ring.clear();
        self.first = next;
        self.decided = next.previous();
        self.pipe_start = next;
        self.arrivals = [None; NUMDUPACK];
        self.undecided_data = 0;
        self.pipe = 0;
        self.parity_before = false;
    }

    /// The transmit timer has expired: nothing is taken to be in the network any more.
    pub(super) fn on_timeout(&mut self) {
        self.pipe = 0;
        self.pipe_start = self.next();
    }

    /// Takes in an acknowledgement of `ack` with its Ack Vectors, and reports each data packet
    /// acknowledged for the first time, newest first.
    ///
    /// Reports of packets that were never sent, or that are decided, are ignored.
    pub(super) fn take_in(
        &mut self,
        ack: SeqNo,
        options: &OptionList,
        mut acked: impl FnMut(&AckedPacket),
    ) -> News {
        let mut news = News::default();
        let mut vectors = vectors(self.kind, ack, options).peekable();
        if vectors.peek().is_none() {
            // The number alone says that the packet came (RFC 4340 section 11.4).
            let run = Run {
                newest: ack,
                len: 1,
                code: Some(Ecn::NotEct),
            };
            self.receive_run(run, &mut news, &mut acked);
        }
        self.reported_from = ack;
        for vector in vectors {
            let mut parity = Some(false);
            for run in vector.runs() {
                if !self.uses_nonces && !run.newest.is_after(self.decided) {
                    break;
                }
                self.reported_from = run.oldest();
                self.receive_run(run, &mut news, &mut acked);
                if run.code == Some(Ecn::NotEct) && self.uses_nonces {
                    parity = parity.and_then(|parity| Some(parity ^ self.parity(run)?));
                }
            }
            news.bad_nonce |=
                self.uses_nonces && parity.is_some_and(|parity| parity != vector.nonce);
        }
        if news.newest_acked == Some(ack) {
            news.sample = self.entry(ack).map(|entry| entry.at);
        }
        self.decide(&mut news);
        news
    }

    /// Merges a report of packets in a row, as far as they are not decided, by the table of RFC 4340
    /// section 11.4.1. A mark outlives a report without, so the order of acknowledgements makes no
    /// difference.
    fn receive_run(&mut self, run: Run, news: &mut News, acked: &mut impl FnMut(&AckedPacket)) {
        let Some(code) = run.code else { return };
        let undecided = run.newest.distance_from(self.decided).max(0) as u64;
        let oldest = run.newest.sub(run.len.min(undecided)).next();
        let end = self.count_up_to(run.newest);
        let range = self.count_before(oldest).min(end)..end;
        // The codes of load factors are for the window to read.
        let gets_marked = code.is_ce() && self.kind == VectorKind::Ack;
        let mut seq = self.first.add(end as u64);
        // A loop for each of the ring's two slices.
        self.ring.range_mut(range).rev().for_each(|entry| {
            seq = seq.previous();
            if Some(code) <= entry.acked {
                return;
            }
            let is_first = entry.acked.is_none();
            entry.acked = Some(code);
            if is_first {
                arrived(&mut self.arrivals, seq);
            }
            if !entry.is_data {
                return;
            }
            if gets_marked {
                news.marked += 1;
                news.congested(seq);
            }
            if is_first {
                news.newly_acked += 1;
                let newest = news.newest_acked.get_or_insert(seq);
                *newest = newest.max(seq);
                self.undecided_data -= 1;
                if !seq.is_before(self.pipe_start) {
                    self.pipe -= 1;
                }
                acked(&AckedPacket {
                    seq: seq.get(),
                    sent_at: entry.at,
                    transmissions: 1,
                    // What no acknowledgement tells of came as it was sent.
                    ecn: if code == Ecn::NotEct { entry.ecn } else { code },
                });
            }
        });
    }

    /// Counts as lost what has [`NUMDUPACK`] arrivals after it.
    fn decide(&mut self, news: &mut News) {
        let Some(limit) = self.arrivals[NUMDUPACK - 1] else {
            return;
        };
        if !limit.is_after(self.decided) {
            return;
        }
        let (from, to) = (self.count_up_to(self.decided), self.count_up_to(limit));
        self.decided = limit;
        for (index, entry) in (from..to).zip(self.ring.range(from..to)) {
            if entry.acked.is_none() && entry.is_data {
                let seq = self.first.add(index as u64);
                news.lost += 1;
                news.congested(seq);
                self.undecided_data -= 1;
                if !seq.is_before(self.pipe_start) {
                    self.pipe -= 1;
                }
            }
        }
    }

    /// How many of the ring's packets are before `seq`.
    fn count_before(&self, seq: SeqNo) -> usize {
        let count = seq.distance_from(self.first).max(0);
        (count as usize).min(self.ring.len())
    }

    /// How many of the ring's packets are not after `seq`.
    fn count_up_to(&self, seq: SeqNo) -> usize {
        let count = seq.distance_from(self.first).saturating_add(1).max(0);
        (count as usize).min(self.ring.len())
    }

    /// Notes that the peer dropped the data of a packet that it received. True if the packet is
    /// still remembered as received data, and this was not known.
    pub(super) fn drop_data(&mut self, seq: SeqNo) -> bool {
        let Some(entry) = self.entry_mut(seq) else {
            return false;
        };
        let is_news = entry.is_data && entry.acked.is_some() && !entry.dropped;
        entry.dropped |= is_news;
        is_news
    }

    /// Parity of the nonces of a run's packets, while all are remembered.
    fn parity(&self, run: Run) -> Option<bool> {
        let last = self.entry(run.newest)?.parity;
        let oldest = run.oldest();
        if oldest == self.first {
            return Some(last ^ self.parity_before);
        }
        Some(last ^ self.entry(oldest.previous())?.parity)
    }

    /// Forgets the packets that are decided; where nonces are in use, only those that the last
    /// acknowledgement did not report any more. Call it when all of an acknowledgement's options
    /// have been taken in.
    pub(super) fn forget_decided(&mut self) {
        let limit = if self.uses_nonces {
            self.reported_from
        } else {
            self.decided
        };
        let before_limit = limit.distance_from(self.first).max(0) as usize;
        let count = before_limit.min(self.count_up_to(self.decided));
        let last = count.checked_sub(1).and_then(|last| self.ring.get(last));
        self.parity_before = last.map_or(self.parity_before, |last| last.parity);
        self.ring.drain(..count);
        self.first = self.first.add(count as u64);
    }

    fn forget_first(&mut self) {
        let Some(entry) = self.ring.pop_front() else {
            return;
        };
        self.parity_before = entry.parity;
        let seq = self.first;
        self.first = seq.next();
        if seq.is_after(self.decided) {
            self.decided = seq;
            if entry.is_data && entry.acked.is_none() {
                self.undecided_data -= 1;
                self.pipe -= u32::from(!seq.is_before(self.pipe_start));
            }
        }
    }

    fn index(&self, seq: SeqNo) -> Option<usize> {
        usize::try_from(seq.distance_from(self.first)).ok()
    }

    fn entry(&self, seq: SeqNo) -> Option<&Sent> {
        self.ring.get(self.index(seq)?)
    }

    fn entry_mut(&mut self, seq: SeqNo) -> Option<&mut Sent> {
        let index = self.index(seq)?;
        self.ring.get_mut(index)
    }
}

/// Keeps the newest arrivals in order.
#[inline]
fn arrived(arrivals: &mut [Option<SeqNo>; NUMDUPACK], mut seq: SeqNo) {
    if let [.., Some(oldest)] = arrivals
        && !seq.is_after(*oldest)
    {
        return;
    }
    for slot in arrivals {
        match slot {
            Some(newer) if !seq.is_after(*newer) => {}
            Some(older) => core::mem::swap(older, &mut seq),
            None => {
                *slot = Some(seq);
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests;
