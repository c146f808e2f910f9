//! Network namespaces, which hide the emulated network from the rest of the system.

use std::fs::File;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use nix::sched::{CloneFlags, unshare};

use crate::EmulateError;

type Task = Box<dyn FnOnce() + Send>;

/// A network namespace, with a thread in it. What the thread opens or starts stays in the
/// namespace, but a socket that it returns can be used anywhere.
///
/// It has no name in the file system, and ends with the last thread, socket and process in it. So
/// nothing is left behind, however the program ends.
#[derive(Debug)]
pub struct Namespace {
    tasks: Option<mpsc::Sender<Task>>,
    thread: Option<JoinHandle<()>>,
    file: File,
}

impl Namespace {
    /// Creates a namespace that contains only a loopback interface, which is down.
    ///
    /// # Errors
    /// [`EmulateError`] if that is not permitted.
    pub fn new() -> Result<Self, EmulateError> {
        Self::with(|| {
            unshare(CloneFlags::CLONE_NEWNET)
                .map_err(|error| EmulateError::system("cannot create a network namespace", error))
        })
    }

    /// Returns the namespace of the calling thread.
    ///
    /// # Errors
    /// [`EmulateError`] if the system has no namespaces.
    pub fn current() -> Result<Self, EmulateError> {
        // A new thread is in the namespace of the one that starts it.
        Self::with(|| Ok(()))
    }

    fn with(
        enter: impl FnOnce() -> Result<(), EmulateError> + Send + 'static,
    ) -> Result<Self, EmulateError> {
        let (tasks, queue) = mpsc::channel::<Task>();
        let (entered, answer) = mpsc::sync_channel(1);
        let work = move || {
            let file = enter().and_then(|()| {
                File::open("/proc/thread-self/ns/net")
                    .map_err(|error| EmulateError::system("cannot open a network namespace", error))
            });
            if entered.send(file).is_ok() {
                queue.into_iter().for_each(|task| task());
            }
        };
        let thread = thread::Builder::new()
            .name("skywave-namespace".to_owned())
            .spawn(work)
            .map_err(|error| EmulateError::system("cannot start a thread", error))?;
        let file = answer.recv().expect("the thread answers");
        Ok(Self {
            file: file?,
            tasks: Some(tasks),
            thread: Some(thread),
        })
    }

    /// Calls `task` in the namespace.
    ///
    /// # Panics
    /// If `task` panics.
    pub fn run<T: Send + 'static>(&self, task: impl FnOnce() -> T + Send + 'static) -> T {
        let (done, outcome) = mpsc::sync_channel(1);
        let task = move || {
            // The thread must outlive it.
            let _ = done.send(catch_unwind(AssertUnwindSafe(task)));
        };
        let tasks = self.tasks.as_ref().expect("there is a thread");
        tasks.send(Box::new(task)).expect("the thread waits");
        let outcome = outcome.recv().expect("the thread answers");
        outcome.unwrap_or_else(|panic| resume_unwind(panic))
    }

    /// Returns a file that refers to the namespace and keeps it alive.
    pub(crate) fn file(&self) -> Result<File, EmulateError> {
        let copy = self.file.try_clone();
        copy.map_err(|error| EmulateError::system("cannot open a network namespace", error))
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        drop(self.tasks.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Writes a kernel setting for the calling thread's namespace; `path` is below `/proc/sys/net`.
///
/// # Errors
/// That of the file.
pub fn set(path: &str, value: &str) -> io::Result<()> {
    std::fs::write(format!("/proc/sys/net/{path}"), value)
}
