//! Options.

use skywave_wire::Checksum;
use skywave_wire::dccp::{
    DccpOption, EmitError, FeatureNumber, FeatureSide, Kind, LossInterval, OptionList, OptionType,
    PacketType, SeqNo,
};
use skywave_wire::quick_start::{QsNonce, RateField};
use smallvec::smallvec;

use super::{V4, emitted, packet, parsed};
use crate::support;

/// A DCCP-Ack whose option space is `options`, which must be a multiple of four bytes.
fn with_option_space(options: &[u8]) -> Vec<u8> {
    let mut bytes = emitted(&packet(Kind::Ack { ack: SeqNo::ZERO }));
    bytes.extend_from_slice(options);
    bytes[4] = (bytes.len() / 4) as u8;
    bytes
}

fn options_of(space: &[u8]) -> OptionList {
    let bytes = with_option_space(space);
    let packet = parsed(&bytes).unwrap();
    assert_eq!(
        emitted(&packet),
        bytes,
        "options do not survive a round trip"
    );
    packet.options
}

// D5.8-1
#[test]
fn d5_8_1_options_end_on_a_word_and_take_at_most_1008_bytes() {
    let mut packet = packet(Kind::Data);
    support::shorten(&mut packet);
    for count in 0..=1008 {
        packet.options = smallvec![DccpOption::SlowReceiver; count];
        let bytes = emitted(&packet);
        assert_eq!(bytes.len(), 12 + count.next_multiple_of(4));
        assert_eq!(bytes[12..12 + count], vec![2; count]);
        assert!(bytes[12 + count..].iter().all(|&byte| byte == 0));
        assert_eq!(parsed(&bytes).as_ref(), Ok(&packet));
    }
    packet.options.push(DccpOption::SlowReceiver);
    let error = packet.to_bytes(V4).unwrap_err();
    let packet_type = PacketType::Data;
    assert_eq!(
        error,
        EmitError::OptionsTooLong {
            packet_type,
            length: 1012,
            maximum: 1008
        }
    );
}

// D5.8-2
#[test]
fn d5_8_2_order_and_repetition_are_kept() {
    let space = [0, 41, 6, 0, 0, 0, 9, 2, 0, 41, 6, 0, 0, 0, 8, 0];
    let expected = [
        DccpOption::Padding,
        DccpOption::Timestamp(9),
        DccpOption::SlowReceiver,
        DccpOption::Padding,
        DccpOption::Timestamp(8),
    ];
    assert_eq!(options_of(&space).as_slice(), expected);
}

// D5.8-3
#[test]
fn d5_8_3_nonsensical_lengths_end_the_options() {
    let first = DccpOption::SlowReceiver;
    for rest in [
        [41, 0, 9, 9, 9, 9, 9].as_slice(), // shorter than type and length
        &[41, 1, 9, 9, 9, 9, 9],
        &[41, 8, 9, 9, 9, 9, 9], // longer than the space
        &[200, 255, 41, 6, 1, 2, 3],
        &[2, 2, 2, 2, 2, 2, 77], // no room for a length
    ] {
        let space = [&[2], rest].concat();
        let options = options_of(&space);
        let malformed = rest.iter().position(|&byte| byte != 2).unwrap();
        let expected: OptionList = core::iter::repeat_n(first.clone(), 1 + malformed)
            .chain([DccpOption::Malformed(rest[malformed..].into())])
            .collect();
        assert_eq!(options, expected);
    }
}

// D5.8-3
#[test]
fn d5_8_3_unknown_types_and_impossible_values_are_kept_as_they_are() {
    for (space, kind) in [
        ([44, 4, 1, 2], 44), // a two-byte Data Checksum
        ([41, 4, 1, 2], 41),
        ([37, 2, 0, 0], 37), // an NDP Count without a count
        ([32, 2, 2, 2], 32), // a Change without a feature
        ([43, 3, 1, 2], 43),
        ([193, 3, 1, 2], 193),
        ([195, 4, 1, 2], 195),
        ([99, 4, 1, 2], 99),
    ] {
        let length = usize::from(space[1]);
        let value = Some(space[2..length].into());
        assert_eq!(options_of(&space)[0], DccpOption::Other { kind, value });
    }
    assert_eq!(
        options_of(&[31, 2, 2, 2])[0],
        DccpOption::Other {
            kind: 31,
            value: None
        }
    );
    let long = [37, 9, 1, 2, 3, 4, 5, 6, 7, 0, 0, 0];
    assert!(matches!(
        options_of(&long)[0],
        DccpOption::Other { kind: 37, .. }
    ));
}

// D5.8.2-1
#[test]
fn d5_8_2_1_mandatory_before_padding_is_told_from_mandatory_at_the_end() {
    use DccpOption::{Mandatory, Padding, SlowReceiver};
    for (space, expected) in [
        (
            [2, 2, 2, 1],
            [SlowReceiver, SlowReceiver, SlowReceiver, Mandatory].as_slice(),
        ),
        (
            [2, 2, 1, 0],
            &[SlowReceiver, SlowReceiver, Mandatory, Padding],
        ),
        ([1, 0, 0, 0], &[Mandatory, Padding]),
        ([1, 0, 2, 0], &[Mandatory, Padding, SlowReceiver]),
    ] {
        assert_eq!(options_of(&space).as_slice(), expected);
    }
    // A word that is all padding becomes one Padding option.
    assert_eq!(options_of(&[0, 0, 0, 0]).as_slice(), [Padding]);
    let two_words = [2, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(options_of(&two_words).len(), 5);
}

// D5.6-2
#[test]
fn d5_6_2_a_reset_tells_the_type_and_the_first_two_bytes_of_data_of_every_option() {
    let data: Vec<u8> = (7..=32).collect();
    for &kind in OptionType::ALL {
        let mut has_value = false;
        // Valid lengths, and lengths too short or too long for a value.
        for length in 0..=data.len() {
            let option = DccpOption::parse(kind, &data[..length]);
            has_value |= !matches!(option, DccpOption::Other { .. });
            let mut packet = packet(Kind::Ack { ack: SeqNo::ZERO });
            packet.options.push(option.clone());
            let on_the_wire = &emitted(&packet)[24..][..option.encoded_len()];
            let expected = match on_the_wire {
                [kind] | [kind, _] => [*kind, 0, 0],
                [kind, _, first] => [*kind, *first, 0],
                [kind, _, first, second, ..] => [*kind, *first, *second],
                [] => panic!("{option} encodes to no bytes"),
            };
            assert_eq!(option.reset_data(), expected, "{option}");
        }
        assert!(has_value, "{kind:?}");
    }
    for (bytes, expected) in [
        ([41, 99, 5, 6, 7].as_slice(), [41, 5, 6]),
        (&[41, 99, 5], [41, 5, 0]),
        (&[41], [41, 0, 0]),
    ] {
        let malformed = DccpOption::Malformed(bytes.into());
        assert_eq!(malformed.reset_data(), expected);
    }
}

// Table 3 of RFC 4340, and the figures of sections 6 to 13.
#[test]
fn options_look_as_in_the_rfc() {
    for (option, bytes) in [
        (DccpOption::SlowReceiver, [2].as_slice()),
        (
            DccpOption::Change {
                side: FeatureSide::Remote,
                feature: FeatureNumber::CCID,
                value: smallvec![3, 1, 2],
            },
            &[34, 6, 1, 3, 1, 2],
        ),
        (
            DccpOption::Confirm {
                side: FeatureSide::Local,
                feature: FeatureNumber(126),
                value: smallvec![],
            },
            &[33, 3, 126],
        ),
        (DccpOption::InitCookie(smallvec![1, 2]), &[36, 4, 1, 2]),
        (
            DccpOption::NdpCount {
                count: 0x0102,
                width: 3,
            },
            &[37, 5, 0, 1, 2],
        ),
        (
            DccpOption::AckVector {
                nonce: false,
                cells: smallvec![0xc0],
            },
            &[38, 3, 0xc0],
        ),
        (
            DccpOption::AckVector {
                nonce: true,
                cells: smallvec![5, 6],
            },
            &[39, 4, 5, 6],
        ),
        (DccpOption::DataDropped(smallvec![0xb0]), &[40, 3, 0xb0]),
        (DccpOption::Timestamp(0x0102_0304), &[41, 6, 1, 2, 3, 4]),
        (
            DccpOption::RttEstimate {
                micros: 0x01_0203,
                width: 3,
            },
            &[128, 5, 1, 2, 3],
        ),
        (
            DccpOption::LossEventRate(u32::MAX),
            &[192, 6, 255, 255, 255, 255],
        ),
        (
            DccpOption::ReceiveRate(0x0a0b_0c0d),
            &[194, 6, 10, 11, 12, 13],
        ),
        (
            DccpOption::DroppedPackets(smallvec![1, 0x02_0304]),
            &[195, 8, 0, 0, 1, 2, 3, 4],
        ),
    ] {
        let mut packet = packet(Kind::Ack { ack: SeqNo::ZERO });
        packet.options.push(option.clone());
        assert_eq!(option.encoded_len(), bytes.len());
        assert_eq!(&emitted(&packet)[24..24 + bytes.len()], bytes, "{option}");
        let padded = [
            bytes,
            &vec![0; bytes.len().next_multiple_of(4) - bytes.len()],
        ]
        .concat();
        assert_eq!(options_of(&padded).as_slice(), [option]);
    }
}

/// RFC 5634 section 2.2.1: eight bytes; reserved bits are ignored, and any other length is invalid.
#[test]
fn quick_start_responses_have_the_layout_of_figure_1() {
    let response = |reserved| DccpOption::QuickStartResponse {
        rate: RateField::from_bits(5),
        ttl_diff: 0xfe,
        nonce: QsNonce::new(0x2a5a_5a5a),
        reserved,
    };
    // The nonce fills the first 30 bits of its word: 0x2a5a5a5a << 2 = 0xa9696968.
    let sent = [45, 8, 0x05, 0xfe, 0xa9, 0x69, 0x69, 0x68];
    let mut packet = packet(Kind::Ack { ack: SeqNo::ZERO });
    packet.options.push(response(0));
    assert_eq!(emitted(&packet)[24..32], sent);
    assert_eq!(options_of(&sent).as_slice(), [response(0)]);

    let reserved = [45, 8, 0xf5, 0xfe, 0xa9, 0x69, 0x69, 0x6b];
    assert_eq!(options_of(&reserved).as_slice(), [response(0x3f)]);

    for length in (0..12).filter(|&length| length != 6) {
        let option = DccpOption::parse(OptionType::QUICK_START_RESPONSE, &vec![5; length]);
        assert!(
            matches!(option, DccpOption::Other { kind: 45, .. }),
            "{option}"
        );
    }
    // A length beyond the option space makes the rest of it one malformed option.
    let options = options_of(&[45, 9, 5, 0, 1, 2, 3, 4]);
    assert!(matches!(options.as_slice(), [DccpOption::Malformed(_)]));
}

// D13-2
#[test]
fn d13_2_elapsed_times_have_two_widths() {
    use skywave_wire::dccp::ElapsedTime::{Long, Short};
    for (option, bytes) in [
        (
            DccpOption::ElapsedTime(Short(0x0102)),
            [43, 4, 1, 2].as_slice(),
        ),
        (
            DccpOption::ElapsedTime(Long(0x0102)),
            &[43, 6, 0, 0, 1, 2, 0, 0],
        ),
        (
            DccpOption::TimestampEcho {
                echo: 7,
                elapsed: None,
            },
            &[42, 6, 0, 0, 0, 7, 0, 0],
        ),
        (
            DccpOption::TimestampEcho {
                echo: 7,
                elapsed: Some(Short(9)),
            },
            &[42, 8, 0, 0, 0, 7, 0, 9],
        ),
        (
            DccpOption::TimestampEcho {
                echo: 7,
                elapsed: Some(Long(9)),
            },
            &[42, 10, 0, 0, 0, 7, 0, 0, 0, 9, 0, 0],
        ),
    ] {
        assert_eq!(options_of(bytes).as_slice(), [option]);
    }
}

// C3-14, C3-15
#[test]
fn c3_15_loss_intervals_take_nine_bytes_each() {
    let space = [
        193, 21, 3, 0, 0, 10, 0x80, 0, 2, 0, 0, 9, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 1, 2, 3,
    ];
    let padded = [space.as_slice(), &[0; 3]].concat();
    let intervals = smallvec![
        LossInterval {
            lossless_length: 10,
            nonce: true,
            loss_length: 2,
            data_length: 9
        },
        LossInterval {
            lossless_length: 0xff_ffff,
            nonce: false,
            loss_length: 0x7f_ffff,
            data_length: 0x01_0203
        },
    ];
    let expected = DccpOption::LossIntervals {
        skip_length: 3,
        intervals,
    };
    assert_eq!(options_of(&padded).as_slice(), [expected]);

    let interval = LossInterval {
        lossless_length: 1,
        nonce: false,
        loss_length: 1,
        data_length: 1,
    };
    let mut packet = packet(Kind::Ack { ack: SeqNo::ZERO });
    packet.options.push(DccpOption::LossIntervals {
        skip_length: 0,
        intervals: smallvec![interval; 28],
    });
    assert_eq!(parsed(&emitted(&packet)).as_ref(), Ok(&packet));
    packet.options[0] = DccpOption::LossIntervals {
        skip_length: 0,
        intervals: smallvec![interval; 29],
    };
    let error = packet.to_bytes(Checksum::Ignored);
    assert_eq!(
        error,
        Err(EmitError::OptionTooLong {
            kind: 193,
            length: 262
        })
    );
}

// C3-15, C4-6
#[test]
fn c4_6_values_that_do_not_fit_are_never_cut() {
    let interval = LossInterval {
        lossless_length: 1,
        nonce: false,
        loss_length: 1,
        data_length: 1,
    };
    let intervals = |interval| DccpOption::LossIntervals {
        skip_length: 0,
        intervals: smallvec![interval],
    };
    for option in [
        DccpOption::DroppedPackets(smallvec![1 << 24]),
        intervals(LossInterval {
            lossless_length: 1 << 24,
            ..interval
        }),
        intervals(LossInterval {
            loss_length: 1 << 23,
            ..interval
        }),
        intervals(LossInterval {
            data_length: 1 << 24,
            ..interval
        }),
        DccpOption::NdpCount {
            count: 256,
            width: 1,
        },
        DccpOption::NdpCount {
            count: 1 << 48,
            width: 6,
        },
    ] {
        let mut packet = packet(Kind::Ack { ack: SeqNo::ZERO });
        packet.options.push(option.clone());
        let mut out = vec![1, 2, 3];
        let error = packet.emit(V4, &mut out);
        assert!(
            matches!(error, Err(EmitError::FieldTooLarge { .. })),
            "{option}"
        );
        assert_eq!(out, [1, 2, 3], "a failed packet leaves something behind");
    }
}
