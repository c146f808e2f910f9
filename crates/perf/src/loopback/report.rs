//! What to measure, and what was measured.

use std::time::Duration;

use serde::Serialize;

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

/// The median of each figure of one protocol.
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

/// The median; the upper one of two. Zero of none.
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
