//! Simulates a built scenario, and collects the final state.

use skywave_units::Instant;

use crate::error::RunError;
use crate::running::build::Build;
use crate::watching::record::Fingerprint;
use crate::world::application::Application;
use crate::world::elements::Division;
use crate::world::engine::{Attached, Parts, Simulator, Threads, World};
use crate::world::observe::{Chronicle, Observer};
use crate::world::packet::SimLink;
use skywave_scenario::Scenario;
use skywave_traffic::Journal;
use skywave_transport::EndStats;

/// The final state of a simulation.
pub(crate) struct Ended<O> {
    pub(crate) events: u64,
    /// The counters of every host, in the order of their numbers.
    pub(crate) stats: Vec<EndStats>,
    /// When the application of every flow ended; `None` if it did not.
    pub(crate) application_ends: Vec<Option<Instant>>,
    /// The journal of every flow.
    pub(crate) journals: Vec<Journal>,
    pub(crate) fingerprint: u64,
    /// Each link's mean rate over the time of the run, in bits per second.
    pub(crate) rates: Vec<u64>,
    pub(crate) threads: Threads,
    pub(crate) observer: O,
}

/// Simulates until the scenario's end while `observer` watches.
pub(crate) fn simulate<O: Observer + Chronicle>(
    scenario: &Scenario,
    build: Build,
    observer: O,
    division: Division,
    threads: usize,
    mut progress: impl FnMut(f64) -> bool,
) -> Result<Ended<O>, RunError> {
    let mut simulator = simulator(scenario, build, observer, division, threads);
    let end = Instant::ZERO + scenario.duration;
    simulator
        .run(end, |now| progress(now.as_secs_f64() / end.as_secs_f64()))
        .map_err(|stop| stop.of_run(scenario))?;
    Ok(Ended::of(simulator, end))
}

/// Returns a simulation of a built scenario at time zero. `division` must give the observer the
/// order that it needs.
pub(crate) fn simulator<O: Observer + Chronicle>(
    scenario: &Scenario,
    build: Build,
    observer: O,
    division: Division,
    threads: usize,
) -> Simulator<(O, Fingerprint)> {
    Simulator::new(Parts {
        network: build.network,
        hosts: build.hosts,
        applications: build.applications,
        ports: build.ports,
        transports: build.transports,
        sharing: build.sharing,
        observer: (observer, Fingerprint::default()),
        sample_interval: Some(scenario.probes.interval),
        division,
        threads,
        verify_wire: scenario.verify_wire,
        world: Attached,
    })
}

impl<O: Observer + Chronicle> Ended<O> {
    /// Returns the state of a simulation that has run until `end`, after its last sample.
    pub(crate) fn of<W: World>(
        mut simulator: Simulator<(O, Fingerprint), W>,
        end: Instant,
    ) -> Self {
        simulator.sample_rest(end);
        let rate = |link: &SimLink| link.mean_rate(end).as_bps();
        let rates = simulator.links().map(rate).collect();
        let threads = simulator.threads();
        let applications = || simulator.applications();
        let (events, stats, application_ends, journals) = (
            simulator.events(),
            simulator
                .hosts()
                .map(|host| host.status().end_stats())
                .collect(),
            applications().map(Application::ended).collect(),
            applications().map(Application::journal).collect(),
        );
        let (observer, fingerprint) = simulator.into_observer();
        Self {
            events,
            stats,
            application_ends,
            journals,
            fingerprint: fingerprint.value(),
            rates,
            threads,
            observer,
        }
    }
}
