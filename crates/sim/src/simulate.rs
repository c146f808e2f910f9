//! Lets time pass in what has been built, and takes down what that leaves.

use skywave_units::Instant;

use crate::application::Application;
use crate::build::Build;
use crate::engine::{Parts, Simulator, Stop};
use crate::error::RunError;
use crate::host::{Host, HostStats};
use crate::ids::FlowId;
use crate::observe::Observer;
use crate::probes::Sampler;
use crate::record::Fingerprint;
use crate::scenario::Scenario;
use crate::tables::TransferRow;
use crate::traffic::Made;

/// What a simulation leaves.
pub(crate) struct Ended {
    pub(crate) events: u64,
    /// Of every host, in the order of their numbers.
    pub(crate) stats: Vec<HostStats>,
    /// What each voice source has made, by interval.
    pub(crate) made: Vec<Vec<Made>>,
    pub(crate) transfers: Vec<TransferRow>,
    pub(crate) sampler: Sampler,
    pub(crate) fingerprint: Fingerprint,
}

/// Lets time pass until the scenario's end, while `writer` watches.
pub(crate) fn simulate<W: Observer>(
    scenario: &Scenario,
    build: Build,
    sampler: Sampler,
    writer: W,
    mut progress: impl FnMut(f64) -> bool,
) -> Result<(Ended, W), RunError> {
    let mut simulator = Simulator::new(Parts {
        network: build.network,
        hosts: build.hosts,
        applications: build.applications,
        routes: build.routes,
        observer: ((sampler, Fingerprint::default()), writer),
        sample_interval: Some(scenario.probes.interval),
        verify_wire: scenario.verify_wire,
    });
    let end = Instant::ZERO + scenario.duration;
    let outcome = simulator.run(end, |now| progress(now.as_secs_f64() / end.as_secs_f64()));
    match outcome {
        Ok(()) => {}
        Err(Stop::Interrupted) => return Err(RunError::Interrupted),
        Err(Stop::Wire(mismatch)) => return Err(mismatch.into()),
    }
    let applications = simulator.applications();
    let (events, stats) = (
        simulator.events(),
        simulator.hosts().iter().map(Host::stats).collect(),
    );
    let made = applications
        .iter()
        .map(|application| application.voice_made().to_vec())
        .collect();
    let transfers = transfer_rows(applications);
    let ((sampler, fingerprint), writer) = simulator.into_observer();
    let ended = Ended {
        events,
        stats,
        made,
        transfers,
        sampler,
        fingerprint,
    };
    Ok((ended, writer))
}

/// The files of all web traffic, in the order in which they were begun.
fn transfer_rows(applications: &[Application]) -> Vec<TransferRow> {
    let mut rows: Vec<TransferRow> = (0..)
        .map(FlowId::new)
        .zip(applications)
        .flat_map(|(flow, application)| {
            let row = move |&file| TransferRow { flow, file };
            application.transfers().iter().map(row)
        })
        .collect();
    rows.sort_by_key(|row| row.file.start);
    rows
}
