//! Acknowledgements that wait for the delayed-acknowledgement timer (RFC 4340 section 11.3).

use super::*;
use crate::dccp::ccid2;

/// C2-6: a single datagram is acknowledged only when the peer's timer fires, which is not a loss.
#[test]
fn a_lone_datagram_is_no_timeout() {
    let mut pair = Pair::opened();
    for _ in 0..10 {
        pair.send(Client, 500);
        pair.run_for(secs(2));
    }
    assert_eq!(pair.received(Server).len(), 10);
    let stats = pair.get(Client).stats();
    assert_eq!((stats.timeouts, pair.window(Client).pipe), (0, 0));
}

/// So is one that fills a window of one packet.
#[test]
fn nor_is_a_window_of_one() {
    let client = Config {
        ccid2: ccid2::Config {
            initial_cwnd: Some(1.0),
            ..ccid2::Config::default()
        },
        ..Config::default()
    };
    let mut pair = Pair::open(client, Config::default());
    for _ in 0..3 {
        pair.send(Client, 500);
    }
    pair.run_for(secs(1));
    assert_eq!(pair.received(Server).len(), 3);
    assert_eq!(pair.get(Client).stats().timeouts, 0);
}
