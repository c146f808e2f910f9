//! `link_flows`: each flow over each interval, on each link that its packets use in either
//! direction.

use std::mem;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use skywave_units::Instant;

use crate::ids::FlowId;
use crate::observe::Observer;
use crate::probe::{Probe, ProbeSetup, RunEnd, Wants};
use crate::view::{Event, PacketCount, PacketView, Sample};

pub(crate) struct LinkFlows {
    setup: Arc<ProbeSetup>,
    /// Since the last sample.
    counts: FlowCounts,
    rows: Vec<Row>,
}

struct Row {
    at: Instant,
    link: u32,
    flow: FlowId,
    count: PacketCount,
}

impl LinkFlows {
    pub(crate) fn new(setup: &Arc<ProbeSetup>) -> Self {
        Self {
            setup: Arc::clone(setup),
            counts: FlowCounts::new(&setup.sampled_links, &setup.sampled_flows),
            rows: Vec::new(),
        }
    }
}

impl Observer for LinkFlows {
    #[inline(always)]
    fn packet(&mut self, _now: Instant, event: Event, packet: PacketView<'_>) {
        if let Some(link) = event.link()
            && let Some(count) = self.counts.of(link, packet.flow())
        {
            count.add(event, packet);
        }
    }

    fn sample(&mut self, now: Instant, sample: Sample<'_>) {
        let links = sample.links().map(|link| link.index());
        for link in links.filter(|&link| self.setup.samples_link(link)) {
            for flow in self.setup.sampled_flows() {
                let count = self.counts.take(link, flow);
                // A flow that does not use the link has no rows for it.
                if self.setup.uses(flow, link) {
                    self.rows.push(Row {
                        at: now,
                        link,
                        flow,
                        count,
                    });
                }
            }
        }
    }
}

impl Probe for LinkFlows {
    fn wants(&self) -> Wants {
        Wants {
            packets: true,
            samples: true,
            ..Wants::NOTHING
        }
    }

    fn finish(self: Box<Self>, end: &RunEnd<'_>) -> Result<RecordBatch, ArrowError> {
        end.table(&self.rows)
            .column(
                "time_s",
                "When the sample was taken: the end of its interval.",
                |row| row.at,
            )
            .link("link", "The directed link.", |row| row.link)
            .flow(
                "flow",
                "The flow, with its packets in both directions.",
                |row| row.flow,
            )
            .column(
                "arrivals",
                "The flow's packets handed to the link in the interval.",
                |row| row.count.arrivals,
            )
            .column(
                "drops",
                "Those that the link lost in the interval.",
                |row| row.count.drops,
            )
            .column(
                "delivered",
                "Those that arrived at the far end in the interval.",
                |row| row.count.delivered,
            )
            .column("delivered_bytes", "Their size, headers included.", |row| {
                row.count.delivered_bytes
            })
            .column(
                "marks",
                "Those that the queue marked in the interval, or wrote a code into.",
                |row| row.count.marks,
            )
            .column("throughput_bps", "`delivered_bytes` as a rate.", |row| {
                row.count.throughput_bps(self.setup.length(row.at))
            })
            .finish()
    }
}

/// The packets of each sampled flow on each sampled link.
///
/// There is a row for each sampled link and a column for each sampled flow. The other links share a
/// first row that is never read: packets of all links take turns, so a branch on whether a link is
/// sampled would be unpredictable. Of the flows, usually either few or all are sampled.
#[derive(Clone, Debug)]
struct FlowCounts {
    counts: Vec<PacketCount>,
    /// The start of each link's row.
    rows: Vec<usize>,
    columns: Vec<Option<u32>>,
}

impl FlowCounts {
    /// Creates zero counts for the sampled links and flows.
    fn new(links: &[bool], flows: &[bool]) -> Self {
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

    /// Returns the count of a flow on a link, if the flow is sampled.
    #[inline(always)]
    fn of(&mut self, link: u32, flow: FlowId) -> Option<&mut PacketCount> {
        let column = self.columns[flow.index()]?;
        Some(&mut self.counts[self.rows[link as usize] + column as usize])
    }

    /// Takes and resets the count of a flow on a link.
    fn take(&mut self, link: u32, flow: FlowId) -> PacketCount {
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
            for flow in (0..3).map(FlowId::new) {
                if let Some(count) = counts.of(link, flow) {
                    count.arrivals += 1 << (3 * link + flow.get());
                }
            }
        }
        assert!(counts.of(0, FlowId::new(0)).is_none());
        for (link, flow) in [(0, 1), (0, 2), (2, 1), (2, 2)] {
            let bit = 3 * link + flow;
            let flow = FlowId::new(flow);
            assert_eq!(counts.take(link, flow).arrivals, 1 << bit);
            assert_eq!(counts.take(link, flow).arrivals, 0);
        }
    }
}
