//! Packets in the simulator: a small frame that travels, a body that stays where it is.

use skywave_path::Packet;
use skywave_units::Instant;
use skywave_wire::{Ecn, dccp, tcp};

/// Bytes of the IPv4 header that the simulator puts before every packet.
pub(crate) const IP_HEADER: u32 = 20;

/// What links and queues move: small, copied from hop to hop. Its body waits in a slab.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    /// Key of the [`Parcel`].
    pub(crate) parcel: u32,
    /// Where on its route it is: an index into the network's hops.
    pub(crate) hop: u32,
    /// The host that it is addressed to.
    pub(crate) to: u32,
    /// Bytes on the link.
    pub(crate) size: u32,
    /// ECN field.
    pub(crate) ecn: Ecn,
}

impl Packet for Frame {
    fn size(&self) -> u32 {
        self.size
    }

    fn ecn(&self) -> Ecn {
        self.ecn
    }

    fn set_ecn(&mut self, ecn: Ecn) {
        self.ecn = ecn;
    }
}

/// What a frame stands for, from the moment it is sent until it is received or dropped.
#[derive(Debug)]
pub(crate) struct Parcel {
    /// Unique in the run: the ordinal of its sending, from 0.
    pub(crate) id: u64,
    /// When its sender sent it.
    pub(crate) sent_at: Instant,
    /// The packet.
    pub(crate) body: Body,
}

/// A transport packet, typed.
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

    /// A million packets in flight are common; a size that grows is felt in every cache.
    #[test]
    fn packets_on_their_way_are_small() {
        assert!(size_of::<Frame>() <= 20);
        assert!(size_of::<Parcel>() <= 128);
    }
}
