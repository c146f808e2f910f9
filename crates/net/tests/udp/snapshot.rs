//! An endpoint's snapshots of its connections.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use skywave_net::{ConnectionSnapshot, Endpoint, Totals};
use skywave_transport::dccp::{Counters, Role, State};
use tokio::task::JoinSet;

use crate::{PORT, Pair, endpoint, pair, peer, quick, soon};

fn only(endpoint: &Endpoint) -> ConnectionSnapshot {
    let mut all = endpoint.connections();
    assert_eq!(all.len(), 1);
    all.next().unwrap()
}

/// The totals of all connections, now.
fn totals(endpoint: &Endpoint) -> Totals {
    let connections = endpoint.connections();
    let mut totals = *connections.ended();
    for connection in connections {
        totals.add(&connection.stats);
    }
    totals
}

#[tokio::test]
async fn a_connection_is_described_at_both_ends() {
    let Pair {
        endpoints,
        listener: _listener,
        client,
        server,
    } = pair(quick()).await;
    client.send("hello").await.unwrap();
    assert_eq!(soon(server.recv()).await.unwrap().unwrap().data, "hello");
    let [here, there] = [&endpoints[0], &endpoints[1]].map(only);
    for (snapshot, connection) in [(here, &client), (there, &server)] {
        assert_eq!(snapshot.peer_address, connection.peer_address());
        assert_eq!(snapshot.peer_port, connection.peer_port());
        assert_eq!(snapshot.local_ip, connection.local_ip());
        assert_eq!(snapshot.local_port, connection.local_port());
        assert_eq!(snapshot.service_code, connection.service_code());
        assert_eq!(snapshot.ccids, connection.ccids());
        let size = connection.max_datagram_size();
        assert_eq!(snapshot.max_datagram_size as usize, size);
    }
    assert_eq!((here.role, there.role), (Role::Client, Role::Server));
    assert_eq!(there.state, State::Open);
    assert_eq!(here.stats.counters.bytes_sent, 5);
    assert_eq!(there.stats.counters.bytes_received, 5);

    // A snapshot outlives what it shows.
    let before = endpoints[0].connections();
    client.close().await.unwrap();
    assert_eq!(endpoints[0].connections().len(), 0);
    assert_eq!(before.ended().connections, 0);
    assert_eq!(before.last().unwrap().state, State::TimeWait);
    assert_eq!(totals(&endpoints[0]).counters.bytes_sent, 5);
}

/// A counter must not decrease: to Prometheus, that looks like a restart.
fn assert_no_less(now: &Counters, before: &Counters) {
    let sums = [now, before].map(|counters| {
        [
            counters.packets_sent,
            counters.packets_received,
            counters.bytes_sent,
            counters.bytes_received,
            counters.resets_sent,
            counters.resets_received,
        ]
    });
    for (now, before) in sums[0].into_iter().zip(sums[1]) {
        assert!(now >= before, "{sums:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn totals_never_decrease_as_connections_come_and_go() {
    const ROUNDS: u64 = 20;
    const AT_ONCE: u64 = 20;
    let endpoints = [endpoint(), endpoint()];
    let listener = endpoints[1].listen(PORT, quick()).unwrap();
    let target = peer(&endpoints[1]);
    let is_over = AtomicBool::new(false);
    let is_over = &is_over;
    std::thread::scope(|scope| {
        let watched = &endpoints;
        let watcher = scope.spawn(move || {
            let mut latest = [Totals::default(); 2];
            let mut ids = BTreeSet::new();
            while !is_over.load(Ordering::Relaxed) {
                for (endpoint, latest) in watched.iter().zip(&mut latest) {
                    let now = totals(endpoint);
                    assert_no_less(&now.counters, &latest.counters);
                    assert!(now.connections >= latest.connections);
                    *latest = now;
                }
                ids.extend(watched[0].connections().map(|connection| connection.id));
            }
            ids.len()
        });
        let traffic = async {
            for _ in 0..ROUNDS {
                let mut clients = JoinSet::new();
                for _ in 0..AT_ONCE {
                    let client = endpoints[0].clone();
                    clients.spawn(async move {
                        let connection = client.connect(target, quick()).await.unwrap();
                        connection.send("hello").await.unwrap();
                        connection.close().await.unwrap();
                    });
                }
                for _ in 0..AT_ONCE {
                    let connection = listener.accept().await.unwrap();
                    assert_eq!(connection.recv().await.unwrap().unwrap().data, "hello");
                    assert!(connection.recv().await.unwrap().is_none());
                }
                clients.join_all().await;
            }
        };
        tokio::task::block_in_place(|| {
            let traffic = tokio::runtime::Handle::current()
                .block_on(tokio::time::timeout(crate::PATIENCE, traffic));
            is_over.store(true, Ordering::Relaxed);
            traffic.expect("the time limit is exceeded");
        });
        assert!(watcher.join().unwrap() as u64 <= ROUNDS * AT_ONCE);
    });
    for endpoint in &endpoints {
        soon(async {
            while endpoint.stats().connections > 0 {
                tokio::task::yield_now().await;
            }
        })
        .await;
        let ended = *endpoint.connections().ended();
        assert_eq!(ended.connections, ROUNDS * AT_ONCE);
        let counters = ended.counters;
        let bytes = counters.bytes_sent + counters.bytes_received;
        assert_eq!(bytes, 5 * ROUNDS * AT_ONCE);
    }
}

// What a runtime ends on its way out has been counted too.
#[test]
fn a_runtime_that_ends_takes_no_totals_with_it() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let pair = runtime.block_on(async {
        let pair = pair(quick()).await;
        pair.client.send("hello").await.unwrap();
        assert!(soon(pair.server.recv()).await.unwrap().is_some());
        pair
    });
    let before = totals(&pair.endpoints[0]);
    drop(runtime);
    let after = pair.endpoints[0].connections();
    assert_eq!((after.len(), after.ended().connections), (0, 1));
    assert_no_less(&after.ended().counters, &before.counters);
    assert_eq!(after.ended().counters.bytes_sent, 5);
}
