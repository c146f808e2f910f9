//! Received packets and their buffers.

use std::collections::VecDeque;
use std::io::{self, IoSliceMut};
use std::net::IpAddr;

use bytes::{Bytes, BytesMut};
use quinn_udp::RecvMeta;
use skywave_wire::Ecn;
use skywave_wire::ip::IpPacket;

use crate::path::{Encapsulation, Key, Path};

/// The maximum number of buffers per read.
const BUFFERS: usize = 16;
/// The number of buffers per read while joined packets arrive. Each holds up to 64 packets, and the
/// reader must run before its connection's queue (1000 by default) is full.
const FEW: usize = 3;
/// The size of a buffer: joined packets are never longer.
const BUFFER: usize = 65_536;
/// Shorter data is copied out of its buffer, so that a short datagram that waits to be read does
/// not keep a large buffer in use.
const COPY_BELOW: usize = 16_384;
/// The maximum number of lent buffers whose return is awaited.
const LENT: usize = 64;

/// Encoded DCCP packets that arrived together: all of the same size except for a shorter last one,
/// on the same path and with the same ECN bits.
#[derive(Debug)]
pub(crate) struct Arrival {
    pub(crate) path: Path,
    pub(crate) ecn: Ecn,
    bytes: Bytes,
    /// The size in bytes of each packet except the last.
    segment: usize,
    /// The bytes of memory that the data of these packets keeps in use, while any of it waits.
    pub(crate) kept: usize,
}

impl Arrival {
    /// Returns the number of packets not yet taken.
    pub(crate) fn count(&self) -> usize {
        self.bytes.len().div_ceil(self.segment.max(1))
    }

    /// Takes the next packet.
    pub(crate) fn pop(&mut self) -> Option<Bytes> {
        let length = self.bytes.len();
        (length > 0).then(|| self.bytes.split_to(self.segment.clamp(1, length)))
    }

    /// Takes the next packet if it belongs to the connection with `key`, like those before it.
    pub(crate) fn pop_for(&mut self, key: &Key) -> Option<Bytes> {
        let &[s0, s1, d0, d1] = self.bytes.first_chunk()?;
        let is_for = u16::from_be_bytes([s0, s1]) == key.remote_port
            && u16::from_be_bytes([d0, d1]) == key.local_port;
        is_for.then(|| self.pop()).flatten()
    }
}

/// Receive buffers and their contents.
///
/// Long data is handed out without copying; its buffer is reused once the last reference is
/// dropped. Allocating a new buffer costs as much as copying, because memory must be cleared first.
#[derive(Debug)]
pub(crate) struct Incoming {
    /// The socket's address, used if the system does not report a packet's destination.
    local: IpAddr,
    encapsulation: Encapsulation,
    /// Buffers of [`BUFFER`] bytes; empty ones were taken by the last read.
    buffers: Vec<BytesMut>,
    /// Buffers handed out, oldest first.
    lent: VecDeque<Bytes>,
    metas: Vec<RecvMeta>,
    /// The number of buffers offered to the next read.
    offered: usize,
    filled: usize,
}

impl Incoming {
    /// Creates buffers for a socket bound to `local`.
    pub(crate) fn new(local: IpAddr, encapsulation: Encapsulation) -> Self {
        Self {
            local,
            encapsulation,
            buffers: vec![BytesMut::new(); BUFFERS],
            lent: VecDeque::new(),
            metas: vec![RecvMeta::default(); BUFFERS],
            offered: FEW,
            filled: 0,
        }
    }

    /// Lets `read` fill the buffers. Returns whether it used all of them, so that there may be more
    /// to read.
    pub(crate) fn fill(
        &mut self,
        read: impl FnOnce(&mut [IoSliceMut<'_>], &mut [RecvMeta]) -> io::Result<usize>,
    ) -> io::Result<bool> {
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
        let read = &self.metas[..self.filled];
        if read.iter().any(|meta| meta.len >= COPY_BELOW) {
            self.offered = FEW;
        } else if self.filled == offered {
            self.offered = (2 * offered).min(BUFFERS);
        }
        Ok(self.filled == offered)
    }

    /// Passes the results of the last read to `take`.
    pub(crate) fn for_each(&mut self, mut take: impl FnMut(Arrival)) {
        let Self {
            buffers,
            lent,
            metas,
            filled,
            local: bound,
            encapsulation,
            ..
        } = self;
        for (buffer, meta) in buffers.iter_mut().zip(metas).take(*filled) {
            let local = meta.dst_ip.unwrap_or(*bound);
            let length = meta.len.min(BUFFER);
            if length == 0 || local.is_multicast() {
                continue;
            }
            let path = Path {
                local,
                peer: meta.addr,
            };
            let ecn = Ecn::from_bits(meta.ecn.map_or(0, |ecn| ecn as u8));
            let bytes = shared(buffer, length, lent);
            let arrival = match *encapsulation {
                Encapsulation::Udp => Some(Arrival {
                    path,
                    ecn,
                    kept: kept(&bytes),
                    bytes,
                    segment: meta.stride,
                }),
                Encapsulation::Ip => from_raw(path, ecn, bytes),
            };
            if let Some(arrival) = arrival {
                take(arrival);
            }
        }
        *filled = 0;
    }
}

/// Returns a buffer that is no longer referenced, if any: the one handed out last, which is most
/// likely in the cache.
fn returned(lent: &mut VecDeque<Bytes>) -> Option<BytesMut> {
    let newest = lent.iter().rposition(Bytes::is_unique)?;
    lent.remove(newest)?.try_into_mut().ok()
}

/// Returns the first `length` bytes of a buffer; if there are many, hands out the buffer itself.
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

/// Returns the memory that data from `bytes` keeps in use: a whole buffer, unless it was copied.
fn kept(bytes: &Bytes) -> usize {
    if bytes.len() < COPY_BELOW {
        bytes.len()
    } else {
        BUFFER
    }
}

/// Decodes a packet from a raw socket; IPv4 packets include their header.
fn from_raw(mut path: Path, ecn: Ecn, bytes: Bytes) -> Option<Arrival> {
    path.peer.set_port(0);
    let (ecn, bytes) = if path.peer.is_ipv6() {
        (ecn, bytes)
    } else {
        let ip = IpPacket::parse(&bytes).ok()?;
        path.local = ip.destination();
        (ip.ecn, ip.payload)
    };
    Some(Arrival {
        path,
        ecn,
        segment: bytes.len(),
        kept: kept(&bytes),
        bytes,
    })
}
