//! Quantities with units, as the scenario's schema reads them.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use skywave_units::{Duration, Rate};

/// A rate in bits per second.
#[pyfunction]
pub(crate) fn rate_bps(text: &str) -> PyResult<u64> {
    let rate: Rate = read(text)?;
    Ok(rate.as_bps())
}

/// A duration in seconds.
#[pyfunction]
pub(crate) fn duration_s(text: &str) -> PyResult<f64> {
    let duration: Duration = read(text)?;
    Ok(duration.as_secs_f64())
}

fn read<T>(text: &str) -> PyResult<T>
where
    T: std::str::FromStr<Err = skywave_units::ParseQuantityError>,
{
    text.parse()
        .map_err(|error: T::Err| PyValueError::new_err(error.to_string()))
}
