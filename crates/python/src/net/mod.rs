//! DCCP on real networks for Python. Each call exists twice: blocking, and awaitable by asyncio.

mod arguments;
mod config;
mod connection;
mod endpoint;
mod error;
mod log;
mod perf;
mod process;
mod runtime;
mod stats;

use pyo3::prelude::*;

/// Adds the classes and exceptions for the network to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<endpoint::Endpoint>()?;
    module.add_class::<endpoint::Listener>()?;
    module.add_class::<connection::Connection>()?;
    module.add_function(wrap_pyfunction!(config::check_config, module)?)?;
    module.add_function(wrap_pyfunction!(config::endpoint_schema, module)?)?;
    module.add_function(wrap_pyfunction!(stats::stats_schema, module)?)?;
    module.add_function(wrap_pyfunction!(log::set_log_level, module)?)?;
    module.add_function(wrap_pyfunction!(log::next_log, module)?)?;
    module.add_function(wrap_pyfunction!(log::close_log, module)?)?;
    module.add_function(wrap_pyfunction!(perf::perf_loopback, module)?)?;
    module.add_function(wrap_pyfunction!(perf::perf_serve, module)?)?;
    module.add_function(wrap_pyfunction!(perf::perf_send, module)?)?;
    Ok(())
}
