//! Encodes and decodes DCCP packets (RFC 4340 sections 5 and 9).

use bytes::{Buf, Bytes};

use super::error::bounded;
use super::option_codec;
use super::over_ip::{IP_PROTOCOL, MAX_PACKET, fill_in};
use super::{
    DataHeader, EmitError, Kind, OptionList, Packet, PacketType, ParseError, ResetCode, SeqNo,
    ServiceCode,
};
use crate::Payload;
use crate::checksum::{Checksum, internet_checksum};

/// Data Offset counts 32-bit words.
const WORD: usize = 4;
/// Data Offset has eight bits.
const MAX_HEADER: usize = 255 * WORD;
/// The lengths of the generic header with 24-bit and 48-bit sequence numbers.
const SHORT_HEADER: usize = 12;
const EXTENDED_HEADER: usize = 16;

impl PacketType {
    /// Returns the type with this number, or `None` for reserved ones.
    pub const fn from_number(number: u8) -> Option<Self> {
        Some(match number {
            0 => Self::Request,
            1 => Self::Response,
            2 => Self::Data,
            3 => Self::Ack,
            4 => Self::DataAck,
            5 => Self::CloseReq,
            6 => Self::Close,
            7 => Self::Reset,
            8 => Self::Sync,
            9 => Self::SyncAck,
            10 => Self::Listen,
            _ => return None,
        })
    }

    /// Returns whether X may be 0, and sequence numbers 24 bits long: Data, Ack and DataAck
    /// (section 5.1).
    pub const fn allows_short_numbers(self) -> bool {
        matches!(self, Self::Data | Self::Ack | Self::DataAck)
    }

    /// Returns the length of the header without options, in bytes.
    pub const fn fixed_header_len(self, extended: bool) -> usize {
        let generic = if extended {
            EXTENDED_HEADER
        } else {
            SHORT_HEADER
        };
        let acknowledgement = if extended { 8 } else { 4 };
        generic
            + match self {
                Self::Data => 0,
                Self::Request | Self::Listen => 4,
                Self::Ack
                | Self::DataAck
                | Self::CloseReq
                | Self::Close
                | Self::Sync
                | Self::SyncAck => acknowledgement,
                Self::Response | Self::Reset => acknowledgement + 4,
            }
    }
}

/// Returns the number of data bytes covered by the checksum (section 9.2); `Err` contains how many
/// CsCov asks for.
fn coverage(cscov: u8, data: usize) -> Result<usize, usize> {
    let covered = match cscov {
        0 => return Ok(data),
        _ => (usize::from(cscov) - 1) * WORD,
    };
    if covered > data {
        Err(covered)
    } else {
        Ok(covered)
    }
}

impl Packet {
    /// Returns the length of the header in bytes: fixed part, options and padding.
    #[inline]
    pub fn header_len(&self) -> usize {
        let fixed = self.kind.packet_type().fixed_header_len(self.extended);
        if self.options.is_empty() {
            return fixed;
        }
        let options = self.options.iter().map(super::DccpOption::encoded_len);
        fixed + options.sum::<usize>().next_multiple_of(WORD)
    }

    /// Returns the length of the packet without IP, in bytes: header and data.
    #[inline]
    pub fn encoded_len(&self) -> usize {
        self.header_len() + self.payload.len()
    }

    /// Decodes a packet, which must fill `bytes`; the payload shares them.
    ///
    /// With [`Checksum::Over`] the checksum is verified. Reserved bits are ignored, options never
    /// cause errors (see [`DccpOption`](super::DccpOption)), and the data area is kept for every
    /// type.
    ///
    /// # Errors
    ///
    /// The packet must be dropped (RFC 4340 section 8.5, step 1): see [`ParseError`].
    pub fn parse(bytes: &Bytes, checksum: Checksum) -> Result<Self, ParseError> {
        Self::read(bytes.clone(), checksum)
    }

    /// Decodes a packet like [`parse`](Self::parse), but takes ownership of the bytes, which become
    /// the payload.
    ///
    /// # Errors
    ///
    /// As for [`parse`](Self::parse).
    pub fn read(mut bytes: Bytes, checksum: Checksum) -> Result<Self, ParseError> {
        let length = bytes.len();
        let Some((generic, _)) = bytes.split_first_chunk::<SHORT_HEADER>() else {
            return Err(ParseError::TooShort { length });
        };
        let [s0, s1, d0, d1, offset, cc, c0, c1, type_x, n0, n1, n2] = *generic;

        let number = type_x >> 1 & 0x0f;
        let packet_type =
            PacketType::from_number(number).ok_or(ParseError::ReservedType { number })?;
        let extended = type_x & 1 == 1;
        if !extended && !packet_type.allows_short_numbers() {
            return Err(ParseError::ShortNumbers { packet_type });
        }
        let offset = usize::from(offset) * WORD;
        let minimum = packet_type.fixed_header_len(extended);
        if offset < minimum {
            return Err(ParseError::DataOffsetTooSmall {
                packet_type,
                offset,
                minimum,
            });
        }
        let Some((header, data)) = bytes.split_at_checked(offset) else {
            return Err(ParseError::DataOffsetTooLarge { offset, length });
        };
        let cscov = cc & 0x0f;
        let covered = coverage(cscov, data.len()).map_err(|covered| ParseError::Coverage {
            cscov,
            covered,
            data: data.len(),
        })?;
        if let Checksum::Over(addresses) = checksum {
            // Zero for a correct packet, otherwise the difference from the correct checksum.
            let wrong = internet_checksum(
                addresses,
                IP_PROTOCOL,
                length as u32,
                &bytes[..offset + covered],
            );
            if wrong != 0 {
                let found = u16::from_be_bytes([c0, c1]);
                return Err(ParseError::Checksum {
                    found,
                    computed: ones_add(found, wrong),
                });
            }
        }

        let mut fields = Fields {
            header,
            at: SHORT_HEADER,
        };
        let seq = if extended {
            // A reserved byte, then the number.
            u64::from(u16::from_be_bytes([n1, n2])) << 32 | u64::from(fields.u32())
        } else {
            u64::from(u32::from_be_bytes([0, n0, n1, n2]))
        };
        let kind = parse_kind(packet_type, extended, fields);
        let options = match &header[minimum..] {
            [] => OptionList::new(),
            space => option_codec::parse(space),
        };
        let payload = if data.is_empty() {
            Payload::EMPTY
        } else {
            bytes.advance(offset);
            Payload::Bytes(bytes)
        };
        Ok(Self {
            source_port: u16::from_be_bytes([s0, s1]),
            destination_port: u16::from_be_bytes([d0, d1]),
            ccval: cc >> 4,
            cscov,
            extended,
            seq: SeqNo::new(seq),
            kind,
            options,
            payload,
        })
    }

    /// Appends the encoded packet to `out`.
    ///
    /// Reserved bits are zero. If `extended` is false, the low 24 bits of the sequence and
    /// acknowledgement numbers are written.
    ///
    /// # Errors
    ///
    /// A field does not fit the header; `out` is unchanged.
    #[inline(always)]
    pub fn emit(&self, checksum: Checksum, out: &mut Vec<u8>) -> Result<(), EmitError> {
        match DataHeader::of(self) {
            Some(header) => header.emit(&self.payload, checksum, out),
            None => self.emit_whole(checksum, out),
        }
    }

    #[inline(never)]
    fn emit_whole(&self, checksum: Checksum, out: &mut Vec<u8>) -> Result<(), EmitError> {
        let start = out.len();
        let result = self.emit_from(start, checksum, out);
        if result.is_err() {
            out.truncate(start);
        }
        result
    }

    /// Returns the encoded packet.
    ///
    /// # Errors
    ///
    /// As for [`Packet::emit`].
    pub fn to_bytes(&self, checksum: Checksum) -> Result<Bytes, EmitError> {
        let mut out = Vec::with_capacity(self.encoded_len());
        self.emit(checksum, &mut out)?;
        Ok(out.into())
    }

    fn emit_from(
        &self,
        start: usize,
        checksum: Checksum,
        out: &mut Vec<u8>,
    ) -> Result<(), EmitError> {
        let packet_type = self.kind.packet_type();
        let header_len = self.header_len();
        let covered = self.check(header_len)?;
        out.reserve(header_len + self.payload.len());

        // The generic header in two words. The second one contains type and X, a reserved byte and
        // the number; with short numbers only its first half is used: type, X and 24 bits.
        let offset = (header_len / WORD) as u64;
        let first = u64::from(self.source_port) << 48
            | u64::from(self.destination_port) << 32
            | offset << 24
            | u64::from(self.ccval) << 20
            | u64::from(self.cscov) << 16;
        let type_x = u64::from(packet_type as u8) << 1 | u64::from(self.extended);
        let second = if self.extended {
            type_x << 56 | self.seq.get()
        } else {
            type_x << 56 | u64::from(self.seq.short()) << 32
        };
        let generic = (u128::from(first) << 64 | u128::from(second)).to_be_bytes();
        if self.extended {
            out.extend_from_slice(&generic);
        } else {
            out.extend_from_slice(&generic[..SHORT_HEADER]);
        }
        if let Some(ack) = self.kind.ack() {
            if self.extended {
                out.extend_from_slice(&ack.get().to_be_bytes());
            } else {
                out.extend_from_slice(&ack.short().to_be_bytes());
            }
        }
        match self.kind {
            Kind::Request { service }
            | Kind::Response { service, .. }
            | Kind::Listen { service } => {
                out.extend_from_slice(&service.0.to_be_bytes());
            }
            Kind::Reset {
                code,
                data: [data1, data2, data3],
                ..
            } => {
                out.extend_from_slice(&[code.0, data1, data2, data3]);
            }
            _ => {}
        }
        if !self.options.is_empty() {
            for option in &self.options {
                option.write(out)?;
            }
            out.resize(start + header_len, 0);
        }
        self.payload.emit(out);

        if let Checksum::Over(addresses) = checksum {
            fill_in(addresses, &mut out[start..], header_len + covered);
        }
        Ok(())
    }

    /// Checks that all lengths and fields fit. Returns how many data bytes the checksum covers.
    fn check(&self, header_len: usize) -> Result<usize, EmitError> {
        let packet_type = self.kind.packet_type();
        bounded("CCVal", u64::from(self.ccval), 15)?;
        bounded("CsCov", u64::from(self.cscov), 15)?;
        if !self.extended && !packet_type.allows_short_numbers() {
            return Err(EmitError::ShortNumbers { packet_type });
        }
        if packet_type == PacketType::Listen && (self.ccval, self.cscov) != (0, 0) {
            return Err(EmitError::ListenFields);
        }
        if header_len > MAX_HEADER {
            let fixed = packet_type.fixed_header_len(self.extended);
            return Err(EmitError::OptionsTooLong {
                packet_type,
                length: header_len - fixed,
                maximum: MAX_HEADER - fixed,
            });
        }
        let length = header_len + self.payload.len();
        if length > MAX_PACKET {
            return Err(EmitError::PacketTooLong { length });
        }
        let data = self.payload.len();
        coverage(self.cscov, data).map_err(|covered| EmitError::Coverage {
            cscov: self.cscov,
            covered,
            data,
        })
    }
}

/// Returns the one's complement sum.
fn ones_add(a: u16, b: u16) -> u16 {
    let (sum, carry) = a.overflowing_add(b);
    sum + u16::from(carry)
}

/// Reads the fields after the generic header. The caller has checked that they are present.
struct Fields<'a> {
    header: &'a [u8],
    at: usize,
}

impl Fields<'_> {
    fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let bytes = self
            .header
            .get(self.at..)
            .and_then(|rest| rest.first_chunk().copied());
        debug_assert!(bytes.is_some(), "Data Offset has been checked");
        self.at += N;
        bytes.unwrap_or([0; N])
    }

    fn u32(&mut self) -> u32 {
        u32::from_be_bytes(self.bytes())
    }

    fn ack(&mut self, extended: bool) -> SeqNo {
        if extended {
            // 16 reserved bits, which SeqNo::new drops, then the number.
            SeqNo::new(u64::from_be_bytes(self.bytes()))
        } else {
            SeqNo::new(u64::from(self.u32() & 0xff_ffff))
        }
    }
}

fn parse_kind(packet_type: PacketType, extended: bool, mut fields: Fields<'_>) -> Kind {
    match packet_type {
        PacketType::Request => Kind::Request {
            service: ServiceCode(fields.u32()),
        },
        PacketType::Listen => Kind::Listen {
            service: ServiceCode(fields.u32()),
        },
        PacketType::Data => Kind::Data,
        PacketType::Response => {
            let ack = fields.ack(extended);
            Kind::Response {
                ack,
                service: ServiceCode(fields.u32()),
            }
        }
        PacketType::Ack => Kind::Ack {
            ack: fields.ack(extended),
        },
        PacketType::DataAck => Kind::DataAck {
            ack: fields.ack(extended),
        },
        PacketType::CloseReq => Kind::CloseReq {
            ack: fields.ack(extended),
        },
        PacketType::Close => Kind::Close {
            ack: fields.ack(extended),
        },
        PacketType::Sync => Kind::Sync {
            ack: fields.ack(extended),
        },
        PacketType::SyncAck => Kind::SyncAck {
            ack: fields.ack(extended),
        },
        PacketType::Reset => {
            let ack = fields.ack(extended);
            let [code, data @ ..] = fields.bytes::<4>();
            Kind::Reset {
                ack,
                code: ResetCode(code),
                data,
            }
        }
    }
}
