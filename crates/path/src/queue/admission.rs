//! Disciplines that are first in, first out and decide on arrival.

use std::collections::VecDeque;

use skywave_units::Instant;

use super::{DropReason, Dropped, Keeps, Room, mark};
use crate::Packet;

/// A discipline that is first in, first out and decides when a packet arrives, for good: drop-tail,
/// RED and their like.
///
/// It does not have the packets. [`HandsOn`] hands them on where the link is its queue's own, and
/// [`Kept`] keeps them where the link is shared.
pub trait Admission {
    /// Whether the packet that arrives at `now` is taken in behind `line`, and then whether it is
    /// marked.
    ///
    /// # Errors
    /// The reason for which it is dropped.
    fn admit(
        &mut self,
        now: Instant,
        line: &mut Line<'_>,
        arrival: Arrival,
    ) -> Result<Verdict, DropReason>;

    /// Tells `record` the inner values and their names, as of the last arrival.
    fn inner_values(&self, record: &mut dyn FnMut(&str, f64)) {
        let _ = record;
    }
}

impl<A: Admission + ?Sized> Admission for Box<A> {
    fn admit(
        &mut self,
        now: Instant,
        line: &mut Line<'_>,
        arrival: Arrival,
    ) -> Result<Verdict, DropReason> {
        (**self).admit(now, line, arrival)
    }

    fn inner_values(&self, record: &mut dyn FnMut(&str, f64)) {
        (**self).inner_values(record);
    }
}

/// The packet that arrives, as an [`Admission`] sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Arrival {
    /// Bytes that it occupies on the link.
    pub size: u32,
    /// Whether its transport understands Congestion Experienced (RFC 3168 section 5).
    pub can_be_marked: bool,
    /// Its [flow](Packet::flow).
    pub flow: u64,
    /// Its [class](Packet::class) of traffic.
    pub class: u8,
}

impl Arrival {
    #[inline(always)]
    fn of<P: Packet>(packet: &P) -> Self {
        Self {
            size: packet.size(),
            can_be_marked: packet.ecn().is_capable(),
            flow: packet.flow(),
            class: packet.class(),
        }
    }
}

/// What becomes of a packet that is taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It stays as it is.
    Keep,
    /// It is marked with Congestion Experienced; only where it can be.
    Mark,
}

/// Those that wait when a packet arrives.
#[derive(Debug)]
pub struct Line<'a> {
    now: Instant,
    waiting: &'a mut Waiting,
    /// When the link has been or will be done with all that it has been given; `Instant::MAX` where
    /// that is not known.
    free: Instant,
}

impl Line<'_> {
    /// Packets that wait.
    #[inline(always)]
    pub fn packets(&mut self) -> usize {
        self.waiting.begin(self.now);
        self.waiting.packets()
    }

    /// Bytes that wait.
    #[inline(always)]
    pub fn bytes(&mut self) -> u64 {
        self.waiting.begin(self.now);
        self.waiting.bytes()
    }

    /// Whether a packet of `size` bytes fits.
    #[inline(always)]
    pub fn has_room_for(&mut self, size: u32, room: Room) -> bool {
        // Who waits is counted anew only where the queue would else be full.
        self.waiting.has_room_for(size, room) || {
            self.waiting.begin(self.now);
            self.waiting.has_room_for(size, room)
        }
    }

    /// Since when there has been nothing to send, where there is nothing.
    #[inline(always)]
    pub fn idle_since(&self) -> Option<Instant> {
        (self.free <= self.now).then_some(self.free)
    }
}

/// Counts of the packets that wait, without the packets.
#[derive(Clone, Debug)]
struct Waiting {
    /// When the transmission of each begins, and its size; of those that have begun, some may still
    /// be here. `Instant::MAX` where it is not known yet.
    starts: VecDeque<(Instant, u32)>,
    bytes: u64,
}

impl Waiting {
    const fn new() -> Self {
        Self {
            starts: VecDeque::new(),
            bytes: 0,
        }
    }

    /// Counts a packet whose transmission begins when the link is free of those before it.
    #[inline(always)]
    fn push(&mut self, now: Instant, free: Instant, size: u32) {
        if free <= now {
            // The link is idle: whatever was handed on has begun.
            if !self.starts.is_empty() {
                self.starts.clear();
                self.bytes = 0;
            }
            return;
        }
        if self.starts.len() == self.starts.capacity() {
            self.begin(now);
        }
        self.starts.push_back((free, size));
        self.bytes += u64::from(size);
    }

    /// Forgets the oldest.
    fn pop(&mut self) {
        if let Some((_, size)) = self.starts.pop_front() {
            self.bytes -= u64::from(size);
        }
    }

    /// Forgets the packets whose transmission has begun by `now`.
    fn begin(&mut self, now: Instant) {
        while let Some(&(start, size)) = self.starts.front()
            && start <= now
        {
            self.starts.pop_front();
            self.bytes -= u64::from(size);
        }
    }

    #[inline(always)]
    fn has_room_for(&self, size: u32, room: Room) -> bool {
        room.fits(size, self.packets(), self.bytes)
    }

    /// Packets that wait, as of the last [`Waiting::begin`].
    fn packets(&self) -> usize {
        self.starts.len()
    }

    /// Bytes that wait, as of the last [`Waiting::begin`].
    const fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// An [`Admission`] before a link of its own. When a packet arrives it is known when its transmission
/// will begin, so it is handed on at once and only counted until then.
#[derive(Clone, Debug)]
pub struct HandsOn<A> {
    admission: A,
    waiting: Waiting,
}

impl<A: Admission> HandsOn<A> {
    /// An empty queue. Memory is taken as it fills.
    pub const fn new(admission: A) -> Self {
        Self {
            admission,
            waiting: Waiting::new(),
        }
    }

    /// Takes in `packet`, which arrives at `now`, and gives it back to be sent at `free`, when the link
    /// is done with all that it has been given before; at once where that is past.
    ///
    /// # Errors
    /// [`Dropped`] with the packet and the reason.
    // A packet meets more of these than of anything else.
    #[inline(always)]
    pub fn enqueue<P: Packet>(
        &mut self,
        now: Instant,
        free: Instant,
        mut packet: P,
    ) -> Result<P, Dropped<P>> {
        let arrival = Arrival::of(&packet);
        let mut line = Line {
            now,
            waiting: &mut self.waiting,
            free,
        };
        match self.admission.admit(now, &mut line, arrival) {
            Ok(verdict) => {
                if verdict == Verdict::Mark {
                    mark(&mut packet);
                }
                self.waiting.push(now, free, arrival.size);
                Ok(packet)
            }
            Err(reason) => Err(Dropped { packet, reason }),
        }
    }

    /// Brings the counts up to `now`.
    pub fn expire(&mut self, now: Instant) {
        self.waiting.begin(now);
    }

    /// Packets that wait, as of the last [`HandsOn::expire`].
    pub fn packets(&self) -> usize {
        self.waiting.packets()
    }

    /// Bytes that wait, as of the last [`HandsOn::expire`].
    pub const fn bytes(&self) -> u64 {
        self.waiting.bytes()
    }

    /// The discipline.
    pub const fn admission(&self) -> &A {
        &self.admission
    }

    pub(super) fn into_admission(self) -> A {
        self.admission
    }
}

/// An [`Admission`] that shares its link, as one of several sub-queues: nobody knows when a packet's
/// transmission will begin, so it is kept.
#[derive(Clone, Debug)]
pub struct Kept<P, A> {
    admission: A,
    waiting: Waiting,
    packets: VecDeque<P>,
    /// Since when nothing waits; `Instant::MAX` from an arrival on.
    idle_since: Instant,
}

impl<P: Packet, A: Admission> Kept<P, A> {
    /// An empty queue.
    pub const fn new(admission: A) -> Self {
        Self {
            admission,
            waiting: Waiting::new(),
            packets: VecDeque::new(),
            idle_since: Instant::ZERO,
        }
    }

    /// The discipline.
    pub const fn admission(&self) -> &A {
        &self.admission
    }
}

impl<P: Packet, A: Admission> Keeps<P> for Kept<P, A> {
    fn enqueue(&mut self, now: Instant, mut packet: P) -> Result<(), Dropped<P>> {
        let arrival = Arrival::of(&packet);
        let mut line = Line {
            now,
            waiting: &mut self.waiting,
            free: std::mem::replace(&mut self.idle_since, Instant::MAX),
        };
        match self.admission.admit(now, &mut line, arrival) {
            Ok(verdict) => {
                if verdict == Verdict::Mark {
                    mark(&mut packet);
                }
                self.waiting.push(now, Instant::MAX, arrival.size);
                self.packets.push_back(packet);
                Ok(())
            }
            Err(reason) => Err(Dropped { packet, reason }),
        }
    }

    fn dequeue(&mut self, now: Instant) -> Option<P> {
        let packet = self.packets.pop_front()?;
        self.waiting.pop();
        if self.packets.is_empty() {
            self.idle_since = now;
        }
        Some(packet)
    }

    fn dropped(&mut self) -> Option<Dropped<P>> {
        None
    }

    fn packets(&self) -> usize {
        self.packets.len()
    }

    fn bytes(&self) -> u64 {
        self.waiting.bytes()
    }

    fn inner_values(&self, record: &mut dyn FnMut(&str, f64)) {
        self.admission.inner_values(record);
    }
}
