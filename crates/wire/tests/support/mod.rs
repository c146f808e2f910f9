//! Strategies for packets, shared by the integration tests.

#![allow(dead_code, reason = "each test crate uses its part")]

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use skywave_wire::dccp::{
    DccpOption, ElapsedTime, FeatureNumber, FeatureSide, Kind, LossInterval, Packet, PacketType,
    ResetCode, SeqNo, ServiceCode,
};
use skywave_wire::{AddressPair, Checksum, Payload};

/// IPv4, IPv6 and no checksum.
pub(crate) fn checksum() -> impl Strategy<Value = Checksum> {
    prop_oneof![
        Just(Checksum::Ignored),
        any::<([u8; 4], [u8; 4])>().prop_map(|(source, destination)| Checksum::Over(
            AddressPair::V4 {
                source: source.into(),
                destination: destination.into()
            }
        )),
        any::<([u8; 16], [u8; 16])>().prop_map(|(source, destination)| Checksum::Over(
            AddressPair::V6 {
                source: source.into(),
                destination: destination.into()
            }
        )),
    ]
}

pub(crate) fn payload() -> impl Strategy<Value = Payload> {
    prop_oneof![
        Just(Payload::EMPTY),
        (0..100u32).prop_map(Payload::Synthetic),
        vec(any::<u8>(), 0..100).prop_map(Payload::from),
    ]
}

fn value(max: usize) -> impl Strategy<Value = smallvec::SmallVec<[u8; 16]>> {
    vec(any::<u8>(), 0..=max).prop_map(Into::into)
}

fn elapsed() -> impl Strategy<Value = ElapsedTime> {
    prop_oneof![
        any::<u16>().prop_map(ElapsedTime::Short),
        any::<u32>().prop_map(ElapsedTime::Long)
    ]
}

fn loss_interval() -> impl Strategy<Value = LossInterval> {
    (0..1u32 << 24, any::<bool>(), 0..1u32 << 23, 0..1u32 << 24).prop_map(
        |(lossless_length, nonce, loss_length, data_length)| LossInterval {
            lossless_length,
            nonce,
            loss_length,
            data_length,
        },
    )
}

/// A type with a length that the codec does not know.
fn unknown_kind() -> impl Strategy<Value = u8> {
    prop_oneof![45..=127u8, 129..=191u8, 196..=199u8, 201..=255u8]
}

/// Every option in canonical form, padding and malformed ones excepted.
pub(crate) fn dccp_option() -> impl Strategy<Value = DccpOption> {
    let side = || prop_oneof![Just(FeatureSide::Local), Just(FeatureSide::Remote)];
    let feature = || any::<u8>().prop_map(FeatureNumber);
    prop_oneof![
        Just(DccpOption::Mandatory),
        Just(DccpOption::SlowReceiver),
        (side(), feature(), value(20)).prop_map(|(side, feature, value)| DccpOption::Change {
            side,
            feature,
            value
        }),
        (side(), feature(), value(20)).prop_map(|(side, feature, value)| DccpOption::Confirm {
            side,
            feature,
            value
        }),
        value(40).prop_map(DccpOption::InitCookie),
        (0..1u64 << 48).prop_map(DccpOption::ndp_count),
        (0..256u64, 1..=6u8).prop_map(|(count, width)| DccpOption::NdpCount { count, width }),
        (any::<bool>(), value(60))
            .prop_map(|(nonce, cells)| DccpOption::AckVector { nonce, cells }),
        value(60).prop_map(DccpOption::LoadVector),
        value(20).prop_map(DccpOption::DataDropped),
        any::<u32>().prop_map(DccpOption::Timestamp),
        (any::<u32>(), option::of(elapsed()))
            .prop_map(|(echo, elapsed)| DccpOption::TimestampEcho { echo, elapsed }),
        elapsed().prop_map(DccpOption::ElapsedTime),
        any::<u32>().prop_map(DccpOption::DataChecksum),
        (0..1u32 << 24).prop_map(|micros| DccpOption::RttEstimate { micros, width: 3 }),
        any::<u8>().prop_map(|micros| DccpOption::RttEstimate {
            micros: micros.into(),
            width: 1,
        }),
        any::<u32>().prop_map(DccpOption::LossEventRate),
        (any::<u8>(), vec(loss_interval(), 1..=28)).prop_map(|(skip_length, intervals)| {
            DccpOption::LossIntervals {
                skip_length,
                intervals: intervals.into(),
            }
        }),
        any::<u32>().prop_map(DccpOption::ReceiveRate),
        vec(0..1u32 << 24, 1..=84).prop_map(|counts| DccpOption::DroppedPackets(counts.into())),
        (3..32u8).prop_map(|kind| DccpOption::Other { kind, value: None }),
        (unknown_kind(), value(30)).prop_map(|(kind, value)| DccpOption::Other {
            kind,
            value: Some(value)
        }),
        // A Timestamp of three bytes, say.
        (41..=44u8, value(1)).prop_map(|(kind, value)| DccpOption::Other {
            kind,
            value: Some(value)
        }),
    ]
}

/// The kind of a packet with 48-bit numbers.
pub(crate) fn kind() -> impl Strategy<Value = Kind> {
    (0..=10u8, 0..SeqNo::MODULUS, any::<u32>(), any::<[u8; 4]>()).prop_map(
        |(number, ack, service, [code, data @ ..])| {
            let (ack, service) = (SeqNo::new(ack), ServiceCode(service));
            match PacketType::from_number(number).expect("0 to 10 are types") {
                PacketType::Request => Kind::Request { service },
                PacketType::Response => Kind::Response { ack, service },
                PacketType::Data => Kind::Data,
                PacketType::Ack => Kind::Ack { ack },
                PacketType::DataAck => Kind::DataAck { ack },
                PacketType::CloseReq => Kind::CloseReq { ack },
                PacketType::Close => Kind::Close { ack },
                PacketType::Reset => Kind::Reset {
                    ack,
                    code: ResetCode(code),
                    data,
                },
                PacketType::Sync => Kind::Sync { ack },
                PacketType::SyncAck => Kind::SyncAck { ack },
                PacketType::Listen => Kind::Listen { service },
            }
        },
    )
}

/// Any packet that can be sent.
pub(crate) fn dccp_packet() -> impl Strategy<Value = Packet> {
    (
        any::<(u16, u16, bool)>(),
        0..16u8,
        0..16u8,
        0..SeqNo::MODULUS,
        kind(),
        vec(dccp_option(), 0..6),
        payload(),
    )
        .prop_map(
            |(
                (source_port, destination_port, short),
                ccval,
                cscov,
                seq,
                kind,
                options,
                payload,
            )| {
                let listen = matches!(kind, Kind::Listen { .. });
                let mut packet = Packet {
                    source_port,
                    destination_port,
                    ccval: if listen { 0 } else { ccval },
                    // At most what the data allows.
                    cscov: if listen {
                        0
                    } else {
                        cscov.min(1 + (payload.len() / 4).min(14) as u8)
                    },
                    extended: true,
                    seq: SeqNo::new(seq),
                    kind,
                    options: options.into(),
                    payload,
                };
                if short && packet.kind.packet_type().allows_short_numbers() {
                    shorten(&mut packet);
                }
                // A Mandatory at the end is an error that nobody sends; Data Offset ends at 1020 bytes.
                while packet.header_len() > 1020
                    || packet.options.last() == Some(&DccpOption::Mandatory)
                {
                    packet.options.pop();
                }
                packet
            },
        )
}

/// Turns the packet into one with 24-bit numbers.
pub(crate) fn shorten(packet: &mut Packet) {
    packet.extended = false;
    packet.seq = SeqNo::new(packet.seq.low24().into());
    match &mut packet.kind {
        Kind::Ack { ack } | Kind::DataAck { ack } => *ack = SeqNo::new(ack.low24().into()),
        _ => {}
    }
}
