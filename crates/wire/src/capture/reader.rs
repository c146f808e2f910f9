//! Reading captures.

use bytes::Bytes;
use pcap_file::pcap::PcapParser;
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::{Block, PcapNgParser};
use pcap_file::{Endianness, PcapError, TsResolution};
use skywave_units::Instant;

use super::{CaptureError, Frame, LinkType};

/// The first bytes of a pcapng file, in either byte order.
const SECTION_HEADER: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];
/// The first bytes of a pcap file: microseconds and nanoseconds, in both byte orders.
const PCAP_MAGIC: [[u8; 4]; 4] = [
    [0xa1, 0xb2, 0xc3, 0xd4],
    [0xd4, 0xc3, 0xb2, 0xa1],
    [0xa1, 0xb2, 0x3c, 0x4d],
    [0x4d, 0x3c, 0xb2, 0xa1],
];
const NANOS_PER_SEC: u128 = 1_000_000_000;

/// The frames of a pcapng or classic pcap capture in memory.
///
/// The iterator ends at the first fault: a truncated or corrupt capture yields the frames before
/// the fault, then one error. Blocks without a frame are skipped.
pub struct Reader {
    bytes: Bytes,
    offset: usize,
    format: Format,
}

enum Format {
    Pcapng(PcapNgParser),
    Pcap(PcapParser),
    /// The end or a fault was reached.
    Ended,
}

impl Reader {
    /// Starts reading. `bytes` is the whole file; frames share it.
    ///
    /// # Errors
    ///
    /// [`CaptureError::Format`] if it is not a capture, other errors for a faulty header.
    pub fn new(bytes: Bytes) -> Result<Self, CaptureError> {
        let magic = bytes.first_chunk::<4>().ok_or(CaptureError::Format)?;
        let header = |error| fault(error, 0, bytes.len());
        let (rest, format) = if *magic == SECTION_HEADER {
            let (rest, parser) = PcapNgParser::new(&bytes).map_err(header)?;
            (rest.len(), Format::Pcapng(parser))
        } else if PCAP_MAGIC.contains(magic) {
            let (rest, parser) = PcapParser::new(&bytes).map_err(header)?;
            (rest.len(), Format::Pcap(parser))
        } else {
            return Err(CaptureError::Format);
        };
        Ok(Self {
            offset: bytes.len() - rest,
            bytes,
            format,
        })
    }

    /// Reads the next block or record. Returns the number of bytes left after it, and its frame;
    /// `None` if it contains no frame.
    fn step(&mut self) -> Result<(usize, Option<Frame>), CaptureError> {
        let source = &self.bytes[self.offset..];
        let fault = |error| fault(error, self.offset, source.len());
        match &mut self.format {
            Format::Pcapng(parser) => {
                let (rest, block) = parser.next_block(source).map_err(fault)?;
                let frame = pcapng_frame(&block, parser, &self.bytes)
                    .map_err(|reason| corrupt(self.offset, reason))?;
                Ok((rest.len(), frame))
            }
            Format::Pcap(parser) => {
                let (rest, record) = parser.next_raw_packet(source).map_err(fault)?;
                let header = parser.header();
                let (unit, limit) = match header.ts_resolution {
                    TsResolution::MicroSecond => (1_000, 1_000_000),
                    TsResolution::NanoSecond => (1, 1_000_000_000),
                };
                if record.ts_frac >= limit {
                    return Err(corrupt(
                        self.offset,
                        "the fraction of a timestamp is a second or more",
                    ));
                }
                let frame = Frame {
                    time: Instant::from_nanos(
                        u64::from(record.ts_sec) * NANOS_PER_SEC as u64
                            + u64::from(record.ts_frac) * unit,
                    ),
                    link: LinkType(header.datalink.into()),
                    original_len: record.orig_len,
                    bytes: self.bytes.slice_ref(&record.data),
                };
                Ok((rest.len(), Some(frame)))
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
                Ok((rest, frame)) => {
                    self.offset = self.bytes.len() - rest;
                    if let Some(frame) = frame {
                        return Some(Ok(frame));
                    }
                }
                Err(error) => {
                    self.format = Format::Ended;
                    return Some(Err(error));
                }
            }
        }
        None
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
            .finish()
    }
}

fn fault(error: PcapError, offset: usize, length: usize) -> CaptureError {
    match error {
        PcapError::IncompleteBuffer => CaptureError::Truncated { offset, length },
        error => corrupt(offset, error.to_string()),
    }
}

fn corrupt(offset: usize, reason: impl Into<String>) -> CaptureError {
    CaptureError::Corrupt {
        offset,
        reason: reason.into(),
    }
}

/// Reads the frame of an Enhanced, Simple or (obsolete) Packet Block.
fn pcapng_frame(
    block: &Block<'_>,
    parser: &PcapNgParser,
    bytes: &Bytes,
) -> Result<Option<Frame>, &'static str> {
    let (interface, ticks, original_len, data) = match block {
        // The parser returns the raw count of the interface's ticks as nanoseconds.
        Block::EnhancedPacket(block) => {
            let ticks = block.timestamp.as_nanos();
            (
                block.interface_id as usize,
                ticks,
                block.original_len,
                &block.data,
            )
        }
        Block::Packet(block) => {
            // The high half comes first in either byte order, but the parser reads a single number
            // of 64 bits.
            let ticks = match parser.section().endianness {
                Endianness::Big => block.timestamp,
                Endianness::Little => block.timestamp.rotate_left(32),
            };
            let ticks = u128::from(ticks);
            (
                usize::from(block.interface_id),
                ticks,
                block.original_len,
                &block.data,
            )
        }
        Block::SimplePacket(block) => (0, 0, block.original_len, &block.data),
        _ => return Ok(None),
    };
    let Some(interface) = parser.interfaces().get(interface) else {
        return Err("a packet refers to an unknown interface");
    };
    let mut data: &[u8] = data;
    if matches!(block, Block::SimplePacket(_)) {
        // The block has no captured length: anything beyond the frame's length, or the interface's
        // limit, is padding.
        let limit = if interface.snaplen == 0 {
            u32::MAX
        } else {
            interface.snaplen
        };
        data = &data[..data.len().min(original_len.min(limit) as usize)];
    }
    let time = Clock::of(interface)
        .time(ticks)
        .ok_or("a timestamp is out of range")?;
    let link = LinkType(interface.linktype.into());
    Ok(Some(Frame {
        time,
        link,
        original_len,
        bytes: bytes.slice_ref(data),
    }))
}

/// The clock of an interface.
struct Clock {
    ticks_per_sec: u128,
    offset_secs: u64,
}

impl Clock {
    fn of(interface: &InterfaceDescriptionBlock<'_>) -> Self {
        let mut clock = Self {
            ticks_per_sec: 1_000_000,
            offset_secs: 0,
        };
        for option in &interface.options {
            match *option {
                // The high bit selects powers of two or ten. Powers that do not fit 128 bits would
                // make all times zero anyway.
                InterfaceDescriptionOption::IfTsResol(resolution) => {
                    let exponent = u32::from(resolution & 0x7f);
                    let base: u128 = if resolution & 0x80 == 0 { 10 } else { 2 };
                    clock.ticks_per_sec = base.checked_pow(exponent).unwrap_or(u128::MAX);
                }
                InterfaceDescriptionOption::IfTsOffset(secs) => clock.offset_secs = secs,
                _ => {}
            }
        }
        clock
    }

    fn time(&self, ticks: u128) -> Option<Instant> {
        // Ticks are below 2^64, so the product is below 2^94.
        let nanos = u64::try_from(ticks * NANOS_PER_SEC / self.ticks_per_sec).ok()?;
        let offset = self.offset_secs.checked_mul(NANOS_PER_SEC as u64)?;
        nanos.checked_add(offset).map(Instant::from_nanos)
    }
}

#[cfg(test)]
mod tests {
    use pcap_file::pcapng::PcapNgWriter;
    use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
    use pcap_file::pcapng::blocks::packet::PacketBlock;
    use pcap_file::pcapng::blocks::simple_packet::SimplePacketBlock;
    use pcap_file::pcapng::blocks::unknown::UnknownBlock;
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
                ((u128::from(TICKS) * NANOS_PER_SEC) >> 30) as u64,
            ),
            (vec![IfTsResol(127)], 0),
            (vec![IfTsResol(9), IfTsOffset(5)], TICKS + 5_000_000_000),
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
