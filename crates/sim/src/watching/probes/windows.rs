//! `windows`: cwnd, ssthresh and pipe of each sender, at each change.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use skywave_units::Instant;

use crate::watching::probe::{Probe, ProbeSetup, RunEnd, Wants};
use crate::watching::table::finite;
use crate::world::ids::FlowId;
use crate::world::observe::Observer;
use crate::world::view::HostView;

pub(crate) struct Windows {
    /// The last recorded window of each flow.
    last: Vec<Option<Window>>,
    rows: Vec<Row>,
}

#[derive(Clone, Copy, PartialEq)]
struct Window {
    cwnd: f64,
    ssthresh: f64,
    pipe: u32,
}

struct Row {
    at: Instant,
    flow: FlowId,
    window: Window,
}

impl Windows {
    pub(crate) fn new(setup: &Arc<ProbeSetup>) -> Self {
        Self {
            last: vec![None; setup.flows()],
            rows: Vec::new(),
        }
    }
}

impl Observer for Windows {
    fn settled(&mut self, now: Instant, host: HostView<'_>) {
        if !host.id().is_sender() {
            return;
        }
        let stats = host.stats();
        let window = Window {
            cwnd: stats.cwnd,
            ssthresh: stats.ssthresh,
            pipe: stats.pipe,
        };
        let flow = host.id().flow();
        let last = &mut self.last[flow.index()];
        if *last != Some(window) {
            *last = Some(window);
            self.rows.push(Row {
                at: now,
                flow,
                window,
            });
        }
    }
}

impl Probe for Windows {
    fn wants(&self) -> Wants {
        Wants {
            settled: true,
            ..Wants::NOTHING
        }
    }

    fn finish(self: Box<Self>, end: &RunEnd<'_>) -> Result<RecordBatch, ArrowError> {
        end.table(&self.rows)
            .column("time_s", "When one of the values changed.", |row| row.at)
            .flow("flow", "The flow.", |row| row.flow)
            .column("cwnd_packets", "Congestion window.", |row| row.window.cwnd)
            .column(
                "ssthresh_packets",
                "Slow-start threshold; null if unbounded.",
                |row| finite(row.window.ssthresh),
            )
            .column(
                "pipe_packets",
                "Data packets in flight, as the sender estimates them.",
                |row| row.window.pipe,
            )
            .finish()
    }
}
