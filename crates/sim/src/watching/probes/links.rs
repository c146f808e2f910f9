//! `links`: each link over each interval, and its queue at the end of the interval.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use skywave_units::Instant;

use crate::watching::probe::{Piecewise, Probe, ProbeSetup, RunEnd, Wants};
use crate::world::observe::Observer;
use crate::world::view::{PacketCount, Sample};

pub(crate) struct Links {
    setup: Arc<ProbeSetup>,
    /// Each link's packets up to the last sample.
    before: Vec<PacketCount>,
    rows: Vec<Row>,
}

struct Row {
    at: Instant,
    link: u32,
    count: PacketCount,
    queue_packets: u64,
    queue_bytes: u64,
}

impl Links {
    pub(crate) fn new(setup: &Arc<ProbeSetup>) -> Self {
        Self {
            setup: Arc::clone(setup),
            before: vec![PacketCount::default(); setup.links()],
            rows: Vec::new(),
        }
    }
}

impl Observer for Links {
    fn sample(&mut self, now: Instant, sample: Sample<'_>) {
        for (link, before) in sample.links().zip(&mut self.before) {
            if !self.setup.samples_link(link.index()) {
                continue;
            }
            self.rows.push(Row {
                at: now,
                link: link.index(),
                count: link.count() - *before,
                queue_packets: link.queued_packets(),
                queue_bytes: link.queued_bytes(),
            });
            *before = link.count();
        }
    }
}

impl Probe for Links {
    fn wants(&self) -> Wants {
        Wants {
            samples: true,
            ..Wants::NOTHING
        }
    }

    fn finish(mut self: Box<Self>, end: &RunEnd<'_>) -> Result<RecordBatch, ArrowError> {
        self.take(end)
    }
}

impl Piecewise for Links {
    fn take(&mut self, end: &RunEnd<'_>) -> Result<RecordBatch, ArrowError> {
        let setup = &self.setup;
        let table = end.table(&self.rows)
            .column("time_s", "When the sample was taken: the end of its interval.", |row| row.at)
            .link("link", "The directed link.", |row| row.link)
            .column("arrivals", "Packets handed to the link in the interval.", |row| row.count.arrivals)
            .column("drops", "Packets that the link lost in the interval, by its queue or its loss model.", |row| row.count.drops)
            .column("delivered", "Packets that arrived at the far end in the interval.", |row| row.count.delivered)
            .column("delivered_bytes", "Their size, headers included.", |row| row.count.delivered_bytes)
            .column("marks", "Packets that the queue marked in the interval, or wrote a code into.", |row| row.count.marks)
            .column("throughput_bps", "`delivered_bytes` as a rate.", |row| row.count.throughput_bps(setup.length(row.at)))
            .column("queue_packets", "Packets in the queue at the instant of the sample, without the one in transmission.", |row| row.queue_packets)
            .column("queue_bytes", "Their size.", |row| row.queue_bytes)
            .finish()?;
        self.rows.clear();
        Ok(table)
    }
}
