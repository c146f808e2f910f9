//! The benchmark dumbbell.

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use skywave_sim::Bench;

use crate::run::{Watch, scenario_error};

/// Runs the benchmark dumbbell on `threads` threads and gives its counts as a JSON object, with the rates
/// and the duration as plain numbers. The caller measures time and memory around it.
#[pyfunction]
#[pyo3(signature = (*, flows, rate, buffer, duration, access, threads=1, progress=None))]
#[expect(clippy::too_many_arguments, reason = "Python gives them by name")]
pub(crate) fn bench(
    py: Python<'_>,
    flows: u32,
    rate: &str,
    buffer: u32,
    duration: &str,
    access: &str,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let bench = Bench {
        flows,
        rate: quantity("rate", rate)?,
        buffer,
        duration: quantity("duration", duration)?,
        access: quantity("access", access)?,
        threads,
    };
    let watch = Watch::new(progress);
    let outcome = py.detach(|| bench.run(|fraction| watch.report((fraction,))));
    let counts = watch.finish(Ok(outcome))?.map_err(scenario_error)?;
    let mut answer =
        serde_json::to_value(counts).map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    answer["rate_bps"] = bench.rate.as_bps().into();
    answer["access_bps"] = bench.access.as_bps().into();
    answer["duration_s"] = bench.duration.as_secs_f64().into();
    Ok(answer.to_string())
}

fn quantity<T>(field: &str, text: &str) -> PyResult<T>
where
    T: std::str::FromStr<Err = skywave_units::ParseQuantityError>,
{
    text.parse()
        .map_err(|error| PyValueError::new_err(format!("{field}: {error}")))
}
