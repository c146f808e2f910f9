//! The state shared by an endpoint's driver, handles and connections. Generic over the connection
//! type, which refers back to it.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Waker;

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use skywave_transport::dccp;
use skywave_units::Instant;
use tokio::sync::Notify;
use tracing::{debug, warn};

use crate::clock::Clock;
use crate::closing::Closing;
use crate::config::{EndpointConfig, EndpointStats};
use crate::counters::Counters;
use crate::error::OpenError;
use crate::locked;
use crate::memory::Memory;
use crate::notices::Notices;
use crate::path::Key;
use crate::qlog::Logs;
use crate::sender::Sender;
use crate::socket::Socket;
use crate::table::Table;
use crate::timers::Timers;

/// The sorts of notices that peers can cause.
#[derive(Debug)]
pub(crate) struct Sorts {
    /// A connection that a peer has opened is over.
    pub(crate) ends: Notices,
    /// A limit is reached.
    pub(crate) limits: Notices,
}

impl Default for Sorts {
    fn default() -> Self {
        Self {
            ends: Notices::new(100),
            limits: Notices::new(1),
        }
    }
}

/// Lock order: a flow's lock first, then at most one of the others.
#[derive(Debug)]
pub(crate) struct Shared<F> {
    pub(crate) clock: Clock,
    pub(crate) socket: Socket,
    pub(crate) config: EndpointConfig,
    pub(crate) timers: Timers<F>,
    pub(crate) sender: Sender,
    pub(crate) counters: Counters,
    pub(crate) table: Mutex<Table<F>>,
    /// The data in the connections' queues.
    pub(crate) memory: Memory,
    /// Present if connections are logged.
    pub(crate) logs: Option<Logs>,
    pub(crate) notices: Sorts,
    /// The connections that wait for their peer to confirm a close.
    pub(crate) closing: Closing<F>,
    /// Flows that have left their sending to the driver.
    pending: Mutex<Vec<Arc<F>>>,
    /// The stateless listener for packets that belong to no connection: Requests that are not
    /// stored, their returning cookies, and strays.
    pub(crate) door: Mutex<dccp::Listener>,
    driver: Mutex<Option<Waker>>,
    /// Whether no handle of the endpoint is left.
    pub(crate) is_orphaned: AtomicBool,
    /// Notified when a connection leaves the table.
    pub(crate) fewer: Notify,
    ids: AtomicU64,
}

impl<F> Shared<F> {
    pub(crate) fn new(
        clock: Clock,
        socket: Socket,
        timers: Timers<F>,
        config: EndpointConfig,
    ) -> Result<Self, OpenError> {
        let mut secret = [0; 32];
        getrandom::fill(&mut secret).map_err(OpenError::Random)?;
        let logs = config.qlog.as_deref().map(Logs::new).transpose();
        let logs = logs.map_err(OpenError::Qlog)?;
        let door = dccp::ListenerConfig {
            // Stored half-open connections are flows of this endpoint, not of the stateless
            // listener.
            half_open: 0,
            resets_per_second: config.resets_per_second,
            ..dccp::ListenerConfig::default()
        };
        Ok(Self {
            door: Mutex::new(dccp::Listener::new(door, dccp::Secret::new(secret))),
            table: Mutex::new(Table::new(&config)),
            memory: Memory::new(config.max_queued_bytes),
            closing: Closing::new(config.max_closing),
            logs,
            notices: Sorts::default(),
            clock,
            socket,
            config,
            timers,
            sender: Sender::default(),
            counters: Counters::default(),
            pending: Mutex::default(),
            driver: Mutex::default(),
            is_orphaned: AtomicBool::new(false),
            fewer: Notify::new(),
            ids: AtomicU64::new(0),
        })
    }

    pub(crate) fn next_id(&self) -> u64 {
        self.ids.fetch_add(1, Ordering::Relaxed)
    }

    /// Lets the driver send what `flow` has queued.
    pub(crate) fn defer(&self, flow: Arc<F>) {
        let mut pending = locked(&self.pending);
        pending.push(flow);
        let is_first = pending.len() == 1;
        drop(pending);
        if is_first {
            self.wake_driver();
        }
    }

    /// Takes the connections left to the driver.
    pub(crate) fn take_pending(&self, into: &mut Vec<Arc<F>>) {
        core::mem::swap(&mut *locked(&self.pending), into);
    }

    pub(crate) fn has_pending(&self) -> bool {
        !locked(&self.pending).is_empty()
    }

    pub(crate) fn wake_driver(&self) {
        if let Some(waker) = &*locked(&self.driver) {
            waker.wake_by_ref();
        }
    }

    /// Sets the waker to use from now on.
    pub(crate) fn driven_by(&self, waker: &Waker) {
        let mut driver = locked(&self.driver);
        if !driver.as_ref().is_some_and(|known| known.will_wake(waker)) {
            *driver = Some(waker.clone());
        }
    }

    /// Removes a flow that is over, and whose counters therefore no longer change, from the table.
    pub(crate) fn forget(
        &self,
        key: Key,
        flow: &Arc<F>,
        counted: &dccp::Stats,
        time_wait: Option<Instant>,
    ) {
        let mut table = locked(&self.table);
        table.expire(self.clock.now());
        table.remove(key, flow, counted, time_wait);
        let is_last = table.live() == 0;
        drop(table);
        self.fewer.notify_waiters();
        if is_last {
            self.wake_driver();
        }
    }

    /// Logs that a limit has cost `peer` its connection.
    #[cold]
    pub(crate) fn limit_reached(&self, now: Instant, what: &'static str, peer: SocketAddr) {
        debug!(%peer, "{what}");
        if let Some(suppressed) = self.notices.limits.pass(now) {
            warn!(%peer, suppressed, "limit reached: {what}");
        }
    }

    /// Logs that there is no memory for received data. Not for each packet.
    #[cold]
    pub(crate) fn memory_is_full(&self, now: Instant) {
        if let Some(suppressed) = self.notices.limits.pass(now) {
            warn!(suppressed, "limit reached: queued bytes");
        }
    }

    pub(crate) fn stats(&self) -> EndpointStats {
        let cookies_sent = locked(&self.door).stats().cookies_sent;
        let mut table = locked(&self.table);
        table.expire(self.clock.now());
        EndpointStats {
            connections: table.live(),
            time_waits: table.time_waits(),
            closing: self.closing.count(),
            queued_bytes: self.memory.used(),
            cookies_sent,
            qlog_dropped: self.logs.as_ref().map_or(0, Logs::dropped),
            ..self.counters.stats()
        }
    }
}

/// Creates an unpredictable generator (RFC 4340 section 7.2).
pub(crate) fn random_generator() -> Result<Xoshiro256PlusPlus, getrandom::Error> {
    let mut seed = [0; 32];
    getrandom::fill(&mut seed)?;
    Ok(Xoshiro256PlusPlus::from_seed(seed))
}
