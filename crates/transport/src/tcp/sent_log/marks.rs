//! The fate of each outstanding segment, for detections that judge segments one by one.

use std::collections::VecDeque;

use skywave_units::{Duration, Instant};

use super::SentSegment;
use crate::tcp::reassembly::Range;
use crate::tcp::sequence::Position;

/// Which outstanding segments have been SACKed, and which are lost and have not been sent again.
/// The segments themselves carry the marks; this keeps the sums.
#[derive(Debug, Default)]
pub(super) struct Marks {
    /// The segments that the current acknowledgement reports for the first time.
    pub(super) delivered: Vec<SentSegment>,
    /// The bytes, from the start of the stream, that [`Marks::take_delivered`] has counted.
    counted: u64,
    /// The lost segments that the control does not know of.
    found: Vec<SentSegment>,
    /// Bytes, and number, of the SACKed segments.
    sacked: u64,
    sacked_segments: u32,
    /// Bytes of the lost segments.
    lost: u64,
    /// The segments of new data that may leave while lost segments are held back.
    pub(super) held: Option<u8>,
    /// No segment that begins before this offset is lost.
    lost_from: u64,
    /// Everything that begins before this offset and was sent only once has arrived or is lost.
    examined: u64,
    /// When segments were sent again, and where they begin, in order of time. Entries of segments
    /// that have arrived, or were sent yet again, are void.
    again: VecDeque<(Instant, u64)>,
}

impl Marks {
    /// Returns the bytes that are neither SACKed nor lost, of `outstanding` bytes.
    pub(super) const fn in_flight(&self, outstanding: u64) -> u64 {
        outstanding.saturating_sub(self.sacked + self.lost)
    }

    /// Returns the full segments delivered since the last call.
    pub(super) fn take_delivered(&mut self, at: Position) -> u32 {
        // The SYN takes up the first offset.
        let delivered = at.una.saturating_sub(1) + self.sacked;
        let segments = delivered.saturating_sub(self.counted) / at.smss;
        self.counted += segments * at.smss;
        u32::try_from(segments).unwrap_or(u32::MAX)
    }

    pub(super) const fn sacked(&self) -> u64 {
        self.sacked
    }

    pub(super) const fn sacked_segments(&self) -> u32 {
        self.sacked_segments
    }

    pub(super) const fn lost(&self) -> u64 {
        self.lost
    }

    /// Records that `sent` is about to be sent again.
    pub(super) fn on_sent_again(&mut self, now: Instant, sent: &SentSegment) {
        if sent.is_lost {
            self.lost -= sent.len();
        }
        if !sent.is_sacked {
            self.again.push_back((now, sent.start));
        }
    }

    /// Records that `part` of the SACK block `block` is SACKed for the first time.
    pub(super) fn on_sacked(
        &mut self,
        part: Range,
        block: Range,
        segments: &mut VecDeque<SentSegment>,
    ) {
        let first = segments.partition_point(|sent| sent.end <= part.start);
        for sent in segments.range_mut(first..) {
            if sent.start >= part.end {
                break;
            }
            if sent.is_sacked || sent.start < block.start || sent.end > block.end {
                continue;
            }
            if sent.is_lost {
                self.lost -= sent.len();
                sent.is_lost = false;
            }
            sent.is_sacked = true;
            self.sacked += sent.len();
            self.sacked_segments += 1;
            self.delivered.push(*sent);
        }
    }

    /// Records that `sent`, now removed, is acknowledged.
    pub(super) fn on_acked(&mut self, sent: &SentSegment) {
        if sent.is_lost {
            self.lost -= sent.len();
        }
        if sent.is_sacked {
            self.sacked -= sent.len();
            self.sacked_segments -= 1;
        } else {
            self.delivered.push(*sent);
        }
    }

    /// Forgets which segments are SACKed.
    pub(super) fn forget_sacks(&mut self, segments: &mut VecDeque<SentSegment>) {
        for sent in segments {
            let was_sacked = core::mem::take(&mut sent.is_sacked);
            if was_sacked && sent.transmissions > 1 {
                self.again.push_back((sent.sent_at, sent.start));
            }
        }
        self.again.make_contiguous().sort_unstable();
        self.sacked = 0;
        self.sacked_segments = 0;
        self.examined = 0;
    }

    /// Marks the segments as lost that were sent before the segment `newest` (its sending time and
    /// end) and for which `remaining` returns zero. Returns the longest time that `remaining`
    /// returns for the others.
    pub(super) fn find_lost(
        &mut self,
        newest: (Instant, u64),
        segments: &mut VecDeque<SentSegment>,
        remaining: impl Fn(&SentSegment) -> Duration,
    ) -> Duration {
        let mut longest = Duration::ZERO;
        let mut are_resolved = true;
        let from = segments.partition_point(|sent| sent.start < self.examined);
        for sent in segments.range_mut(from..) {
            if sent.transmissions == 1 {
                if (sent.sent_at, sent.end) >= newest {
                    break;
                }
                if !sent.is_sacked && !sent.is_lost {
                    let left = remaining(sent);
                    if left.is_zero() {
                        self.mark(sent);
                    } else {
                        longest = longest.max(left);
                        are_resolved = false;
                    }
                }
            }
            if are_resolved {
                self.examined = sent.end;
            }
        }
        let mut again = core::mem::take(&mut self.again);
        again.retain(|&(sent_at, start)| {
            if sent_at > newest.0 {
                return true;
            }
            let Ok(index) = segments.binary_search_by_key(&start, |sent| sent.start) else {
                return false;
            };
            let sent = &mut segments[index];
            if sent.sent_at != sent_at || sent.is_sacked || sent.is_lost {
                return false;
            }
            if (sent.sent_at, sent.end) >= newest {
                return true;
            }
            let left = remaining(sent);
            if left.is_zero() {
                self.mark(sent);
                return false;
            }
            longest = longest.max(left);
            true
        });
        self.again = again;
        longest
    }

    /// Marks the segments as lost that have not arrived and for which `is_lost` holds.
    pub(super) fn mark_where(
        &mut self,
        segments: &mut VecDeque<SentSegment>,
        is_lost: impl Fn(&SentSegment) -> bool,
    ) {
        for sent in segments {
            if !sent.is_sacked && !sent.is_lost && is_lost(sent) {
                self.mark(sent);
            }
        }
    }

    fn mark(&mut self, sent: &mut SentSegment) {
        sent.is_lost = true;
        self.lost += sent.len();
        self.lost_from = self.lost_from.min(sent.start);
        self.found.push(*sent);
    }

    /// Removes the mark of all lost segments.
    pub(super) fn unmark_lost(&mut self, segments: &mut VecDeque<SentSegment>) {
        for sent in segments {
            if core::mem::take(&mut sent.is_lost) && sent.transmissions > 1 {
                self.again.push_back((sent.sent_at, sent.start));
            }
        }
        self.again.make_contiguous().sort_unstable();
        self.lost = 0;
        self.examined = 0;
    }

    /// Returns the first lost segment.
    pub(super) fn next_lost(&mut self, segments: &VecDeque<SentSegment>) -> Option<Range> {
        if self.lost == 0 {
            self.lost_from = u64::MAX;
            return None;
        }
        let from = segments.partition_point(|sent| sent.start < self.lost_from);
        let lost = segments.range(from..).find(|sent| sent.is_lost)?;
        self.lost_from = lost.start;
        Some(Range {
            start: lost.start,
            end: lost.end,
        })
    }

    /// Returns whether segments were found lost since [`Marks::take_found`].
    pub(super) const fn has_found(&self) -> bool {
        !self.found.is_empty()
    }

    /// Passes to `each` every segment found lost since the last call.
    pub(super) fn take_found(&mut self, mut each: impl FnMut(&SentSegment)) {
        for sent in self.found.drain(..) {
            each(&sent);
        }
    }

    /// Returns the bytes of heap memory in use.
    pub(super) fn heap_size(&self) -> usize {
        size_of::<Self>()
            + (self.delivered.capacity() + self.found.capacity()) * size_of::<SentSegment>()
            + self.again.capacity() * size_of::<(Instant, u64)>()
    }
}
