//! Init Cookies (RFC 4340 section 8.1.4): a Request, sealed, that its client brings back.

use std::collections::BTreeSet;

use bytes::Bytes;
use skywave_units::{Duration, Instant};
use skywave_wire::dccp::{DccpOption, Kind, OptionList, Packet};
use skywave_wire::{Checksum, Ecn, Payload};

use super::secret::{Secret, keyed_hash};

/// Bytes of the authentication tag at the end of a cookie.
const TAG: usize = 16;
/// Bytes before the Request: key generation and ECN bits, and the time.
const HEAD: usize = 1 + 8;
/// The longest value of one option (section 5.8).
const OPTION: usize = 253;
/// Options that one cookie may take. A Response has room for it beside all else, and a client for
/// echoing it.
const OPTIONS: usize = 2;
/// Cookies that one key may be spent on; then it is replaced before its time, so that a flood of
/// honest handshakes does not fill the memory either.
const SPENT_MAX: usize = 1 << 16;

type Tag = [u8; TAG];

/// Seals and opens cookies.
///
/// A cookie is the Request itself, as far as a server in RESPOND state would remember it, with the
/// time and the ECN bits of its arrival, and a tag that authenticates all of that and the client's
/// address. It is not encrypted: it tells the client what the client has said.
///
/// Keys are derived from the secret and replaced once in a lifetime; the one before stays valid. A
/// cookie is good for one connection: a replayed one opens nothing.
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
    /// Tags of cookies that have become connections.
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

/// What an honest cookie has brought back.
#[derive(Debug)]
pub(super) struct Remembered {
    /// The Request, without the options and the data that do not matter any more.
    pub(super) request: Packet,
    /// Its ECN bits.
    pub(super) ecn: Ecn,
    /// When it arrived.
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

    /// The options for a Response to `request`, which came from `peer` at `now`; `None` where its
    /// own options are too long for a cookie.
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

    /// The Request whose cookie `packet` of `peer` carries; `None` where it was tampered with, has
    /// expired or is spent.
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

    /// The cookie has become a connection.
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
            // Whatever the current key has sealed has expired.
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

    /// In constant time, as the comparison of [`blake3::Hash`] is.
    fn verifies(&self, peer: &[u8], content: &[u8], tag: &Tag) -> bool {
        let right = self.tag(peer, content);
        let mut given: [u8; 32] = right.into();
        given[..TAG].copy_from_slice(tag);
        right == given
    }
}

/// What a server in RESPOND state remembers of a Request: its numbers, the negotiation that it
/// opened, and whether it carried data, which one byte stands for.
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

    /// However many handshakes are completed within a lifetime, what is remembered of them is
    /// bounded, and no cookie becomes a second connection.
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
