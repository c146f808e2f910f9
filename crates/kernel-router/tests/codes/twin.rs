//! The router in user space, made of the types of the simulator.

use bytes::Bytes;
use skywave_kernel_router::Config;
use skywave_mpcp::load::Marker;
use skywave_mpcp::{LoadFactor, OrderParameter, Router, SenderParameters};
use skywave_path::{Keeps, Limit, Packet};
use skywave_transport::dccp::Ccid;
use skywave_transport::tcp::{Header, TcpControlKind};
use skywave_units::Instant;
use skywave_wire::ip::{Forwarded, IpPacket};
use skywave_wire::tcp::Segment;
use skywave_wire::udp::Datagram;
use skywave_wire::{Checksum, Ecn, dccp};

use crate::frames::ETHERNET;

/// The protocols whose header begins with the ports: TCP, UDP, DCCP, SCTP and UDP-Lite.
const WITH_PORTS: [u8; 5] = [6, 17, 33, 132, 136];

/// A frame in the router.
#[derive(Clone, Debug)]
struct Frame {
    size: u32,
    ecn: Ecn,
    flow: u64,
    tag: u8,
}

impl Packet for Frame {
    fn size(&self) -> u32 {
        self.size
    }

    fn ecn(&self) -> Ecn {
        self.ecn
    }

    fn set_ecn(&mut self, ecn: Ecn) {
        self.ecn = ecn;
    }

    fn flow(&self) -> u64 {
        self.flow
    }

    fn class(&self) -> u8 {
        0
    }

    fn tag(&self) -> u8 {
        self.tag
    }
}

/// A router that serves each packet as soon as it arrives.
pub(crate) struct Twin {
    router: Router<Frame>,
    config: Config,
}

/// What a router makes of a frame that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// It is no whole packet of IP.
    Ip,
    /// Its position in a chain is unknown.
    Place,
}

impl Twin {
    pub(crate) fn new(config: &Config) -> Self {
        let marker = Marker::new(config.load.chain, config.load.flows as usize);
        let meter = config.load.meter().unwrap();
        Self {
            router: Router::new(Limit::Unlimited, meter, config.rate, marker),
            config: config.clone(),
        }
    }

    /// Passes a frame through the router. Returns it as it leaves.
    pub(crate) fn pass(&mut self, now: Instant, frame: &[u8]) -> Result<Vec<u8>, Unreadable> {
        let read = self.read(frame);
        // What cannot be read is load too.
        let packet = read.clone().unwrap_or(Frame {
            size: frame.len() as u32,
            ecn: Ecn::NotEct,
            flow: 0,
            tag: 0,
        });
        self.router.enqueue(now, packet).unwrap();
        let left = self.router.dequeue(now).unwrap();
        read?;
        let mut out = frame.to_vec();
        if left.ecn != Forwarded::parse(&frame[ETHERNET..]).unwrap().ecn {
            Forwarded::set_ecn(&mut out[ETHERNET..], left.ecn);
        }
        Ok(out)
    }

    fn read(&self, frame: &[u8]) -> Result<Frame, Unreadable> {
        let ip = &frame[ETHERNET..];
        let version = match frame[12..ETHERNET] {
            [0x08, 0x00] => 4,
            [0x86, 0xdd] => 6,
            _ => return Err(Unreadable::Ip),
        };
        let header = Forwarded::parse(ip).map_err(|_| Unreadable::Ip)?;
        if header.is_fragment || ip[0] >> 4 != version {
            return Err(Unreadable::Ip);
        }
        let packet = Bytes::copy_from_slice(ip);
        let packet = IpPacket::parse(&packet).map_err(|_| Unreadable::Ip)?;
        let mut read = Frame {
            size: frame.len() as u32,
            ecn: header.ecn,
            flow: 0,
            tag: 0,
        };
        if self.config.load.chain > 1 && header.ecn.is_capable() {
            let (tag, inner) = self.tag(&header, &packet).ok_or(Unreadable::Place)?;
            read.tag = tag;
            read.flow = flow(ip, &packet, inner);
        }
        Ok(read)
    }

    /// The position of a packet in its chain, and the ports of DCCP in UDP.
    fn tag(&self, header: &Forwarded, packet: &IpPacket) -> Option<(u8, Option<u32>)> {
        let chain = self.config.load.chain;
        let by_identification = self.config.order == OrderParameter::IpIdentification;
        let place = |bytes: &Bytes, checksum| {
            let packet = dccp::Packet::parse(bytes, checksum).ok()?;
            let ccid = Ccid(LoadFactor::VCP.0 + chain - 1);
            let factor = LoadFactor::new(ccid, &SenderParameters::default()).unwrap();
            Some(factor.place(packet.seq))
        };
        let checksum = Checksum::Over(header.addresses);
        match header.protocol {
            6 => {
                // With two, a router does not look at the checksum.
                let checksum = if chain > 2 && !by_identification {
                    checksum
                } else {
                    Checksum::Ignored
                };
                let parsed = Segment::parse_with_offset(&packet.payload, checksum, 7).ok();
                let mut segment = parsed?;
                segment.identification = packet.identification;
                let sender = SenderParameters {
                    chain: Some(chain),
                    order: Some(self.config.order),
                    ..SenderParameters::default()
                };
                Some((sender.tag(Header::of(&segment)), None))
            }
            33 => Some((place(&packet.payload, Checksum::Ignored)?, None)),
            17 => match Datagram::parse(&packet.payload, Checksum::Ignored) {
                Ok(udp) if [udp.source_port, udp.destination_port].contains(&6511) => {
                    let inner = udp.payload.to_bytes();
                    let ports = inner.first_chunk().map(|&ports| u32::from_ne_bytes(ports));
                    Some((place(&inner, Checksum::Ignored)?, ports))
                }
                Ok(_) => Some((self.identified(packet), None)),
                Err(_) => None,
            },
            _ => Some((self.identified(packet), None)),
        }
    }

    fn identified(&self, packet: &IpPacket) -> u8 {
        match self.config.order {
            OrderParameter::IpIdentification => (packet.identification & 7) as u8,
            OrderParameter::TcpNumbers => 0,
        }
    }
}

/// The number of a flow, as the program in the kernel computes it.
fn flow(ip: &[u8], packet: &IpPacket, inner: Option<u32>) -> u64 {
    let word = |bytes: &[u8]| u64::from(u32::from_ne_bytes(*bytes.first_chunk().unwrap()));
    let addresses = match ip[0] >> 4 {
        4 => &ip[12..20],
        _ => &ip[8..40],
    };
    let pairs = addresses.chunks(8);
    let mut words: Vec<_> = pairs
        .map(|pair| word(pair) << 32 | word(&pair[4..]))
        .collect();
    let ports = if WITH_PORTS.contains(&packet.protocol) && packet.payload.len() >= 4 {
        word(&packet.payload)
    } else {
        0
    };
    words.push(u64::from(packet.protocol) << 32 | ports);
    words.extend(inner.map(|ports| 33 << 32 | u64::from(ports)));
    let mixed = words.into_iter().fold(0_u64, |hash, word| {
        let product = (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        product ^ product >> 32
    });
    // Its slot has room for 46 bits.
    mixed & !0x3_ffff
}
