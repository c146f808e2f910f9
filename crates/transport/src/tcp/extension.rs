//! A header extension: what a congestion control of one's own may write into TCP's header.
//!
//! An extension has two halves, one at each end. Each half writes into segments that leave, and
//! puts the header of those that arrive back to what RFC 9293 makes of them, before anything else
//! looks at it. A connection without one pays nothing for it.

use core::fmt;

use skywave_congestion::Control;
use skywave_units::Instant;
use skywave_wire::Ecn;
use skywave_wire::tcp::{Flags, Segment};

/// The fields of a segment's header that an extension may change. They are handed over and back by
/// value, so that a segment without an extension never has to be put into memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgement number.
    pub ack: u32,
    /// Control bits.
    pub flags: Flags,
    /// By how much the checksum is meant to differ; see [`Segment::checksum_offset`].
    pub checksum_offset: u8,
}

impl Header {
    /// Those of a segment.
    pub const fn of(segment: &Segment) -> Self {
        Self {
            seq: segment.seq,
            ack: segment.ack,
            flags: segment.flags,
            checksum_offset: segment.checksum_offset,
        }
    }

    /// Puts them in the place of those of a segment.
    pub const fn put_into(self, segment: &mut Segment) {
        segment.seq = self.seq;
        segment.ack = self.ack;
        segment.flags = self.flags;
        segment.checksum_offset = self.checksum_offset;
    }
}

/// The sending end's half: a control that also has a say in the header.
pub trait SenderExtension: Control {
    /// What a segment with data or FIN leaves with, instead of `header` and ECN as it is otherwise.
    fn write(&mut self, header: Header) -> (Header, Ecn);

    /// Reads the header of a segment that has arrived, and returns it as it was before the peer's half
    /// wrote into it. `next` is the sequence number that the peer sends next: all its segments have
    /// it, since it sends no data.
    fn read(&mut self, now: Instant, header: Header, next: u32) -> Header;

    /// The ECN bits with which the segments arrived that an acknowledgement with these flags
    /// acknowledges.
    fn echo(&self, flags: Flags) -> Ecn;
}

/// The receiving end's half.
pub trait ReceiverExtension: fmt::Debug {
    /// Reads the header of a segment that has arrived, and returns it as it was before the peer's half
    /// wrote into it. `ack` is the acknowledgement number that all segments of the peer have, since
    /// none of ours carries data.
    fn read(&mut self, header: Header, ack: u32) -> Header;

    /// A segment with data or FIN has arrived, with these ECN bits.
    fn on_data(&mut self, ecn: Ecn);

    /// Whether every segment is acknowledged at once, however acknowledgements are delayed
    /// otherwise.
    fn acks_at_once(&self) -> bool;

    /// What an acknowledgement leaves with instead of `header`. No SYN-ACK is asked for.
    fn write(&mut self, header: Header) -> Header;
}
