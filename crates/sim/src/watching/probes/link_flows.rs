//! `link_flows`: each flow over each interval, on each link that its packets use in either
//! direction.

use std::mem;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use skywave_units::Instant;

use crate::watching::probe::{Probe, ProbeSetup, RunEnd, Wants};
use crate::world::ids::FlowId;
use crate::world::observe::{Mergeable, Observer};
use crate::world::view::{Event, PacketCount, PacketView, Sample};

pub(crate) struct LinkFlows {
    setup: Arc<ProbeSetup>,
    /// The counts since the last sample.
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
            counts: FlowCounts::new(setup),
            rows: Vec::new(),
        }
    }
}

impl Mergeable for LinkFlows {
    fn of_region(&self) -> Option<Self> {
        Some(Self::new(&self.setup))
    }

    fn absorb(&mut self, other: &mut Self) {
        let others = &mut other.counts.counts;
        for (count, other) in self.counts.counts.iter_mut().zip(others) {
            *count += mem::take(other);
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
            for flow in self.setup.sampled_flows_on(link) {
                self.rows.push(Row {
                    at: now,
                    link,
                    flow,
                    count: self.counts.take(link, flow),
                });
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
/// Sampled flows are numbered. A sampled link has a row of counts from the first of them that uses it
/// to the last: all flows in a row on a bottleneck, one on the access link of its host. The other
/// links share a row that is never read: packets of all links take turns, so a branch on whether a
/// link is sampled would be unpredictable. Of the flows, usually either few or all are sampled.
#[derive(Clone, Debug)]
struct FlowCounts {
    counts: Vec<PacketCount>,
    columns: Columns,
    /// Where flow 0 of each link's row would be. This may be before the first row: modulo 2^64.
    rows: Vec<usize>,
}

/// The number of each flow that is sampled.
type Columns = Vec<Option<u32>>;

impl FlowCounts {
    /// Creates zero counts for the sampled links and flows.
    fn new(setup: &ProbeSetup) -> Self {
        let (columns, rows, size) = places(setup);
        Self {
            counts: vec![PacketCount::default(); size],
            columns,
            rows,
        }
    }

    /// Returns the count of a flow on a link that it uses, if the flow is sampled.
    #[inline(always)]
    fn of(&mut self, link: u32, flow: FlowId) -> Option<&mut PacketCount> {
        let column = self.columns[flow.index()]?;
        Some(&mut self.counts[self.rows[link as usize].wrapping_add(column as usize)])
    }

    /// Takes and resets the count of a flow on a link that it uses.
    fn take(&mut self, link: u32, flow: FlowId) -> PacketCount {
        self.of(link, flow).map(mem::take).unwrap_or_default()
    }
}

/// Returns how many counts of a flow on a link the table keeps.
pub(crate) fn size(setup: &ProbeSetup) -> usize {
    places(setup).2
}

/// Returns the number of each sampled flow, where the row of each link begins, and the number of
/// counts.
fn places(setup: &ProbeSetup) -> (Columns, Vec<usize>, usize) {
    let mut sampled = 0;
    let columns: Columns = setup
        .sampled_flows
        .iter()
        .map(|&is_sampled| {
            sampled += u32::from(is_sampled);
            is_sampled.then(|| sampled - 1)
        })
        .collect();
    let mut size = sampled as usize;
    let rows = (0..setup.links() as u32)
        .map(|link| {
            let mut users = setup
                .sampled_flows_on(link)
                .filter_map(|flow| columns[flow.index()]);
            let Some(first) = users.next().filter(|_| setup.samples_link(link)) else {
                return 0;
            };
            let last = users.last().unwrap_or(first);
            let row = size.wrapping_sub(first as usize);
            size += (last - first) as usize + 1;
            row
        })
        .collect();
    (columns, rows, size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use skywave_units::Duration;

    fn setup(sampled_links: &[bool], sampled_flows: &[bool], users: &[&[u32]]) -> ProbeSetup {
        let users = users
            .iter()
            .map(|users| users.iter().copied().map(FlowId::new).collect());
        ProbeSetup {
            interval: Duration::from_secs(1),
            sampled_links: sampled_links.to_vec(),
            sampled_flows: sampled_flows.to_vec(),
            users: users.collect(),
            playout: vec![None; sampled_flows.len()],
        }
    }

    #[test]
    fn only_what_is_sampled_has_counts_of_its_own() {
        let users: &[&[u32]] = &[&[0, 1, 2], &[0, 1, 2], &[1, 2]];
        let mut counts = FlowCounts::new(&setup(&[true, false, true], &[false, true, true], users));
        for (link, users) in (0..).zip(users) {
            for &flow in *users {
                if let Some(count) = counts.of(link, FlowId::new(flow)) {
                    count.arrivals += 1 << (3 * link + flow);
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

    #[test]
    fn flows_that_do_not_use_a_link_have_no_counts_on_it() {
        let of_own: Vec<_> = (0..1000).map(|flow| [flow]).collect();
        let mut users: Vec<&[u32]> = of_own.iter().map(|flow| &flow[..]).collect();
        let all: Vec<_> = (0..1000).collect();
        users.push(&all);
        let setup = setup(&[true; 1001], &[true; 1000], &users);
        // The row that is never read, one on each link of its own, and the bottleneck's row.
        assert_eq!(size(&setup), 3 * 1000);
        let mut counts = FlowCounts::new(&setup);
        for flow in (0..1000).map(FlowId::new) {
            counts.of(flow.get(), flow).unwrap().arrivals += 1;
            counts.of(1000, flow).unwrap().arrivals += 2;
        }
        for flow in (0..1000).map(FlowId::new) {
            assert_eq!(counts.take(flow.get(), flow).arrivals, 1);
            assert_eq!(counts.take(1000, flow).arrivals, 2);
        }
    }
}
