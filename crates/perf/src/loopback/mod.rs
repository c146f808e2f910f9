//! Measurements over loopback, with both ends on this host: DCCP over UDP, compared with plain UDP
//! using the same system calls (the upper limit) and, with the feature `quinn`, with quinn's
//! datagrams.
//!
//! Plain UDP is a demanding limit: it sends the same buffer repeatedly and counts arrivals by the
//! length of each read, while DCCP numbers, acknowledges and delivers each datagram. Both send and
//! read up to 64 datagrams per call; quinn's datagrams can only be sent one at a time.
//!
//! Each end is a task on a single-threaded runtime on its own thread. For round trips, DCCP and
//! plain UDP share their threads, and are also measured with both ends on a single thread.

mod dccp;
mod ends;
mod host;
mod idle;
mod plain;
#[cfg(feature = "quinn")]
mod quic;
mod report;
mod round_trips;

pub use self::report::{Idle, Lateness, Measured, Options, Ratios, Report, Round};

use self::ends::{LARGEST, PingPong, Stream, Threads};
use self::host::Ticks;
use self::report::middle;
use crate::PerfError;

/// Runs all measurements. `progress` receives the stage and the fraction done, and returns whether
/// to continue.
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
        .then(|| idle::measure(options.idle, options.keepalive))
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Everything runs and gives numbers; their magnitude depends on the machine.
    #[test]
    fn a_short_run_measures_all() {
        let options = Options {
            duration: Duration::from_millis(50),
            rounds: 2,
            pings: 20,
            idle: 4,
            keepalive: Duration::from_millis(500),
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
        let idle = report.idle.unwrap();
        assert_eq!(idle.connections, 4);
        assert!(idle.keepalive_us > 0.0, "{idle:?}");
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

    /// Both protocols support the largest datagrams.
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
}
