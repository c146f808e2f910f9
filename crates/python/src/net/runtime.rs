//! Waiting from Python on the runtime of this process: blocking, and with asyncio.

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::process;
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use pyo3::exceptions::{PyRuntimeError, PyTimeoutError};
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyDict, PyTuple};
use pyo3_async_runtimes::TaskLocals;
use pyo3_async_runtimes::generic::{self, ContextExt};
use skywave_net::blocking::{Runtime, WaitError};
use tokio::runtime::Handle;
use tokio::task::{JoinError, JoinHandle};
use tokio::time::timeout;

use super::arguments::TimeLimit;
use super::error::forked;
use crate::control::callback::{refuse_here, work_elsewhere_by};

/// The threads that hand results to Python and look names up. Of the former, one at a time can hold the
/// interpreter, so more of them, up to 512 on a busy machine, would only take memory.
const BLOCKING_THREADS: usize = 8;

/// Whether the interpreter is ending. A runtime's threads lock this for reading while they use
/// Python.
type IsEnding = RwLock<bool>;

thread_local! {
    /// That of the runtime to which this thread belongs.
    static IS_ENDING: Cell<Option<&'static IsEnding>> = const { Cell::new(None) };
}

/// How long a program that exits waits for connections that are closing in the background: as long
/// as the network commands do.
const AT_EXIT: TimeLimit = TimeLimit {
    seconds: 5.0,
    duration: Duration::from_secs(5),
};

/// Returns the runtime of this process, and starts it if need be. It starts with the interpreter held,
/// as `os.fork` holds it.
pub(super) fn runtime(py: Python<'_>) -> PyResult<Runtime> {
    if let Some(runtime) = Runtime::started() {
        return Ok(runtime);
    }
    let is_ending: &IsEnding = Box::leak(Box::default());
    leave_at_exit(py, is_ending)?;
    let runtime = Runtime::of_process_or(|builder| {
        builder
            .max_blocking_threads(BLOCKING_THREADS)
            .on_thread_start(|| IS_ENDING.set(Some(is_ending)));
    })?;
    work_elsewhere_by(in_another_thread);
    Ok(runtime)
}

/// Keeps the runtime's threads out of the interpreter once it ends. Python kills a thread that
/// enters it then, and a Rust thread, with its whole process, does not survive that.
fn leave_at_exit(py: Python<'_>, is_ending: &'static IsEnding) -> PyResult<()> {
    let here = process::id();
    let leave = move |arguments: &Bound<'_, PyTuple>, _: Option<&Bound<'_, PyDict>>| {
        // A fork inherits this call, and perhaps the lock, which no thread of it would release.
        if process::id() == here {
            await_endings(arguments.py());
            let leave = || *is_ending.write().unwrap_or_else(PoisonError::into_inner) = true;
            arguments.py().detach(leave);
        }
    };
    let leave = PyCFunction::new_closure(py, None, None, leave)?;
    py.import("atexit")?.call_method1("register", (leave,))?;
    Ok(())
}

/// Waits for `future` with the interpreter released, and handles signals.
pub(super) fn block_on<T: Send>(
    py: Python<'_>,
    future: impl Future<Output = PyResult<T>> + Send,
) -> PyResult<T> {
    block_within(py, None, "answer", future)
}

/// Waits for `future`, like [`block_on`], for at most `limit`, if given. After that it raises Python's
/// `TimeoutError`, which says `what` was awaited.
pub(super) fn block_within<T: Send>(
    py: Python<'_>,
    limit: Option<TimeLimit>,
    what: &str,
    future: impl Future<Output = PyResult<T>> + Send,
) -> PyResult<T> {
    refuse_here()?;
    let runtime = runtime(py)?;
    let longest = limit.map(|limit| limit.duration);
    // An interpreter that has ended handles no signals.
    let signals = || Python::try_attach(|py| py.check_signals()).unwrap_or(Ok(()));
    let waited = py.detach(|| runtime.wait_unless(signals, longest, future));
    waited.map_err(|error| match error {
        WaitError::Interrupted(error) => error,
        WaitError::Forked(error) => forked(error),
        WaitError::TimedOut => {
            let seconds = limit.map_or(0.0, |limit| limit.seconds);
            PyTimeoutError::new_err(format!("no {what} within {seconds} s"))
        }
        error => PyRuntimeError::new_err(error.to_string()),
    })?
}

/// Does `work` in a thread of the runtime, without the interpreter.
fn in_another_thread(py: Python<'_>, work: Box<dyn FnOnce() + Send>) {
    if let Ok(runtime) = runtime(py) {
        runtime.handle().spawn_blocking(unless_ending(work));
    }
}

/// Runs `future`, which ends a connection, in the background. A program that exits waits for it,
/// for up to [`AT_EXIT`].
pub(super) fn in_background(
    py: Python<'_>,
    future: impl Future<Output = ()> + Send + 'static,
) -> PyResult<()> {
    runtime(py)?.in_background(future);
    Ok(())
}

/// Waits until what ends in the background has ended, but not for long.
fn await_endings(py: Python<'_>) {
    if let Some(runtime) = Runtime::started() {
        let all = async {
            runtime.background_ended().await;
            Ok(())
        };
        // A second Ctrl-C ends the wait.
        let _waited = block_within(py, Some(AT_EXIT), "end", all);
    }
}

/// Returns an awaitable of the running asyncio loop for `future`.
pub(super) fn awaitable<'py, T>(
    py: Python<'py>,
    future: impl Future<Output = PyResult<T>> + Send + 'static,
) -> PyResult<Bound<'py, PyAny>>
where
    T: for<'any> IntoPyObject<'any> + Send + 'static,
{
    runtime(py)?;
    generic::future_into_py::<Tokio, _, _>(py, future)
}

/// Awaits `future` for at most `limit`, if given; `None` if that was too short.
pub(super) async fn timed<T>(
    limit: Option<TimeLimit>,
    future: impl Future<Output = T>,
) -> Option<T> {
    match limit {
        None => Some(future.await),
        Some(limit) => timeout(limit.duration, future).await.ok(),
    }
}

/// Does `work` in a thread of the runtime, unless the interpreter ends.
fn unless_ending(work: impl FnOnce() + Send) -> impl FnOnce() + Send {
    || {
        let read = |lock: &'static IsEnding| lock.read().unwrap_or_else(PoisonError::into_inner);
        // Held until the work is done.
        let is_ending = IS_ENDING.get().map(read);
        if is_ending.as_deref() != Some(&true) {
            work();
        }
    }
}

/// The runtime of this process, as `pyo3_async_runtimes` wants it. Its own is that of the process
/// that first used it, and hangs in a fork.
struct Tokio;

impl Tokio {
    fn handle() -> Handle {
        Handle::try_current().unwrap_or_else(|_| {
            let runtime = Python::attach(runtime);
            runtime
                .expect("`awaitable` has started it")
                .handle()
                .clone()
        })
    }
}

impl generic::Runtime for Tokio {
    type JoinError = JoinError;
    type JoinHandle = JoinHandle<()>;

    fn spawn<F>(future: F) -> Self::JoinHandle
    where
        F: Future<Output = ()> + Send + 'static,
    {
        Self::handle().spawn(future)
    }

    fn spawn_blocking<F>(work: F) -> Self::JoinHandle
    where
        F: FnOnce() + Send + 'static,
    {
        Self::handle().spawn_blocking(unless_ending(work))
    }
}

impl ContextExt for Tokio {
    // No future of this crate awaits a Python coroutine, so none needs to find its loop.
    fn scope<F, R>(_: TaskLocals, future: F) -> Pin<Box<dyn Future<Output = R> + Send>>
    where
        F: Future<Output = R> + Send + 'static,
    {
        Box::pin(future)
    }

    fn get_task_locals() -> Option<TaskLocals> {
        None
    }
}
