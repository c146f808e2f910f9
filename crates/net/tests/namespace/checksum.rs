//! DCCP over UDP relies on UDP's checksum.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use skywave_net::{Endpoint, EndpointConfig};
use skywave_wire::dccp::{Kind, OptionList, Packet, SeqNo, ServiceCode};
use skywave_wire::{Checksum, Payload};
use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::UdpSocket;

use crate::{PORT, config, in_namespace};

/// U-1 (RFC 6773 section 3.3): a datagram without a UDP checksum is dropped, over a socket for IPv4
/// and over one for both versions; the same with a checksum is answered.
#[test]
fn u_1_a_datagram_without_a_checksum_is_dropped() {
    in_namespace(&[], || async {
        for any in ["127.0.0.1", "::"] {
            let address = SocketAddr::new(any.parse().unwrap(), 0);
            let server = Endpoint::udp(address, EndpointConfig::default()).unwrap();
            let _listener = server.listen(PORT, config()).unwrap();
            let port = server.local_address().port();
            let client = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
            let from = client.local_addr().unwrap().port();
            let by_hand = Socket::new(Domain::IPV4, Type::RAW, Some(Protocol::UDP)).unwrap();
            let to = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
            let mut answer = [0; 2_000];
            // The DCCP ports tell the answers apart.
            by_hand
                .send_to(&udp(from, port, 0, &request(1)), &to.into())
                .unwrap();
            let right = checksum(from, port, &request(2));
            by_hand
                .send_to(&udp(from, port, right, &request(2)), &to.into())
                .unwrap();
            let patience = Duration::from_secs(20);
            let received = tokio::time::timeout(patience, client.recv(&mut answer));
            let length = received.await.expect("the second is answered").unwrap();
            let answer = Packet::parse(&answer[..length].to_vec().into(), Checksum::Ignored);
            assert_eq!(answer.unwrap().destination_port, 2, "the first is not");
            assert_eq!(server.stats().packets_received, 1);
        }
    });
}

fn request(source_port: u16) -> Vec<u8> {
    let service = ServiceCode::NONE;
    let packet = Packet {
        source_port,
        destination_port: PORT,
        ccval: 0,
        cscov: 0,
        extended: true,
        seq: SeqNo::new(1),
        kind: Kind::Request { service },
        options: OptionList::new(),
        payload: Payload::EMPTY,
    };
    packet.to_bytes(Checksum::Ignored).unwrap().to_vec()
}

fn udp(from: u16, to: u16, checksum: u16, data: &[u8]) -> Vec<u8> {
    let length = 8 + data.len() as u16;
    let mut bytes: Vec<u8> = [from, to, length, checksum]
        .into_iter()
        .flat_map(u16::to_be_bytes)
        .collect();
    bytes.extend(data);
    bytes
}

/// The checksum of a datagram within this host (RFC 768).
fn checksum(from: u16, to: u16, data: &[u8]) -> u16 {
    let datagram = udp(from, to, 0, data);
    let localhost = Ipv4Addr::LOCALHOST.octets();
    let mut words = [localhost, localhost].concat();
    words.extend([0, 17]);
    words.extend((datagram.len() as u16).to_be_bytes());
    words.extend(datagram);
    internet_checksum(&words)
}

/// The checksum of RFC 1071 over an even number of bytes.
pub(crate) fn internet_checksum(bytes: &[u8]) -> u16 {
    assert_eq!(bytes.len() % 2, 0);
    let sum: u32 = bytes
        .chunks(2)
        .map(|word| u32::from(word[0]) << 8 | u32::from(word[1]))
        .sum();
    let folded = (sum >> 16) + (sum & 0xffff);
    // The first fold may carry.
    !((folded >> 16) + (folded & 0xffff)) as u16
}

#[test]
fn a_checksum_carries_twice() {
    // 0x8000 + 0xffff + 0x8000 = 0x1ffff, whose parts give 0x10000.
    assert_eq!(internet_checksum(&[0x80, 0, 0xff, 0xff, 0x80, 0]), !1);
}
