//! The record of a run, for verification and for comparing runs.

use core::hash::Hasher;

use skywave_path::DropReason;
use skywave_units::Instant;
use skywave_wire::Ecn;
use twox_hash::XxHash3_64;

use crate::world::ids::HostId;
use crate::world::observe::{Chronicle, Entry, Mergeable, Observer};
use crate::world::view::{Event, PacketView};

/// An entry of a run's record: what happened to which packet, where and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Record {
    /// When it happened.
    pub at: Instant,
    /// The packet's [number](PacketView::number).
    pub packet: u64,
    /// What happened.
    pub what: What,
    /// Size on the link, in bytes.
    pub size: u32,
    /// The ECN field.
    pub ecn: Ecn,
}

/// What happens to a packet, and at which host or directed link (by index).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum What {
    /// Its sender sends it.
    Sent {
        /// The sender.
        host: HostId,
    },
    /// A link accepts it.
    Enqueued {
        /// The link.
        link: u32,
    },
    /// A link loses it.
    Dropped {
        /// The link.
        link: u32,
        /// Why.
        reason: DropReason,
    },
    /// It reaches the far end of a link.
    Arrived {
        /// The link.
        link: u32,
    },
    /// A host receives it.
    Received {
        /// The receiver.
        host: HostId,
    },
}

impl Record {
    #[inline(always)]
    fn new(at: Instant, event: Event, packet: PacketView<'_>) -> Self {
        let what = match event {
            Event::Send => What::Sent {
                host: packet.from(),
            },
            Event::Enqueue { link } => What::Enqueued { link },
            Event::Drop { link, reason, .. } => What::Dropped { link, reason },
            Event::Arrive { link } => What::Arrived { link },
            Event::Receive => What::Received { host: packet.to() },
        };
        Self {
            at,
            packet: packet.number(),
            what,
            size: packet.size(),
            ecn: packet.ecn(),
        }
    }

    /// Writes the record as bytes, identical on every machine. Written in place, because small
    /// writes that are read back at once in large pieces would stall the processor.
    #[inline(always)]
    fn write_to(self, bytes: &mut [u8; 26]) {
        let (code, place) = match self.what {
            What::Sent { host } => (0, host.get()),
            What::Enqueued { link } => (1, link),
            What::Dropped {
                link,
                reason: DropReason::Full,
            } => (2, link),
            What::Dropped {
                link,
                reason: DropReason::Loss,
            } => (3, link),
            What::Arrived { link } => (4, link),
            What::Received { host } => (5, host.get()),
            What::Dropped {
                link,
                reason: DropReason::Early,
            } => (6, link),
            What::Dropped {
                link,
                reason: DropReason::Nat,
            } => (7, link),
        };
        bytes[..8].copy_from_slice(&self.at.as_nanos().to_le_bytes());
        bytes[8..16].copy_from_slice(&self.packet.to_le_bytes());
        bytes[16..20].copy_from_slice(&place.to_le_bytes());
        bytes[20..24].copy_from_slice(&self.size.to_le_bytes());
        bytes[24] = code;
        bytes[25] = self.ecn.bits();
    }
}

/// Keeps the whole record of a run.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    pub(crate) records: Vec<Record>,
}

impl Observer for Recorder {
    fn packet(&mut self, now: Instant, event: Event, packet: PacketView<'_>) {
        self.records.push(Record::new(now, event, packet));
    }
}

/// The fingerprint of a run: a hash of when each packet is sent, with its header, and when and how
/// it is received or dropped. Any change of behaviour changes it. What links do in between shows in
/// the times at which packets leave them.
#[derive(Clone)]
pub(crate) struct Fingerprint {
    hash: XxHash3_64,
    /// Bytes not hashed yet, up to `len`. Hashing each record separately takes several times as
    /// long.
    pending: Box<[u8; HASHED_AT_ONCE]>,
    len: usize,
}

/// The number of bytes hashed at a time. They stay in the L1 cache.
const HASHED_AT_ONCE: usize = 4096;

impl Default for Fingerprint {
    fn default() -> Self {
        Self {
            hash: XxHash3_64::new(),
            pending: Box::new([0; HASHED_AT_ONCE]),
            len: 0,
        }
    }
}

impl Fingerprint {
    pub(crate) fn value(&self) -> u64 {
        let mut hash = self.hash.clone();
        hash.write(&self.pending[..self.len]);
        hash.finish()
    }

    /// Returns room for the next bytes. The caller must write all of them.
    #[inline(always)]
    fn room<const N: usize>(&mut self) -> &mut [u8; N] {
        if self.len + N > HASHED_AT_ONCE {
            self.hash_pending();
        }
        let start = self.len;
        self.len += N;
        let room = self.pending[start..].first_chunk_mut();
        room.expect("there is room for many records")
    }

    #[cold]
    fn hash_pending(&mut self) {
        self.hash.write(&self.pending[..self.len]);
        self.len = 0;
    }
}

impl Observer for Fingerprint {}

impl Mergeable for Fingerprint {
    fn of_region(&self) -> Option<Self> {
        Some(Self::default())
    }
}

impl Chronicle for Fingerprint {
    const IS_KEPT: bool = true;

    #[inline(always)]
    fn enter(&mut self, entry: &Entry, packet: PacketView<'_>) {
        let is_sent = entry.event == Event::Send;
        let bytes: &mut [u8; 42] = self.room();
        let (record, header) = bytes.split_at_mut(26);
        let record = record.first_chunk_mut().expect("it is that long");
        Record::new(entry.at, entry.event, packet).write_to(record);
        header[..8].copy_from_slice(&entry.seq.to_le_bytes());
        header[8..].copy_from_slice(&entry.ack.to_le_bytes());
        // Only what is sent has a header. Written in any case, because a branch would be
        // unpredictable.
        self.len -= if is_sent { 0 } else { 16 };
    }
}
