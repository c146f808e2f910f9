//! `skywave._core`: a thin layer between the Python package and the other crates.
//!
//! Scenarios come in as JSON; tables go out as Arrow record batches, without a copy, or by columns.
//!
//! [`build`] makes the same module with members of your own: see `docs/tutorials/own-queue-rust.md`.

mod bench;
mod capture;
mod control;
#[cfg(all(feature = "emulate", target_os = "linux"))]
mod emulate;
mod groups;
#[cfg(all(feature = "emulate", target_os = "linux"))]
mod live;
mod losses;
mod member;
mod members;
#[cfg(feature = "sockets")]
mod net;
mod own;
mod quantity;
mod queue;
mod run;
mod source;
mod stepped;
mod table;

use pyo3::import_exception;
use pyo3::prelude::*;

import_exception!(skywave._errors, CaptureError);
import_exception!(skywave._errors, ScenarioError);

/// Returns what to append to the message that nothing is named `given`.
#[pyfunction]
fn suggestion(given: &str, known: Vec<String>) -> String {
    skywave_registry::suggestion(given, known.iter().map(String::as_str))
}

pub use own::Members;
pub use skywave_scenario::{Backend, Registry};

/// The Rust core of Skywave.
#[cfg(feature = "module")]
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    fill(module)
}

/// Fills a module `_core` with the Rust core of Skywave, which has these members too.
///
/// # Errors
/// The error of Python, if it cannot hold it.
pub fn build<M: Members>(module: &Bound<'_, PyModule>) -> PyResult<()> {
    own::set::<M>();
    fill(module)
}

fn fill(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("ENGINE", run::ENGINE)?;
    module.add_class::<run::Run>()?;
    module.add_class::<run::Stop>()?;
    module.add_class::<table::Table>()?;
    module.add_function(wrap_pyfunction!(run::check_scenario, module)?)?;
    module.add_function(wrap_pyfunction!(run::inspect_scenario, module)?)?;
    module.add_function(wrap_pyfunction!(run::scenario_schema, module)?)?;
    module.add_function(wrap_pyfunction!(run::socket_schema, module)?)?;
    module.add_function(wrap_pyfunction!(run::table_schemas, module)?)?;
    module.add_function(wrap_pyfunction!(run::run, module)?)?;
    module.add_function(wrap_pyfunction!(suggestion, module)?)?;
    module.add_function(wrap_pyfunction!(bench::bench, module)?)?;
    module.add_function(wrap_pyfunction!(capture::decode_capture, module)?)?;
    control::register(module)?;
    groups::register(module)?;
    queue::register(module)?;
    stepped::register(module)?;
    module.add_class::<quantity::Duration>()?;
    module.add_class::<quantity::Rate>()?;
    module.add_class::<quantity::Bytes>()?;
    #[cfg(all(feature = "emulate", target_os = "linux"))]
    emulate::register(module)?;
    #[cfg(all(feature = "emulate", target_os = "linux"))]
    live::register(module)?;
    #[cfg(feature = "sockets")]
    net::register(module)?;
    Ok(())
}
