//! Both ends on this host, over loopback: DCCP over UDP beside plain UDP with the same system calls
//! (the limit) and, built with the feature `quinn`, beside quinn's datagrams.
//!
//! The limit is a hard one: plain UDP sends the same buffer over and over and counts what arrives by
//! the length of each read, where DCCP numbers, acknowledges and hands over each datagram. Both send
//! and read up to 64 datagrams in a call; quinn's datagrams can only be sent one by one.
//!
//! Each end is a task on a single-threaded runtime with a thread of its own. DCCP's and plain UDP's
//! round trips share their threads, and are measured with both ends on one thread as well.

mod dccp;
mod host;
mod plain;
#[cfg(feature = "quinn")]
mod quic;
mod round_trips;

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use bytes::Bytes;
use memory_stats::memory_stats;
use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;

use self::host::Ticks;
use self::round_trips::Threads;
use crate::PerfError;

/// The largest UDP payload over IPv4.
const UDP_LARGEST: usize = 65_507;
/// The largest datagram that DCCP takes, and so what is measured.
const LARGEST: usize = 64_515;
/// What datagrams carry: the same bytes over and over, whatever the protocol.
static DATA: [u8; UDP_LARGEST] = [7; UDP_LARGEST];
/// Bytes of a ping.
const PING: usize = 100;
/// A stream is counted after this.
const WARM_UP: Duration = Duration::from_millis(200);
/// How much longer than it should a stream is waited for that brings nothing.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often it is looked at then.
const LOOK: Duration = Duration::from_millis(1);

/// What to measure.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// For how long each protocol's stream is counted, in all rounds together.
    pub duration: Duration,
    /// Rounds, at least one. The protocols take turns, so that whatever else the machine does strikes
    /// all of them.
    pub rounds: u32,
    /// Bytes of data in a datagram of a stream.
    pub datagram: usize,
    /// Pings of each protocol, in all rounds together, of which each has whole turns of 50; and as many
    /// again with both ends on one thread.
    pub pings: usize,
    /// Idle connections whose memory is measured; none for 0.
    pub idle: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            duration: Duration::from_secs(5),
            rounds: 15,
            datagram: 1200,
            pings: 20_000,
            idle: 10_000,
        }
    }
}

/// What was measured.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// DCCP over UDP, CCID 2: the median of the rounds, figure by figure, as for the others.
    pub dccp: Measured,
    /// Plain UDP.
    pub udp: Measured,
    /// quinn's datagrams; absent unless it was built with the feature `quinn`.
    pub quinn: Option<Measured>,
    /// DCCP beside the others.
    pub ratios: Ratios,
    /// The rounds one by one.
    pub rounds: Vec<Round>,
    /// What idle connections take.
    pub idle: Option<Idle>,
    /// How late a timer of 2 ms fires.
    pub timer: Lateness,
}

/// One protocol.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Measured {
    /// Datagrams that arrived in a second.
    pub datagrams_per_s: f64,
    /// Bits of data that arrived in a second.
    pub goodput_bps: f64,
    /// CPU time of both ends for a datagram that arrived, in nanoseconds.
    pub cpu_ns_per_datagram: f64,
    /// Mean round trip of a ping of 100 bytes, in microseconds.
    pub round_trip_mean_us: f64,
    /// Its median.
    pub round_trip_median_us: f64,
    /// The median with both ends on one thread; not measured for quinn.
    pub one_thread_round_trip_median_us: Option<f64>,
}

/// DCCP beside the others.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Ratios {
    /// Datagrams per second, DCCP's over plain UDP's: the median of the rounds' ratios.
    pub datagrams_dccp_over_udp: f64,
    /// CPU time of a datagram, plain UDP's over DCCP's, likewise. Where both ends share what CPU
    /// there is, as on a busy machine, this is what the ratio above comes to.
    pub cpu_udp_over_dccp: f64,
    /// Datagrams per second, DCCP's over quinn's, likewise.
    pub datagrams_dccp_over_quinn: Option<f64>,
    /// Median round trip, DCCP's less plain UDP's, in microseconds: the median of the rounds.
    pub round_trip_dccp_less_udp_us: f64,
    /// The same with both ends on one thread: the work that DCCP is more than plain UDP.
    pub one_thread_round_trip_dccp_less_udp_us: f64,
}

/// All protocols, one after the other.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Round {
    /// DCCP over UDP, CCID 2.
    pub dccp: Measured,
    /// Plain UDP.
    pub udp: Measured,
    /// quinn's datagrams.
    pub quinn: Option<Measured>,
    /// Median round trip, DCCP's less plain UDP's, in microseconds, where both used the same threads
    /// in turn: the median of the turns.
    pub round_trip_dccp_less_udp_us: f64,
    /// The same with both ends on one thread.
    pub one_thread_round_trip_dccp_less_udp_us: f64,
    /// The share of the processors' time that the host of a virtual machine gave to others during
    /// DCCP's and plain UDP's streams; `None` where the system does not tell.
    pub stolen: Option<f64>,
}

/// Connections that exist and do nothing.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Idle {
    /// Connections; both ends are in this process.
    pub connections: usize,
    /// Resident memory that they added, in bytes.
    pub bytes: u64,
    /// The same for one end of one of them.
    pub bytes_per_end: u64,
}

/// How late a timer fires, in microseconds.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Lateness {
    /// On average.
    pub mean_us: f64,
    /// One in a hundred is later than this.
    pub p99_us: f64,
}

/// Measures everything. `progress` is told the stage and the fraction done, and answers whether to
/// go on.
///
/// # Errors
///
/// See [`PerfError`].
pub fn run(
    options: &Options,
    mut progress: impl FnMut(&str, f64) -> bool,
) -> Result<Report, PerfError> {
    if !(1..=LARGEST).contains(&options.datagram) {
        return Err(PerfError::Datagram {
            size: options.datagram,
            largest: LARGEST,
        });
    }
    let count = options.rounds.max(1);
    let stages = 2 * count + 3;
    let mut done = 0;
    let mut stage = |name: &str| {
        let goes_on = progress(name, f64::from(done) / f64::from(stages));
        done += 1;
        goes_on.then_some(()).ok_or(PerfError::Interrupted)
    };
    let share = Options {
        duration: options.duration / count,
        pings: options.pings.div_ceil(count as usize),
        ..*options
    };
    let mut rounds = Vec::new();
    for _ in 0..count {
        stage("streams")?;
        let before = Ticks::now();
        let udp = plain::stream(&share)?;
        let dccp = dccp::stream(&share)?;
        let stolen = Ticks::now()
            .zip(before)
            .map(|(now, before)| now.stolen_since(before));
        let quinn = quinn_stream(&share)?;
        stage("round trips")?;
        let [two_threads, one_thread] =
            [Threads::Two, Threads::One].map(|threads| round_trips::measure(share.pings, threads));
        let (two_threads, one_thread) = (two_threads?, one_thread?);
        let quinn = quinn.zip(quinn_ping_pong(&share)?);
        rounds.push(Round {
            udp: udp.with(&two_threads.udp, Some(&one_thread.udp)),
            dccp: dccp.with(&two_threads.dccp, Some(&one_thread.dccp)),
            quinn: quinn.map(|(stream, pings)| stream.with(&pings, None)),
            round_trip_dccp_less_udp_us: two_threads.dccp_less_udp_us,
            one_thread_round_trip_dccp_less_udp_us: one_thread.dccp_less_udp_us,
            stolen,
        });
    }
    stage("timers")?;
    let timer = dccp::timer_lateness()?;
    stage("idle connections")?;
    let idle = (options.idle > 0)
        .then(|| dccp::idle_memory(options.idle))
        .transpose()?;
    stage("done")?;
    let quinns: Option<Vec<_>> = rounds.iter().map(|round| round.quinn).collect();
    Ok(Report {
        dccp: middle(rounds.iter().map(|round| round.dccp)),
        udp: middle(rounds.iter().map(|round| round.udp)),
        quinn: quinns.map(|quinns| middle(quinns.into_iter())),
        ratios: Ratios::of(&rounds),
        rounds,
        idle,
        timer,
    })
}

impl Ratios {
    fn of(rounds: &[Round]) -> Self {
        let datagrams = |measured: Measured| measured.datagrams_per_s;
        let over_quinn = |round: &Round| Some(datagrams(round.dccp) / datagrams(round.quinn?));
        let over_quinn: Option<Vec<_>> = rounds.iter().map(over_quinn).collect();
        Self {
            datagrams_dccp_over_udp: median(
                rounds
                    .iter()
                    .map(|round| datagrams(round.dccp) / datagrams(round.udp)),
            ),
            cpu_udp_over_dccp: median(
                rounds
                    .iter()
                    .map(|round| round.udp.cpu_ns_per_datagram / round.dccp.cpu_ns_per_datagram),
            ),
            datagrams_dccp_over_quinn: over_quinn.map(|ratios| median(ratios.into_iter())),
            round_trip_dccp_less_udp_us: median(
                rounds.iter().map(|round| round.round_trip_dccp_less_udp_us),
            ),
            one_thread_round_trip_dccp_less_udp_us: median(
                rounds
                    .iter()
                    .map(|round| round.one_thread_round_trip_dccp_less_udp_us),
            ),
        }
    }
}

#[cfg(feature = "quinn")]
fn quinn_stream(options: &Options) -> Result<Option<Stream>, PerfError> {
    quic::stream(options).map(Some)
}

#[cfg(not(feature = "quinn"))]
const fn quinn_stream(_: &Options) -> Result<Option<Stream>, PerfError> {
    Ok(None)
}

#[cfg(feature = "quinn")]
fn quinn_ping_pong(options: &Options) -> Result<Option<PingPong>, PerfError> {
    quic::ping_pong(options).map(Some)
}

#[cfg(not(feature = "quinn"))]
const fn quinn_ping_pong(_: &Options) -> Result<Option<PingPong>, PerfError> {
    Ok(None)
}

/// The median of each figure of one protocol.
fn middle(rounds: impl Iterator<Item = Measured> + Clone) -> Measured {
    let of = |figure: fn(Measured) -> f64| median(rounds.clone().map(figure));
    let one_thread: Option<Vec<_>> = rounds
        .clone()
        .map(|measured| measured.one_thread_round_trip_median_us)
        .collect();
    Measured {
        datagrams_per_s: of(|measured| measured.datagrams_per_s),
        goodput_bps: of(|measured| measured.goodput_bps),
        cpu_ns_per_datagram: of(|measured| measured.cpu_ns_per_datagram),
        round_trip_mean_us: of(|measured| measured.round_trip_mean_us),
        round_trip_median_us: of(|measured| measured.round_trip_median_us),
        one_thread_round_trip_median_us: one_thread.map(|trips| median(trips.into_iter())),
    }
}

/// The median; the upper one of two. Zero of none.
fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<_> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// What a stream of datagrams came to: the first figures of [`Measured`].
#[derive(Clone, Copy, Debug)]
struct Stream {
    datagrams_per_s: f64,
    goodput_bps: f64,
    cpu_ns_per_datagram: f64,
}

impl Stream {
    fn with(&self, ping: &PingPong, one_thread: Option<&PingPong>) -> Measured {
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
struct PingPong {
    mean_us: f64,
    median_us: f64,
}

impl PingPong {
    fn of(round_trips: &[Duration]) -> Self {
        let micros = round_trips.iter().map(|time| time.as_secs_f64() * 1e6);
        Self {
            mean_us: micros.clone().sum::<f64>() / round_trips.len().max(1) as f64,
            median_us: median(micros),
        }
    }
}

/// What two ends and the one who measures share.
#[derive(Clone, Debug, Default)]
struct Run {
    arrived: Arc<AtomicU64>,
    is_over: Arc<AtomicBool>,
}

impl Run {
    fn count(&self, datagrams: u64) {
        self.arrived.fetch_add(datagrams, Ordering::Relaxed);
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// Counts what arrives while both ends run, for as long as the options say and until something
    /// has, and ends the run.
    fn measure(
        &self,
        options: &Options,
        has_stopped: impl Fn() -> bool,
    ) -> Result<Stream, PerfError> {
        thread::sleep(WARM_UP);
        let (first, cpu, start) = (
            self.arrived.load(Ordering::Relaxed),
            cpu_s(),
            Instant::now(),
        );
        thread::sleep(options.duration);
        let arrived = || self.arrived.load(Ordering::Relaxed) - first;
        // On a busy machine neither end may have had its turn yet.
        while arrived() == 0 && !has_stopped() && start.elapsed() < options.duration + PATIENCE {
            thread::sleep(LOOK);
        }
        let datagrams = arrived() as f64;
        let (elapsed, cpu) = (start.elapsed().as_secs_f64(), cpu_s() - cpu);
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

/// The ends of one connection, each on a thread: what the client answers comes after it, then the
/// server ends.
#[derive(Debug)]
struct Ends<T> {
    server: JoinHandle<Result<(), PerfError>>,
    client: JoinHandle<Result<T, PerfError>>,
}

impl<T> Ends<T> {
    /// Whether one has stopped, be it by itself.
    fn has_stopped(&self) -> bool {
        self.server.is_finished() || self.client.is_finished()
    }

    fn join(self) -> Result<T, PerfError> {
        let answer = join(self.client)?;
        join(self.server)?;
        Ok(answer)
    }
}

/// Runs a future on a thread and a runtime of its own; as a task, for the future that a runtime blocks
/// on is woken by other tasks only after a look at all sockets.
fn on_thread<T, F>(make: impl FnOnce() -> F + Send + 'static) -> JoinHandle<Result<T, PerfError>>
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

/// A datagram of `size` bytes, of [`LARGEST`] at most.
fn datagram(size: usize) -> Bytes {
    Bytes::from_static(&DATA[..size])
}

fn join<T>(end: JoinHandle<Result<T, PerfError>>) -> Result<T, PerfError> {
    end.join().map_err(|_| PerfError::Stopped)?
}

/// Seconds of CPU that this process has used, user and system.
fn cpu_s() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Bytes of memory in use.
fn resident() -> Result<u64, PerfError> {
    let known = memory_stats().ok_or_else(|| io::Error::other("it does not tell memory in use"))?;
    Ok(known.physical_mem as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Everything runs and gives numbers; how large they are is the machine's affair.
    #[test]
    fn a_short_run_measures_all() {
        let options = Options {
            duration: Duration::from_millis(50),
            rounds: 2,
            pings: 20,
            idle: 4,
            ..Options::default()
        };
        let mut stages = 0;
        let report = run(&options, |_, _| {
            stages += 1;
            true
        })
        .unwrap();
        for measured in [report.dccp, report.udp] {
            assert!(measured.datagrams_per_s > 0.0, "{measured:?}");
            assert!(measured.round_trip_median_us > 0.0, "{measured:?}");
            assert!(measured.cpu_ns_per_datagram > 0.0, "{measured:?}");
            let one_thread = measured.one_thread_round_trip_median_us.unwrap();
            assert!(one_thread > 0.0, "{measured:?}");
        }
        assert_eq!(report.idle.unwrap().connections, 4);
        assert!(report.timer.p99_us >= 0.0);
        assert_eq!(report.quinn.is_some(), cfg!(feature = "quinn"));
        assert!(stages > 5);
        assert_eq!(report.rounds.len(), 2);
    }

    #[test]
    fn who_watches_can_stop_it() {
        let stopped = run(&Options::default(), |_, _| false);
        assert!(matches!(stopped, Err(PerfError::Interrupted)));
    }

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

    /// Both protocols take the largest.
    #[test]
    fn the_largest_datagrams_are_measured() {
        let options = Options {
            duration: Duration::from_millis(20),
            datagram: LARGEST,
            ..Options::default()
        };
        for stream in [plain::stream(&options), dccp::stream(&options)] {
            assert!(stream.unwrap().datagrams_per_s > 0.0);
        }
    }

    #[test]
    fn a_datagram_has_a_byte_and_no_more_than_dccp_takes() {
        for datagram in [0, LARGEST + 1] {
            let options = Options {
                datagram,
                ..Options::default()
            };
            let error = run(&options, |_, _| true).unwrap_err();
            assert!(error.to_string().contains("1 to 64515"), "{error}");
        }
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
    fn the_median_is_in_the_middle() {
        assert_eq!(median([5.0, 1.0, 3.0].into_iter()), 3.0);
        let times = [5, 1, 3].map(Duration::from_micros).to_vec();
        let summary = PingPong::of(&times);
        assert!((summary.mean_us - 3.0).abs() < 1e-9);
        assert!((summary.median_us - 3.0).abs() < 1e-9);
    }
}
