//! A queue of the kernel: that of a TUN device, which we write to as a neighbour would, and read from
//! as the wire would.
#![allow(unsafe_code)]

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::mem;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::process::Command;
use std::thread;
use std::time::Duration;

use nix::net::if_::if_nametoindex;
use nix::sys::socket::{setsockopt, sockopt};
use skywave_netlink::{Interface, Netlink};
use skywave_path::{Discipline, Qdisc};
use skywave_units::Rate;
use skywave_wire::Ecn;
use socket2::{Domain, SockAddr, Socket, Type};

use super::port::{LONGEST_PACKET, address};
use crate::EmulateError;
use crate::namespace::set;

/// How much memory the packets in the queue may take: more than any queue has room for.
const SEND_BUFFER: usize = 256 << 20;

/// How long a new device takes until its timers are exact.
const SETTLES: Duration = Duration::from_millis(2);

/// The lengths of the headers of IPv4 and UDP.
const IP_HEADER: usize = 20;
const HEADERS: usize = 28;

nix::ioctl_write_ptr_bad!(
    /// Names a TUN device and creates it.
    create,
    libc::TUNSETIFF,
    libc::ifreq
);

/// A queue of the kernel: that of a TUN device.
///
/// Each packet in it is an IPv4 packet with its size, its ECN field, and addresses that follow from its
/// flow. HTB releases them, each when the one before it has been sent at the link's
/// rate.
#[derive(Debug)]
pub struct TunQueue {
    device: File,
    socket: Socket,
    target: SockAddr,
    packet: Vec<u8>,
    released: Box<[u8]>,
}

impl TunQueue {
    /// Opens a queue in the calling thread's namespace, on a device of this name.
    ///
    /// # Errors
    /// [`EmulateError`] if the system refuses it.
    pub fn open(name: &str, rate: Rate, discipline: &Discipline) -> Result<Self, EmulateError> {
        let failed = |error| EmulateError::system("cannot create a TUN device", error);
        let device = tun(name).map_err(failed)?;
        // The kernel would send packets of its own.
        let _ = set(&format!("ipv6/conf/{name}/disable_ipv6"), "1");
        let interface = Interface {
            mtu: Some(discipline.mtu),
            ..Interface::default()
        };
        let set_up = || Netlink::open()?.set_up(name, &interface);
        set_up().map_err(failed)?;
        shape(name, rate, &discipline.words)?;
        let open = || {
            let socket = Socket::new(Domain::PACKET, Type::DGRAM.nonblocking(), None)?;
            let target = address(if_nametoindex(name)?, libc::ETH_P_IP as u16, [0; 6])?;
            Ok((socket, target))
        };
        let failed = |error: io::Error| EmulateError::system("cannot send packets", error);
        let (socket, target) = open().map_err(failed)?;
        // The usual buffer would be a second queue, of some hundred packets.
        setsockopt(&socket, sockopt::SndBufForce, &SEND_BUFFER).map_err(|error| {
            let what = "a queue of the kernel needs root or virtual time";
            EmulateError::system(what, io::Error::other(error))
        })?;
        thread::sleep(SETTLES);
        Ok(Self {
            device,
            socket,
            target,
            packet: Vec::new(),
            released: vec![0; LONGEST_PACKET].into(),
        })
    }

    /// Returns another descriptor of the device, which is readable when the queue has released a
    /// packet.
    ///
    /// # Errors
    /// The system's.
    pub fn descriptor(&self) -> io::Result<OwnedFd> {
        Ok(self.device.try_clone()?.into())
    }
}

impl Qdisc for TunQueue {
    fn enqueue(&mut self, id: u32, size: u32, ecn: Ecn, flow: u64) -> io::Result<bool> {
        let size = (size as usize).clamp(HEADERS, LONGEST_PACKET);
        write(&mut self.packet, id, size as u16, ecn, flow);
        match self.socket.send_to(&self.packet, &self.target) {
            Ok(_) => Ok(true),
            // So the kernel reports what a discipline drops at once.
            Err(error) if error.raw_os_error() == Some(libc::ENOBUFS) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn dequeue(&mut self) -> Option<(u32, Ecn)> {
        let length = self.device.read(&mut self.released).ok()?;
        read(&self.released[..length])
    }
}

/// Writes an IPv4 packet whose data are a UDP datagram of zeros. Its id is in IP's identification and
/// UDP's checksum, which no discipline reads.
fn write(packet: &mut Vec<u8>, id: u32, size: u16, ecn: Ecn, flow: u64) {
    packet.clear();
    packet.resize(usize::from(size), 0);
    packet[0] = 0x45;
    packet[1] = ecn.bits();
    packet[2..4].copy_from_slice(&size.to_be_bytes());
    let [id @ .., c, d] = id.to_be_bytes();
    packet[4..6].copy_from_slice(&id);
    packet[26..28].copy_from_slice(&[c, d]);
    packet[8] = 64;
    packet[9] = libc::IPPROTO_UDP as u8;
    packet[12..20].copy_from_slice(&flow.to_be_bytes());
    let datagram = size - IP_HEADER as u16;
    packet[24..26].copy_from_slice(&datagram.to_be_bytes());
}

/// Returns the id and the ECN field of such a packet; `None` if it is none.
fn read(packet: &[u8]) -> Option<(u32, Ecn)> {
    let header = packet.get(..HEADERS)?;
    let id = u32::from_be_bytes([header[4], header[5], header[26], header[27]]);
    Some((id, Ecn::from_bits(header[1])))
}

/// Creates a TUN device, which ends with its file.
fn tun(name: &str) -> io::Result<File> {
    let device = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(libc::O_NONBLOCK)
        .open("/dev/net/tun")?;
    // SAFETY: zero is a valid value of every field.
    let mut request: libc::ifreq = unsafe { mem::zeroed() };
    let (_, places) = request.ifr_name.split_last_mut().expect("it is an array");
    let places = places.iter_mut().zip(name.bytes());
    places.for_each(|(to, from)| *to = from as libc::c_char);
    request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short;
    // SAFETY: the request has a name that ends in zero, and flags, which is what the call takes.
    unsafe { create(device.as_raw_fd(), &raw const request) }?;
    Ok(device)
}

/// Gives a device a queueing discipline that releases packets at a rate.
fn shape(name: &str, rate: Rate, qdisc: &[String]) -> Result<(), EmulateError> {
    let rate = format!("{}bit", rate.as_bps());
    tc(&[
        "qdisc", "add", "dev", name, "root", "handle", "1:", "htb", "default", "1",
    ])?;
    // With no credit for bursts, a packet leaves when the one before it has been sent.
    tc(&[
        "class", "add", "dev", name, "parent", "1:", "classid", "1:1", "htb", "rate", &rate,
        "burst", "1", "cburst", "1", "quantum", "65535",
    ])?;
    let mut words = vec!["qdisc", "add", "dev", name, "parent", "1:1", "handle", "2:"];
    words.extend(qdisc.iter().map(String::as_str));
    tc(&words)
}

/// Runs `tc`.
fn tc(words: &[&str]) -> Result<(), EmulateError> {
    let mut command = Command::new("tc");
    command.args(words);
    // An ordinary user's PATH may lack the directories of the administrator's programs.
    let mut path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin".into());
    path.push(":/usr/sbin:/sbin");
    command.env("PATH", path);
    let done = command
        .output()
        .map_err(|error| EmulateError::system("cannot run tc, of iproute2", error))?;
    if done.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&done.stderr);
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let what = format!("tc refuses \"{}\"", words.join(" "));
    Err(EmulateError::system(what, io::Error::other(said)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_has_its_size_its_id_and_its_flow() {
        let mut packet = vec![1; 4];
        write(
            &mut packet,
            0x1234_5678,
            40,
            Ecn::Ect0,
            0x0102_0304_0506_0708,
        );
        assert_eq!(packet.len(), 40);
        assert_eq!(packet[..6], [0x45, 2, 0, 40, 0x12, 0x34]);
        assert_eq!(packet[12..20], [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(packet[24..26], [0, 20]);
        assert_eq!(read(&packet), Some((0x1234_5678, Ecn::Ect0)));
        assert_eq!(read(&packet[..27]), None);
    }
}
