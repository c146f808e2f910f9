//! One end of a pair of interfaces, as sockets for packets.
#![allow(unsafe_code)]

use std::io;
use std::mem;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use nix::net::if_::if_nametoindex;
use nix::sys::socket::{setsockopt, sockopt};
use socket2::{Domain, SockAddr, Socket, Type};

use crate::EmulateError;

/// The longest packet in bytes: what IP's length field can describe.
pub const LONGEST_PACKET: usize = 65_535;

/// How much the sockets of a port hold until the driver reads it, in bytes.
const RECEIVE_BUFFER: usize = 8 << 20;

/// The Ethernet address of everybody.
const BROADCAST: [u8; 6] = [0xff; 6];

/// The types of Ethernet frames with IPv4 and IPv6.
const FRAMES: [u16; 2] = [libc::ETH_P_IP as u16, libc::ETH_P_IPV6 as u16];

/// One end of a pair of interfaces. It receives the packets that the other end sends, and sends
/// packets to that end.
#[derive(Debug)]
pub struct Port {
    /// A socket for each IP version: a socket for all types of frames would receive its own frames
    /// too.
    sockets: [Socket; 2],
    /// The interface at the other end.
    targets: [SockAddr; 2],
    /// All interfaces at the other end.
    everybody: [SockAddr; 2],
}

impl Port {
    /// Opens the interface `name` of the calling thread's namespace. `other` is the Ethernet
    /// address of the other end.
    ///
    /// # Errors
    /// [`EmulateError`] if the system refuses it.
    pub(super) fn open(name: &str, other: [u8; 6]) -> Result<Self, EmulateError> {
        let index = if_nametoindex(name)
            .map_err(|error| EmulateError::system("cannot find the network's interface", error))?;
        let open = |frames| {
            // Without a protocol, it receives nothing until it is bound to the interface.
            let socket = Socket::new(Domain::PACKET, Type::DGRAM.nonblocking(), None)?;
            enlarge(&socket)?;
            socket.bind(&address(index, frames, other)?)?;
            Ok(socket)
        };
        let [v4, v6] = FRAMES;
        let failed = |error: io::Error| EmulateError::system("cannot receive packets", error);
        Ok(Self {
            sockets: [open(v4).map_err(failed)?, open(v6).map_err(failed)?],
            targets: [
                address(index, v4, other).map_err(failed)?,
                address(index, v6, other).map_err(failed)?,
            ],
            everybody: [
                address(index, v4, BROADCAST).map_err(failed)?,
                address(index, v6, BROADCAST).map_err(failed)?,
            ],
        })
    }

    /// Sends a packet to the other end.
    ///
    /// # Errors
    /// That of the device.
    pub fn send(&self, packet: &[u8]) -> io::Result<()> {
        let version = version(packet);
        self.sockets[version].send_to(packet, &self.targets[version])?;
        Ok(())
    }

    /// Sends a packet to the other end in a frame for everybody. Raw sockets there receive it, but
    /// protocols of the kernel that have no broadcasts, such as its DCCP, ignore it.
    ///
    /// # Errors
    /// That of the device.
    pub fn broadcast(&self, packet: &[u8]) -> io::Result<()> {
        let version = version(packet);
        self.sockets[version].send_to(packet, &self.everybody[version])?;
        Ok(())
    }

    /// Returns the address for sending a packet out of this port.
    pub(super) fn target(&self, packet: &[u8]) -> &SockAddr {
        &self.targets[version(packet)]
    }

    /// Returns the sockets, to wait for packets.
    pub fn sockets(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.sockets.iter().map(AsFd::as_fd)
    }

    /// Returns the number of packets since the last call that came too fast for the driver.
    ///
    /// # Errors
    /// That of the device.
    pub fn overflows(&self) -> io::Result<u64> {
        let mut sum = 0;
        for socket in &self.sockets {
            sum += u64::from(statistics(socket)?.tp_drops);
        }
        Ok(sum)
    }
}

/// Returns the index of a packet's IP version in [`FRAMES`].
fn version(packet: &[u8]) -> usize {
    usize::from(packet.first().is_some_and(|byte| byte >> 4 == 6))
}

/// Makes a socket hold more than an ordinary user may ask for, where that is permitted. Without it,
/// a busy machine loses packets sooner.
///
/// # Errors
/// The system's.
pub fn enlarge(socket: &impl AsFd) -> io::Result<()> {
    if setsockopt(socket, sockopt::RcvBufForce, &RECEIVE_BUFFER).is_err() {
        setsockopt(socket, sockopt::RcvBuf, &RECEIVE_BUFFER)?;
    }
    Ok(())
}

/// Returns the address of an interface, for frames of one type.
pub(super) fn address(index: u32, frames: u16, ethernet: [u8; 6]) -> io::Result<SockAddr> {
    // SAFETY: the storage is larger than any address, and aligned for all of them. What is written
    // is a whole sockaddr_ll, and its length.
    let (_, address) = unsafe {
        SockAddr::try_init(|storage, length| {
            let mut hardware = [0; 8];
            hardware[..6].copy_from_slice(&ethernet);
            storage
                .cast::<libc::sockaddr_ll>()
                .write(libc::sockaddr_ll {
                    sll_family: libc::AF_PACKET as u16,
                    sll_protocol: frames.to_be(),
                    sll_ifindex: index.cast_signed(),
                    sll_hatype: 0,
                    sll_pkttype: 0,
                    sll_halen: 6,
                    sll_addr: hardware,
                });
            *length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
            Ok(())
        })?
    };
    Ok(address)
}

/// Returns what a socket has received and lost since the last call.
fn statistics(socket: &Socket) -> io::Result<libc::tpacket_stats> {
    // SAFETY: zero is a valid value of every field.
    let mut statistics: libc::tpacket_stats = unsafe { mem::zeroed() };
    let mut length = size_of_val(&statistics) as libc::socklen_t;
    // SAFETY: the option's type is tpacket_stats, and its length is passed along.
    let answer = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_PACKET,
            libc::PACKET_STATISTICS,
            (&raw mut statistics).cast(),
            &raw mut length,
        )
    };
    if answer < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(statistics)
}
