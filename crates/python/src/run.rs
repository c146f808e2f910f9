//! Checking and running scenarios.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, mpsc};
use std::thread;
use std::time::Duration;

use arrow_pyarrow::ToPyArrow;
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::{ThreadPool, ThreadPoolBuilder};
use skywave_sim::{Registry, Results, RunError, RunOptions, Scenario};

use crate::ScenarioError;
use crate::control::{Live, look_in_python, raised_by};

/// The results of a run.
#[pyclass(frozen, module = "skywave._core")]
pub(crate) struct Run(Results);

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
    fn tables<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let tables = PyDict::new(py);
        for (name, batch) in &self.0.tables {
            tables.set_item(name, batch.to_pyarrow(py)?)?;
        }
        Ok(tables)
    }

    /// A hash over everything that happened, as 16 hexadecimal digits.
    #[getter]
    fn fingerprint(&self) -> String {
        format!("{:016x}", self.0.fingerprint)
    }

    /// The violations found by the physics verifier.
    #[getter]
    fn violations(&self) -> Vec<String> {
        self.0.violations.clone()
    }
}

/// The registry of everything built in, and of controls in Python: the classes in `controls`, and
/// others by importing them.
fn registry(controls: Live<'_>) -> Registry {
    let mut registry = Registry::default();
    look_in_python(&mut registry.controls, controls);
    registry
}

/// Reads a scenario ("toml" or "json"), and files that it names from `directory`.
fn read(
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
#[pyo3(signature = (text, format, directory=None, *, controls=None))]
pub(crate) fn check_scenario(
    text: &str,
    format: &str,
    directory: Option<PathBuf>,
    controls: Live<'_>,
) -> PyResult<String> {
    let registry = registry(controls);
    let scenario = read(text, format, directory, &registry)?;
    skywave_sim::check(&scenario, &registry).map_err(scenario_error)?;
    Ok(scenario.to_json())
}

/// Reads and checks a scenario, and returns what is known of it before it runs, as a JSON object: the
/// scenario with every default, the routes of its flows, and warnings.
#[pyfunction]
#[pyo3(signature = (text, format, directory=None, *, controls=None))]
pub(crate) fn inspect_scenario(
    text: &str,
    format: &str,
    directory: Option<PathBuf>,
    controls: Live<'_>,
) -> PyResult<String> {
    let registry = registry(controls);
    let scenario = read(text, format, directory, &registry)?;
    let checked = skywave_sim::check(&scenario, &registry).map_err(scenario_error)?;
    serde_json::to_string(&checked).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

/// The tables that a scenario may ask for, with their columns, as a JSON array.
#[pyfunction]
pub(crate) fn table_schemas() -> PyResult<String> {
    serde_json::to_string(&skywave_sim::tables(&Registry::default()))
        .map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

/// The JSON Schema of scenarios, as a JSON object.
#[pyfunction]
pub(crate) fn scenario_schema() -> String {
    Registry::default().schema().to_string()
}

/// The JSON Schema of the configuration of a socket's connections, as a JSON object.
#[pyfunction]
pub(crate) fn socket_schema() -> String {
    Registry::default().socket_schema().to_string()
}

/// Runs a scenario (JSON).
#[pyfunction]
#[pyo3(signature = (scenario, *, progress=None, captures=None, qlogs=None, verify_physics=false, controls=None))]
pub(crate) fn run(
    py: Python<'_>,
    scenario: &str,
    progress: Option<Py<PyAny>>,
    captures: Option<BTreeMap<String, PathBuf>>,
    qlogs: Option<BTreeMap<String, PathBuf>>,
    verify_physics: bool,
    controls: Live<'_>,
) -> PyResult<Run> {
    let registry = registry(controls);
    let scenario = Scenario::from_json(scenario, &registry).map_err(scenario_error)?;
    let options = RunOptions {
        captures: created(captures)?,
        qlogs: created(qlogs)?,
        verify_physics,
    };
    let watch = Watch::new(progress);
    let outcome = py.detach(|| {
        skywave_sim::run(&scenario, &registry, options, |fraction| {
            watch.report((fraction,))
        })
    });
    watch.finish(outcome).map(Run)
}

/// Creates the file of each name.
fn created(
    files: Option<BTreeMap<String, PathBuf>>,
) -> PyResult<Vec<(String, Box<dyn Write + Send>)>> {
    let create = |(name, path): (String, PathBuf)| {
        let file = File::create(&path).map_err(|error| {
            PyOSError::new_err(format!("cannot write {}: {error}", path.display()))
        })?;
        let file: Box<dyn Write + Send> = Box::new(BufWriter::new(file));
        Ok((name, file))
    };
    files.unwrap_or_default().into_iter().map(create).collect()
}

/// Runs scenarios (JSON) on all cores.
#[pyfunction]
#[pyo3(signature = (scenarios, *, progress=None, controls=None))]
pub(crate) fn run_many(
    py: Python<'_>,
    scenarios: Vec<String>,
    progress: Option<Py<PyAny>>,
    controls: Live<'_>,
) -> PyResult<Vec<Run>> {
    let registry = registry(controls);
    let scenarios = scenarios
        .iter()
        .enumerate()
        .map(|(index, text)| {
            Scenario::from_json(text, &registry)
                .map_err(|error| ScenarioError::new_err(format!("scenarios[{index}]: {error}")))
        })
        .collect::<PyResult<Vec<_>>>()?;
    let watch = Watch::new(progress);
    let total = scenarios.len();
    // Not the global pool: a fork inherits that without its threads, and waits for them for ever.
    let pool = ThreadPoolBuilder::new().build();
    let pool = pool.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    let outcome = py.detach(|| {
        run_watched(&pool, &scenarios, &registry, |done| match done {
            Some(done) => watch.report((done, total)),
            None => watch.look(),
        })
    });
    watch
        .finish(outcome)
        .map(|results| results.into_iter().map(Run).collect())
}

/// How often the thread that waits for a batch looks for signals.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(50);

/// Runs a batch on other threads, so that this thread, the only one in which Python handles
/// signals, can check for them and report progress. `report` is called with each run that is done,
/// and with `None` in between.
fn run_watched(
    pool: &ThreadPool,
    scenarios: &[Scenario],
    registry: &Registry,
    report: impl Fn(Option<usize>) -> bool,
) -> Result<Vec<Results>, RunError> {
    let interrupted = AtomicBool::new(false);
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        let batch = scope.spawn(|| {
            // The receiver lives as long as this thread does.
            let finished = |_done| {
                let _delivered = sender.send(()).is_ok();
            };
            let go_on = || !interrupted.load(Ordering::Relaxed);
            let results =
                pool.install(|| skywave_sim::run_many(scenarios, registry, finished, go_on));
            drop(sender);
            results
        });
        let mut done = 0;
        loop {
            let go_on = match receiver.recv_timeout(SIGNAL_INTERVAL) {
                Ok(()) => {
                    done += 1;
                    report(Some(done))
                }
                Err(mpsc::RecvTimeoutError::Timeout) => report(None),
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
            };
            if !go_on {
                interrupted.store(true, Ordering::Relaxed);
            }
        }
        batch.join().unwrap_or_else(|panic| resume_unwind(panic))
    })
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
        self.keep(|py| {
            py.check_signals()?;
            match &self.progress {
                Some(progress) => progress.call1(py, arguments).map(drop),
                None => Ok(()),
            }
        })
    }

    /// Looks for signals; answers whether to go on.
    fn look(&self) -> bool {
        self.keep(|py| py.check_signals())
    }

    fn keep(&self, ask: impl FnOnce(Python<'_>) -> PyResult<()>) -> bool {
        let Err(error) = Python::attach(ask) else {
            return true;
        };
        if let Ok(mut raised) = self.raised.lock() {
            raised.get_or_insert(error);
        }
        false
    }

    /// What Python raised comes before what the run says.
    pub(crate) fn finish<T>(self, outcome: Result<T, RunError>) -> PyResult<T> {
        if let Ok(Some(raised)) = self.raised.into_inner() {
            return Err(raised);
        }
        outcome.map_err(|error| match error {
            RunError::Scenario(error) => scenario_error(error),
            RunError::Control {
                scenario,
                flow,
                failure,
            } => {
                let place = format!("in flow {flow:?} of scenario {scenario:?}");
                raised_by(&failure, Some(place))
            }
            RunError::Interrupted => PyKeyboardInterrupt::new_err(()),
            RunError::UnknownLink { .. } => ScenarioError::new_err(error.to_string()),
            RunError::Capture { .. } => PyOSError::new_err(error.to_string()),
            _ => PyRuntimeError::new_err(error.to_string()),
        })
    }
}

pub(crate) fn scenario_error(error: skywave_sim::ScenarioError) -> PyErr {
    ScenarioError::new_err(error.to_string())
}
