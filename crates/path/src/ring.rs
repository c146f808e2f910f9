//! A first in, first out buffer for what every packet passes through.

/// A ring whose size is a power of two, so that a mask brings an index back to the beginning where a
/// [`std::collections::VecDeque`], of any size, compares and subtracts: three times for each packet
/// on each link.
///
/// An empty slot costs nothing where `T` has a value to spare for it, and the first slot tells by
/// itself whether anything is there.
#[derive(Clone, Debug)]
pub(crate) struct Ring<T> {
    /// None, or a power of two of them.
    slots: Vec<Option<T>>,
    /// Where the oldest is, or the next will be.
    head: usize,
    len: usize,
}

impl<T> Ring<T> {
    /// The size of the first allocation.
    const FIRST: usize = 4;

    /// An empty ring, which takes no memory.
    pub(crate) const fn new() -> Self {
        Self {
            slots: Vec::new(),
            head: 0,
            len: 0,
        }
    }

    /// Whether nothing is in it.
    #[inline(always)]
    pub(crate) const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The oldest.
    #[inline(always)]
    pub(crate) fn front(&self) -> Option<&T> {
        self.slots.get(self.head)?.as_ref()
    }

    /// Takes out the oldest where `is_wanted` says so.
    #[inline(always)]
    pub(crate) fn pop_front_if(&mut self, is_wanted: impl FnOnce(&T) -> bool) -> Option<T> {
        let last = self.slots.len().wrapping_sub(1);
        let slot = self.slots.get_mut(self.head)?;
        slot.as_ref().filter(|item| is_wanted(item))?;
        self.head = (self.head + 1) & last;
        self.len -= 1;
        slot.take()
    }

    /// Puts in the newest.
    #[inline(always)]
    pub(crate) fn push_back(&mut self, item: T) {
        if self.len == self.slots.len() {
            self.grow();
        }
        let tail = (self.head + self.len) & (self.slots.len() - 1);
        self.slots[tail] = Some(item);
        self.len += 1;
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
        /// Against the standard library's, through growth at every place of the head.
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
                prop_assert_eq!(ring.is_empty(), deque.is_empty());
            }
        }
    }
}
