//! A peer that writes its packets by hand.

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};

use bytes::Bytes;
use skywave_wire::dccp::{Kind, OptionList, Packet, ResetCode, SeqNo, ServiceCode};
use skywave_wire::{Checksum, Payload};

use crate::PORT;

pub(crate) struct Stranger {
    socket: UdpSocket,
    target: SocketAddr,
}

impl Stranger {
    pub(crate) fn of(target: SocketAddr) -> Self {
        Self::from(Ipv4Addr::LOCALHOST, target)
    }

    /// Creates a peer with this address.
    pub(crate) fn from(address: Ipv4Addr, target: SocketAddr) -> Self {
        let socket = UdpSocket::bind((address, 0)).unwrap();
        socket
            .set_read_timeout(Some(std::time::Duration::from_secs(3)))
            .unwrap();
        Self { socket, target }
    }

    /// Creates a peer with connections from its ports 1 to `count`, and returns it with the
    /// server's last sequence number.
    pub(crate) async fn connected(target: SocketAddr, count: u16) -> (Self, SeqNo) {
        let connect = move || {
            let stranger = Self::of(target);
            let acks: Vec<_> = (1..=count)
                .map(|port| stranger.connect(port, &[]))
                .collect();
            (stranger, *acks.last().unwrap())
        };
        tokio::task::spawn_blocking(connect).await.unwrap()
    }

    pub(crate) fn send(&self, port: u16, seq: u64, kind: Kind, data: &'static [u8]) {
        let packet = Packet {
            source_port: port,
            destination_port: PORT,
            ccval: 0,
            cscov: 0,
            extended: true,
            seq: SeqNo::new(seq),
            kind,
            options: OptionList::new(),
            payload: Payload::Bytes(Bytes::from_static(data)),
        };
        let bytes = packet.to_bytes(Checksum::Ignored).unwrap();
        self.socket.send_to(&bytes, self.target).unwrap();
    }

    pub(crate) fn request(&self, port: u16, seq: u64, data: &'static [u8]) {
        let service = ServiceCode::NONE;
        self.send(port, seq, Kind::Request { service }, data);
    }

    /// The next packet for `port`.
    pub(crate) fn receive(&self, port: u16) -> Packet {
        let mut buffer = [0; 2_000];
        // The others are retransmissions for other ports.
        for _ in 0..1_000 {
            let length = self.socket.recv(&mut buffer).unwrap();
            let bytes = Bytes::copy_from_slice(&buffer[..length]);
            let packet = Packet::parse(&bytes, Checksum::Ignored).unwrap();
            if packet.destination_port == port {
                return packet;
            }
        }
        panic!("no answer for port {port}")
    }

    /// Completes a handshake. Returns the sequence number of the server's last packet.
    pub(crate) fn connect(&self, port: u16, data: &'static [u8]) -> SeqNo {
        self.request(port, 1, data);
        let ack = self.receive(port).seq;
        self.send(port, 2, Kind::Ack { ack }, &[]);
        ack
    }

    pub(crate) fn reset(&self, port: u16, ack: SeqNo) {
        let code = ResetCode::ABORTED;
        let data = [0; 3];
        self.send(port, 3, Kind::Reset { ack, code, data }, &[]);
    }
}
