//! The device whose queue the router works at.

use std::io;

use skywave_netlink::{LinkLayerType, Netlink, Queue};

use crate::{LinkHeader, RouterError};

/// A device with a queueing discipline, in the network namespace of the thread that opened it.
#[derive(Debug)]
pub(crate) struct Device {
    name: String,
    index: u32,
    pub(crate) header: LinkHeader,
    netlink: Netlink,
}

impl Device {
    /// Finds a device.
    ///
    /// # Errors
    /// [`RouterError::NoDevice`], [`RouterError::LinkType`], [`RouterError::System`].
    pub(crate) fn open(name: &str) -> Result<Self, RouterError> {
        let mut netlink = Netlink::open().map_err(RouterError::system("ask the kernel"))?;
        let none = |error: io::Error| match error.raw_os_error() {
            // The second error is the answer to an impossible name.
            Some(nix::libc::ENODEV | nix::libc::ERANGE | nix::libc::EINVAL) => {
                RouterError::NoDevice {
                    device: name.to_owned(),
                }
            }
            _ => RouterError::system("find the device")(error),
        };
        let device = netlink.device(name).map_err(none)?;
        let header = match device.kind {
            LinkLayerType::Ether | LinkLayerType::Loopback => LinkHeader::Ethernet,
            LinkLayerType::None | LinkLayerType::Ppp | LinkLayerType::Rawip => LinkHeader::None,
            other => {
                return Err(RouterError::LinkType {
                    device: name.to_owned(),
                    kind: format!("{other:?}"),
                });
            }
        };
        Ok(Self {
            name: name.to_owned(),
            index: device.index,
            header,
            netlink,
        })
    }

    /// Asks its queueing discipline for its state.
    ///
    /// # Errors
    /// [`RouterError::NoQueue`], [`RouterError::System`].
    pub(crate) fn queue(&mut self) -> Result<Queue, RouterError> {
        let answer = self.netlink.queue(self.index);
        let answer = answer.map_err(RouterError::system("read the length of the queue"))?;
        answer.ok_or_else(|| RouterError::NoQueue {
            device: self.name.clone(),
        })
    }
}
