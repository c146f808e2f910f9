//! A socket that is repeatedly full.

use std::collections::VecDeque;
use std::net::Ipv4Addr;

use bytes::Bytes;
use nix::sched::{CpuSet, sched_getcpu, sched_setaffinity};
use nix::unistd::Pid;
use skywave_net::{Endpoint, EndpointConfig, Peer};
use skywave_transport::dccp::Config;

use crate::within::iproute2;
use crate::{PORT, in_namespace, skipped};

const COUNT: u32 = 6_000;
/// Datagrams sent per call.
const AT_ONCE: usize = 64;

/// The size of a datagram in bytes; with `mixed`, some are shorter, which ends a batch and a train.
const fn size(index: u32, mixed: bool) -> usize {
    if mixed && index % 7 == 3 { 500 } else { 1_000 }
}

/// All datagrams arrive in order, whether the socket fills within a train or between two.
async fn stream(send_buffer: u64, mixed: bool) {
    let open = |send_buffer| {
        let config = EndpointConfig {
            send_buffer,
            ..EndpointConfig::default()
        };
        Endpoint::udp((Ipv4Addr::LOCALHOST, 0).into(), config).unwrap()
    };
    let (here, there) = (
        open(Some(skywave_units::Bytes::new(send_buffer))),
        open(None),
    );
    let config = Config {
        send_queue: 1_024,
        receive_queue: COUNT as usize,
        sequence_window: 100_000,
        ..Config::default()
    };
    let listener = there.listen(PORT, config.clone()).unwrap();
    let peer = Peer {
        address: there.local_address(),
        port: PORT,
    };
    let (client, server) = tokio::join!(here.connect(peer, config), listener.accept());
    let (client, server) = (client.unwrap(), server.unwrap());
    let send = async {
        let mut datagrams = VecDeque::new();
        for index in 0..COUNT {
            let mut data = vec![0; size(index, mixed)];
            data[..4].copy_from_slice(&index.to_be_bytes());
            datagrams.push_back(Bytes::from(data));
            if datagrams.len() == AT_ONCE {
                client.send_many(&mut datagrams).await.unwrap();
            }
        }
        client.send_many(&mut datagrams).await.unwrap();
        client.close().await.unwrap();
    };
    let receive = async {
        let mut arrived = Vec::new();
        while let Some(datagram) = server.recv().await.unwrap() {
            arrived.push(u32::from_be_bytes(datagram.data[..4].try_into().unwrap()));
        }
        arrived
    };
    let ((), arrived) = tokio::join!(send, receive);
    assert!(
        arrived.iter().copied().eq(0..COUNT),
        "{send_buffer} {mixed}: {} arrived",
        arrived.len()
    );
}

/// Keeps this thread on its CPU: the loopback interface has a queue for each CPU, and reorders the
/// datagrams of a thread that moves from one to another.
fn stay_on_this_cpu() {
    let mut here = CpuSet::new();
    here.set(sched_getcpu().unwrap()).unwrap();
    sched_setaffinity(Pid::from_raw(0), &here).unwrap();
}

#[test]
fn trains_find_the_socket_full() {
    in_namespace(&[], || async {
        let shaper = "qdisc add dev lo root tbf rate 100mbit burst 70kb latency 3s";
        if let Err(reason) = iproute2("tc", &shaper.split(' ').collect::<Vec<_>>()) {
            return skipped(reason);
        }
        stay_on_this_cpu();
        for send_buffer in [1, 20_000] {
            for mixed in [false, true] {
                stream(send_buffer, mixed).await;
            }
        }
    });
}
