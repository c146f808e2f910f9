//! Devices, addresses, routes and queues of the Linux kernel, over rtnetlink (RFC 3549).
//!
//! [`Netlink`] is a socket to the kernel. It asks about devices and their queues, and creates and
//! sets up devices, as `ip` and `tc` do. Each call sends one message; the kernel has answered when
//! sending returns, so nothing waits and no runtime is needed.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod change;
mod question;

use std::io;

use netlink_packet_core::{
    NLM_F_ACK, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage, NetlinkPayload,
};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_sys::protocols::NETLINK_ROUTE;
use netlink_sys::{Socket, SocketAddr};

pub use change::Interface;
// Re-exported because the type occurs in a signature, so that users need not match the version.
pub use netlink_packet_route::link::LinkLayerType;
pub use question::{Device, Queue};

/// The maximum length of an answer, in bytes.
const ANSWER: usize = 32_768;

/// A socket to the kernel, for the network namespace of the thread that opened it.
#[derive(Debug)]
pub struct Netlink {
    socket: Socket,
    buffer: Vec<u8>,
    sequence: u32,
}

impl Netlink {
    /// Opens a socket to the kernel.
    ///
    /// # Errors
    /// The system's.
    pub fn open() -> io::Result<Self> {
        let mut socket = Socket::new(NETLINK_ROUTE)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        // The kernel answers before `send` returns, or not at all.
        socket.set_non_blocking(true)?;
        Ok(Self {
            socket,
            buffer: vec![0; ANSWER],
            sequence: 0,
        })
    }

    /// Sends a request that has one answer, and returns the answer.
    fn ask(
        &mut self,
        question: RouteNetlinkMessage,
        flags: u16,
    ) -> io::Result<RouteNetlinkMessage> {
        match self.exchange(question, flags | NLM_F_REQUEST)? {
            NetlinkPayload::InnerMessage(message) => Ok(message),
            NetlinkPayload::Error(error) => Err(error.to_io()),
            _ => Err(unexpected()),
        }
    }

    /// Requests a change, and waits for its acknowledgement.
    fn order(&mut self, change: RouteNetlinkMessage, flags: u16) -> io::Result<()> {
        match self.exchange(change, flags | NLM_F_REQUEST | NLM_F_ACK)? {
            // An error without a code is an acknowledgement.
            NetlinkPayload::Error(error) if error.code.is_none() => Ok(()),
            NetlinkPayload::Error(error) => Err(error.to_io()),
            _ => Err(unexpected()),
        }
    }

    fn exchange(
        &mut self,
        message: RouteNetlinkMessage,
        flags: u16,
    ) -> io::Result<NetlinkPayload<RouteNetlinkMessage>> {
        self.sequence = self.sequence.wrapping_add(1);
        let mut packet =
            NetlinkMessage::new(NetlinkHeader::default(), NetlinkPayload::from(message));
        packet.header.flags = flags;
        packet.header.sequence_number = self.sequence;
        packet.finalize();
        let mut bytes = vec![0; packet.buffer_len()];
        packet.serialize(&mut bytes);
        self.socket.send(&bytes, 0)?;
        loop {
            let length = self.socket.recv(&mut &mut self.buffer[..], 0)?;
            let answer = NetlinkMessage::<RouteNetlinkMessage>::deserialize(&self.buffer[..length])
                .map_err(io::Error::other)?;
            // Skip the late answer to an earlier request.
            if answer.header.sequence_number == self.sequence {
                return Ok(answer.payload);
            }
        }
    }
}

fn unexpected() -> io::Error {
    io::Error::other("the kernel's answer is not one to the question")
}

#[cfg(test)]
mod tests {
    use super::*;

    // Every namespace has it, and no privilege is needed to ask for it.
    #[test]
    fn the_loopback_device_is_known() {
        let mut kernel = Netlink::open().expect("a socket");
        let loopback = kernel.device("lo").expect("a device");
        assert_eq!(loopback.index, 1);
        assert_eq!(loopback.kind, LinkLayerType::Loopback);
        let again = kernel.device("lo").expect("a second answer");
        assert_eq!(again, loopback);
    }

    #[test]
    fn an_unknown_device_is_an_error_of_the_system() {
        let mut kernel = Netlink::open().expect("a socket");
        let error = kernel.device("no-such-device").expect_err("no device");
        assert_eq!(error.raw_os_error(), Some(libc::ENODEV));
        kernel.device("lo").expect("the next answer is read");
    }

    #[test]
    fn a_refused_change_is_an_error_of_the_system() {
        let mut kernel = Netlink::open().expect("a socket");
        let error = kernel
            .set_up("no-such-device", &Interface::default())
            .expect_err("no device");
        let code = error.raw_os_error();
        assert!(matches!(code, Some(libc::ENODEV | libc::EPERM)), "{error}");
    }
}
