//! The number of system calls that sending takes.

use skywave_net::Connection;
use skywave_transport::dccp::Config;

use crate::{Pair, pair, quick, soon};

/// Datagrams that are sent without a pause.
const BURST: u32 = 20;
/// Bursts in which a thousand datagrams are sent.
const BURSTS: u32 = 50;
/// The number of calls that a thousand datagrams may take. If nothing interrupts the thread, a
/// burst takes two: one for its first datagram, and one for those that follow within the gathering
/// time. Without gathering, it takes one per datagram.
const BUDGET: u64 = 500;

fn cwnd(connection: &Connection) -> f64 {
    connection.stats().congestion.window().unwrap().cwnd
}

/// Sends datagrams without a pause, and waits until they have arrived. On one thread, the driver has
/// no turn before the last one is sent.
async fn burst(pair: &Pair, count: u32) {
    for _ in 0..count {
        pair.client.try_send(vec![0; 100]).unwrap();
    }
    for _ in 0..count {
        pair.server.recv().await.unwrap().unwrap();
    }
    pair.client.flush().await.unwrap();
}

#[tokio::test]
async fn a_thousand_datagrams_in_bursts_keep_to_a_budget_of_calls() {
    let config = Config {
        send_queue: 4 * BURST as usize,
        ..quick()
    };
    let pair = pair(config).await;
    // Grow the window until it never holds a datagram back.
    soon(async {
        while cwnd(&pair.client) < f64::from(2 * BURST) {
            burst(&pair, 4 * BURST).await;
        }
    })
    .await;
    let before = pair.endpoints[0].stats();
    soon(async {
        for _ in 0..BURSTS {
            burst(&pair, BURST).await;
        }
    })
    .await;
    let after = pair.endpoints[0].stats();
    assert!(after.packets_sent - before.packets_sent >= u64::from(BURST * BURSTS));
    let calls = after.send_calls - before.send_calls;
    assert!(calls <= BUDGET, "{calls} calls: {after:?}");
}
