//! Scenarios in real time.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pyo3::exceptions::{PyOSError, PyRuntimeError};
use pyo3::prelude::*;
use skywave_live::{Encapsulation, LiveError, Options, Pace, Progress};
use skywave_sim::{RunOptions, Scenario};

use crate::ScenarioError;
use crate::member::Live;
use crate::run::{Run, Tables, Watch, all_created, registry, scenario_error};

/// Runs a scenario (JSON) in real time. `progress` is called with what the run does, the fraction
/// of that which is done, the time in seconds, and the tables of what has been sampled since, which are
/// none without `samples`. If it raises `KeyboardInterrupt` once time passes, the run ends
/// there and what it has measured is returned. Gives the results, and a report as JSON.
#[pyfunction]
#[pyo3(signature = (scenario, *, progress=None, captures=None, qlogs=None, members=None, dccp_over_udp=false, spin=false, virtual_time=false, samples=false))]
#[expect(clippy::too_many_arguments, reason = "Python gives them by name")]
fn run_live(
    py: Python<'_>,
    scenario: &str,
    progress: Option<Py<PyAny>>,
    captures: Option<BTreeMap<String, PathBuf>>,
    qlogs: Option<BTreeMap<String, PathBuf>>,
    members: Live<'_>,
    dccp_over_udp: bool,
    spin: bool,
    virtual_time: bool,
    samples: bool,
) -> PyResult<(Run, String)> {
    let registry = registry(members, None);
    let scenario = Scenario::from_json(scenario, &registry).map_err(scenario_error)?;
    let options = Options {
        run: RunOptions {
            captures: all_created(captures)?,
            qlogs: all_created(qlogs)?,
            ..RunOptions::default()
        },
        encapsulation: if dccp_over_udp {
            Encapsulation::Udp
        } else {
            Encapsulation::Raw
        },
        pace: match (virtual_time, spin) {
            (true, _) => Pace::Virtual,
            (false, true) => Pace::Spin,
            (false, false) => Pace::Sleep,
        },
        samples,
    };
    let watch = Watch::new(progress);
    let duration = scenario.duration.as_secs_f64();
    let stage = if virtual_time {
        "on virtual time"
    } else {
        "in real time"
    };
    let lived = py.detach(|| {
        skywave_live::run(&scenario, &registry, options, |told| match told {
            Progress::SetUp(fraction) => {
                watch.report(("set-up", fraction, 0.0, Tables(Vec::new())))
            }
            Progress::Running { elapsed, samples } => {
                let fraction = elapsed.as_secs_f64() / duration;
                watch.report((stage, fraction, elapsed.as_secs_f64(), Tables(samples)))
            }
            _ => true,
        })
    });
    let lived = match lived {
        Err(LiveError::Run(error)) => watch.finish(Err(error))?,
        Err(error @ (LiveError::Control { .. } | LiveError::Ccid { .. })) => {
            return Err(ScenarioError::new_err(error.to_string()));
        }
        Err(error) => return Err(PyOSError::new_err(error.to_string())),
        Ok(lived) => watch.finish_early(lived)?,
    };
    let report = serde_json::to_string(&lived.report)
        .map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    Ok((Run(lived.results), report))
}

/// Adds the functions of this module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(run_live, module)?)
}
