//! Strategies for packets, shared by the integration tests.

use proptest::collection::vec;
use proptest::prelude::*;
use skywave_wire::dccp::{
    DccpOption, Kind, OptionType, Packet, PacketType, ResetCode, SeqNo, ServiceCode,
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

/// Any option in canonical form, except padding and malformed options.
pub(crate) fn dccp_option() -> impl Strategy<Value = DccpOption> {
    let known = prop::sample::select(OptionType::ALL);
    let any_type = any::<u8>().prop_map(OptionType);
    let data = || prop_oneof![vec(any::<u8>(), 0..=12), vec(any::<u8>(), 0..=253)];
    let option = prop_oneof![
        8 => (known, data()).prop_map(|(kind, data)| with_value(kind, &data)),
        1 => (any_type, data()).prop_map(|(kind, data)| DccpOption::parse(kind, &data)),
    ];
    option.prop_filter("padding", |option| *option != DccpOption::Padding)
}

/// The option of this type with the longest prefix of `data` that is a valid value.
fn with_value(kind: OptionType, data: &[u8]) -> DccpOption {
    (0..=data.len())
        .rev()
        .map(|length| DccpOption::parse(kind, &data[..length]))
        .find(|option| !matches!(option, DccpOption::Other { .. }))
        .unwrap_or_else(|| DccpOption::parse(kind, data))
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
                    // Coverage must not exceed the data.
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
                // A final Mandatory option is invalid, and Data Offset allows at most 1020 bytes.
                while packet.header_len() > 1020
                    || packet.options.last() == Some(&DccpOption::Mandatory)
                {
                    packet.options.pop();
                }
                packet
            },
        )
}

/// Converts the packet to 24-bit numbers.
pub(crate) fn shorten(packet: &mut Packet) {
    packet.extended = false;
    packet.seq = SeqNo::new(packet.seq.short().into());
    match &mut packet.kind {
        Kind::Ack { ack } | Kind::DataAck { ack } => *ack = SeqNo::new(ack.short().into()),
        _ => {}
    }
}
