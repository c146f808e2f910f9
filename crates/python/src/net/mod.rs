//! DCCP on real networks for Python. Each call exists twice: blocking, and awaitable by asyncio.

mod config;
mod connection;
mod endpoint;
mod error;
mod perf;

use std::future::Future;
use std::ops::Deref;
use std::time::Duration;

use pyo3::exceptions::PyTimeoutError;
use pyo3::prelude::*;
use pyo3_async_runtimes::tokio::get_runtime;
use tokio::time::{MissedTickBehavior, interval, timeout};

/// How often a blocking call checks for Ctrl-C.
const SIGNAL_CHECK: Duration = Duration::from_millis(100);

/// Adds the classes and exceptions for the network to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<endpoint::Endpoint>()?;
    module.add_class::<endpoint::Listener>()?;
    module.add_class::<connection::Connection>()?;
    module.add_function(wrap_pyfunction!(config::check_config, module)?)?;
    module.add_function(wrap_pyfunction!(perf::perf_loopback, module)?)?;
    module.add_function(wrap_pyfunction!(perf::perf_serve, module)?)?;
    module.add_function(wrap_pyfunction!(perf::perf_send, module)?)?;
    error::register(module)
}

/// A connection as Python holds it. It is used and dropped with the interpreter released, because
/// its methods lock the connection, and the current owner of that lock may be calling a control in
/// Python, which needs the interpreter.
struct Handle<T: Send>(Option<T>);

impl<T: Send> Handle<T> {
    const fn new(held: T) -> Self {
        Self(Some(held))
    }
}

impl<T: Send + Clone> Handle<T> {
    /// Another handle, for use without the interpreter.
    fn shared(&self) -> T {
        T::clone(self)
    }
}

impl<T: Send> Deref for Handle<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0
            .as_ref()
            .expect("it holds something until it is dropped")
    }
}

impl<T: Send> Drop for Handle<T> {
    fn drop(&mut self) {
        let held = self.0.take();
        // A program that is about to end has no interpreter to release.
        let _ended = Python::try_attach(|py| py.detach(|| drop(held)));
    }
}

/// Waits for `future` with the interpreter released, and handles signals.
fn block_on<T: Send>(
    py: Python<'_>,
    future: impl Future<Output = PyResult<T>> + Send,
) -> PyResult<T> {
    py.detach(|| {
        get_runtime().block_on(async {
            let mut future = std::pin::pin!(future);
            let mut look = interval(SIGNAL_CHECK);
            look.set_missed_tick_behavior(MissedTickBehavior::Delay);
            look.tick().await;
            loop {
                tokio::select! {
                    biased;
                    answer = &mut future => return answer,
                    _ = look.tick() => Python::attach(|py| py.check_signals())?,
                }
            }
        })
    })
}

/// Stops waiting for `future` after `seconds`, if given, with Python's `TimeoutError`.
async fn within<T>(
    seconds: Option<f64>,
    what: &str,
    future: impl Future<Output = PyResult<T>>,
) -> PyResult<T> {
    let Some(seconds) = seconds else {
        return future.await;
    };
    let limit = Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(Duration::MAX);
    match timeout(limit, future).await {
        Ok(answer) => answer,
        Err(_) => Err(PyTimeoutError::new_err(format!(
            "no {what} within {seconds} s"
        ))),
    }
}
