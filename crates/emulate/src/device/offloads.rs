//! Switches off what a device does for the kernel.
#![allow(unsafe_code)]

use std::io;
use std::mem;
use std::os::fd::AsRawFd;

use socket2::{Domain, Socket, Type};

use crate::EmulateError;

/// `ETHTOOL_STXCSUM` of `linux/ethtool.h`.
const SET_TRANSMIT_CHECKSUMS: u32 = 0x17;

/// `struct ethtool_value` of `linux/ethtool.h`.
#[repr(C)]
struct Value {
    command: u32,
    data: u32,
}

nix::ioctl_readwrite_bad!(
    /// Sends a device a command through `SIOCETHTOOL`.
    ethtool,
    libc::SIOCETHTOOL,
    libc::ifreq
);

/// Makes the kernel compute the checksums of what it sends on an interface. It then cannot leave
/// segmentation to the device either: all packets have the size that a link carries, and correct
/// checksums.
///
/// # Errors
/// [`EmulateError`] if the system refuses it.
pub(super) fn switch_off(interface: &str) -> Result<(), EmulateError> {
    let failed = |error| EmulateError::system("cannot switch off offloads", error);
    let socket = Socket::new(Domain::IPV4, Type::DGRAM, None).map_err(failed)?;
    let mut value = Value {
        command: SET_TRANSMIT_CHECKSUMS,
        data: 0,
    };
    // SAFETY: zero is a valid value of every field.
    let mut request: libc::ifreq = unsafe { mem::zeroed() };
    let name = request.ifr_name.iter_mut().zip(interface.bytes());
    name.for_each(|(to, from)| *to = from as libc::c_char);
    request.ifr_ifru.ifru_data = (&raw mut value).cast();
    // SAFETY: the request has the name of an interface, which ends in zero, and points to a value
    // of the type that the command takes. Both live until the call returns.
    unsafe { ethtool(socket.as_raw_fd(), &raw mut request) }
        .map_err(|error| failed(io::Error::from(error)))?;
    Ok(())
}
