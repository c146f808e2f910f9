//! Plain UDP with quinn-udp's calls: the upper limit set by the system.

use std::io::{self, IoSliceMut};
use std::net::{Ipv4Addr, SocketAddr};

use quinn_udp::{BATCH_SIZE, EcnCodepoint, RecvMeta, Transmit, UdpSocketState};
use socket2::SockRef;
use tokio::io::Interest;
use tokio::net::UdpSocket;

use super::ends::{DATA, PING, Ping, Run, Stream, UDP_LARGEST, join, on_thread};
use super::report::Options;
use crate::PerfError;

/// The most datagrams in a batch (Linux's UDP_MAX_SEGMENTS).
const SEGMENTS: usize = 64;
/// The size of the socket's buffers in bytes, the same as for DCCP's endpoints.
const BUFFER: usize = 4 << 20;

struct Plain {
    socket: UdpSocket,
    state: UdpSocketState,
}

pub(super) fn bind() -> Result<std::net::UdpSocket, PerfError> {
    let socket = std::net::UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    let buffers = SockRef::from(&socket);
    buffers.set_recv_buffer_size(BUFFER)?;
    buffers.set_send_buffer_size(BUFFER)?;
    Ok(socket)
}

impl Plain {
    fn new(socket: std::net::UdpSocket) -> Result<Self, PerfError> {
        let state = UdpSocketState::new((&socket).into())?;
        let socket = UdpSocket::from_std(socket)?;
        Ok(Self { socket, state })
    }

    async fn send(&self, to: SocketAddr, contents: &[u8], segment: usize) -> io::Result<()> {
        let transmit = Transmit {
            destination: to,
            ecn: Some(EcnCodepoint::Ect0),
            contents,
            segment_size: Some(segment),
            src_ip: None,
        };
        self.socket
            .async_io(Interest::WRITABLE, || {
                self.state.try_send((&self.socket).into(), &transmit)
            })
            .await
    }

    /// Reads once. Returns the number of datagrams, and the sender of the first.
    async fn recv(
        &self,
        buffers: &mut [Vec<u8>],
        metas: &mut [RecvMeta],
    ) -> io::Result<(u64, SocketAddr)> {
        let calls = self
            .socket
            .async_io(Interest::READABLE, || {
                let mut slices: Vec<_> = buffers.iter_mut().map(|b| IoSliceMut::new(b)).collect();
                self.state.recv((&self.socket).into(), &mut slices, metas)
            })
            .await?;
        let datagrams = metas[..calls]
            .iter()
            .map(|meta| meta.len.div_ceil(meta.stride.max(1)) as u64)
            .sum();
        Ok((datagrams, metas[0].addr))
    }
}

pub(super) fn stream(options: &Options) -> Result<Stream, PerfError> {
    let (here, there) = (bind()?, bind()?);
    let target = there.local_addr()?;
    let run = Run::default();
    let (counting, sending) = (run.clone(), run.clone());
    let receiver = on_thread(move || async move {
        let plain = Plain::new(there)?;
        let mut buffers = vec![vec![0; usize::from(u16::MAX)]; BATCH_SIZE];
        let mut metas = vec![RecvMeta::default(); BATCH_SIZE];
        while !counting.is_over() {
            counting.count(plain.recv(&mut buffers, &mut metas).await?.0);
        }
        Ok(())
    });
    let datagram = options.datagram;
    let sender = on_thread(move || async move {
        let plain = Plain::new(here)?;
        // A batch must not be longer than the largest datagram.
        let batch = &DATA[..datagram * (UDP_LARGEST / datagram).clamp(1, SEGMENTS)];
        while !sending.is_over() {
            plain.send(target, batch, datagram).await?;
        }
        // Wake the receiver, which may be waiting.
        plain.send(target, batch, datagram).await?;
        Ok(())
    });
    let stream = run.measure(options, || sender.is_finished() || receiver.is_finished());
    join(sender)?;
    join(receiver)?;
    stream
}

/// Sends back what arrives, `pings` times.
pub(super) async fn echo(socket: std::net::UdpSocket, pings: usize) -> Result<(), PerfError> {
    let plain = Plain::new(socket)?;
    let (mut buffers, mut metas) = buffer();
    for _ in 0..pings {
        let (_, from) = plain.recv(&mut buffers, &mut metas).await?;
        plain.send(from, &buffers[0][..PING], PING).await?;
    }
    Ok(())
}

fn buffer() -> ([Vec<u8>; 1], [RecvMeta; 1]) {
    ([vec![0; usize::from(u16::MAX)]], [RecvMeta::default()])
}

/// Sends pings to a target.
pub(super) struct Pinger {
    plain: Plain,
    target: SocketAddr,
    buffers: [Vec<u8>; 1],
    metas: [RecvMeta; 1],
}

impl Pinger {
    pub(super) fn new(socket: std::net::UdpSocket, target: SocketAddr) -> Result<Self, PerfError> {
        let (buffers, metas) = buffer();
        Ok(Self {
            plain: Plain::new(socket)?,
            target,
            buffers,
            metas,
        })
    }
}

impl Ping for Pinger {
    async fn ping(&mut self) -> Result<(), PerfError> {
        self.plain.send(self.target, &DATA[..PING], PING).await?;
        self.plain.recv(&mut self.buffers, &mut self.metas).await?;
        Ok(())
    }
}
