//! The state shared by an endpoint's drivers, handles and connections. Generic over the connection
//! type, which refers back to it.

pub(crate) mod closing;
pub(crate) mod mailbox;
pub(crate) mod pending;
pub(crate) mod shard;
pub(crate) mod table;
pub(crate) mod timers;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use rand::SeedableRng;
use skywave_transport::dccp;
use skywave_units::{Instant, Random};
use tokio::sync::Notify;
use tracing::{debug, warn};

use crate::config::{EndpointConfig, EndpointStats};
use crate::counters::Counters;
use crate::error::OpenError;
use crate::limits::memory::Memory;
use crate::limits::notices::Notices;
use crate::path::{Key, Local};
use crate::qlog::Logs;
use crate::shared::closing::Closing;
use crate::shared::shard::Shard;
use crate::shared::table::Table;
use crate::sync::{AtomicBool, AtomicU64, Mutex, Ordering, locked};
use crate::system::clock::Clock;

/// The kinds of notices that peers can cause.
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
    pub(crate) local: Local,
    pub(crate) shards: Box<[Shard<F>]>,
    pub(crate) config: EndpointConfig,
    pub(crate) counters: Counters,
    pub(crate) table: Mutex<Table<F>>,
    /// The data in the connections' queues.
    pub(crate) memory: Memory,
    /// Present if connections are logged.
    pub(crate) logs: Option<Logs>,
    pub(crate) notices: Sorts,
    /// Limits how many network reports are processed.
    pub(crate) reports: Mutex<dccp::RateLimit>,
    /// The connections that wait for their peer to confirm a close.
    pub(crate) closing: Closing<F>,
    /// The stateless listener for packets that belong to no connection: Requests that are not
    /// stored, their returning cookies, and strays.
    pub(crate) door: Mutex<dccp::Listener>,
    /// Whether no handle of the endpoint is left.
    pub(crate) is_orphaned: AtomicBool,
    /// Notified when a connection leaves the table.
    pub(crate) fewer: Notify,
    ids: AtomicU64,
}

impl<F> Shared<F> {
    pub(crate) fn new(
        clock: Clock,
        local: Local,
        shards: Box<[Shard<F>]>,
        config: EndpointConfig,
    ) -> Result<Self, OpenError> {
        let mut secret = [0; 32];
        getrandom::fill(&mut secret).map_err(|error| OpenError::Random(error.into()))?;
        #[cfg(feature = "qlog")]
        let logs = logs(&config)?;
        #[cfg(not(feature = "qlog"))]
        let logs = None;
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
            memory: Memory::new(
                usize::try_from(config.max_queued_bytes.get()).unwrap_or(usize::MAX),
            ),
            closing: Closing::new(config.max_closing),
            logs,
            notices: Sorts::default(),
            reports: Mutex::default(),
            clock,
            local,
            shards,
            config,
            counters: Counters::default(),
            is_orphaned: AtomicBool::new(false),
            fewer: Notify::new(),
            ids: AtomicU64::new(0),
        })
    }

    pub(crate) fn next_id(&self) -> u64 {
        self.ids.fetch_add(1, Ordering::Relaxed)
    }

    /// Returns the shard of the connection with this key.
    pub(crate) fn home(&self, key: &Key) -> usize {
        shard::home(key.local_port, key.remote_port, self.shards.len())
    }

    /// Wakes all drivers.
    pub(crate) fn wake_drivers(&self) {
        for shard in &self.shards {
            shard.pending.wake();
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
            self.wake_drivers();
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

    /// Logs that there is no memory for received data, but not for every packet.
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
pub(crate) fn random_generator() -> io::Result<Random> {
    let mut seed = [0; 32];
    getrandom::fill(&mut seed)?;
    Ok(Random::from_seed(seed))
}

/// Starts the logs that a configuration requests.
#[cfg(feature = "qlog")]
fn logs(config: &EndpointConfig) -> Result<Option<Logs>, OpenError> {
    let open = |directory: &std::path::PathBuf| {
        Logs::new(directory).map_err(|source| OpenError::Qlog {
            directory: directory.clone(),
            source,
        })
    };
    config.qlog.as_ref().map(open).transpose()
}
