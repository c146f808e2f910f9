//! Probes: a table of a run, its columns and how they are sampled, in one place.

use std::any::Any;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use skywave_units::{Duration, Instant};

use crate::watching::table::Table;
use crate::world::ids::FlowId;
use crate::world::observe::Observer;
use skywave_traffic::{Journal, Playout};

/// Measures a run and makes a table of the results.
///
/// A probe collects rows while it [observes](Observer) the run, and turns them into a
/// [`Table`](RunEnd::table) at the end, column by column. It is registered under the table's name
/// with [`register_probe`](crate::register_probe), and scenarios request it in `probes.tables`. The
/// tables of every run are made in the same way; see `crates/sim/src/watching/probes`.
///
/// ```
/// use skywave_sim::{FlowId, Observer, Probe, Registry, RunEnd, Sample, Wants, register_probe};
/// use skywave_units::{Duration, Instant};
///
/// /// The smoothed round-trip time of each sender.
/// #[derive(Default)]
/// struct RoundTrips(Vec<(Instant, FlowId, Option<Duration>)>);
///
/// impl Observer for RoundTrips {
///     fn sample(&mut self, now: Instant, sample: Sample<'_>) {
///         for host in sample.hosts().filter(|host| host.id().is_sender()) {
///             self.0.push((now, host.id().flow(), host.stats().srtt));
///         }
///     }
/// }
///
/// impl Probe for RoundTrips {
///     fn wants(&self) -> Wants {
///         Wants { samples: true, ..Wants::NOTHING }
///     }
///
///     fn finish(
///         self: Box<Self>,
///         end: &RunEnd<'_>,
///     ) -> Result<arrow_array::RecordBatch, arrow_schema::ArrowError> {
///         end.table(&self.0)
///             .column("time_s", "When the sample was taken.", |row| row.0)
///             .flow("flow", "The flow.", |row| row.1)
///             .column("srtt_s", "The smoothed round-trip time of its sender.", |row| row.2)
///             .finish()
///     }
/// }
///
/// let mut registry = Registry::default();
/// register_probe(&mut registry.probes, "round_trips", "Round-trip times.", |_setup| RoundTrips::default());
/// ```
pub trait Probe: Observer + Any + Send {
    /// Returns which notifications the probe wants; by default, all of them. Called once, before
    /// the run.
    ///
    /// Unwanted notifications cost nothing: a probe that does not want packets does not slow down
    /// their processing.
    fn wants(&self) -> Wants {
        Wants {
            packets: true,
            settled: true,
            samples: true,
        }
    }

    /// Returns whether a table without rows is omitted from the results.
    fn is_optional(&self) -> bool {
        false
    }

    /// Returns the table after the run. The columns must be the same for every run.
    ///
    /// # Errors
    /// [`ArrowError`] if the columns do not form a table.
    fn finish(self: Box<Self>, end: &RunEnd<'_>) -> Result<RecordBatch, ArrowError>;
}

/// A probe whose table can be taken in pieces during a run.
pub(crate) trait Piecewise: Probe {
    /// Returns the rows since the last call as a table, and forgets them.
    fn take(&mut self, end: &RunEnd<'_>) -> Result<RecordBatch, ArrowError>;
}

/// Which methods of [`Observer`] are called on a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wants {
    /// [`Observer::packet`].
    pub packets: bool,
    /// [`Observer::settled`].
    pub settled: bool,
    /// [`Observer::sample`].
    pub samples: bool,
}

impl Default for Wants {
    fn default() -> Self {
        Self::NOTHING
    }
}

impl Wants {
    /// None of them.
    pub const NOTHING: Self = Self {
        packets: false,
        settled: false,
        samples: false,
    };
}

/// Creates a probe for a run.
pub(crate) type ProbeFactory = dyn Fn(&Arc<ProbeSetup>) -> Box<dyn Probe> + Send + Sync;

/// What a probe can know about a run before it starts.
#[derive(Clone, Debug)]
pub struct ProbeSetup {
    pub(crate) interval: Duration,
    /// Whether each directed link, and each flow, is sampled.
    pub(crate) sampled_links: Vec<bool>,
    pub(crate) sampled_flows: Vec<bool>,
    /// The flows whose packets use each link in either direction, in order.
    pub(crate) users: Vec<Vec<FlowId>>,
    /// The playout of each flow that is a voice call.
    pub(crate) playout: Vec<Option<Playout>>,
}

impl ProbeSetup {
    /// Creates the setup of a run without links and flows, used to obtain a probe's columns.
    pub(crate) fn of_no_run() -> Self {
        Self {
            interval: Duration::from_secs(1),
            sampled_links: Vec::new(),
            sampled_flows: Vec::new(),
            users: Vec::new(),
            playout: Vec::new(),
        }
    }

    /// Returns the setup of the same run without samples.
    pub(crate) fn of_nothing(&self) -> Self {
        Self {
            sampled_links: vec![false; self.links()],
            sampled_flows: vec![false; self.flows()],
            interval: self.interval,
            users: vec![Vec::new(); self.links()],
            playout: vec![None; self.flows()],
        }
    }

    /// Returns the interval between samples.
    pub const fn interval(&self) -> Duration {
        self.interval
    }

    /// Returns the length of the interval that ends at a sample: less than
    /// [`interval`](Self::interval) if the run ended before that interval was over.
    pub const fn length(&self, sample: Instant) -> Duration {
        match sample.as_nanos() % self.interval.as_nanos() {
            0 => self.interval,
            rest => Duration::from_nanos(rest),
        }
    }

    /// Returns the number of directed links.
    pub const fn links(&self) -> usize {
        self.sampled_links.len()
    }

    /// Returns the number of flows.
    pub const fn flows(&self) -> usize {
        self.sampled_flows.len()
    }

    /// Returns whether the scenario samples this link.
    pub fn samples_link(&self, link: u32) -> bool {
        self.sampled_links[link as usize]
    }

    /// Returns whether the scenario samples this flow.
    pub fn samples_flow(&self, flow: FlowId) -> bool {
        self.sampled_flows[flow.index()]
    }

    /// Returns the sampled flows, in order.
    pub fn sampled_flows(&self) -> impl Iterator<Item = FlowId> {
        let flows = (0..).map(FlowId::new).zip(&self.sampled_flows);
        flows.filter_map(|(flow, &sampled)| sampled.then_some(flow))
    }

    /// Returns whether packets of this flow use this link in either direction.
    pub fn uses(&self, flow: FlowId, link: u32) -> bool {
        self.users[link as usize].binary_search(&flow).is_ok()
    }

    /// Returns the sampled flows whose packets use this link in either direction, in order.
    pub fn sampled_flows_on(&self, link: u32) -> impl Iterator<Item = FlowId> {
        let users = self.users[link as usize].iter().copied();
        users.filter(|&flow| self.samples_flow(flow))
    }

    /// Returns the playout of this flow, if it is a voice call.
    pub fn playout(&self, flow: FlowId) -> Option<Playout> {
        self.playout[flow.index()]
    }
}

/// What a probe learns at the end of a run.
#[derive(Clone, Copy, Debug)]
pub struct RunEnd<'a> {
    pub(crate) time: Instant,
    pub(crate) links: &'a [String],
    pub(crate) flows: &'a [String],
    pub(crate) journals: &'a [Journal],
}

impl<'a> RunEnd<'a> {
    /// Returns when the run ended.
    pub const fn time(&self) -> Instant {
        self.time
    }

    /// Returns the names of directed links (`"r1->r2"`), by index.
    pub const fn links(&self) -> &'a [String] {
        self.links
    }

    /// Returns the names of flows, by index.
    pub const fn flows(&self) -> &'a [String] {
        self.flows
    }

    /// Returns what each flow's application has done.
    pub fn journals(&self) -> impl Iterator<Item = (FlowId, &'a Journal)> {
        (0..).map(FlowId::new).zip(self.journals)
    }

    /// Starts a table of these rows.
    pub const fn table<'t, R>(&self, rows: &'t [R]) -> Table<'t, R>
    where
        'a: 't,
    {
        Table::new(rows, self.links, self.flows)
    }
}
