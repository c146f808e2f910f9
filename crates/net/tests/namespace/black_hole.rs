//! A link whose far end takes smaller packets than its near end sends, without ICMP.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use nix::sched::{CloneFlags, unshare};
use skywave_net::{Connection, Endpoint, EndpointConfig, Peer, SendError};
use skywave_transport::dccp::Config;
use skywave_units::Duration as Span;

use crate::{PORT, in_namespace, ip, skipped};

const NEAR: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
const FAR: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 2);
const UDP: u16 = 6511;

/// The headers of IPv4 and UDP, and those for which the maximum packet size leaves room.
const HEADERS: usize = 20 + 8 + 24 + 62;

/// The datagram with which the application makes the far end accept packets of full size.
const GROW: &[u8] = b"grow";

fn config() -> Config {
    Config {
        path_mtu_raise: Span::from_secs(2),
        ..crate::config()
    }
}

/// Opens an endpoint without segmentation offload, because a virtual link forwards packets that are
/// still joined.
fn open(address: Ipv4Addr) -> Endpoint {
    let config = EndpointConfig {
        send_offload: false,
        ..EndpointConfig::default()
    };
    Endpoint::udp(SocketAddr::new(address.into(), UDP), config).unwrap()
}

/// A host in its own namespace, which reads the data of one connection. It reports its namespace,
/// waits until that has an interface `far`, and reports when it listens.
fn far_host() -> (JoinHandle<()>, Receiver<PathBuf>, Sender<()>, Receiver<()>) {
    let (namespace, namespaces) = channel();
    let (start, is_linked) = channel();
    let (listening, is_listening) = channel();
    let host = std::thread::spawn(move || {
        if unshare(CloneFlags::CLONE_NEWNET).is_err() {
            return;
        }
        let task = std::fs::read_link("/proc/thread-self").unwrap();
        namespace
            .send(PathBuf::from("/proc").join(task).join("ns/net"))
            .unwrap();
        if is_linked.recv().is_err() {
            return;
        }
        ip(&["address", "add", "192.0.2.2/24", "dev", "far"]).unwrap();
        ip(&["link", "set", "far", "mtu", "1280", "up"]).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        runtime.unwrap().block_on(async {
            let listener = open(FAR).listen(PORT, config()).unwrap();
            listening.send(()).unwrap();
            let accepted = listener.accept().await.unwrap();
            while let Ok(Some(datagram)) = accepted.recv().await {
                if datagram.data == GROW {
                    ip(&["link", "set", "far", "mtu", "1500"]).unwrap();
                }
            }
        });
    });
    (host, namespaces, start, is_listening)
}

/// Sends datagrams as large as permitted until the permitted size is `mtu`'s.
async fn until(connected: &Connection, mtu: usize) {
    while connected.max_datagram_size() != mtu - HEADERS {
        let size = connected.max_datagram_size();
        match connected.send(vec![0; size]).await {
            Ok(()) | Err(SendError::TooLarge { .. }) => {}
            Err(error) => panic!("{error}"),
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// D14-2: discovery finds the MTU of a real link, and follows it up to the interface's own MTU,
/// even if that grows.
#[test]
fn d14_2_a_link_that_takes_less_than_it_should() {
    in_namespace(&[], || async {
        let (host, namespaces, start, is_listening) = far_host();
        let namespace = namespaces.recv().unwrap();
        let namespace = namespace.to_str().unwrap();
        let link = [
            "link", "add", "near", "type", "veth", "peer", "name", "far", "netns", namespace,
        ];
        if let Err(reason) = ip(&link) {
            drop(start);
            host.join().unwrap();
            return skipped(format!("no virtual Ethernet ({reason})"));
        }
        ip(&["address", "add", "192.0.2.1/24", "dev", "near"]).unwrap();
        ip(&["link", "set", "near", "mtu", "1500", "up"]).unwrap();
        start.send(()).unwrap();
        is_listening.recv().unwrap();

        let peer = Peer {
            address: (FAR, UDP).into(),
            port: PORT,
        };
        let here = open(NEAR);
        let connected = here.connect(peer, config()).await.unwrap();
        assert_eq!(connected.max_datagram_size(), 1_500 - HEADERS);
        until(&connected, 1_280).await;

        ip(&["link", "set", "near", "mtu", "1450"]).unwrap();
        connected.send(GROW).await.unwrap();
        until(&connected, 1_450).await;
        ip(&["link", "set", "near", "mtu", "1500"]).unwrap();
        until(&connected, 1_500).await;

        // The system's route may remember an ICMP report that nobody validated. It bounds no size
        // that is known to pass.
        ip(&["route", "add", "192.0.2.2/32", "dev", "near", "mtu", "600"]).unwrap();
        for _ in 0..300 {
            connected.send(vec![0; 1_500 - HEADERS]).await.unwrap();
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        connected.close().await.unwrap();
        host.join().unwrap();
    });
}
