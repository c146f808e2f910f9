//! Converts `skywave.net.Config` to the configuration of a connection.

use std::sync::Arc;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use skywave_registry::ParameterError;
use skywave_scenario::SocketSpec;
use skywave_sim::Registry;
use skywave_transport::dccp;

use crate::control::{Live, look_in_python};

/// Returns the configuration that `config` describes, or the default if it is `None`.
pub(super) fn read(config: Option<&Bound<'_, PyAny>>) -> PyResult<Arc<dccp::Config>> {
    let mut registry = Registry::default();
    let spec = match config {
        None => SocketSpec::default(),
        Some(config) => {
            let Ok(to_core) = config.getattr("to_core") else {
                let message = format!("config is {}: give a skywave.net.Config", config.repr()?);
                return Err(PyTypeError::new_err(message));
            };
            let (text, live): (String, Live<'_>) = to_core.call0()?.extract()?;
            look_in_python(&mut registry.controls, live);
            SocketSpec::from_json(&text).map_err(wrong)?
        }
    };
    Ok(Arc::new(spec.config(&registry).map_err(wrong)?))
}

/// Checks a `skywave.net.Config` and raises `ValueError` with the first field that is wrong.
#[pyfunction]
pub(super) fn check_config(config: &Bound<'_, PyAny>) -> PyResult<()> {
    let checked = read(Some(config))?.check();
    checked.map_err(|error| PyValueError::new_err(error.to_string()))
}

fn wrong(error: ParameterError) -> PyErr {
    PyValueError::new_err(error.to_string())
}
