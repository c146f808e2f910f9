//! Measurements between two hosts: a client sends, and a server counts and reports back.

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

/// The interval between the server's reports.
const TELLING: Duration = Duration::from_millis(250);
/// How long the client waits for the last report.
const PATIENCE: Duration = Duration::from_secs(2);
const MAGIC: [u8; 4] = *b"PERF";

/// The load that a client sends.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// How long to send.
    pub duration: Duration,
    /// Bytes of data per datagram, limited to what the path permits.
    pub datagram: usize,
    /// The offered bits of data per second; `None` for as much as congestion control permits.
    pub rate_bps: Option<u64>,
}

/// The data that arrived at the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
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

/// The state of a measurement, current or final.
#[derive(Clone, Copy, Debug, Serialize)]
#[non_exhaustive]
pub struct Progress {
    /// Seconds since the first datagram.
    pub seconds: f64,
    /// Datagrams passed to the network.
    pub datagrams_sent: u64,
    /// The server's latest report.
    pub arrived: Arrived,
    /// Bits of data per second that arrived.
    pub goodput_bps: f64,
    /// Smoothed round-trip time in microseconds.
    pub srtt_us: Option<f64>,
    /// Congestion window in packets; only with CCID 2.
    pub cwnd: Option<f64>,
    /// Allowed rate X in bits per second; only with CCIDs 3 and 4.
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

/// Counts arriving data until the client closes the connection.
///
/// # Errors
///
/// The connection ended abnormally.
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
            // A report that does not fit the queue is late anyway; the next one replaces it.
            _ = telling.tick() => drop(connection.try_send(arrived.encode())),
        }
    }
}

/// Sends a load and closes the connection. Calls `progress` several times per second.
///
/// # Errors
///
/// The connection ended abnormally.
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

/// Reads reports until everything `sent` has arrived, or until two successive reports are equal,
/// which means that nothing is left in flight.
async fn last_word(connection: &Connection, sent: &Progress) -> Result<Arrived, PerfError> {
    let mut arrived = sent.arrived;
    // Reports older than the arrival of the last datagram do not include it.
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

/// Processes a report; ignores any other datagram.
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

    /// A measurement over loopback. Returns the client's result, the server's count, and how often
    /// progress was reported. 400 kbps are 100 datagrams of 500 bytes per second.
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
        // A busy machine may leave the client no time at the end, but hardly three times in a row.
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
