//! Storage of packets in flight, and their numbers.

use std::mem;
use std::ops::{Index, IndexMut};

use skywave_units::Instant;

use crate::world::packet::Body;

/// The bodies of packets in flight, by key.
///
/// A body is constructed in its slot. A container that moves values in would write them to the
/// stack in small pieces and immediately read them back in large ones; that stall would be the
/// largest cost here.
#[derive(Debug, Default)]
pub(crate) struct Bodies {
    slots: Vec<Option<Body>>,
    /// The packet in each slot.
    labels: Vec<Label>,
    /// The keys of empty slots, most recently emptied last.
    empty: Vec<u32>,
    /// How many bodies have been stored.
    stored: u64,
}

/// What is known about a packet in flight, apart from its body.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Label {
    /// Its number, or [where](RemoteSlot) that is.
    pub(crate) number: u64,
    /// When it was sent.
    pub(crate) sent_at: Instant,
}

/// A slot of another region: the one of a packet in the region where it was sent, in which its
/// number will be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RemoteSlot {
    pub(crate) region: u32,
    pub(crate) slot: u32,
}

impl RemoteSlot {
    /// No number has this bit.
    const MARK: u64 = 1 << 63;

    /// Returns the slot that takes the place of a number.
    #[inline(always)]
    pub(crate) fn of(number: u64) -> Option<Self> {
        (number & Self::MARK != 0).then_some(Self {
            region: ((number ^ Self::MARK) >> 32) as u32,
            slot: number as u32,
        })
    }

    /// Returns what takes the place of the number.
    pub(crate) const fn to_number(self) -> u64 {
        Self::MARK | (self.region as u64) << 32 | self.slot as u64
    }
}

impl Bodies {
    /// Stores a body that is sent now, and returns its key: the one that was freed last. Bodies are
    /// numbered from 0 in the order in which they are stored.
    #[inline(always)]
    pub(crate) fn insert(&mut self, now: Instant, body: Body) -> u32 {
        let label = Label {
            number: self.stored,
            sent_at: now,
        };
        self.stored += 1;
        self.insert_labelled(label, body)
    }

    /// Stores a body that comes from another region, and returns its key.
    #[inline(always)]
    pub(crate) fn insert_labelled(&mut self, label: Label, body: Body) -> u32 {
        if self.empty.is_empty() {
            self.add_slot();
        }
        let key = self.empty.pop().expect("there is a slot");
        let vacancy = self.slots[key as usize].replace(body);
        // The slot is empty, so nothing needs to be dropped; the compiler cannot know that.
        mem::forget(vacancy);
        self.labels[key as usize] = label;
        key
    }

    #[cold]
    #[inline(never)]
    fn add_slot(&mut self) {
        self.empty.push(self.slots.len() as u32);
        self.slots.push(None);
        self.labels.push(Label::default());
    }

    /// Returns how many bodies have been stored.
    pub(crate) const fn stored(&self) -> u64 {
        self.stored
    }

    /// Removes and returns a body. Its key may be reused.
    ///
    /// # Panics
    /// If there is none.
    #[inline(always)]
    pub(crate) fn remove(&mut self, key: usize) -> Body {
        let body = self.slots[key].take().expect("the body is there");
        self.empty.push(key as u32);
        body
    }

    /// Removes and returns a body. Its key is not used again until it is
    /// [released](Self::release).
    ///
    /// # Panics
    /// If there is none.
    #[inline(always)]
    pub(crate) fn take(&mut self, key: usize) -> Body {
        self.slots[key].take().expect("the body is there")
    }

    /// Lets the key of a body that has been taken be used again.
    #[inline(always)]
    pub(crate) fn release(&mut self, key: usize) {
        self.empty.push(key as u32);
    }

    /// Removes a body, and lets its key be used again.
    #[cold]
    pub(crate) fn free(&mut self, key: usize) {
        self.slots[key] = None;
        self.release(key);
    }

    /// Changes the number of the body that is, or was last, under this key.
    #[inline(always)]
    pub(crate) fn renumber(&mut self, key: usize, number: u64) {
        self.labels[key].number = number;
    }

    /// Returns what is known about the packet whose body is, or was last, under this key.
    #[inline(always)]
    pub(crate) fn label(&self, key: usize) -> Label {
        self.labels[key]
    }
}

impl Index<usize> for Bodies {
    type Output = Body;

    fn index(&self, key: usize) -> &Body {
        self.slots[key].as_ref().expect("the body is there")
    }
}

impl IndexMut<usize> for Bodies {
    fn index_mut(&mut self, key: usize) -> &mut Body {
        self.slots[key].as_mut().expect("the body is there")
    }
}

#[cfg(test)]
mod tests {
    use skywave_wire::{Payload, udp};

    use super::*;

    const NOW: Instant = Instant::ZERO;

    fn body(number: u16) -> Body {
        Body::from(udp::Datagram {
            source_port: number,
            destination_port: 0,
            payload: Payload::Synthetic(1),
        })
    }

    #[test]
    fn a_body_stays_under_its_key_and_numbers_are_not_used_again() {
        let mut bodies = Bodies::default();
        let keys: Vec<u32> = (0..3)
            .map(|number| bodies.insert(NOW, body(number)))
            .collect();
        assert_eq!(keys, [0, 1, 2]);
        assert_eq!(bodies.remove(1), body(1));
        assert_eq!(bodies.remove(0), body(0));
        assert_eq!(
            (bodies.insert(NOW, body(3)), bodies.insert(NOW, body(4))),
            (0, 1)
        );
        assert_eq!(bodies[1], body(4));
        assert_eq!((bodies.insert(NOW, body(5)), &bodies[2]), (3, &body(2)));
        assert_eq!(
            [0, 1, 2, 3].map(|key| bodies.label(key).number),
            [3, 4, 2, 5]
        );
    }
}
