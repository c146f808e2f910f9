//! Packets sent by Linux's DCCP: the golden captures in `validation/captures`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use etherparse::checksum::Sum16BitWords;
use proptest::prelude::*;
use skywave_units::{Duration, Instant};
use skywave_wire::capture::{
    CaptureError, DecodeError, Frame, IcmpError, LinkType, Reader, Transport, Writer,
};
use skywave_wire::dccp::{self, DccpOption, Kind, Packet, PacketType, ResetCode, ServiceCode};
use skywave_wire::ip::{DEFAULT_HOP_LIMIT, IpPacket};
use skywave_wire::udp::{self, DCCP_PORT, Datagram};
use skywave_wire::{AddressPair, Checksum, Ecn, Payload, tcp};

/// Every capture, and its number of packets according to tshark.
const CAPTURES: [(&str, usize); 7] = [
    ("ccid2-closereq", 64),
    ("ccid2-cscov", 63),
    ("ccid2-ipv6", 63),
    ("ccid2-loss", 60),
    ("ccid2", 63),
    ("ccid3-loss", 200),
    ("ccid3", 125),
];

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../validation/captures")
        .join(name)
        .with_extension("pcapng")
}

fn bytes_of(name: &str) -> Bytes {
    let path = path(name);
    std::fs::read(&path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        .into()
}

fn frames(bytes: Bytes) -> Vec<Frame> {
    Reader::new(bytes)
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap()
}

fn ip_packets(name: &str) -> Vec<IpPacket> {
    let ip = |frame: Frame| IpPacket::parse(&frame.network_layer().unwrap()).unwrap();
    frames(bytes_of(name)).into_iter().map(ip).collect()
}

fn packets(name: &str) -> Vec<Packet> {
    ip_packets(name)
        .iter()
        .map(|ip| Packet::parse(&ip.payload, Checksum::Over(ip.addresses)).unwrap())
        .collect()
}

// D5.1-7, D5.8-1
#[test]
fn all_packets_parse_with_good_checksums_and_come_back_byte_for_byte() {
    for (name, count) in CAPTURES {
        let ips = ip_packets(name);
        assert_eq!(ips.len(), count, "{name}");
        for (index, ip) in ips.iter().enumerate() {
            assert_eq!(ip.protocol, dccp::IP_PROTOCOL);
            let checksum = Checksum::Over(ip.addresses);
            let packet = Packet::parse(&ip.payload, checksum)
                .unwrap_or_else(|error| panic!("{name}, packet {index}: {error}"));
            let again = packet.to_bytes(checksum).unwrap();
            assert_eq!(again, ip.payload, "{name}, packet {index}: {packet}");
            assert_eq!(packet.encoded_len(), again.len());
            let known = |option: &DccpOption| {
                !matches!(option, DccpOption::Other { .. } | DccpOption::Malformed(_))
            };
            assert!(
                packet.options.iter().all(known),
                "{name}, packet {index}: {packet}"
            );
        }
    }
}

// D5.1-7, D9.1-1
#[test]
fn damaged_packets_are_refused() {
    for ip in ip_packets("ccid2")
        .into_iter()
        .chain(ip_packets("ccid2-ipv6"))
    {
        for position in 0..ip.payload.len() {
            let mut bytes = ip.payload.to_vec();
            bytes[position] ^= 0x10;
            let result = Packet::parse(&bytes.into(), Checksum::Over(ip.addresses));
            assert!(result.is_err(), "damage to byte {position} is not noticed");
        }
    }
}

#[test]
fn the_captures_say_what_their_readme_says() {
    let types = |name| {
        packets(name)
            .iter()
            .map(|p| p.kind.packet_type())
            .collect::<BTreeSet<_>>()
    };
    use PacketType::{Ack, Close, CloseReq, Data, DataAck, Request, Reset, Response};
    assert!(types("ccid2").is_superset(&[Request, Response, DataAck, Ack, Close, Reset].into()));
    assert!(types("ccid2-closereq").contains(&CloseReq));
    assert!(types("ccid3").contains(&Data));

    let first = &packets("ccid2")[0];
    assert_eq!(
        first.kind,
        Kind::Request {
            service: ServiceCode(42)
        }
    );
    assert_eq!(first.destination_port, 5001);
    let last = packets("ccid2").pop().unwrap();
    assert!(
        matches!(
            last.kind,
            Kind::Reset {
                code: ResetCode::CLOSED,
                ..
            }
        ),
        "{last}"
    );

    assert!(
        packets("ccid2-cscov")
            .iter()
            .any(|packet| packet.cscov == 3)
    );
    let lost = |option: &DccpOption| matches!(option, DccpOption::AckVector { cells, .. } if cells.iter().any(|cell| cell >> 6 == 3));
    assert!(
        packets("ccid2-loss")
            .iter()
            .flat_map(|p| &p.options)
            .any(lost)
    );
    let options: Vec<_> = packets("ccid3")
        .into_iter()
        .flat_map(|p| p.options)
        .collect();
    assert!(options.contains(&DccpOption::LossEventRate(u32::MAX)));
    assert!(
        options
            .iter()
            .any(|option| matches!(option, DccpOption::ReceiveRate(_)))
    );
    let rate = |option: &DccpOption| matches!(option, DccpOption::LossEventRate(10..=44));
    assert!(
        packets("ccid3-loss")
            .iter()
            .flat_map(|p| &p.options)
            .any(rate)
    );
}

#[test]
fn times_are_those_of_the_capture() {
    let frames = frames(bytes_of("ccid2"));
    assert_eq!(frames[0].link, LinkType::ETHERNET);
    // As printed by tshark.
    assert_eq!(
        frames[0].time,
        Instant::from_nanos(1_795_225_493_335_496_000)
    );
    assert_eq!(frames[1].time - frames[0].time, Duration::from_micros(131));
    assert!(frames.is_sorted_by_key(|frame| frame.time));
    assert!(
        frames
            .iter()
            .all(|frame| frame.original_len as usize == frame.bytes.len())
    );
}

#[test]
fn every_truncation_is_an_error_or_fewer_packets() {
    for (name, count) in CAPTURES {
        let whole = bytes_of(name);
        for length in (0..whole.len()).step_by(7) {
            let Ok(reader) = Reader::new(whole.slice(..length)) else {
                continue;
            };
            let results: Vec<_> = reader.collect();
            let good = results.iter().filter(|result| result.is_ok()).count();
            assert!(
                good < count || results.len() == count,
                "{name} cut to {length}"
            );
            if let Some(Err(error)) = results.last() {
                assert!(
                    matches!(error, CaptureError::Truncated { offset, .. } if *offset <= length),
                    "{name} cut to {length}: {error}"
                );
                assert_eq!(good, results.len() - 1, "an error ends the capture");
            }
        }
    }
}

#[test]
fn truncated_packets_are_errors() {
    for ip in ip_packets("ccid3-loss") {
        for length in 0..ip.payload.len() {
            let cut = ip.payload.slice(..length);
            assert!(Packet::parse(&cut, Checksum::Over(ip.addresses)).is_err());
        }
    }
}

#[test]
fn a_capture_can_be_written_again() {
    for (name, _) in CAPTURES {
        let packets = ip_packets(name);
        let mut writer = Writer::new(Vec::new()).unwrap();
        let links = [
            writer.add_interface("there").unwrap(),
            writer.add_interface("back").unwrap(),
        ];
        let mut written = Vec::new();
        for (index, packet) in packets.iter().enumerate() {
            let time = Instant::from_nanos(1_234_567_891 * index as u64);
            let mut bytes = Vec::new();
            packet.emit(&mut bytes).unwrap();
            writer
                .write(links[index % 2], time, &bytes, bytes.len() as u32)
                .unwrap();
            written.push((time, Bytes::from(bytes)));
        }
        let read: Vec<_> = frames(writer.into_inner().into())
            .into_iter()
            .inspect(|frame| assert_eq!(frame.link, LinkType::RAW_IP))
            .map(|frame| (frame.time, frame.bytes))
            .collect();
        assert_eq!(read, written);
        for ((_, bytes), packet) in read.iter().zip(&packets) {
            assert_eq!(&IpPacket::parse(bytes).unwrap(), packet);
        }
    }
}

/// A classic pcap file of one record.
fn classic(magic: [u8; 4], fraction: u32) -> Vec<u8> {
    let little = magic[0] != 0xa1;
    let word = |value: u32| {
        if little {
            value.to_le_bytes()
        } else {
            value.to_be_bytes()
        }
    };
    let half = |value: u16| {
        if little {
            value.to_le_bytes()
        } else {
            value.to_be_bytes()
        }
    };
    [
        magic.as_slice(),
        &half(2),
        &half(4),
        &word(0),
        &word(0),
        &word(65535),
        &word(113),
        &word(1_700_000_000),
        &word(fraction),
        &word(3),
        &word(70_000), // original length of a truncated frame: longer than the snap length
        b"abc",
    ]
    .concat()
}

#[test]
fn classic_captures_have_four_forms() {
    for (magic, nanos) in [
        ([0xa1, 0xb2, 0xc3, 0xd4], 7_000),
        ([0xd4, 0xc3, 0xb2, 0xa1], 7_000),
        ([0xa1, 0xb2, 0x3c, 0x4d], 7),
        ([0x4d, 0x3c, 0xb2, 0xa1], 7),
    ] {
        let bytes = classic(magic, 7);
        let expected = Frame {
            time: Instant::from_nanos(1_700_000_000_000_000_000 + nanos),
            link: LinkType::LINUX_SLL,
            original_len: 70_000,
            bytes: Bytes::from_static(b"abc"),
        };
        assert_eq!(frames(bytes.clone().into()), [expected]);
        for length in 0..bytes.len() {
            let result =
                Reader::new(bytes[..length].to_vec().into()).map(Iterator::collect::<Vec<_>>);
            match result {
                Ok(results) if length == 24 => assert!(results.is_empty()),
                Ok(results) => {
                    let expected = CaptureError::Truncated {
                        offset: 24,
                        length: length - 24,
                    };
                    assert_eq!(results, [Err(expected)]);
                }
                Err(error) => assert!(length < 24 && error.offset() == 0, "{length}: {error}"),
            }
        }
        let nonsense = Reader::new(classic(magic, 1_000_000_000).into())
            .unwrap()
            .next();
        assert!(matches!(
            nonsense,
            Some(Err(CaptureError::Corrupt { offset: 24, .. }))
        ));
    }
}

#[test]
fn what_is_no_capture_is_an_error() {
    for bytes in [b"".as_slice(), b"abc", b"\x7fELF and so on", &[0; 100]] {
        assert_eq!(Reader::new(bytes.into()).unwrap_err(), CaptureError::Format);
    }
}

#[test]
fn corrupt_captures_never_panic() {
    let whole = bytes_of("ccid2-loss");
    for position in 0..2000 {
        for value in [0, 1, 0x7f, 0xff] {
            let mut bytes = whole.to_vec();
            bytes[position] = value;
            if let Ok(reader) = Reader::new(bytes.into()) {
                for frame in reader.flatten() {
                    let _ = frame.network_layer().map(|bytes| IpPacket::parse(&bytes));
                }
            }
        }
    }
}

#[test]
fn the_pseudo_header_is_that_of_the_capture() {
    let v6 = |ip: &IpPacket| matches!(ip.addresses, AddressPair::V6 { .. });
    assert!(ip_packets("ccid2-ipv6").iter().all(v6));
    assert!(!ip_packets("ccid2").iter().any(v6));
}

#[test]
fn frames_decode_to_a_line_each() {
    let bytes = std::fs::read(path("ccid2")).unwrap();
    let lines: Vec<String> = Reader::new(Bytes::from(bytes))
        .unwrap()
        .map(|frame| frame.unwrap().decode(&[]).unwrap().to_string())
        .collect();
    assert!(
        lines[0].starts_with("10.33.0.3 > 10.33.0.2: "),
        "{}",
        lines[0]
    );
    assert!(lines[0].contains("Request service SC=42"), "{}", lines[0]);
    assert!(lines.last().unwrap().contains("Reset"), "{lines:?}");
}

/// The frame of a packet that carries `payload`.
fn frame_of(addresses: AddressPair, protocol: u8, payload: impl Into<Bytes>) -> Frame {
    let mut bytes = Vec::new();
    IpPacket {
        addresses,
        ecn: Ecn::NotEct,
        identification: 0,
        hop_limit: DEFAULT_HOP_LIMIT,
        protocol,
        payload: payload.into(),
    }
    .emit(&mut bytes)
    .unwrap();
    Frame {
        time: Instant::ZERO,
        link: LinkType::RAW_IP,
        original_len: bytes.len() as u32,
        bytes: bytes.into(),
    }
}

/// The frame of a UDP datagram between these ports.
fn datagram(addresses: AddressPair, ports: (u16, u16), payload: impl Into<Payload>) -> Frame {
    let mut bytes = Vec::new();
    Datagram {
        source_port: ports.0,
        destination_port: ports.1,
        payload: payload.into(),
    }
    .emit(Checksum::Over(addresses), &mut bytes)
    .unwrap();
    frame_of(addresses, udp::IP_PROTOCOL, bytes)
}

/// A packet of each capture of two versions of IP, and its addresses.
fn samples() -> Vec<(AddressPair, Packet)> {
    ["ccid2", "ccid2-ipv6"]
        .into_iter()
        .map(|name| (ip_packets(name)[0].addresses, packets(name)[0].clone()))
        .collect()
}

#[test]
fn udp_carries_dccp_at_the_ports_that_are_given() {
    for (addresses, packet) in samples() {
        let bytes = packet.to_bytes(Checksum::Ignored).unwrap();
        for ports in [(DCCP_PORT, 40_000), (40_000, DCCP_PORT)] {
            let frame = datagram(addresses, ports, bytes.clone());
            let decoded = frame.decode(&[1, DCCP_PORT]).unwrap();
            let (source_port, destination_port) = ports;
            let expected = Transport::DccpUdp {
                source_port,
                destination_port,
                packet: packet.clone(),
            };
            assert_eq!(decoded.transport, expected);
            assert_eq!(decoded.protocol(), "DCCP-UDP");
            let line = format!("UDP {source_port} > {destination_port}: {packet}");
            assert!(decoded.to_string().ends_with(&line), "{decoded}");
            let plain = frame.decode(&[1]).unwrap();
            assert!(matches!(plain.transport, Transport::Udp(_)), "{plain}");
        }
        let error = datagram(addresses, (1, DCCP_PORT), b"no DCCP".to_vec())
            .decode(&[DCCP_PORT])
            .unwrap_err();
        assert!(matches!(error, DecodeError::Dccp(_)), "{error}");
    }
}

/// A network device that fills in checksums does so after the capture.
#[test]
fn a_wrong_checksum_is_told_and_the_packet_decoded() {
    for (addresses, packet) in samples() {
        let checksum = Checksum::Over(addresses);
        let dccp_in_udp = packet.to_bytes(Checksum::Ignored).unwrap();
        let mut segment = Vec::new();
        tcp::Segment {
            source_port: 7,
            destination_port: 9,
            seq: 1,
            ack: 0,
            flags: tcp::Flags::SYN,
            window: 1000,
            checksum_offset: 0,
            identification: 0,
            options: tcp::TcpOptions::default(),
            payload: Payload::EMPTY,
        }
        .emit(checksum, &mut segment)
        .unwrap();
        let frames = [
            (
                "DCCP",
                frame_of(
                    addresses,
                    dccp::IP_PROTOCOL,
                    packet.to_bytes(checksum).unwrap(),
                ),
                6,
            ),
            ("TCP", frame_of(addresses, tcp::IP_PROTOCOL, segment), 16),
            ("UDP", datagram(addresses, (7, 9), b"data".to_vec()), 6),
            (
                "DCCP-UDP",
                datagram(addresses, (7, DCCP_PORT), dccp_in_udp),
                6,
            ),
        ];
        for (protocol, good, offset) in frames {
            let right = good.decode(&[DCCP_PORT]).unwrap();
            assert_eq!(right.wrong_checksum, None, "{right}");

            let mut bytes = good.bytes.to_vec();
            bytes[addresses.ip_header_len() + offset] ^= 0x5a;
            let bytes = Bytes::from(bytes);
            let wrong = Frame { bytes, ..good }.decode(&[DCCP_PORT]).unwrap();
            let error = wrong.wrong_checksum.clone().unwrap();
            assert!(error.to_string().contains("checksum is 0x"), "{error}");
            assert_eq!(wrong.to_string(), format!("{right} [bad checksum]"));
            assert_eq!(wrong.protocol(), protocol);
            let ip = IpPacket {
                payload: right.ip.payload.clone(),
                ..wrong.ip.clone()
            };
            let mut as_right = wrong;
            as_right.ip = ip;
            as_right.wrong_checksum = None;
            assert_eq!(as_right, right);
        }
    }
}

#[test]
fn of_two_wrong_checksums_the_outer_one_is_told() {
    let (addresses, _) = samples().remove(0);
    let good = datagram(addresses, (7, 9), b"data".to_vec());
    let mut bytes = good.bytes.to_vec();
    // Those of IPv4's header and of UDP.
    bytes[10] ^= 0xff;
    bytes[26] ^= 0xff;
    let bytes = Bytes::from(bytes);
    let decoded = Frame { bytes, ..good }.decode(&[]).unwrap();
    assert!(
        matches!(decoded.wrong_checksum, Some(DecodeError::Ip(_))),
        "{decoded}"
    );
    assert!(matches!(decoded.transport, Transport::Udp(_)), "{decoded}");
}

#[test]
fn a_packet_that_is_cut_has_no_wrong_checksum_but_is_malformed() {
    let (addresses, packet) = samples().remove(0);
    let mut bytes = packet.to_bytes(Checksum::Over(addresses)).unwrap();
    bytes.truncate(10);
    let error = frame_of(addresses, dccp::IP_PROTOCOL, bytes)
        .decode(&[])
        .unwrap_err();
    assert!(matches!(error, DecodeError::Dccp(_)), "{error}");
}

/// The frame of an ICMP message: its type and code, the rest of its header, and what follows.
fn icmp(addresses: AddressPair, kind: [u8; 2], rest: u32, data: &[u8]) -> Frame {
    let mut bytes = [kind.as_slice(), &[0; 2], &rest.to_be_bytes(), data].concat();
    let (protocol, checksum) = match addresses {
        AddressPair::V4 { .. } => (1, Sum16BitWords::new().add_slice(&bytes)),
        AddressPair::V6 {
            source,
            destination,
        } => (
            58,
            Sum16BitWords::new()
                .add_16bytes(source.octets())
                .add_16bytes(destination.octets())
                .add_4bytes((bytes.len() as u32).to_be_bytes())
                .add_2bytes([0, 58])
                .add_slice(&bytes),
        ),
    };
    bytes[2..4].copy_from_slice(&checksum.ones_complement().to_ne_bytes());
    frame_of(addresses, protocol, bytes)
}

/// The line of a frame behind its addresses.
fn line_of(frame: &Frame) -> String {
    let line = frame.decode(&[DCCP_PORT]).unwrap().to_string();
    line.split_once(": ").unwrap().1.to_owned()
}

#[test]
fn an_icmp_error_names_its_cause_and_the_packet_that_it_is_about() {
    let samples = samples();
    let (v4, v6) = (samples[0].0, samples[1].0);
    for (addresses, kind, rest, protocol, cause) in [
        (
            v4,
            [3, 3],
            0,
            "ICMP",
            "destination unreachable: port unreachable",
        ),
        (
            v6,
            [1, 4],
            0,
            "ICMPv6",
            "destination unreachable: port unreachable",
        ),
        (
            v4,
            [3, 2],
            0,
            "ICMP",
            "destination unreachable: protocol unreachable",
        ),
        (v6, [1, 0], 0, "ICMPv6", "destination unreachable: no route"),
        (
            v4,
            [3, 4],
            1400,
            "ICMP",
            "destination unreachable: fragmentation needed, MTU 1400",
        ),
        (v6, [2, 0], 1280, "ICMPv6", "packet too big, MTU 1280"),
        (
            v4,
            [11, 0],
            0,
            "ICMP",
            "time exceeded: TTL exceeded in transit",
        ),
        (
            v6,
            [3, 0],
            0,
            "ICMPv6",
            "time exceeded: hop limit exceeded in transit",
        ),
    ] {
        let about = datagram(addresses, (7, 9), b"data".to_vec()).bytes;
        let (from, to) = (addresses.source(), addresses.destination());
        let frame = icmp(addresses.reversed(), kind, rest, &about);
        let decoded = frame.decode(&[]).unwrap();
        assert_eq!(decoded.protocol(), protocol);
        assert_eq!(decoded.wrong_checksum, None, "{decoded}");
        assert_eq!(
            line_of(&frame),
            format!("{cause}, quotes {from} > {to}: UDP 7 > 9")
        );
    }
}

#[test]
fn other_icmp_messages_are_named_or_numbered() {
    let (v4, v6) = (samples()[0].0, samples()[1].0);
    for (addresses, kind, line) in [
        (v4, [8, 0], "echo request id 1 seq 2, 4 bytes"),
        (v6, [129, 0], "echo reply id 1 seq 2, 4 bytes"),
        (v6, [135, 0], "neighbor solicitation, 4 bytes"),
        (v4, [3, 200], "type 3 code 200, 4 bytes"),
        (v6, [200, 7], "type 200 code 7, 4 bytes"),
    ] {
        assert_eq!(line_of(&icmp(addresses, kind, 0x1_0002, b"data")), line);
    }
}

/// Routers may quote eight bytes of the payload only (RFC 792), and captures cut messages.
#[test]
fn a_quoted_packet_is_told_as_far_as_it_goes() {
    for (addresses, packet) in samples() {
        let checksum = Checksum::Over(addresses);
        let ports = format!("{} > {}", packet.source_port, packet.destination_port);
        let in_udp = packet.to_bytes(Checksum::Ignored).unwrap();
        let over_udp = datagram(addresses, (4000, DCCP_PORT), in_udp).bytes;
        let bare = packet.to_bytes(checksum).unwrap();
        let bare = frame_of(addresses, dccp::IP_PROTOCOL, bare).bytes;
        let other = frame_of(addresses, 47, b"data".to_vec()).bytes;
        let kind = match addresses {
            AddressPair::V4 { .. } => [3, 3],
            AddressPair::V6 { .. } => [1, 4],
        };
        let told = |about: &[u8]| line_of(&icmp(addresses, kind, 0, about));
        let header = addresses.ip_header_len();
        let udp = format!("UDP 4000 > {DCCP_PORT}");
        for (about, length, end) in [
            (&over_udp, over_udp.len(), format!(": {udp}: DCCP {ports}")),
            (&over_udp, header + 8, format!(": {udp}")),
            (&over_udp, header + 3, ": UDP".to_owned()),
            (&bare, header + 8, format!(": DCCP {ports}")),
            (&other, other.len(), ": GRE".to_owned()),
            (&bare, header - 1, format!(", {} bytes", header - 1)),
        ] {
            let line = told(&about[..length]);
            assert!(line.ends_with(&end), "{line} should end with {end}");
        }
        for length in 0..over_udp.len() {
            told(&over_udp[..length]);
        }
    }
}

#[test]
fn an_icmp_message_is_checked() {
    for (addresses, _) in samples() {
        let good = icmp(addresses, [128, 0], 0, b"data");
        let mut bytes = good.bytes.to_vec();
        *bytes.last_mut().unwrap() ^= 1;
        let bytes = Bytes::from(bytes);
        let wrong = Frame { bytes, ..good }.decode(&[]).unwrap().wrong_checksum;
        let is_checksum = matches!(wrong, Some(DecodeError::Icmp(IcmpError::Checksum { .. })));
        assert!(is_checksum, "{wrong:?}");
        let protocol = match addresses {
            AddressPair::V4 { .. } => 1,
            AddressPair::V6 { .. } => 58,
        };
        let short = frame_of(addresses, protocol, vec![3; 7]).decode(&[]);
        assert_eq!(short, Err(IcmpError::Length { length: 7 }.into()));
    }
}

proptest! {
    #[test]
    fn any_bytes_are_an_icmp_message_or_an_error(
        is_v6: bool,
        kind in [0u8..16, 0..16],
        inner in prop_oneof![Just(0x45u8), Just(0x60), any::<u8>()],
        mut data in proptest::collection::vec(any::<u8>(), 0..120),
    ) {
        // With this first byte, an error quotes a packet of IPv4 or IPv6.
        if let Some(first) = data.first_mut() {
            *first = inner;
        }
        let addresses = samples()[usize::from(is_v6)].0;
        if let Ok(decoded) = icmp(addresses, kind, 7, &data).decode(&[DCCP_PORT]) {
            prop_assert_eq!(&decoded.wrong_checksum, &None);
            prop_assert!(!decoded.to_string().is_empty());
        }
    }
}
