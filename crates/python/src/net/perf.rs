//! Performance measurements for Python.

use std::time::Duration;

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use serde::Serialize;
use skywave_perf::{PerfError, between, loopback};

use super::connection::Connection;
use super::error::{NetError, connecting, ended, listening, opening, sending};
use super::runtime::block_on;
use crate::run::Watch;

/// Measures DCCP over loopback, compared with plain UDP and, if built in, quinn. Returns JSON.
#[pyfunction]
#[pyo3(signature = (*, duration_s, datagram, pings, idle, keepalive_s, progress=None))]
pub(crate) fn perf_loopback(
    py: Python<'_>,
    duration_s: f64,
    datagram: usize,
    pings: usize,
    idle: usize,
    keepalive_s: f64,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let options = loopback::Options {
        duration: duration("duration_s", duration_s)?,
        datagram,
        pings,
        idle,
        keepalive: duration("keepalive_s", keepalive_s)?,
        ..loopback::Options::default()
    };
    let watch = Watch::new(progress);
    let outcome = py.detach(|| loopback::run(&options, |stage, done| watch.report((stage, done))));
    json(&watch.finish(Ok(outcome))?.map_err(failed)?)
}

/// Counts what a measuring client sends over a connection, and reports the counts to the client.
/// Returns them as JSON.
#[pyfunction]
pub(crate) fn perf_serve(py: Python<'_>, connection: &Connection) -> PyResult<String> {
    let connection = connection.0.get()?;
    let arrived = block_on(py, async {
        between::serve(connection).await.map_err(failed)
    })?;
    json(&arrived)
}

/// Sends a load to a measuring server. Returns the results as JSON.
#[pyfunction]
#[pyo3(signature = (connection, *, duration_s, datagram, rate_bps=None, progress=None))]
pub(crate) fn perf_send(
    py: Python<'_>,
    connection: &Connection,
    duration_s: f64,
    datagram: usize,
    rate_bps: Option<u64>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let load = between::Load {
        duration: duration("duration_s", duration_s)?,
        datagram,
        rate_bps,
    };
    let connection = connection.0.get()?;
    let watch = Watch::new(progress);
    let outcome = block_on(py, async {
        let told = |now: &between::Progress| {
            if let Ok(text) = serde_json::to_string(now) {
                watch.report((text,));
            }
        };
        Ok(between::send(connection, &load, told).await)
    })?;
    json(&watch.finish(Ok(outcome))?.map_err(failed)?)
}

fn duration(name: &str, seconds: f64) -> PyResult<Duration> {
    Duration::try_from_secs_f64(seconds)
        .map_err(|error| PyValueError::new_err(format!("{name} is {seconds}: {error}")))
}

fn json(report: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(report).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

fn failed(error: PerfError) -> PyErr {
    match error {
        PerfError::Open(error) => opening(error),
        PerfError::Listen(error) => listening(error),
        PerfError::Connect(error) => connecting(error),
        PerfError::Connection(error) => ended(error),
        PerfError::Send(error) => sending(error),
        error => NetError::new_err(error.to_string()),
    }
}
