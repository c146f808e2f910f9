//! Packet buffers, for reuse.

/// The capacity of a buffer, in bytes: any Ethernet packet, with room for a VLAN tag.
pub(crate) const BUFFER_BYTES: usize = 1536;

/// The largest number of buffers kept for reuse. The memory of longer bursts goes back to the
/// system.
const MOST_SPARE: usize = 4096;

/// Buffers that no packet currently uses.
#[derive(Debug, Default)]
pub struct Pool(Vec<Vec<u8>>);

impl Pool {
    /// Returns an empty buffer with room for an Ethernet packet.
    pub fn take(&mut self) -> Vec<u8> {
        self.0
            .pop()
            .unwrap_or_else(|| Vec::with_capacity(BUFFER_BYTES))
    }

    /// Takes a buffer that a packet no longer needs.
    pub fn give(&mut self, mut buffer: Vec<u8>) {
        let is_usual = (BUFFER_BYTES..2 * BUFFER_BYTES).contains(&buffer.capacity());
        if is_usual && self.0.len() < MOST_SPARE {
            buffer.clear();
            self.0.push(buffer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_of_the_usual_size_come_back_empty() {
        let mut pool = Pool::default();
        let mut buffer = pool.take();
        buffer.extend([1, 2, 3]);
        let place = buffer.as_ptr();
        pool.give(buffer);
        pool.give(Vec::new());
        pool.give(vec![0; 60_000]);
        let again = pool.take();
        assert_eq!((again.as_ptr(), again.len()), (place, 0));
        assert!(pool.0.is_empty());
    }

    #[test]
    fn a_burst_is_not_kept() {
        let mut pool = Pool::default();
        let burst: Vec<_> = (0..2 * MOST_SPARE).map(|_| pool.take()).collect();
        burst.into_iter().for_each(|buffer| pool.give(buffer));
        assert_eq!(pool.0.len(), MOST_SPARE);
    }
}
