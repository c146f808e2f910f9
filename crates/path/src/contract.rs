//! Tests of the contract of queue disciplines.
//!
//! [`check`] offers a queue packets of all kinds at random times, accounts for each, and compares
//! the outcome with the [behaviour that the discipline declares](crate::Conduct): once with the
//! queue on its own, asked for packets at arbitrary times, and once with the queue at the head of a
//! link.

mod parcel;

pub use parcel::Parcel;

use std::collections::VecDeque;

use rand::{RngExt, SeedableRng};
use skywave_registry::MemberFailure;
use skywave_units::{Duration, Instant, Random, Rate};
use skywave_wire::Ecn;

use crate::{CLASSES, Conduct, DropReason, Dropped, Head, Link, Packet, QueueKind};

/// At this rate, a packet of 1000 bytes takes a millisecond.
const RATE: Rate = Rate::from_bps(8_000_000);
const DELAY: Duration = Duration::from_millis(10);
/// The number of calls per check.
const CALLS: usize = 1000;

/// A violation of the contract.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("seed {seed}, call {call}: {what}")]
#[non_exhaustive]
pub struct Violation {
    /// The seed that produced it.
    pub seed: u64,
    /// The index of the call.
    pub call: usize,
    /// What is wrong.
    pub what: String,
    /// Why the queue failed, if that is the violation.
    pub failure: Option<MemberFailure>,
}

/// The outcome for the packets offered to a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tally {
    /// Packets that left the queue.
    pub left: u32,
    /// Of those, packets whose ECN field was changed.
    pub written: u32,
    /// Packets refused on arrival.
    pub refused: u32,
    /// Packets dropped after they had been accepted.
    pub dropped_inside: u32,
}

/// Checks that queues of `kind` behave as it declares, with calls generated from `seed`.
///
/// The queue does not fail. Every packet comes out exactly once (sent, refused or dropped) and unchanged except for its ECN
/// field. Order, drops, marks and limits are as declared, the counts are correct, and a non-empty
/// queue always yields a packet.
///
/// # Errors
/// The first [`Violation`].
pub fn check(kind: &dyn QueueKind<Parcel>, seed: u64) -> Result<Tally, Violation> {
    let mut tally = Tally::default();
    for drive in [drive_queue, drive_link] {
        let mut random = Random::seed_from_u64(seed);
        let calls: Vec<Call> = (0..CALLS).map(|id| Call::draw(id, &mut random)).collect();
        let mut account = Account::new(kind.conduct());
        let mut call = 0;
        drive(kind, &calls, &mut account, &mut call).map_err(|what| Violation {
            seed,
            call,
            what,
            failure: account.failure.take(),
        })?;
        tally.left += account.tally.left;
        tally.written += account.tally.written;
        tally.refused += account.tally.refused;
        tally.dropped_inside += account.tally.dropped_inside;
    }
    Ok(tally)
}

/// One call of the test.
struct Call {
    /// The time since the previous call.
    after: Duration,
    /// The packet that arrives; with `None`, the queue is asked for a packet.
    arrives: Option<Parcel>,
}

impl Call {
    fn draw(id: usize, random: &mut Random) -> Self {
        let after = match random.random_range(0..100) {
            0..60 => Duration::ZERO,
            60..99 => Duration::from_micros(random.random_range(0..3000)),
            _ => Duration::from_millis(random.random_range(0..300)),
        };
        let parcel = Parcel::new(id as u32, random.random_range(40..=1500))
            .with_ecn(Ecn::from_bits(random.random_range(0..4)))
            .of_flow(random.random_range(0..5))
            .of_class(random.random_range(0..CLASSES as u8))
            .tagged(random.random_range(0..8));
        Self {
            after,
            arrives: random.random_bool(0.6).then_some(parcel),
        }
    }
}

fn random(name: &str) -> Random {
    Random::seed_from_u64(name.len() as u64)
}

/// Drives the queue on its own, as one that keeps its packets.
fn drive_queue(
    kind: &dyn QueueKind<Parcel>,
    calls: &[Call],
    account: &mut Account,
    number: &mut usize,
) -> Result<(), String> {
    let head = Head::new("contract", RATE, DELAY, &random);
    let mut queue = kind.build(&head).into_keeps();
    let mut now = Instant::ZERO;
    let rest = std::iter::repeat_n(None, CALLS + 1);
    let calls = calls.iter().map(Some).chain(rest);
    for (index, call) in calls.enumerate() {
        *number = index;
        now += call.map_or(Duration::ZERO, |call| call.after);
        let left = match call.and_then(|call| call.arrives) {
            Some(parcel) => {
                let (packets, bytes) = (account.packets(), account.bytes());
                let has_room = account.conduct.has_room_for(parcel.size(), packets, bytes);
                let refused = queue.enqueue(now, parcel).err();
                account.goes_on(queue.failure())?;
                account.arrives(parcel, refused, has_room)?;
                None
            }
            None => Some(queue.dequeue(now)),
        };
        account.goes_on(queue.failure())?;
        while let Some(dropped) = queue.dropped() {
            account.drops(dropped)?;
        }
        match left {
            Some(Some(parcel)) => account.leaves(parcel)?,
            Some(None) if account.packets() > 0 => {
                return Err("the queue returns no packet although packets are waiting".to_owned());
            }
            Some(None) | None => {}
        }
        account.compare(queue.packets(), queue.bytes())?;
    }
    account.close()
}

/// Drives the queue at the head of its own link.
fn drive_link(
    kind: &dyn QueueKind<Parcel>,
    calls: &[Call],
    account: &mut Account,
    number: &mut usize,
) -> Result<(), String> {
    let head = Head::new("contract", RATE, DELAY, &random);
    let mut link = Link::new(kind.build(&head), RATE, DELAY);
    let mut now = Instant::ZERO;
    // Whether the test can predict which packet is sent when.
    let is_known = account.conduct.fifo && !account.conduct.drops_inside;
    let mut waiting = Waiting::default();
    for (index, call) in calls.iter().enumerate() {
        *number = index;
        now += call.after;
        run(&mut link, now, account)?;
        waiting.advance(now);
        let Some(parcel) = call.arrives else {
            link.expire(now);
            account.goes_on(link.failure())?;
            while let Some(dropped) = link.dropped() {
                account.drops(dropped)?;
            }
            let counted = (link.queued_packets() as u64, link.queued_bytes());
            let known = (waiting.sizes.len() as u64, waiting.bytes);
            if is_known && counted != known {
                return Err(format!(
                    "the queue counts {counted:?} (packets, bytes) but {known:?} are waiting"
                ));
            }
            account.limits(counted.0, counted.1)?;
            continue;
        };
        let has_room =
            account
                .conduct
                .has_room_for(parcel.size(), waiting.sizes.len() as u64, waiting.bytes);
        let refused = link.enqueue(now, parcel).err();
        account.goes_on(link.failure())?;
        if refused.is_none() {
            waiting.push(now, parcel.size());
        }
        account.arrives(parcel, refused, is_known && has_room)?;
        while let Some(dropped) = link.dropped() {
            account.drops(dropped)?;
        }
    }
    run(&mut link, Instant::MAX, account)?;
    account.close()
}

/// Makes a link do everything due by `now`.
fn run(link: &mut Link<Parcel>, now: Instant, account: &mut Account) -> Result<(), String> {
    while let Some(at) = link.deadline().filter(|&at| at <= now) {
        let left = link.dequeue(at);
        account.goes_on(link.failure())?;
        while let Some(dropped) = link.dropped() {
            account.drops(dropped)?;
        }
        if let Some(parcel) = left {
            account.leaves(parcel)?;
        }
    }
    Ok(())
}

/// The packets waiting for a FIFO link.
#[derive(Default)]
struct Waiting {
    /// The start of each transmission, and its size in bytes.
    sizes: VecDeque<(Instant, u32)>,
    bytes: u64,
    free: Instant,
}

impl Waiting {
    fn push(&mut self, now: Instant, size: u32) {
        let start = self.free.max(now);
        self.free = start + RATE.transmission_time(u64::from(size));
        self.sizes.push_back((start, size));
        self.bytes += u64::from(size);
        self.advance(now);
    }

    fn advance(&mut self, now: Instant) {
        while let Some((_, size)) = self.sizes.pop_front_if(|&mut (start, _)| start <= now) {
            self.bytes -= u64::from(size);
        }
    }
}

/// The packets in a queue, and the behaviour that the queue declares.
struct Account {
    conduct: Conduct,
    /// In order of arrival.
    inside: VecDeque<Parcel>,
    tally: Tally,
    failure: Option<MemberFailure>,
}

impl Account {
    fn new(conduct: Conduct) -> Self {
        Self {
            conduct,
            inside: VecDeque::new(),
            tally: Tally::default(),
            failure: None,
        }
    }

    /// Takes note of a failure of the queue.
    fn goes_on(&mut self, failure: Option<MemberFailure>) -> Result<(), String> {
        let Some(failure) = failure else {
            return Ok(());
        };
        let what = failure.to_string();
        self.failure = Some(failure);
        Err(what)
    }

    fn packets(&self) -> u64 {
        self.inside.len() as u64
    }

    fn bytes(&self) -> u64 {
        self.inside.iter().map(|p| u64::from(p.size())).sum()
    }

    fn arrives(
        &mut self,
        parcel: Parcel,
        refused: Option<Dropped<Parcel>>,
        has_room: bool,
    ) -> Result<(), String> {
        let Some(Dropped { packet, reason }) = refused else {
            self.inside.push_back(parcel);
            return Ok(());
        };
        self.tally.refused += 1;
        let id = parcel.id;
        match reason {
            _ if packet != parcel => Err(format!(
                "the queue refuses {parcel:?} but returns {packet:?}"
            )),
            DropReason::Full if has_room && self.conduct.one_limit => Err(format!(
                "the queue refuses packet {id} as full although it would fit"
            )),
            DropReason::Early if !self.conduct.drops_early => Err(format!(
                "the queue drops packet {id} early, which it does not declare"
            )),
            DropReason::Loss | DropReason::Nat => Err(format!(
                "the queue drops packet {id} for the reason \"{}\", which is none of a queue",
                reason.name()
            )),
            DropReason::Full | DropReason::Early => Ok(()),
        }
    }

    /// Removes a packet. Returns it and whether it was the oldest.
    fn take(&mut self, id: u32) -> Result<(Parcel, bool), String> {
        let position = self.inside.iter().position(|parcel| parcel.id == id);
        position
            .and_then(|position| Some((self.inside.remove(position)?, position == 0)))
            .ok_or_else(|| format!("the queue returns packet {id}, which it does not contain"))
    }

    fn drops(&mut self, dropped: Dropped<Parcel>) -> Result<(), String> {
        let Dropped { packet, reason } = dropped;
        let (before, _) = self.take(packet.id)?;
        self.tally.dropped_inside += 1;
        if !self.conduct.permits_drop_inside(reason) {
            return Err(format!(
                "the queue drops packet {} after accepting it, for the reason \"{}\", which it does \
                 not declare",
                packet.id,
                reason.name()
            ));
        }
        if packet != before {
            return Err(format!("the queue changes {before:?} to {packet:?}"));
        }
        Ok(())
    }

    fn leaves(&mut self, parcel: Parcel) -> Result<(), String> {
        let (before, was_first) = self.take(parcel.id)?;
        if self.conduct.fifo && !was_first {
            return Err(format!("packet {} leaves out of order", parcel.id));
        }
        let may_write = self.conduct.writes.allows(before.ecn(), parcel.ecn());
        if parcel.with_ecn(before.ecn()) != before || !may_write {
            return Err(format!("the queue changes {before:?} to {parcel:?}"));
        }
        self.tally.left += 1;
        self.tally.written += u32::from(parcel != before);
        Ok(())
    }

    /// Compares the queue's counts with the packets that have arrived and left.
    fn compare(&self, packets: usize, bytes: u64) -> Result<(), String> {
        let (counted, known) = ((packets as u64, bytes), (self.packets(), self.bytes()));
        if counted != known {
            return Err(format!(
                "the queue counts {counted:?} (packets, bytes) but {known:?} are waiting"
            ));
        }
        self.limits(known.0, known.1)
    }

    fn limits(&self, packets: u64, bytes: u64) -> Result<(), String> {
        let Conduct {
            most_packets,
            most_bytes,
            ..
        } = self.conduct;
        let is_over = |is: u64, most: Option<u64>| most.is_some_and(|most| is > most);
        if is_over(packets, most_packets) || is_over(bytes, most_bytes) {
            return Err(format!(
                "the queue holds {packets} packets of {bytes} B, more than it declares"
            ));
        }
        Ok(())
    }

    fn close(&self) -> Result<(), String> {
        match self.inside.front() {
            Some(parcel) => Err(format!("packet {} never comes out", parcel.id)),
            None => Ok(()),
        }
    }
}
