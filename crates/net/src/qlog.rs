//! qlog files of an endpoint's connections.
//!
//! Senders and receivers hand over events and never wait for the disk; a separate thread writes
//! them. Events for which that thread is too slow are dropped and counted, and each file says where
//! events are missing.

mod output;
mod writer;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use bytes::Bytes;
use skywave_qlog::{About, Metrics, Packet, VantagePoint};
use skywave_transport::Transmit;
use skywave_transport::dccp::{Connection, Outlet, Role};
use skywave_units::Instant;
use skywave_wire::dccp;
use skywave_wire::{Checksum, Ecn};
use std::ops::ControlFlow;
use tokio::sync::oneshot;

use crate::path::Key;
use crate::sync::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// The maximum number of events that wait to be written; about 2 MB.
const WAITING: usize = 16_384;

/// The logs of an endpoint.
#[derive(Debug)]
pub(crate) struct Logs {
    directory: PathBuf,
    /// Distinguishes the files from those of other endpoints in the same directory.
    prefix: u32,
    /// Present until the end.
    entries: Option<SyncSender<Entry>>,
    dropped: Arc<AtomicU64>,
    writer: Option<JoinHandle<()>>,
}

/// The log of one connection.
#[derive(Debug)]
pub(crate) struct Log {
    id: u64,
    entries: SyncSender<Entry>,
    dropped: Arc<AtomicU64>,
    /// Events dropped since the last one that was handed over.
    missing: u64,
    /// Notifies the writer when the connection is established, and when this log is dropped.
    progress: Arc<Progress>,
}

/// The state that the writer must learn even if it is too slow for events.
#[derive(Debug, Default)]
struct Progress {
    /// Whether the connection deserves a file: it was opened here, or its handshake is complete.
    /// Requests from forged addresses therefore create none.
    deserves_file: AtomicBool,
}

/// Something for the writer to do.
#[derive(Debug)]
struct Entry {
    /// The connection's number.
    id: u64,
    what: What,
}

#[derive(Debug)]
enum What {
    Begin(Box<Begin>),
    Sent(Instant, Packet),
    Received(Instant, Packet),
    Metrics(Instant, Metrics),
    Missing(Instant, u64),
    /// Write everything to the disk, then drop the sender.
    Flush(oneshot::Sender<()>),
}

#[derive(Debug)]
struct Begin {
    about: About,
    file: PathBuf,
    progress: Arc<Progress>,
}

impl Logs {
    /// Starts the writer, for files in `directory`, which is created if need be.
    pub(crate) fn new(directory: &Path) -> io::Result<Self> {
        std::fs::create_dir_all(directory)?;
        let prefix = getrandom::u32().map_err(io::Error::other)?;
        let (entries, waiting) = sync_channel(WAITING);
        let dropped = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&dropped);
        let writer = thread::Builder::new()
            .name("skywave-qlog".to_owned())
            .spawn(move || writer::run(&waiting, &counted))?;
        Ok(Self {
            directory: directory.to_owned(),
            prefix,
            entries: Some(entries),
            dropped,
            writer: Some(writer),
        })
    }

    /// Returns the number of events dropped so far.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped.load(Relaxed)
    }

    /// Starts the log of a connection; `None` if the writer is too slow.
    pub(crate) fn begin(&self, id: u64, key: &Key, now: Instant, role: Role) -> Option<Log> {
        let entries = self.entries.as_ref()?;
        let (vantage_point, name) = match role {
            Role::Client => (VantagePoint::Client, "client"),
            Role::Server => (VantagePoint::Server, "server"),
        };
        let file = format!("{:08x}-{id}-{name}.sqlog", self.prefix);
        let peer = key.path.peer;
        let (local_port, peer_port) = (key.local_port, key.remote_port);
        let progress = Arc::new(Progress {
            deserves_file: AtomicBool::new(role == Role::Client),
        });
        let begin = Begin {
            about: About {
                title: format!("DCCP {name}, port {local_port} to {peer} port {peer_port}"),
                vantage_point,
                protocol: "DCCP",
                start: now,
            },
            file: self.directory.join(file),
            progress: Arc::clone(&progress),
        };
        let mut log = Log {
            id,
            entries: entries.clone(),
            dropped: Arc::clone(&self.dropped),
            missing: 0,
            progress,
        };
        let is_begun = log.hand_over(What::Begin(Box::new(begin)));
        if !is_begun {
            self.dropped.fetch_add(1, Relaxed);
        }
        is_begun.then_some(log)
    }

    /// Waits until everything handed over so far has been written.
    pub(crate) async fn flush(&self) {
        let Some(entries) = self.entries.clone() else {
            return;
        };
        let (reply, written) = oneshot::channel();
        // There may be no room for this entry.
        let ask = tokio::task::spawn_blocking(move || {
            let _ = entries.send(Entry {
                id: 0,
                what: What::Flush(reply),
            });
        });
        let _ = ask.await;
        let _ = written.await;
    }
}

/// The endpoint and all its connections are gone: waits until the rest is written.
impl Drop for Logs {
    fn drop(&mut self) {
        self.entries = None;
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

impl Log {
    /// Records that the handshake is complete.
    pub(crate) fn established(&self) {
        self.progress.deserves_file.store(true, Relaxed);
    }

    pub(crate) fn sent(&mut self, now: Instant, transmit: &Transmit<dccp::Packet>) {
        let packet = Packet::dccp(&transmit.packet, transmit.ecn);
        self.record(now, What::Sent(now, packet));
    }

    pub(crate) fn received(&mut self, now: Instant, ecn: Ecn, packet: &dccp::Packet) {
        let packet = Packet::dccp(packet, ecn);
        self.record(now, What::Received(now, packet));
    }

    /// Records a packet as bytes, if it is valid.
    pub(crate) fn received_bytes(
        &mut self,
        now: Instant,
        ecn: Ecn,
        bytes: &Bytes,
        checksum: Checksum,
    ) {
        if let Ok(packet) = dccp::Packet::read(bytes.clone(), checksum) {
            self.received(now, ecn, &packet);
        }
    }

    /// Records the state of congestion control.
    pub(crate) fn metrics(&mut self, now: Instant, connection: &Connection) {
        let metrics = Metrics::from(&connection.stats());
        self.record(now, What::Metrics(now, metrics));
    }

    fn record(&mut self, now: Instant, what: What) {
        let missing = self.missing;
        if missing > 0 && !self.hand_over(What::Missing(now, missing)) {
            self.missing += 1;
            self.dropped.fetch_add(1, Relaxed);
            return;
        }
        self.missing = 0;
        if !self.hand_over(what) {
            self.missing = 1;
            self.dropped.fetch_add(1, Relaxed);
        }
    }

    /// Hands something to the writer. Returns false if there is no room.
    fn hand_over(&mut self, what: What) -> bool {
        self.entries.try_send(Entry { id: self.id, what }).is_ok()
    }
}

/// An outlet that records the packets that pass through it.
pub(crate) struct Logged<'a, O> {
    pub(crate) outlet: &'a mut O,
    pub(crate) log: &'a mut Log,
    pub(crate) now: Instant,
}

impl<O: Outlet> Outlet for Logged<'_, O> {
    fn packet(&mut self, transmit: Transmit<dccp::Packet>) -> ControlFlow<()> {
        self.log.sent(self.now, &transmit);
        self.outlet.packet(transmit)
    }
}

/// The entries that wait for the writer.
type Waiting = Receiver<Entry>;
