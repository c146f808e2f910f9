//! Round trips of a ping over plain UDP and over DCCP.
//!
//! A round-trip time mainly depends on the processors on which the two ends run: the same or
//! different ones, awake or asleep. Both protocols therefore use the same threads in turn, and each
//! turn of DCCP is compared with the preceding turn of plain UDP.
//!
//! With one thread per end, the situation is that of two programs: a processor goes to sleep while
//! it waits for the other, has to be woken, and finds its caches cold. With both ends on one thread
//! nobody waits, and a round trip measures only the work.

use std::time::{Duration, Instant};

use super::ends::{Ping, PingPong, Threads};
use super::report::median;
use super::{dccp, plain};
use crate::PerfError;

/// The number of pings of a protocol per turn.
const TURN: usize = 50;

/// Round-trip times.
#[derive(Clone, Copy, Debug)]
pub(super) struct RoundTrips {
    pub(super) udp: PingPong,
    pub(super) dccp: PingPong,
    /// The difference between DCCP's and plain UDP's median round-trip time per turn, in
    /// microseconds: the median of the turns.
    pub(super) dccp_less_udp_us: f64,
}

/// Measures `pings` round trips of each protocol, in whole turns.
pub(super) fn measure(pings: usize, threads: Threads) -> Result<RoundTrips, PerfError> {
    let turns = pings.div_ceil(TURN);
    let (here, there) = (plain::bind()?, plain::bind()?);
    let target = there.local_addr()?;
    let (udp, dccp) = dccp::run_ends(
        threads,
        move |connection| async move {
            let plain = tokio::spawn(plain::echo(there, turns * TURN));
            let echoed = dccp::echo(&connection).await;
            // The client has received all replies, or has failed and sends no more.
            plain.abort();
            echoed
        },
        move |connection| async move {
            let mut plain = plain::Pinger::new(here, target)?;
            let mut dccp = dccp::Pinger(connection);
            let (mut udp, mut dccps) = (Vec::new(), Vec::new());
            for _ in 0..turns {
                udp.push(turn(&mut plain).await?);
                dccps.push(turn(&mut dccp).await?);
            }
            Ok((udp, dccps))
        },
    )?;
    let differences = udp.iter().zip(&dccp).map(|(udp, dccp)| {
        let median_us = |turn: &[Duration]| PingPong::of(turn).median_us;
        median_us(dccp) - median_us(udp)
    });
    Ok(RoundTrips {
        dccp_less_udp_us: median(differences),
        udp: PingPong::of(udp.as_flattened()),
        dccp: PingPong::of(dccp.as_flattened()),
    })
}

async fn turn(pinger: &mut impl Ping) -> Result<[Duration; TURN], PerfError> {
    let mut times = [Duration::ZERO; TURN];
    for time in &mut times {
        let start = Instant::now();
        pinger.ping().await?;
        *time = start.elapsed();
    }
    Ok(times)
}
