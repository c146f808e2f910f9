//! Plain UDP with quinn-udp's calls: what the system can do.

use std::io::{self, IoSliceMut};
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Instant;

use quinn_udp::{BATCH_SIZE, EcnCodepoint, RecvMeta, Transmit, UdpSocketState};
use socket2::SockRef;
use tokio::io::Interest;
use tokio::net::UdpSocket;

use super::{Options, PING, PingPong, Run, Stream, join, on_thread, summary};
use crate::PerfError;

/// The largest UDP payload over IPv4: a batch of datagrams is no longer.
const LARGEST: usize = 65_507;
/// The most datagrams in a batch (Linux's UDP_MAX_SEGMENTS).
const SEGMENTS: usize = 64;
/// As DCCP's endpoints ask for.
const BUFFER: usize = 4 << 20;

struct Plain {
    socket: UdpSocket,
    state: UdpSocketState,
}

fn bind() -> Result<std::net::UdpSocket, PerfError> {
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

    /// How many datagrams one call has read, and who sent the first.
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
        let batch = vec![7; datagram * (LARGEST / datagram).clamp(1, SEGMENTS)];
        while !sending.is_over() {
            plain.send(target, &batch, datagram).await?;
        }
        // Whatever the receiver waits for, something comes.
        plain.send(target, &batch, datagram).await?;
        Ok(())
    });
    let stream = run.measure(options);
    join(sender)?;
    join(receiver)?;
    Ok(stream)
}

pub(super) fn ping_pong(options: &Options) -> Result<PingPong, PerfError> {
    let (here, there) = (bind()?, bind()?);
    let target = there.local_addr()?;
    let pings = options.pings;
    let echo = on_thread(move || async move {
        let plain = Plain::new(there)?;
        let (mut buffers, mut metas) = (vec![vec![0; 65_536]], vec![RecvMeta::default()]);
        for _ in 0..pings {
            let (_, from) = plain.recv(&mut buffers, &mut metas).await?;
            plain.send(from, &buffers[0][..PING], PING).await?;
        }
        Ok(())
    });
    let ping = on_thread(move || async move {
        let plain = Plain::new(here)?;
        let (mut buffers, mut metas) = (vec![vec![0; 65_536]], vec![RecvMeta::default()]);
        let mut times = Vec::with_capacity(pings);
        for _ in 0..pings {
            let start = Instant::now();
            plain.send(target, &[7; PING], PING).await?;
            plain.recv(&mut buffers, &mut metas).await?;
            times.push(start.elapsed());
        }
        Ok(times)
    });
    let times = join(ping)?;
    join(echo)?;
    Ok(summary(times))
}
