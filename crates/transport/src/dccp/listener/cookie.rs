//! Init Cookies (RFC 4340 section 8.1.4): an authenticated copy of the Request, which the client
//! returns.

use std::collections::BTreeSet;

use bytes::Bytes;
use skywave_units::{Duration, Instant};
use skywave_wire::dccp::{DccpOption, Kind, OptionList, Packet};
use skywave_wire::{Checksum, Ecn, Payload};

use super::secret::{Secret, keyed_hash};

/// Bytes of the authentication tag at the end of a cookie.
const TAG: usize = 16;
/// Bytes in front of the Request: key generation and ECN bits, and the time.
const HEAD: usize = 1 + 8;
/// The most bytes in the value of one option (section 5.8).
const OPTION: usize = 253;
/// The most options per cookie. They fit a Response, and the client's echo, next to everything
/// else.
const OPTIONS: usize = 2;
/// The most cookies redeemed per key. The key is then replaced early, so that a flood of genuine
/// handshakes cannot exhaust memory either.
const SPENT_MAX: usize = 1 << 16;

type Tag = [u8; TAG];

/// Creates and verifies cookies.
///
/// A cookie contains the Request, as far as a server in RESPOND state would remember it, the time
/// and ECN bits of its arrival, and a tag that authenticates all of that together with the client's
/// address. It is not encrypted: it only tells the client what the client said.
///
/// Keys are derived from the secret and replaced once per lifetime; the previous key stays valid. A
/// cookie opens one connection; a replayed cookie opens nothing.
#[derive(Debug)]
pub(super) struct Cookies {
    secret: Secret,
    lifetime: Duration,
    current: Key,
    previous: Option<Key>,
}

struct Key {
    generation: u64,
    since: Instant,
    key: [u8; 32],
    /// Tags of redeemed cookies.
    spent: BTreeSet<Tag>,
}

impl core::fmt::Debug for Key {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Key")
            .field("generation", &self.generation)
            .field("since", &self.since)
            .field("spent", &self.spent.len())
            .finish_non_exhaustive()
    }
}

/// The contents of a valid cookie.
#[derive(Debug)]
pub(super) struct Remembered {
    /// The Request, without irrelevant options and data.
    pub(super) request: Packet,
    /// The ECN bits of the Request.
    pub(super) ecn: Ecn,
    /// When the Request arrived.
    pub(super) arrived: Instant,
    tag: Tag,
    generation: u64,
}

impl Cookies {
    pub(super) fn new(secret: Secret, lifetime: Duration) -> Self {
        let current = Key::new(&secret, 0, Instant::ZERO);
        Self {
            secret,
            lifetime,
            current,
            previous: None,
        }
    }

    /// Returns the options for a Response to `request`, which arrived from `peer` at `now`; `None`
    /// if the Request's options are too long for a cookie.
    pub(super) fn seal(
        &mut self,
        now: Instant,
        peer: &[u8],
        ecn: Ecn,
        request: &Packet,
    ) -> Option<Vec<DccpOption>> {
        self.rotate(now);
        let mut content = Vec::with_capacity(OPTION);
        content.push((self.current.generation as u8) << 2 | ecn.bits());
        content.extend(now.as_nanos().to_be_bytes());
        essence(request)
            .emit(Checksum::Ignored, &mut content)
            .ok()?;
        let tag = self.current.tag(peer, &content);
        content.extend(&tag.as_bytes()[..TAG]);
        let options: Vec<_> = content
            .chunks(OPTION)
            .map(|chunk| DccpOption::InitCookie(chunk.into()))
            .collect();
        (options.len() <= OPTIONS).then_some(options)
    }

    /// Returns the Request from the cookie in `packet` from `peer`; `None` if the cookie was
    /// forged, has expired or was already redeemed.
    pub(super) fn open(
        &mut self,
        now: Instant,
        peer: &[u8],
        packet: &Packet,
    ) -> Option<Remembered> {
        self.rotate(now);
        let mut cookie = Vec::new();
        for option in &packet.options {
            if let DccpOption::InitCookie(value) = option {
                cookie.extend_from_slice(value);
            }
        }
        if cookie.len() > OPTIONS * OPTION {
            return None;
        }
        let (content, tag) = cookie.split_last_chunk::<TAG>()?;
        let (head, request) = content.split_first_chunk::<HEAD>()?;
        let [first, time @ ..] = *head;
        let key = [Some(&self.current), self.previous.as_ref()]
            .into_iter()
            .flatten()
            .find(|key| (key.generation as u8) << 2 == first & !0b11)?;
        if !key.verifies(peer, content, tag) || key.spent.contains(tag) {
            return None;
        }
        let arrived = Instant::from_nanos(u64::from_be_bytes(time));
        if arrived > now || now - arrived > self.lifetime {
            return None;
        }
        let request = Packet::parse(&Bytes::copy_from_slice(request), Checksum::Ignored).ok()?;
        let same_ports = request.source_port == packet.source_port
            && request.destination_port == packet.destination_port;
        same_ports.then_some(Remembered {
            request,
            ecn: Ecn::from_bits(first),
            arrived,
            tag: *tag,
            generation: key.generation,
        })
    }

    /// Marks the cookie as redeemed.
    pub(super) fn spend(&mut self, now: Instant, cookie: &Remembered) {
        let key = [Some(&mut self.current), self.previous.as_mut()]
            .into_iter()
            .flatten()
            .find(|key| key.generation == cookie.generation);
        let Some(key) = key else { return };
        key.spent.insert(cookie.tag);
        if key.spent.len() >= SPENT_MAX {
            self.replace_key(now);
        }
    }

    fn rotate(&mut self, now: Instant) {
        if now - self.current.since < self.lifetime {
            return;
        }
        if now - self.current.since >= self.lifetime * 2 {
            // Everything sealed with the current key has expired.
            self.replace_key(now);
        }
        self.replace_key(now);
    }

    fn replace_key(&mut self, now: Instant) {
        let next = Key::new(&self.secret, self.current.generation + 1, now);
        self.previous = Some(core::mem::replace(&mut self.current, next));
    }
}

impl Key {
    fn new(secret: &Secret, generation: u64, since: Instant) -> Self {
        Self {
            generation,
            since,
            key: secret.derive("init cookie", &[&generation.to_be_bytes()]),
            spent: BTreeSet::new(),
        }
    }

    fn tag(&self, peer: &[u8], content: &[u8]) -> blake3::Hash {
        keyed_hash(&self.key, "tag", &[peer, content])
    }

    /// Compares in constant time, as [`blake3::Hash`] does.
    fn verifies(&self, peer: &[u8], content: &[u8], tag: &Tag) -> bool {
        let right = self.tag(peer, content);
        let mut given: [u8; 32] = right.into();
        given[..TAG].copy_from_slice(tag);
        right == given
    }
}

/// Returns what a server in RESPOND state remembers of a Request: its numbers, its feature
/// negotiation, and whether it carried data (represented by one byte).
fn essence(request: &Packet) -> Packet {
    let mut options = OptionList::new();
    let mut mandatory = false;
    for option in &request.options {
        match option {
            DccpOption::Mandatory => mandatory = true,
            DccpOption::Change { .. } | DccpOption::Confirm { .. } => {
                if mandatory {
                    options.push(DccpOption::Mandatory);
                }
                options.push(option.clone());
                mandatory = false;
            }
            _ => mandatory = false,
        }
    }
    debug_assert!(matches!(request.kind, Kind::Request { .. }));
    Packet {
        cscov: 0,
        options,
        payload: Payload::Synthetic(u32::from(!request.payload.is_empty())),
        ..request.clone()
    }
}

#[cfg(test)]
mod tests {
    use skywave_wire::dccp::{SeqNo, ServiceCode};

    use super::*;

    fn packet(kind: Kind, options: OptionList) -> Packet {
        Packet {
            source_port: 40_000,
            destination_port: 5_001,
            ccval: 0,
            cscov: 0,
            extended: true,
            seq: SeqNo::new(9),
            kind,
            options,
            payload: Payload::EMPTY,
        }
    }

    /// The memory for redeemed cookies is bounded however many handshakes complete within a
    /// lifetime, and no cookie opens a second connection.
    #[test]
    fn spent_cookies_are_bounded() {
        let mut cookies = Cookies::new(Secret::new([3; 32]), Duration::from_secs(60));
        let service = ServiceCode::NONE;
        let request = packet(Kind::Request { service }, OptionList::new());
        let now = Instant::ZERO;
        let mut first = None;
        for index in 0..(3 * SPENT_MAX as u32) {
            let peer = index.to_be_bytes();
            let cookie = cookies.seal(now, &peer, Ecn::NotEct, &request).unwrap();
            let kind = Kind::Ack { ack: SeqNo::ZERO };
            let ack = packet(kind, cookie.into_iter().collect());
            let opened = cookies.open(now, &peer, &ack).unwrap();
            cookies.spend(now, &opened);
            let (peer, ack) = first.get_or_insert((peer, ack));
            if index.is_multiple_of(1_000) {
                assert!(cookies.open(now, &*peer, &*ack).is_none(), "{index}");
            }
            let previous = cookies.previous.as_ref().map_or(0, |key| key.spent.len());
            assert!(cookies.current.spent.len() + previous <= 2 * SPENT_MAX);
        }
    }
}
