//! The callbacks of controls on sockets: which run now, and what may not happen meanwhile.
//!
//! A callback runs while its connection is locked, so a call of `skywave.net` from it could wait for
//! itself. It is refused. Another thread waits until the callback has returned, but not for long,
//! because the callback may be waiting for that thread.

#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "callbacks take real time, and threads of Python wait"
)]

use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::member::without_panic;

/// How long another thread waits for a callback before its call is refused.
const PATIENCE: Duration = Duration::from_millis(250);

/// How often a waiting thread checks.
const LOOK: Duration = Duration::from_millis(1);

/// A callback that takes longer is announced, because it delays all connections of the endpoint for
/// as long as it runs.
const SLOW: Duration = Duration::from_millis(10);

/// Does work in a thread that holds no connection.
pub(crate) type Elsewhere = fn(Python<'_>, Box<dyn FnOnce() + Send>);

/// How sockets do such work; set when the first of them opens.
static ELSEWHERE: OnceLock<Elsewhere> = OnceLock::new();

/// Sets how sockets do work elsewhere.
pub(crate) fn work_elsewhere_by(elsewhere: Elsewhere) {
    ELSEWHERE.get_or_init(|| elsewhere);
}

/// Does `work` in a thread that holds no connection. Without sockets there is nothing to do.
pub(crate) fn elsewhere(py: Python<'_>, work: impl FnOnce() + Send + 'static) {
    if let Some(elsewhere) = ELSEWHERE.get() {
        elsewhere(py, Box::new(work));
    }
}

thread_local! {
    /// The callback that runs in this thread, by its number.
    static HERE: Cell<Option<u64>> = const { Cell::new(None) };
}

/// The number of callbacks that run in any thread.
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// Those callbacks, oldest first. Locked only with the interpreter held, so that a fork never
/// inherits it locked.
static RUNNING: Mutex<Running> = Mutex::new(Running {
    next: 0,
    callbacks: Vec::new(),
});

struct Running {
    next: u64,
    callbacks: Vec<Callback>,
}

/// A method of a class that runs.
#[derive(Clone)]
struct Callback {
    id: u64,
    class: Arc<str>,
    method: &'static str,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Marks a callback as running until it is dropped.
struct Mark {
    id: u64,
    /// The one that was running in this thread before.
    outer: Option<u64>,
}

impl Mark {
    fn new(class: &Arc<str>, method: &'static str) -> Self {
        let mut running = locked(&RUNNING);
        let id = running.next;
        running.next += 1;
        running.callbacks.push(Callback {
            id,
            class: Arc::clone(class),
            method,
        });
        COUNT.store(running.callbacks.len(), Ordering::Release);
        Self {
            id,
            outer: HERE.replace(Some(id)),
        }
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        HERE.set(self.outer);
        let mut running = locked(&RUNNING);
        running.callbacks.retain(|callback| callback.id != self.id);
        COUNT.store(running.callbacks.len(), Ordering::Release);
    }
}

/// Calls `act`, the method `method` of a class, while its connection is locked. Announces it once
/// for each class if it takes long.
pub(super) fn on_socket<T>(
    py: Python<'_>,
    class: &Arc<str>,
    method: &'static str,
    act: impl FnOnce() -> PyResult<T>,
) -> PyResult<T> {
    let began = Instant::now();
    let mark = Mark::new(class, method);
    let outcome = without_panic(class, method, act);
    drop(mark);
    let took = began.elapsed();
    if took > SLOW {
        announce(py, class, method, took);
    }
    outcome
}

/// Logs that a callback was slow. It does so in another thread, because log handlers may need a
/// lock held by a thread that waits for this connection.
fn announce(py: Python<'_>, class: &Arc<str>, method: &'static str, took: Duration) {
    static ANNOUNCED: Mutex<BTreeSet<Arc<str>>> = Mutex::new(BTreeSet::new());
    if !locked(&ANNOUNCED).insert(Arc::clone(class)) {
        return;
    }
    let text = format!(
        "{class}.{method} took {} ms: a callback that takes longer than {} ms delays every \
         connection of its endpoint (further slow callbacks of {class} are not reported)",
        took.as_millis(),
        SLOW.as_millis(),
    );
    elsewhere(py, move || {
        Python::attach(|py| {
            let warn = || -> PyResult<()> {
                let logging = py.import("logging")?;
                let logger = logging.call_method1("getLogger", ("skywave.control",))?;
                logger.call_method1("warning", ("%s", text))?;
                Ok(())
            };
            if let Err(error) = warn() {
                error.write_unraisable(py, None);
            }
        });
    });
}

/// Returns whether a callback runs in any thread.
pub(crate) fn is_any_running() -> bool {
    COUNT.load(Ordering::Acquire) > 0
}

/// Refuses a call from a callback.
///
/// # Errors
/// A `RuntimeError` that names the callback.
pub(crate) fn refuse_here() -> PyResult<()> {
    let Some(here) = HERE.get() else {
        return Ok(());
    };
    let running = locked(&RUNNING);
    let callback = running.callbacks.iter().find(|one| one.id == here);
    Err(PyRuntimeError::new_err(format!(
        "{} called skywave.net: a control's callback runs while its connection is locked, so it \
         decides by its attributes only",
        name(callback),
    )))
}

fn name(callback: Option<&Callback>) -> String {
    callback.map_or_else(
        || "a callback".to_owned(),
        |Callback { class, method, .. }| format!("{class}.{method}"),
    )
}

/// Waits while `is_locked` and the callbacks that run now still do.
///
/// # Errors
/// A `RuntimeError` that names the callback, after [`PATIENCE`].
pub(crate) fn wait_for_others(py: Python<'_>, is_locked: impl Fn() -> bool + Send) -> PyResult<()> {
    if !is_any_running() || !is_locked() {
        return Ok(());
    }
    let running = locked(&RUNNING).callbacks.clone();
    let began = Instant::now();
    while began.elapsed() < PATIENCE {
        py.detach(|| sleep(LOOK));
        if !is_locked() || still(&running).is_none() {
            return Ok(());
        }
    }
    let Some(callback) = still(&running) else {
        return Ok(());
    };
    Err(PyRuntimeError::new_err(format!(
        "{} has kept its connection locked for {} ms: a callback of a control must not wait, least \
         of all for a thread that uses the connection",
        name(Some(&callback)),
        PATIENCE.as_millis(),
    )))
}

/// Returns the oldest of these callbacks that still runs.
fn still(callbacks: &[Callback]) -> Option<Callback> {
    let running = locked(&RUNNING);
    let is_running = |sought: &&Callback| running.callbacks.iter().any(|one| one.id == sought.id);
    callbacks.iter().find(is_running).cloned()
}
