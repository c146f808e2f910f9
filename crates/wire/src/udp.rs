//! UDP datagrams (RFC 768), which carry DCCP through middleboxes (RFC 6773).

use bytes::Bytes;
use etherparse::UdpHeader;
use thiserror::Error;

use crate::Payload;
use crate::checksum::{AddressPair, Checksum, internet_checksum};

/// UDP's IP protocol number.
pub const IP_PROTOCOL: u8 = 17;
/// The UDP port for DCCP-UDP (RFC 6773 section 5.1).
pub const DCCP_PORT: u16 = 6511;

/// The offset of the checksum.
const CHECKSUM: usize = 6;

/// A UDP datagram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// Port of the sender.
    pub source_port: u16,
    /// Port of the receiver.
    pub destination_port: u16,
    /// Data.
    pub payload: Payload,
}

/// Why bytes are not a UDP datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ParseError {
    /// Fewer bytes than a header.
    #[error("a UDP header takes 8 bytes, but only {length} are left")]
    TooShort {
        /// The number of bytes available.
        length: usize,
    },
    /// The Length field is inconsistent with the number of bytes.
    #[error("the Length field is {field}, but {length} bytes are left")]
    Length {
        /// The value of the field.
        field: u16,
        /// The number of bytes available.
        length: usize,
    },
    /// The checksum is wrong, or zero over IPv6.
    #[error("the checksum is {found:#06x}, which does not match the datagram")]
    Checksum {
        /// The checksum in the datagram.
        found: u16,
    },
}

impl ParseError {
    /// Returns the offset of the fault, in bytes from the start of the UDP header.
    pub const fn offset(&self) -> usize {
        match *self {
            Self::TooShort { length } => length,
            Self::Length { .. } => 4,
            Self::Checksum { .. } => CHECKSUM,
        }
    }
}

/// A datagram is longer than 65535 bytes, including its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the datagram takes {length} bytes, but at most 65535 fit; send less data")]
#[non_exhaustive]
pub struct TooLong {
    /// The length of the datagram in bytes.
    pub length: usize,
}

impl Datagram {
    /// The length of the header in bytes.
    pub const HEADER_LEN: usize = UdpHeader::LEN;

    /// Decodes the datagram at the start of `bytes`; the payload shares them. Bytes beyond the
    /// Length field are ignored.
    ///
    /// With [`Checksum::Over`] the checksum is verified. Zero means "none" over IPv4 and is an
    /// error over IPv6 (RFC 8200 section 8.1).
    ///
    /// # Errors
    ///
    /// The datagram must be dropped: see [`ParseError`].
    pub fn parse(bytes: &Bytes, checksum: Checksum) -> Result<Self, ParseError> {
        let length = bytes.len();
        let Ok((header, _)) = UdpHeader::from_slice(bytes) else {
            return Err(ParseError::TooShort { length });
        };
        let field = usize::from(header.length);
        if !(Self::HEADER_LEN..=length).contains(&field) {
            return Err(ParseError::Length {
                field: header.length,
                length,
            });
        }
        let datagram = bytes.slice(..field);
        if let Checksum::Over(addresses) = checksum {
            let optional = matches!(addresses, AddressPair::V4 { .. });
            let good = if header.checksum == 0 {
                optional
            } else {
                internet_checksum(addresses, IP_PROTOCOL, field as u32, &datagram) == 0
            };
            if !good {
                return Err(ParseError::Checksum {
                    found: header.checksum,
                });
            }
        }
        Ok(Self {
            source_port: header.source_port,
            destination_port: header.destination_port,
            payload: datagram.slice(Self::HEADER_LEN..).into(),
        })
    }

    /// Appends the encoded datagram to `out`.
    ///
    /// # Errors
    ///
    /// [`TooLong`]; `out` is unchanged.
    pub fn emit(&self, checksum: Checksum, out: &mut Vec<u8>) -> Result<(), TooLong> {
        let length = Self::HEADER_LEN + self.payload.len();
        let header = UdpHeader {
            source_port: self.source_port,
            destination_port: self.destination_port,
            length: u16::try_from(length).map_err(|_| TooLong { length })?,
            checksum: 0,
        };
        let start = out.len();
        out.extend_from_slice(&header.to_bytes());
        self.payload.emit(out);
        if let Checksum::Over(addresses) = checksum {
            let datagram = &mut out[start..];
            let sum = internet_checksum(addresses, IP_PROTOCOL, length as u32, datagram);
            // Zero means that there is no checksum, so write its other one's complement form.
            let sum = if sum == 0 { 0xffff } else { sum };
            datagram[CHECKSUM..CHECKSUM + 2].copy_from_slice(&sum.to_be_bytes());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v4() -> Checksum {
        Checksum::Over(AddressPair::V4 {
            source: [192, 0, 2, 1].into(),
            destination: [192, 0, 2, 2].into(),
        })
    }

    fn v6() -> Checksum {
        let source = "2001:db8::1".parse().unwrap();
        let destination = "2001:db8::2".parse().unwrap();
        Checksum::Over(AddressPair::V6 {
            source,
            destination,
        })
    }

    fn emitted(payload: &[u8], checksum: Checksum) -> Vec<u8> {
        let payload = Payload::from(payload.to_vec());
        let mut out = Vec::new();
        let datagram = Datagram {
            source_port: 5000,
            destination_port: DCCP_PORT,
            payload,
        };
        datagram.emit(checksum, &mut out).unwrap();
        out
    }

    #[test]
    fn every_flipped_bit_is_noticed() {
        for checksum in [v4(), v6()] {
            let good = emitted(b"odd", checksum);
            let parsed = Datagram::parse(&good.clone().into(), checksum).unwrap();
            assert_eq!(parsed.payload, b"odd".to_vec().into());
            for bit in 0..good.len() * 8 {
                let mut bad = good.clone();
                bad[bit / 8] ^= 1 << (bit % 8);
                assert!(Datagram::parse(&bad.into(), checksum).is_err(), "bit {bit}");
            }
        }
    }

    #[test]
    fn zero_is_no_checksum_over_ipv4_only() {
        let bytes = Bytes::from(emitted(b"data", Checksum::Ignored));
        assert!(Datagram::parse(&bytes, v4()).is_ok());
        assert_eq!(
            Datagram::parse(&bytes, v6()),
            Err(ParseError::Checksum { found: 0 })
        );
    }

    #[test]
    fn a_sum_of_zero_is_sent_as_ones() {
        // Two bytes of data for which the sum is zero.
        let almost = emitted(&[0, 0], v4());
        let payload = [almost[6], almost[7]];
        let bytes = emitted(&payload, v4());
        assert_eq!(bytes[6..8], [0xff, 0xff]);
        assert!(Datagram::parse(&bytes.into(), v4()).is_ok());
    }

    #[test]
    fn the_length_field_rules() {
        let mut bytes = emitted(b"data", Checksum::Ignored);
        bytes.extend_from_slice(b"trailer");
        let parsed = Datagram::parse(&bytes.clone().into(), Checksum::Ignored).unwrap();
        assert_eq!(parsed.payload, b"data".to_vec().into());
        bytes.truncate(11);
        let error = Datagram::parse(&bytes.clone().into(), Checksum::Ignored).unwrap_err();
        assert_eq!(
            (error, error.offset()),
            (
                ParseError::Length {
                    field: 12,
                    length: 11
                },
                4
            )
        );
        bytes.truncate(7);
        let error = Datagram::parse(&bytes.into(), Checksum::Ignored);
        assert_eq!(error, Err(ParseError::TooShort { length: 7 }));
        let payload = Payload::Synthetic(65528);
        let long = Datagram {
            source_port: 1,
            destination_port: 2,
            payload,
        };
        assert_eq!(
            long.emit(v4(), &mut Vec::new()),
            Err(TooLong { length: 65536 })
        );
    }
}
