//! A connection of the kernel's TCP or DCCP: both of its sockets.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, SocketAddrV4};
use std::os::fd::{AsFd, BorrowedFd};

use nix::sys::socket::{setsockopt, sockopt};
use skywave_emulate::Namespace;
use skywave_scenario::{KernelDccpSpec, KernelTcpSpec};
use skywave_sim::live::KernelTransport;
use skywave_sim::{EndStats, Supply};
use skywave_wire::{Payload, dccp};
use socket2::{Domain, Protocol, Socket, Type};

use crate::socket_options::{of_sender, rate_of_sender, set_ccid, set_send_queue, tcp_info};

/// The most bytes handed to the kernel, or taken from it, at once.
const CHUNK: usize = 64 << 10;

static ZEROS: [u8; CHUNK] = [0; CHUNK];

/// What the kernel uses for a datagram beside its data, at most, in bytes.
const OVERHEAD: usize = 2048;

/// The most memory for the send queue of a socket, in bytes.
const MOST_MEMORY: usize = 1 << 30;

/// Linux's type of DCCP sockets, `SOCK_DCCP`.
const SOCK_DCCP: i32 = 6;

/// A connection of the kernel: both of its sockets.
pub(crate) struct KernelConnection {
    transport: KernelTransport,
    sender: Socket,
    receiver: Option<Socket>,
    to: SocketAddrV4,
    stage: Stage,
    /// Whether the kernel's send queue may have room. Its DCCP says that it has after each datagram
    /// that it refuses, so this is known from what it sends.
    has_room: bool,
    supply: Supply,
    /// The datagrams that wait until the kernel takes them.
    waiting: VecDeque<Payload>,
    /// The bytes that the kernel has taken or refused.
    written: u64,
    /// The reads of the receiver that have returned data: datagrams, if it receives any.
    reads: u64,
    /// The bytes that the receiver has read.
    delivered: u64,
    /// The data segments received by a receiver that no longer exists.
    segments: u32,
    scratch: Box<[u8]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Its flow has not started.
    Idle,
    /// It is being opened: the kernel has taken nothing yet.
    Opening,
    /// It has been opened.
    Open,
    /// Its sending side is closed.
    Closed,
}

/// The reason why a socket could not be created.
pub(crate) enum SocketError {
    /// The kernel has no TCP control of this name.
    Control(String),
    /// The kernel has no DCCP, or not with this CCID.
    Ccid(u8),
    /// The system refuses to create it.
    System(io::Error),
}

impl From<io::Error> for SocketError {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

impl KernelConnection {
    /// Creates the sender's socket in its namespace.
    pub(crate) fn new(
        namespace: &Namespace,
        transport: &KernelTransport,
        from: SocketAddrV4,
        to: SocketAddrV4,
    ) -> Result<Self, SocketError> {
        let sender = bound(namespace, transport, from)?;
        Ok(Self {
            transport: transport.clone(),
            sender,
            receiver: None,
            to,
            stage: Stage::Idle,
            has_room: true,
            supply: Supply::default(),
            waiting: VecDeque::new(),
            written: 0,
            reads: 0,
            delivered: 0,
            segments: 0,
            scratch: vec![0; CHUNK].into(),
        })
    }

    /// Returns the sender's socket, once the connection is being opened.
    pub(crate) fn sender(&self) -> Option<BorrowedFd<'_>> {
        (self.stage != Stage::Idle).then(|| self.sender.as_fd())
    }

    /// Returns the receiver's socket, from its acceptance until everything has arrived.
    pub(crate) fn receiver(&self) -> Option<BorrowedFd<'_>> {
        self.receiver.as_ref().map(AsFd::as_fd)
    }

    /// Takes the receiver's socket.
    pub(crate) fn accept(&mut self, socket: Socket) {
        self.receiver = Some(socket);
    }

    /// Takes what is to be sent, and opens the connection if it is not open.
    pub(crate) fn supply(&mut self, mut supply: Supply) -> io::Result<()> {
        let datagrams = std::mem::take(&mut supply.datagrams);
        if let KernelTransport::Dccp { .. } = self.transport {
            self.waiting.extend(datagrams);
        }
        self.supply = supply;
        if self.stage != Stage::Idle {
            return self.write();
        }
        self.stage = Stage::Opening;
        match self.sender.connect(&SocketAddr::from(self.to).into()) {
            Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => Err(error),
            _ => Ok(()),
        }
    }

    /// Returns whether the kernel could take more.
    pub(crate) const fn has_more(&self) -> bool {
        let has_data = self.supply.is_endless || self.written < self.supply.bytes;
        matches!(self.stage, Stage::Opening | Stage::Open) && (has_data || self.supply.is_closed)
    }

    /// Returns what to hand over next: of a stream as much as there is, of datagrams one.
    fn next(&self) -> &[u8] {
        match self.waiting.front() {
            Some(Payload::Bytes(bytes)) => return bytes,
            Some(Payload::Synthetic(length)) => return &ZEROS[..*length as usize],
            None => {}
        }
        let left = if self.supply.is_endless {
            CHUNK as u64
        } else {
            self.supply.bytes.saturating_sub(self.written)
        };
        let most = match self.transport {
            KernelTransport::Tcp(_) => CHUNK as u64,
            KernelTransport::Dccp { datagram, .. } => datagram,
        };
        &ZEROS[..left.min(most) as usize]
    }

    /// Handles that the kernel has sent a datagram.
    pub(crate) fn sent(&mut self) -> io::Result<()> {
        self.has_room = true;
        self.write()
    }

    /// Hands the kernel as much as it takes, and closes the sending side after the last byte.
    pub(crate) fn write(&mut self) -> io::Result<()> {
        if !self.has_room {
            self.refuse();
            return Ok(());
        }
        while self.has_more() {
            let next = self.next();
            if next.is_empty() {
                match self.sender.shutdown(Shutdown::Write) {
                    // It is still being opened.
                    Err(error) if error.kind() == ErrorKind::NotConnected => return Ok(()),
                    outcome => outcome?,
                }
                self.stage = Stage::Closed;
                return Ok(());
            }
            match (&self.sender).write(next) {
                Ok(taken) => {
                    self.stage = Stage::Open;
                    self.written += taken as u64;
                    self.waiting.pop_front();
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    let is_dccp = matches!(self.transport, KernelTransport::Dccp { .. });
                    self.has_room = !(is_dccp && self.stage == Stage::Open);
                    self.refuse();
                    return Ok(());
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Discards the datagrams for which there is no room: all, or while the connection is being opened
    /// those beyond the length of the send queue.
    fn refuse(&mut self) {
        if let KernelTransport::Dccp { spec, .. } = &self.transport {
            let room = match self.stage {
                Stage::Opening => spec.send_queue as usize,
                _ => 0,
            };
            let refused = self.waiting.drain(room.min(self.waiting.len())..);
            self.written += refused.map(|datagram| datagram.len() as u64).sum::<u64>();
        }
    }

    /// Reads what has arrived.
    pub(crate) fn read(&mut self) -> io::Result<()> {
        let Some(mut receiver) = self.receiver.as_ref() else {
            return Ok(());
        };
        loop {
            match receiver.read(&mut self.scratch) {
                Ok(0) => {
                    // At the end of the stream, it would be ready forever.
                    if let KernelTransport::Tcp(_) = self.transport {
                        self.segments = tcp_info(receiver.as_fd())?.tcpi_data_segs_in;
                    }
                    self.receiver = None;
                    return Ok(());
                }
                Ok(read) => {
                    self.reads += 1;
                    self.delivered += read as u64;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }

    /// Returns the state of the sender. What it has sent is reported for TCP only.
    pub(crate) fn sender_stats(&self) -> io::Result<EndStats> {
        let mut stats = EndStats::default();
        stats.is_idle = true;
        if self.stage == Stage::Idle {
            return Ok(stats);
        }
        match &self.transport {
            KernelTransport::Tcp(_) => stats = of_sender(&tcp_info(self.sender.as_fd())?),
            KernelTransport::Dccp { spec, .. } if spec.ccid == 3 => {
                (stats.rate, stats.srtt) = rate_of_sender(self.sender.as_fd())?;
            }
            KernelTransport::Dccp { .. } => {}
        }
        stats.is_idle &= !self.supply.is_endless && self.written >= self.supply.bytes;
        Ok(stats)
    }

    /// Returns the state of the receiver.
    pub(crate) fn receiver_stats(&self) -> io::Result<EndStats> {
        let mut stats = EndStats::default();
        stats.delivered_packets = match (&self.transport, &self.receiver) {
            (KernelTransport::Dccp { .. }, _) => self.reads,
            (KernelTransport::Tcp(_), Some(socket)) => {
                tcp_info(socket.as_fd())?.tcpi_data_segs_in.into()
            }
            (KernelTransport::Tcp(_), None) => self.segments.into(),
        };
        stats.delivered_bytes = self.delivered;
        Ok(stats)
    }
}

/// Creates the socket that waits for a connection of the kernel, in a namespace. It has the
/// connection's parameters: some TCP controls, such as DCTCP, ask the receiver for ECN and for more
/// frequent echoes.
pub(crate) fn listener(
    namespace: &Namespace,
    transport: &KernelTransport,
    address: SocketAddrV4,
) -> Result<Socket, SocketError> {
    let socket = bound(namespace, transport, address)?;
    socket.listen(1)?;
    Ok(socket)
}

/// Creates a socket with this address, in a namespace.
fn bound(
    namespace: &Namespace,
    transport: &KernelTransport,
    address: SocketAddrV4,
) -> Result<Socket, SocketError> {
    let transport = transport.clone();
    namespace.run(move || {
        let socket = match transport {
            KernelTransport::Tcp(spec) => tcp(&spec),
            KernelTransport::Dccp { spec, datagram } => dccp(&spec, datagram),
        }?;
        socket.bind(&SocketAddr::from(address).into())?;
        Ok(socket)
    })
}

fn tcp(spec: &KernelTcpSpec) -> Result<Socket, SocketError> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM.nonblocking(), None)?;
    socket
        .set_tcp_congestion(spec.control.as_bytes())
        .map_err(|error| match error.kind() {
            ErrorKind::NotFound => SocketError::Control(spec.control.clone()),
            _ => SocketError::System(error),
        })?;
    socket.set_tcp_mss((spec.segment.get() + KernelTcpSpec::TIMESTAMPS) as u32)?;
    socket.set_tcp_nodelay(true)?;
    Ok(socket)
}

fn dccp(spec: &KernelDccpSpec, datagram: u64) -> Result<Socket, SocketError> {
    let kind = Type::from(SOCK_DCCP).nonblocking();
    let protocol = Protocol::from(i32::from(dccp::IP_PROTOCOL));
    let failed = |error: io::Error| match error.raw_os_error() {
        Some(libc::EPROTONOSUPPORT | libc::ESOCKTNOSUPPORT | libc::EOPNOTSUPP) => {
            SocketError::Ccid(spec.ccid)
        }
        _ => SocketError::System(error),
    };
    let socket = Socket::new(Domain::IPV4, kind, Some(protocol)).map_err(failed)?;
    set_ccid(socket.as_fd(), spec.ccid).map_err(failed)?;
    set_send_queue(socket.as_fd(), spec.send_queue)?;
    // By default, the memory of sockets would be a tighter limit.
    let each = 2 * datagram as usize + OVERHEAD;
    let buffer = (spec.send_queue as usize)
        .saturating_mul(each)
        .min(MOST_MEMORY);
    if setsockopt(&socket, sockopt::SndBufForce, &buffer).is_err() {
        socket.set_send_buffer_size(buffer)?;
    }
    Ok(socket)
}
