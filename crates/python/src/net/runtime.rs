//! The tokio runtime of this process, and waiting on it from Python: blocking, and with asyncio.

use std::cell::Cell;
use std::future::Future;
use std::mem::forget;
use std::pin::Pin;
use std::process;
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use pyo3::exceptions::{PyRuntimeError, PyTimeoutError};
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyDict, PyTuple};
use pyo3_async_runtimes::TaskLocals;
use pyo3_async_runtimes::generic::{self, ContextExt};
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::{JoinError, JoinHandle};
use tokio::time::timeout;

use super::arguments::TimeLimit;
use super::process::check;
use crate::control::callback::{refuse_here, work_elsewhere_by};

/// How often a blocking call checks for Ctrl-C.
const SIGNAL_CHECK: Duration = Duration::from_millis(100);

/// The threads that hand results to Python and look names up. Of the former, one at a time can hold the
/// interpreter, so more of them, up to 512 on a busy machine, would only take memory.
const BLOCKING_THREADS: usize = 8;

/// Whether the interpreter ends. What a runtime's threads do in Python, they do with this locked for
/// reading.
type IsEnding = RwLock<bool>;

thread_local! {
    /// That of the runtime to which this thread belongs.
    static IS_ENDING: Cell<Option<&'static IsEnding>> = const { Cell::new(None) };
}

/// How long a program that ends waits for connections that are closing in the background: as long as the
/// network's commands.
const AT_EXIT: Duration = Duration::from_secs(5);

/// What closes connections in the background, each with the process that wants it. Like [`RUNTIME`], it
/// is locked only with the interpreter held.
static ENDING: Mutex<Vec<(u32, JoinHandle<()>)>> = Mutex::new(Vec::new());

/// The process that has started a runtime, and the runtime.
type Started = Option<(u32, &'static Runtime)>;

/// It is locked only with the interpreter held, as `os.fork` holds it, so that a fork never inherits
/// it locked.
static RUNTIME: Mutex<Started> = Mutex::new(None);

/// Returns the runtime of this process, and starts it if need be: a fork inherits that of its
/// parent without its threads.
pub(super) fn runtime(py: Python<'_>) -> PyResult<&'static Runtime> {
    let here = process::id();
    if let Some(runtime) = running(*current(), here) {
        return Ok(runtime);
    }
    let is_ending: &IsEnding = Box::leak(Box::default());
    // This calls Python, which may let another thread run, so nothing is locked.
    leave_at_exit(py, is_ending)?;
    let mut current = current();
    if let Some(runtime) = running(*current, here) {
        return Ok(runtime);
    }
    let started = Builder::new_multi_thread()
        .enable_all()
        .max_blocking_threads(BLOCKING_THREADS)
        .on_thread_start(|| IS_ENDING.set(Some(is_ending)))
        .build()?;
    let runtime: &Runtime = Box::leak(Box::new(started));
    *current = Some((here, runtime));
    work_elsewhere_by(in_another_thread);
    Ok(runtime)
}

fn current() -> MutexGuard<'static, Started> {
    RUNTIME.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The runtime, if this process has started it.
fn running(started: Started, here: u32) -> Option<&'static Runtime> {
    started
        .filter(|&(opener, _)| opener == here)
        .map(|(_, runtime)| runtime)
}

/// Keeps the runtime's threads out of the interpreter once it ends. Python kills a thread that enters
/// then, which a thread of Rust does not survive, nor does its process.
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
///
/// A signal's handler may use the network itself, so it runs outside of the runtime.
pub(super) fn block_on<T: Send>(
    py: Python<'_>,
    future: impl Future<Output = PyResult<T>> + Send,
) -> PyResult<T> {
    refuse_here()?;
    if Handle::try_current().is_ok() {
        let message = "a thread of the network cannot wait for the network";
        return Err(PyRuntimeError::new_err(message));
    }
    let (runtime, here) = (runtime(py)?, process::id());
    let mut future = Box::pin(future);
    let answer = loop {
        let wait = async { timeout(SIGNAL_CHECK, future.as_mut()).await };
        if let Ok(answer) = py.detach(|| runtime.block_on(wait)) {
            break answer;
        }
        let signals = py.check_signals();
        // A signal's handler may fork. Then the runtime has no threads here.
        if let Err(error) = check(here) {
            forget(future);
            return Err(error);
        }
        if let Err(error) = signals {
            break Err(error);
        }
    };
    // It may lock connections.
    py.detach(|| drop(future));
    answer
}

/// Does `work` in a thread of the runtime, without the interpreter.
fn in_another_thread(py: Python<'_>, work: Box<dyn FnOnce() + Send>) {
    if let Ok(runtime) = runtime(py) {
        runtime.spawn_blocking(unless_ending(work));
    }
}

/// Runs `future`, which ends a connection, in the background. A program that ends waits for it, for up to
/// [`AT_EXIT`].
pub(super) fn in_background(
    py: Python<'_>,
    future: impl Future<Output = ()> + Send + 'static,
) -> PyResult<()> {
    let task = runtime(py)?.spawn(future);
    let mut ending = ENDING.lock().unwrap_or_else(PoisonError::into_inner);
    ending.retain(|(_, task)| !task.is_finished());
    ending.push((process::id(), task));
    Ok(())
}

/// Waits until what ends in the background has ended, but not for long.
fn await_endings(py: Python<'_>) {
    let here = process::id();
    let ending = core::mem::take(&mut *ENDING.lock().unwrap_or_else(PoisonError::into_inner));
    let all = async {
        for (_, task) in ending.into_iter().filter(|&(opener, _)| opener == here) {
            // Nobody is there to be told how it ended.
            let _ended = task.await;
        }
        Ok(())
    };
    // A second Ctrl-C ends the wait.
    let _waited = block_on(py, async { timeout(AT_EXIT, all).await.unwrap_or(Ok(())) });
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

/// Stops waiting for `future` after `limit`, if given, with Python's `TimeoutError`.
pub(super) async fn within<T>(
    limit: Option<TimeLimit>,
    what: &str,
    future: impl Future<Output = PyResult<T>>,
) -> PyResult<T> {
    timed(limit, future).await.unwrap_or_else(|| {
        let seconds = limit.map_or(0.0, |limit| limit.seconds);
        Err(PyTimeoutError::new_err(format!(
            "no {what} within {seconds} s"
        )))
    })
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
