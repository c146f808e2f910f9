//! Sending several packets in one call over a raw socket, which has no segmentation offload.

use std::io::{self, IoSlice};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsRawFd, BorrowedFd};

use nix::cmsg_space;
use nix::errno::Errno;
use nix::libc;
use nix::sys::socket::{ControlMessage, MsgFlags, MultiHeaders, SockaddrStorage, sendmmsg};

use crate::system::batch::Batch;

/// The maximum number of packets per call.
pub(crate) const MAX_PACKETS: usize = 64;

/// Sends packets of `batch` to `peer` from `source` (`None` lets the system choose). Returns how
/// many have left: all, or those before the first refused packet.
///
/// # Errors
///
/// The first packet was refused.
pub(crate) fn send(
    socket: BorrowedFd<'_>,
    peer: SocketAddr,
    source: Option<IpAddr>,
    batch: &Batch,
) -> io::Result<usize> {
    let slices: Vec<_> = batch
        .packets()
        .map(|packet| [IoSlice::new(packet)])
        .collect();
    let addresses = vec![Some(SockaddrStorage::from(peer)); slices.len()];
    let (tos, class) = (batch.ecn().bits(), i32::from(batch.ecn().bits()));
    let (from_v4, from_v6);
    let mut control = Vec::with_capacity(2);
    // Exactly as large as its contents, because the system reads it to the end.
    let space = match peer {
        SocketAddr::V4(_) => {
            control.push(ControlMessage::Ipv4Tos(&tos));
            if let Some(IpAddr::V4(source)) = source {
                from_v4 = packet_info_v4(source);
                control.push(ControlMessage::Ipv4PacketInfo(&from_v4));
                cmsg_space!(u8, libc::in_pktinfo)
            } else {
                cmsg_space!(u8)
            }
        }
        SocketAddr::V6(_) => {
            control.push(ControlMessage::Ipv6TClass(&class));
            if let Some(IpAddr::V6(source)) = source {
                from_v6 = packet_info_v6(source);
                control.push(ControlMessage::Ipv6PacketInfo(&from_v6));
                cmsg_space!(i32, libc::in6_pktinfo)
            } else {
                cmsg_space!(i32)
            }
        }
    };
    let mut headers = MultiHeaders::preallocate(slices.len(), Some(space));
    loop {
        let sent = sendmmsg(
            socket.as_raw_fd(),
            &mut headers,
            &slices,
            &addresses,
            &control,
            MsgFlags::MSG_DONTWAIT,
        );
        match sent {
            Ok(sent) => return Ok(sent.count()),
            Err(Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

fn packet_info_v4(source: std::net::Ipv4Addr) -> libc::in_pktinfo {
    libc::in_pktinfo {
        ipi_ifindex: 0,
        ipi_spec_dst: libc::in_addr {
            s_addr: u32::from_ne_bytes(source.octets()),
        },
        ipi_addr: libc::in_addr { s_addr: 0 },
    }
}

fn packet_info_v6(source: std::net::Ipv6Addr) -> libc::in6_pktinfo {
    libc::in6_pktinfo {
        ipi6_ifindex: 0,
        ipi6_addr: libc::in6_addr {
            s6_addr: source.octets(),
        },
    }
}
