//! Batches: many packets in one system call.
#![allow(unsafe_code)]

use std::io::{self, ErrorKind};
use std::mem;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr;

use libc::{iovec, mmsghdr};
use socket2::{Domain, Socket, Type};

use super::{LONGEST_PACKET, Port};
use crate::pool::{BUFFER_BYTES, Pool};

/// The largest number of packets that one call receives or sends.
pub(crate) const BATCH: usize = 64;

/// Receives packets in batches, each into a buffer of its own.
pub struct Inbox {
    buffers: Vec<Vec<u8>>,
    /// The memory for the rest of each packet that is longer than its buffer. Only such packets
    /// touch it.
    rests: Vec<u8>,
    /// The memory of each packet: its buffer, and then its part of `rests`.
    slices: Vec<[iovec; 2]>,
    /// A header for each packet, which the kernel reads and fills in.
    headers: Vec<mmsghdr>,
}

impl Inbox {
    /// Creates an inbox with buffers from `pool`.
    pub fn new(pool: &mut Pool) -> Self {
        let mut inbox = Self {
            buffers: (0..BATCH).map(|_| pool.take()).collect(),
            rests: vec![0; BATCH * LONGEST_PACKET],
            slices: Vec::with_capacity(BATCH),
            headers: Vec::with_capacity(BATCH),
        };
        let rests = inbox.rests.chunks_exact_mut(LONGEST_PACKET);
        for (buffer, rest) in inbox.buffers.iter_mut().zip(rests) {
            inbox.slices.push([
                slice(buffer.as_mut_ptr(), BUFFER_BYTES),
                slice(rest.as_mut_ptr(), LONGEST_PACKET),
            ]);
        }
        for slices in &mut inbox.slices {
            inbox.headers.push(header(slices));
        }
        inbox
    }

    /// Receives up to 64 packets that wait at a socket, and returns their number.
    /// [`Inbox::take`] hands them out.
    ///
    /// # Errors
    /// The device's.
    pub fn receive(&mut self, socket: BorrowedFd<'_>) -> io::Result<usize> {
        // SAFETY: each header points to two slices, and these to a buffer and to a part of `rests`,
        // which are at least as long as they say. All of it is owned by the inbox.
        let received = unsafe {
            libc::recvmmsg(
                socket.as_raw_fd(),
                self.headers.as_mut_ptr(),
                BATCH as u32,
                0,
                ptr::null_mut(),
            )
        };
        usize::try_from(received).or_else(|_| match io::Error::last_os_error() {
            error if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                Ok(0)
            }
            error => Err(error),
        })
    }

    /// Returns the packet with this index in the last batch, in its buffer, and puts one from
    /// `pool` in its place.
    pub fn take(&mut self, index: usize, pool: &mut Pool) -> Vec<u8> {
        let length = mem::take(&mut self.headers[index].msg_len) as usize;
        let fitting = length.min(BUFFER_BYTES);
        let mut packet = mem::replace(&mut self.buffers[index], pool.take());
        self.slices[index][0] = slice(self.buffers[index].as_mut_ptr(), BUFFER_BYTES);
        // SAFETY: the system has written this many bytes to the buffer, which has room for them. A
        // second call for this index finds a length of zero.
        unsafe { packet.set_len(fitting) };
        let rest = &self.rests[index * LONGEST_PACKET..];
        packet.extend_from_slice(&rest[..length - fitting]);
        packet
    }
}

/// Sends packets in batches.
pub(crate) struct Outbox<'a> {
    socket: &'a Socket,
    slices: Vec<iovec>,
    headers: Vec<mmsghdr>,
}

impl<'a> Outbox<'a> {
    /// Creates an outbox that sends through a socket from [`Outbox::open`].
    pub(crate) fn new(socket: &'a Socket) -> Self {
        Self {
            socket,
            slices: Vec::with_capacity(BATCH),
            headers: Vec::with_capacity(BATCH),
        }
    }

    /// Opens a socket that can send to all ports of the calling thread's namespace, and receives
    /// nothing.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn open() -> io::Result<Socket> {
        Socket::new(Domain::PACKET, Type::DGRAM.nonblocking(), None)
    }

    /// Sends packets in this order, each through its port. Returns how many of them the system
    /// refused.
    pub(crate) fn send<'b>(
        &mut self,
        packets: impl IntoIterator<Item = (&'b Port, &'b [u8])>,
    ) -> u64 {
        let mut packets = packets.into_iter().peekable();
        let mut refused = 0;
        while packets.peek().is_some() {
            refused += self.send_batch(&mut packets.by_ref().take(BATCH));
        }
        refused
    }

    fn send_batch<'b>(&mut self, packets: &mut dyn Iterator<Item = (&'b Port, &'b [u8])>) -> u64 {
        self.slices.clear();
        self.headers.clear();
        for (port, packet) in packets {
            // The system only reads from it.
            self.slices
                .push(slice(packet.as_ptr().cast_mut(), packet.len()));
            let target = port.target(packet);
            let mut to = header(&mut []);
            to.msg_hdr.msg_name = target.as_ptr().cast_mut().cast();
            to.msg_hdr.msg_namelen = target.len();
            self.headers.push(to);
        }
        for (header, slice) in self.headers.iter_mut().zip(&mut self.slices) {
            header.msg_hdr.msg_iov = slice;
            header.msg_hdr.msg_iovlen = 1;
        }
        let mut refused = 0;
        let mut rest = &mut self.headers[..];
        while !rest.is_empty() {
            // SAFETY: each header points to an address and a slice, and this to a packet. Addresses
            // and packets are borrowed until this function returns.
            let sent = unsafe {
                let count = rest.len() as u32;
                libc::sendmmsg(self.socket.as_raw_fd(), rest.as_mut_ptr(), count, 0)
            };
            // The call stops at a packet that is refused. If that is the first one, the call fails.
            let done = usize::try_from(sent).unwrap_or_else(|_| {
                let is_interrupted = io::Error::last_os_error().kind() == ErrorKind::Interrupted;
                refused += u64::from(!is_interrupted);
                usize::from(!is_interrupted)
            });
            rest = &mut rest[done..];
        }
        refused
    }
}

fn slice(start: *mut u8, length: usize) -> iovec {
    iovec {
        iov_base: start.cast(),
        iov_len: length,
    }
}

/// Returns the header of a packet in these slices, without an address.
fn header(slices: &mut [iovec]) -> mmsghdr {
    // SAFETY: zero is a valid value of every field.
    let mut header: mmsghdr = unsafe { mem::zeroed() };
    header.msg_hdr.msg_iov = slices.as_mut_ptr();
    header.msg_hdr.msg_iovlen = slices.len();
    header
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, Ipv6Addr};
    use std::thread;

    use skywave_units::{Duration, Instant};

    use super::super::Edge;
    use super::*;
    use crate::tests::skipped::skipped;
    use crate::{Clock, Namespace};

    /// How long a test waits for packets.
    const PATIENCE: Duration = Duration::from_secs(60);

    /// Returns both ends of a pair of interfaces and what keeps them alive, or `None` where the
    /// system does not permit one.
    fn pair(mtu: u32) -> Option<([Port; 2], [Namespace; 2], Socket)> {
        let spaces = match Namespace::new().and_then(|hub| Ok([hub, Namespace::new()?])) {
            Ok(spaces) => spaces,
            Err(error) => {
                skipped(error);
                return None;
            }
        };
        let edge = Edge {
            index: 0,
            addresses: [
                Ipv4Addr::new(192, 0, 2, 1).into(),
                Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1).into(),
            ],
            reaches: Vec::new(),
            mtu,
        };
        let [hub, host] = &spaces;
        let attachment = edge.connect(hub, host).unwrap();
        let far = attachment.open_host_end(host).unwrap();
        let socket = hub.run(Outbox::open).unwrap();
        Some(([attachment.port, far], spaces, socket))
    }

    /// Returns a packet of `length` bytes with this first byte and a number.
    fn packet(first: u8, number: u16, length: usize) -> Vec<u8> {
        let [high, low] = number.to_be_bytes();
        let mut bytes = vec![first, high, low];
        bytes.resize(length, low);
        bytes
    }

    /// Sends these packets to the other end, and waits until `counts` of them have come to its
    /// sockets. Returns how many were refused, and what came to each socket.
    fn exchange(
        [near, far]: &[Port; 2],
        socket: &Socket,
        packets: &[Vec<u8>],
        counts: [usize; 2],
    ) -> (u64, [Vec<Vec<u8>>; 2]) {
        let (mut pool, mut outbox) = (Pool::default(), Outbox::new(socket));
        let mut inbox = Inbox::new(&mut pool);
        let clock = Clock::start();
        let mut receive = |socket| {
            assert!(
                clock.now() < Instant::ZERO + PATIENCE,
                "packets are missing"
            );
            let count = inbox.receive(socket).unwrap();
            let packets = (0..count).map(|index| inbox.take(index, &mut pool));
            packets.collect::<Vec<_>>()
        };
        // The kernel takes a while to bring an interface up, and drops what comes earlier.
        let probe = [0x4f; 20];
        let first = far.sockets().next().unwrap();
        while receive(first).is_empty() {
            assert_eq!(outbox.send([(near, &probe[..])]), 0);
            thread::yield_now();
        }
        let refused = outbox.send(packets.iter().map(|bytes| (near, &bytes[..])));
        let mut all = [Vec::new(), Vec::new()];
        for ((socket, count), packets) in far.sockets().zip(counts).zip(&mut all) {
            while packets.len() < count {
                packets.extend(
                    receive(socket)
                        .into_iter()
                        .filter(|bytes| bytes[..] != probe),
                );
                thread::yield_now();
            }
            assert!(receive(socket).is_empty());
        }
        (refused, all)
    }

    /// A packet that the system refuses does not hold up those behind it.
    #[test]
    fn a_batch_keeps_its_order_and_counts_what_is_refused() {
        let Some((ports, _spaces, socket)) = pair(1500) else {
            return;
        };
        let sent: Vec<_> = (0..200)
            .map(|number| match number % 10 {
                7 => packet(0x45, number, 1501),
                even if even % 2 == 0 => packet(0x60, number, 1500),
                _ => packet(0x45, number, 20 + usize::from(number)),
            })
            .collect();
        let fitting = sent.iter().filter(|bytes| bytes.len() <= 1500).cloned();
        let (v6, v4): (Vec<_>, Vec<_>) = fitting.partition(|bytes| bytes[0] == 0x60);
        let (refused, found) = exchange(&ports, &socket, &sent, [v4.len(), v6.len()]);
        assert_eq!(refused, 20);
        assert!(found == [v4, v6]);
        assert_eq!(ports[1].overflows().unwrap(), 0);
    }

    #[test]
    fn what_is_longer_than_a_buffer_comes_whole() {
        let Some((ports, _spaces, socket)) = pair(LONGEST_PACKET as u32) else {
            return;
        };
        let lengths = [40, BUFFER_BYTES, BUFFER_BYTES + 1, 60_000, LONGEST_PACKET];
        let sent: Vec<_> = (0..)
            .zip(lengths)
            .map(|(number, length)| packet(0x45, number, length))
            .collect();
        let (refused, found) = exchange(&ports, &socket, &sent, [sent.len(), 0]);
        assert_eq!(refused, 0);
        assert!(found == [sent, Vec::new()]);
    }
}
