//! The data delivered, and the delivery rate.

use std::collections::VecDeque;

use skywave_congestion::DeliverySampler;
use skywave_units::Instant;

use super::SentSegment;
use crate::tcp::reassembly::{Arrival, Range, Reassembly};

/// Samples of the delivery rate. Each segment with data is one of the sampler's packets,
/// identified by its first byte, so that each byte belongs to exactly one.
#[derive(Clone, Debug)]
pub(super) struct Delivery {
    pub(super) sampler: DeliverySampler,
    /// The data acknowledged, cumulatively or selectively. After a timeout the recovery forgets
    /// SACKs, in case the receiver reneges, but delivered data stays delivered.
    delivered: Reassembly,
}

impl Delivery {
    pub(super) fn new() -> Self {
        Self {
            sampler: DeliverySampler::default(),
            delivered: Reassembly::new(0),
        }
    }

    /// Records an outgoing segment. Data ends at `data_end`; anything after it is a FIN.
    pub(super) fn on_sent(&mut self, now: Instant, segment: &SentSegment, data_end: u64) {
        let bytes = segment.end.min(data_end).saturating_sub(segment.start);
        if bytes > 0 {
            let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
            self.sampler.on_sent(now, segment.start, bytes);
        }
    }

    /// Records that the bytes of `block`, and every segment inside it, were SACKed.
    pub(super) fn on_block(
        &mut self,
        now: Instant,
        block: Range,
        segments: &VecDeque<SentSegment>,
    ) {
        let Range { mut start, mut end } = block;
        // A block usually extends a known one: examine only the new part.
        for known in self.delivered.beyond() {
            if known.start <= start && start < known.end {
                start = known.end;
            }
            if known.start < end && end <= known.end {
                end = known.start;
            }
        }
        if self.delivered.insert(block) == Arrival::Duplicate {
            return;
        }
        let covers = |known: &&Range| known.start <= start && start < known.end;
        let before_next = Range {
            start: 0,
            end: self.delivered.next(),
        };
        let beyond = self.delivered.beyond().iter().find(covers);
        let known = beyond.copied().unwrap_or(before_next);
        let first = segments.partition_point(|sent| sent.end <= start);
        for sent in segments.range(first..).take_while(|sent| sent.start < end) {
            if known.start <= sent.start && sent.end <= known.end {
                self.sampler.on_acked(now, sent.start);
            }
        }
    }

    /// Records that everything before `ack` is acknowledged.
    pub(super) fn on_ack(&mut self, ack: u64) {
        self.delivered.insert(Range {
            start: self.delivered.next(),
            end: ack,
        });
    }

    /// Returns the bytes of heap memory in use.
    pub(super) fn heap_size(&self) -> usize {
        size_of::<Self>() + self.sampler.heap_size() + self.delivered.heap_size()
    }
}
