//! VCP over DCCP next to a drop-tail queue, over the same bottleneck.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use skywave_emulate::Namespace;
use skywave_kernel_router::{Config as RouterConfig, KernelRouter, Object};
use skywave_mpcp::{LoadFactor, RouterParameters, SenderParameters, StartParameter};
use skywave_net::{Endpoint, EndpointConfig, Peer};
use skywave_transport::dccp::Config;
use skywave_units::{Duration as Span, Rate};
use tokio::runtime::Builder;
use tokio::time::timeout;

use crate::object;
use crate::testbed::{BOTTLENECK, Testbed};

const RATE: Rate = Rate::from_bps(4_000_000);
/// 100 ms of queue.
const TBF: &str = "rate 4mbit burst 3000 limit 50000";
/// t_rho: short, so that the test is.
const INTERVAL: Span = Span::from_millis(50);
/// How long the sender sends before it counts, and while it does.
const WARM_UP: Duration = Duration::from_secs(2);
const SPAN: Duration = Duration::from_secs(3);
/// A time limit far beyond what a flow needs.
const PATIENCE: Duration = Duration::from_secs(60);
const PORT: u16 = 5001;
const UDP: u16 = 6511;

/// What a flow did at the bottleneck.
#[derive(Clone, Copy, Debug)]
struct Outcome {
    /// Of the bottleneck's rate, the part that arrived as data.
    utilisation: f64,
    /// The mean of the queue, in bytes.
    queue: f64,
    drops: u64,
}

/// What the ends of a flow and the test share.
#[derive(Default)]
struct Shared {
    arrived: AtomicU64,
    ended: AtomicBool,
}

impl Shared {
    fn bytes(&self) -> u64 {
        self.arrived.load(Ordering::Relaxed)
    }

    fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
    }

    fn is_ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }
}

/// Opens an endpoint on a host, and runs `work` there.
fn on<W: AsyncFnOnce(Endpoint) + Send + 'static>(host: &Namespace, address: SocketAddr, work: W) {
    host.run(move || {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            // Joined packets would pass the router as one.
            let config = EndpointConfig {
                send_offload: false,
                ..EndpointConfig::default()
            };
            let endpoint = Endpoint::udp(address, config).unwrap();
            timeout(PATIENCE, work(endpoint)).await.expect("in time");
        });
    });
}

/// Sends over the testbed as fast as the control permits, and measures.
fn flow(testbed: &Testbed, config: &Config) -> Outcome {
    let [ours, theirs] = testbed
        .addresses
        .map(|address| SocketAddr::new(address.into(), UDP));
    let shared = Arc::new(Shared::default());
    let (near, far) = (Arc::clone(&shared), Arc::clone(&shared));
    let (config, other) = (config.clone(), config.clone());
    let send = async move |endpoint: Endpoint| {
        let peer = Peer {
            address: theirs,
            port: PORT,
        };
        let connection = endpoint.connect(peer, config).await.unwrap();
        while !near.is_ended() {
            connection.send(vec![0; 1000]).await.unwrap();
        }
        connection.abort();
        endpoint.shutdown().await;
    };
    let receive = async move |endpoint: Endpoint| {
        let listener = endpoint.listen(PORT, other).unwrap();
        let connection = listener.accept().await.unwrap();
        while let Ok(Some(datagram)) = connection.recv().await {
            let length = datagram.data.len() as u64;
            far.arrived.fetch_add(length, Ordering::Relaxed);
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| on(testbed.receiver(), theirs, receive));
        scope.spawn(|| on(&testbed.sender, ours, send));
        thread::sleep(WARM_UP);
        let (before, drops) = (shared.bytes(), testbed.queue().1);
        let begun = Instant::now();
        let mut samples = vec![];
        while begun.elapsed() < SPAN {
            thread::sleep(Duration::from_millis(20));
            samples.push(testbed.queue().0 as f64);
        }
        let bytes = shared.bytes() - before;
        let seconds = begun.elapsed().as_secs_f64();
        let drops = testbed.queue().1 - drops;
        shared.end();
        Outcome {
            utilisation: 8.0 * bytes as f64 / seconds / RATE.as_bps() as f64,
            queue: samples.iter().sum::<f64>() / samples.len() as f64,
            drops,
        }
    })
}

fn drop_tail() -> Option<Outcome> {
    let testbed = Testbed::new(TBF)?;
    Some(flow(&testbed, &Config::default()))
}

/// The same with the router at the bottleneck.
fn marked(object: &Object, chain: u8) -> Option<Outcome> {
    let testbed = Testbed::new(TBF)?;
    let router = RouterConfig {
        load: RouterParameters {
            chain,
            interval: INTERVAL,
            sampling: Span::from_millis(5),
            ..RouterParameters::default()
        },
        ..RouterConfig::new(RATE)
    };
    let object = object.clone();
    let mut router = testbed
        .router()
        .run(move || KernelRouter::attach(&object, BOTTLENECK, &router))
        .unwrap();
    let parameters = SenderParameters {
        interval: Some(INTERVAL),
        start: StartParameter::BySlowStart,
        ..SenderParameters::default()
    };
    let ccid = [LoadFactor::VCP, LoadFactor::DPCP][usize::from(chain) - 1];
    let config = Config::default().with_ccid(LoadFactor::new(ccid, &parameters).unwrap());
    let shared = Shared::default();
    let outcome = thread::scope(|scope| {
        let router = &mut router;
        let state = &shared;
        scope.spawn(move || {
            while !state.is_ended() {
                thread::sleep(router.time_to_update());
                router.update().unwrap();
            }
        });
        let outcome = flow(&testbed, &config);
        shared.end();
        outcome
    });
    let report = router.report();
    assert!(report.counters.raised > 0);
    assert_eq!(report.counters.unreadable, 0);
    Some(outcome)
}

/// The papers' claim, on a real queue: the link is used, and hardly anything waits.
#[test]
fn the_link_is_used_and_the_queue_is_short() {
    let Some(object) = object() else {
        return;
    };
    // Each has its own testbed, so they do not meet.
    let (plain, vcp, dpcp) = thread::scope(|scope| {
        let vcp = scope.spawn(|| marked(&object, 1));
        let dpcp = scope.spawn(|| marked(&object, 2));
        let plain = drop_tail();
        (plain, vcp.join().unwrap(), dpcp.join().unwrap())
    });
    let (Some(plain), Some(vcp), Some(dpcp)) = (plain, vcp, dpcp) else {
        return;
    };
    for (name, outcome) in [("drop-tail", plain), ("VCP", vcp), ("DPCP", dpcp)] {
        let Outcome {
            utilisation,
            queue,
            drops,
        } = outcome;
        eprintln!("{name}: {utilisation:.3} of the link, {queue:.0} B queued, {drops} dropped");
    }
    for outcome in [vcp, dpcp] {
        assert!(outcome.utilisation > 0.5, "{outcome:?}");
        assert!(outcome.queue < plain.queue / 2.0, "{outcome:?}, {plain:?}");
    }
}
