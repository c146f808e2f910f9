//! A node: a namespace with its interface, and the sockets of the ends of flows in it.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind, IoSliceMut};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};

use bytes::Bytes;
use nix::sys::socket::{setsockopt, sockopt};
use quinn_udp::{EcnCodepoint, RecvMeta, Transmit, UdpSocketState};
use skywave_emulate::{
    Attachment, Edge, EmulateError, LONGEST_PACKET, Namespace, Port, enlarge, set,
};
use skywave_wire::ip::{DEFAULT_HOP_LIMIT, IpPacket};
use skywave_wire::{AddressPair, Checksum, Ecn, Payload, dccp, tcp, udp};
use socket2::{Domain, Protocol, SockAddr, Socket, Type};

use crate::socket_options::dropped_packets;

/// A node at which flows begin or end.
pub(crate) struct Node {
    pub(crate) namespace: Namespace,
    attachment: Attachment,
    /// Where our TCP sends and receives.
    user_space: Option<Port>,
    /// Where our DCCP sends and receives, as an IP protocol.
    raw: Option<Socket>,
    /// The kernel's UDP sockets by port.
    udp: BTreeMap<u16, Udp>,
    scratch: Box<[u8]>,
    /// The packets that UDP and raw sockets have lost, as counted so far.
    dropped: u64,
}

/// A UDP socket.
struct Udp {
    socket: UdpSocket,
    state: UdpSocketState,
    address: SocketAddrV4,
}

/// The part of a node that has packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// This socket of the network's end of its interface: packets that the node has sent.
    Network(usize),
    /// This socket of our TCP.
    UserSpace(usize),
    /// Our DCCP as an IP protocol.
    Raw,
    /// The UDP socket of this port.
    Udp(u16),
}

impl Node {
    /// Creates the node with this index and address, whose interface leads into `hub`.
    pub(crate) fn new(
        index: u32,
        address: Ipv4Addr,
        hub: &Namespace,
    ) -> Result<Self, EmulateError> {
        let namespace = Namespace::new()?;
        // What one connection has learnt about the path must not influence the next.
        namespace.run(|| {
            let _ = set("ipv4/tcp_no_metrics_save", "1");
            // Packets for our DCCP arrive in broadcast frames.
            let _ = set("ipv4/conf/all/drop_unicast_in_l2_multicast", "0");
            let _ = set("ipv4/conf/default/drop_unicast_in_l2_multicast", "0");
        });
        let [.., a, b] = index.to_be_bytes();
        let v6 = Ipv6Addr::new(0xfd53, 0x6b79, 0x7761, 0x7665, 0xff, 0, a.into(), b.into());
        let edge = Edge {
            index,
            addresses: [address.into(), v6.into()],
            reaches: Vec::new(),
            // The scenario decides how long packets are.
            mtu: LONGEST_PACKET as u32,
        };
        let attachment = edge.connect(hub, &namespace)?;
        Ok(Self {
            namespace,
            attachment,
            user_space: None,
            raw: None,
            udp: BTreeMap::new(),
            scratch: vec![0; LONGEST_PACKET].into(),
            dropped: 0,
        })
    }

    /// Opens the socket of our TCP, unless it is open.
    pub(crate) fn open_user_space(&mut self) -> Result<(), EmulateError> {
        if self.user_space.is_none() {
            self.user_space = Some(self.attachment.open_host_end(&self.namespace)?);
        }
        Ok(())
    }

    /// Opens the socket of our DCCP as an IP protocol, unless it is open.
    pub(crate) fn open_raw(&mut self) -> Result<(), EmulateError> {
        if self.raw.is_none() {
            let opened = self.namespace.run(|| {
                let protocol = Protocol::from(i32::from(dccp::IP_PROTOCOL));
                let socket = Socket::new(Domain::IPV4, Type::RAW, Some(protocol))?;
                socket.set_nonblocking(true)?;
                socket.set_header_included_v4(true)?;
                enlarge(&socket)?;
                Ok(socket)
            });
            let failed = |error: io::Error| EmulateError::system("cannot open a raw socket", error);
            self.raw = Some(opened.map_err(failed)?);
        }
        Ok(())
    }

    /// Opens the UDP socket at this address, unless it is open.
    pub(crate) fn open_udp(&mut self, address: SocketAddrV4) -> Result<(), EmulateError> {
        if self.udp.contains_key(&address.port()) {
            return Ok(());
        }
        let opened = self.namespace.run(move || {
            let socket = UdpSocket::bind(address)?;
            let state = UdpSocketState::new((&socket).into())?;
            // They would leave no room for the ECN field.
            setsockopt(&socket, sockopt::ReceiveTimestampns, &false)?;
            setsockopt(&socket, sockopt::UdpGroSegment, &false)?;
            enlarge(&socket)?;
            Ok(Udp {
                socket,
                state,
                address,
            })
        });
        let failed = |error: io::Error| EmulateError::system("cannot open a UDP socket", error);
        self.udp.insert(address.port(), opened.map_err(failed)?);
        Ok(())
    }

    /// Sends a packet of an end through its socket.
    pub(crate) fn send(&self, packet: &IpPacket) -> io::Result<()> {
        let missing = || io::Error::from(ErrorKind::NotConnected);
        if packet.protocol == udp::IP_PROTOCOL {
            let datagram = udp::Datagram::parse(&packet.payload, Checksum::Ignored)
                .map_err(|error| io::Error::new(ErrorKind::InvalidInput, error))?;
            let udp = self.udp.get(&datagram.source_port).ok_or_else(missing)?;
            return udp.send(packet, datagram);
        }
        let mut bytes = Vec::with_capacity(packet.payload.len() + 20);
        packet
            .emit(&mut bytes)
            .map_err(|error| io::Error::new(ErrorKind::InvalidInput, error))?;
        match packet.protocol {
            tcp::IP_PROTOCOL => self.user_space.as_ref().ok_or_else(missing)?.send(&bytes),
            _ => {
                let to = SockAddr::from(SocketAddr::new(packet.destination(), 0));
                let socket = self.raw.as_ref().ok_or_else(missing)?;
                socket.send_to(&bytes, &to).map(drop)
            }
        }
    }

    /// Delivers a packet to its interface. `is_for_dccp` says whether it is for our DCCP.
    pub(crate) fn deliver(&self, packet: &[u8], is_for_dccp: bool) -> io::Result<()> {
        if is_for_dccp && self.raw.is_some() {
            // A kernel with DCCP would reset the connection, since it has no such socket.
            self.attachment.port.broadcast(packet)
        } else {
            self.attachment.port.send(packet)
        }
    }

    /// Returns a packet that has arrived at the UDP socket of this port, if there is one.
    pub(crate) fn receive_udp(&mut self, port: u16) -> io::Result<Option<IpPacket>> {
        match self.udp.get(&port) {
            Some(udp) => udp.receive(&mut self.scratch),
            None => Ok(None),
        }
    }

    /// Returns the socket of a source.
    pub(crate) fn socket(&self, source: Source) -> Option<BorrowedFd<'_>> {
        match source {
            Source::Network(index) => self.attachment.port.sockets().nth(index),
            Source::UserSpace(index) => self.user_space.as_ref()?.sockets().nth(index),
            Source::Raw => self.raw.as_ref().map(AsFd::as_fd),
            Source::Udp(port) => self.udp.get(&port).map(|udp| udp.socket.as_fd()),
        }
    }

    /// Returns the sockets to wait for.
    pub(crate) fn sockets(&self) -> Vec<(Source, BorrowedFd<'_>)> {
        let network = self.attachment.port.sockets().enumerate();
        let user_space = self.user_space.iter().flat_map(Port::sockets).enumerate();
        let raw = self.raw.iter().map(AsFd::as_fd);
        let udp = self.udp.iter();
        let udp = udp.map(|(&port, udp)| (Source::Udp(port), udp.socket.as_fd()));
        let network = network.map(|(index, socket)| (Source::Network(index), socket));
        let mut sockets: Vec<_> = network.collect();
        sockets.extend(user_space.map(|(index, socket)| (Source::UserSpace(index), socket)));
        sockets.extend(raw.map(|socket| (Source::Raw, socket)));
        sockets.extend(udp);
        sockets
    }

    /// Returns the number of packets that came too fast for us since the last call.
    pub(crate) fn overflows(&mut self) -> io::Result<u64> {
        let user_space = self.user_space.as_ref().map_or(Ok(0), Port::overflows)?;
        let raw = self.raw.iter().map(AsFd::as_fd);
        let udp = self.udp.values().map(|udp| udp.socket.as_fd());
        let dropped = raw
            .chain(udp)
            .map(dropped_packets)
            .sum::<io::Result<u64>>()?;
        let new = dropped - std::mem::replace(&mut self.dropped, dropped);
        Ok(self.attachment.port.overflows()? + user_space + new)
    }
}

impl Udp {
    fn send(&self, packet: &IpPacket, datagram: udp::Datagram) -> io::Result<()> {
        let contents = datagram.payload.into_bytes();
        let transmit = Transmit {
            destination: SocketAddr::new(packet.destination(), datagram.destination_port),
            ecn: EcnCodepoint::from_bits(packet.ecn.bits()),
            contents: &contents,
            segment_size: None,
            src_ip: None,
        };
        self.state.try_send((&self.socket).into(), &transmit)
    }

    fn receive(&self, scratch: &mut [u8]) -> io::Result<Option<IpPacket>> {
        let mut meta = [RecvMeta::default()];
        let mut slices = [IoSliceMut::new(scratch)];
        match self
            .state
            .recv((&self.socket).into(), &mut slices, &mut meta)
        {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
            Err(error) => return Err(error),
        }
        let [meta] = meta;
        let SocketAddr::V4(from) = meta.addr else {
            return Ok(None);
        };
        let addresses = AddressPair::V4 {
            source: *from.ip(),
            destination: *self.address.ip(),
        };
        let datagram = udp::Datagram {
            source_port: from.port(),
            destination_port: self.address.port(),
            payload: Payload::Bytes(Bytes::copy_from_slice(&scratch[..meta.len])),
        };
        let mut payload = Vec::new();
        datagram
            .emit(Checksum::Over(addresses), &mut payload)
            .map_err(io::Error::other)?;
        Ok(Some(IpPacket {
            addresses,
            ecn: Ecn::from_bits(meta.ecn.map_or(0, |ecn| ecn as u8)),
            identification: 0,
            hop_limit: DEFAULT_HOP_LIMIT,
            protocol: udp::IP_PROTOCOL,
            payload: payload.into(),
        }))
    }
}

/// Returns a packet that has arrived at a socket of our TCP, or at a raw one; `None` if it does not
/// belong there.
pub(crate) fn parsed(source: Source, bytes: &[u8]) -> Option<IpPacket> {
    let packet = IpPacket::parse(&Bytes::copy_from_slice(bytes)).ok()?;
    let is_tcp = packet.protocol == tcp::IP_PROTOCOL;
    (is_tcp == matches!(source, Source::UserSpace(_))).then_some(packet)
}
