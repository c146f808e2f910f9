//! Batches of packets that leave in one system call.

use skywave_transport::dccp::Train;
use skywave_wire::dccp::{EmitError, Packet};
use skywave_wire::{Checksum, Ecn};

/// The maximum number of bytes in a batch: the maximum UDP payload over IPv4, because the system
/// first treats the batch as one datagram.
const CAPACITY: usize = 65_507;

/// Consecutive packets of one connection, suitable for segmentation offload: all of the same size
/// except for a shorter last one, and with the same ECN bits.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    bytes: Vec<u8>,
    segment: usize,
    ecn: Ecn,
    count: usize,
    /// Whether the last packet is shorter than the others, which ends the batch.
    has_tail: bool,
}

impl Batch {
    /// Appends `packet`. Returns `Ok(false)` if it does not fit and must wait for the next batch.
    pub(crate) fn push(
        &mut self,
        packet: &Packet,
        ecn: Ecn,
        checksum: Checksum,
        max_count: usize,
    ) -> Result<bool, EmitError> {
        let length = packet.encoded_len();
        if self.room(length, ecn, max_count) == 0 {
            return Ok(false);
        }
        packet.emit(checksum, &mut self.bytes)?;
        self.added(1, length, ecn);
        Ok(true)
    }

    /// Appends packets of `train` until the train ends or the next packet does not fit. Returns
    /// whether a packet is left over.
    ///
    /// # Errors
    ///
    /// A packet taken out of the train cannot be encoded.
    #[inline(always)]
    pub(crate) fn extend(
        &mut self,
        train: &mut Train<'_>,
        checksum: Checksum,
        max_count: usize,
    ) -> Result<bool, EmitError> {
        let (length, ecn) = (train.packet_len(), train.ecn());
        let room = self.room(length, ecn, max_count);
        let before = self.bytes.len();
        let bytes = &mut self.bytes;
        let result = match checksum {
            // Branching here costs nothing per packet.
            Checksum::Ignored => train.take_out(room, |header, payload| {
                header.emit(payload, Checksum::Ignored, bytes)
            }),
            over => train.take_out(room, |header, payload| header.emit(payload, over, bytes)),
        };
        let count = (self.bytes.len() - before) / length;
        self.added(count, length, ecn);
        result.map(|()| count == room)
    }

    /// Returns how many packets of `length` bytes fit; at least one fits an empty batch.
    fn room(&self, length: usize, ecn: Ecn, max_count: usize) -> usize {
        if self.count == 0 {
            return (CAPACITY / length).min(max_count).max(1);
        }
        if self.ecn != ecn || length > self.segment || self.has_tail {
            return 0;
        }
        let room = CAPACITY.saturating_sub(self.bytes.len()) / length;
        let room = room.min(max_count.saturating_sub(self.count));
        if length < self.segment {
            room.min(1)
        } else {
            room
        }
    }

    /// Updates the state after `count` packets of `length` bytes each have been appended.
    fn added(&mut self, count: usize, length: usize, ecn: Ecn) {
        if count == 0 {
            return;
        }
        if self.count == 0 {
            self.segment = length;
            self.ecn = ecn;
        }
        self.has_tail = length < self.segment;
        self.count += count;
    }

    /// Empties the batch, keeping its memory.
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.count = 0;
        self.has_tail = false;
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the number of packets.
    pub(crate) const fn count(&self) -> usize {
        self.count
    }

    /// Returns the concatenated packets.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the individual packets.
    pub(crate) fn packets(&self) -> impl Iterator<Item = &[u8]> {
        self.bytes.chunks(self.segment.max(1))
    }

    /// Removes the first `count` packets after they have been sent.
    pub(crate) fn remove(&mut self, count: usize) {
        let bytes = (count * self.segment).min(self.bytes.len());
        self.bytes.drain(..bytes);
        self.count = self.count.saturating_sub(count);
        if self.count == 0 {
            self.clear();
        }
    }

    /// Returns the size in bytes of each packet except the last.
    pub(crate) const fn segment(&self) -> usize {
        self.segment
    }

    pub(crate) const fn ecn(&self) -> Ecn {
        self.ecn
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use skywave_wire::Payload;
    use skywave_wire::dccp::{Kind, OptionList, SeqNo};

    use super::*;

    /// A data packet of `size` bytes.
    pub(crate) fn data(size: u32) -> Packet {
        Packet {
            source_port: 1,
            destination_port: 2,
            ccval: 0,
            cscov: 0,
            extended: true,
            seq: SeqNo::new(7),
            kind: Kind::Data,
            options: OptionList::new(),
            payload: Payload::Synthetic(size),
        }
    }

    fn push(batch: &mut Batch, size: u32, ecn: Ecn) -> bool {
        batch.push(&data(size), ecn, Checksum::Ignored, 64).unwrap()
    }

    #[test]
    fn one_size_and_one_mark_but_for_a_shorter_tail() {
        let mut batch = Batch::default();
        assert!(push(&mut batch, 100, Ecn::Ect0));
        assert!(push(&mut batch, 100, Ecn::Ect0));
        assert!(!push(&mut batch, 100, Ecn::Ect1), "another mark");
        assert!(!push(&mut batch, 101, Ecn::Ect0), "longer");
        assert!(push(&mut batch, 7, Ecn::Ect0));
        assert!(!push(&mut batch, 7, Ecn::Ect0), "behind the tail");
        assert_eq!((batch.count(), batch.segment()), (3, 116));
        assert_eq!(batch.bytes().len(), 116 * 2 + 23);
        let sizes = |batch: &Batch| -> Vec<_> { batch.packets().map(<[u8]>::len).collect() };
        assert_eq!(sizes(&batch), [116, 116, 23]);
        batch.remove(2);
        assert_eq!((batch.count(), sizes(&batch)), (1, vec![23]));
        batch.remove(1);
        assert!(batch.is_empty());
        assert!(push(&mut batch, 101, Ecn::Ect1));
    }

    #[test]
    fn no_more_than_the_system_takes() {
        let mut batch = Batch::default();
        let mut taken = 0;
        while push(&mut batch, 1200, Ecn::Ect0) {
            taken += 1;
        }
        assert_eq!(taken, 65_507 / 1216);
        batch.clear();
        taken = 0;
        while push(&mut batch, 10, Ecn::Ect0) {
            taken += 1;
        }
        assert_eq!(taken, 64);
    }
}
