//! A simulation in steps, whose samples can be read between steps.

use skywave_scenario::Scenario;
use skywave_units::{Duration, Instant};

use crate::error::RunError;
use crate::running::report::{Reporter, Results};
use crate::running::run::{Files, Prepared, RunOptions, finish_files};
use crate::running::samples::{Pieces, Samples};
use crate::running::simulate::{Ended, simulator};
use crate::watching::backend::Registry;
use crate::watching::probes::ProbeSet;
use crate::watching::record::Fingerprint;
use crate::watching::totals::Totals;
use crate::world::elements::Division;
use crate::world::engine::{Simulator, Stop};
use crate::world::transport::ClockKind;

/// A simulation that is run in steps.
///
/// [`advance`](Self::advance) runs it up to a time, [`samples`](Self::samples) returns what has been
/// sampled since, and [`finish`](Self::finish) ends it. The steps change nothing: the results of a
/// run to its end are those of [`run`](crate::run).
///
/// ```
/// use skywave_sim::{Registry, RunOptions, Scenario, SteppedRun};
/// use skywave_units::{Duration, Instant};
///
/// let registry = Registry::default();
/// let scenario = Scenario::from_toml(
///     r#"
///     name = "one file"
///     duration = "5 s"
///     dumbbell = { pairs = 1, rate = "2 Mbps", delay = "50 ms", access_rate = "10 Mbps", access_delays = ["1 ms"] }
///     flows = [{ name = "file", from = "s1", to = "d1", transport = { tcp = {} }, source = { ftp = {} } }]
///     "#,
///     &registry,
/// )?;
/// let mut run = SteppedRun::new(&scenario, &registry, RunOptions::default())?;
/// run.advance(Instant::ZERO + Duration::from_secs(2), |_| true)?;
/// let (name, flows) = &run.samples()?[0];
/// assert_eq!((name.as_str(), flows.num_rows()), ("flows", 2));
/// assert_eq!(run.finish()?.summary.duration_s, 2.0);
/// # Ok::<(), skywave_sim::RunError>(())
/// ```
pub struct SteppedRun {
    scenario: Scenario,
    reporter: Reporter,
    simulator: Simulator<Watching>,
    now: Instant,
}

type Watching = (Totals<(ProbeSet, (Pieces, Files))>, Fingerprint);

impl SteppedRun {
    /// Prepares a run, at time zero. [`RunOptions::verify_physics`] is ignored: the record of all
    /// packets would grow for as long as somebody watches.
    ///
    /// # Errors
    /// [`RunError`], as from [`run`](crate::run) before it begins.
    pub fn new(
        scenario: &Scenario,
        registry: &Registry,
        options: RunOptions,
    ) -> Result<Self, RunError> {
        scenario.validate(registry)?;
        let Prepared {
            build,
            reporter,
            setup,
            probes,
            files,
        } = Prepared::new(scenario, registry, options, ClockKind::Virtual)?;
        let watching = (probes, (Pieces::new(&setup, scenario), files));
        let totals = Totals::new(build.network.links.len(), scenario.flows.len(), watching);
        Ok(Self {
            scenario: scenario.clone(),
            reporter,
            simulator: simulator(scenario, build, totals, Division::Whole, 1),
            now: Instant::ZERO,
        })
    }

    /// Returns the time up to which the run has advanced.
    pub const fn now(&self) -> Instant {
        self.now
    }

    /// Returns when the scenario ends.
    pub fn end(&self) -> Instant {
        Instant::ZERO + self.scenario.duration
    }

    /// Runs up to `to`, including what happens at that time, or to the end of the scenario if that
    /// comes first. Calls `go_on` regularly with the time reached; if it returns false, the run
    /// stops there and may continue later. A time in the past does nothing.
    ///
    /// # Errors
    /// [`RunError`] if the control of a flow fails, or a packet differs (`verify_wire`).
    pub fn advance(
        &mut self,
        to: Instant,
        mut go_on: impl FnMut(Instant) -> bool,
    ) -> Result<(), RunError> {
        let to = to.min(self.end());
        if to <= self.now {
            return Ok(());
        }
        match self.simulator.run(to, &mut go_on) {
            Ok(()) => {
                self.now = to;
                if to == self.end() {
                    self.simulator.sample_rest(to);
                }
            }
            Err(Stop::Interrupted) => self.now = self.simulator.now(),
            Err(stop) => return Err(stop.of_run(&self.scenario)),
        }
        Ok(())
    }

    /// Returns what has been sampled since the last call.
    ///
    /// # Errors
    /// [`RunError::Table`] if the columns do not form a table.
    pub fn samples(&mut self) -> Result<Samples, RunError> {
        let (totals, _) = self.simulator.observer();
        let (_, (pieces, _)) = &mut totals.observer;
        pieces.take(&self.reporter, self.now)
    }

    /// Ends the run where it is, and samples the time since the last sample. The run advances no
    /// further.
    pub fn stop(&mut self) {
        self.now = self.now.max(Instant::ZERO + Duration::from_nanos(1));
        self.scenario.duration = self.now - Instant::ZERO;
        self.simulator.sample_rest(self.now);
    }

    /// Ends the run and returns the results of the time up to which it has advanced.
    ///
    /// # Errors
    /// [`RunError`] if something could not be written, or if a table could not be created.
    pub fn finish(mut self) -> Result<Results, RunError> {
        self.stop();
        let mut ended = Ended::of(self.simulator, self.now);
        let (_, (_, files)) = &mut ended.observer.observer;
        finish_files(std::mem::take(files))?;
        self.reporter.report(&self.scenario, ended)
    }
}
