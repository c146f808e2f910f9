//! Packets in the simulator: a small frame that moves, and a body that stays in place.

use core::num::NonZeroU64;

use skywave_path::{Link, Packet};
use skywave_transport::tcp::Header;
use skywave_wire::{Ecn, Payload, dccp, tcp, udp};

use crate::world::ids::PortId;

/// Bytes of the IPv4 header that the simulator adds to every packet.
pub(crate) const IP_HEADER: u32 = 20;

/// What the simulator's links and queues move. Outside this crate it is only a [`Packet`].
// Small, because it is copied at every hop; its body stays in `Bodies`. It is two machine words so
// that a copy takes two registers: separate fields would be written narrow and read wide, which
// stalls the processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Low half: key of the [`Body`]. High half: position on its route.
    cursor: u64,
    /// Low half: the destination port. Then 24 bits of size, three of its [tag](Packet::tag), one
    /// for [`MARKED`], two of class, two of ECN. Never zero, because the size is not; zero marks
    /// the empty slots of rings.
    label: NonZeroU64,
}

/// Set if the link the frame is on has changed its ECN field.
const MARKED: u64 = 1 << 59;

impl Frame {
    /// Creates a frame of `size` bytes that leaves from this port.
    pub(crate) const fn new(body: u32, from: Port, size: u32, ecn: Ecn) -> Self {
        let Port {
            peer, hop, class, ..
        } = from;
        let label = peer.get() as u64
            | (size as u64) << 32
            | (class as u64) << 60
            | (ecn.bits() as u64) << 62;
        Self {
            cursor: body as u64 | (hop as u64) << 32,
            label: label_of(label),
        }
    }

    /// Returns the frame with this [tag](Packet::tag).
    pub(crate) const fn tagged(self, tag: u8) -> Self {
        Self {
            cursor: self.cursor,
            label: label_of(self.label.get() | (tag as u64 & 7) << 56),
        }
    }

    /// Returns the frame with this [tag](Packet::tag) in place of its own.
    pub(crate) const fn retagged(self, tag: u8) -> Self {
        let untagged = Self {
            cursor: self.cursor,
            label: label_of(self.label.get() & !(7 << 56)),
        };
        untagged.tagged(tag)
    }

    /// Returns the key of the [`Body`].
    pub(crate) const fn body(self) -> usize {
        self.cursor as u32 as usize
    }

    /// Returns the frame with another key.
    pub(crate) const fn with_body(self, body: u32) -> Self {
        Self {
            cursor: self.cursor >> 32 << 32 | body as u64,
            label: self.label,
        }
    }

    /// Returns its position on its route.
    pub(crate) const fn hop(self) -> u32 {
        (self.cursor >> 32) as u32
    }

    /// Returns the frame one hop further.
    pub(crate) const fn moved_on(self) -> Self {
        Self {
            cursor: self.cursor + (1 << 32),
            label: label_of(self.label.get() & !MARKED),
        }
    }

    /// Returns whether the link it is on has changed its ECN field.
    pub(crate) const fn was_marked(self) -> bool {
        self.label.get() & MARKED != 0
    }

    /// Returns the destination port.
    pub(crate) const fn to(self) -> PortId {
        PortId::new(self.label.get() as u32)
    }
}

/// Converts to a label, which is never zero.
const fn label_of(label: u64) -> NonZeroU64 {
    NonZeroU64::new(label).expect("a packet has a size")
}

/// Where packets enter the network, and where they go from there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Port {
    /// The port at the end of their route.
    pub(crate) peer: PortId,
    /// The index of the first hop of their route in the network's table of hops.
    pub(crate) hop: u32,
    /// The traffic class, below [`skywave_path::CLASSES`].
    pub(crate) class: u8,
    /// Whether routers read tags of these packets; see [`Transport::tag`].
    ///
    /// [`Transport::tag`]: crate::world::transport::Transport::tag
    pub(crate) has_tags: bool,
}

impl Packet for Frame {
    fn size(&self) -> u32 {
        (self.label.get() >> 32) as u32 & 0x00ff_ffff
    }

    fn ecn(&self) -> Ecn {
        Ecn::from_bits((self.label.get() >> 62) as u8)
    }

    fn set_ecn(&mut self, ecn: Ecn) {
        if ecn != self.ecn() {
            let rest = self.label.get() & !(3 << 62);
            self.label = label_of(rest | (ecn.bits() as u64) << 62 | MARKED);
        }
    }

    fn flow(&self) -> u64 {
        // Each port belongs to one flow.
        u64::from(self.to().get())
    }

    fn class(&self) -> u8 {
        (self.label.get() >> 60) as u8 & 3
    }

    fn tag(&self) -> u8 {
        (self.label.get() >> 56) as u8 & 7
    }
}

/// A link of the simulator.
pub(crate) type SimLink = Link<Frame>;

/// A typed transport packet: what a frame stands for from sending until it is received or dropped.
///
/// Thousands are in flight at a time, and their size decides whether they stay in a cache until
/// they arrive. Therefore only bare segments are stored inline.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    Bare(BareSegment),
    Tcp(Box<tcp::Segment>),
    Dccp(Box<dccp::Packet>),
    Udp(Box<udp::Datagram>),
}

/// A TCP segment without options or IP identification, with a small checksum offset, whose data has
/// no content. Nearly all segments are bare, and they take a quarter of the size of
/// [`tcp::Segment`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BareSegment {
    source_port: u16,
    destination_port: u16,
    seq: u32,
    ack: u32,
    /// The control bits, and above them the checksum offset.
    control: u16,
    window: u16,
    data: u32,
}

/// What a [`BareSegment`] has room for: checksum offsets below this.
const CHECKSUM_OFFSETS: u8 = 1 << (u16::BITS - tcp::Flags::COUNT);

impl BareSegment {
    const fn flags(&self) -> tcp::Flags {
        tcp::Flags::from_bits(self.control)
    }

    const fn checksum_offset(&self) -> u8 {
        (self.control >> tcp::Flags::COUNT) as u8
    }

    /// Returns the header fields that a header extension may have changed.
    pub(crate) const fn header(&self) -> Header {
        Header {
            seq: self.seq,
            ack: self.ack,
            flags: self.flags(),
            checksum_offset: self.checksum_offset(),
            identification: 0,
        }
    }
}

impl From<BareSegment> for tcp::Segment {
    #[inline(always)]
    fn from(bare: BareSegment) -> Self {
        Self {
            source_port: bare.source_port,
            destination_port: bare.destination_port,
            seq: bare.seq,
            ack: bare.ack,
            flags: bare.flags(),
            window: bare.window,
            checksum_offset: bare.checksum_offset(),
            identification: 0,
            options: tcp::TcpOptions::default(),
            payload: Payload::Synthetic(bare.data),
        }
    }
}

impl From<tcp::Segment> for Body {
    #[inline(always)]
    fn from(segment: tcp::Segment) -> Self {
        match segment.payload {
            Payload::Synthetic(data)
                if segment.options.is_empty()
                    && segment.identification == 0
                    && segment.checksum_offset < CHECKSUM_OFFSETS =>
            {
                Self::Bare(BareSegment {
                    source_port: segment.source_port,
                    destination_port: segment.destination_port,
                    seq: segment.seq,
                    ack: segment.ack,
                    control: segment.flags.bits()
                        | u16::from(segment.checksum_offset) << tcp::Flags::COUNT,
                    window: segment.window,
                    data,
                })
            }
            _ => Self::Tcp(Box::new(segment)),
        }
    }
}

impl From<dccp::Packet> for Body {
    #[inline(always)]
    fn from(packet: dccp::Packet) -> Self {
        Self::Dccp(Box::new(packet))
    }
}

impl From<udp::Datagram> for Body {
    fn from(datagram: udp::Datagram) -> Self {
        Self::Udp(Box::new(datagram))
    }
}

impl Body {
    /// Returns the size in bytes: transport header and data.
    #[inline(always)]
    pub(crate) fn size(&self) -> u32 {
        let header = match self {
            Self::Bare(_) => tcp::MIN_HEADER,
            Self::Tcp(segment) => segment.header_len(),
            Self::Dccp(packet) => packet.header_len(),
            Self::Udp(_) => udp::Datagram::HEADER_LEN,
        };
        header as u32 + self.data()
    }

    /// Returns the bytes of application data.
    pub(crate) fn data(&self) -> u32 {
        match self {
            Self::Bare(bare) => bare.data,
            Self::Tcp(segment) => segment.payload.len() as u32,
            Self::Dccp(packet) => packet.payload.len() as u32,
            Self::Udp(datagram) => datagram.payload.len() as u32,
        }
    }

    /// Returns the type of packet, for tables.
    pub(crate) fn kind(&self) -> &'static str {
        let flags = match self {
            Self::Bare(bare) => bare.flags(),
            Self::Tcp(segment) => segment.flags,
            Self::Dccp(packet) => return packet.kind.packet_type().name(),
            Self::Udp(_) => return "UDP",
        };
        if flags.contains(tcp::Flags::SYN) {
            "TCP SYN"
        } else if flags.contains(tcp::Flags::FIN) {
            "TCP FIN"
        } else if self.data() == 0 {
            "TCP ACK"
        } else {
            "TCP data"
        }
    }

    /// Recomputes TCP's checksum, which removes its offset.
    pub(crate) fn recompute_checksum(&mut self) {
        match self {
            Self::Bare(bare) => bare.control = bare.flags().bits(),
            Self::Tcp(segment) => segment.checksum_offset = 0,
            Self::Dccp(_) | Self::Udp(_) => {}
        }
    }

    /// Returns the datagram it carries, if the protocol has datagrams.
    pub(crate) fn datagram(&self) -> Option<&Payload> {
        match self {
            Self::Dccp(packet) => Some(&packet.payload),
            Self::Udp(datagram) => Some(&datagram.payload),
            Self::Bare(_) | Self::Tcp(_) => None,
        }
    }

    /// Returns the number of its protocol in IP headers.
    pub(crate) const fn protocol(&self) -> u8 {
        match self {
            Self::Bare(_) | Self::Tcp(_) => tcp::IP_PROTOCOL,
            Self::Dccp(_) => dccp::IP_PROTOCOL,
            Self::Udp(_) => udp::IP_PROTOCOL,
        }
    }

    /// Returns the source and destination port.
    pub(crate) fn ports(&self) -> (u16, u16) {
        match self {
            Self::Bare(bare) => (bare.source_port, bare.destination_port),
            Self::Tcp(segment) => (segment.source_port, segment.destination_port),
            Self::Dccp(packet) => (packet.source_port, packet.destination_port),
            Self::Udp(datagram) => (datagram.source_port, datagram.destination_port),
        }
    }

    /// Returns the sequence number in the header, or zero if there is none.
    pub(crate) fn seq(&self) -> u64 {
        match self {
            Self::Bare(bare) => u64::from(bare.seq),
            Self::Tcp(segment) => u64::from(segment.seq),
            Self::Dccp(packet) => packet.seq.get(),
            Self::Udp(_) => 0,
        }
    }

    /// Returns the acknowledgement number in the header.
    pub(crate) fn ack(&self) -> Option<u64> {
        let (flags, ack) = match self {
            Self::Bare(bare) => (bare.flags(), bare.ack),
            Self::Tcp(segment) => (segment.flags, segment.ack),
            Self::Dccp(packet) => return packet.kind.ack().map(dccp::SeqNo::get),
            Self::Udp(_) => return None,
        };
        flags.contains(tcp::Flags::ACK).then_some(u64::from(ack))
    }
}

/// Packets are equal regardless of how they are stored.
impl PartialEq for Body {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Dccp(a), Self::Dccp(b)) => a == b,
            (Self::Udp(a), Self::Udp(b)) => a == b,
            (Self::Tcp(a), Self::Tcp(b)) => a == b,
            (Self::Bare(a), Self::Bare(b)) => a == b,
            (Self::Bare(bare), Self::Tcp(full)) | (Self::Tcp(full), Self::Bare(bare)) => {
                **full == bare.clone().into()
            }
            (Self::Dccp(_) | Self::Udp(_), _) | (_, Self::Dccp(_) | Self::Udp(_)) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_holds_what_it_was_made_of() {
        let port = Port {
            peer: PortId::new(9),
            hop: 7,
            class: 2,
            has_tags: true,
        };
        let mut frame = Frame::new(u32::MAX, port, 65_575, Ecn::Ect1).tagged(7);
        frame.set_ecn(Ecn::Ect1);
        assert!(!frame.was_marked());
        frame.set_ecn(Ecn::Ce);
        assert!(frame.was_marked());
        let frame = frame.moved_on();
        assert!(!frame.was_marked());
        assert_eq!(frame.retagged(2).tag(), 2, "a new tag replaces the old one");
        assert_eq!(
            (frame.body(), frame.hop(), frame.to()),
            (u32::MAX as usize, 8, PortId::new(9))
        );
        assert_eq!(
            (frame.size(), frame.class(), frame.ecn(), frame.tag()),
            (65_575, 2, Ecn::Ce, 7)
        );
    }

    /// A million packets in flight is common, and a larger size affects every cache.
    #[test]
    fn packets_on_their_way_are_small() {
        assert!(size_of::<Frame>() <= 16);
        assert!(size_of::<Body>() <= 24);
        assert!(size_of::<BareSegment>() <= 20);
    }

    #[test]
    fn a_bare_segment_keeps_all_flags_and_its_checksum_offset() {
        for flags in (0..tcp::Flags::COUNT).map(|bit| tcp::Flags::from_bits(1 << bit)) {
            for checksum_offset in [0, 1, CHECKSUM_OFFSETS - 1, CHECKSUM_OFFSETS, u8::MAX] {
                let segment = tcp::Segment {
                    source_port: 1,
                    destination_port: 2,
                    seq: 3,
                    ack: 4,
                    flags,
                    window: 5,
                    checksum_offset,
                    identification: 0,
                    options: tcp::TcpOptions::default(),
                    payload: Payload::Synthetic(6),
                };
                let mut body = Body::from(segment.clone());
                let is_bare = matches!(body, Body::Bare(_));
                assert_eq!(is_bare, checksum_offset < CHECKSUM_OFFSETS);
                assert_eq!(body, Body::Tcp(Box::new(segment.clone())));
                body.recompute_checksum();
                let computed = tcp::Segment {
                    checksum_offset: 0,
                    ..segment
                };
                assert_eq!(body, Body::Tcp(Box::new(computed)));
            }
        }
    }
}
