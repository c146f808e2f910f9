//! Packets counted: on each link, and of each flow on a link.

use std::mem;
use std::ops::AddAssign;

/// Packets of a link, or of one flow on it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PacketCount {
    pub(crate) arrivals: u64,
    pub(crate) drops: u64,
    pub(crate) delivered: u64,
    pub(crate) delivered_bytes: u64,
    /// Of those delivered, the ones that came out with another ECN field than they had gone in with.
    pub(crate) marks: u64,
}

impl AddAssign for PacketCount {
    fn add_assign(&mut self, other: Self) {
        self.arrivals += other.arrivals;
        self.drops += other.drops;
        self.delivered += other.delivered;
        self.delivered_bytes += other.delivered_bytes;
        self.marks += other.marks;
    }
}

/// The packets of each sampled flow on each sampled link.
///
/// A row for each link and a column for each flow that is sampled. The other links share a first row,
/// which nobody reads: packets of all links take turns, so that nobody could predict a branch on
/// which are sampled. Of flows, mostly few are sampled, or all.
#[derive(Clone, Debug)]
pub(crate) struct FlowCounts {
    counts: Vec<PacketCount>,
    /// Where the row of each link begins.
    rows: Vec<usize>,
    columns: Vec<Option<u32>>,
}

impl FlowCounts {
    /// Zeros for the links and flows that are sampled.
    pub(crate) fn new(links: &[bool], flows: &[bool]) -> Self {
        let (mut width, mut height) = (0, 0);
        let columns = flows
            .iter()
            .map(|&sampled| {
                width += u32::from(sampled);
                sampled.then(|| width - 1)
            })
            .collect();
        let width = width as usize;
        let rows = links
            .iter()
            .map(|&sampled| {
                height += usize::from(sampled);
                if sampled { height * width } else { 0 }
            })
            .collect();
        Self {
            counts: vec![PacketCount::default(); (height + 1) * width],
            rows,
            columns,
        }
    }

    /// The count of a flow on a link, where the flow is sampled.
    #[inline(always)]
    pub(crate) fn of(&mut self, link: usize, flow: usize) -> Option<&mut PacketCount> {
        let column = self.columns[flow]?;
        Some(&mut self.counts[self.rows[link] + column as usize])
    }

    /// Takes the count of a flow on a link, which begins anew.
    pub(crate) fn take(&mut self, link: usize, flow: usize) -> PacketCount {
        self.of(link, flow).map(mem::take).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_sampled_has_counts_of_its_own() {
        let mut counts = FlowCounts::new(&[true, false, true], &[false, true, true]);
        for link in 0..3 {
            for flow in 0..3 {
                if let Some(count) = counts.of(link, flow) {
                    count.arrivals += 1 << (3 * link + flow);
                }
            }
        }
        assert!(counts.of(0, 0).is_none());
        for (link, flow) in [(0, 1), (0, 2), (2, 1), (2, 2)] {
            assert_eq!(counts.take(link, flow).arrivals, 1 << (3 * link + flow));
            assert_eq!(counts.take(link, flow).arrivals, 0);
        }
    }
}
