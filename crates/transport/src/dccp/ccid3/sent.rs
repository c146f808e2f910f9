//! When each packet left, so that an acknowledgement gives a round-trip time (RFC 4342 section
//! 10.1).

use std::collections::VecDeque;

use skywave_units::Instant;
use skywave_wire::dccp::SeqNo;

/// The most packets remembered, acknowledged or not.
const PACKETS: usize = 1 << 17;

/// A packet we sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sent {
    pub(super) at: Instant,
    /// Its window counter; packets without data have none.
    pub(super) counter: Option<u8>,
}

/// The latest packets sent, with and without data.
#[derive(Clone, Debug, Default)]
pub(super) struct SentLog {
    first: SeqNo,
    /// One entry per sequence number from `first` on.
    packets: VecDeque<Sent>,
}

impl SentLog {
    /// Records that packet `seq` leaves.
    pub(super) fn on_sent(&mut self, seq: SeqNo, sent: Sent) {
        let expected = self.first.add(self.packets.len() as u64);
        if self.packets.is_empty() || seq != expected {
            self.packets.clear();
            self.first = seq;
        }
        if self.packets.len() == PACKETS {
            self.packets.pop_front();
            self.first = self.first.next();
        }
        self.packets.push_back(sent);
    }

    /// Handles an acknowledgement of packet `seq`: forgets older packets and returns this one's
    /// entry. Returns `None` if a later packet was acknowledged before.
    pub(super) fn on_ack(&mut self, seq: SeqNo) -> Option<Sent> {
        let index = usize::try_from(seq.distance_from(self.first)).ok()?;
        let sent = *self.packets.get(index)?;
        self.packets.drain(..index);
        self.first = seq;
        Some(sent)
    }
}

#[cfg(test)]
mod tests {
    use skywave_units::Duration;

    use super::*;

    fn sent(millis: u64) -> Sent {
        Sent {
            at: Instant::ZERO + Duration::from_millis(millis),
            counter: None,
        }
    }

    #[test]
    fn finds_packets_across_the_wrap_and_forgets_older_ones() {
        let mut log = SentLog::default();
        let first = SeqNo::new(SeqNo::MODULUS - 2);
        assert_eq!(log.on_ack(first), None);
        for index in 0..5 {
            log.on_sent(first.add(index), sent(index));
        }
        assert_eq!(log.on_ack(first.add(3)), Some(sent(3)));
        assert_eq!(log.on_ack(first.add(2)), None, "stale");
        assert_eq!(log.on_ack(first.add(5)), None, "not sent");
        assert_eq!(log.on_ack(first.add(3)), Some(sent(3)), "again");
        assert_eq!(log.on_ack(first.add(4)), Some(sent(4)));
    }

    #[test]
    fn memory_is_bounded() {
        let mut log = SentLog::default();
        for index in 0..PACKETS as u64 + 10 {
            log.on_sent(SeqNo::new(index), sent(index));
        }
        assert_eq!(log.packets.len(), PACKETS);
        assert_eq!(log.on_ack(SeqNo::new(9)), None);
        assert_eq!(log.on_ack(SeqNo::new(10)), Some(sent(10)));
    }
}
