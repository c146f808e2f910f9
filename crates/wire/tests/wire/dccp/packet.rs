//! Headers, checksums and whole packets.

use bytes::Bytes;
use proptest::prelude::*;
use skywave_wire::dccp::{
    DccpOption, EmitError, FeatureNumber, FeatureSide, Kind, Packet, PacketType, ParseError,
    ResetCode, SeqNo, ServiceCode,
};
use skywave_wire::{AddressPair, Checksum, Payload};
use smallvec::smallvec;

use super::{V4, emitted, every_type, packet, parsed};
use crate::support;

// D5.2-1, D5.3-1, D5.6-1, L-1: figures of RFC 4340 sections 5.2 to 5.7 and of RFC 5596.
#[test]
fn headers_look_as_in_the_rfcs() {
    let start = |words, type_x| {
        vec![
            0x12, 0x34, 0x56, 0x78, words, 0, 0, 0, type_x, 0, 1, 2, 3, 4, 5, 6,
        ]
    };
    let ack = [0, 0, 10, 11, 12, 13, 14, 15];
    let service = [0xc0, 0xde, 0xc0, 0xde];
    let expected = [
        [start(5, 0x01), service.into()].concat(),
        [start(7, 0x03), ack.into(), service.into()].concat(),
        start(4, 0x05),
        [start(6, 0x07), ack.into()].concat(),
        [start(6, 0x09), ack.into()].concat(),
        [start(6, 0x0b), ack.into()].concat(),
        [start(6, 0x0d), ack.into()].concat(),
        [start(7, 0x0f), ack.into(), vec![6, 7, 8, 9]].concat(),
        [start(6, 0x11), ack.into()].concat(),
        [start(6, 0x13), ack.into()].concat(),
        [start(5, 0x15), service.into()].concat(),
    ];
    for (packet, expected) in every_type().iter().zip(expected) {
        assert_eq!(emitted(packet), expected, "{packet}");
        assert_eq!(parsed(&expected).as_ref(), Ok(packet));
    }
}

#[test]
fn short_headers_look_as_in_the_rfc() {
    let mut packet = packet(Kind::DataAck {
        ack: SeqNo::new(0x0d_0e0f),
    });
    packet.extended = false;
    packet.ccval = 0xa;
    packet.payload = Payload::from(b"hi".to_vec());
    let bytes = emitted(&packet);
    let expected = [
        0x12, 0x34, 0x56, 0x78, 4, 0xa0, 0, 0, 0x08, 4, 5, 6, 0, 13, 14, 15, b'h', b'i',
    ];
    assert_eq!(bytes, expected);
    packet.seq = SeqNo::new(0x04_0506);
    assert_eq!(parsed(&bytes), Ok(packet));
}

// D3.1-2
#[test]
fn d3_1_2_reserved_bits_are_sent_zero_and_ignored() {
    for packet in every_type() {
        let bytes = emitted(&packet);
        let mut noisy = bytes.clone();
        noisy[8] |= 0xe0;
        noisy[9] = 0xff;
        if packet.kind.ack().is_some() {
            noisy[16] = 0xff;
            noisy[17] = 0xff;
        }
        assert_ne!(noisy, bytes);
        assert_eq!(parsed(&noisy), Ok(packet));
    }
    let mut short = packet(Kind::Ack { ack: SeqNo::new(5) });
    support::shorten(&mut short);
    let mut noisy = emitted(&short);
    noisy[8] |= 0xe0;
    noisy[12] = 0xff;
    assert_eq!(parsed(&noisy), Ok(short));
}

// D5.1-2
#[test]
fn d5_1_2_data_offset_has_bounds() {
    for packet in every_type() {
        let (packet_type, mut bytes) = (packet.kind.packet_type(), emitted(&packet));
        let minimum = bytes.len();
        for words in 0..=255u8 {
            bytes[4] = words;
            let offset = usize::from(words) * 4;
            let expected = if offset < minimum {
                Err(ParseError::DataOffsetTooSmall {
                    packet_type,
                    offset,
                    minimum,
                })
            } else if offset > minimum {
                Err(ParseError::DataOffsetTooLarge {
                    offset,
                    length: minimum,
                })
            } else {
                Ok(packet.clone())
            };
            assert_eq!(parsed(&bytes), expected);
        }
    }
    for length in 0..12 {
        assert_eq!(
            parsed(&[0; 12][..length]),
            Err(ParseError::TooShort { length })
        );
    }
}

// D5.1-3
#[test]
fn d5_1_3_ccval_never_stops_a_packet() {
    for mut packet in every_type() {
        let mut bytes = emitted(&packet);
        for ccval in 0..16 {
            bytes[5] = ccval << 4;
            packet.ccval = ccval;
            assert_eq!(parsed(&bytes).as_ref(), Ok(&packet));
        }
        packet.ccval = 16;
        let error = packet.to_bytes(Checksum::Ignored).unwrap_err();
        assert_eq!(error.to_string(), "CCVal is 16, but at most 15 fits");
    }
}

// D5.1-4
#[test]
fn d5_1_4_reserved_types_are_refused() {
    let mut bytes = emitted(&packet(Kind::Data));
    bytes.resize(64, 0);
    for number in 11..16u8 {
        bytes[8] = number << 1 | 1;
        let error = parsed(&bytes).unwrap_err();
        assert_eq!(
            (error, error.offset()),
            (ParseError::ReservedType { number }, 8)
        );
    }
}

// D5.1-5, L-1
#[test]
fn d5_1_5_most_types_must_have_x_1() {
    for mut packet in every_type() {
        let packet_type = packet.kind.packet_type();
        let may_be_short = matches!(
            packet_type,
            PacketType::Data | PacketType::Ack | PacketType::DataAck
        );
        let mut bytes = emitted(&packet);
        bytes[8] &= 0xfe;
        let refused = parsed(&bytes) == Err(ParseError::ShortNumbers { packet_type });
        assert_eq!(refused, !may_be_short, "{packet_type}");
        packet.extended = false;
        let refused = packet.to_bytes(Checksum::Ignored);
        assert_eq!(
            refused == Err(EmitError::ShortNumbers { packet_type }),
            !may_be_short
        );
    }
}

// D5.1-7, D9.1-1
#[test]
fn d9_1_1_every_flipped_bit_is_noticed() {
    let v6 = AddressPair::V6 {
        source: "2001:db8::1".parse().unwrap(),
        destination: "2001:db8::2".parse().unwrap(),
    };
    for mut packet in every_type() {
        packet.options.push(DccpOption::Timestamp(77));
        packet.payload = Payload::from(b"odd".to_vec());
        for checksum in [V4, Checksum::Over(v6)] {
            let good = packet.to_bytes(checksum).unwrap();
            assert_eq!(Packet::parse(&good, checksum).as_ref(), Ok(&packet));
            for bit in 0..good.len() * 8 {
                let mut bad = good.to_vec();
                bad[bit / 8] ^= 1 << (bit % 8);
                assert!(
                    Packet::parse(&bad.into(), checksum).is_err(),
                    "{packet}: bit {bit}"
                );
            }
        }
        // The checksum covers the pseudo-header.
        let good = packet.to_bytes(V4).unwrap();
        let error = Packet::parse(&good, Checksum::Over(v6)).unwrap_err();
        assert!(matches!(error, ParseError::Checksum { .. }) && error.offset() == 6);
    }
}

// D9.1-1
#[test]
fn a_checksum_error_says_what_is_right() {
    let mut bytes = packet(Kind::Data).to_bytes(V4).unwrap().to_vec();
    let right = u16::from_be_bytes([bytes[6], bytes[7]]);
    bytes[6] ^= 0x80;
    let found = right ^ 0x8000;
    let error = Packet::parse(&bytes.into(), V4);
    assert_eq!(
        error,
        Err(ParseError::Checksum {
            found,
            computed: right
        })
    );
}

// RFC 6773 section 3.3
#[test]
fn an_ignored_checksum_is_zero_and_not_looked_at() {
    let mut bytes = emitted(&packet(Kind::Data));
    assert_eq!(bytes[6..8], [0, 0]);
    bytes[6] = 0x55;
    assert_eq!(parsed(&bytes), Ok(packet(Kind::Data)));
}

// D9.2-1
#[test]
fn d9_2_1_checksum_coverage_ends_with_the_data() {
    for length in 0..=60u32 {
        let mut packet = packet(Kind::Data);
        packet.payload = Payload::Synthetic(length);
        for cscov in 0..16 {
            packet.cscov = cscov;
            let covered = (usize::from(cscov).max(1) - 1) * 4;
            let mut bytes = emitted(&Packet {
                cscov: 0,
                ..packet.clone()
            });
            bytes[5] = cscov;
            if covered <= length as usize {
                assert_eq!(emitted(&packet), bytes);
                assert_eq!(parsed(&bytes).as_ref(), Ok(&packet));
            } else {
                let data = length as usize;
                let error = parsed(&bytes).unwrap_err();
                assert_eq!(
                    error,
                    ParseError::Coverage {
                        cscov,
                        covered,
                        data
                    }
                );
                assert_eq!(error.offset(), 5);
                let error = packet.to_bytes(V4);
                assert_eq!(
                    error,
                    Err(EmitError::Coverage {
                        cscov,
                        covered,
                        data
                    })
                );
            }
        }
    }
}

// D9.2-1
#[test]
fn d9_2_1_damage_behind_the_coverage_is_let_through() {
    let mut packet = packet(Kind::Data);
    packet.payload = Payload::Synthetic(21);
    for cscov in 0..=6u8 {
        packet.cscov = cscov;
        let good = packet.to_bytes(V4).unwrap();
        for position in 0..21 {
            let mut bad = good.to_vec();
            bad[16 + position] = 0xff;
            let covered = cscov == 0 || position < (usize::from(cscov) - 1) * 4;
            let noticed = Packet::parse(&bad.into(), V4).is_err();
            assert_eq!(noticed, covered, "cscov {cscov}, byte {position}");
        }
    }
}

// D9.3-1
#[test]
fn d9_3_1_data_checksum_notices_damage() {
    let mut packet = packet(Kind::Data);
    packet.payload = Payload::from(b"123456789".to_vec());
    assert_eq!(packet.verify_data_checksum(), None);
    assert_eq!(
        packet.data_checksum(),
        DccpOption::DataChecksum(0xe306_9283)
    );
    packet.options.push(packet.data_checksum());
    packet.cscov = 1;
    let mut bytes = packet.to_bytes(V4).unwrap().to_vec();
    assert_eq!(bytes[16..22], [44, 6, 0xe3, 0x06, 0x92, 0x83]);
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    let damaged = Packet::parse(&bytes.into(), V4).unwrap();
    assert_eq!(damaged.verify_data_checksum(), Some(false));
    assert_eq!(packet.verify_data_checksum(), Some(true));
    // The checksum of no data is zero.
    packet.payload = Payload::EMPTY;
    assert_eq!(packet.data_checksum(), DccpOption::DataChecksum(0));
}

// L-1
#[test]
fn l_1_a_listen_has_no_ccval_and_no_cscov() {
    let listen = packet(Kind::Listen {
        service: ServiceCode(1),
    });
    for packet in [
        Packet {
            ccval: 1,
            ..listen.clone()
        },
        Packet {
            cscov: 1,
            ..listen.clone()
        },
    ] {
        assert_eq!(packet.to_bytes(V4), Err(EmitError::ListenFields));
    }
    assert!(listen.to_bytes(V4).is_ok());
}

#[test]
fn a_packet_is_compact() {
    assert!(
        size_of::<Packet>() <= 160,
        "a Packet takes {} bytes",
        size_of::<Packet>()
    );
    assert!(
        size_of::<DccpOption>() <= 40,
        "an option takes {} bytes",
        size_of::<DccpOption>()
    );
}

#[test]
fn too_long_a_packet_is_an_error() {
    let mut packet = packet(Kind::Data);
    packet.payload = Payload::Synthetic(65519);
    assert!(packet.to_bytes(V4).is_ok());
    packet.payload = Payload::Synthetic(65520);
    assert_eq!(
        packet.to_bytes(V4),
        Err(EmitError::PacketTooLong { length: 65536 })
    );
}

#[test]
fn one_readable_line() {
    let mut packet = packet(Kind::DataAck { ack: SeqNo::new(7) });
    packet.ccval = 3;
    packet.payload = Payload::Synthetic(200);
    packet.options = smallvec![
        DccpOption::Padding,
        DccpOption::Mandatory,
        DccpOption::Change {
            side: FeatureSide::Local,
            feature: FeatureNumber::CCID,
            value: smallvec![2, 3]
        },
        DccpOption::AckVector {
            nonce: true,
            cells: smallvec![0, 0xc2, 0x40]
        },
        DccpOption::LossEventRate(u32::MAX),
        DccpOption::Malformed(smallvec![41, 99]),
    ];
    assert_eq!(
        packet.to_string(),
        "4660 > 22136 DataAck seq 1108152157446 ack 7 ccval 3, Mandatory, Change L(CCID, 2, 3), \
         Ack Vector [Nonce 1] [R N3 C], Loss Event Rate 0, malformed [29, 63], 200 bytes"
    );
    let reset = Kind::Reset {
        ack: SeqNo::ZERO,
        code: ResetCode::CLOSED,
        data: [0; 3],
    };
    assert_eq!(reset.to_string(), "Reset (closed)");
    // RFC 4340 section 8.1.2.
    assert_eq!(ServiceCode(1_717_858_426).to_string(), "SC:fdpz");
    assert_eq!(ServiceCode(42).to_string(), "SC=42");
}

proptest! {
    #[test]
    fn round_trip(packet in support::dccp_packet(), checksum in support::checksum()) {
        let bytes = packet.to_bytes(checksum).unwrap();
        prop_assert_eq!(bytes.len(), packet.encoded_len());
        prop_assert_eq!(bytes.len() - packet.payload.len(), packet.header_len());
        let parsed = Packet::parse(&bytes, checksum);
        prop_assert_eq!(parsed.as_ref(), Ok(&packet));
        prop_assert!(!packet.to_string().contains('\n'));
    }

    #[test]
    fn any_bytes_are_a_packet_or_an_error(
        mut bytes in proptest::collection::vec(any::<u8>(), 0..200),
        words in 0..60u8,
        checksum in support::checksum(),
    ) {
        if bytes.len() > 4 {
            bytes[4] = words;
        }
        let bytes = Bytes::from(bytes);
        if let Err(error) = Packet::parse(&bytes, checksum) {
            prop_assert!(error.offset() <= bytes.len(), "{}", error);
        }
        if let Ok(packet) = Packet::parse(&bytes, Checksum::Ignored) {
            // A received packet can be sent again; only reserved bits and the checksum may change.
            if matches!(packet.kind, Kind::Listen { .. }) && (packet.ccval, packet.cscov) != (0, 0) {
                return Ok(());
            }
            let again = packet.to_bytes(Checksum::Ignored).unwrap();
            prop_assert_eq!(again.len(), bytes.len());
            prop_assert_eq!(&again[packet.kind.packet_type().fixed_header_len(packet.extended)..],
                &bytes[packet.kind.packet_type().fixed_header_len(packet.extended)..]);
            prop_assert_eq!(Packet::parse(&again, Checksum::Ignored), Ok(packet));
        }
    }
}
