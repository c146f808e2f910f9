//! Simulates a built scenario, and collects the final state.

use skywave_units::Instant;

use crate::application::Application;
use crate::build::Build;
use crate::engine::{Parts, Simulator, Stop};
use crate::error::RunError;
use crate::host::{Host, HostStats};
use crate::observe::Observer;
use crate::record::Fingerprint;
use skywave_scenario::Scenario;
use skywave_traffic::Journal;

/// The final state of a simulation.
pub(crate) struct Ended<O> {
    pub(crate) events: u64,
    /// The counters of every host, in the order of their numbers.
    pub(crate) stats: Vec<HostStats>,
    /// When the application of every flow ended; `None` if it did not.
    pub(crate) application_ends: Vec<Option<Instant>>,
    /// The journal of every flow.
    pub(crate) journals: Vec<Journal>,
    pub(crate) fingerprint: u64,
    pub(crate) observer: O,
}

/// Simulates until the scenario's end while `observer` watches.
pub(crate) fn simulate<O: Observer>(
    scenario: &Scenario,
    build: Build,
    observer: O,
    mut progress: impl FnMut(f64) -> bool,
) -> Result<Ended<O>, RunError> {
    let mut simulator = Simulator::new(Parts {
        network: build.network,
        hosts: build.hosts,
        applications: build.applications,
        routes: build.routes,
        transports: build.transports,
        observer: (observer, Fingerprint::default()),
        sample_interval: Some(scenario.probes.interval),
        verify_wire: scenario.verify_wire,
    });
    let end = Instant::ZERO + scenario.duration;
    let outcome = simulator.run(end, |now| progress(now.as_secs_f64() / end.as_secs_f64()));
    match outcome {
        Ok(()) => {}
        Err(Stop::Interrupted) => return Err(RunError::Interrupted),
        Err(Stop::Control(flow, failure)) => {
            return Err(RunError::Control {
                scenario: scenario.name.clone(),
                flow: scenario.flows[flow.index()].name.clone(),
                failure,
            });
        }
        Err(Stop::Wire(mismatch)) => return Err(mismatch.into()),
    }
    let applications = || simulator.applications().iter();
    let (events, stats, application_ends, journals) = (
        simulator.events(),
        simulator.hosts().iter().map(Host::stats).collect(),
        applications().map(Application::ended).collect(),
        applications().map(Application::journal).collect(),
    );
    let (observer, fingerprint) = simulator.into_observer();
    Ok(Ended {
        events,
        stats,
        application_ends,
        journals,
        fingerprint: fingerprint.value(),
        observer,
    })
}
