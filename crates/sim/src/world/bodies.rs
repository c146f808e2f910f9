//! Storage of packets in flight, and their numbers.

use std::mem;
use std::ops::{Index, IndexMut};

use crate::world::packet::Body;

/// The bodies of packets in flight, by key.
///
/// A body is constructed in its slot. A container that moves values in would write them to the
/// stack in small pieces and immediately read them back in large ones; that stall would be the
/// largest cost here.
#[derive(Debug, Default)]
pub(crate) struct Bodies {
    slots: Vec<Option<Body>>,
    /// The number of the packet in each slot.
    numbers: Vec<u64>,
    /// The keys of empty slots, most recently emptied last.
    empty: Vec<u32>,
    /// How many bodies have been stored.
    stored: u64,
}

impl Bodies {
    /// Stores a body and returns its key: the one that was freed last. Bodies are numbered from 0 in
    /// the order in which they are stored.
    #[inline(always)]
    pub(crate) fn insert(&mut self, body: Body) -> u32 {
        if self.empty.is_empty() {
            self.add_slot();
        }
        let key = self.empty.pop().expect("there is a slot");
        let vacancy = self.slots[key as usize].replace(body);
        // The slot is empty, so nothing needs to be dropped; the compiler cannot know that.
        mem::forget(vacancy);
        self.numbers[key as usize] = self.stored;
        self.stored += 1;
        key
    }

    #[cold]
    #[inline(never)]
    fn add_slot(&mut self) {
        self.empty.push(self.slots.len() as u32);
        self.slots.push(None);
        self.numbers.push(0);
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
        self.numbers[key] = number;
    }

    /// Returns the number of the body that is, or was last, under this key.
    #[inline(always)]
    pub(crate) fn number(&self, key: usize) -> u64 {
        self.numbers[key]
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
        let keys: Vec<u32> = (0..3).map(|number| bodies.insert(body(number))).collect();
        assert_eq!(keys, [0, 1, 2]);
        assert_eq!(bodies.remove(1), body(1));
        assert_eq!(bodies.remove(0), body(0));
        assert_eq!((bodies.insert(body(3)), bodies.insert(body(4))), (0, 1));
        assert_eq!(bodies[1], body(4));
        assert_eq!((bodies.insert(body(5)), &bodies[2]), (3, &body(2)));
        assert_eq!([0, 1, 2, 3].map(|key| bodies.number(key)), [3, 4, 2, 5]);
    }
}
