//! The socket of an endpoint: DCCP over UDP (RFC 6773) or as IP protocol 33.
//!
//! Both use quinn-udp's calls, which carry the ECN bits in both directions, report a packet's
//! destination, set Don't Fragment, and read in batches. Over UDP they also segment (GSO) and join
//! (GRO) packets; over IP several packets leave with `sendmmsg`. A raw IPv4 socket includes the IP
//! header of received packets, a raw IPv6 socket does not.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::task::{Context, Poll, ready};

use nix::libc;
use nix::sys::socket::{setsockopt, sockopt};
use quinn_udp::{EcnCodepoint, Transmit, UdpSocketState};
use skywave_units::Bytes;
use skywave_wire::{Ecn, dccp};
use socket2::{Domain, Protocol, SockFilter, Socket as System, Type};
use tokio::io::unix::AsyncFd;
use tokio::io::{Interest, Ready};
use tokio::sync::mpsc;

use crate::config::EndpointConfig;
use crate::error::OpenError;
use crate::path::{Encapsulation, Local, Path};
use crate::system::batch::Batch;
use crate::system::incoming::Incoming;
use crate::system::network_error::{self, NetworkError};
use crate::system::raw;
use crate::system::registered::registered;

/// Returns a filter (classic BPF) that drops datagrams whose UDP checksum is zero, that is, absent:
/// because the DCCP checksum is not used over UDP, nothing would protect them (RFC 6773 section
/// 3.3). Linux accepts them over IPv4. A UDP socket's filter sees the datagram from the UDP header
/// on.
fn checksum_is_present() -> [SockFilter; 4] {
    const CHECKSUM: u32 = 6;
    let instruction = |code: u32, jump_if_true, k| SockFilter::new(code as u16, jump_if_true, 0, k);
    [
        instruction(libc::BPF_LD | libc::BPF_H | libc::BPF_ABS, 0, CHECKSUM),
        instruction(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 1, 0),
        instruction(libc::BPF_RET | libc::BPF_K, 0, u32::MAX),
        instruction(libc::BPF_RET | libc::BPF_K, 0, 0),
    ]
}

/// A socket registered with the runtime.
#[derive(Debug)]
pub(crate) struct Socket {
    io: AsyncFd<OwnedFd>,
    state: UdpSocketState,
    pub(crate) local: Local,
    max_segments: usize,
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.io.get_ref().as_fd()
    }
}

/// How often a packet is offered to the system if it refuses the packet.
const ATTEMPTS: usize = 8;

/// Returns the size of a buffer as the system reads it, which is an `int`.
fn buffer(size: Bytes) -> usize {
    i32::try_from(size.get()).unwrap_or(i32::MAX) as usize
}

/// Calls `send` until it succeeds or the socket is full, at most [`ATTEMPTS`] times. The error is
/// often one that the network has reported about an earlier packet, and anyone can forge such
/// reports.
fn persist<T>(send: impl Fn() -> io::Result<T>) -> io::Result<T> {
    for _ in 1..ATTEMPTS {
        match send() {
            Err(error) if error.kind() != ErrorKind::WouldBlock => {}
            result => return result,
        }
    }
    send()
}

/// Watches a full socket for room, through a separate descriptor.
#[derive(Debug)]
pub(crate) struct Room(AsyncFd<OwnedFd>);

impl Socket {
    pub(crate) fn udp(address: SocketAddr, config: &EndpointConfig) -> Result<Self, OpenError> {
        Self::udp_bound(address, config, false)
    }

    /// Opens `count` sockets with the same address, among which the system distributes arriving
    /// datagrams.
    pub(crate) fn udp_shared(
        address: SocketAddr,
        count: usize,
        config: &EndpointConfig,
    ) -> Result<Vec<Self>, OpenError> {
        // The first socket shares its address only once it is bound. Otherwise two endpoints could
        // be bound to it, and each would get some of the packets.
        let first = Self::udp(address, config)?;
        setsockopt(&first, sockopt::ReusePort, &true).map_err(io::Error::from)?;
        let address = first.local.address;
        let mut sockets = vec![first];
        for _ in 1..count {
            sockets.push(Self::udp_bound(address, config, true)?);
        }
        Ok(sockets)
    }

    fn udp_bound(
        address: SocketAddr,
        config: &EndpointConfig,
        is_shared: bool,
    ) -> Result<Self, OpenError> {
        let domain = Domain::for_address(address);
        let system = System::new(domain, Type::DGRAM, Some(Protocol::UDP))?;
        let is_dual = address.is_ipv6() && address.ip().is_unspecified();
        if address.is_ipv6() {
            system.set_only_v6(!is_dual)?;
        }
        system.attach_filter(&checksum_is_present())?;
        system.set_reuse_port(is_shared)?;
        system
            .bind(&address.into())
            .map_err(|source| OpenError::Bind { address, source })?;
        Self::new(system, Encapsulation::Udp, is_dual, config)
    }

    pub(crate) fn raw(mut address: SocketAddr, config: &EndpointConfig) -> Result<Self, OpenError> {
        address.set_port(0);
        let domain = Domain::for_address(address);
        let protocol = Protocol::from(i32::from(dccp::IP_PROTOCOL));
        let system =
            System::new(domain, Type::RAW, Some(protocol)).map_err(|error| match error.kind() {
                ErrorKind::PermissionDenied => OpenError::Permission {
                    address: address.ip(),
                },
                _ => OpenError::Socket(error),
            })?;
        system
            .bind(&address.into())
            .map_err(|source| OpenError::BindRaw { address, source })?;
        Self::new(system, Encapsulation::Ip, false, config)
    }

    fn new(
        system: System,
        encapsulation: Encapsulation,
        is_dual: bool,
        config: &EndpointConfig,
    ) -> Result<Self, OpenError> {
        let state = UdpSocketState::new((&system).into())?;
        let address = system
            .local_addr()?
            .as_socket()
            .ok_or_else(|| io::Error::from(ErrorKind::AddrNotAvailable))?;
        // quinn-udp 0.6.3 requests timestamps but leaves no room for them next to the size of
        // joined packets, so the system would omit the ECN bits.
        setsockopt(&system, sockopt::ReceiveTimestampns, &false).map_err(io::Error::from)?;
        // The system grants what it allows, and more to a privileged process. Getting less is not
        // an error.
        if let Some(size) = config.send_buffer.map(buffer)
            && setsockopt(&system, sockopt::SndBufForce, &size).is_err()
        {
            state.set_send_buffer_size((&system).into(), size)?;
        }
        if let Some(size) = config.receive_buffer.map(buffer)
            && setsockopt(&system, sockopt::RcvBufForce, &size).is_err()
        {
            state.set_recv_buffer_size((&system).into(), size)?;
        }
        if encapsulation == Encapsulation::Udp && !config.receive_offload {
            setsockopt(&system, sockopt::UdpGroSegment, &false).map_err(io::Error::from)?;
        }
        if address.is_ipv4() || is_dual {
            setsockopt(&system, sockopt::Ipv4RecvErr, &true).map_err(io::Error::from)?;
        }
        if address.is_ipv6() {
            setsockopt(&system, sockopt::Ipv6RecvErr, &true).map_err(io::Error::from)?;
        }
        let max_segments = match encapsulation {
            Encapsulation::Udp if config.send_offload => state.max_gso_segments(),
            Encapsulation::Udp => 1,
            Encapsulation::Ip => raw::MAX_PACKETS,
        };
        Ok(Self {
            // Not for writability, which would wake the driver for every packet that leaves: see
            // `Room`.
            io: registered(system.into(), Interest::READABLE | Interest::ERROR)?,
            state,
            local: Local {
                encapsulation,
                address,
                is_dual,
            },
            max_segments,
        })
    }

    /// Returns the maximum number of packets that one call may send.
    pub(crate) fn max_segments(&self) -> usize {
        match self.local.encapsulation {
            // quinn-udp disables segmentation if the interface does not support it.
            Encapsulation::Udp => self.max_segments.min(self.state.max_gso_segments()),
            Encapsulation::Ip => self.max_segments,
        }
    }

    /// Sends `batch` now, leaving the unsent packets in it.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::WouldBlock`] if the socket is full, or the system's error.
    pub(crate) fn send(&self, path: &Path, batch: &mut Batch) -> io::Result<()> {
        if self.local.encapsulation == Encapsulation::Udp {
            self.send_bytes(path, batch.ecn(), batch.bytes(), batch.segment())?;
            batch.clear();
        }
        while !batch.is_empty() {
            let source = self.source(path);
            let sent = persist(|| raw::send(self.as_fd(), path.peer, source, batch))?;
            batch.remove(sent);
        }
        Ok(())
    }

    /// Sends the packets of `batch` individually. Returns how many the system refused.
    pub(crate) fn send_singly(&self, path: &Path, batch: &mut Batch) -> u64 {
        let refused = batch
            .packets()
            .filter(|packet| {
                self.send_bytes(path, batch.ecn(), packet, packet.len())
                    .is_err()
            })
            .count();
        batch.clear();
        refused as u64
    }

    /// Returns the source address to request, if the socket is not bound to one.
    fn source(&self, path: &Path) -> Option<IpAddr> {
        self.local.bound().is_none().then_some(path.local)
    }

    fn send_bytes(&self, path: &Path, ecn: Ecn, bytes: &[u8], segment: usize) -> io::Result<()> {
        let transmit = Transmit {
            destination: path.peer,
            ecn: EcnCodepoint::from_bits(ecn.bits()),
            contents: bytes,
            segment_size: (segment < bytes.len()).then_some(segment),
            src_ip: self.source(path),
        };
        persist(|| self.state.try_send(self.io.get_ref().into(), &transmit))
    }

    /// Starts watching for room to send.
    ///
    /// # Errors
    ///
    /// The system has no descriptor or memory left.
    pub(crate) fn room(&self) -> io::Result<Room> {
        let again = self.io.get_ref().try_clone()?;
        Ok(Room(registered(again, Interest::WRITABLE)?))
    }

    /// Sends like [`send`](Self::send), waiting for `room`.
    pub(crate) fn poll_send(
        &self,
        context: &mut Context<'_>,
        room: &Room,
        path: &Path,
        batch: &mut Batch,
    ) -> Poll<io::Result<()>> {
        loop {
            let mut guard = ready!(room.0.poll_write_ready(context))?;
            if let Ok(result) = guard.try_io(|_| self.send(path, batch)) {
                return Poll::Ready(result);
            }
        }
    }

    /// Creates receive buffers.
    pub(crate) fn incoming(&self) -> Incoming {
        Incoming::new(self.local.address.ip(), self.local.encapsulation)
    }

    /// Reads the packets that have arrived, at least one, into `incoming`'s buffers.
    pub(crate) fn poll_receive(
        &self,
        context: &mut Context<'_>,
        incoming: &mut Incoming,
    ) -> Poll<io::Result<()>> {
        loop {
            let mut guard = ready!(self.io.poll_read_ready(context))?;
            let read = guard.try_io(|io| {
                incoming.fill(|buffers, metas| self.state.recv(io.get_ref().into(), buffers, metas))
            });
            match read {
                Err(_would_block) => {}
                Ok(Ok(true)) => return Poll::Ready(Ok(())),
                Ok(Ok(false)) => {
                    // Nothing is left to read; the next arrival will be signalled again.
                    guard.clear_ready();
                    return Poll::Ready(Ok(()));
                }
                Ok(Err(error)) => return Poll::Ready(Err(error)),
            }
        }
    }

    /// Waits for errors reported by the network and passes them on.
    ///
    /// # Errors
    ///
    /// The runtime is shutting down, or nobody receives the errors any more.
    pub(crate) async fn network_errors(
        &self,
        reports: &mpsc::Sender<NetworkError>,
    ) -> io::Result<()> {
        let mut guard = self.io.ready(Interest::ERROR).await?;
        // If the system cannot deliver a report, for lack of memory, wait for the next.
        while let Ok(Some(error)) = network_error::next(self.io.get_ref()) {
            reports.send(error).await.map_err(io::Error::other)?;
        }
        guard.clear_ready_matching(Ready::ERROR);
        Ok(())
    }
}

#[cfg(test)]
#[path = "../../tests/namespace/within.rs"]
pub(crate) mod within;

#[cfg(test)]
pub(crate) mod tests {
    use std::future::poll_fn;
    use std::net::{Ipv4Addr, Ipv6Addr};

    use skywave_wire::dccp::{Kind, OptionList, Packet, SeqNo};
    use skywave_wire::{Checksum, Payload};

    use super::within::in_namespace;
    use super::*;

    /// A socket that seems to have something to read, and fails to read it.
    pub(crate) async fn unreadable() -> Socket {
        let address = (Ipv4Addr::LOCALHOST, 0).into();
        let socket = Socket::udp(address, &EndpointConfig::default()).unwrap();
        let (ended, _) = io::pipe().unwrap();
        let io = registered(ended.into(), Interest::READABLE | Interest::ERROR).unwrap();
        io.readable().await.unwrap().retain_ready();
        Socket { io, ..socket }
    }

    /// A packet whose ECN field is determined by its sequence number.
    fn marked(index: u64, size: u32) -> (Ecn, Packet) {
        let packet = Packet {
            source_port: 1,
            destination_port: 2,
            ccval: 0,
            cscov: 0,
            extended: true,
            seq: SeqNo::new(index),
            kind: Kind::Data,
            options: OptionList::new(),
            payload: Payload::Synthetic(size),
        };
        (mark(index), packet)
    }

    /// Alternating marks at first, then runs of one mark that make batches.
    fn mark(index: u64) -> Ecn {
        let turn = if index < 200 { index } else { index / 10 };
        Ecn::from_bits((turn % 4) as u8)
    }

    /// Sends packets with all marks, in batches if possible, and checks them on arrival.
    async fn keeps_marks(here: &Socket, there: &Socket, path: &Path) {
        const COUNT: u64 = 1_000;
        let mut incoming = there.incoming();
        let (mut sent, mut arrived, mut largest) = (0, 0, 0);
        while arrived < COUNT {
            let mut batch = Batch::default();
            while sent < COUNT {
                let (ecn, packet) = marked(sent, 1_000);
                let max = here.max_segments();
                if !batch.push(&packet, ecn, Checksum::Ignored, max).unwrap() {
                    break;
                }
                sent += 1;
            }
            largest = largest.max(batch.count());
            if !batch.is_empty() {
                here.send(path, &mut batch).unwrap();
            }
            poll_fn(|context| there.poll_receive(context, &mut incoming))
                .await
                .unwrap();
            incoming.for_each(|mut arrival| {
                assert_eq!(arrival.path.local.to_canonical(), path.peer.ip());
                assert_eq!(arrival.path.peer.ip().to_canonical(), path.local);
                for _ in 0..arrival.count() {
                    let packet = arrival.pop().unwrap();
                    let packet = Packet::read(packet, Checksum::Ignored).unwrap();
                    assert_eq!(arrival.ecn, mark(packet.seq.get()), "{packet}");
                    assert_eq!(packet.seq.get(), arrived);
                    arrived += 1;
                }
                assert_eq!(arrival.pop(), None);
            });
        }
        assert_eq!(largest, here.max_segments().min(10));
    }

    // D12.1-1, U-4: all four ECN codepoints pass in both directions, even if packets leave and
    // arrive in batches. (Linux merges only packets with the same mark.)
    #[tokio::test]
    async fn u_4_every_packet_keeps_its_mark() {
        let (v4, v6) = (
            IpAddr::from(Ipv4Addr::LOCALHOST),
            Ipv6Addr::LOCALHOST.into(),
        );
        let any = IpAddr::from(Ipv6Addr::UNSPECIFIED);
        for (from, to, ip) in [(v4, v4, v4), (v6, v6, v6), (v4, any, v4), (v6, any, v6)] {
            let config = EndpointConfig::default();
            let open = |ip| Socket::udp(SocketAddr::new(ip, 0), &config).unwrap();
            let (here, there) = (open(from), open(to));
            let path = Path {
                local: from,
                peer: SocketAddr::new(ip, there.local.address.port()),
            };
            keeps_marks(&here, &there, &path).await;
        }
    }

    // D12.1-1: the same over IP, where one call sends several packets, each with its source.
    #[test]
    fn d12_1_1_every_packet_keeps_its_mark_over_ip() {
        let addresses = &[
            "192.0.2.1/32",
            "192.0.2.2/32",
            "2001:db8::1/128",
            "2001:db8::2/128",
        ];
        in_namespace(addresses, || async {
            for [any, from, to] in [
                ["0.0.0.0", "192.0.2.1", "192.0.2.2"],
                ["::", "2001:db8::1", "2001:db8::2"],
            ] {
                let [any, from, to] = [any, from, to].map(|ip| ip.parse().unwrap());
                let path = Path {
                    local: from,
                    peer: SocketAddr::new(to, 0),
                };
                for (here, there) in [(from, to), (any, to), (from, any)] {
                    let config = EndpointConfig::default();
                    let open = |ip| Socket::raw(SocketAddr::new(ip, 0), &config).unwrap();
                    keeps_marks(&open(here), &open(there), &path).await;
                }
            }
        });
    }
}
