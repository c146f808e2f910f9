//! The part common to all protocols: threads for the ends, data to send, counters and timing.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use bytes::Bytes;
use memory_stats::memory_stats;
use nix::time::{ClockId, clock_gettime};

use super::report::{Measured, Options, median};
use crate::PerfError;

/// The largest UDP payload over IPv4.
pub(super) const UDP_LARGEST: usize = 65_507;
/// The largest datagram that DCCP accepts, and so the largest measured.
pub(super) const LARGEST: usize = 64_515;
/// The contents of datagrams: the same bytes for all protocols.
pub(super) static DATA: [u8; UDP_LARGEST] = [7; UDP_LARGEST];
/// The size of a ping in bytes.
pub(super) const PING: usize = 100;
/// Warm-up time, after which a stream is counted.
pub(super) const WARM_UP: Duration = Duration::from_millis(200);
/// How much longer than planned to wait for a stream that delivers nothing.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);
/// The polling interval during that wait.
pub(super) const LOOK: Duration = Duration::from_millis(1);

/// The threads on which the two ends run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Threads {
    /// One thread for both.
    One,
    /// One thread for each.
    Two,
}

/// An end that sends a ping and waits for its return.
pub(super) trait Ping {
    fn ping(&mut self) -> impl Future<Output = Result<(), PerfError>> + Send;
}

/// The results of a stream of datagrams: the first fields of [`Measured`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Stream {
    pub(super) datagrams_per_s: f64,
    pub(super) goodput_bps: f64,
    pub(super) cpu_ns_per_datagram: f64,
}

impl Stream {
    pub(super) fn with(&self, ping: &PingPong, one_thread: Option<&PingPong>) -> Measured {
        Measured {
            datagrams_per_s: self.datagrams_per_s,
            goodput_bps: self.goodput_bps,
            cpu_ns_per_datagram: self.cpu_ns_per_datagram,
            round_trip_mean_us: ping.mean_us,
            round_trip_median_us: ping.median_us,
            one_thread_round_trip_median_us: one_thread.map(|ping| ping.median_us),
        }
    }
}

/// Round trips.
#[derive(Clone, Copy, Debug)]
pub(super) struct PingPong {
    pub(super) mean_us: f64,
    pub(super) median_us: f64,
}

impl PingPong {
    pub(super) fn of(round_trips: &[Duration]) -> Self {
        let micros = round_trips.iter().map(|time| time.as_secs_f64() * 1e6);
        Self {
            mean_us: micros.clone().sum::<f64>() / round_trips.len().max(1) as f64,
            median_us: median(micros),
        }
    }
}

/// State shared by the two ends and the measurement.
#[derive(Clone, Debug, Default)]
pub(super) struct Run {
    arrived: Arc<AtomicU64>,
    is_over: Arc<AtomicBool>,
}

impl Run {
    pub(super) fn count(&self, datagrams: u64) {
        self.arrived.fetch_add(datagrams, Ordering::Relaxed);
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// Counts arrivals while both ends run, for the configured time and until at least one has
    /// arrived. Then ends the run.
    pub(super) fn measure(
        &self,
        options: &Options,
        has_stopped: impl Fn() -> bool,
    ) -> Result<Stream, PerfError> {
        thread::sleep(WARM_UP);
        let (first, cpu, start) = (
            self.arrived.load(Ordering::Relaxed),
            cpu_s()?,
            Instant::now(),
        );
        thread::sleep(options.duration);
        let arrived = || self.arrived.load(Ordering::Relaxed) - first;
        // On a busy machine, neither end may have run yet.
        while arrived() == 0 && !has_stopped() && start.elapsed() < options.duration + PATIENCE {
            thread::sleep(LOOK);
        }
        let datagrams = arrived() as f64;
        let (elapsed, cpu) = (start.elapsed().as_secs_f64(), cpu_s()? - cpu);
        self.is_over.store(true, Ordering::Relaxed);
        if datagrams == 0.0 {
            return Err(PerfError::Silent);
        }
        Ok(Stream {
            datagrams_per_s: datagrams / elapsed,
            goodput_bps: 8.0 * options.datagram as f64 * datagrams / elapsed,
            cpu_ns_per_datagram: cpu * 1e9 / datagrams,
        })
    }
}

/// The ends of a connection, each on its own thread. The client's result is awaited first, then the
/// server's end.
#[derive(Debug)]
pub(super) struct Ends<T> {
    pub(super) server: JoinHandle<Result<(), PerfError>>,
    pub(super) client: JoinHandle<Result<T, PerfError>>,
}

impl<T> Ends<T> {
    /// Returns whether either end has stopped.
    pub(super) fn has_stopped(&self) -> bool {
        self.server.is_finished() || self.client.is_finished()
    }

    pub(super) fn join(self) -> Result<T, PerfError> {
        let answer = join(self.client)?;
        join(self.server)?;
        Ok(answer)
    }
}

/// Runs a future on its own thread and runtime. It runs as a task, because other tasks can wake the
/// future that a runtime blocks on only after it polls all sockets.
pub(super) fn on_thread<T, F>(
    make: impl FnOnce() -> F + Send + 'static,
) -> JoinHandle<Result<T, PerfError>>
where
    T: Send + 'static,
    F: Future<Output = Result<T, PerfError>> + Send + 'static,
{
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let task = runtime.spawn(make());
        runtime.block_on(task).map_err(|_| PerfError::Stopped)?
    })
}

/// Returns a datagram of `size` bytes, at most [`LARGEST`].
pub(super) fn datagram(size: usize) -> Bytes {
    Bytes::from_static(&DATA[..size])
}

pub(super) fn join<T>(end: JoinHandle<Result<T, PerfError>>) -> Result<T, PerfError> {
    end.join().map_err(|_| PerfError::Stopped)?
}

/// Returns the CPU time used by this process so far, user and system, in seconds.
pub(super) fn cpu_s() -> io::Result<f64> {
    let time = clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID)?;
    Ok(time.tv_sec() as f64 + time.tv_nsec() as f64 * 1e-9)
}

/// Returns the resident memory in bytes.
pub(super) fn resident() -> Result<u64, PerfError> {
    let known = memory_stats()
        .ok_or_else(|| io::Error::other("the system does not report memory in use"))?;
    Ok(known.physical_mem as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_not_waited_for_where_an_end_has_stopped() {
        let (run, start) = (Run::default(), Instant::now());
        let options = Options {
            duration: Duration::ZERO,
            ..Options::default()
        };
        let silent = run.measure(&options, || true);
        assert!(matches!(silent, Err(PerfError::Silent)));
        assert!(start.elapsed() < PATIENCE);
    }

    #[test]
    fn a_stream_is_counted_until_something_arrives() {
        let (run, options) = (
            Run::default(),
            Options {
                duration: Duration::ZERO,
                ..Options::default()
            },
        );
        let late = run.clone();
        let sender = thread::spawn(move || {
            thread::sleep(2 * WARM_UP);
            while !late.is_over() {
                late.count(3);
            }
        });
        let stream = run.measure(&options, || false).unwrap();
        sender.join().unwrap();
        assert!(stream.datagrams_per_s > 0.0, "{stream:?}");
    }

    #[test]
    fn round_trips_are_summed_up() {
        let times = [5, 1, 3].map(Duration::from_micros).to_vec();
        let summary = PingPong::of(&times);
        assert!((summary.mean_us - 3.0).abs() < 1e-9);
        assert!((summary.median_us - 3.0).abs() < 1e-9);
    }
}
