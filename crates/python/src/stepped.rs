//! Runs in steps, and the places of fields in a text.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use skywave_scenario::place_of;
use skywave_sim::RunOptions;
use skywave_units::{Duration, Instant};

use crate::own;
use crate::run::{Run, Stop, Tables, Watch, all_created, read};

/// A run in steps. Members in Python are not known to it.
#[pyclass(frozen, module = "skywave._core")]
struct SteppedRun(Mutex<Option<skywave_sim::SteppedRun>>);

impl SteppedRun {
    fn lock(&self) -> PyResult<MutexGuard<'_, Option<skywave_sim::SteppedRun>>> {
        self.0
            .lock()
            .map_err(|_| PyRuntimeError::new_err("the run has failed before"))
    }

    /// Does something with the run, while other threads of Python go on.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        act: impl FnOnce(&mut skywave_sim::SteppedRun) -> PyResult<T> + Send,
    ) -> PyResult<T> {
        py.detach(|| act(self.lock()?.as_mut().ok_or_else(over)?))
    }
}

#[pymethods]
impl SteppedRun {
    #[new]
    #[pyo3(signature = (text, format="toml", *, captures=None))]
    fn new(
        text: &str,
        format: &str,
        captures: Option<BTreeMap<String, PathBuf>>,
    ) -> PyResult<Self> {
        let registry = own::registry();
        let scenario = read(text, format, None, &registry)?;
        let options = RunOptions {
            captures: all_created(captures)?,
            ..RunOptions::default()
        };
        let run = skywave_sim::SteppedRun::new(&scenario, &registry, options);
        let run = Watch::new(None).finish(run)?;
        Ok(Self(Mutex::new(Some(run))))
    }

    /// The simulated time up to which it has run, in seconds.
    #[getter]
    fn now_s(&self, py: Python<'_>) -> PyResult<f64> {
        self.with(py, |run| Ok(run.now().as_secs_f64()))
    }

    /// When the scenario ends, in seconds.
    #[getter]
    fn end_s(&self, py: Python<'_>) -> PyResult<f64> {
        self.with(py, |run| Ok(run.end().as_secs_f64()))
    }

    /// Runs up to a time, or until `stop` is set. Returns the time reached.
    #[pyo3(signature = (to_s, stop=None))]
    fn advance(&self, py: Python<'_>, to_s: f64, stop: Option<Py<Stop>>) -> PyResult<f64> {
        let to = Instant::ZERO + Duration::from_secs_f64(to_s);
        self.with(py, |run| {
            let outcome = run.advance(to, |_| {
                stop.as_ref().is_none_or(|stop| !stop.get().is_set())
            });
            Watch::new(None).finish(outcome)?;
            Ok(run.now().as_secs_f64())
        })
    }

    /// What has been sampled since the last call, as tables by name.
    fn samples(&self, py: Python<'_>) -> PyResult<Tables> {
        self.with(py, |run| Watch::new(None).finish(run.samples()))
            .map(Tables)
    }

    /// Ends the run where it is, so that `samples` has the rest.
    fn stop(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, |run| {
            run.stop();
            Ok(())
        })
    }

    /// Ends the run and returns the results of its time so far.
    fn finish(&self, py: Python<'_>) -> PyResult<Run> {
        py.detach(|| {
            let run = self.lock()?.take().ok_or_else(over)?;
            Watch::new(None).finish(run.finish()).map(Run)
        })
    }
}

fn over() -> PyErr {
    PyRuntimeError::new_err("the run is over: begin another one")
}

/// Returns where a field stands in a scenario in TOML: the characters at which its key and its value
/// begin, that at which its value ends, and whether the field itself is there.
#[pyfunction]
fn place_of_field(text: &str, field: &str) -> Option<(usize, usize, usize, bool)> {
    let place = place_of(text, field)?;
    let characters = |byte: usize| text[..byte].chars().count();
    Some((
        characters(place.key.start),
        characters(place.value.start),
        characters(place.value.end),
        place.is_exact,
    ))
}

/// Adds the class and the function of this module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<SteppedRun>()?;
    module.add_function(wrap_pyfunction!(place_of_field, module)?)
}
