//! `controls`: the inner values of each sender's congestion control at each sampling time.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use skywave_units::Instant;

use super::inner_values::InnerValues;
use crate::watching::probe::{Piecewise, Probe, ProbeSetup, RunEnd, Wants};
use crate::watching::table::finite;
use crate::world::ids::FlowId;
use crate::world::observe::Observer;
use crate::world::view::Sample;

pub(crate) struct Controls {
    setup: Arc<ProbeSetup>,
    values: InnerValues<FlowId>,
}

impl Controls {
    pub(crate) fn new(setup: &Arc<ProbeSetup>) -> Self {
        Self {
            setup: Arc::clone(setup),
            values: InnerValues::new(),
        }
    }
}

impl Observer for Controls {
    fn sample(&mut self, now: Instant, sample: Sample<'_>) {
        for flow in self.setup.sampled_flows() {
            sample
                .host(flow.sender())
                .inner_values(&mut |name, value| self.values.record(now, flow, name, value));
        }
    }
}

impl Probe for Controls {
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

impl Piecewise for Controls {
    fn take(&mut self, end: &RunEnd<'_>) -> Result<RecordBatch, ArrowError> {
        let table = end
            .table(&self.values.rows)
            .column("time_s", "When the sample was taken.", |row| row.at)
            .flow("flow", "The flow.", |row| row.source)
            .label(
                "name",
                "The value, as the control calls it, with its unit.",
                &self.values.names,
                |row| row.name,
            )
            .column("value", "What it was; null if infinite.", |row| {
                finite(row.value)
            })
            .finish()?;
        self.values.rows.clear();
        Ok(table)
    }
}
