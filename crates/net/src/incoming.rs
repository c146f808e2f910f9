//! What arrives, and the memory that it arrives in.

use std::collections::VecDeque;
use std::io::{self, IoSliceMut};

use bytes::{Bytes, BytesMut};
use quinn_udp::RecvMeta;
use skywave_wire::Ecn;
use skywave_wire::ip::IpPacket;

use crate::path::Path;
use crate::socket::{Encapsulation, Socket};

/// The most buffers of one read.
const BUFFERS: usize = 16;
/// The buffers of a read while much arrives: each may bring dozens of packets, and who reads them has
/// to get a turn before its connection's queue is full.
const FEW: usize = 2;
/// The longest that one buffer can be asked to hold: joined packets come to no more.
const BUFFER: usize = 65_536;
/// What is received in less than this is copied out of its buffer, so that a short datagram that
/// waits for its reader does not keep a large buffer.
const COPY_BELOW: usize = 16_384;
/// Buffers handed out that are waited for.
const LENT: usize = 64;
/// Of those so many are asked after at a time.
const RETURNS: usize = 4;

/// One arrived DCCP packet, still as bytes.
#[derive(Debug)]
pub(crate) struct Arrival {
    pub(crate) path: Path,
    pub(crate) ecn: Ecn,
    pub(crate) packet: Bytes,
}

/// Buffers that are read into, and what they hold.
///
/// Long reads are handed out without a copy; their buffer is read into again once the last part of
/// it has been dropped. To make a new one costs as much as the copy would, for memory has to be
/// cleared first.
#[derive(Debug)]
pub(crate) struct Incoming {
    /// Of [`BUFFER`] bytes, or empty where the last read has taken it.
    buffers: Vec<BytesMut>,
    /// Handed out, the oldest first.
    lent: VecDeque<Bytes>,
    metas: Vec<RecvMeta>,
    /// Buffers that the next read is given.
    offered: usize,
    filled: usize,
}

impl Incoming {
    pub(crate) fn new() -> Self {
        Self {
            buffers: vec![BytesMut::new(); BUFFERS],
            lent: VecDeque::new(),
            metas: vec![RecvMeta::default(); BUFFERS],
            offered: FEW,
            filled: 0,
        }
    }

    /// Lets `read` fill the buffers.
    pub(crate) fn fill(
        &mut self,
        read: impl FnOnce(&mut [IoSliceMut<'_>], &mut [RecvMeta]) -> io::Result<usize>,
    ) -> io::Result<()> {
        self.filled = 0;
        let Self { buffers, lent, .. } = self;
        let buffers = &mut buffers[..self.offered];
        for buffer in buffers.iter_mut().filter(|buffer| buffer.is_empty()) {
            *buffer = returned(lent).unwrap_or_else(|| BytesMut::zeroed(BUFFER));
        }
        let mut buffers = buffers.iter_mut();
        let mut slices: [IoSliceMut<'_>; BUFFERS] = core::array::from_fn(|_| {
            IoSliceMut::new(buffers.next().map_or(&mut [], |buffer| &mut buffer[..]))
        });
        let offered = self.offered;
        self.filled = read(&mut slices[..offered], &mut self.metas[..offered])?;
        let bytes: usize = self.metas[..self.filled].iter().map(|meta| meta.len).sum();
        if bytes >= COPY_BELOW {
            self.offered = FEW;
        } else if self.filled == offered {
            self.offered = (2 * offered).min(BUFFERS);
        }
        Ok(())
    }

    /// Hands out what the last read has brought, packet by packet.
    pub(crate) fn for_each(&mut self, socket: &Socket, mut take: impl FnMut(Arrival)) {
        let Self {
            buffers,
            lent,
            metas,
            filled,
            ..
        } = self;
        for (buffer, meta) in buffers.iter_mut().zip(metas).take(*filled) {
            let local = meta.dst_ip.unwrap_or(socket.local.ip());
            let length = meta.len.min(BUFFER);
            if length == 0 || local.is_multicast() {
                continue;
            }
            let path = Path {
                local,
                peer: meta.addr,
            };
            let ecn = Ecn::from_bits(meta.ecn.map_or(0, |ecn| ecn as u8));
            let mut bytes = shared(buffer, length, lent);
            if socket.encapsulation == Encapsulation::Ip {
                if let Some(arrival) = from_raw(path, ecn, bytes) {
                    take(arrival);
                }
                continue;
            }
            while !bytes.is_empty() {
                let packet = bytes.split_to(meta.stride.clamp(1, bytes.len()));
                take(Arrival { path, ecn, packet });
            }
        }
        *filled = 0;
    }
}

/// A buffer that nobody holds a part of any more, if there is one among those handed out first.
fn returned(lent: &mut VecDeque<Bytes>) -> Option<BytesMut> {
    for _ in 0..lent.len().min(RETURNS) {
        match lent.pop_front()?.try_into_mut() {
            Ok(buffer) => return Some(buffer),
            Err(held) => lent.push_back(held),
        }
    }
    None
}

/// The first `length` bytes of a buffer, which is handed out with them where they are many.
fn shared(buffer: &mut BytesMut, length: usize, lent: &mut VecDeque<Bytes>) -> Bytes {
    if length < COPY_BELOW {
        return Bytes::copy_from_slice(&buffer[..length]);
    }
    let whole = core::mem::take(buffer).freeze();
    let bytes = whole.slice(..length);
    if lent.len() == LENT {
        lent.pop_front();
    }
    lent.push_back(whole);
    bytes
}

/// A packet from a raw socket: IPv4 comes with its header.
fn from_raw(mut path: Path, ecn: Ecn, bytes: Bytes) -> Option<Arrival> {
    path.peer.set_port(0);
    if path.peer.is_ipv6() {
        return Some(Arrival {
            path,
            ecn,
            packet: bytes,
        });
    }
    let ip = IpPacket::parse(&bytes).ok()?;
    path.local = ip.destination();
    Some(Arrival {
        path,
        ecn: ip.ecn,
        packet: ip.payload,
    })
}
