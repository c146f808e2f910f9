//! The path between ends and network, through sockets and devices.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddrV4};

use bytes::Bytes;
use skywave_scenario::ScenarioError;
use skywave_units::Instant;
use skywave_wire::ip::{Forwarded, IpPacket};
use skywave_wire::{AddressPair, Checksum, Ecn, Payload, dccp, udp};

use super::ends::{Encapsulation, EndKind, LiveEnd};
use super::{Outside, Strays};
use crate::error::RunError;
use crate::error::WireMismatch;
use crate::world::engine::World;
use crate::world::host::Supply;
use crate::world::ids::{FlowId, HostId};
use crate::world::packet::Body;
use crate::world::transport::KernelTransport;
use crate::world::wire_check::{from_ip, to_ip};
use skywave_transport::EndStats;

/// What a packet says about where it belongs: protocol, source and destination.
type Key = (u8, SocketAddrV4, SocketAddrV4);

/// The path between ends and network, through sockets and devices.
pub(super) struct Sockets<X> {
    /// Until the end.
    outside: Option<X>,
    ends: Vec<LiveEnd>,
    encapsulation: Encapsulation,
    /// The destination host of packets.
    hosts: BTreeMap<Key, HostId>,
    /// The packets in the network, by the keys of their bodies.
    packets: Vec<Vec<u8>>,
    /// The datagrams that the kernel's ends have sent, and the bytes in them, by their hosts. The
    /// kernel counts neither.
    sent: BTreeMap<HostId, (u64, u64)>,
    strays: Strays,
    failure: Option<RunError>,
}

impl<X: Outside> Sockets<X> {
    pub(super) fn new(outside: X, ends: Vec<LiveEnd>, encapsulation: Encapsulation) -> Self {
        let keys = ends.iter().map(|end| {
            let key = (end.kind.protocol(), end.peer, end.local);
            (key, end.host)
        });
        Self {
            outside: Some(outside),
            hosts: keys.collect(),
            ends,
            encapsulation,
            packets: Vec::new(),
            sent: BTreeMap::new(),
            strays: Strays::default(),
            failure: None,
        }
    }

    pub(super) const fn outside(&mut self) -> &mut X {
        self.outside.as_mut().expect("the run has not ended")
    }

    /// Returns the destination, the ECN field and the typed form of a packet of a flow; counts any
    /// other.
    pub(super) fn recognise(&mut self, packet: Option<IpPacket>) -> Option<(HostId, Ecn, Body)> {
        let read = packet.and_then(|packet| Some((read(&packet)?, packet)));
        let Some((body, packet)) = read else {
            self.strays.malformed += 1;
            return None;
        };
        let (source, destination) = body.ports();
        let (IpAddr::V4(from), IpAddr::V4(to)) = (packet.source(), packet.destination()) else {
            self.strays.unknown += 1;
            return None;
        };
        let key = (
            body.protocol(),
            SocketAddrV4::new(from, source),
            SocketAddrV4::new(to, destination),
        );
        match self.hosts.get(&key) {
            Some(&host) => Some((host, packet.ecn, body)),
            None => {
                self.strays.unknown += 1;
                None
            }
        }
    }

    /// Counts a packet for this host that enters the network, if it is a datagram of the kernel.
    pub(super) fn count(&mut self, to: HostId, body: &Body) {
        let from = to.peer();
        if let EndKind::Kernel(KernelTransport::Dccp { .. }) = self.ends[from.index()].kind
            && let Body::Dccp(packet) = body
            && !packet.payload.is_empty()
        {
            let (datagrams, bytes) = self.sent.entry(from).or_default();
            *datagrams += 1;
            *bytes += packet.payload.len() as u64;
            self.outside().sent(from);
        }
    }

    /// Returns why the run cannot go on, once.
    pub(super) const fn failure(&mut self) -> Option<RunError> {
        self.failure.take()
    }

    /// Ends it.
    pub(super) fn end(&mut self) -> (X, Strays) {
        let outside = self.outside.take().expect("the run has not ended");
        (outside, self.strays)
    }
}

impl<X: Outside> World for Sockets<X> {
    const IS_OPEN: bool = true;

    fn send(&mut self, from: HostId, ecn: Ecn, body: &Body) {
        let end = &self.ends[from.index()];
        let addresses = AddressPair::V4 {
            source: *end.local.ip(),
            destination: *end.peer.ip(),
        };
        let packet = match (body, self.encapsulation) {
            (Body::Dccp(packet), Encapsulation::Udp) => in_udp(packet, ecn, addresses),
            _ => to_ip(body, ecn, addresses),
        };
        match packet {
            Ok(packet) => {
                let outside = self.outside.as_mut().expect("the run has not ended");
                outside.send(end, &packet);
            }
            Err(mismatch) => {
                self.failure.get_or_insert(mismatch.into());
            }
        }
    }

    fn keep(&mut self, key: usize, bytes: Vec<u8>) {
        if key >= self.packets.len() {
            self.packets.resize(key + 1, Vec::new());
        }
        self.packets[key] = bytes;
    }

    fn deliver(&mut self, at: Instant, key: usize, to: HostId, ecn: Ecn) -> Instant {
        let mut packet = std::mem::take(&mut self.packets[key]);
        Forwarded::set_ecn(&mut packet, ecn);
        let outside = self.outside.as_mut().expect("the run has not ended");
        outside.deliver(&self.ends[to.index()], at, &packet);
        outside.now().max(at)
    }

    fn forget(&mut self, key: usize) {
        self.packets[key] = Vec::new();
    }

    fn opened(&mut self, flow: FlowId, port: u16) {
        let [sender, receiver] = &mut self.ends[flow.ends()] else {
            unreachable!("a flow has two ends");
        };
        let protocol = sender.kind.protocol();
        self.hosts.remove(&(protocol, sender.local, sender.peer));
        self.hosts.remove(&(protocol, sender.peer, sender.local));
        sender.local.set_port(port);
        receiver.peer.set_port(port);
        for end in [&*sender, &*receiver] {
            let taken = self.hosts.insert((protocol, end.peer, end.local), end.host);
            if taken.is_some() {
                let message = format!(
                    "its next connection would have port {port}, which another flow between the same \
                     nodes has: use more nodes"
                );
                let error = ScenarioError::new(format!("flows[{}]", flow.index()), message);
                self.failure.get_or_insert(error.into());
            }
        }
    }

    fn supply(&mut self, host: HostId, supply: Supply) {
        self.outside().supply(host, supply);
    }

    fn stats(&mut self, host: HostId) -> EndStats {
        let mut stats = self.outside().stats(host);
        if let Some(&(datagrams, bytes)) = self.sent.get(&host) {
            (stats.packets_sent, stats.bytes_sent) = (datagrams, bytes);
        }
        stats
    }
}

/// Returns the typed form of a packet.
fn read(packet: &IpPacket) -> Option<Body> {
    match from_ip(packet).ok()? {
        Body::Udp(datagram) if datagram.destination_port == udp::DCCP_PORT => {
            let bytes = datagram.payload.into_bytes();
            let packet = dccp::Packet::parse(&bytes, Checksum::Ignored);
            packet.ok().map(Body::from)
        }
        body => Some(body),
    }
}

/// Returns a packet of DCCP in UDP (RFC 6773).
fn in_udp(
    packet: &dccp::Packet,
    ecn: Ecn,
    addresses: AddressPair,
) -> Result<IpPacket, WireMismatch> {
    let inner: Bytes = packet
        .to_bytes(Checksum::Ignored)
        .map_err(|error| WireMismatch::new(&Body::from(packet.clone()), &error))?;
    let datagram = udp::Datagram {
        source_port: udp::DCCP_PORT,
        destination_port: udp::DCCP_PORT,
        payload: Payload::Bytes(inner),
    };
    to_ip(&Body::from(datagram), ecn, addresses)
}
