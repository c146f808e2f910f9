//! Errors reported by the network (ICMP), read from the socket's error queue (RFC 4340 section
//! 14.1, RFC 6773 section 3.6).

use std::io::{self, IoSliceMut};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsRawFd, OwnedFd};

use nix::cmsg_space;
use nix::errno::Errno;
use nix::libc;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg};
use skywave_wire::dccp::QuotedHeader;

/// How many bytes of the quoted packet are read: its header up to the sequence number.
const QUOTE: usize = 16;

/// A report by the network, or by this host's own interface, about a packet that was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NetworkError {
    /// The packet's destination.
    pub(crate) peer: SocketAddr,
    /// The kind of error.
    pub(crate) kind: NetworkErrorKind,
    /// The packet's header, if the report quotes enough of it to identify the packet.
    pub(crate) quoted: Option<QuotedHeader>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NetworkErrorKind {
    /// Unreachable host, port, protocol or network, or a filter.
    Unreachable,
    /// Larger than a router's next link permits: that link's MTU in bytes.
    TooBig(u32),
    /// Larger than this host can send to the peer: at most this many bytes.
    TooBigHere(u32),
    /// Any other error.
    Other,
}

/// Reads the next error from the queue of `socket`.
pub(crate) fn next(socket: &OwnedFd) -> io::Result<Option<NetworkError>> {
    loop {
        let mut quote = [0; QUOTE];
        let mut control = cmsg_space!(libc::sock_extended_err, libc::sockaddr_in6, [u8; 128]);
        let mut slices = [IoSliceMut::new(&mut quote)];
        let flags = MsgFlags::MSG_ERRQUEUE | MsgFlags::MSG_DONTWAIT;
        let read =
            recvmsg::<SockaddrStorage>(socket.as_raw_fd(), &mut slices, Some(&mut control), flags);
        let message = match read {
            Ok(message) => message,
            Err(Errno::EAGAIN) => return Ok(None),
            Err(Errno::EINTR) => continue,
            Err(error) => return Err(error.into()),
        };
        let length = message.bytes;
        let peer = message.address.as_ref().and_then(socket_address);
        let error = message.cmsgs().ok().and_then(|mut cmsgs| {
            cmsgs.find_map(|cmsg| match cmsg {
                ControlMessageOwned::Ipv4RecvErr(error, _)
                | ControlMessageOwned::Ipv6RecvErr(error, _) => Some(error),
                _ => None,
            })
        });
        if let (Some(peer), Some(error)) = (peer, error) {
            let quote = &quote[..length.min(QUOTE)];
            return Ok(Some(NetworkError {
                peer,
                kind: kind(&error),
                quoted: QuotedHeader::parse(quote),
            }));
        }
    }
}

fn socket_address(address: &SockaddrStorage) -> Option<SocketAddr> {
    if let Some(v4) = address.as_sockaddr_in() {
        return Some(SocketAddr::new(IpAddr::V4(v4.ip()), v4.port()));
    }
    let v6 = *address.as_sockaddr_in6()?;
    Some(SocketAddr::V6(v6.into()))
}

fn kind(error: &libc::sock_extended_err) -> NetworkErrorKind {
    let mtu = error.ee_info;
    match i32::try_from(error.ee_errno) {
        Ok(libc::EMSGSIZE) if error.ee_origin == libc::SO_EE_ORIGIN_LOCAL => {
            NetworkErrorKind::TooBigHere(mtu)
        }
        Ok(libc::EMSGSIZE) => NetworkErrorKind::TooBig(mtu),
        Ok(
            libc::ECONNREFUSED
            | libc::EHOSTUNREACH
            | libc::ENETUNREACH
            | libc::ENOPROTOOPT
            | libc::EACCES
            | libc::EHOSTDOWN,
        ) => NetworkErrorKind::Unreachable,
        _ => NetworkErrorKind::Other,
    }
}
