//! Between two hosts: a client sends, a server counts and tells the client now and then.

use std::time::Duration;

use bytes::Bytes;
use serde::Serialize;
use skywave_net::{Connection, ConnectionError, Datagram};
use skywave_transport::dccp::Stats;
use skywave_wire::dccp::ServiceCode;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, sleep_until, timeout};

use crate::PerfError;

/// The Service Code of a measurement.
pub const SERVICE: ServiceCode = ServiceCode(u32::from_be_bytes(*b"PERF"));

/// How often the server tells what has arrived.
const TELLING: Duration = Duration::from_millis(250);
/// How long the client waits for the last of it.
const PATIENCE: Duration = Duration::from_secs(2);
const MAGIC: [u8; 4] = *b"PERF";

/// What a client sends.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// For how long.
    pub duration: Duration,
    /// Bytes of data in a datagram; at most what the path takes is used.
    pub datagram: usize,
    /// Bits of data per second to offer; as much as congestion control allows where absent.
    pub rate_bps: Option<u64>,
}

/// What has arrived at the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Arrived {
    /// Datagrams.
    pub datagrams: u64,
    /// Bytes of data in them.
    pub bytes: u64,
}

impl Arrived {
    fn encode(self) -> Bytes {
        let mut report = MAGIC.to_vec();
        report.extend(self.datagrams.to_be_bytes());
        report.extend(self.bytes.to_be_bytes());
        report.into()
    }

    fn decode(report: &[u8]) -> Option<Self> {
        let (datagrams, bytes) = report.strip_prefix(&MAGIC)?.split_first_chunk()?;
        Some(Self {
            datagrams: u64::from_be_bytes(*datagrams),
            bytes: u64::from_be_bytes(*bytes.first_chunk()?),
        })
    }
}

/// How a measurement goes, or went.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Progress {
    /// Seconds since the first datagram.
    pub seconds: f64,
    /// Datagrams handed to the network.
    pub datagrams_sent: u64,
    /// What the server says has arrived.
    pub arrived: Arrived,
    /// Bits of data that arrived, per second.
    pub goodput_bps: f64,
    /// Smoothed round-trip time in microseconds.
    pub srtt_us: Option<f64>,
    /// Congestion window in packets, with CCID 2.
    pub cwnd: Option<f64>,
    /// Allowed rate X in bits per second, with CCID 3 and 4.
    pub rate_bps: Option<u64>,
}

impl Progress {
    fn new(start: Instant, stats: &Stats, arrived: Arrived) -> Self {
        let seconds = start.elapsed().as_secs_f64();
        Self {
            seconds,
            datagrams_sent: stats.counters.data_packets_sent,
            arrived,
            goodput_bps: 8.0 * arrived.bytes as f64 / seconds.max(1e-9),
            srtt_us: stats.srtt.map(|srtt| srtt.as_secs_f64() * 1e6),
            cwnd: stats.congestion.window().map(|window| window.cwnd),
            rate_bps: stats.congestion.rate().map(|rate| rate.rate.as_bps()),
        }
    }
}

/// Counts what comes over a connection until the client closes it.
///
/// # Errors
///
/// The connection ended in another way.
pub async fn serve(connection: &Connection) -> Result<Arrived, PerfError> {
    let mut arrived = Arrived::default();
    let mut telling = interval(TELLING);
    telling.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            datagram = connection.recv() => match datagram? {
                Some(Datagram { data, .. }) => {
                    arrived.datagrams += 1;
                    arrived.bytes += data.len() as u64;
                }
                None => return Ok(arrived),
            },
            // A report that finds no room is late anyway: the next one says more.
            _ = telling.tick() => drop(connection.try_send(arrived.encode())),
        }
    }
}

/// Sends a load and closes the connection. `progress` is told several times a second.
///
/// # Errors
///
/// The connection ended in another way.
pub async fn send(
    connection: &Connection,
    load: &Load,
    mut progress: impl FnMut(&Progress),
) -> Result<Progress, PerfError> {
    let start = Instant::now();
    let mut arrived = Arrived::default();
    {
        let sending = offer(connection, load, start);
        let mut sending = std::pin::pin!(sending);
        loop {
            tokio::select! {
                sent = &mut sending => break sent?,
                report = connection.recv() => {
                    arrived = take(report?, arrived)?;
                    progress(&Progress::new(start, &connection.stats(), arrived));
                }
            }
        }
    }
    connection.flush().await?;
    let last = Progress::new(start, &connection.stats(), arrived);
    let arrived = last_word(connection, &last).await?;
    connection.close().await?;
    Ok(Progress {
        arrived,
        goodput_bps: 8.0 * arrived.bytes as f64 / last.seconds.max(1e-9),
        ..last
    })
}

/// Sends until the time is over.
async fn offer(connection: &Connection, load: &Load, start: Instant) -> Result<(), PerfError> {
    let size = load.datagram.min(connection.max_datagram_size());
    let data = Bytes::from(vec![0x5a; size]);
    let gap = load
        .rate_bps
        .map(|rate| Duration::from_secs_f64(8.0 * size as f64 / rate.max(1) as f64));
    let end = start + load.duration;
    let mut at = start;
    while Instant::now() < end {
        if let Some(gap) = gap {
            sleep_until(at.min(end)).await;
            at += gap;
        }
        connection.send(data.clone()).await?;
    }
    Ok(())
}

/// Reads reports until all has arrived that has been `sent`, or two in a row say the same: nothing is
/// on its way any more.
async fn last_word(connection: &Connection, sent: &Progress) -> Result<Arrived, PerfError> {
    let mut arrived = sent.arrived;
    // Reports that are older than the arrival of the last datagram say nothing of it.
    let srtt = connection.stats().srtt.unwrap_or_default();
    sleep(Duration::from_nanos(2 * srtt.as_nanos())).await;
    while let Some(report) = connection.try_recv() {
        arrived = take(Some(report), arrived)?;
    }
    let reading = async {
        while arrived.datagrams < sent.datagrams_sent {
            let next = take(connection.recv().await?, arrived)?;
            if core::mem::replace(&mut arrived, next) == next {
                break;
            }
        }
        Ok::<_, PerfError>(())
    };
    match timeout(PATIENCE, reading).await {
        Ok(Err(error)) => Err(error),
        Ok(Ok(())) | Err(_) => Ok(arrived),
    }
}

/// Takes in a report; another datagram changes nothing.
fn take(report: Option<Datagram>, before: Arrived) -> Result<Arrived, PerfError> {
    let report = report.ok_or(ConnectionError::Closed)?;
    Ok(Arrived::decode(&report.data).unwrap_or(before))
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use skywave_net::{Endpoint, EndpointConfig, Peer};
    use skywave_transport::dccp::Config;

    use super::*;

    #[test]
    fn a_report_survives_its_encoding_and_garbage_is_none() {
        let arrived = Arrived {
            datagrams: 7,
            bytes: 1 << 40,
        };
        assert_eq!(Arrived::decode(&arrived.encode()), Some(arrived));
        for length in 0..20 {
            assert_eq!(Arrived::decode(&arrived.encode()[..length]), None);
        }
        assert_eq!(Arrived::decode(&[0; 20]), None);
    }

    /// A measurement over loopback: what the client says of it, what the server has counted, and how
    /// often the client told its progress. 400 kbps are 100 datagrams of 500 bytes a second.
    async fn measure() -> (Progress, Arrived, usize) {
        let endpoint =
            Endpoint::udp((Ipv4Addr::LOCALHOST, 0).into(), EndpointConfig::default()).unwrap();
        let config = Config {
            service_codes: vec![SERVICE],
            ..Config::default()
        };
        let listener = endpoint.listen(5001, config.clone()).unwrap();
        let peer = Peer {
            address: endpoint.local_address(),
            port: 5001,
        };
        let load = Load {
            duration: Duration::from_millis(600),
            datagram: 500,
            rate_bps: Some(400_000),
        };
        let mut reports = 0;
        let client = async {
            let connection = endpoint.connect(peer, config).await.unwrap();
            send(&connection, &load, |_| reports += 1).await.unwrap()
        };
        let server = async {
            let connection = listener.accept().await.unwrap();
            serve(&connection).await.unwrap()
        };
        let (sent, counted) = tokio::join!(client, server);
        (sent, counted, reports)
    }

    #[tokio::test]
    async fn what_the_client_sent_is_what_the_server_counted() {
        let (sent, counted, reports) = measure().await;
        assert_eq!(sent.arrived, counted);
        assert_eq!(sent.datagrams_sent, counted.datagrams);
        assert_eq!(counted.bytes, 500 * counted.datagrams);
        assert!(reports > 1);
    }

    #[tokio::test]
    async fn a_load_is_offered_at_its_rate() {
        // A busy machine may leave the client no time at the end, though hardly three times.
        for _ in 0..3 {
            let (sent, ..) = measure().await;
            assert!(sent.datagrams_sent <= 62, "{sent:?}");
            if sent.datagrams_sent >= 40 {
                return;
            }
        }
        panic!("it is never offered in full");
    }
}
