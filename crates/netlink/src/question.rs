//! Queries about a device.

use std::io;

use netlink_packet_core::NLM_F_ECHO;
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{LinkAttribute, LinkLayerType, LinkMessage, State};
use netlink_packet_route::tc::{TcAttribute, TcHandle, TcMessage, TcStats2};

use crate::{Netlink, unexpected};

/// A device of the namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Device {
    /// Its index.
    pub index: u32,
    /// The type of its link.
    pub kind: LinkLayerType,
    /// Whether it is operational (`up` in RFC 2863). Until then, the kernel drops what is sent,
    /// even if both ends of the link have been set up. A loopback device never reports that it is.
    pub is_up: bool,
}

/// The state of a queueing discipline, as it reports it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Queue {
    /// Its name, such as "tbf".
    pub kind: String,
    /// The number of bytes queued, as the discipline counts them: with link-layer headers.
    pub bytes: u64,
    /// The number of packets that it has dropped.
    pub drops: u64,
}

impl Netlink {
    /// Finds a device by its name.
    ///
    /// # Errors
    /// The system's: `ENODEV` if there is none, `ERANGE` or `EINVAL` if no device can have the name.
    pub fn device(&mut self, name: &str) -> io::Result<Device> {
        let mut message = LinkMessage::default();
        let name = LinkAttribute::IfName(name.to_owned());
        message.attributes.push(name);
        match self.ask(RouteNetlinkMessage::GetLink(message), 0)? {
            RouteNetlinkMessage::NewLink(link) => Ok(Device {
                index: link.header.index,
                kind: link.header.link_layer_type,
                is_up: link
                    .attributes
                    .contains(&LinkAttribute::OperState(State::Up)),
            }),
            _ => Err(unexpected()),
        }
    }

    /// Returns the state of the queueing discipline at the root of a device, or `None` if there is
    /// none.
    ///
    /// # Errors
    /// The system's.
    pub fn queue(&mut self, device: u32) -> io::Result<Option<Queue>> {
        let mut message = TcMessage::with_index(device.cast_signed());
        message.header.parent = TcHandle::ROOT;
        // Some kernels answer only if the request asks for its own echo.
        let answer = match self.ask(RouteNetlinkMessage::GetQueueDiscipline(message), NLM_F_ECHO) {
            Err(error) if matches!(error.raw_os_error(), Some(libc::EINVAL | libc::ENOENT)) => {
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
}
