//! Application data of packets.

use bytes::Bytes;

/// Application data of a packet.
///
/// Simulations in which only sizes matter use [`Payload::Synthetic`], which stores nothing. When
/// encoded, a synthetic payload is that many zero bytes.
#[derive(Clone, Debug)]
pub enum Payload {
    /// This many bytes with irrelevant values (zeros when encoded).
    Synthetic(u32),
    /// These bytes.
    Bytes(Bytes),
}

impl Payload {
    /// No data.
    pub const EMPTY: Self = Self::Synthetic(0);

    /// Returns the length in bytes.
    pub fn len(&self) -> usize {
        match self {
            Self::Synthetic(length) => *length as usize,
            Self::Bytes(bytes) => bytes.len(),
        }
    }

    /// Returns whether there is no data.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the data as bytes; allocates if the payload is synthetic.
    pub fn to_bytes(&self) -> Bytes {
        self.clone().into_bytes()
    }

    /// Returns the data as bytes; allocates if the payload is synthetic.
    pub fn into_bytes(self) -> Bytes {
        match self {
            Self::Synthetic(length) => Bytes::from(vec![0; length as usize]),
            Self::Bytes(bytes) => bytes,
        }
    }

    /// Copies the data, so that it does not keep a larger, shared buffer in memory.
    pub fn detach(&mut self) {
        if let Self::Bytes(bytes) = self {
            *bytes = Bytes::copy_from_slice(bytes);
        }
    }

    /// Appends the data to `out`.
    #[inline]
    pub(crate) fn emit(&self, out: &mut Vec<u8>) {
        match self {
            Self::Synthetic(length) => out.resize(out.len() + *length as usize, 0),
            Self::Bytes(bytes) => out.extend_from_slice(bytes),
        }
    }

    /// Returns the CRC-32c (Castagnoli) of the data, as in SCTP, or zero if there is no data.
    pub fn crc32c(&self) -> u32 {
        const ZEROS: [u8; 1024] = [0; 1024];
        match self {
            Self::Bytes(bytes) => crc32c::crc32c(bytes),
            Self::Synthetic(length) => {
                let (mut crc, mut left) = (0, *length as usize);
                while left > 0 {
                    let step = left.min(ZEROS.len());
                    crc = crc32c::crc32c_append(crc, &ZEROS[..step]);
                    left -= step;
                }
                crc
            }
        }
    }
}

impl Default for Payload {
    fn default() -> Self {
        Self::EMPTY
    }
}

/// Equal if the encoded bytes are equal.
impl PartialEq for Payload {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Synthetic(a), Self::Synthetic(b)) => a == b,
            (Self::Bytes(a), Self::Bytes(b)) => a == b,
            (Self::Synthetic(length), Self::Bytes(bytes))
            | (Self::Bytes(bytes), Self::Synthetic(length)) => {
                bytes.len() == *length as usize && bytes.iter().all(|&byte| byte == 0)
            }
        }
    }
}

impl Eq for Payload {}

impl From<Bytes> for Payload {
    fn from(bytes: Bytes) -> Self {
        Self::Bytes(bytes)
    }
}

impl From<Vec<u8>> for Payload {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Bytes(bytes.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // D9.3-1: RFC 3720 appendix B.4, and "the CRC-32c of zero bytes of data equals zero".
    #[test]
    fn d9_3_1_crc_vectors() {
        assert_eq!(Payload::EMPTY.crc32c(), 0);
        assert_eq!(Payload::from(b"123456789".to_vec()).crc32c(), 0xe306_9283);
        assert_eq!(Payload::Synthetic(32).crc32c(), 0x8a91_36aa);
        assert_eq!(Payload::from(vec![0xff; 32]).crc32c(), 0x62a8_ab43);
        assert_eq!(
            Payload::Synthetic(3000).crc32c(),
            Payload::from(vec![0; 3000]).crc32c()
        );
    }

    #[test]
    fn equal_when_the_bytes_are() {
        assert_eq!(Payload::Synthetic(3), Payload::from(vec![0, 0, 0]));
        assert_ne!(Payload::Synthetic(3), Payload::from(vec![0, 0, 1]));
        assert_ne!(Payload::Synthetic(3), Payload::from(vec![0, 0]));
        assert_eq!(Payload::Synthetic(2).to_bytes(), [0, 0].as_slice());
    }
}
