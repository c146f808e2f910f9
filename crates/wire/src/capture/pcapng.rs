//! The blocks of a pcapng file (draft-ietf-opsawg-pcapng).
//!
//! The pcap-file crate decodes every option, and stops at the first one that it cannot parse. Only
//! two options matter here, those of an interface's clock, so that a fault in any other loses no
//! frame.

use pcap_file::Endianness;
use skywave_units::Instant;

use super::skipped::{Flaw, Skipped};
use super::{CaptureError, LinkType};

/// The type of a Section Header Block, which reads the same in either byte order.
pub(super) const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const NAME_RESOLUTION: u32 = 4;
const INTERFACE_STATISTICS: u32 = 5;
const ENHANCED_PACKET: u32 = 6;

const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;
const IF_TSRESOL: u16 = 9;
const IF_TSOFFSET: u16 = 14;
const NANOS_PER_SEC: u128 = 1_000_000_000;

/// What is known about the section that is being read.
#[derive(Debug)]
pub(super) struct Section {
    order: Endianness,
    interfaces: Vec<Interface>,
}

/// A packet and where it was captured.
pub(super) struct Packet<'a> {
    pub(super) time: Instant,
    pub(super) link: LinkType,
    pub(super) original_len: u32,
    pub(super) data: &'a [u8],
}

#[derive(Clone, Copy, Debug)]
struct Interface {
    link: LinkType,
    /// The most bytes that are captured of a packet. 0: all.
    snaplen: u32,
    ticks_per_sec: u128,
    offset_secs: i64,
}

/// Why a block cannot be read.
#[derive(Debug)]
pub(super) enum Fault {
    Truncated,
    Corrupt(&'static str),
}

impl Fault {
    /// Returns the error for this fault in a block at `offset` with `length` bytes present.
    pub(super) fn at(self, offset: usize, length: usize) -> CaptureError {
        match self {
            Self::Truncated => CaptureError::Truncated { offset, length },
            Self::Corrupt(reason) => CaptureError::Corrupt {
                offset,
                reason: reason.to_owned(),
            },
        }
    }
}

const TOO_SHORT: Fault = Fault::Corrupt("a block is too short for its contents");

impl Section {
    /// Returns the state before the first block of a file, which has to be a section header.
    pub(super) const fn none() -> Self {
        Self {
            order: Endianness::Little,
            interfaces: Vec::new(),
        }
    }

    /// Reads the block with which `source` begins. Returns its length, and its packet if it has
    /// one. Notes in `skipped` what cannot be read, if it says nothing about packets.
    pub(super) fn read<'a>(
        &mut self,
        source: &'a [u8],
        skipped: &mut Skipped<'_>,
    ) -> Result<(usize, Option<Packet<'a>>), Fault> {
        let header: [u8; 12] = *source.first_chunk().ok_or(Fault::Truncated)?;
        let [a, b, c, d, ..] = header;
        let is_section = u32::from_be_bytes([a, b, c, d]) == SECTION_HEADER;
        if is_section {
            let mut magic = Fields::new(&header[8..], Endianness::Little);
            self.order = match magic.u32()? {
                BYTE_ORDER_MAGIC => Endianness::Little,
                other if other.swap_bytes() == BYTE_ORDER_MAGIC => Endianness::Big,
                _ => return Err(Fault::Corrupt("a section has no byte order")),
            };
        }
        let mut fields = Fields::new(&header, self.order);
        let (kind, length) = (fields.u32()?, fields.u32()? as usize);
        if length < 12 || !length.is_multiple_of(4) {
            return Err(Fault::Corrupt(
                "the length of a block is not a multiple of 4 from 12 on",
            ));
        }
        let (body, mut trailer) = source
            .get(8..length)
            .and_then(|rest| rest.split_at_checked(length - 12))
            .map(|(body, trailer)| (body, Fields::new(trailer, self.order)))
            .ok_or(Fault::Truncated)?;
        if trailer.u32()? as usize != length {
            return Err(Fault::Corrupt("the two lengths of a block differ"));
        }
        let packet = self.body(kind, Fields::new(body, self.order), skipped)?;
        Ok((length, packet))
    }

    fn body<'a>(
        &mut self,
        kind: u32,
        mut fields: Fields<'a>,
        skipped: &mut Skipped<'_>,
    ) -> Result<Option<Packet<'a>>, Fault> {
        match kind {
            SECTION_HEADER => {
                let _magic = fields.u32()?;
                if fields.u16()? != 1 {
                    return Err(Fault::Corrupt("the version of a section is not 1"));
                }
                let _minor = fields.u16()?;
                let _length = fields.take(8)?;
                self.interfaces.clear();
                fields.check_options(kind, skipped);
            }
            INTERFACE_DESCRIPTION => {
                let link = LinkType(fields.u16()?.into());
                let _reserved = fields.u16()?;
                let snaplen = fields.u32()?;
                let mut interface = Interface {
                    link,
                    snaplen,
                    ticks_per_sec: 1_000_000,
                    offset_secs: 0,
                };
                interface.set_clock(fields.list(), self.order);
                self.interfaces.push(interface);
                fields.check_options(kind, skipped);
            }
            ENHANCED_PACKET => {
                let interface = self.interface(fields.u32()?)?;
                return fields.packet(kind, interface, skipped).map(Some);
            }
            PACKET => {
                let interface = self.interface(fields.u16()?.into())?;
                let _drops = fields.u16()?;
                return fields.packet(kind, interface, skipped).map(Some);
            }
            SIMPLE_PACKET => {
                let interface = self.interface(0)?;
                let original_len = fields.u32()?;
                // The block has no captured length: anything beyond the frame's length, or the
                // interface's limit, is padding.
                let limit = match interface.snaplen {
                    0 => u32::MAX,
                    snaplen => snaplen,
                };
                let captured = fields.rest.len().min(original_len.min(limit) as usize);
                return Ok(Some(Packet {
                    time: Instant::ZERO,
                    link: interface.link,
                    original_len,
                    data: &fields.rest[..captured],
                }));
            }
            INTERFACE_STATISTICS => {
                let _interface_and_time = fields.take(12)?;
                fields.check_options(kind, skipped);
            }
            NAME_RESOLUTION => fields.check_options(kind, skipped),
            _ => {}
        }
        Ok(None)
    }

    fn interface(&self, id: u32) -> Result<Interface, Fault> {
        let interface = self.interfaces.get(id as usize).copied();
        interface.ok_or(Fault::Corrupt("a packet refers to an unknown interface"))
    }
}

impl Interface {
    /// Reads the options of the interface's clock. One of a wrong length leaves the default.
    fn set_clock(&mut self, options: List<'_>, order: Endianness) {
        for entry in options.flatten() {
            match (entry.code, entry.value) {
                // The high bit selects powers of two or ten. Powers that do not fit 128 bits would
                // make all times zero anyway.
                (IF_TSRESOL, &[resolution]) => {
                    let exponent = u32::from(resolution & 0x7f);
                    let base: u128 = if resolution & 0x80 == 0 { 10 } else { 2 };
                    self.ticks_per_sec = base.checked_pow(exponent).unwrap_or(u128::MAX);
                }
                (IF_TSOFFSET, value) => {
                    let Ok(value) = value.try_into() else {
                        continue;
                    };
                    self.offset_secs = match order {
                        Endianness::Big => i64::from_be_bytes(value),
                        Endianness::Little => i64::from_le_bytes(value),
                    };
                }
                _ => {}
            }
        }
    }

    fn time(&self, ticks: u64) -> Option<Instant> {
        // The product is below 2^94.
        let since_offset = u128::from(ticks) * NANOS_PER_SEC / self.ticks_per_sec;
        let offset = i128::from(self.offset_secs) * NANOS_PER_SEC as i128;
        let nanos = i128::try_from(since_offset).ok()? + offset;
        u64::try_from(nanos).ok().map(Instant::from_nanos)
    }
}

/// The fields of a block that are left to read.
#[derive(Clone, Copy)]
struct Fields<'a> {
    rest: &'a [u8],
    order: Endianness,
}

impl<'a> Fields<'a> {
    const fn new(rest: &'a [u8], order: Endianness) -> Self {
        Self { rest, order }
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], Fault> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(TOO_SHORT)?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or(TOO_SHORT)?;
        self.rest = rest;
        Ok(*taken)
    }

    fn u16(&mut self) -> Result<u16, Fault> {
        let bytes = self.array()?;
        Ok(match self.order {
            Endianness::Big => u16::from_be_bytes(bytes),
            Endianness::Little => u16::from_le_bytes(bytes),
        })
    }

    fn u32(&mut self) -> Result<u32, Fault> {
        let bytes = self.array()?;
        Ok(match self.order {
            Endianness::Big => u32::from_be_bytes(bytes),
            Endianness::Little => u32::from_le_bytes(bytes),
        })
    }

    /// Skips the bytes that fill up `length` to a multiple of four, as far as they are present.
    fn skip_padding(&mut self, length: usize) {
        let padding = length.next_multiple_of(4) - length;
        self.rest = self.rest.get(padding..).unwrap_or_default();
    }

    /// Reads an Enhanced Packet Block or an obsolete Packet Block from its timestamp on.
    fn packet(
        mut self,
        kind: u32,
        interface: Interface,
        skipped: &mut Skipped<'_>,
    ) -> Result<Packet<'a>, Fault> {
        // The high half comes first in either byte order.
        let ticks = u64::from(self.u32()?) << 32 | u64::from(self.u32()?);
        let captured_len = self.u32()? as usize;
        let original_len = self.u32()?;
        let data = self.take(captured_len)?;
        self.skip_padding(captured_len);
        self.check_options(kind, skipped);
        let time = interface
            .time(ticks)
            .ok_or(Fault::Corrupt("a timestamp is out of range"))?;
        Ok(Packet {
            time,
            link: interface.link,
            original_len,
            data,
        })
    }

    /// Returns the rest of the block: a list of options, or of names.
    const fn list(self) -> List<'a> {
        List { fields: self }
    }

    /// Notes what is wrong with the list at the end of a block of this kind.
    fn check_options(self, kind: u32, skipped: &mut Skipped<'_>) {
        for entry in self.list() {
            match entry {
                Ok(entry) => {
                    if let Some(flaw) = entry.flaw(kind) {
                        skipped.note(flaw);
                    }
                }
                Err(PastTheEnd) => skipped.note(Flaw::PastTheEnd),
            }
        }
    }
}

/// An option, or a name of a Name Resolution Block, which has the same format.
struct Entry<'a> {
    code: u16,
    value: &'a [u8],
}

/// An entry runs past the end of its block.
struct PastTheEnd;

/// A list of options. It ends with its block: opt_endofopt may be missing.
struct List<'a> {
    fields: Fields<'a>,
}

impl<'a> Iterator for List<'a> {
    type Item = Result<Entry<'a>, PastTheEnd>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut fields = self.fields;
        // Until the end of this entry is known, nothing follows it.
        self.fields.rest = &[];
        if fields.rest.is_empty() {
            return None;
        }
        let mut read = || {
            let (code, length) = (fields.u16()?, fields.u16()?);
            let value = fields.take(length.into())?;
            Ok::<_, Fault>(Entry { code, value })
        };
        match read() {
            Ok(Entry { code: 0, .. }) => None,
            Ok(entry) => {
                fields.skip_padding(entry.value.len());
                self.fields = fields;
                Some(Ok(entry))
            }
            Err(_) => Some(Err(PastTheEnd)),
        }
    }
}

impl Entry<'_> {
    /// Returns what is wrong with the entry of a block of this kind.
    fn flaw(&self, kind: u32) -> Option<Flaw> {
        if kind == NAME_RESOLUTION {
            return self.name_flaw();
        }
        let length = self.value.len();
        match (kind, self.code) {
            // Comments, and names of hardware, systems and interfaces.
            (_, 1) | (SECTION_HEADER, 2..=4) | (INTERFACE_DESCRIPTION, 2 | 3 | 12 | 15) => {
                text_flaw(self.value)
            }
            (INTERFACE_DESCRIPTION, IF_TSRESOL) => (length != 1).then_some(Flaw::Clock),
            (INTERFACE_DESCRIPTION, IF_TSOFFSET) => (length != 8).then_some(Flaw::Clock),
            _ => {
                let right = fixed_length(kind, self.code).unwrap_or(length);
                (length != right).then_some(Flaw::Length)
            }
        }
    }

    fn name_flaw(&self) -> Option<Flaw> {
        // IPv4, IPv6, EUI-48 and EUI-64 addresses, and then names.
        let address = match self.code {
            1 => 4,
            2 => 16,
            3 => 6,
            4 => 8,
            _ => return None,
        };
        match self.value.get(address..) {
            None => Some(Flaw::Length),
            Some(names) => text_flaw(names),
        }
    }
}

fn text_flaw(value: &[u8]) -> Option<Flaw> {
    core::str::from_utf8(value).is_err().then_some(Flaw::Text)
}

/// Returns the length of an option's value, if it is fixed.
const fn fixed_length(kind: u32, code: u16) -> Option<usize> {
    Some(match (kind, code) {
        // if_IPv4addr, if_IPv6addr, if_MACaddr, if_EUIaddr, if_speed
        (INTERFACE_DESCRIPTION, 4 | 7 | 8) => 8,
        (INTERFACE_DESCRIPTION, 5) => 17,
        (INTERFACE_DESCRIPTION, 6) => 6,
        // if_tzone, if_fcslen, if_txspeed, if_rxspeed
        (INTERFACE_DESCRIPTION, 10) => 4,
        (INTERFACE_DESCRIPTION, 13) => 1,
        (INTERFACE_DESCRIPTION, 16 | 17) => 8,
        // epb_flags, epb_dropcount, epb_packetid, epb_queue
        (ENHANCED_PACKET | PACKET, 2) => 4,
        (ENHANCED_PACKET, 4 | 5) => 8,
        (ENHANCED_PACKET, 6) => 4,
        // All counters and times of an interface.
        (INTERFACE_STATISTICS, 2..=8) => 8,
        _ => return None,
    })
}
