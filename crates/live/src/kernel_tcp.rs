//! A connection of the kernel's TCP: both of its sockets.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, SocketAddrV4};
use std::os::fd::{AsFd, BorrowedFd};

use skywave_emulate::Namespace;
use skywave_scenario::KernelTcpSpec;
use skywave_sim::{EndStats, Supply};
use socket2::{Domain, Socket, Type};

use crate::socket_options::{of_sender, tcp_info};

/// The most bytes handed to the kernel, or taken from it, at once.
const CHUNK: usize = 64 << 10;

static ZEROS: [u8; CHUNK] = [0; CHUNK];

/// A connection of the kernel's TCP: both of its sockets.
pub(crate) struct KernelTcp {
    sender: Socket,
    receiver: Option<Socket>,
    to: SocketAddrV4,
    stage: Stage,
    supply: Supply,
    /// The bytes that the kernel has taken.
    written: u64,
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
    /// It has been opened.
    Open,
    /// Its sending side is closed.
    Closed,
}

/// The reason why a socket could not be created.
pub(crate) enum SocketError {
    /// The kernel has no such control.
    Control,
    /// The system refuses to create it.
    System(io::Error),
}

impl From<io::Error> for SocketError {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

impl KernelTcp {
    /// Creates the sender's socket in its namespace.
    pub(crate) fn new(
        namespace: &Namespace,
        spec: &KernelTcpSpec,
        from: SocketAddrV4,
        to: SocketAddrV4,
    ) -> Result<Self, SocketError> {
        let spec = spec.clone();
        let sender = namespace.run(move || {
            let socket = socket(&spec)?;
            socket.bind(&SocketAddr::from(from).into())?;
            Ok::<_, SocketError>(socket)
        })?;
        Ok(Self {
            sender,
            receiver: None,
            to,
            stage: Stage::Idle,
            supply: Supply::default(),
            written: 0,
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
    pub(crate) fn supply(&mut self, supply: Supply) -> io::Result<()> {
        self.supply = supply;
        if self.stage != Stage::Idle {
            return self.write();
        }
        self.stage = Stage::Open;
        match self.sender.connect(&SocketAddr::from(self.to).into()) {
            Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => Err(error),
            _ => Ok(()),
        }
    }

    /// Returns whether the kernel could take more.
    pub(crate) const fn has_more(&self) -> bool {
        let has_data = self.supply.is_endless || self.written < self.supply.bytes;
        matches!(self.stage, Stage::Open) && (has_data || self.supply.is_closed)
    }

    /// Hands the kernel as much as it takes, and closes the sending side after the last byte.
    pub(crate) fn write(&mut self) -> io::Result<()> {
        while self.has_more() {
            let left = if self.supply.is_endless {
                CHUNK
            } else {
                (self.supply.bytes.saturating_sub(self.written)).min(CHUNK as u64) as usize
            };
            if left == 0 {
                match self.sender.shutdown(Shutdown::Write) {
                    // It is still being opened.
                    Err(error) if error.kind() == ErrorKind::NotConnected => return Ok(()),
                    outcome => outcome?,
                }
                self.stage = Stage::Closed;
                return Ok(());
            }
            match (&self.sender).write(&ZEROS[..left]) {
                Ok(taken) => self.written += taken as u64,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
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
                    self.segments = tcp_info(receiver.as_fd())?.tcpi_data_segs_in;
                    self.receiver = None;
                    return Ok(());
                }
                Ok(read) => self.delivered += read as u64,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }

    /// Returns the state of the sender.
    pub(crate) fn sender_stats(&self) -> io::Result<EndStats> {
        if self.stage == Stage::Idle {
            let mut stats = EndStats::default();
            stats.is_idle = true;
            return Ok(stats);
        }
        let mut stats = of_sender(&tcp_info(self.sender.as_fd())?);
        stats.is_idle &= !self.supply.is_endless && self.written >= self.supply.bytes;
        Ok(stats)
    }

    /// Returns the state of the receiver.
    pub(crate) fn receiver_stats(&self) -> io::Result<EndStats> {
        let segments = match &self.receiver {
            Some(socket) => tcp_info(socket.as_fd())?.tcpi_data_segs_in,
            None => self.segments,
        };
        let mut stats = EndStats::default();
        stats.delivered_packets = u64::from(segments);
        stats.delivered_bytes = self.delivered;
        Ok(stats)
    }
}

/// Creates the socket that waits for a connection of the kernel, in a namespace. It has the
/// connection's control: some, such as DCTCP, ask the receiver for ECN and for more frequent echoes.
pub(crate) fn listener(
    namespace: &Namespace,
    spec: &KernelTcpSpec,
    address: SocketAddrV4,
) -> Result<Socket, SocketError> {
    let spec = spec.clone();
    namespace.run(move || {
        let socket = socket(&spec)?;
        socket.bind(&SocketAddr::from(address).into())?;
        socket.listen(1)?;
        Ok(socket)
    })
}

fn socket(spec: &KernelTcpSpec) -> Result<Socket, SocketError> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM.nonblocking(), None)?;
    socket
        .set_tcp_congestion(spec.control.as_bytes())
        .map_err(|error| match error.kind() {
            ErrorKind::NotFound => SocketError::Control,
            _ => SocketError::System(error),
        })?;
    socket.set_tcp_mss((spec.segment.get() + KernelTcpSpec::TIMESTAMPS) as u32)?;
    socket.set_tcp_nodelay(true)?;
    Ok(socket)
}
