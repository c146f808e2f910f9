//! The TCP codec through its public interface.

use bytes::Bytes;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use skywave_wire::Checksum;
use skywave_wire::tcp::{
    AccurateEcn, AccurateEcnOrder, EmitError, Flags, SackBlock, Segment, TcpOptions, Timestamps,
};

use crate::support;

fn options() -> impl Strategy<Value = TcpOptions> {
    (
        option::of(any::<u16>()),
        option::of(any::<u8>()),
        any::<bool>(),
        vec(any::<(u32, u32)>(), 0..=4),
        option::of(any::<(u32, u32)>()),
        option::of(accurate_ecn()),
    )
        .prop_map(
            |(mss, window_scale, sack_permitted, sack, timestamps, accurate_ecn)| TcpOptions {
                mss,
                window_scale,
                sack_permitted,
                sack: sack
                    .into_iter()
                    .map(|(left, right)| SackBlock { left, right })
                    .collect(),
                timestamps: timestamps.map(|(value, echo)| Timestamps { value, echo }),
                accurate_ecn,
            },
        )
}

fn accurate_ecn() -> impl Strategy<Value = AccurateEcn> {
    let order = prop_oneof![
        Just(AccurateEcnOrder::Ect0First),
        Just(AccurateEcnOrder::Ect1First)
    ];
    (order, vec(0..AccurateEcn::MODULUS, 0..=3)).prop_map(|(order, counters)| AccurateEcn {
        order,
        counters: counters.into_iter().collect(),
    })
}

fn segment() -> impl Strategy<Value = Segment> {
    (
        any::<(u16, u16, u32, u32, u16, u16)>(),
        options(),
        support::payload(),
    )
        .prop_map(
            |((source_port, destination_port, seq, ack, flags, window), options, payload)| {
                Segment {
                    source_port,
                    destination_port,
                    seq,
                    ack,
                    flags: Flags::from_bits(flags),
                    window,
                    checksum_offset: 0,
                    identification: 0,
                    options,
                    payload,
                }
            },
        )
}

proptest! {
    /// With a checksum offset, a segment keeps the checksum from before its acknowledgement number
    /// was lowered, so the difference gives the offset. A receiver that does not expect an offset
    /// drops the segment.
    #[test]
    fn a_checksum_tells_by_how_much_a_number_was_lowered(
        mut segment in segment(), checksum in support::checksum(), offset in 1..8_u8,
    ) {
        segment.options = TcpOptions::default();
        segment.ack = segment.ack.max(offset.into());
        let before = segment.to_bytes(checksum).unwrap();
        segment.ack -= u32::from(offset);
        segment.checksum_offset = offset;
        let lowered = segment.to_bytes(checksum).unwrap();
        prop_assert_eq!(&before[..8], &lowered[..8]);
        prop_assert_eq!(&before[12..], &lowered[12..], "only the number differs");
        if checksum == Checksum::Ignored {
            return Ok(());
        }
        let parsed = Segment::parse_with_offset(&lowered, checksum, 7).unwrap();
        prop_assert_eq!(parsed.checksum_offset, offset);
        prop_assert_eq!(parsed.ack, segment.ack);
        prop_assert!(Segment::parse(&lowered, checksum).is_err());
        prop_assert!(Segment::parse_with_offset(&lowered, checksum, offset - 1).is_err());
    }
}

// A SYN as sent by Linux; its checksum is computed by hand for 10.0.0.1 > 10.0.0.2.
#[test]
fn reads_a_syn_of_linux() {
    let bytes = [
        0xc0, 0x00, 0x00, 0x50, 0x01, 0x02, 0x03, 0x04, 0, 0, 0, 0, 0xa0, 0xc2, 0xfa, 0xf0, 0, 0,
        0, 0, 2, 4, 5, 0xb4, 4, 2, 8, 10, 0, 0, 0, 9, 0, 0, 0, 0, 1, 3, 3, 7,
    ];
    let segment = Segment::parse(&Bytes::copy_from_slice(&bytes), Checksum::Ignored).unwrap();
    assert_eq!(
        segment.flags,
        Flags::SYN.union(Flags::ECE).union(Flags::CWR)
    );
    let expected = TcpOptions {
        mss: Some(1460),
        window_scale: Some(7),
        sack_permitted: true,
        timestamps: Some(Timestamps { value: 9, echo: 0 }),
        ..TcpOptions::default()
    };
    assert_eq!(segment.options, expected);
    assert_eq!(
        segment.to_bytes(Checksum::Ignored).unwrap(),
        bytes.as_slice()
    );
}

static SYN: [u8; 20] = [
    0xc0, 0x00, 0x00, 0x50, 0x01, 0x02, 0x03, 0x04, 0, 0, 0, 0, 0x51, 0xc2, 0xfa, 0xf0, 0, 0, 0, 0,
];

/// RFC 9768 section 3.1.1: a SYN that asks for Accurate ECN has AE, CWR and ECE. AE is the lowest
/// bit of the byte that holds Data Offset.
#[test]
fn reads_and_writes_a_syn_with_accurate_ecn() {
    let bytes = SYN;
    let segment = Segment::parse(&Bytes::from_static(&SYN), Checksum::Ignored).unwrap();
    let expected = [Flags::SYN, Flags::AE, Flags::CWR, Flags::ECE];
    let expected = expected.into_iter().reduce(Flags::union).unwrap();
    assert_eq!(segment.flags, expected);
    assert_eq!(segment.options, TcpOptions::default());
    assert_eq!(
        segment.to_bytes(Checksum::Ignored).unwrap(),
        bytes.as_slice()
    );
}

/// RFC 9293 section 3.1: reserved bits are ignored, and sent as zero.
#[test]
fn there_are_nine_flags() {
    assert_eq!(Flags::from_bits(u16::MAX).bits(), 0x1ff);
    assert_eq!(Flags::from_bits(0x1ff), Flags::from_bits(0xffff));
    assert!(Flags::from_bits(0x1ff).contains(Flags::AE));
}

proptest! {
    #[test]
    fn round_trip(segment in segment(), checksum in support::checksum()) {
        match segment.to_bytes(checksum) {
            Ok(bytes) => {
                prop_assert_eq!(bytes.len(), segment.encoded_len());
                let parsed = Segment::parse(&bytes, checksum);
                prop_assert_eq!(parsed.as_ref(), Ok(&segment));
                prop_assert!(!segment.to_string().contains('\n'));
            }
            Err(error) => {
                let is_length = matches!(error, EmitError::OptionsTooLong { length: 41.. });
                prop_assert!(is_length, "{}", error);
            }
        }
    }

    #[test]
    fn every_flipped_bit_is_noticed(
        segment in segment(),
        checksum in support::checksum(),
        bit: proptest::sample::Index,
    ) {
        prop_assume!(checksum != Checksum::Ignored);
        if let Ok(bytes) = segment.to_bytes(checksum) {
            let mut bytes = bytes.to_vec();
            let bit = bit.index(bytes.len() * 8);
            bytes[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(Segment::parse(&bytes.into(), checksum).is_err());
        }
    }

    #[test]
    fn any_bytes_are_a_segment_or_an_error(
        mut bytes in vec(any::<u8>(), 0..120),
        words in 0..16u8,
    ) {
        if bytes.len() > 12 {
            bytes[12] = words << 4;
        }
        let bytes = Bytes::from(bytes);
        match Segment::parse(&bytes, Checksum::Ignored) {
            Ok(segment) => {
                let again = segment.to_bytes(Checksum::Ignored).unwrap();
                prop_assert_eq!(Segment::parse(&again, Checksum::Ignored), Ok(segment));
            }
            Err(error) => prop_assert!(error.offset() <= bytes.len(), "{}", error),
        }
    }
}

/// Draft-34 section 3.2.3, figure 4: the two orders of the counters, and tables of lengths.
#[test]
fn reads_and_writes_the_options_of_accurate_ecn() {
    let space_of = |order, counters: &[u32]| {
        let mut segment = Segment::parse(&Bytes::from_static(&SYN), Checksum::Ignored).unwrap();
        segment.options.accurate_ecn = Some(AccurateEcn {
            order,
            counters: counters.iter().copied().collect(),
        });
        let bytes = segment.to_bytes(Checksum::Ignored).unwrap();
        let parsed = Segment::parse(&bytes, Checksum::Ignored).unwrap();
        assert_eq!(parsed.options, segment.options);
        (parsed, bytes.slice(20..))
    };
    let (parsed, space) = space_of(AccurateEcnOrder::Ect0First, &[0x01_02_03, 4, 0xff_ff_ff]);
    assert_eq!(
        space,
        [1, 172, 11, 1, 2, 3, 0, 0, 4, 0xff, 0xff, 0xff].as_slice()
    );
    let read = parsed.options.accurate_ecn.unwrap();
    assert_eq!(
        (read.ect0(), read.ce(), read.ect1()),
        (Some(0x01_02_03), Some(4), Some(0xff_ff_ff))
    );
    let (parsed, space) = space_of(AccurateEcnOrder::Ect1First, &[7, 8]);
    assert_eq!(space, [174, 8, 0, 0, 7, 0, 0, 8].as_slice());
    assert_eq!(parsed.options.to_string(), ", AccECN ce 8 ect1 7");
    let read = parsed.options.accurate_ecn.unwrap();
    assert_eq!(
        (read.ect0(), read.ce(), read.ect1()),
        (None, Some(8), Some(7))
    );
    let (_, space) = space_of(AccurateEcnOrder::Ect0First, &[7]);
    assert_eq!(space, [1, 1, 1, 172, 5, 0, 0, 7].as_slice());
    let (_, space) = space_of(AccurateEcnOrder::Ect1First, &[]);
    assert_eq!(space, [1, 1, 174, 2].as_slice());
}

/// Section 3.2.3: for another length, the whole fields that fit are used.
#[test]
fn an_option_of_accurate_ecn_may_have_any_length() {
    for (length, count) in [(3, 0), (4, 0), (6, 1), (10, 2), (14, 3)] {
        let mut bytes = SYN.to_vec();
        bytes[12] = 0x90;
        bytes.extend([172, length]);
        bytes.resize(36, 0);
        let segment = Segment::parse(&bytes.into(), Checksum::Ignored).unwrap();
        let read = segment.options.accurate_ecn.unwrap();
        assert_eq!(read.counters.len(), count, "{length} bytes");
    }
}
