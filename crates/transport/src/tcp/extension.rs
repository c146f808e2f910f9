//! Header extensions: how a congestion control can write into TCP's header.
//!
//! An extension has two halves, one at each end. Each half modifies outgoing segments, and restores
//! the header of incoming ones to RFC 9293 semantics before anything else reads it. Connections
//! without an extension pay nothing.

use core::fmt;

use skywave_congestion::Control;
use skywave_units::Instant;
use skywave_wire::Ecn;
use skywave_wire::tcp::{Flags, Segment};

/// The header fields that an extension may change. They are passed and returned by value, so that a
/// segment without an extension never has to be stored in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgement number.
    pub ack: u32,
    /// Control bits.
    pub flags: Flags,
    /// By how much the checksum deliberately differs; see [`Segment::checksum_offset`].
    pub checksum_offset: u8,
    /// The identification field of the IPv4 header; see [`Segment::identification`].
    pub identification: u16,
}

impl Header {
    /// Copies the fields of a segment.
    pub const fn of(segment: &Segment) -> Self {
        Self {
            seq: segment.seq,
            ack: segment.ack,
            flags: segment.flags,
            checksum_offset: segment.checksum_offset,
            identification: segment.identification,
        }
    }

    /// Writes the fields into a segment.
    pub const fn put_into(self, segment: &mut Segment) {
        segment.seq = self.seq;
        segment.ack = self.ack;
        segment.flags = self.flags;
        segment.checksum_offset = self.checksum_offset;
        segment.identification = self.identification;
    }
}

/// The sending end's half: a control that also writes into the header.
pub trait SenderExtension: Control {
    /// Returns the header and ECN bits for an outgoing segment with data or FIN, in place of
    /// `header` and the usual ECN bits.
    fn write(&mut self, header: Header) -> (Header, Ecn);

    /// Reads the header of an incoming segment and returns it as it was before the peer's half
    /// changed it. `next` is the peer's next sequence number, which all its segments have because
    /// it sends no data.
    fn read(&mut self, now: Instant, header: Header, next: u32) -> Header;

    /// Returns the ECN bits with which the newly acknowledged segments arrived, according to an
    /// acknowledgement with these flags.
    fn echo(&self, flags: Flags) -> Ecn;
}

/// The receiving end's half.
pub trait ReceiverExtension: fmt::Debug {
    /// Reads the header of an incoming segment and returns it as it was before the peer's half
    /// changed it. `ack` is the acknowledgement number of all the peer's segments, because ours
    /// carry no data.
    fn read(&mut self, header: Header, ack: u32) -> Header;

    /// Reports the arrival of a segment with data or FIN and these ECN bits.
    fn on_data(&mut self, ecn: Ecn);

    /// Returns whether every segment is acknowledged at once, overriding delayed acknowledgements.
    fn acks_at_once(&self) -> bool;

    /// Returns the header for an acknowledgement in place of `header`. Not called for a SYN-ACK.
    fn write(&mut self, header: Header) -> Header;
}
