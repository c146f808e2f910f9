//! What arrives, and the memory that it arrives in.

use std::collections::VecDeque;
use std::io::{self, IoSliceMut};
use std::net::IpAddr;

use bytes::{Bytes, BytesMut};
use quinn_udp::RecvMeta;
use skywave_wire::Ecn;
use skywave_wire::ip::IpPacket;

use crate::path::{Encapsulation, Key, Path};

/// The most buffers of one read.
const BUFFERS: usize = 16;
/// The buffers of a read while joined packets arrive. Each brings up to 64, and who reads them has to
/// get a turn before its connection's queue (1000 by default) is full.
const FEW: usize = 3;
/// The longest that one buffer can be asked to hold: joined packets come to no more.
const BUFFER: usize = 65_536;
/// What is received in less than this is copied out of its buffer, so that a short datagram that
/// waits for its reader does not keep a large buffer.
const COPY_BELOW: usize = 16_384;
/// Buffers handed out that are waited for.
const LENT: usize = 64;

/// DCCP packets that have arrived as one, still as bytes: of one size, but for a shorter last one, on
/// one path and with the same ECN bits.
#[derive(Debug)]
pub(crate) struct Arrival {
    pub(crate) path: Path,
    pub(crate) ecn: Ecn,
    bytes: Bytes,
    /// Bytes of each packet but the last.
    segment: usize,
}

impl Arrival {
    /// Packets that have not been taken.
    pub(crate) fn count(&self) -> usize {
        self.bytes.len().div_ceil(self.segment.max(1))
    }

    /// The next packet.
    pub(crate) fn pop(&mut self) -> Option<Bytes> {
        let length = self.bytes.len();
        (length > 0).then(|| self.bytes.split_to(self.segment.clamp(1, length)))
    }

    /// The next packet, if it is of the connection with `key`, which packets before it were of.
    pub(crate) fn pop_for(&mut self, key: &Key) -> Option<Bytes> {
        let &[s0, s1, d0, d1] = self.bytes.first_chunk()?;
        let is_for = u16::from_be_bytes([s0, s1]) == key.remote_port
            && u16::from_be_bytes([d0, d1]) == key.local_port;
        is_for.then(|| self.pop()).flatten()
    }
}

/// Buffers that are read into, and what they hold.
///
/// Long reads are handed out without a copy; their buffer is read into again once the last part of
/// it has been dropped. To make a new one costs as much as the copy would, for memory has to be
/// cleared first.
#[derive(Debug)]
pub(crate) struct Incoming {
    /// The address of the socket, where the system does not say to which a packet was sent.
    local: IpAddr,
    encapsulation: Encapsulation,
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
    /// For a socket that is bound to `local`.
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

    /// Lets `read` fill the buffers; says whether it left none empty, so that there may be more.
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

    /// Hands out what the last read has brought.
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

/// A buffer that nobody holds a part of any more, if there is one: the one that was handed out last,
/// which is the likeliest to be in the processor's cache.
fn returned(lent: &mut VecDeque<Bytes>) -> Option<BytesMut> {
    let newest = lent.iter().rposition(Bytes::is_unique)?;
    lent.remove(newest)?.try_into_mut().ok()
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
        bytes,
    })
}
