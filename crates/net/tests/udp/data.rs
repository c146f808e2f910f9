//! Sending and receiving datagrams, and waiting.

use std::collections::VecDeque;

use bytes::Bytes;
use skywave_net::{Connection, ConnectionError, EndpointConfig, SendError, TrySendError};
use skywave_transport::dccp::{Ccid, Config};

use crate::{PORT, endpoint_with, pair, peer, quick, soon};

/// Datagram `index` of a stream: its number, then bytes derived from it.
fn numbered(index: u32, size: usize) -> Bytes {
    let mut data: Vec<u8> = (0..size).map(|at| (at as u32 ^ index) as u8).collect();
    data[..4].copy_from_slice(&index.to_be_bytes());
    data.into()
}

/// Sends this many datagrams as fast as the connection accepts them.
async fn send_all(connection: &Connection, count: u32, size: usize) {
    for index in 0..count {
        connection.send(numbered(index, size)).await.unwrap();
    }
    connection.close().await.unwrap();
}

/// Receives until the end and checks every byte. Returns the number of datagrams.
async fn receive_all(connection: &Connection, size: usize) -> u32 {
    let (mut count, mut last) = (0, None);
    while let Some(datagram) = connection.recv().await.unwrap() {
        let index = u32::from_be_bytes(datagram.data[..4].try_into().unwrap());
        assert_eq!(datagram.data, numbered(index, size));
        assert!(last < Some(index), "{index} came after {last:?}");
        last = Some(index);
        count += 1;
    }
    count
}

#[tokio::test]
async fn echo() {
    let pair = pair(quick()).await;
    for index in 0..100 {
        let data = numbered(index, 4 + index as usize);
        pair.client.send(data.clone()).await.unwrap();
        let there = soon(pair.server.recv()).await.unwrap().unwrap();
        pair.server.send(there.data).await.unwrap();
        let back = soon(pair.client.recv()).await.unwrap().unwrap();
        assert_eq!(back.data, data);
    }
    pair.client.send(Bytes::new()).await.unwrap();
    let empty = soon(pair.server.recv()).await.unwrap().unwrap();
    assert!(empty.data.is_empty());
}

/// Many datagrams per call: all arrive, in order, and no call reads more than requested.
#[tokio::test]
async fn many_at_once() {
    const COUNT: u32 = 1_000;
    const LIMIT: usize = 50;
    let config = Config {
        receive_queue: COUNT as usize,
        ..quick()
    };
    let pair = pair(config).await;
    let sender = async {
        let mut datagrams: VecDeque<_> = (0..COUNT).map(|index| numbered(index, 100)).collect();
        pair.client.send_many(&mut datagrams).await.unwrap();
        assert!(datagrams.is_empty());
        pair.client.close().await.unwrap();
        // Sending nothing is not an error; a datagram that cannot be sent is, and remains.
        pair.client.send_many(&mut datagrams).await.unwrap();
        datagrams.push_back(numbered(COUNT, 100));
        let error = pair.client.send_many(&mut datagrams).await.unwrap_err();
        assert_eq!(error, SendError::Connection(ConnectionError::Closed));
        assert_eq!(datagrams.len(), 1);
    };
    let receiver = async {
        let mut datagrams = Vec::new();
        assert_eq!(pair.server.recv_many(&mut datagrams, 0).await, Ok(0));
        loop {
            let before = datagrams.len();
            let count = pair.server.recv_many(&mut datagrams, LIMIT).await.unwrap();
            assert!(count <= LIMIT, "{count}");
            assert_eq!(datagrams.len(), before + count);
            if count == 0 {
                break;
            }
        }
        assert_eq!(datagrams.len(), COUNT as usize);
        for (index, datagram) in datagrams.iter().enumerate() {
            assert_eq!(datagram.data, numbered(index as u32, 100));
        }
    };
    soon(async { tokio::join!(sender, receiver) }).await;
}

/// Without segmentation offload each datagram leaves in its own call, even in a train.
#[tokio::test]
async fn each_datagram_in_a_call_of_its_own() {
    const COUNT: u32 = 1_000;
    let [here, there] = [false, true].map(|send_offload| {
        endpoint_with(EndpointConfig {
            send_offload,
            ..EndpointConfig::default()
        })
    });
    let config = Config {
        receive_queue: COUNT as usize,
        ..quick()
    };
    let listener = there.listen(PORT, config.clone()).unwrap();
    let connecting = async { tokio::join!(here.connect(peer(&there), config), listener.accept()) };
    let (client, server) = soon(connecting).await;
    let (client, server) = (client.unwrap(), server.unwrap());
    let sender = async {
        let mut datagrams: VecDeque<_> = (0..COUNT).map(|index| numbered(index, 1_000)).collect();
        client.send_many(&mut datagrams).await.unwrap();
        client.close().await.unwrap();
    };
    let (count, ()) = soon(async { tokio::join!(receive_all(&server, 1_000), sender) }).await;
    assert_eq!(count, COUNT);
    let stats = here.stats();
    assert!(stats.packets_sent > u64::from(COUNT), "{stats:?}");
    assert_eq!(stats.send_calls, stats.packets_sent, "{stats:?}");
}

/// A megabyte in both directions at once. On one host nothing is lost while the reader keeps up,
/// for which the queues are large enough.
async fn megabyte_both_ways() {
    const COUNT: u32 = 1_000;
    const SIZE: usize = 1_000;
    let config = Config {
        receive_queue: COUNT as usize,
        ..quick()
    };
    let pair = pair(config).await;
    let (up, down) = soon(async {
        tokio::join!(
            async {
                let receive = receive_all(&pair.client, SIZE);
                let send = async {
                    for index in 0..COUNT {
                        pair.client.send(numbered(index, SIZE)).await.unwrap();
                    }
                };
                let (received, ()) = tokio::join!(receive, send);
                received
            },
            async {
                let mut count = 0;
                let receive = async {
                    while count < COUNT {
                        let datagram = pair.server.recv().await.unwrap().unwrap();
                        assert_eq!(datagram.data, numbered(count, SIZE));
                        count += 1;
                    }
                };
                let send = async {
                    for index in 0..COUNT {
                        pair.server.send(numbered(index, SIZE)).await.unwrap();
                    }
                };
                tokio::join!(receive, send);
                pair.server.close().await.unwrap();
                count
            }
        )
    })
    .await;
    assert_eq!((up, down), (COUNT, COUNT));
    let stats = pair.endpoints[0].stats();
    assert_eq!((stats.malformed, stats.send_errors), (0, 0));
}

#[tokio::test]
async fn a_megabyte_both_ways_on_one_thread() {
    megabyte_both_ways().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn a_megabyte_both_ways_on_several_threads() {
    megabyte_both_ways().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_reader_loses_datagrams_and_slows_the_sender_down() {
    for ccid in [Ccid::TCP_LIKE, Ccid::TFRC] {
        a_slow_reader_loses_datagrams(ccid).await;
    }
}

async fn a_slow_reader_loses_datagrams(ccid: Ccid) {
    const SIZE: usize = 500;
    let config = Config {
        receive_queue: 8,
        send_queue: 4,
        sender_ccids: vec![ccid],
        receiver_ccids: vec![ccid],
        ..quick()
    };
    let pair = pair(config).await;
    // If nobody reads, the sender continues, because congestion control concerns only the network.
    // Each datagram beyond the reader's queue is dropped and reported.
    soon(async {
        for index in 0..40 {
            pair.client.send(numbered(index, SIZE)).await.unwrap();
        }
    })
    .await;
    let (_, received) =
        soon(async { tokio::join!(pair.client.close(), receive_all(&pair.server, SIZE)) }).await;
    let counters = pair.server.stats().counters;
    assert_eq!(u64::from(received), counters.datagrams_delivered);
    assert!(counters.datagrams_dropped > 0, "{counters:?}");
    assert!(
        counters.datagrams_dropped + counters.datagrams_delivered <= 40,
        "{counters:?}"
    );
    // The sender is notified, and counts the datagrams that it was notified about.
    let told = pair.client.stats().congestion.dropped_by_peer();
    assert!(
        (1..=counters.datagrams_dropped).contains(&told),
        "{told} of {counters:?}"
    );
}

#[tokio::test]
async fn a_full_queue_makes_the_sender_wait() {
    let config = Config {
        send_queue: 4,
        ..quick()
    };
    let pair = pair(config).await;
    // On a single thread, the endpoint does not run between these calls.
    let mut taken = 0;
    let refused = loop {
        match pair.client.try_send(numbered(taken, 100)) {
            Ok(()) => taken += 1,
            Err(error) => break error,
        }
        assert!(taken < 1_000, "the queue never fills");
    };
    assert_eq!(refused, TrySendError::Full);
    assert_eq!(pair.client.send_room(), 0);
    soon(pair.client.send(numbered(taken, 100))).await.unwrap();
    for index in 0..=taken {
        let datagram = soon(pair.server.recv()).await.unwrap().unwrap();
        assert_eq!(datagram.data, numbered(index, 100));
    }
}

#[tokio::test]
async fn halves_close_when_both_are_gone() {
    let pair = pair(quick()).await;
    let (mut sender, mut receiver) = pair.client.split();
    sender.send("one").await.unwrap();
    let server = pair.server.clone();
    let echo = tokio::spawn(async move {
        let datagram = server.recv().await.unwrap().unwrap();
        server.send(datagram.data).await.unwrap();
        server.recv().await
    });
    drop(sender);
    let back = soon(receiver.recv()).await.unwrap().unwrap();
    assert_eq!(back.data, "one");
    drop(receiver);
    assert_eq!(soon(echo).await.unwrap(), Ok(None));
}

#[tokio::test]
async fn a_cancelled_send_or_recv_loses_nothing() {
    const COUNT: u32 = 500;
    let config = Config {
        send_queue: 2,
        receive_queue: COUNT as usize,
        ..quick()
    };
    let pair = pair(config).await;
    let (client, server) = (pair.client, pair.server);
    let mut turn = 0u32;
    let mut cancel = move || {
        turn = turn.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        turn >> 30
    };
    let sender = async {
        for index in 0..COUNT {
            // Cancelled at every await point it reaches, then repeated until it succeeds.
            loop {
                let yields = cancel();
                let attempt = client.send(numbered(index, 50));
                tokio::select! {
                    biased;
                    result = attempt => { result.unwrap(); break }
                    () = after(yields) => {}
                }
            }
        }
    };
    let receiver = async {
        let mut next = 0;
        while next < COUNT {
            tokio::select! {
                biased;
                datagram = server.recv() => {
                    let datagram = datagram.unwrap().unwrap();
                    assert_eq!(datagram.data, numbered(next, 50));
                    next += 1;
                }
                () = after(1) => {}
            }
        }
    };
    soon(async { tokio::join!(sender, receiver) }).await;
}

/// Yields to other tasks this many times.
async fn after(yields: u32) {
    for _ in 0..=yields {
        tokio::task::yield_now().await;
    }
}

// D14-1: a datagram that does not fit the path is refused, and the application can query the limit.
#[tokio::test]
async fn d14_1_too_large_a_datagram_is_refused() {
    let pair = pair(quick()).await;
    let maximum = pair.client.max_datagram_size();
    assert_eq!(maximum, Config::default().mps as usize);
    pair.client.send(vec![1; maximum]).await.unwrap();
    let error = pair.client.send(vec![1; maximum + 1]).await.unwrap_err();
    assert_eq!(
        error,
        SendError::TooLarge {
            size: maximum + 1,
            maximum
        }
    );
    let datagram = soon(pair.server.recv()).await.unwrap().unwrap();
    assert_eq!(datagram.data.len(), maximum);
    send_all(&pair.client, 3, 10).await;
    assert_eq!(receive_all(&pair.server, 10).await, 3);
}
