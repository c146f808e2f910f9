//! FIFO disciplines that decide on arrival.

use std::collections::VecDeque;

use skywave_registry::MemberFailure;
use skywave_units::Instant;

use super::{DropReason, Dropped, Keeps, Room, mark};
use crate::Packet;

/// A FIFO discipline that makes its final decision when a packet arrives: drop-tail, RED and
/// similar ones.
///
/// It does not hold packets. On a queue's own link, [`HandsOn`] passes them straight to the link;
/// on a shared link, [`Kept`] stores them.
pub trait Admission {
    /// Decides whether to accept the packet that arrives at `now` behind `line`, and whether to
    /// mark it.
    ///
    /// # Errors
    /// The reason for dropping it.
    fn admit(
        &mut self,
        now: Instant,
        line: &mut Line<'_>,
        arrival: Arrival,
    ) -> Result<Verdict, DropReason>;

    /// Passes the names and values of internal variables to `record`, as of the last arrival.
    fn inner_values(&self, record: &mut dyn FnMut(&str, f64)) {
        let _ = record;
    }

    /// Returns why it can no longer decide, or `None` as long as it can. Whoever drives the link
    /// then stops; until it does, the contract still holds.
    fn failure(&self) -> Option<MemberFailure> {
        None
    }
}

#[deny(clippy::missing_trait_methods)]
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

    fn failure(&self) -> Option<MemberFailure> {
        (**self).failure()
    }
}

/// An arriving packet, as an [`Admission`] sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Arrival {
    /// The bytes it occupies on the link.
    pub size: u32,
    /// Whether its transport supports Congestion Experienced (RFC 3168 section 5).
    pub can_be_marked: bool,
    /// Its [flow](Packet::flow).
    pub flow: u64,
    /// Its traffic [class](Packet::class).
    pub class: u8,
}

impl Arrival {
    /// Returns what an [`Admission`] sees of a packet.
    #[inline(always)]
    pub fn of<P: Packet>(packet: &P) -> Self {
        Self {
            size: packet.size(),
            can_be_marked: packet.ecn().is_capable(),
            flow: packet.flow(),
            class: packet.class(),
        }
    }
}

/// The decision on an accepted packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// Leave it unchanged.
    Keep,
    /// Mark it with Congestion Experienced. Only allowed if it can be marked.
    Mark,
}

/// The queue in front of an arriving packet.
#[derive(Debug)]
pub struct Line<'a> {
    now: Instant,
    waiting: &'a mut Waiting,
    /// When the link finishes its backlog, or when it did; `Instant::MAX` if unknown.
    free: Instant,
}

impl Line<'_> {
    /// Returns the number of packets waiting.
    #[inline(always)]
    pub fn packets(&mut self) -> usize {
        self.waiting.begin(self.now);
        self.waiting.packets()
    }

    /// Returns the number of bytes waiting.
    #[inline(always)]
    pub fn bytes(&mut self) -> u64 {
        self.waiting.begin(self.now);
        self.waiting.bytes()
    }

    /// Returns whether a packet of `size` bytes fits.
    #[inline(always)]
    pub fn has_room_for(&mut self, size: u32, room: Room) -> bool {
        // Update the count only if the queue would otherwise be full.
        self.waiting.has_room_for(size, room) || {
            self.waiting.begin(self.now);
            self.waiting.has_room_for(size, room)
        }
    }

    /// Returns the time since which the link has had nothing to send, or `None` if it is busy.
    #[inline(always)]
    pub fn idle_since(&self) -> Option<Instant> {
        (self.free <= self.now).then_some(self.free)
    }
}

/// The sizes and start times of waiting packets, without the packets.
#[derive(Clone, Debug)]
struct Waiting {
    /// The start of each transmission and the packet's size. May still contain packets whose
    /// transmission has begun. `Instant::MAX` if the start is not known yet.
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

    /// Adds a packet whose transmission begins when the link becomes free.
    #[inline(always)]
    fn push(&mut self, now: Instant, free: Instant, size: u32) {
        if free <= now {
            // The link is idle, so all earlier transmissions have begun.
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

    /// Removes the oldest packet.
    fn pop(&mut self) {
        if let Some((_, size)) = self.starts.pop_front() {
            self.bytes -= u64::from(size);
        }
    }

    /// Removes the packets whose transmission has begun by `now`.
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

    /// Returns the number of packets waiting, as of the last [`Waiting::begin`].
    fn packets(&self) -> usize {
        self.starts.len()
    }

    /// Returns the number of bytes waiting, as of the last [`Waiting::begin`].
    const fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// An [`Admission`] with its own link. The start of a packet's transmission is known on arrival, so
/// the packet is passed to the link at once and only counted until then.
#[derive(Clone, Debug)]
pub struct HandsOn<A> {
    admission: A,
    waiting: Waiting,
}

impl<A: Admission> HandsOn<A> {
    /// Creates an empty queue. Memory is allocated as it fills.
    pub const fn new(admission: A) -> Self {
        Self {
            admission,
            waiting: Waiting::new(),
        }
    }

    /// Accepts `packet`, which arrives at `now`, and returns it for transmission at `free`, when
    /// the link finishes its backlog, or at `now` if that is later.
    ///
    /// # Errors
    /// [`Dropped`] with the packet and the reason.
    // Inlined: packets pass through more of these than of anything else.
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

    /// Updates the counts to `now`.
    pub fn expire(&mut self, now: Instant) {
        self.waiting.begin(now);
    }

    /// Returns the number of packets waiting, as of the last [`HandsOn::expire`].
    pub fn packets(&self) -> usize {
        self.waiting.packets()
    }

    /// Returns the number of bytes waiting, as of the last [`HandsOn::expire`].
    pub const fn bytes(&self) -> u64 {
        self.waiting.bytes()
    }

    /// Returns the discipline.
    pub const fn admission(&self) -> &A {
        &self.admission
    }

    pub(super) fn into_admission(self) -> A {
        self.admission
    }
}

/// An [`Admission`] on a shared link, as one of several sub-queues. The start of a packet's
/// transmission is unknown, so packets are stored.
#[derive(Clone, Debug)]
pub struct Kept<P, A> {
    admission: A,
    waiting: Waiting,
    packets: VecDeque<P>,
    /// The time since which the queue has been empty; `Instant::MAX` after an arrival.
    idle_since: Instant,
}

impl<P: Packet, A: Admission> Kept<P, A> {
    /// Creates an empty queue.
    pub const fn new(admission: A) -> Self {
        Self {
            admission,
            waiting: Waiting::new(),
            packets: VecDeque::new(),
            idle_since: Instant::ZERO,
        }
    }

    /// Returns the discipline.
    pub const fn admission(&self) -> &A {
        &self.admission
    }
}

#[deny(clippy::missing_trait_methods)]
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

    fn failure(&self) -> Option<MemberFailure> {
        self.admission.failure()
    }
}
