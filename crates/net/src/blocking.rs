//! Sockets without `async`: for programs that block, and for bindings to other languages (feature
//! `blocking`).
//!
//! A [`Runtime`] is the tokio runtime of this process. It drives the endpoints on threads of its
//! own. Any other thread can wait for their futures, optionally with a time limit, or with a
//! callback that is polled and may interrupt the wait, as on Ctrl-C.
//!
//! ```
//! use std::net::Ipv4Addr;
//!
//! use skywave_net::blocking::Runtime;
//! use skywave_net::{Endpoint, EndpointConfig, Peer};
//! use skywave_transport::dccp::Config;
//!
//! let runtime = Runtime::of_process()?;
//! let address = (Ipv4Addr::LOCALHOST, 0).into();
//! let endpoint = runtime.enter(|| Endpoint::udp(address, EndpointConfig::default()))?;
//! let listener = endpoint.listen(5001, Config::default())?;
//!
//! let peer = Peer { address: endpoint.local_address(), port: 5001 };
//! let client = runtime.wait(None, endpoint.connect(peer, Config::default()))??;
//! let server = runtime.wait(None, listener.accept())??;
//! runtime.wait(None, client.send("hello"))??;
//! assert_eq!(runtime.wait(None, server.recv())??.expect("a datagram").data, "hello");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Forks
//!
//! A fork inherits sockets and memory, but none of the threads that drive connections, and one of
//! those threads may hold a lock at the time of the fork. Packets from two processes would break a
//! connection for both. A fork must therefore neither use nor close the endpoints and connections
//! that it inherits: keep them in an [`OfProcess`]. [`Runtime::of_process`] starts a separate
//! runtime for the fork, with which it can open endpoints.

mod process;

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::mem::{forget, take};
use std::process::id;
use std::sync::OnceLock;
use std::time::Duration;

use thiserror::Error;
use tokio::runtime::{Builder, Handle};
use tokio::task::JoinHandle;
use tokio::time::timeout;

pub use process::{Forked, OfProcess};

use crate::sync::{Mutex, locked};

/// How often a wait polls its callback.
const POLL: Duration = Duration::from_millis(100);

/// The reason why a wait ended before its future did. `E` is the error of the callback that
/// interrupts it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum WaitError<E = Infallible> {
    /// The time limit has passed.
    #[error("the time limit has passed")]
    TimedOut,
    /// The callback interrupted the wait.
    #[error("the wait was interrupted: {0}")]
    Interrupted(E),
    /// The wait was called in a thread that drives connections, or within another runtime.
    #[error("a thread of the network cannot wait for the network")]
    InsideRuntime,
    /// The runtime belongs to another process.
    #[error(transparent)]
    Forked(#[from] Forked),
}

/// A runtime, the process that started it, and the one started by a fork of that process.
#[derive(Debug)]
struct Started {
    opener: u32,
    runtime: tokio::runtime::Runtime,
    /// The tasks that run in the background.
    background: Mutex<Vec<JoinHandle<()>>>,
    next: OnceLock<Box<Self>>,
}

/// The runtimes of this process and of the processes that it was forked from, oldest first. Nothing
/// leaves the list, because a runtime cannot be dropped in a fork, where its threads do not exist.
/// Reading takes no lock that a fork could inherit.
static STARTED: OnceLock<Box<Started>> = OnceLock::new();

/// The tokio runtime of this process, with several threads.
///
/// It runs until the process ends.
#[derive(Clone, Copy, Debug)]
pub struct Runtime(&'static Started);

impl Runtime {
    /// Returns the runtime of this process. The first call starts it.
    ///
    /// # Errors
    ///
    /// The system has no threads or descriptors left.
    pub fn of_process() -> io::Result<Self> {
        Self::of_process_or(|_| {})
    }

    /// Returns the runtime of this process. If there is none, starts one after calling `configure`,
    /// which may name its threads or limit their number.
    ///
    /// A program that may fork while another thread makes the first call must guard both with the
    /// same lock.
    ///
    /// # Errors
    ///
    /// The system has no threads or descriptors left.
    pub fn of_process_or(configure: impl FnOnce(&mut Builder)) -> io::Result<Self> {
        if let Some(runtime) = Self::started() {
            return Ok(runtime);
        }
        let mut builder = Builder::new_multi_thread();
        builder.enable_all();
        configure(&mut builder);
        let mut new = Box::new(Started {
            opener: id(),
            runtime: builder.build()?,
            background: Mutex::default(),
            next: OnceLock::new(),
        });
        let mut place = &STARTED;
        loop {
            match place.set(new) {
                Ok(()) => break,
                Err(refused) => new = refused,
            }
            let earlier = place.get().expect("it is set, since it refused another");
            if earlier.opener == new.opener {
                // Another thread was faster.
                new.runtime.shutdown_background();
                break;
            }
            place = &earlier.next;
        }
        Ok(Self::started().expect("this thread or another has started it"))
    }

    /// Returns the runtime of this process, if it has one.
    pub fn started() -> Option<Self> {
        let here = id();
        let next = |started: &&'static Started| started.next.get().map(Box::as_ref);
        let mut all = core::iter::successors(STARTED.get().map(Box::as_ref), next);
        all.find(|started| started.opener == here).map(Self)
    }

    /// Calls `action` within the runtime, as [`Endpoint::udp`](crate::Endpoint::udp) requires.
    pub fn enter<T>(self, action: impl FnOnce() -> T) -> T {
        let _within = self.0.runtime.enter();
        action()
    }

    /// Returns tokio's handle to the runtime, for asynchronous work.
    pub fn handle(self) -> &'static Handle {
        self.0.runtime.handle()
    }

    /// Waits for `future`, for at most `limit` if one is given. A future that is ready succeeds with
    /// any limit.
    ///
    /// # Errors
    ///
    /// [`WaitError::TimedOut`], [`WaitError::InsideRuntime`], or [`WaitError::Forked`].
    pub fn wait<T>(
        self,
        limit: Option<Duration>,
        future: impl Future<Output = T>,
    ) -> Result<T, WaitError> {
        self.wait_unless(|| Ok(()), limit, future)
    }

    /// Waits for `future`, like [`wait`](Self::wait), until `interrupt` returns an error.
    ///
    /// `interrupt` is polled ten times a second, in this thread and outside of the runtime, so that
    /// it may use the network itself. It may fork: the wait then continues in the parent only.
    ///
    /// # Errors
    ///
    /// [`WaitError::Interrupted`], or an error of [`wait`](Self::wait).
    pub fn wait_unless<T, E>(
        self,
        mut interrupt: impl FnMut() -> Result<(), E>,
        limit: Option<Duration>,
        future: impl Future<Output = T>,
    ) -> Result<T, WaitError<E>> {
        if Handle::try_current().is_ok() {
            return Err(WaitError::InsideRuntime);
        }
        Forked::check(self.0.opener)?;
        let limited = async {
            match limit {
                None => Ok(future.await),
                Some(limit) => timeout(limit, future)
                    .await
                    .map_err(|_| WaitError::TimedOut),
            }
        };
        let mut limited = Box::pin(limited);
        loop {
            let turn = async { timeout(POLL, limited.as_mut()).await };
            if let Ok(answer) = self.0.runtime.block_on(turn) {
                return answer;
            }
            let interrupted = interrupt();
            if let Err(forked) = Forked::check(self.0.opener) {
                // Dropping it could end the parent's connections, or wait for threads that are not
                // here.
                forget(limited);
                return Err(forked.into());
            }
            interrupted.map_err(WaitError::Interrupted)?;
        }
    }

    /// Runs `future` in the background, such as one that closes a connection.
    pub fn in_background(self, future: impl Future<Output = ()> + Send + 'static) {
        let task = self.0.runtime.spawn(future);
        let mut background = locked(&self.0.background);
        background.retain(|task| !task.is_finished());
        background.push(task);
    }

    /// Waits until everything that [runs in the background](Self::in_background) has ended, as a
    /// program should before it exits. Does not wait for anything that starts in the meantime.
    pub async fn background_ended(self) {
        let tasks = take(&mut *locked(&self.0.background));
        for task in tasks {
            // There is nobody to report a panic to.
            let _ended = task.await;
        }
    }
}
