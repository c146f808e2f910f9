//! What is sampled during a run, for observers outside it.

use std::sync::Arc;

use arrow_array::RecordBatch;
use skywave_scenario::Scenario;
use skywave_units::Instant;

use crate::error::RunError;
use crate::running::report::Reporter;
use crate::watching::probe::{Piecewise, ProbeSetup, RunEnd};
use crate::watching::probes::controls::Controls;
use crate::watching::probes::flows::Flows;
use crate::watching::probes::links::Links;
use crate::watching::probes::queues::Queues;
use crate::watching::probes::rates::Rates;
use crate::world::observe::{Mergeable, Observer};
use crate::world::view::{Event, HostView, PacketView, Sample};

/// What has been sampled in a part of a run, as tables by name: `flows` and `links`, and the inner
/// values of controls and queue disciplines, `controls` and `queues`; also `rates` if the scenario
/// requests it. A table may have no rows.
pub type Samples = Vec<(String, RecordBatch)>;

/// What is sampled, until it is read.
pub(crate) struct Pieces {
    flows: Flows,
    links: Links,
    controls: Controls,
    queues: Queues,
    /// Present if the scenario asks for them, because they examine every packet of a sender.
    rates: Option<Rates>,
}

impl Pieces {
    pub(crate) fn new(setup: &Arc<ProbeSetup>, scenario: &Scenario) -> Self {
        let mut tables = scenario.probes.asked_for();
        Self {
            flows: Flows::new(setup),
            links: Links::new(setup),
            controls: Controls::new(setup),
            queues: Queues::new(setup),
            rates: tables
                .any(|name| name == "rates")
                .then(|| Rates::new(setup)),
        }
    }

    /// Returns what has been sampled since the last call.
    pub(crate) fn take(&mut self, names: &Reporter, now: Instant) -> Result<Samples, RunError> {
        let end = RunEnd {
            time: now,
            links: &names.links,
            flows: &names.flows,
            journals: &[],
        };
        let mut tables = vec![
            ("flows".to_owned(), self.flows.take(&end)?),
            ("links".to_owned(), self.links.take(&end)?),
            ("controls".to_owned(), self.controls.take(&end)?),
            ("queues".to_owned(), self.queues.take(&end)?),
        ];
        if let Some(rates) = &mut self.rates {
            tables.push(("rates".to_owned(), rates.take(&end)?));
        }
        Ok(tables)
    }
}

impl Mergeable for Pieces {}

impl Observer for Pieces {
    fn packet(&mut self, now: Instant, event: Event, packet: PacketView<'_>) {
        self.flows.packet(now, event, packet);
    }

    fn settled(&mut self, now: Instant, host: HostView<'_>) {
        self.rates.settled(now, host);
    }

    fn sample(&mut self, now: Instant, sample: Sample<'_>) {
        self.flows.sample(now, sample);
        self.links.sample(now, sample);
        self.controls.sample(now, sample);
        self.queues.sample(now, sample);
    }
}
