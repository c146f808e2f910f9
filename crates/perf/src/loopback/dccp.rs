//! DCCP over UDP, including congestion control.

use std::collections::VecDeque;
use std::iter::repeat_with;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use skywave_net::{Connection, Endpoint, EndpointConfig, Peer};
use skywave_transport::dccp::Config;
use tokio::sync::oneshot;

use super::ends::{Ends, LARGEST, PING, Ping, Run, Stream, Threads, datagram, join, on_thread};
use super::report::{Lateness, Options};
use crate::PerfError;

pub(super) const PORT: u16 = 5001;
/// Datagrams of a stream that the application sends or reads per call, as many as for plain UDP.
const AT_ONCE: usize = 64;
/// The number of timers whose lateness is measured, and their duration.
const TIMERS: usize = 1_000;
const TIMER: Duration = Duration::from_millis(2);

pub(super) fn endpoint(config: EndpointConfig) -> Result<Endpoint, PerfError> {
    Ok(Endpoint::udp((Ipv4Addr::LOCALHOST, 0).into(), config)?)
}

pub(super) const fn peer(address: SocketAddr) -> Peer {
    Peer {
        address,
        port: PORT,
    }
}

/// Returns windows and queues for a path that carries millions of datagrams per second of any size.
fn roomy() -> Config {
    Config {
        mps: LARGEST as u32,
        send_queue: 1024,
        receive_queue: 4096,
        sequence_window: 10_000,
        ..Config::default()
    }
}

/// Starts each end of a connection on its own thread.
fn start<T, S, C>(
    serve: impl FnOnce(Connection) -> S + Send + 'static,
    call: impl FnOnce(Connection) -> C + Send + 'static,
) -> Ends<T>
where
    T: Send + 'static,
    S: Future<Output = Result<(), PerfError>> + Send + 'static,
    C: Future<Output = Result<T, PerfError>> + Send + 'static,
{
    let (announce, announced) = oneshot::channel();
    Ends {
        server: on_thread(move || server(announce, serve)),
        client: on_thread(move || client(announced, call)),
    }
}

/// Runs both ends of a connection. Returns the client's result.
pub(super) fn run_ends<T, S, C>(
    threads: Threads,
    serve: impl FnOnce(Connection) -> S + Send + 'static,
    call: impl FnOnce(Connection) -> C + Send + 'static,
) -> Result<T, PerfError>
where
    T: Send + 'static,
    S: Future<Output = Result<(), PerfError>> + Send + 'static,
    C: Future<Output = Result<T, PerfError>> + Send + 'static,
{
    match threads {
        Threads::Two => start(serve, call).join(),
        Threads::One => join(on_thread(move || async move {
            let (announce, announced) = oneshot::channel();
            let server = tokio::spawn(server(announce, serve));
            let answer = client(announced, call).await?;
            server.await.map_err(|_| PerfError::Stopped)??;
            Ok(answer)
        })),
    }
}

async fn server<S>(
    announce: oneshot::Sender<SocketAddr>,
    serve: impl FnOnce(Connection) -> S,
) -> Result<(), PerfError>
where
    S: Future<Output = Result<(), PerfError>>,
{
    let endpoint = endpoint(EndpointConfig::default())?;
    let listener = endpoint.listen(PORT, roomy())?;
    // If this fails, the client has failed and reports the error itself.
    let _ = announce.send(endpoint.local_address());
    serve(listener.accept().await?).await?;
    endpoint.shutdown().await;
    Ok(())
}

async fn client<T, C>(
    announced: oneshot::Receiver<SocketAddr>,
    call: impl FnOnce(Connection) -> C,
) -> Result<T, PerfError>
where
    C: Future<Output = Result<T, PerfError>>,
{
    let address = announced.await.map_err(|_| PerfError::Stopped)?;
    let endpoint = endpoint(EndpointConfig::default())?;
    let answer = call(endpoint.connect(peer(address), roomy()).await?).await?;
    endpoint.shutdown().await;
    Ok(answer)
}

pub(super) fn stream(options: &Options) -> Result<Stream, PerfError> {
    let run = Run::default();
    let (counting, sending) = (run.clone(), run.clone());
    let size = options.datagram;
    let ends = start(
        |connection| async move {
            let mut datagrams = Vec::with_capacity(AT_ONCE);
            loop {
                let count = connection.recv_many(&mut datagrams, AT_ONCE).await?;
                if count == 0 {
                    return Ok(());
                }
                datagrams.clear();
                counting.count(count as u64);
            }
        },
        move |connection| async move {
            let mut datagrams = VecDeque::with_capacity(AT_ONCE);
            while !sending.is_over() {
                datagrams.extend(repeat_with(|| datagram(size)).take(AT_ONCE));
                connection.send_many(&mut datagrams).await?;
            }
            Ok(())
        },
    );
    let stream = run.measure(options, || ends.has_stopped());
    ends.join()?;
    stream
}

/// Sends back everything that arrives.
pub(super) async fn echo(connection: &Connection) -> Result<(), PerfError> {
    while let Some(datagram) = connection.recv().await? {
        connection.send(datagram.data).await?;
    }
    Ok(())
}

/// Sends pings to the peer.
pub(super) struct Pinger(pub(super) Connection);

impl Ping for Pinger {
    async fn ping(&mut self) -> Result<(), PerfError> {
        self.0.send(datagram(PING)).await?;
        self.0.recv().await?;
        Ok(())
    }
}

/// Measures how late the retransmission of an unanswered Request is.
pub(super) fn timer_lateness() -> Result<Lateness, PerfError> {
    let mut late = join(on_thread(|| async {
        let silent = tokio::net::UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let here = endpoint(EndpointConfig::default())?;
        let every = skywave_units::Duration::from_nanos(TIMER.as_nanos() as u64);
        let config = Config {
            request_retry: every,
            backoff_limit: every,
            // Longer than the measurement, even with very late timers.
            request_give_up: skywave_units::Duration::from_secs(600),
            ..Config::default()
        };
        let connecting = here.connect(peer(silent.local_addr()?), config);
        let watching = async {
            let mut buffer = [0; 100];
            let mut late = Vec::with_capacity(TIMERS);
            silent.recv(&mut buffer).await?;
            let mut last = Instant::now();
            for _ in 0..TIMERS {
                silent.recv(&mut buffer).await?;
                let now = Instant::now();
                late.push((now - last).saturating_sub(TIMER).as_secs_f64() * 1e6);
                last = now;
            }
            Ok(late)
        };
        tokio::select! {
            late = watching => late,
            _ = connecting => Err(PerfError::Stopped),
        }
    }))?;
    late.sort_by(f64::total_cmp);
    Ok(Lateness {
        mean_us: late.iter().sum::<f64>() / late.len().max(1) as f64,
        p99_us: late.get(late.len() * 99 / 100).copied().unwrap_or(0.0),
    })
}
