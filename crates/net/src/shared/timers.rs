//! The deadlines of all connections, and which one is next.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::task::{Context, Poll};

use skywave_units::Instant;

use crate::sync::{Mutex, locked};
use crate::system::alarm::{Alarm, OneShot};
use crate::system::clock::Clock;

/// The deadlines of all flows, at most one entry each, and the alarm for the earliest.
///
/// Most deadlines are postponed before they arrive, such as a retransmission timer at each
/// acknowledgement. An entry is therefore left in place when its connection's deadline becomes
/// later; a flow called too early sets another entry.
#[derive(Debug)]
pub(crate) struct Timers<F, A = Alarm> {
    clock: Clock,
    alarm: A,
    entries: Mutex<Entries<F>>,
}

#[derive(Debug)]
struct Entries<F> {
    by_time: BTreeMap<(Instant, u64), Arc<F>>,
    /// When the alarm will fire; `Instant::MAX` for never.
    armed: Instant,
}

impl<F, A: OneShot> Timers<F, A> {
    pub(crate) fn new(clock: Clock, alarm: A) -> Self {
        Self {
            clock,
            alarm,
            entries: Mutex::new(Entries {
                by_time: BTreeMap::new(),
                armed: Instant::MAX,
            }),
        }
    }

    /// Schedules the call of `flow`, identified by `id`, at `at` instead of `before`.
    pub(crate) fn set(&self, id: u64, flow: &Arc<F>, before: Option<Instant>, at: Option<Instant>) {
        let mut entries = locked(&self.entries);
        if let Some(before) = before {
            entries.by_time.remove(&(before, id));
        }
        if let Some(at) = at {
            entries.by_time.insert((at, id), Arc::clone(flow));
            self.arm(&mut entries);
        }
    }

    /// Makes the alarm fire at `at` or earlier, whatever the deadlines.
    pub(crate) fn wake_by(&self, at: Instant) {
        self.advance(&mut locked(&self.entries), at);
    }

    /// Removes all deadlines.
    pub(crate) fn clear(&self) {
        locked(&self.entries).by_time.clear();
    }

    /// Becomes ready when a deadline may have passed.
    pub(crate) fn poll(&self, context: &mut Context<'_>) -> Poll<()> {
        self.alarm.poll_fired(context)
    }

    /// Takes the flows due at `now`, and sets the alarm for the others.
    pub(crate) fn take_due(&self, now: Instant, due: &mut Vec<Arc<F>>) {
        let mut entries = locked(&self.entries);
        while let Some(first) = entries.by_time.first_entry() {
            if first.key().0 > now {
                break;
            }
            due.push(first.remove());
        }
        if entries.armed <= now {
            entries.armed = Instant::MAX;
        }
        self.arm(&mut entries);
    }

    /// Sets the alarm for the first deadline.
    fn arm(&self, entries: &mut Entries<F>) {
        if let Some((&(first, _), _)) = entries.by_time.first_key_value() {
            self.advance(entries, first);
        }
    }

    /// Makes the alarm fire at `at`, unless it fires earlier.
    fn advance(&self, entries: &mut Entries<F>, at: Instant) {
        // Cannot fail with the arguments of `set`; if it did, the next event would retry.
        if at < entries.armed && self.alarm.set(at - self.clock.now()).is_ok() {
            entries.armed = at;
        }
    }
}
