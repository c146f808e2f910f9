//! A FIFO buffer for the hot path.

/// A ring buffer whose size is a power of two, so that indices wrap with a mask. A
/// [`std::collections::VecDeque`] has an arbitrary size, and compares and subtracts instead, three
/// times per packet and link.
///
/// If `T` has a niche, an empty slot takes no extra memory. The first slot alone shows whether the
/// ring is empty.
#[derive(Clone, Debug)]
pub(crate) struct Ring<T> {
    /// Empty, or a power of two of slots.
    slots: Vec<Option<T>>,
    /// The index of the oldest item, or of the next one if the ring is empty.
    head: usize,
    len: usize,
}

impl<T> Ring<T> {
    /// The size of the first allocation.
    const FIRST: usize = 4;

    /// Creates an empty ring, which allocates nothing.
    pub(crate) const fn new() -> Self {
        Self {
            slots: Vec::new(),
            head: 0,
            len: 0,
        }
    }

    /// Returns whether the ring is empty.
    #[inline(always)]
    pub(crate) const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the oldest item.
    #[inline(always)]
    pub(crate) fn front(&self) -> Option<&T> {
        self.slots.get(self.head)?.as_ref()
    }

    /// Returns the newest item.
    #[inline(always)]
    pub(crate) fn back(&self) -> Option<&T> {
        let last = self.slots.len().wrapping_sub(1);
        let newest = self.head.wrapping_add(self.len).wrapping_sub(1) & last;
        self.slots.get(newest)?.as_ref()
    }

    /// Removes the oldest item if `is_wanted` returns true for it.
    #[inline(always)]
    pub(crate) fn pop_front_if(&mut self, is_wanted: impl FnOnce(&T) -> bool) -> Option<T> {
        let last = self.slots.len().wrapping_sub(1);
        let slot = self.slots.get_mut(self.head)?;
        slot.as_ref().filter(|item| is_wanted(item))?;
        self.head = (self.head + 1) & last;
        self.len -= 1;
        slot.take()
    }

    /// Appends an item.
    #[inline(always)]
    pub(crate) fn push_back(&mut self, item: T) {
        if self.len == self.slots.len() {
            self.grow();
        }
        let tail = (self.head + self.len) & (self.slots.len() - 1);
        self.slots[tail] = Some(item);
        self.len += 1;
    }

    /// Moves the newest item ahead of the items before it, as long as `is_later(item, newest)`
    /// returns true. Returns its new position, from the front.
    pub(crate) fn move_back_ahead(&mut self, is_later: impl Fn(&T, &T) -> bool) -> usize {
        let mask = self.slots.len().wrapping_sub(1);
        let mut position = self.len.saturating_sub(1);
        while position > 0 {
            let [before, here] = [position - 1, position].map(|at| (self.head + at) & mask);
            match (&self.slots[before], &self.slots[here]) {
                (Some(other), Some(last)) if is_later(other, last) => {}
                _ => break,
            }
            self.slots.swap(before, here);
            position -= 1;
        }
        position
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        self.slots.rotate_left(self.head);
        self.head = 0;
        let size = (2 * self.len).max(Self::FIRST);
        self.slots.resize_with(size, || None);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Sorts like the standard library's stable sort, item by item, around every position of
        /// the head.
        #[test]
        fn moving_each_item_ahead_sorts(
            keys in prop::collection::vec(0_u8..20, 1..40), removed in 0_usize..20,
        ) {
            let mut ring = Ring::new();
            for _ in 0..removed {
                ring.push_back((0, 0));
                ring.pop_front_if(|_| true);
            }
            let items: Vec<_> = keys.iter().copied().enumerate().collect();
            for &item in &items {
                ring.push_back(item);
                let position = ring.move_back_ahead(|other, last| other.1 > last.1);
                let earlier = items[..=item.0].iter().filter(|other| other.1 <= item.1);
                prop_assert_eq!(position, earlier.count() - 1);
            }
            let mut sorted = items;
            sorted.sort_by_key(|item| item.1);
            for item in sorted {
                prop_assert_eq!(ring.pop_front_if(|_| true), Some(item));
            }
        }

        /// Compares with the standard library's deque, growing at every position of the head.
        #[test]
        fn agrees_with_a_deque(operations in prop::collection::vec(0_u8..5, 0..300)) {
            let mut ring = Ring::new();
            let mut deque = VecDeque::new();
            for (number, operation) in operations.into_iter().enumerate() {
                match operation {
                    0 | 1 => {
                        let wanted = ring.pop_front_if(|_| operation == 0);
                        prop_assert_eq!(wanted, deque.pop_front_if(|_| operation == 0));
                    }
                    _ => {
                        ring.push_back(number);
                        deque.push_back(number);
                    }
                }
                prop_assert_eq!(ring.front(), deque.front());
                prop_assert_eq!(ring.back(), deque.back());
                prop_assert_eq!(ring.is_empty(), deque.is_empty());
            }
        }
    }
}
