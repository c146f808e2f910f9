//! Path MTUs.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use bytes::Bytes;
use skywave_net::{Endpoint, EndpointConfig, Peer, SendError};
use skywave_wire::Checksum;
use skywave_wire::dccp::Packet;
use tokio::net::UdpSocket;

use crate::icmp::{TOO_BIG, router, unreachable};
use crate::{PORT, config, in_namespace, ip};

/// U-6, D14-1, D14-2: the maximum packet size follows the interface, and falls when the path's MTU
/// falls; packets sent then are lost, and later ones are refused.
async fn mtu(address: IpAddr, overhead: usize) {
    ip(&["link", "set", "lo", "mtu", "1500"]).unwrap();
    let open = || Endpoint::udp(SocketAddr::new(address, 0), EndpointConfig::default()).unwrap();
    let (here, there) = (open(), open());
    let listener = there.listen(PORT, config()).unwrap();
    let peer = Peer {
        address: there.local_address(),
        port: PORT,
    };
    let (connected, accepted) = tokio::join!(here.connect(peer, config()), listener.accept());
    let (connected, accepted) = (connected.unwrap(), accepted.unwrap());
    let first = connected.max_datagram_size();
    assert_eq!(first, 1500 - overhead);
    connected.send(vec![1; first]).await.unwrap();
    assert_eq!(accepted.recv().await.unwrap().unwrap().data.len(), first);

    ip(&["link", "set", "lo", "mtu", "1300"]).unwrap();
    connected.send(vec![2; first]).await.unwrap();
    while connected.max_datagram_size() == first {
        tokio::task::yield_now().await;
    }
    let second = connected.max_datagram_size();
    assert_eq!(second, 1300 - overhead);
    let error = connected.send(vec![3; first]).await.unwrap_err();
    let (size, maximum) = (first, second);
    assert_eq!(error, SendError::TooLarge { size, maximum });
    assert!(error.to_string().contains("max_datagram_size"), "{error}");
    connected.send(vec![4; second]).await.unwrap();
    let datagram = accepted.recv().await.unwrap().unwrap();
    assert_eq!(datagram.data[..], vec![4; second]);
    assert_eq!(here.stats().send_errors, 1);
}

#[test]
fn u_6_mtu_of_ipv4() {
    in_namespace(&[], || mtu([127, 0, 0, 1].into(), 20 + 8 + 24 + 62));
}

#[test]
fn u_6_mtu_of_ipv6() {
    in_namespace(&[], || mtu("::1".parse().unwrap(), 40 + 8 + 24 + 62));
}

/// D14-2, U-5: a report from any router is accepted if it quotes a recently sent packet, but not if
/// the quotation is too short or wrong.
#[test]
fn u_5_a_report_must_quote_what_was_sent() {
    in_namespace(&[], || async {
        let local = (Ipv4Addr::LOCALHOST, 0);
        let here = Endpoint::udp(local.into(), EndpointConfig::default()).unwrap();
        let there = Endpoint::udp(local.into(), EndpointConfig::default()).unwrap();
        let listener = there.listen(PORT, config()).unwrap();
        // Forwards packets, and keeps the client's last.
        let middle = UdpSocket::bind(local).await.unwrap();
        let (client, server) = (here.local_address(), there.local_address());
        let between = middle.local_addr().unwrap();
        let (last, mut seen) = tokio::sync::watch::channel(Bytes::new());
        let relay = tokio::spawn(async move {
            let mut buffer = [0; 2_048];
            loop {
                let (length, from) = middle.recv_from(&mut buffer).await.unwrap();
                let to = if from == client { server } else { client };
                if from == client {
                    last.send_replace(Bytes::copy_from_slice(&buffer[..length]));
                }
                middle.send_to(&buffer[..length], to).await.unwrap();
            }
        });
        let peer = Peer {
            address: between,
            port: PORT,
        };
        let (connected, accepted) = tokio::join!(here.connect(peer, config()), listener.accept());
        let (connected, accepted) = (connected.unwrap(), accepted.unwrap());
        connected.send("hello").await.unwrap();
        accepted.recv().await.unwrap();
        let first = connected.max_datagram_size();
        let sent = seen.borrow_and_update().clone();
        let mut packet = Packet::parse(&sent, Checksum::Ignored).unwrap();
        packet.seq = packet.seq.sub(1 << 40);
        let wrong = packet.to_bytes(Checksum::Ignored).unwrap();

        let router = router();
        for (reports, quoted) in [(1, &sent[..4]), (2, &wrong[..16]), (3, &sent[..16])] {
            assert_eq!(connected.max_datagram_size(), first);
            let report = unreachable(TOO_BIG, 1_000, client, between, quoted);
            let to = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
            router.send_to(&report, &to.into()).unwrap();
            while here.stats().network_errors < reports {
                tokio::task::yield_now().await;
            }
        }
        while connected.max_datagram_size() == first {
            tokio::task::yield_now().await;
        }
        assert_eq!(connected.max_datagram_size(), 1_000 - 28 - 24 - 62);
        relay.abort();
    });
}
