//! What a packet carries for the application.

use bytes::Bytes;

/// Application data of a packet.
///
/// A simulation that cares only for sizes carries [`Payload::Synthetic`]: nothing is stored. On
/// the wire a synthetic payload is that many zero bytes.
#[derive(Clone, Debug)]
pub enum Payload {
    /// This many bytes, whose values do not matter (zeros on the wire).
    Synthetic(u32),
    /// These bytes.
    Bytes(Bytes),
}

impl Payload {
    /// No data.
    pub const EMPTY: Self = Self::Synthetic(0);

    /// Length in bytes.
    pub fn len(&self) -> usize {
        match self {
            Self::Synthetic(length) => *length as usize,
            Self::Bytes(bytes) => bytes.len(),
        }
    }

    /// Whether there is no data.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The data as bytes; allocates where the payload is synthetic.
    pub fn to_bytes(&self) -> Bytes {
        match self {
            Self::Synthetic(length) => Bytes::from(vec![0; *length as usize]),
            Self::Bytes(bytes) => bytes.clone(),
        }
    }
}

impl Default for Payload {
    fn default() -> Self {
        Self::EMPTY
    }
}

/// Equal when the bytes on the wire are equal.
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
