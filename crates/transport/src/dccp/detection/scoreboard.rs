//! The fate of each packet sent: RFC 4341 section 5's pipe and loss inference.

use std::collections::VecDeque;
use std::iter::repeat_n;
use std::ops::Range;

use skywave_congestion::AckedPacket;
use skywave_units::Instant;
use skywave_wire::Ecn;
use skywave_wire::dccp::{OptionList, SeqNo};

use crate::dccp::ackvec::{Run, VectorKind, nonce_of, vectors};
use crate::dccp::ccid::SentPacket;

/// The number of later packets that must arrive before a packet counts as lost (RFC 4341 section
/// 5).
pub(crate) const NUMDUPACK: usize = 3;

/// The most packets remembered: more than a window of 10 Gbit/s over 200 ms.
const HISTORY_MAX: usize = 1 << 18;

/// What is known about a sent packet, in one byte. The packets of a train are adjacent and alike,
/// so bytes are examined many at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fate(u8);

impl Fate {
    /// The two bits below this hold the ECN field the packet was sent with.
    const DATA: u8 = 1 << 2;
    /// The peer has said that it dropped the data (RFC 4340 section 11.7).
    const DROPPED: u8 = 1 << 3;
    /// Parity of the ECN nonces of all packets up to and including this one.
    const PARITY: u8 = 1 << 4;
    /// The bits from here up hold the ECN code reported by acknowledgements, plus one; zero before
    /// the first report.
    const ACKED: u32 = 5;

    fn new(ecn: Ecn, is_data: bool, parity: bool) -> Self {
        let flag = |flag, is_set| if is_set { flag } else { 0 };
        Self(ecn.bits() | flag(Self::DATA, is_data) | flag(Self::PARITY, parity))
    }

    const fn ecn(self) -> Ecn {
        Ecn::from_bits(self.0)
    }

    const fn is_data(self) -> bool {
        self.0 & Self::DATA != 0
    }

    const fn is_dropped(self) -> bool {
        self.0 & Self::DROPPED != 0
    }

    const fn parity(self) -> bool {
        self.0 & Self::PARITY != 0
    }

    fn acked(self) -> Option<Ecn> {
        (self.0 >> Self::ACKED).checked_sub(1).map(Ecn::from_bits)
    }

    const fn with_acked(self, code: Ecn) -> Self {
        let rest = self.0 & ((1 << Self::ACKED) - 1);
        Self(rest | (code.bits() + 1) << Self::ACKED)
    }

    /// Returns whether this is unacknowledged data.
    const fn is_missing(self) -> bool {
        self.0 & (Self::DATA | 0b111 << Self::ACKED) == Self::DATA
    }
}

/// What an acknowledgement newly says about a data packet.
pub(crate) enum Report {
    /// It has arrived.
    Acked(AckedPacket),
    /// It is considered lost.
    Lost { seq: SeqNo, sent_at: Instant },
}

/// What an acknowledgement reports for the first time. Counts are of data packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct News {
    /// Packets reported received for the first time, marked or not.
    pub(crate) newly_acked: u32,
    /// The newest of `newly_acked`.
    pub(crate) newest_acked: Option<SeqNo>,
    /// Packets reported marked for the first time, possibly after an earlier report without the
    /// mark.
    pub(crate) marked: u32,
    /// How many of `newly_acked` were marked.
    pub(crate) newly_acked_marked: u32,
    /// Packets inferred lost.
    pub(crate) lost: u32,
    /// The newest marked or lost packet, which dates the congestion event.
    pub(crate) newest_congested: Option<SeqNo>,
    /// Whether anything was marked, or must be treated as marked.
    pub(crate) has_marks: bool,
    /// When the packet named by the acknowledgement number was sent, if it carried data and is
    /// acknowledged for the first time.
    pub(crate) sample: Option<Instant>,
    /// Whether an Ack Vector had a wrong ECN Nonce Echo.
    pub(crate) bad_nonce: bool,
}

impl News {
    /// Adds `count` data packets reported received, the newest of which is `newest`.
    fn acked(&mut self, count: u32, newest: SeqNo) {
        self.newly_acked += count;
        let newest_acked = self.newest_acked.get_or_insert(newest);
        *newest_acked = newest.max(*newest_acked);
    }

    /// Adds a packet that was marked, or must be treated as marked.
    pub(crate) fn congested(&mut self, seq: SeqNo) {
        self.has_marks = true;
        self.date(seq);
    }

    /// Adds a lost packet.
    fn lost(&mut self, seq: SeqNo) {
        self.lost += 1;
        self.date(seq);
    }

    fn date(&mut self, seq: SeqNo) {
        let newest = self.newest_congested.get_or_insert(seq);
        *newest = newest.max(seq);
    }
}

/// Ring buffers of sent packets, one entry per sequence number.
///
/// Packets older than the third newest arrival are *decided*: finally received or lost. Only newer
/// ones are examined when an acknowledgement arrives, so the work is proportional to what the
/// acknowledgement newly reports, not to the window. Decided packets are kept only for their
/// nonces, while the peer may still report them.
#[derive(Debug)]
pub(crate) struct Scoreboard {
    /// The kind of vector the peer sends.
    kind: VectorKind,
    fates: VecDeque<Fate>,
    /// When each packet was sent.
    sent_at: VecDeque<Instant>,
    /// Sequence number of the first packet in the rings, or of the next packet if they are empty.
    first: SeqNo,
    /// All packets up to this one are decided.
    decided: SeqNo,
    /// The newest packets reported received, newest first; padded with decided packets while there
    /// are fewer.
    arrivals: [SeqNo; NUMDUPACK],
    /// Data packets that are neither received nor lost.
    undecided_data: u32,
    pipe: u32,
    /// Packets before this one are not in pipe, because a timeout emptied it.
    pipe_start: SeqNo,
    /// Parity of the nonces of all packets before `first`.
    parity_before: bool,
    /// Whether any packet was sent with a nonce of 1.
    uses_nonces: bool,
    /// The oldest packet that the last acknowledgement reported.
    reported_from: SeqNo,
}

impl Scoreboard {
    pub(crate) const fn new(kind: VectorKind) -> Self {
        Self {
            kind,
            fates: VecDeque::new(),
            sent_at: VecDeque::new(),
            first: SeqNo::ZERO,
            decided: SeqNo::ZERO.previous(),
            arrivals: [SeqNo::ZERO.previous(); NUMDUPACK],
            undecided_data: 0,
            pipe: 0,
            pipe_start: SeqNo::ZERO,
            parity_before: false,
            uses_nonces: false,
            reported_from: SeqNo::ZERO,
        }
    }

    /// Returns the kind of vector the peer sends.
    pub(crate) const fn kind(&self) -> VectorKind {
        self.kind
    }

    /// Returns the oldest packet whose state can still change.
    pub(crate) const fn first(&self) -> SeqNo {
        self.first
    }

    /// Returns the number of data packets outstanding.
    pub(crate) const fn pipe(&self) -> u32 {
        self.pipe
    }

    /// Returns the next sequence number to be sent.
    pub(crate) fn next(&self) -> SeqNo {
        self.first.add(self.fates.len() as u64)
    }

    /// Records a packet that has just left.
    pub(crate) fn on_sent(&mut self, now: Instant, packet: &SentPacket) {
        let is_data = packet.data.is_some();
        if self.undecided_data == 0 && !is_data && !self.uses_nonces {
            // No state depends on it.
            return self.restart(packet.seq.next());
        }
        match packet.seq.distance_from(self.next()) {
            0 => {}
            // Packets that the connection sent by itself.
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

    /// Records data packets that left directly after the last recorded packet.
    pub(crate) fn on_data_following(&mut self, now: Instant, ecn: Ecn, packets: u32) {
        if nonce_of(ecn) {
            for _ in 0..packets {
                self.push(now, ecn, true);
            }
        } else {
            let fate = Fate::new(ecn, true, self.parity_so_far());
            self.fates.extend(repeat_n(fate, packets as usize));
            self.sent_at.extend(repeat_n(now, packets as usize));
        }
        self.pipe += packets;
        self.undecided_data += packets;
        self.bound();
    }

    fn bound(&mut self) {
        while self.fates.len() > HISTORY_MAX {
            self.forget_first();
        }
    }

    fn push(&mut self, at: Instant, ecn: Ecn, is_data: bool) {
        self.uses_nonces |= nonce_of(ecn);
        let parity = self.parity_so_far() ^ nonce_of(ecn);
        self.fates.push_back(Fate::new(ecn, is_data, parity));
        self.sent_at.push_back(at);
    }

    /// Returns the parity of the nonces of all packets.
    fn parity_so_far(&self) -> bool {
        self.fates
            .back()
            .map_or(self.parity_before, |last| last.parity())
    }

    /// Forgets everything; the next packet is `next`.
    fn restart(&mut self, next: SeqNo) {
        self.fates.clear();
        self.sent_at.clear();
        self.first = next;
        self.decided = next.previous();
        self.pipe_start = next;
        self.arrivals = [self.decided; NUMDUPACK];
        self.undecided_data = 0;
        self.pipe = 0;
        self.parity_before = false;
    }

    /// Handles a transmit timeout: assumes that nothing is left in the network.
    pub(crate) fn on_timeout(&mut self) {
        self.pipe = 0;
        self.pipe_start = self.next();
    }

    /// Processes an acknowledgement of `ack` with its Ack Vectors. Reports each data packet
    /// acknowledged for the first time, newest first, and then each packet newly considered lost,
    /// oldest first.
    ///
    /// Ignores reports about packets that were never sent or are already decided.
    pub(crate) fn take_in(
        &mut self,
        ack: SeqNo,
        options: &OptionList,
        mut report: impl FnMut(Report),
    ) -> News {
        let mut news = News::default();
        let mut vectors = vectors(self.kind, ack, options).peekable();
        if vectors.peek().is_none() {
            // The acknowledgement number alone says that its packet arrived (RFC 4340 section
            // 11.4).
            let run = Run {
                newest: ack,
                len: 1,
                code: Some(Ecn::NotEct),
            };
            self.receive_run(run, &mut news, &mut report);
        }
        self.reported_from = ack;
        for vector in vectors {
            let mut parity = Some(false);
            for run in vector.runs() {
                if !self.uses_nonces && !run.newest.is_after(self.decided) {
                    break;
                }
                self.reported_from = run.oldest();
                self.receive_run(run, &mut news, &mut report);
                if run.code == Some(Ecn::NotEct) && self.uses_nonces {
                    parity = parity.and_then(|parity| Some(parity ^ self.parity(run)?));
                }
            }
            news.bad_nonce |=
                self.uses_nonces && parity.is_some_and(|parity| parity != vector.nonce);
        }
        if news.newest_acked == Some(ack) {
            let index = self.index(ack);
            news.sample = index.and_then(|index| self.sent_at.get(index).copied());
        }
        self.decide(&mut news, report);
        news
    }

    /// Merges a report about consecutive undecided packets, following the table in RFC 4340 section
    /// 11.4.1. A mark overrides a report without one, so the order of acknowledgements does not
    /// matter.
    fn receive_run(&mut self, run: Run, news: &mut News, report: &mut impl FnMut(Report)) {
        let Some(code) = run.code else { return };
        let undecided = run.newest.distance_from(self.decided).max(0) as u64;
        let oldest = run.newest.sub(run.len.min(undecided)).next();
        let mut range = self.count_before(oldest)..self.count_up_to(run.newest);
        while !range.is_empty() {
            let alike = self.alike_at_end(range.clone());
            range.end = alike.start;
            self.receive_alike(alike, code, news, report);
        }
    }

    /// Returns the longest run at the end of `range` with identical state.
    fn alike_at_end(&self, range: Range<usize>) -> Range<usize> {
        let fate = self.fates[range.end - 1];
        let mut newest_first = self.fates.range(range.clone()).rev();
        let others = newest_first.position(|&other| other != fate);
        others.map_or(range.start, |count| range.end - count)..range.end
    }

    /// Merges a report about consecutive packets with identical state.
    fn receive_alike(
        &mut self,
        range: Range<usize>,
        code: Ecn,
        news: &mut News,
        report: &mut impl FnMut(Report),
    ) {
        let (fate, count) = (self.fates[range.start], range.len() as u32);
        if Some(code) <= fate.acked() {
            return;
        }
        let now_known = fate.with_acked(code);
        self.fates
            .range_mut(range.clone())
            .for_each(|fate| *fate = now_known);
        let newest = self.first.add(range.end as u64 - 1);
        let is_first = fate.acked().is_none();
        if is_first {
            for age in 0..u64::from(count).min(NUMDUPACK as u64) {
                arrived(&mut self.arrivals, newest.sub(age));
            }
        }
        if !fate.is_data() {
            return;
        }
        // Load factor codes are read by the congestion control.
        if code.is_ce() && self.kind == VectorKind::Ack {
            news.marked += count;
            news.newly_acked_marked += if is_first { count } else { 0 };
            news.congested(newest);
        }
        if is_first {
            news.acked(count, newest);
            self.undecided_data -= count;
            let before_pipe = self.count_before(self.pipe_start);
            self.pipe -= range.end.saturating_sub(before_pipe.max(range.start)) as u32;
            // If no acknowledgement reports a code, assume that it arrived as sent.
            let ecn = if code == Ecn::NotEct {
                fate.ecn()
            } else {
                code
            };
            let mut seq = newest;
            self.sent_at.range(range).rev().for_each(|&sent_at| {
                report(Report::Acked(AckedPacket::new(seq.get(), sent_at, 1, ecn)));
                seq = seq.previous();
            });
        }
    }

    /// Marks as lost every packet with [`NUMDUPACK`] later arrivals.
    fn decide(&mut self, news: &mut News, mut report: impl FnMut(Report)) {
        let limit = self.arrivals[NUMDUPACK - 1];
        if !limit.is_after(self.decided) {
            return;
        }
        let (from, to) = (self.count_up_to(self.decided), self.count_up_to(limit));
        self.decided = limit;
        // Usually nothing is missing, which can be checked for many packets at once.
        let fates = self.fates.range(from..to);
        if !fates.fold(false, |any, fate| any | fate.is_missing()) {
            return;
        }
        let sent = self.fates.range(from..to).zip(self.sent_at.range(from..to));
        for (index, (fate, &sent_at)) in (from..to).zip(sent) {
            if fate.is_missing() {
                let seq = self.first.add(index as u64);
                news.lost(seq);
                report(Report::Lost { seq, sent_at });
                self.undecided_data -= 1;
                if !seq.is_before(self.pipe_start) {
                    self.pipe -= 1;
                }
            }
        }
    }

    /// Returns the number of packets in the rings before `seq`.
    fn count_before(&self, seq: SeqNo) -> usize {
        let count = seq.distance_from(self.first).max(0);
        (count as usize).min(self.fates.len())
    }

    /// Returns the number of packets in the rings up to and including `seq`.
    fn count_up_to(&self, seq: SeqNo) -> usize {
        let count = seq.distance_from(self.first).saturating_add(1).max(0);
        (count as usize).min(self.fates.len())
    }

    /// Records that the peer received a packet but dropped its data. Returns true if this is new
    /// and the packet is still remembered as received data.
    pub(crate) fn drop_data(&mut self, seq: SeqNo) -> bool {
        let index = self.index(seq);
        let Some(fate) = index.and_then(|index| self.fates.get_mut(index)) else {
            return false;
        };
        let is_news = fate.is_data() && fate.acked().is_some() && !fate.is_dropped();
        if is_news {
            fate.0 |= Fate::DROPPED;
        }
        is_news
    }

    /// Returns the parity of the nonces of a run, if all its packets are remembered.
    fn parity(&self, run: Run) -> Option<bool> {
        let parity = |seq| Some(self.fates.get(self.index(seq)?)?.parity());
        let last = parity(run.newest)?;
        let oldest = run.oldest();
        if oldest == self.first {
            return Some(last ^ self.parity_before);
        }
        Some(last ^ parity(oldest.previous())?)
    }

    /// Forgets decided packets; while nonces are in use, only those that the last acknowledgement
    /// no longer reported. Call it after processing all options of an acknowledgement.
    pub(crate) fn forget_decided(&mut self) {
        let limit = if self.uses_nonces {
            self.reported_from
        } else {
            self.decided
        };
        let before_limit = limit.distance_from(self.first).max(0) as usize;
        let count = before_limit.min(self.count_up_to(self.decided));
        let last = count.checked_sub(1).and_then(|last| self.fates.get(last));
        self.parity_before = last.map_or(self.parity_before, |last| last.parity());
        self.fates.drain(..count);
        self.sent_at.drain(..count);
        self.first = self.first.add(count as u64);
    }

    fn forget_first(&mut self) {
        let Some(fate) = self.fates.pop_front() else {
            return;
        };
        self.sent_at.pop_front();
        self.parity_before = fate.parity();
        let seq = self.first;
        self.first = seq.next();
        if seq.is_after(self.decided) {
            self.decided = seq;
            if fate.is_missing() {
                self.undecided_data -= 1;
                self.pipe -= u32::from(!seq.is_before(self.pipe_start));
            }
        }
    }

    fn index(&self, seq: SeqNo) -> Option<usize> {
        usize::try_from(seq.distance_from(self.first)).ok()
    }
}

/// Inserts `seq` into the newest arrivals, in order.
#[inline]
fn arrived(arrivals: &mut [SeqNo; NUMDUPACK], mut seq: SeqNo) {
    for newer in arrivals {
        if seq.is_after(*newer) {
            core::mem::swap(newer, &mut seq);
        }
    }
}

#[cfg(test)]
mod tests;
