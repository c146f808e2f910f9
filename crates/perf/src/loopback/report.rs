//! Options and results of the measurements.

use std::time::Duration;

use serde::Serialize;

/// Options of the measurements.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The total time for which each protocol's stream is counted, over all rounds.
    pub duration: Duration,
    /// The number of rounds, at least one. Protocols take turns, so that disturbances affect all of
    /// them.
    pub rounds: u32,
    /// Bytes of data per datagram of a stream.
    pub datagram: usize,
    /// The total number of pings per protocol over all rounds, rounded to whole turns of 50 per
    /// round; the same number again with both ends on one thread.
    pub pings: usize,
    /// The number of idle connections to measure; 0 to skip.
    pub idle: usize,
    /// How long an idle connection is silent before it asks whether its peer is there. Two such
    /// questions of each are counted.
    pub keepalive: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            duration: Duration::from_secs(5),
            rounds: 15,
            datagram: 1200,
            pings: 20_000,
            idle: 10_000,
            // The default of a connection would take 2 min.
            keepalive: Duration::from_secs(5),
        }
    }
}

/// The results.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// DCCP over UDP with CCID 2. Each figure is the median over rounds, here and for the others.
    pub dccp: Measured,
    /// Plain UDP.
    pub udp: Measured,
    /// quinn's datagrams; `None` unless built with the feature `quinn`.
    pub quinn: Option<Measured>,
    /// DCCP compared with the others.
    pub ratios: Ratios,
    /// The individual rounds.
    pub rounds: Vec<Round>,
    /// What idle connections cost.
    pub idle: Option<Idle>,
    /// The lateness of a timer of 2 ms.
    pub timer: Lateness,
}

/// The results for one protocol.
#[derive(Clone, Copy, Debug, Serialize)]
#[non_exhaustive]
pub struct Measured {
    /// Datagrams per second that arrived.
    pub datagrams_per_s: f64,
    /// Bits of data per second that arrived.
    pub goodput_bps: f64,
    /// CPU time of both ends per datagram that arrived, in nanoseconds.
    pub cpu_ns_per_datagram: f64,
    /// Mean round-trip time of a ping of 100 bytes, in microseconds.
    pub round_trip_mean_us: f64,
    /// Median round-trip time, in microseconds.
    pub round_trip_median_us: f64,
    /// The median with both ends on one thread, in microseconds; not measured for quinn.
    pub one_thread_round_trip_median_us: Option<f64>,
}

/// DCCP compared with the others.
#[derive(Clone, Copy, Debug, Serialize)]
#[non_exhaustive]
pub struct Ratios {
    /// Datagrams per second: DCCP divided by plain UDP; the median of the rounds' ratios.
    pub datagrams_dccp_over_udp: f64,
    /// CPU time per datagram: plain UDP divided by DCCP; the median of the rounds' ratios. If both
    /// ends share limited CPU time, as on a busy machine, the ratio of datagrams approaches this
    /// value.
    pub cpu_udp_over_dccp: f64,
    /// Datagrams per second: DCCP divided by quinn; the median of the rounds' ratios.
    pub datagrams_dccp_over_quinn: Option<f64>,
    /// Median round-trip time: DCCP minus plain UDP, in microseconds; the median of the rounds.
    pub round_trip_dccp_less_udp_us: f64,
    /// The same with both ends on one thread: the additional work of DCCP over plain UDP.
    pub one_thread_round_trip_dccp_less_udp_us: f64,
}

/// One round: all protocols in turn.
#[derive(Clone, Copy, Debug, Serialize)]
#[non_exhaustive]
pub struct Round {
    /// DCCP over UDP with CCID 2.
    pub dccp: Measured,
    /// Plain UDP.
    pub udp: Measured,
    /// quinn's datagrams.
    pub quinn: Option<Measured>,
    /// Median round-trip time: DCCP minus plain UDP, in microseconds, with both using the same
    /// threads in turn; the median of the turns.
    pub round_trip_dccp_less_udp_us: f64,
    /// The same with both ends on one thread.
    pub one_thread_round_trip_dccp_less_udp_us: f64,
    /// The fraction of the processors' time that a virtual machine's host gave to others during the
    /// streams of DCCP and plain UDP; `None` if the system does not report it.
    pub stolen: Option<f64>,
}

/// What idle connections cost.
#[derive(Clone, Copy, Debug, Serialize)]
#[non_exhaustive]
pub struct Idle {
    /// The number of connections; both ends are in this process.
    pub connections: usize,
    /// The resident memory that both ends of all connections added, in bytes.
    pub bytes: u64,
    /// The part of a server's end, in bytes per connection.
    pub server_bytes: u64,
    /// The part of a client's end, in bytes per connection.
    pub client_bytes: u64,
    /// Processor time of both ends each time that a connection asks whether its peer is there, in
    /// microseconds. By default it does so after 2 min of silence.
    pub keepalive_us: f64,
}

/// The lateness of a timer, in microseconds.
#[derive(Clone, Copy, Debug, Serialize)]
#[non_exhaustive]
pub struct Lateness {
    /// The mean.
    pub mean_us: f64,
    /// The 99th percentile.
    pub p99_us: f64,
}

impl Ratios {
    pub(super) fn of(rounds: &[Round]) -> Self {
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

/// Returns the median of each figure of a protocol.
pub(super) fn middle(rounds: impl Iterator<Item = Measured> + Clone) -> Measured {
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

/// Returns the median (the upper one of two); zero if there are no values.
pub(super) fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<_> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median([5.0, 1.0, 3.0].into_iter()), 3.0);
    }
}
