//! Ethernet frames with packets of all kinds.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use etherparse::{IpNumber, Ipv4Header, Ipv4Options, Ipv6Header};
use proptest::prelude::*;
use skywave_wire::dccp::{Kind, OptionList, Packet, SeqNo};
use skywave_wire::tcp::{Flags, Segment, TcpOptions};
use skywave_wire::udp::Datagram;
use skywave_wire::{AddressPair, Checksum, Ecn, Payload};

/// The length of the Ethernet header.
pub(crate) const ETHERNET: usize = 14;

/// What an IP packet carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transport {
    Tcp,
    Dccp,
    /// With numbers of 24 bits.
    ShortDccp,
    DccpInUdp,
    Udp,
    /// The Encapsulating Security Payload, which a router cannot read.
    Esp,
}

/// What is between the headers of IP and of the transport, or in IPv4's options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Between {
    Nothing,
    /// IPv4: options. IPv6: Hop-by-Hop Options, Destination Options, and a fragment header of a
    /// whole packet.
    Options,
    Authentication,
}

/// What a frame is made from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spec {
    pub(crate) version: u8,
    pub(crate) transport: Transport,
    pub(crate) between: Between,
    pub(crate) flow: u8,
    /// The sequence number.
    pub(crate) seq: u64,
    /// The acknowledgement number of TCP.
    pub(crate) ack: u32,
    /// By how much TCP's checksum is wrong.
    pub(crate) checksum_offset: u8,
    pub(crate) identification: u16,
    pub(crate) ecn: Ecn,
    pub(crate) dscp: u8,
    pub(crate) size: u16,
}

pub(crate) fn specs() -> impl Strategy<Value = Spec> {
    use Transport::{Dccp, DccpInUdp, Esp, ShortDccp, Tcp, Udp};
    let transport = prop_oneof![
        4 => Just(Tcp), 4 => Just(Dccp), 1 => Just(ShortDccp), 2 => Just(DccpInUdp),
        1 => Just(Udp), 1 => Just(Esp),
    ];
    let between = prop_oneof![
        4 => Just(Between::Nothing), 1 => Just(Between::Options),
        1 => Just(Between::Authentication),
    ];
    let seq = prop_oneof![0..1000_u64, 0..1_u64 << 48];
    (
        (
            prop_oneof![Just(4_u8), Just(6)],
            transport,
            between,
            0..6_u8,
        ),
        (seq, any::<u32>(), -2..3_i32, any::<bool>()),
        (0..8_u8, any::<u16>(), 0..4_u8, 0..64_u8, 0..1400_u16),
    )
        .prop_map(
            |(
                (version, transport, between, flow),
                (seq, ack, difference, is_near),
                (checksum_offset, identification, ecn, dscp, size),
            )| Spec {
                version,
                transport,
                between,
                flow,
                seq,
                ack: if is_near {
                    (seq as u32).wrapping_add_signed(difference)
                } else {
                    ack
                },
                checksum_offset,
                identification,
                ecn: Ecn::from_bits(ecn),
                dscp,
                size,
            },
        )
}

impl Spec {
    /// The frame.
    pub(crate) fn frame(&self) -> Vec<u8> {
        let (mut protocol, mut payload) = self.transport();
        let mut options = vec![];
        match (self.between, self.version) {
            (Between::Nothing, _) => {}
            // No operations, up to the end.
            (Between::Options, 4) => options = vec![1, 1, 1, 1, 1, 1, 1, 0],
            (Between::Options, _) => {
                let fragment = [protocol, 0, 0, 0, 1, 2, 3, 4];
                let destination = [44, 1, 1, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
                let hop_by_hop = [60, 0, 1, 4, 0, 0, 0, 0];
                payload = [&hop_by_hop[..], &destination, &fragment, &payload].concat();
                protocol = 0;
            }
            (Between::Authentication, _) => {
                let mut header = vec![protocol, 4, 0, 0];
                header.extend([7; 20]);
                payload = [header, payload].concat();
                protocol = 51;
            }
        }
        let class = self.dscp << 2 | self.ecn.bits();
        let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2];
        let number = IpNumber(protocol);
        match self.addresses() {
            AddressPair::V4 {
                source,
                destination,
            } => {
                frame.extend([0x08, 0x00]);
                let length = payload.len() as u16;
                let mut header =
                    Ipv4Header::new(length, 64, number, source.octets(), destination.octets())
                        .unwrap();
                header.options = Ipv4Options::try_from(&options[..]).unwrap();
                header.set_payload_len(payload.len()).unwrap();
                header.identification = self.identification;
                header.header_checksum = header.calc_header_checksum();
                let mut bytes = header.to_bytes();
                bytes[1] = class;
                rechecked(&mut bytes);
                frame.extend(bytes);
            }
            AddressPair::V6 {
                source,
                destination,
            } => {
                frame.extend([0x86, 0xdd]);
                let header = Ipv6Header {
                    traffic_class: class,
                    flow_label: Default::default(),
                    payload_length: payload.len() as u16,
                    next_header: number,
                    hop_limit: 64,
                    source: source.octets(),
                    destination: destination.octets(),
                };
                frame.extend(header.to_bytes());
            }
        }
        frame.extend(payload);
        frame
    }

    fn addresses(&self) -> AddressPair {
        let (source, destination): (IpAddr, IpAddr) = match self.version {
            4 => (
                Ipv4Addr::new(192, 0, 2, 1 + self.flow).into(),
                Ipv4Addr::new(198, 51, 100, 2).into(),
            ),
            _ => (
                Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1 + u16::from(self.flow)).into(),
                Ipv6Addr::new(0x2001, 0xdb8, 1, 0, 0, 0, 0, 2).into(),
            ),
        };
        AddressPair::new(source, destination).unwrap()
    }

    fn transport(&self) -> (u8, Vec<u8>) {
        let mut bytes = vec![];
        let checksum = Checksum::Over(self.addresses());
        let ports = (49_152 + u16::from(self.flow), 5001);
        let payload = Payload::Synthetic(self.size.into());
        let dccp = |extended| Packet {
            source_port: ports.0,
            destination_port: ports.1,
            ccval: 0,
            cscov: 0,
            extended,
            seq: SeqNo::new(self.seq),
            kind: Kind::Data,
            options: OptionList::new(),
            payload: payload.clone(),
        };
        let protocol = match self.transport {
            Transport::Tcp => {
                let segment = Segment {
                    source_port: ports.0,
                    destination_port: ports.1,
                    seq: self.seq as u32,
                    ack: self.ack,
                    flags: Flags::ACK,
                    window: 1000,
                    checksum_offset: self.checksum_offset,
                    identification: 0,
                    options: TcpOptions::default(),
                    payload,
                };
                segment.emit(checksum, &mut bytes).unwrap();
                6
            }
            Transport::Dccp => {
                dccp(true).emit(checksum, &mut bytes).unwrap();
                33
            }
            Transport::ShortDccp => {
                dccp(false).emit(checksum, &mut bytes).unwrap();
                33
            }
            Transport::DccpInUdp => {
                let datagram = Datagram {
                    source_port: 40_000,
                    destination_port: 6511,
                    payload: Payload::Bytes(dccp(true).to_bytes(Checksum::Ignored).unwrap()),
                };
                datagram.emit(checksum, &mut bytes).unwrap();
                17
            }
            Transport::Udp => {
                let datagram = Datagram {
                    source_port: ports.0,
                    destination_port: ports.1,
                    payload,
                };
                datagram.emit(checksum, &mut bytes).unwrap();
                17
            }
            Transport::Esp => {
                bytes.extend((0..self.size).map(|index| index as u8));
                50
            }
        };
        (protocol, bytes)
    }
}

/// Recomputes the checksum of an IPv4 header.
pub(crate) fn rechecked(header: &mut [u8]) {
    header[10..12].fill(0);
    let length = 4 * usize::from(header[0] & 0xf);
    let words = header[..length].chunks(2);
    let mut sum: u32 = words
        .map(|word| u32::from(u16::from_be_bytes([word[0], word[1]])))
        .sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    header[10..12].copy_from_slice(&(!(sum as u16)).to_be_bytes());
}
