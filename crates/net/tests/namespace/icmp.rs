//! Reports from the network, genuine and forged.

use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::time::Duration;

use skywave_net::{ConnectError, ConnectionError, Endpoint, EndpointConfig, Peer};
use skywave_wire::Checksum;
use skywave_wire::dccp::Packet;
use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::UdpSocket;

use crate::checksum::internet_checksum;
use crate::{PORT, config, in_namespace};

/// "Fragmentation needed" (RFC 1191).
pub(crate) const TOO_BIG: u8 = 4;

/// The address from which a router sends its reports.
pub(crate) fn router() -> Socket {
    Socket::new(Domain::IPV4, Type::RAW, Some(Protocol::ICMPV4)).unwrap()
}

/// A router's "destination unreachable" (RFC 792) about a datagram from `source` to `destination`
/// whose data begins with `quoted`. `mtu` only matters if it is [`TOO_BIG`].
pub(crate) fn unreachable(
    code: u8,
    mtu: u16,
    source: SocketAddr,
    destination: SocketAddr,
    quoted: &[u8],
) -> Vec<u8> {
    let (source, destination) = (v4(source), v4(destination));
    let mut message = vec![3, code, 0, 0, 0, 0];
    message.extend(mtu.to_be_bytes());
    message.extend([0x45, 0, 5, 0xdc, 0, 0, 0x40, 0, 64, 17, 0, 0]);
    message.extend(source.ip().octets());
    message.extend(destination.ip().octets());
    message.extend(source.port().to_be_bytes());
    message.extend(destination.port().to_be_bytes());
    message.extend([5, 0xc8, 0, 0]);
    message.extend(quoted);
    let checksum = internet_checksum(&message);
    message[2..4].copy_from_slice(&checksum.to_be_bytes());
    message
}

fn v4(address: SocketAddr) -> SocketAddrV4 {
    match address {
        SocketAddr::V4(address) => address,
        SocketAddr::V6(_) => panic!("{address}"),
    }
}

/// RFC 5927: a forged report that a host, network or port is unreachable, or that a filter forbids
/// it, does not end a handshake unless it quotes the sequence number of our Request.
#[test]
fn a_forged_report_ends_no_handshake() {
    in_namespace(&[], || async {
        let here =
            Endpoint::udp((Ipv4Addr::LOCALHOST, 0).into(), EndpointConfig::default()).unwrap();
        let silent = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let (client, server) = (here.local_address(), silent.local_addr().unwrap());
        let peer = Peer {
            address: server,
            port: PORT,
        };
        let connecting = {
            let here = here.clone();
            tokio::spawn(async move { here.connect(peer, config()).await })
        };
        let mut buffer = [0; 2_048];
        let length = silent.recv(&mut buffer).await.unwrap();
        let sent = &buffer[..length];
        let mut packet = Packet::parse(&sent.to_vec().into(), Checksum::Ignored).unwrap();
        packet.seq = packet.seq.sub(1 << 40);
        let wrong = packet.to_bytes(Checksum::Ignored).unwrap();

        let router = router();
        let report = async |code, quoted: &[u8]| {
            let before = here.stats().network_errors;
            let report = unreachable(code, 0, client, server, quoted);
            let to = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
            router.send_to(&report, &to.into()).unwrap();
            while here.stats().network_errors == before {
                tokio::task::yield_now().await;
            }
        };
        for code in [0, 1, 3, 13] {
            for quoted in [&[][..], &sent[..4], &wrong[..16]] {
                report(code, quoted).await;
            }
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert!(!connecting.is_finished());
        report(3, &sent[..16]).await;
        let error = connecting.await.unwrap().unwrap_err();
        assert!(
            matches!(
                error,
                ConnectError::Connection(ConnectionError::Unreachable)
            ),
            "{error}"
        );
    });
}

/// Reports take room in the socket's receive buffer, and each makes the next call on the socket
/// fail. A flood of them costs no data, and other tasks run meanwhile.
#[test]
fn a_flood_of_reports_costs_no_data() {
    const REPORTS: u64 = 20_000;
    in_namespace(&[], || async {
        let open = || Endpoint::udp((Ipv4Addr::LOCALHOST, 0).into(), EndpointConfig::default());
        let (here, there) = (open().unwrap(), open().unwrap());
        let listener = there.listen(PORT, config()).unwrap();
        let peer = Peer {
            address: there.local_address(),
            port: PORT,
        };
        let (asking, answering) = tokio::join!(here.connect(peer, config()), listener.accept());
        let (asking, answering) = (asking.unwrap(), answering.unwrap());
        let report = unreachable(1, 0, there.local_address(), here.local_address(), &[7; 16]);
        let flood = std::thread::spawn(move || {
            let router = router();
            let to = SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into();
            for _ in 0..REPORTS {
                router.send_to(&report, &to).unwrap();
            }
        });
        let mut count = 0_u32;
        while !flood.is_finished() || count < 100 {
            count += 1;
            let question = count.to_be_bytes();
            asking.send(question.to_vec()).await.unwrap();
            let heard = answering.recv().await.unwrap().unwrap();
            assert_eq!(*heard.data, question);
            answering.send(heard.data).await.unwrap();
            assert_eq!(*asking.recv().await.unwrap().unwrap().data, question);
        }
        flood.join().unwrap();
        while there.stats().network_errors < REPORTS {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    });
}
