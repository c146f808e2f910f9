//! Reading captures.

use bytes::Bytes;
use pcap_file::pcap::PcapParser;
use pcap_file::{PcapError, TsResolution};
use skywave_units::Instant;

use super::pcapng::{SECTION_HEADER, Section};
use super::skipped::{Skipped, SkippedParts};
use super::{CaptureError, Frame, LinkType, gzip};

/// The first bytes of a pcap file: microseconds and nanoseconds, in both byte orders.
const PCAP_MAGIC: [[u8; 4]; 4] = [
    [0xa1, 0xb2, 0xc3, 0xd4],
    [0xd4, 0xc3, 0xb2, 0xa1],
    [0xa1, 0xb2, 0x3c, 0x4d],
    [0x4d, 0x3c, 0xb2, 0xa1],
];
/// The link type in the header of a pcap file; the bits above say whether frames end with a frame
/// check sequence, and how long it is (draft-ietf-opsawg-pcap).
const PCAP_LINK_TYPE: u32 = 0xffff;
const NANOS_PER_SEC: u64 = 1_000_000_000;

/// The frames of a pcapng or classic pcap capture in memory, which may be compressed with gzip.
///
/// The iterator ends at the first fault that may have cost a frame: a truncated or corrupt capture
/// yields the frames before the fault, then one error. Other faults are listed by
/// [`skipped`](Self::skipped). Blocks without a frame are skipped.
pub struct Reader {
    bytes: Bytes,
    offset: usize,
    format: Format,
    skipped: Vec<SkippedParts>,
    /// Why `bytes` is not the whole capture.
    gzip_fault: Option<CaptureError>,
}

enum Format {
    Pcapng(Section),
    Pcap(PcapParser),
    /// The end or a fault was reached.
    Ended,
}

impl Reader {
    /// Starts reading. `bytes` is the whole file; frames share it. A compressed file is uncompressed
    /// first, up to 1 GiB.
    ///
    /// # Errors
    ///
    /// [`CaptureError::Format`] if it is not a capture, other errors for a faulty header.
    pub fn new(bytes: Bytes) -> Result<Self, CaptureError> {
        if !bytes.starts_with(&gzip::MAGIC) {
            return Self::of_uncompressed(bytes);
        }
        let (bytes, gzip_fault) = gzip::uncompress(&bytes, gzip::MOST_BYTES);
        match Self::of_uncompressed(bytes) {
            Ok(reader) => Ok(Self {
                gzip_fault,
                ..reader
            }),
            Err(error) => Err(gzip_fault.unwrap_or(error)),
        }
    }

    fn of_uncompressed(bytes: Bytes) -> Result<Self, CaptureError> {
        let magic = *bytes.first_chunk::<4>().ok_or(CaptureError::Format)?;
        let mut skipped = Vec::new();
        let (offset, format) = if u32::from_be_bytes(magic) == SECTION_HEADER {
            let mut section = Section::none();
            let mut notes = Skipped {
                parts: &mut skipped,
                offset: 0,
            };
            let (length, _) = section
                .read(&bytes, &mut notes)
                .map_err(|fault| fault.at(0, bytes.len()))?;
            (length, Format::Pcapng(section))
        } else if PCAP_MAGIC.contains(&magic) {
            let (rest, parser) =
                PcapParser::new(&bytes).map_err(|error| pcap_fault(error, 0, bytes.len()))?;
            (bytes.len() - rest.len(), Format::Pcap(parser))
        } else {
            return Err(CaptureError::Format);
        };
        Ok(Self {
            offset,
            bytes,
            format,
            skipped,
            gzip_fault: None,
        })
    }

    /// Returns what was skipped so far because it violates the format, without loss of a frame: one
    /// item for each kind of flaw.
    pub fn skipped(&self) -> &[SkippedParts] {
        &self.skipped
    }

    /// Reads the next block or record. Returns its length and its frame; `None` if it contains no
    /// frame.
    fn step(&mut self) -> Result<(usize, Option<Frame>), CaptureError> {
        let source = &self.bytes[self.offset..];
        match &mut self.format {
            Format::Pcapng(section) => {
                let mut notes = Skipped {
                    parts: &mut self.skipped,
                    offset: self.offset,
                };
                let (length, packet) = section
                    .read(source, &mut notes)
                    .map_err(|fault| fault.at(self.offset, source.len()))?;
                let frame = packet.map(|packet| Frame {
                    time: packet.time,
                    link: packet.link,
                    original_len: packet.original_len,
                    bytes: self.bytes.slice_ref(packet.data),
                });
                Ok((length, frame))
            }
            Format::Pcap(parser) => {
                let (rest, record) = parser
                    .next_raw_packet(source)
                    .map_err(|error| pcap_fault(error, self.offset, source.len()))?;
                let header = parser.header();
                let (unit, limit) = match header.ts_resolution {
                    TsResolution::MicroSecond => (1_000, 1_000_000),
                    TsResolution::NanoSecond => (1, 1_000_000_000),
                };
                if record.ts_frac >= limit {
                    return Err(CaptureError::Corrupt {
                        offset: self.offset,
                        reason: "the fraction of a timestamp is a second or more".to_owned(),
                    });
                }
                let frame = Frame {
                    time: Instant::from_nanos(
                        u64::from(record.ts_sec) * NANOS_PER_SEC + u64::from(record.ts_frac) * unit,
                    ),
                    link: LinkType(u32::from(header.datalink) & PCAP_LINK_TYPE),
                    original_len: record.orig_len,
                    bytes: self.bytes.slice_ref(&record.data),
                };
                Ok((source.len() - rest.len(), Some(frame)))
            }
            Format::Ended => Ok((source.len(), None)),
        }
    }
}

impl Iterator for Reader {
    type Item = Result<Frame, CaptureError>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.offset < self.bytes.len() && !matches!(self.format, Format::Ended) {
            match self.step() {
                Ok((length, frame)) => {
                    self.offset += length;
                    if let Some(frame) = frame {
                        return Some(Ok(frame));
                    }
                }
                Err(error) => {
                    self.format = Format::Ended;
                    // Where a compressed file was cut, a record may be too.
                    return Some(Err(match error {
                        CaptureError::Truncated { .. } => self.gzip_fault.take().unwrap_or(error),
                        error => {
                            self.gzip_fault = None;
                            error
                        }
                    }));
                }
            }
        }
        self.gzip_fault.take().map(Err)
    }
}

impl core::fmt::Debug for Reader {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let format = match self.format {
            Format::Pcapng(_) => "pcapng",
            Format::Pcap(_) => "pcap",
            Format::Ended => "ended",
        };
        f.debug_struct("Reader")
            .field("format", &format)
            .field("offset", &self.offset)
            .finish_non_exhaustive()
    }
}

fn pcap_fault(error: PcapError, offset: usize, length: usize) -> CaptureError {
    match error {
        PcapError::IncompleteBuffer => CaptureError::Truncated { offset, length },
        error => CaptureError::Corrupt {
            offset,
            reason: error.to_string(),
        },
    }
}

#[cfg(test)]
mod tests {
    use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
    use pcap_file::pcapng::blocks::interface_description::{
        InterfaceDescriptionBlock, InterfaceDescriptionOption,
    };
    use pcap_file::pcapng::blocks::packet::PacketBlock;
    use pcap_file::pcapng::blocks::simple_packet::SimplePacketBlock;
    use pcap_file::pcapng::blocks::unknown::UnknownBlock;
    use pcap_file::pcapng::{Block, PcapNgWriter};
    use pcap_file::{DataLink, Endianness};

    use super::*;

    const TICKS: u64 = 0x0003_0000_0000 + 7;

    fn capture(
        endianness: Endianness,
        options: Vec<InterfaceDescriptionOption<'static>>,
        blocks: &[Block<'_>],
    ) -> Bytes {
        let mut writer = PcapNgWriter::with_endianness(Vec::new(), endianness).unwrap();
        let interface = InterfaceDescriptionBlock {
            linktype: DataLink::RAW,
            snaplen: 6,
            options,
        };
        writer.write_pcapng_block(interface).unwrap();
        for block in blocks {
            writer.write_block(block).unwrap();
        }
        writer.into_inner().into()
    }

    fn enhanced() -> Block<'static> {
        Block::EnhancedPacket(EnhancedPacketBlock {
            interface_id: 0,
            timestamp: core::time::Duration::from_nanos(TICKS),
            original_len: 9,
            data: b"packet".as_slice().into(),
            options: Vec::new(),
        })
    }

    #[test]
    fn interfaces_count_time_in_their_own_unit() {
        use InterfaceDescriptionOption::{IfTsOffset, IfTsResol};
        for (options, nanos) in [
            (vec![], TICKS * 1000),
            (vec![IfTsResol(6)], TICKS * 1000),
            (vec![IfTsResol(9)], TICKS),
            (vec![IfTsResol(12)], TICKS / 1000),
            (
                vec![IfTsResol(0x80 | 30)],
                ((u128::from(TICKS) * u128::from(NANOS_PER_SEC)) >> 30) as u64,
            ),
            (vec![IfTsResol(127)], 0),
            (vec![IfTsResol(9), IfTsOffset(5)], TICKS + 5_000_000_000),
            // The offset is signed; the library takes it for a number without a sign.
            (
                vec![IfTsResol(6), IfTsOffset(5_u64.wrapping_neg())],
                TICKS * 1000 - 5_000_000_000,
            ),
        ] {
            let bytes = capture(Endianness::Little, options, &[enhanced()]);
            let frame = Reader::new(bytes).unwrap().next().unwrap().unwrap();
            assert_eq!(frame.time, Instant::from_nanos(nanos));
        }
        let too_late = vec![IfTsResol(0), IfTsOffset(10_000_000_000)];
        let bytes = capture(Endianness::Little, too_late, &[enhanced()]);
        let error = Reader::new(bytes).unwrap().next().unwrap().unwrap_err();
        assert!(
            error.to_string().ends_with("a timestamp is out of range"),
            "{error}"
        );
    }

    #[test]
    fn every_kind_of_packet_block_gives_a_frame() {
        for endianness in [Endianness::Little, Endianness::Big] {
            let timestamp = match endianness {
                Endianness::Little => TICKS.rotate_left(32),
                Endianness::Big => TICKS,
            };
            let blocks = [
                enhanced(),
                Block::Unknown(UnknownBlock::new(0x0bad, 4, b"data")),
                Block::Packet(PacketBlock {
                    interface_id: 0,
                    drop_count: 0,
                    timestamp,
                    captured_len: 6,
                    original_len: 9,
                    data: b"packet".as_slice().into(),
                    options: Vec::new(),
                }),
                Block::SimplePacket(SimplePacketBlock {
                    original_len: 9,
                    data: b"packet".as_slice().into(),
                }),
            ];
            let bytes = capture(endianness, vec![], &blocks);
            let frames: Vec<_> = Reader::new(bytes)
                .unwrap()
                .collect::<Result<_, _>>()
                .unwrap();
            let times: Vec<_> = frames.iter().map(|frame| frame.time.as_nanos()).collect();
            assert_eq!(times, [TICKS * 1000, TICKS * 1000, 0]);
            for frame in frames {
                assert_eq!(frame.bytes, b"packet".as_slice());
                assert_eq!((frame.link, frame.original_len), (LinkType::RAW_IP, 9));
            }
        }
    }

    #[test]
    fn a_packet_needs_its_interface() {
        let section = PcapNgWriter::with_endianness(Vec::new(), Endianness::Little).unwrap();
        let mut bytes = section.into_inner();
        let offset = bytes.len();
        let with_interface = capture(Endianness::Little, vec![], &[]).len();
        bytes.extend_from_slice(
            &capture(Endianness::Little, vec![], &[enhanced()])[with_interface..],
        );
        let mut reader = Reader::new(bytes.into()).unwrap();
        let error = reader.next().unwrap().unwrap_err();
        assert!(
            matches!(error, CaptureError::Corrupt { .. }) && error.offset() == offset,
            "{error}"
        );
        assert!(reader.next().is_none());
    }
}
