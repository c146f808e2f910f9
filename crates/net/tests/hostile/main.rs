//! Hostile packets of any kind and number take no more memory than the endpoint's limits allow, and
//! honest clients still connect.
//!
//! `SKYWAVE_PACKETS=1000000` sends as many (`make hostile`); `--nocapture` shows the memory of each
//! kind.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod attacker;
mod kinds;

use std::collections::VecDeque;
use std::env;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use peak_alloc::PeakAlloc;
use skywave_net::{Endpoint, EndpointConfig, Listener, Peer};
use skywave_transport::dccp::Config;
use skywave_units::Bytes;

use attacker::Attacker;

/// Counts every byte of the process, including those of the attacker and of the honest client.
#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

/// Nobody accepts these connections.
const UNACCEPTED: u16 = 5_001;
/// These are accepted, and never read.
const UNREAD: u16 = 5_002;
/// These are accepted, and received data is sent back.
const ECHO: u16 = 5_003;

/// A time limit for steps that do not depend on the machine's speed.
const PATIENCE: Duration = Duration::from_secs(300);

/// The bytes that all queues of an endpoint may hold.
const QUEUED_BYTES: usize = 2_000_000;
/// The memory that the whole test may take: a datagram keeps the buffer in which it arrived, so
/// queued data may take twice its size; the rest is for connections and the sockets' buffers.
const BOUND: usize = 2 * QUEUED_BYTES + 4_000_000;
/// The memory that the second half of a flood may take in addition to the first: a connection for
/// each handshake of a short flood would take more.
const GROWTH: usize = 500_000;
/// The memory that each packet of the second half may take in a long flood, in which handshakes
/// give way to others and are held by their timers for a while.
const GROWTH_PER_PACKET: usize = 20;

fn endpoint(config: EndpointConfig) -> Endpoint {
    Endpoint::udp((Ipv4Addr::LOCALHOST, 0).into(), config).unwrap()
}

/// Limits that each half of a short flood reaches.
fn limits() -> EndpointConfig {
    EndpointConfig {
        backlog: 64,
        half_open: 32,
        max_connections: 128,
        max_closing: 32,
        max_time_waits: 64,
        max_queued_bytes: Bytes::new(QUEUED_BYTES as u64),
        ..EndpointConfig::default()
    }
}

/// The target of the kinds of packets.
struct Target {
    server: Endpoint,
    address: SocketAddr,
    /// Connections of the honest client that carried a datagram there and back.
    served: Arc<AtomicU64>,
}

impl Target {
    fn open() -> Self {
        let server = endpoint(limits());
        let address = server.local_address();
        // Kept, and not accepted from.
        let config = Arc::new(Config {
            receive_queue: 50,
            ..Config::default()
        });
        let listen = |port| server.listen(port, Arc::clone(&config)).unwrap();
        let unaccepted = listen(UNACCEPTED);
        let unread = listen(UNREAD);
        let echo = listen(ECHO);
        tokio::spawn(async move {
            let _unaccepted = unaccepted;
            keep(unread).await;
        });
        tokio::spawn(serve(echo));
        let served = Arc::default();
        tokio::spawn(connect(address, Arc::clone(&served)));
        Self {
            server,
            address,
            served,
        }
    }

    fn received(&self) -> u64 {
        self.server.stats().packets_received
    }

    /// Waits until the server has handled `packets` packets in total.
    async fn handled(&self, packets: u64) {
        let wait = async {
            while self.received() < packets {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        tokio::time::timeout(PATIENCE, wait)
            .await
            .unwrap_or_else(|_| panic!("{packets} packets: {:?}", self.server.stats()));
    }
}

/// Accepts connections, never reads them, and drops the oldest.
async fn keep(listener: Listener) {
    const KEPT: usize = 16;
    let mut kept = VecDeque::new();
    while let Ok(connection) = listener.accept().await {
        kept.push_back(connection);
        if kept.len() > KEPT {
            kept.pop_front();
        }
    }
}

/// Sends received data back.
async fn serve(listener: Listener) {
    while let Ok(connection) = listener.accept().await {
        tokio::spawn(async move {
            while let Ok(Some(datagram)) = connection.recv().await {
                if connection.send(datagram.data).await.is_err() {
                    return;
                }
            }
        });
    }
}

/// Opens honest connections, one after the other.
async fn connect(address: SocketAddr, served: Arc<AtomicU64>) {
    let client = endpoint(limits());
    let peer = Peer {
        address,
        port: ECHO,
    };
    loop {
        let echoed = async {
            let connection = client.connect(peer, Config::default()).await.ok()?;
            connection.send("hello").await.ok()?;
            let datagram = connection.recv().await;
            connection.abort();
            datagram.ok()?
        };
        // It does not wait for long: DCCP does not repeat what the server's full socket drops, and
        // whoever comes from a port that rests in TIMEWAIT hears nothing while Resets are at their
        // limit. Another attempt has another port.
        let echoed = tokio::time::timeout(Duration::from_secs(2), echoed).await;
        if let Ok(Some(datagram)) = echoed
            && datagram.data == "hello"
        {
            served.fetch_add(1, Relaxed);
        }
        // Where attempts fail at once, as when the runtime ends, others get their turn.
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// Sends at least this many packets of a kind, and until an honest client has connected meanwhile.
/// Returns the number of packets.
async fn flood(
    target: &Target,
    attacker: &mut Attacker,
    kind: &'static kinds::Kind,
    packets: u64,
) -> u64 {
    let served = target.served.load(Relaxed);
    let mut sent = 0;
    let start = Instant::now();
    while sent < packets || target.served.load(Relaxed) == served {
        let before = target.received();
        let batch = tokio::task::block_in_place(|| attacker.batch(kind.send));
        target.handled(before + batch).await;
        sent += batch;
        assert!(
            sent < packets || start.elapsed() < PATIENCE,
            "{}: an honest client cannot connect: {:?}",
            kind.name,
            target.server.stats()
        );
    }
    sent
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hostile_packets_cost_bounded_memory() {
    let packets: u64 = match env::var("SKYWAVE_PACKETS") {
        Ok(packets) => packets.parse().expect("SKYWAVE_PACKETS is a number"),
        Err(_) => 20_000,
    };
    let half = packets / kinds::ALL.len() as u64 / 2;
    let before = HEAP.current_usage();
    let target = Target::open();
    println!(
        "{:<50} {:>9} {:>9} {:>9}",
        "kind", "packets", "peak kB", "growth kB"
    );
    for kind in kinds::ALL {
        let mut attacker = Attacker::new(target.address);
        HEAP.reset_peak_usage();
        let mut sent = flood(&target, &mut attacker, kind, half).await;
        let first = HEAP.peak_usage();
        sent += flood(&target, &mut attacker, kind, half).await;
        let peak = HEAP.peak_usage();
        let (growth, peak) = (peak - first, peak.saturating_sub(before));
        println!(
            "{:<50} {sent:>9} {:>9} {:>9}",
            kind.name,
            peak / 1000,
            growth / 1000
        );
        let stats = target.server.stats();
        assert!(peak <= BOUND, "{}: {peak} bytes: {stats:?}", kind.name);
        assert!(
            growth <= GROWTH + GROWTH_PER_PACKET * half as usize,
            "{}: {growth} bytes more: {stats:?}",
            kind.name
        );
    }
}
