//! `rates`: X, X_recv, p and R of each rate-based sender, at each report and each change.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use skywave_transport::dccp::RateStats;
use skywave_units::{Duration, Instant};

use crate::watching::probe::{Piecewise, Probe, ProbeSetup, RunEnd, Wants};
use crate::world::ids::FlowId;
use crate::world::observe::Observer;
use crate::world::view::HostView;

pub(crate) struct Rates {
    /// The last recorded state of each flow's rate, and R.
    last: Vec<Option<(RateStats, Option<Duration>)>>,
    rows: Vec<Row>,
}

struct Row {
    at: Instant,
    flow: FlowId,
    rate: RateStats,
    rtt: Option<Duration>,
}

impl Rates {
    pub(crate) fn new(setup: &Arc<ProbeSetup>) -> Self {
        Self {
            last: vec![None; setup.flows()],
            rows: Vec::new(),
        }
    }
}

impl Observer for Rates {
    fn settled(&mut self, now: Instant, host: HostView<'_>) {
        if !host.id().is_sender() {
            return;
        }
        let stats = host.stats();
        let (Some(rate), rtt) = (stats.rate, stats.srtt) else {
            return;
        };
        let flow = host.id().flow();
        let last = &mut self.last[flow.index()];
        if *last != Some((rate, rtt)) {
            *last = Some((rate, rtt));
            self.rows.push(Row {
                at: now,
                flow,
                rate,
                rtt,
            });
        }
    }
}

impl Probe for Rates {
    fn wants(&self) -> Wants {
        Wants {
            settled: true,
            ..Wants::NOTHING
        }
    }

    fn finish(mut self: Box<Self>, end: &RunEnd<'_>) -> Result<RecordBatch, ArrowError> {
        self.take(end)
    }
}

impl Piecewise for Rates {
    fn take(&mut self, end: &RunEnd<'_>) -> Result<RecordBatch, ArrowError> {
        let table = end.table(&self.rows)
            .column("time_s", "When one of the values changed, or a report arrived.", |row| row.at)
            .flow("flow", "The flow.", |row| row.flow)
            .column("rate_bps", "Rate at which packets leave (X_inst where oscillation prevention is on, otherwise X; RFC 5348 section 4).", |row| row.rate.rate.as_bps())
            .column("allowed_rate_bps", "The allowed rate X.", |row| row.rate.allowed_rate.as_bps())
            .column("receive_rate_bps", "The receive rate of the last report, X_recv.", |row| row.rate.receive_rate.as_bps())
            .column("loss_event_rate", "The loss event rate p of the last report, between 0 and 1.", |row| row.rate.loss_event_rate)
            .column("rtt_s", "The sender's mean round-trip time R; null before the first measurement.", |row| row.rtt)
            .column("reports", "Reports that the sender has processed since the start.", |row| row.rate.reports)
            .column("loss_events", "Reports of a new loss event since the start.", |row| row.rate.loss_events)
            .finish()?;
        self.rows.clear();
        Ok(table)
    }
}
