//! The thread that writes logs.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use skywave_qlog::Trace;

use super::output::Output;
use super::{Begin, Entry, Progress, WAITING, Waiting, What};

use crate::sync::{AtomicU64, Ordering::Relaxed};

/// How often everything is written to the disk, and files of connections that are over are closed.
const FLUSH: Duration = Duration::from_millis(100);

struct File {
    trace: Trace<Output>,
    progress: Arc<Progress>,
    /// How many entries had been taken when its log was first found to be dropped.
    dropped_at: Option<u64>,
}

/// Writes the entries that arrive, until no sender is left. Counts in `dropped` the events
/// that cannot be written: after an error (the disk is full, or too many files are open) the
/// connection's file stays as it is, and the rest of its events is dropped.
pub(super) fn run(waiting: &Waiting, dropped: &AtomicU64) {
    let mut files: HashMap<u64, File> = HashMap::new();
    let (mut flushed, mut taken) = (Instant::now(), 0);
    loop {
        let entry = match waiting.recv_timeout(FLUSH) {
            Ok(entry) => Some(entry),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => return,
        };
        match entry {
            Some(Entry {
                what: What::Flush(reply),
                ..
            }) => {
                flush(&mut files, taken);
                drop(reply);
            }
            Some(Entry { id, what }) => {
                if take(&mut files, id, what).is_err() {
                    dropped.fetch_add(1, Relaxed);
                    files.remove(&id);
                }
            }
            // None is waiting, so entries taken from now on were added after all of these.
            None => taken += WAITING as u64,
        }
        taken += 1;
        if flushed.elapsed() >= FLUSH {
            flush(&mut files, taken);
            flushed = Instant::now();
        }
    }
}

fn take(files: &mut HashMap<u64, File>, id: u64, what: What) -> io::Result<()> {
    if let What::Begin(begin) = what {
        let Begin {
            about,
            file,
            progress,
        } = *begin;
        let output = Output {
            path: file,
            progress: Arc::clone(&progress),
            waiting: Vec::new(),
            file: None,
        };
        let trace = Trace::new(output, about)?;
        let file = File {
            trace,
            progress,
            dropped_at: None,
        };
        files.insert(id, file);
        return Ok(());
    }
    let Some(File { trace, .. }) = files.get_mut(&id) else {
        return Err(io::ErrorKind::NotFound.into());
    };
    match what {
        What::Sent(at, packet) => trace.sent(at, &packet),
        What::Received(at, packet) => trace.received(at, &packet),
        What::Metrics(at, metrics) => trace.metrics(at, &metrics),
        What::Missing(at, events) => trace.missing(at, events),
        What::Begin(_) | What::Flush(_) => Ok(()),
    }
}

/// Writes everything to the disk, and closes the files of logs that were dropped and whose last
/// entry has been taken: no more than [`WAITING`] can have waited.
fn flush(files: &mut HashMap<u64, File>, taken: u64) {
    files.retain(|_, file| {
        // One reference is here, the output holds another, and the log holds the third.
        if Arc::strong_count(&file.progress) <= 2 {
            file.dropped_at.get_or_insert(taken);
        }
        let is_over = file
            .dropped_at
            .is_some_and(|at| taken - at >= WAITING as u64);
        file.trace.flush().is_ok() && !is_over
    });
}
