//! Values derived from a listener's secret.

use core::fmt;

use skywave_wire::dccp::SeqNo;

/// A listener's secret: 256 bits that nobody can guess, drawn when a program starts.
///
/// Initial sequence numbers, the connections' random generators and the keys of Init Cookies are
/// derived from it.
#[derive(Clone)]
pub struct Secret([u8; 32]);

impl Secret {
    /// Creates a secret from bytes that must come from a cryptographic source.
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Derives 256 bits from the secret, the `purpose` and all `parts`.
    pub(super) fn derive(&self, purpose: &str, parts: &[&[u8]]) -> [u8; 32] {
        keyed_hash(&self.0, purpose, parts).into()
    }

    /// Returns the initial sequence number of a server that answers a Request numbered `request`.
    ///
    /// As in RFC 6528, it is a secret function of addresses and ports plus an increasing number,
    /// here the Request's own. Each retransmitted Request therefore gets the next number (RFC 4340
    /// section 8.1.3) without any state.
    pub(super) fn initial_number(&self, peer: &[u8], ports: [u16; 2], request: SeqNo) -> SeqNo {
        let [remote, local] = ports.map(u16::to_be_bytes);
        let hash = self.derive("initial sequence number", &[peer, &remote, &local]);
        let [a, b, c, d, e, f, ..] = hash;
        SeqNo::new(u64::from_be_bytes([0, 0, a, b, c, d, e, f])).add(request.get())
    }
}

/// Hides the value from logs.
impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// Hashes `parts` with BLAKE3 as a keyed hash. Each part is preceded by its length, so that
/// different lists of parts never hash the same bytes.
pub(super) fn keyed_hash(key: &[u8; 32], purpose: &str, parts: &[&[u8]]) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new_keyed(key);
    for part in [purpose.as_bytes()].iter().chain(parts) {
        hasher.update(&(part.len() as u64).to_be_bytes());
        hasher.update(part);
    }
    hasher.finalize()
}
