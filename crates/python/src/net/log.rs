//! Events of the network, on their way to Python's logging.
//!
//! An event may happen in any thread, with any lock held. So it waits neither for the interpreter nor
//! for a slow handler: it is formatted and put into a bounded queue, which a thread of Python empties
//! (`skywave/net/log.py`). Events for which there is no room are counted.

use std::io;
use std::process;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, Once, OnceLock, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use pyo3::prelude::*;
use tracing::callsite::rebuild_interest_cache;
use tracing::level_filters::LevelFilter;
use tracing::subscriber::Interest;
use tracing::{Level, Metadata, Subscriber};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::{Context, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, fmt};

use super::arguments::TimeLimit;

/// How many events may wait: some megabytes of text.
const CAPACITY: usize = 10_000;

/// The most events that are handed over at once.
const BATCH: usize = 1_000;

/// An event: Python's level, the time since 1970 in seconds, and the text.
type Event = (u8, f64, String);

/// Python's level of the least severe events that anyone wants.
static LEVEL: AtomicU8 = AtomicU8::new(u8::MAX);

/// The queues of this process and of the processes that it was forked from, oldest first. A fork
/// leaves the queue of its parent alone, since one of the parent's threads may have locked it.
static QUEUES: OnceLock<Box<Queue>> = OnceLock::new();

struct Queue {
    process: u32,
    /// `None` wakes the receiver.
    sender: SyncSender<Option<Event>>,
    receiver: Mutex<Receiver<Option<Event>>>,
    lost: AtomicU64,
    is_closed: AtomicBool,
    next: OnceLock<Box<Self>>,
}

impl Queue {
    fn new() -> Self {
        let (sender, receiver) = sync_channel(CAPACITY);
        Self {
            process: process::id(),
            sender,
            receiver: Mutex::new(receiver),
            lost: AtomicU64::new(0),
            is_closed: AtomicBool::new(false),
            next: OnceLock::new(),
        }
    }

    /// Returns the queue of this process. The first call makes it.
    fn of_process() -> &'static Self {
        let here = process::id();
        let mut place = &QUEUES;
        loop {
            let queue = place.get_or_init(|| Box::new(Self::new()));
            if queue.process == here {
                return queue;
            }
            place = &queue.next;
        }
    }

    fn put(&self, event: Event) {
        if self.sender.try_send(Some(event)).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Waits for events, but not for longer than `limit`; `None` once there will be no more.
    fn take(&self, limit: Duration) -> Option<Vec<Event>> {
        let receiver = self.receiver.lock().unwrap_or_else(PoisonError::into_inner);
        let is_closed = self.is_closed.load(Ordering::Acquire);
        let first = if is_closed {
            receiver.try_recv().ok()
        } else {
            receiver.recv_timeout(limit).ok()
        };
        let events: Vec<_> = first
            .into_iter()
            .chain(receiver.try_iter().take(BATCH))
            .flatten()
            .collect();
        (!is_closed || !events.is_empty()).then_some(events)
    }

    fn close(&self) {
        self.is_closed.store(true, Ordering::Release);
        // A receiver that waits has an empty queue.
        let _woken = self.sender.try_send(None);
    }
}

/// Lets events through from [`LEVEL`] on. What it decides is remembered, so that a packet pays for
/// one comparison.
struct Threshold;

impl Threshold {
    fn lets_through(metadata: &Metadata<'_>) -> bool {
        python_level(*metadata.level()) >= LEVEL.load(Ordering::Relaxed)
    }
}

impl<S: Subscriber> Layer<S> for Threshold {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        if Self::lets_through(metadata) {
            Interest::always()
        } else {
            Interest::never()
        }
    }

    fn enabled(&self, metadata: &Metadata<'_>, _: Context<'_, S>) -> bool {
        Self::lets_through(metadata)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        let level = LEVEL.load(Ordering::Relaxed);
        let wanted = |given: &Level| python_level(*given) >= level;
        let levels = [
            Level::TRACE,
            Level::DEBUG,
            Level::INFO,
            Level::WARN,
            Level::ERROR,
        ];
        let most_verbose = levels.into_iter().find(wanted);
        Some(most_verbose.map_or(LevelFilter::OFF, LevelFilter::from_level))
    }
}

/// Returns the number that Python's logging gives to a level; it has none of its own for `TRACE`.
fn python_level(level: Level) -> u8 {
    match level {
        Level::TRACE => 5,
        Level::DEBUG => 10,
        Level::INFO => 20,
        Level::WARN => 30,
        Level::ERROR => 40,
    }
}

/// Writes events into the queue.
struct ToQueue;

/// An event of this level, which is written in one piece.
struct Line(Level);

impl MakeWriter<'_> for ToQueue {
    type Writer = Line;

    fn make_writer(&self) -> Line {
        Line(Level::INFO)
    }

    fn make_writer_for(&self, event: &Metadata<'_>) -> Line {
        Line(*event.level())
    }
}

impl io::Write for Line {
    #[expect(clippy::disallowed_methods, reason = "a log has the time of day")]
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(line).trim_end().to_owned();
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let time_s = now.map_or(0.0, |now| now.as_secs_f64());
        Queue::of_process().put((python_level(self.0), time_s, text));
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Makes Python's logging ready for events. Before anything is opened, listened to or connected.
pub(super) fn watch(py: Python<'_>) -> PyResult<()> {
    py.import("skywave.net.log")?.call_method0("watch")?;
    Ok(())
}

/// Logs events from this level on.
#[pyfunction]
pub(super) fn set_log_level(level: u8) {
    static SUBSCRIBED: Once = Once::new();
    // Made with the interpreter held, as `os.fork` holds it.
    Queue::of_process();
    SUBSCRIBED.call_once(|| {
        let formatted = fmt()
            .with_writer(ToQueue)
            .with_ansi(false)
            .with_level(false)
            .with_target(false)
            .without_time()
            .with_max_level(LevelFilter::TRACE);
        // Another subscriber would be one of this extension, and there is none.
        let _first = formatted.finish().with(Threshold).try_init();
    });
    if LEVEL.swap(level, Ordering::Relaxed) != level {
        rebuild_interest_cache();
    }
}

/// Returns how many events were lost since the last call, and those that have happened since: at once
/// if there are any, or after a while. ``None`` once there will be no more.
#[pyfunction]
pub(super) fn next_log(py: Python<'_>, timeout_s: TimeLimit) -> Option<(u64, Vec<Event>)> {
    let queue = Queue::of_process();
    let events = py.detach(|| queue.take(timeout_s.duration))?;
    Some((queue.lost.swap(0, Ordering::Relaxed), events))
}

/// Ends the log: ``next_log`` returns what is left, and then ``None``.
#[pyfunction]
pub(super) fn close_log() {
    set_log_level(u8::MAX);
    Queue::of_process().close();
}
