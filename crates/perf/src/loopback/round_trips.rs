//! Round trips of a ping over plain UDP and over DCCP.
//!
//! What a round trip takes depends most of all on which processors the two ends find themselves on:
//! on one or on two, awake or asleep. Both protocols therefore use the same threads in turn, and each
//! turn of DCCP is compared with the turn of plain UDP just before it.
//!
//! With an end on each of two threads it is as between two programs: a processor falls asleep while
//! it waits for the other, and has to be woken, and finds its caches cold. With both on one thread
//! nobody waits, and a round trip is the work that is done for it.

use std::time::{Duration, Instant};

use super::ends::{Ping, PingPong, Threads};
use super::report::median;
use super::{dccp, plain};
use crate::PerfError;

/// Pings of one protocol before it is the other's turn.
const TURN: usize = 50;

/// What round trips took.
#[derive(Clone, Copy, Debug)]
pub(super) struct RoundTrips {
    pub(super) udp: PingPong,
    pub(super) dccp: PingPong,
    /// The median of a turn, DCCP's less plain UDP's, in microseconds: the median of the turns.
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
            // The client has had all answers, or has failed and asks for no more.
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
