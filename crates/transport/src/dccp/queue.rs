//! A queue of datagrams that knows how many bytes it holds.

use std::collections::VecDeque;

use skywave_wire::Payload;

use super::Datagram;

/// The capacity of a queue, in datagrams and in bytes of data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit {
    pub(crate) datagrams: usize,
    pub(crate) bytes: usize,
}

/// An item that contains bytes of data.
pub(crate) trait Bytes {
    fn bytes(&self) -> usize;
}

impl Bytes for Payload {
    #[inline(always)]
    fn bytes(&self) -> usize {
        self.len()
    }
}

impl Bytes for Datagram {
    #[inline(always)]
    fn bytes(&self) -> usize {
        self.payload.len()
    }
}

/// Datagrams in order.
#[derive(Debug)]
pub(crate) struct Queue<T> {
    datagrams: VecDeque<T>,
    bytes: usize,
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Self {
            datagrams: VecDeque::new(),
            bytes: 0,
        }
    }
}

impl<T: Bytes> Queue<T> {
    pub(crate) fn len(&self) -> usize {
        self.datagrams.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.datagrams.is_empty()
    }

    /// Returns the bytes of data in it.
    pub(crate) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns whether another datagram of `bytes` fits. An empty queue takes one of any size.
    #[inline(always)]
    pub(crate) fn has_room(&self, limit: Limit, bytes: usize) -> bool {
        let count = self.datagrams.len();
        count < limit.datagrams && (self.bytes + bytes <= limit.bytes || count == 0)
    }

    pub(crate) fn front(&self) -> Option<&T> {
        self.datagrams.front()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.datagrams.iter()
    }

    #[inline(always)]
    pub(crate) fn push_back(&mut self, datagram: T) {
        self.bytes += datagram.bytes();
        self.datagrams.push_back(datagram);
    }

    pub(crate) fn push_front(&mut self, datagram: T) {
        self.bytes += datagram.bytes();
        self.datagrams.push_front(datagram);
    }

    #[inline(always)]
    pub(crate) fn pop_front(&mut self) -> Option<T> {
        let first = self.datagrams.pop_front()?;
        self.bytes -= first.bytes();
        if self.datagrams.is_empty() {
            // Start again at the beginning of the buffer, which is in the cache, instead of cycling
            // through a ring that was once full.
            self.datagrams.clear();
        }
        Some(first)
    }

    /// Removes the first `count` datagrams, each of `bytes`.
    #[inline(always)]
    pub(crate) fn remove_front(&mut self, count: usize, bytes: usize) {
        self.datagrams.drain(..count);
        self.bytes -= count * bytes;
    }

    /// Removes the last `count` datagrams, and returns them in order.
    pub(crate) fn take_newest(&mut self, count: usize) -> VecDeque<T> {
        let older = self.datagrams.len().saturating_sub(count);
        let newest = self.datagrams.split_off(older);
        self.bytes -= newest.iter().map(Bytes::bytes).sum::<usize>();
        newest
    }

    /// Returns the last `count` datagrams.
    pub(crate) fn newest_mut(&mut self, count: usize) -> impl Iterator<Item = &mut T> {
        self.datagrams.iter_mut().rev().take(count)
    }

    /// Removes the datagrams longer than `bytes`. Returns how many there were.
    pub(crate) fn remove_longer(&mut self, bytes: usize) -> usize {
        let before = self.datagrams.len();
        self.datagrams.retain(|datagram| datagram.bytes() <= bytes);
        self.bytes = self.datagrams.iter().map(Bytes::bytes).sum();
        before - self.datagrams.len()
    }
}

impl<T: Bytes> Extend<T> for Queue<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, datagrams: I) {
        let bytes = &mut self.bytes;
        let counted = datagrams.into_iter().inspect(|next| *bytes += next.bytes());
        self.datagrams.extend(counted);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Whatever is done, `bytes` is the sum of what is there.
        #[test]
        fn bytes_are_counted(steps in prop::collection::vec((0u8..6, 0u32..5), 1..60)) {
            let mut queue = Queue::default();
            for (step, size) in steps {
                let payload = Payload::Synthetic(size);
                match step {
                    0 => queue.push_back(payload),
                    1 => queue.push_front(payload),
                    2 => drop(queue.pop_front()),
                    3 => drop(queue.remove_longer(size as usize)),
                    4 => queue.extend([payload.clone(), payload]),
                    _ => {
                        let first = queue.front().map_or(0, Payload::len);
                        let equal = queue.iter().take_while(|next| next.len() == first).count();
                        queue.remove_front(equal, first);
                    }
                }
                prop_assert_eq!(queue.bytes(), queue.iter().map(Payload::len).sum::<usize>());
            }
        }
    }

    #[test]
    fn an_empty_queue_takes_a_datagram_of_any_size() {
        let limit = Limit {
            datagrams: 2,
            bytes: 100,
        };
        let mut queue = Queue::default();
        assert!(queue.has_room(limit, 1_000));
        queue.push_back(Payload::Synthetic(60));
        assert!(queue.has_room(limit, 40));
        assert!(!queue.has_room(limit, 41));
        queue.push_back(Payload::Synthetic(0));
        assert!(!queue.has_room(limit, 0));
    }
}
