//! What happens on the network, on standard error.

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use tracing_subscriber::filter::LevelFilter;

/// Logs what happens to endpoints and connections on standard error, from `level` on.
#[pyfunction]
pub(super) fn log_to_stderr(level: &str) -> PyResult<()> {
    let level: LevelFilter = level.parse().map_err(|_| {
        let levels = "error, warn, info, debug or trace";
        PyValueError::new_err(format!("\"{level}\" is not a level: use {levels}"))
    })?;
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .with_max_level(level)
        .try_init()
        .map_err(|_| PyRuntimeError::new_err("this process logs already: the level stays"))
}
