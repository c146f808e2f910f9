//! Packets in the simulator: a small frame that travels, a body that stays where it is.

use skywave_path::Packet;
use skywave_wire::{Ecn, dccp, tcp};

/// Bytes of the IPv4 header that the simulator puts before every packet.
pub(crate) const IP_HEADER: u32 = 20;

/// What links and queues move: small, copied from hop to hop. Its body waits in a slab.
///
/// Two machine words, so that a copy is two registers: fields of their own would be written
/// narrow and read wide, and a processor waits for that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    /// Low half: key of the [`Body`]. High half: where on its route it is.
    place: u64,
    /// Low half: the host that it is addressed to. Then 30 bits of size and two of ECN.
    label: u64,
}

impl Frame {
    /// A frame of `size` bytes for host `to`, at `hop` of its route: an index into the network's
    /// hops.
    pub(crate) const fn new(body: u32, hop: u32, to: u32, size: u32, ecn: Ecn) -> Self {
        Self {
            place: body as u64 | (hop as u64) << 32,
            label: to as u64 | (size as u64) << 32 | (ecn.bits() as u64) << 62,
        }
    }

    /// Key of the [`Body`].
    pub(crate) const fn body(self) -> usize {
        self.place as u32 as usize
    }

    /// Where on its route it is.
    pub(crate) const fn hop(self) -> u32 {
        (self.place >> 32) as u32
    }

    /// The same frame, one hop on.
    pub(crate) const fn moved_on(self) -> Self {
        Self {
            place: self.place + (1 << 32),
            label: self.label,
        }
    }

    /// The host that it is addressed to.
    pub(crate) const fn to(self) -> u32 {
        self.label as u32
    }
}

impl Packet for Frame {
    fn size(&self) -> u32 {
        (self.label >> 32) as u32 & 0x3fff_ffff
    }

    fn ecn(&self) -> Ecn {
        Ecn::from_bits((self.label >> 62) as u8)
    }

    fn set_ecn(&mut self, ecn: Ecn) {
        self.label = self.label & !(3 << 62) | (ecn.bits() as u64) << 62;
    }
}

/// A transport packet, typed: what a frame stands for, from the moment it is sent until it is
/// received or dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    Tcp(tcp::Segment),
    Dccp(dccp::Packet),
}

impl From<tcp::Segment> for Body {
    fn from(segment: tcp::Segment) -> Self {
        Self::Tcp(segment)
    }
}

impl From<dccp::Packet> for Body {
    fn from(packet: dccp::Packet) -> Self {
        Self::Dccp(packet)
    }
}

impl Body {
    /// Bytes of the packet, transport header and data.
    pub(crate) fn size(&self) -> u32 {
        let (header, data) = match self {
            Self::Tcp(segment) => (segment.header_len(), segment.payload.len()),
            Self::Dccp(packet) => (packet.header_len(), packet.payload.len()),
        };
        (header + data) as u32
    }

    /// Bytes of application data.
    pub(crate) fn data(&self) -> u32 {
        match self {
            Self::Tcp(segment) => segment.payload.len() as u32,
            Self::Dccp(packet) => packet.payload.len() as u32,
        }
    }

    /// What kind of packet, for tables.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Tcp(segment) if segment.flags.contains(tcp::Flags::SYN) => "TCP SYN",
            Self::Tcp(segment) if segment.flags.contains(tcp::Flags::FIN) => "TCP FIN",
            Self::Tcp(segment) if segment.payload.is_empty() => "TCP ACK",
            Self::Tcp(_) => "TCP data",
            Self::Dccp(packet) => match packet.kind {
                dccp::Kind::Request { .. } => "DCCP-Request",
                dccp::Kind::Response { .. } => "DCCP-Response",
                dccp::Kind::Data => "DCCP-Data",
                dccp::Kind::Ack { .. } => "DCCP-Ack",
                dccp::Kind::DataAck { .. } => "DCCP-DataAck",
                dccp::Kind::CloseReq { .. } => "DCCP-CloseReq",
                dccp::Kind::Close { .. } => "DCCP-Close",
                dccp::Kind::Reset { .. } => "DCCP-Reset",
                dccp::Kind::Sync { .. } => "DCCP-Sync",
                dccp::Kind::SyncAck { .. } => "DCCP-SyncAck",
                dccp::Kind::Listen { .. } => "DCCP-Listen",
            },
        }
    }

    /// Sequence number as it stands in the header.
    pub(crate) fn seq(&self) -> u64 {
        match self {
            Self::Tcp(segment) => u64::from(segment.seq),
            Self::Dccp(packet) => packet.seq.get(),
        }
    }

    /// Acknowledgement number as it stands in the header.
    pub(crate) fn ack(&self) -> Option<u64> {
        match self {
            Self::Tcp(segment) => segment
                .flags
                .contains(tcp::Flags::ACK)
                .then_some(u64::from(segment.ack)),
            Self::Dccp(packet) => packet.kind.ack().map(dccp::SeqNo::get),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_holds_what_it_was_made_of() {
        let mut frame = Frame::new(u32::MAX, 7, 9, 65_575, Ecn::Ect1);
        frame.set_ecn(Ecn::Ce);
        let frame = frame.moved_on();
        assert_eq!(
            (frame.body(), frame.hop(), frame.to()),
            (u32::MAX as usize, 8, 9)
        );
        assert_eq!((frame.size(), frame.ecn()), (65_575, Ecn::Ce));
    }

    /// A million packets in flight are common; a size that grows is felt in every cache.
    #[test]
    fn packets_on_their_way_are_small() {
        assert!(size_of::<Frame>() <= 16);
        assert!(size_of::<Body>() <= 112);
    }
}
