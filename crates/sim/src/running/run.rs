//! Running one or many scenarios: build, simulate, report.

use std::collections::BTreeSet;
use std::io::Write;
use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;
use skywave_scenario::{MOST_ROWS, Scenario, ScenarioError};

use crate::error::RunError;
use crate::running::build::Build;
use crate::running::report::{Reporter, Results};
use crate::running::simulate::simulate;
use crate::watching::backend::Registry;
use crate::watching::capture::Captures;
use crate::watching::physics;
use crate::watching::probe::{Probe, ProbeSetup};
use crate::watching::probes::{ProbeSet, STANDARD, link_flows};
#[cfg(feature = "qlog")]
use crate::watching::qlog::Qlogs;
use crate::watching::record::Recorder;
use crate::watching::totals::Totals;
use crate::world::elements::Division;
use crate::world::observe::{Mergeable, Observer};
use crate::world::transport::ClockKind;

/// The most counts of a flow on a link: about a gigabyte.
const MOST_COUNTS: usize = 30_000_000;

/// What to do besides running the scenario.
#[derive(Default)]
pub struct RunOptions {
    /// The links to capture, as `"r1->r2"`, and where to write their pcapng.
    pub captures: Vec<(String, Box<dyn Write + Send>)>,
    /// The flows to log, and where to write their qlog files, whose names end in `.sqlog`: see
    /// [`skywave_qlog`]. They show what the sender of the flow sees. If a flow has one connection
    /// after another, they show all of them.
    #[cfg(feature = "qlog")]
    pub qlogs: Vec<(String, Box<dyn Write + Send>)>,
    /// Whether to keep the record of the run and check it with [`physics::verify`].
    pub verify_physics: bool,
    /// The most threads to use; `None` is one. The results do not depend on it.
    ///
    /// Each thread executes a part of the network. That pays only if much happens in the time that
    /// packets take from one part to another, and if nothing has to see all packets in order: see
    /// [`Results::threads`]. A thread of a rayon pool should not start a run on several threads: while it
    /// waits for them, it may take up another task of its pool.
    pub threads: Option<NonZero<usize>>,
}

/// Runs a scenario to its end. Calls `progress` regularly with the fraction done; if it returns
/// false, the run ends with [`RunError::Interrupted`].
///
/// # Errors
/// [`RunError`]. The scenario is checked first, as by [`check`](crate::check()).
pub fn run(
    scenario: &Scenario,
    registry: &Registry,
    options: RunOptions,
    mut progress: impl FnMut(f64) -> bool,
) -> Result<Results, RunError> {
    run_unobserved(scenario, registry, options, &mut progress)
}

/// Runs a scenario as [`run`] does, compiled once: with a caller's closure, it would be compiled in
/// the caller's crate.
fn run_unobserved(
    scenario: &Scenario,
    registry: &Registry,
    options: RunOptions,
    progress: &mut dyn FnMut(f64) -> bool,
) -> Result<Results, RunError> {
    run_watched(
        scenario,
        registry,
        options,
        (),
        Division::default(),
        progress,
    )
}

/// Runs a scenario like [`run`] while `observer` watches.
///
/// The simulator is compiled for the observer's type, so methods that it does not override cost
/// nothing.
///
/// # Errors
/// As for [`run`].
pub fn run_observed<O: Observer + ?Sized>(
    scenario: &Scenario,
    registry: &Registry,
    options: RunOptions,
    observer: &mut O,
    progress: impl FnMut(f64) -> bool,
) -> Result<Results, RunError> {
    run_watched(
        scenario,
        registry,
        options,
        observer,
        Division::Whole,
        progress,
    )
}

/// Runs a scenario, divided as `observer` allows, while that watches.
fn run_watched<O: Observer + Mergeable>(
    scenario: &Scenario,
    registry: &Registry,
    options: RunOptions,
    observer: O,
    division: Division,
    progress: impl FnMut(f64) -> bool,
) -> Result<Results, RunError> {
    scenario.validate(registry)?;
    let threads = options.threads.map_or(1, NonZero::get);
    let recorder = options.verify_physics.then(Recorder::default);
    let Prepared {
        build,
        reporter,
        probes,
        files,
        ..
    } = Prepared::new(scenario, registry, options, ClockKind::Virtual)?;
    let (links, flows) = (build.network.links.len(), scenario.flows.len());
    let division = if probes.in_order() || scenario.verify_wire {
        Division::Whole
    } else {
        division
    };
    // A run that writes nothing has its own compiled code.
    if recorder.is_none() && files.0.is_none() && files.1.is_none() {
        let observer = Totals::new(links, flows, (probes, observer));
        let ended = simulate(scenario, build, observer, division, threads, progress)?;
        return reporter.report(scenario, ended);
    }
    let mut writers = (recorder, files);
    let observer = Totals::new(links, flows, (probes, (observer, &mut writers)));
    let ended = simulate(
        scenario,
        build,
        observer,
        Division::Whole,
        threads,
        progress,
    )?;
    let mut results = reporter.report(scenario, ended)?;
    let (recorder, files) = writers;
    finish_files(files)?;
    if let Some(recorder) = recorder {
        results.violations = physics::verify(scenario, registry, &recorder.records);
    }
    Ok(results)
}

/// Without the feature `qlog`, no run has logs.
#[cfg(not(feature = "qlog"))]
type Qlogs = ();

/// The files that a run writes.
pub(crate) type Files = (Option<Captures>, Option<Qlogs>);

/// A valid scenario, built, with what watches and reports its run.
pub(crate) struct Prepared {
    pub(crate) build: Build,
    pub(crate) reporter: Reporter,
    pub(crate) setup: Arc<ProbeSetup>,
    /// The probes of every run and those the scenario requests.
    pub(crate) probes: ProbeSet,
    pub(crate) files: Files,
}

impl Prepared {
    /// Builds a valid scenario, and creates what the options ask for, except for
    /// [`RunOptions::verify_physics`].
    pub(crate) fn new(
        scenario: &Scenario,
        registry: &Registry,
        options: RunOptions,
        clock: ClockKind,
    ) -> Result<Self, RunError> {
        let build = Build::new(scenario, registry, clock)?;
        let setup = Arc::new(setup(scenario, &build)?);
        let reporter = Reporter::new(scenario, &build);
        let probes = probes(scenario, registry, &setup)?;
        let captures = Captures::new(options.captures, &build.network, &scenario.flows)?;
        #[cfg(feature = "qlog")]
        let qlogs = Qlogs::new(options.qlogs, &scenario.flows)?;
        #[cfg(not(feature = "qlog"))]
        let qlogs = None;
        Ok(Self {
            build,
            reporter,
            setup,
            probes,
            files: (captures, qlogs),
        })
    }
}

/// Writes what is left to write.
pub(crate) fn finish_files(files: Files) -> Result<(), RunError> {
    if let Some(captures) = files.0 {
        captures.finish()?;
    }
    #[cfg(feature = "qlog")]
    if let Some(qlogs) = files.1 {
        qlogs.finish()?;
    }
    Ok(())
}

/// Returns what probes can know before the run.
///
/// # Errors
/// [`ScenarioError`] if there is not enough memory for what is sampled.
pub(crate) fn setup(scenario: &Scenario, build: &Build) -> Result<ProbeSetup, ScenarioError> {
    let spec = &scenario.probes;
    let links = build.network.names.iter().map(|link| &*link.name);
    let flows = scenario.flows.iter().map(|flow| &*flow.name);
    let setup = ProbeSetup {
        interval: spec.interval,
        sampled_links: sampled(&spec.links, links),
        sampled_flows: sampled(&spec.flows, flows),
        users: build.users(),
        playout: build
            .sources
            .iter()
            .map(|source| source.playout())
            .collect(),
    };
    check_memory(scenario, &setup)?;
    Ok(setup)
}

/// Checks that there is room for what is counted and sampled about flows on links.
fn check_memory(scenario: &Scenario, setup: &ProbeSetup) -> Result<(), ScenarioError> {
    let counts = link_flows::size(setup);
    if counts > MOST_COUNTS {
        let message = format!(
            "the sampled flows have {counts} counts on the sampled links, and a run has at most \
             {MOST_COUNTS}: name fewer links or flows in probes.links or probes.flows"
        );
        return Err(ScenarioError::new("probes", message));
    }
    let links = (0..setup.links() as u32).filter(|&link| setup.samples_link(link));
    let pairs: usize = links.map(|link| setup.sampled_flows_on(link).count()).sum();
    let samples = scenario.duration.as_nanos() / setup.interval().as_nanos();
    if samples.saturating_mul(pairs as u64) > MOST_ROWS {
        let message = format!(
            "{} gives {samples} samples of {pairs} pairs of a flow and a link on its route, and a \
             run has at most {MOST_ROWS} rows: sample less often, or fewer links and flows",
            setup.interval()
        );
        return Err(ScenarioError::new("probes.interval", message));
    }
    Ok(())
}

fn probes(
    scenario: &Scenario,
    registry: &Registry,
    setup: &Arc<ProbeSetup>,
) -> Result<ProbeSet, ScenarioError> {
    let mut probes: Vec<(String, Box<dyn Probe>)> = Vec::new();
    let standard = STANDARD
        .into_iter()
        .filter(|name| registry.probes.contains(name));
    for name in standard.chain(scenario.probes.asked_for()) {
        if probes.iter().all(|(known, _)| known != name) {
            let make = registry
                .probe(name)
                .map_err(|message| ScenarioError::new("probes.tables", message))?;
            probes.push((name.to_owned(), make(setup)));
        }
    }
    Ok(ProbeSet::new(probes, setup))
}

/// Returns which names are in `named`; all if it is empty.
fn sampled<'a>(named: &[String], all: impl Iterator<Item = &'a str>) -> Vec<bool> {
    let named: BTreeSet<_> = named.iter().map(|name| &**name).collect();
    all.map(|name| named.is_empty() || named.contains(name))
        .collect()
}

/// Runs many scenarios on all cores, and returns the results in the order of the scenarios. Calls
/// `finished` after each with the number done, and `go_on` regularly; once that returns false, runs
/// end with [`RunError::Interrupted`].
///
/// # Errors
/// The first [`RunError`], in the order of the scenarios.
pub fn run_many(
    scenarios: &[Scenario],
    registry: &Registry,
    finished: impl Fn(usize) + Sync,
    go_on: impl Fn() -> bool + Sync,
) -> Result<Vec<Results>, RunError> {
    let done = AtomicUsize::new(0);
    let outcomes: Vec<_> = scenarios
        .par_iter()
        .map(|scenario| {
            let results = run(scenario, registry, RunOptions::default(), |_| go_on());
            finished(done.fetch_add(1, Ordering::Relaxed) + 1);
            results
        })
        .collect();
    outcomes.into_iter().collect()
}

#[cfg(test)]
mod tests;
