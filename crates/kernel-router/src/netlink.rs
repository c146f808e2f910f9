//! Queries to the kernel about a device.

use std::io;

use netlink_packet_core::{
    NLM_F_ECHO, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage, NetlinkPayload,
};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{LinkAttribute, LinkLayerType, LinkMessage};
use netlink_packet_route::tc::{TcAttribute, TcHandle, TcMessage, TcStats2};
use netlink_sys::protocols::NETLINK_ROUTE;
use netlink_sys::{Socket, SocketAddr};

/// The longest answer.
const ANSWER: usize = 32_768;

/// A socket to the kernel, for the network namespace of the thread that opened it.
#[derive(Debug)]
pub(crate) struct Netlink {
    socket: Socket,
    buffer: Vec<u8>,
    sequence: u32,
}

/// What a queueing discipline says about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Queue {
    /// Its name, such as "tbf".
    pub(crate) kind: String,
    /// The bytes that wait, as the discipline counts them: with link-layer headers.
    pub(crate) bytes: u64,
    /// The packets that it has dropped.
    pub(crate) drops: u64,
}

impl Netlink {
    pub(crate) fn open() -> io::Result<Self> {
        let mut socket = Socket::new(NETLINK_ROUTE)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        // The kernel answers before the question is sent, or not at all.
        socket.set_non_blocking(true)?;
        Ok(Self {
            socket,
            buffer: vec![0; ANSWER],
            sequence: 0,
        })
    }

    /// Returns the index of a device, and the type of its link.
    pub(crate) fn device(&mut self, name: &str) -> io::Result<(u32, LinkLayerType)> {
        let mut message = LinkMessage::default();
        let name = LinkAttribute::IfName(name.to_owned());
        message.attributes.push(name);
        match self.ask(RouteNetlinkMessage::GetLink(message), NLM_F_REQUEST)? {
            RouteNetlinkMessage::NewLink(link) => {
                Ok((link.header.index, link.header.link_layer_type))
            }
            _ => Err(unexpected()),
        }
    }

    /// Returns what the queueing discipline at the root of a device says; `None` if there is none.
    pub(crate) fn queue(&mut self, device: u32) -> io::Result<Option<Queue>> {
        let mut message = TcMessage::with_index(device.cast_signed());
        message.header.parent = TcHandle::ROOT;
        // Some kernels answer only if the request asks for its own echo.
        let flags = NLM_F_REQUEST | NLM_F_ECHO;
        let answer = match self.ask(RouteNetlinkMessage::GetQueueDiscipline(message), flags) {
            Err(error)
                if error.raw_os_error() == Some(nix::libc::EINVAL)
                    || error.raw_os_error() == Some(nix::libc::ENOENT) =>
            {
                return Ok(None);
            }
            answer => answer?,
        };
        let RouteNetlinkMessage::NewQueueDiscipline(message) = answer else {
            return Err(unexpected());
        };
        let mut queue = Queue::default();
        for attribute in message.attributes {
            match attribute {
                TcAttribute::Kind(kind) => queue.kind = kind,
                TcAttribute::Stats2(statistics) => {
                    for part in statistics {
                        if let TcStats2::Queue(part) = part {
                            queue.bytes = part.backlog.into();
                            queue.drops = part.drops.into();
                        }
                    }
                }
                _ => {}
            }
        }
        // The name of a discipline that never holds a packet.
        Ok((queue.kind != "noqueue").then_some(queue))
    }

    fn ask(
        &mut self,
        question: RouteNetlinkMessage,
        flags: u16,
    ) -> io::Result<RouteNetlinkMessage> {
        self.sequence = self.sequence.wrapping_add(1);
        let mut packet =
            NetlinkMessage::new(NetlinkHeader::default(), NetlinkPayload::from(question));
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
            // An answer that came too late for an earlier question is skipped.
            if answer.header.sequence_number == self.sequence {
                return match answer.payload {
                    NetlinkPayload::InnerMessage(message) => Ok(message),
                    NetlinkPayload::Error(error) => Err(error.to_io()),
                    _ => Err(unexpected()),
                };
            }
        }
    }
}

fn unexpected() -> io::Error {
    io::Error::other("the kernel's answer is not one to the question")
}
