//! Encodes and decodes TCP segments (RFC 9293 section 3.1).

use arrayvec::ArrayVec;
use bytes::Bytes;
use etherparse::{TcpHeader, TcpHeaderSlice, TcpOptionElement, TcpOptionsIterator, err};
use thiserror::Error;

use super::{AccurateEcn, Flags, SackBlock, Segment, TcpOptions, Timestamps};
use crate::Payload;
use crate::checksum::{Checksum, internet_checksum};

/// TCP's IP protocol number.
pub const IP_PROTOCOL: u8 = 6;

/// The length of a TCP header without options, in bytes.
pub const MIN_HEADER: usize = 20;
/// The most bytes of options that Data Offset permits.
const MAX_OPTIONS: usize = 40;
/// An option that does nothing.
const NOP: u8 = 1;
/// The offset of the checksum.
const CHECKSUM: usize = 16;
/// The longest segment that the length fields of IP can describe.
const MAX_SEGMENT: usize = 65535;

/// Why bytes are not a TCP segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ParseError {
    /// Fewer bytes than the header's length, or than the minimum.
    #[error("the TCP header takes {needed} bytes, but only {length} are left")]
    TooShort {
        /// The length of the header in bytes.
        needed: usize,
        /// The number of bytes available.
        length: usize,
    },
    /// Data Offset is less than the length of a header without options.
    #[error("Data Offset is {words} words, but must be at least 5")]
    DataOffset {
        /// The value of the field.
        words: u8,
    },
    /// The checksum is wrong.
    #[error("the checksum is {found:#06x}, which does not match the segment")]
    Checksum {
        /// The checksum in the segment.
        found: u16,
    },
}

impl ParseError {
    /// Returns the offset of the fault, in bytes from the start of the TCP header.
    pub const fn offset(&self) -> usize {
        match *self {
            Self::TooShort { length, .. } => length,
            Self::DataOffset { .. } => 12,
            Self::Checksum { .. } => CHECKSUM,
        }
    }
}

/// Why a segment cannot be encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum EmitError {
    /// The options do not fit the header.
    #[error("the options take {length} bytes, but at most 40 fit; send fewer SACK blocks")]
    OptionsTooLong {
        /// The length of all options in bytes.
        length: usize,
    },
    /// The segment is longer than an IP packet can carry.
    #[error("the segment takes {length} bytes, but IP carries at most 65535; send less data")]
    SegmentTooLong {
        /// The length of the segment in bytes.
        length: usize,
    },
}

impl TcpOptions {
    /// Returns the encoded length in bytes: a multiple of four.
    ///
    /// Options are aligned to 32 bits as in Linux (timestamps take 12 bytes, three SACK blocks 28),
    /// and packed only if they would not fit otherwise.
    pub fn encoded_len(&self) -> usize {
        if self.is_aligned() {
            self.aligned_len()
        } else {
            self.packed_len().next_multiple_of(4)
        }
    }

    fn is_aligned(&self) -> bool {
        self.aligned_len() <= MAX_OPTIONS
    }

    fn aligned_len(&self) -> usize {
        let mut length = 4 * usize::from(self.mss.is_some())
            + 4 * usize::from(self.window_scale.is_some())
            + 12 * usize::from(self.timestamps.is_some());
        // SACK-permitted takes the place of the two NOPs before timestamps.
        if self.sack_permitted && self.timestamps.is_none() {
            length += 4;
        }
        if !self.sack.is_empty() {
            length += 4 + 8 * self.sack.len();
        }
        length + self.accurate_ecn_len().next_multiple_of(4)
    }

    fn packed_len(&self) -> usize {
        let mut length = 4 * usize::from(self.mss.is_some())
            + 3 * usize::from(self.window_scale.is_some())
            + 2 * usize::from(self.sack_permitted)
            + 10 * usize::from(self.timestamps.is_some());
        if !self.sack.is_empty() {
            length += 2 + 8 * self.sack.len();
        }
        length + self.accurate_ecn_len()
    }

    fn accurate_ecn_len(&self) -> usize {
        (self.accurate_ecn.as_ref()).map_or(0, AccurateEcn::encoded_len)
    }

    /// Writes the options into `header`; `None` if they are too long.
    fn put_into(&self, header: &mut TcpHeader) -> Option<()> {
        let elements = self.elements();
        match &self.accurate_ecn {
            None => header.set_options(&elements).ok(),
            Some(accurate_ecn) => self.put_with(accurate_ecn, &elements, header),
        }
    }

    /// Writes the options and `accurate_ecn`, which etherparse does not know, into `header`.
    #[cold]
    fn put_with(
        &self,
        accurate_ecn: &AccurateEcn,
        elements: &[TcpOptionElement],
        header: &mut TcpHeader,
    ) -> Option<()> {
        let length = if self.is_aligned() {
            self.aligned_len()
        } else {
            self.packed_len()
        };
        if length > MAX_OPTIONS {
            return None;
        }
        // etherparse pads the others.
        let others = etherparse::TcpOptions::try_from_elements(elements).ok()?;
        let known = length - accurate_ecn.encoded_len();
        let mut space = ArrayVec::<u8, MAX_OPTIONS>::new();
        space.extend(others.as_slice().iter().copied().take(known));
        while space.len() < known {
            space.push(NOP);
        }
        accurate_ecn.emit(&mut space);
        header.set_options_raw(&space).ok()
    }

    /// Returns the options that etherparse knows in sending order, with NOPs in between.
    fn elements(&self) -> ArrayVec<TcpOptionElement, 16> {
        let aligned = self.is_aligned();
        let mut elements = ArrayVec::new();
        let align = |elements: &mut ArrayVec<_, 16>, count| {
            for _ in 0..if aligned { count } else { 0 } {
                elements.push(TcpOptionElement::Noop);
            }
        };
        if let Some(mss) = self.mss {
            elements.push(TcpOptionElement::MaximumSegmentSize(mss));
        }
        if self.sack_permitted {
            if self.timestamps.is_none() {
                align(&mut elements, 2);
            }
            elements.push(TcpOptionElement::SelectiveAcknowledgementPermitted);
        }
        if let Some(Timestamps { value, echo }) = self.timestamps {
            if !self.sack_permitted {
                align(&mut elements, 2);
            }
            elements.push(TcpOptionElement::Timestamp(value, echo));
        }
        if let Some(shift) = self.window_scale {
            align(&mut elements, 1);
            elements.push(TcpOptionElement::WindowScale(shift));
        }
        if let [first, others @ ..] = self.sack.as_slice() {
            align(&mut elements, 2);
            let mut more = [None; 3];
            for (slot, block) in more.iter_mut().zip(others) {
                *slot = Some((block.left, block.right));
            }
            elements.push(TcpOptionElement::SelectiveAcknowledgement(
                (first.left, first.right),
                more,
            ));
        }
        elements
    }

    /// Decodes an option space. Skips unknown options and options with an invalid length (RFC 9293
    /// section 3.1, MUST-6); if the length byte itself is invalid, skips the rest.
    fn parse(space: &[u8]) -> Self {
        let mut options = Self::default();
        let mut rest = space;
        while !rest.is_empty() {
            let mut elements = TcpOptionsIterator::from_slice(rest);
            rest = match elements.next() {
                Some(Ok(element)) => {
                    options.set(&element);
                    elements.rest()
                }
                Some(Err(_)) => {
                    let length = rest.get(1).map_or(0, |&length| usize::from(length));
                    let Some(others) = rest.get(length..).filter(|_| length >= 2) else {
                        break;
                    };
                    // etherparse does not know this one.
                    if AccurateEcn::is_kind(rest[0]) {
                        let content = &rest[2..length];
                        options.accurate_ecn = AccurateEcn::parse(rest[0], content);
                    }
                    others
                }
                None => break,
            };
        }
        options
    }

    fn set(&mut self, element: &TcpOptionElement) {
        match *element {
            TcpOptionElement::Noop => {}
            TcpOptionElement::MaximumSegmentSize(mss) => self.mss = Some(mss),
            TcpOptionElement::WindowScale(shift) => self.window_scale = Some(shift),
            TcpOptionElement::SelectiveAcknowledgementPermitted => self.sack_permitted = true,
            TcpOptionElement::SelectiveAcknowledgement(first, others) => {
                self.sack = core::iter::once(first)
                    .chain(others.into_iter().flatten())
                    .map(|(left, right)| SackBlock { left, right })
                    .collect();
            }
            TcpOptionElement::Timestamp(value, echo) => {
                self.timestamps = Some(Timestamps { value, echo });
            }
        }
    }
}

impl Segment {
    /// Returns the length of the header in bytes: 20 plus options.
    pub fn header_len(&self) -> usize {
        MIN_HEADER + self.options.encoded_len()
    }

    /// Returns the encoded length in bytes, without IP: header and data.
    pub fn encoded_len(&self) -> usize {
        self.header_len() + self.payload.len()
    }

    /// Decodes a segment, which must fill `bytes`; the payload shares them.
    ///
    /// With [`Checksum::Over`] the checksum is verified.
    ///
    /// # Errors
    ///
    /// The segment must be dropped: see [`ParseError`].
    pub fn parse(bytes: &Bytes, checksum: Checksum) -> Result<Self, ParseError> {
        Self::parse_with_offset(bytes, checksum, 0)
    }

    /// Decodes a segment whose checksum may have been computed with an acknowledgement number
    /// greater by 1 to `most`; [`Segment::checksum_offset`] then contains the difference. (The
    /// checksum cannot tell a greater acknowledgement number from a greater sequence number.) Each
    /// accepted difference lets one in 65536 corrupted segments pass.
    ///
    /// # Errors
    ///
    /// As for [`Segment::parse`].
    pub fn parse_with_offset(
        bytes: &Bytes,
        checksum: Checksum,
        most: u8,
    ) -> Result<Self, ParseError> {
        let header = TcpHeaderSlice::from_slice(bytes).map_err(|error| match error {
            err::tcp::HeaderSliceError::Len(error) => ParseError::TooShort {
                needed: error.required_len,
                length: error.len,
            },
            err::tcp::HeaderSliceError::Content(err::tcp::HeaderError::DataOffsetTooSmall {
                data_offset,
            }) => ParseError::DataOffset { words: data_offset },
        })?;
        let mut checksum_offset = 0;
        if let Checksum::Over(addresses) = checksum {
            let sum = internet_checksum(addresses, IP_PROTOCOL, bytes.len() as u32, bytes);
            // Decrementing a number makes the sum of all words one too small. Its complement, which
            // is 0 for a correct segment, is then one too large.
            checksum_offset = match u8::try_from(sum) {
                Ok(offset) if offset <= most => offset,
                _ => {
                    return Err(ParseError::Checksum {
                        found: header.checksum(),
                    });
                }
            };
        }
        let data = header.slice().len();
        Ok(Self {
            source_port: header.source_port(),
            destination_port: header.destination_port(),
            seq: header.sequence_number(),
            ack: header.acknowledgment_number(),
            flags: flags(&header),
            window: header.window_size(),
            checksum_offset,
            identification: 0,
            options: TcpOptions::parse(header.options()),
            payload: if data == bytes.len() {
                Payload::EMPTY
            } else {
                Payload::Bytes(bytes.slice(data..))
            },
        })
    }

    /// Appends the encoded segment to `out`.
    ///
    /// # Errors
    ///
    /// The options or the data are too long; `out` is unchanged.
    pub fn emit(&self, checksum: Checksum, out: &mut Vec<u8>) -> Result<(), EmitError> {
        let length = self.encoded_len();
        if length > MAX_SEGMENT {
            return Err(EmitError::SegmentTooLong { length });
        }
        let mut header = TcpHeader::new(
            self.source_port,
            self.destination_port,
            self.seq,
            self.window,
        );
        header.acknowledgment_number = self.ack;
        set_flags(&mut header, self.flags);
        self.options
            .put_into(&mut header)
            .ok_or_else(|| EmitError::OptionsTooLong {
                length: self.options.packed_len(),
            })?;

        let start = out.len();
        out.reserve(length);
        out.extend_from_slice(&header.to_bytes());
        self.payload.emit(out);
        if let Checksum::Over(addresses) = checksum {
            let segment = &mut out[start..];
            let sum = internet_checksum(addresses, IP_PROTOCOL, segment.len() as u32, segment);
            let meant = ones_complement_sub(sum, self.checksum_offset.into());
            segment[CHECKSUM..CHECKSUM + 2].copy_from_slice(&meant.to_be_bytes());
        }
        Ok(())
    }

    /// Returns the encoded segment.
    ///
    /// # Errors
    ///
    /// As for [`Segment::emit`].
    pub fn to_bytes(&self, checksum: Checksum) -> Result<Bytes, EmitError> {
        let mut out = Vec::new();
        self.emit(checksum, &mut out)?;
        Ok(out.into())
    }
}

/// Returns a - b in one's complement, with end-around borrow (RFC 1071).
const fn ones_complement_sub(a: u16, b: u16) -> u16 {
    let (difference, borrows) = a.overflowing_sub(b);
    difference - borrows as u16
}

fn flags(header: &TcpHeaderSlice<'_>) -> Flags {
    // Data Offset, three reserved bits and AE share a byte; CWR to FIN follow.
    Flags::from_bits(u16::from_be_bytes([header.slice()[12], header.slice()[13]]))
}

fn set_flags(header: &mut TcpHeader, flags: Flags) {
    header.fin = flags.contains(Flags::FIN);
    header.syn = flags.contains(Flags::SYN);
    header.rst = flags.contains(Flags::RST);
    header.psh = flags.contains(Flags::PSH);
    header.ack = flags.contains(Flags::ACK);
    header.urg = flags.contains(Flags::URG);
    header.ece = flags.contains(Flags::ECE);
    header.cwr = flags.contains(Flags::CWR);
    header.ns = flags.contains(Flags::AE);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(options: TcpOptions) -> Segment {
        Segment {
            source_port: 49152,
            destination_port: 80,
            seq: 0xdead_beef,
            ack: 17,
            flags: Flags::ACK.union(Flags::PSH),
            window: 0xffff,
            checksum_offset: 0,
            identification: 0,
            options,
            payload: Payload::Synthetic(3),
        }
    }

    fn four_blocks() -> ArrayVec<SackBlock, 4> {
        let block = |left| SackBlock {
            left,
            right: left + 1,
        };
        (0..4).map(block).collect()
    }

    #[test]
    fn sizes_are_those_of_linux_and_ns2() {
        let block = SackBlock { left: 1, right: 2 };
        let timestamps = Some(Timestamps { value: 1, echo: 2 });
        let blocks = |count: usize| core::iter::repeat_n(block, count).collect();
        for (options, length) in [
            (TcpOptions::default(), 20),
            (
                TcpOptions {
                    timestamps,
                    ..TcpOptions::default()
                },
                32,
            ),
            (
                TcpOptions {
                    sack: blocks(3),
                    ..TcpOptions::default()
                },
                48,
            ),
            (
                TcpOptions {
                    timestamps,
                    sack: blocks(3),
                    ..TcpOptions::default()
                },
                60,
            ),
            (
                TcpOptions {
                    mss: Some(1460),
                    window_scale: Some(7),
                    sack_permitted: true,
                    timestamps,
                    ..TcpOptions::default()
                },
                40,
            ),
        ] {
            let segment = segment(options);
            assert_eq!(segment.header_len(), length);
            assert_eq!(
                segment.to_bytes(Checksum::Ignored).unwrap().len(),
                length + 3
            );
        }
    }

    #[test]
    fn options_that_only_fit_without_alignment_are_packed() {
        let options = TcpOptions {
            window_scale: Some(7),
            sack_permitted: true,
            sack: four_blocks(),
            ..TcpOptions::default()
        };
        let segment = segment(options);
        let bytes = segment.to_bytes(Checksum::Ignored).unwrap();
        assert_eq!(bytes.len(), 63);
        assert_eq!(Segment::parse(&bytes, Checksum::Ignored), Ok(segment));
    }

    #[test]
    fn too_many_options_are_an_error() {
        let options = TcpOptions {
            timestamps: Some(Timestamps { value: 1, echo: 2 }),
            sack: four_blocks(),
            ..TcpOptions::default()
        };
        let mut out = vec![1];
        let error = segment(options).emit(Checksum::Ignored, &mut out);
        assert_eq!(error, Err(EmitError::OptionsTooLong { length: 44 }));
        assert_eq!(out, [1]);
    }

    #[test]
    fn unknown_options_are_skipped() {
        // Fast open cookie, NOP, MSS of a wrong length, MSS, end, garbage.
        let space = [34, 4, 9, 9, 1, 2, 3, 0, 2, 4, 5, 180, 0, 8, 10, 1];
        let expected = TcpOptions {
            mss: Some(1460),
            ..TcpOptions::default()
        };
        assert_eq!(TcpOptions::parse(&space), expected);
        for nonsense in [
            &[3u8, 0, 2, 4][..],
            &[253, 1, 1, 1],
            &[253, 9, 1, 1],
            &[253],
        ] {
            assert_eq!(TcpOptions::parse(nonsense), TcpOptions::default());
        }
    }

    #[test]
    fn faults_have_an_offset() {
        let bytes = segment(TcpOptions::default())
            .to_bytes(Checksum::Ignored)
            .unwrap();
        let short = Segment::parse(&bytes.slice(..19), Checksum::Ignored).unwrap_err();
        assert_eq!(
            short,
            ParseError::TooShort {
                needed: 20,
                length: 19
            }
        );
        assert_eq!(short.offset(), 19);
        let mut wrong = bytes.to_vec();
        wrong[12] = 0x40;
        let error = Segment::parse(&wrong.into(), Checksum::Ignored).unwrap_err();
        assert_eq!(
            (error, error.offset()),
            (ParseError::DataOffset { words: 4 }, 12)
        );
    }
}
