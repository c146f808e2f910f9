//! Checking and running scenarios.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use arrow_pyarrow::ToPyArrow;
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use skywave_path::KernelQueueError;
use skywave_sim::arrow_array::RecordBatch;
use skywave_sim::arrow_schema::{ArrowError, Schema};
use skywave_sim::{
    Observer, Probe, Registry, Results, RunEnd, RunError, RunOptions, Samples, Scenario, Wants,
    register_probe,
};

use crate::ScenarioError;
use crate::member::{Live, raised_by};
use crate::members::look_in_python;
use crate::own;
use crate::table::Table;

/// The results of a run.
#[pyclass(frozen, module = "skywave._core")]
pub(crate) struct Run(pub(crate) Results);

#[pymethods]
impl Run {
    /// Totals, as a JSON object.
    #[getter]
    fn summary(&self) -> PyResult<String> {
        serde_json::to_string(&self.0.summary)
            .map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }

    /// Tables by name, as `pyarrow.RecordBatch`.
    #[getter]
    fn tables(&self) -> Tables {
        Tables(self.0.tables.clone())
    }

    /// One of these tables; `None` if the run has no such table.
    fn table(&self, name: &str) -> Option<Table> {
        let mut tables = self.0.tables.iter();
        let (_, table) = tables.find(|(table, _)| table == name)?;
        Some(Table(table.clone()))
    }

    /// A hash over everything that happened, as 16 hexadecimal digits.
    #[getter]
    fn fingerprint(&self) -> String {
        format!("{:016x}", self.0.fingerprint)
    }

    /// How the run used threads, as a JSON object.
    #[getter]
    fn threads(&self) -> PyResult<String> {
        serde_json::to_string(&self.0.threads)
            .map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }

    /// The violations found by the physics verifier.
    #[getter]
    fn violations(&self) -> Vec<String> {
        self.0.violations.clone()
    }
}

/// Tables by name, which Python has as a dictionary of `pyarrow.RecordBatch`.
pub(crate) struct Tables(pub(crate) Samples);

impl<'py> IntoPyObject<'py> for Tables {
    type Target = PyDict;
    type Output = Bound<'py, PyDict>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Self::Output> {
        let tables = PyDict::new(py);
        for (name, batch) in &self.0 {
            tables.set_item(name, batch.to_pyarrow(py)?)?;
        }
        Ok(tables)
    }
}

/// What results depend on besides scenario and controls: the version and a hash of the sources.
pub(crate) const ENGINE: &str = concat!(env!("CARGO_PKG_VERSION"), "+", env!("SOURCES_HASH"));

/// Stops runs in other threads.
#[pyclass(frozen, module = "skywave._core")]
#[derive(Default)]
pub(crate) struct Stop(AtomicBool);

impl Stop {
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

#[pymethods]
impl Stop {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The registry of everything built in, and of members in Python: the classes in `members`, and
/// others by importing them. Given `tables`, the probes of other tables measure nothing.
pub(crate) fn registry(members: Live<'_>, tables: Option<&Vec<String>>) -> Arc<Registry> {
    // A short run takes no longer than making one.
    static MADE: Mutex<BTreeMap<Option<Vec<String>>, Arc<Registry>>> = Mutex::new(BTreeMap::new());
    let members = members.filter(|members| !members.is_empty());
    let make = |members| {
        let mut registry = own::registry();
        look_in_python(&mut registry, members);
        if let Some(tables) = tables {
            let probes: Vec<_> = registry.probes.names().map(str::to_owned).collect();
            for name in probes.iter().filter(|name| !tables.contains(name)) {
                register_probe(&mut registry.probes, name, "", |_| Nothing);
            }
        }
        Arc::new(registry)
    };
    if members.is_some() {
        return make(members);
    }
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let found = made.entry(tables.cloned()).or_insert_with(|| make(None));
    Arc::clone(found)
}

/// A probe of a table that nobody reads.
struct Nothing;

impl Observer for Nothing {}

impl Probe for Nothing {
    fn wants(&self) -> Wants {
        Wants::default()
    }

    fn is_optional(&self) -> bool {
        true
    }

    fn finish(self: Box<Self>, _: &RunEnd<'_>) -> Result<RecordBatch, ArrowError> {
        Ok(RecordBatch::new_empty(Arc::new(Schema::empty())))
    }
}

/// Reads a scenario ("toml" or "json"), and files that it names from `directory`.
pub(crate) fn read(
    text: &str,
    format: &str,
    directory: Option<PathBuf>,
    registry: &Registry,
) -> PyResult<Scenario> {
    let scenario = match (format, directory) {
        ("toml", None) => Scenario::from_toml(text, registry),
        ("toml", Some(directory)) => Scenario::from_toml_beside(text, registry, &directory),
        ("json", None) => Scenario::from_json(text, registry),
        ("json", Some(directory)) => Scenario::from_json_beside(text, registry, &directory),
        _ => {
            let message = format!("format: \"{format}\" is not a format: use \"toml\" or \"json\"");
            return Err(PyValueError::new_err(message));
        }
    };
    scenario.map_err(scenario_error)
}

/// Reads and checks a scenario, and returns it as JSON.
#[pyfunction]
#[pyo3(signature = (text, format, directory=None, *, members=None))]
pub(crate) fn check_scenario(
    text: &str,
    format: &str,
    directory: Option<PathBuf>,
    members: Live<'_>,
) -> PyResult<String> {
    let registry = registry(members, None);
    let scenario = read(text, format, directory, &registry)?;
    skywave_sim::check(&scenario, &registry).map_err(scenario_error)?;
    Ok(scenario.to_json())
}

/// Reads and checks a scenario, and returns what is known of it before it runs, as a JSON object: the
/// scenario with every default, the routes of its flows, and warnings. Without `imports`, no member
/// in Python is known.
#[pyfunction]
#[pyo3(signature = (text, format, directory=None, *, members=None, imports=true))]
pub(crate) fn inspect_scenario(
    text: &str,
    format: &str,
    directory: Option<PathBuf>,
    members: Live<'_>,
    imports: bool,
) -> PyResult<String> {
    let registry = if imports {
        registry(members, None)
    } else {
        Arc::new(own::registry())
    };
    let scenario = read(text, format, directory, &registry)?;
    let checked = skywave_sim::check(&scenario, &registry).map_err(scenario_error)?;
    serde_json::to_string(&checked).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

/// The tables that a scenario may ask for, with their columns, as a JSON array.
#[pyfunction]
pub(crate) fn table_schemas() -> PyResult<String> {
    serde_json::to_string(&skywave_sim::tables(&own::registry()))
        .map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

/// The JSON Schema of scenarios, as a JSON object.
#[pyfunction]
pub(crate) fn scenario_schema() -> String {
    own::registry().schema().to_string()
}

/// The JSON Schema of the configuration of a socket's connections, as a JSON object.
#[pyfunction]
pub(crate) fn socket_schema() -> String {
    own::registry().socket_schema().to_string()
}

/// Runs a scenario (JSON). Given a `stop`, it looks at that instead of signals, without taking the
/// interpreter from other threads. Given `tables`, the results have only those of them that the run
/// has.
#[pyfunction]
#[pyo3(signature = (scenario, *, progress=None, captures=None, qlogs=None, verify_physics=false, threads=1, members=None, stop=None, tables=None))]
#[expect(clippy::too_many_arguments, reason = "Python gives them by name")]
pub(crate) fn run(
    py: Python<'_>,
    scenario: &str,
    progress: Option<Py<PyAny>>,
    captures: Option<BTreeMap<String, PathBuf>>,
    qlogs: Option<BTreeMap<String, PathBuf>>,
    verify_physics: bool,
    threads: usize,
    members: Live<'_>,
    stop: Option<Py<Stop>>,
    tables: Option<Vec<String>>,
) -> PyResult<Run> {
    let registry = registry(members, tables.as_ref());
    let watch = Watch::new(progress);
    let outcome = py.detach(|| -> PyResult<_> {
        let scenario = Scenario::from_json(scenario, &registry).map_err(scenario_error)?;
        let options = RunOptions {
            captures: all_created(captures)?,
            qlogs: all_created(qlogs)?,
            verify_physics,
            threads: NonZero::new(threads),
        };
        let go_on = |fraction| match &stop {
            Some(stop) => !stop.get().is_set(),
            None => watch.report((fraction,)),
        };
        Ok(skywave_sim::run(&scenario, &registry, options, go_on))
    })?;
    watch.finish(outcome).map(Run)
}

/// Creates the file of each name.
pub(crate) fn all_created(
    files: Option<BTreeMap<String, PathBuf>>,
) -> PyResult<Vec<(String, Box<dyn Write + Send>)>> {
    let files = files.unwrap_or_default().into_iter();
    files
        .map(|(name, path)| Ok((name, created(path)?)))
        .collect()
}

/// Creates a file.
pub(crate) fn created(path: PathBuf) -> PyResult<Box<dyn Write + Send>> {
    let file = File::create(&path)
        .map_err(|error| PyOSError::new_err(format!("cannot write {}: {error}", path.display())))?;
    Ok(Box::new(BufWriter::new(file)))
}

/// Reports progress to Python and keeps what Python raises: an exception, a signal.
pub(crate) struct Watch {
    progress: Option<Py<PyAny>>,
    raised: Mutex<Option<PyErr>>,
}

impl Watch {
    pub(crate) const fn new(progress: Option<Py<PyAny>>) -> Self {
        Self {
            progress,
            raised: Mutex::new(None),
        }
    }

    /// Calls the callback and looks for signals; answers whether to go on.
    pub(crate) fn report<A>(&self, arguments: A) -> bool
    where
        A: for<'py> pyo3::call::PyCallArgs<'py>,
    {
        let asked = Python::attach(|py| {
            py.check_signals()?;
            match &self.progress {
                Some(progress) => progress.call1(py, arguments).map(drop),
                None => Ok(()),
            }
        });
        let Err(error) = asked else { return true };
        if let Ok(mut raised) = self.raised.lock() {
            raised.get_or_insert(error);
        }
        false
    }

    /// Returns what a run gives that ends early by `KeyboardInterrupt`. What else Python raised comes
    /// before it.
    #[cfg(all(feature = "emulate", target_os = "linux"))]
    pub(crate) fn finish_early<T>(self, outcome: T) -> PyResult<T> {
        match self.raised.into_inner() {
            Ok(Some(raised))
                if !Python::attach(|py| raised.is_instance_of::<PyKeyboardInterrupt>(py)) =>
            {
                Err(raised)
            }
            _ => Ok(outcome),
        }
    }

    /// Returns the outcome, except that what Python raised comes before what the run says.
    pub(crate) fn finish<T>(self, outcome: Result<T, RunError>) -> PyResult<T> {
        if let Ok(Some(raised)) = self.raised.into_inner() {
            return Err(raised);
        }
        outcome.map_err(|error| match error {
            RunError::Scenario(error) => scenario_error(error),
            RunError::Member { ref failure, .. }
                if let Some(reason) = failure.downcast_ref::<KernelQueueError>() =>
            {
                match reason {
                    KernelQueueError::System(_) => PyOSError::new_err(error.to_string()),
                    _ => ScenarioError::new_err(error.to_string()),
                }
            }
            RunError::Member {
                scenario,
                place,
                failure,
                ..
            } => raised_by(
                &failure,
                Some(format!("in {place} of scenario {scenario:?}")),
            ),
            RunError::Interrupted => PyKeyboardInterrupt::new_err(()),
            RunError::UnknownLink { .. } | RunError::UnknownFlow { .. } => {
                ScenarioError::new_err(error.to_string())
            }
            RunError::Capture { .. } | RunError::Qlog { .. } => {
                PyOSError::new_err(error.to_string())
            }
            _ => PyRuntimeError::new_err(error.to_string()),
        })
    }
}

pub(crate) fn scenario_error(error: skywave_sim::ScenarioError) -> PyErr {
    ScenarioError::new_err(error.to_string())
}
