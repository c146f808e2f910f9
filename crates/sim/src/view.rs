//! What a run shows: packets, hosts and links, as those see them who watch.

use std::ops::Sub;

use skywave_path::{DropReason, Packet};
use skywave_wire::{Ecn, Payload};

use crate::bodies::Bodies;
use crate::host::{Host, HostStats};
use crate::ids::{FlowId, HostId};
use crate::packet::{Body, Frame, SimLink};

/// What happens to a packet. From `Send` to `Receive` or `Drop`, each packet takes part in an
/// `Enqueue` and an `Arrive` for every link of its route; a queue may drop it between the two.
///
/// Links are directed and numbered: both directions of each link, in the order of the scenario,
/// those of a dumbbell first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Its sender has sent it.
    Send,
    /// A link has taken it in.
    Enqueue {
        /// The link.
        link: u32,
    },
    /// A link has lost it.
    Drop {
        /// The link.
        link: u32,
        /// Why.
        reason: DropReason,
        /// Whether the link had taken it in before.
        entered: bool,
    },
    /// It has reached the far end of a link.
    Arrive {
        /// The link.
        link: u32,
    },
    /// The host that it is addressed to has it, but has not looked at it yet.
    Receive,
}

impl Event {
    /// The link on which it happens, if it happens on one.
    #[inline(always)]
    pub const fn link(self) -> Option<u32> {
        match self {
            Self::Enqueue { link } | Self::Drop { link, .. } | Self::Arrive { link } => Some(link),
            Self::Send | Self::Receive => None,
        }
    }
}

/// A packet on its way.
#[derive(Clone, Copy)]
pub struct PacketView<'a> {
    frame: &'a Frame,
    bodies: &'a Bodies,
}

impl<'a> PacketView<'a> {
    #[inline(always)]
    pub(crate) const fn new(frame: &'a Frame, bodies: &'a Bodies) -> Self {
        Self { frame, bodies }
    }

    /// The flow that it belongs to.
    #[inline(always)]
    pub const fn flow(self) -> FlowId {
        self.frame.to().flow()
    }

    /// The host that has sent it.
    #[inline(always)]
    pub const fn from(self) -> HostId {
        self.frame.to().peer()
    }

    /// The host that it is addressed to.
    #[inline(always)]
    pub const fn to(self) -> HostId {
        self.frame.to()
    }

    /// Whether it goes from its flow's sender to the receiver.
    #[inline(always)]
    pub const fn is_forward(self) -> bool {
        !self.frame.to().is_sender()
    }

    /// Bytes on the link, the IP header included.
    #[inline(always)]
    pub fn size(self) -> u32 {
        self.frame.size()
    }

    /// The ECN field of its IP header.
    #[inline(always)]
    pub fn ecn(self) -> Ecn {
        self.frame.ecn()
    }

    /// Whether the link that it is on has changed its ECN field.
    #[inline(always)]
    pub const fn was_marked(self) -> bool {
        self.frame.was_marked()
    }

    /// Bytes of application data.
    pub fn data(self) -> u32 {
        self.body().data()
    }

    /// What kind of packet it is, in a word or two: `"TCP data"`, `"DCCP-Ack"`.
    pub fn kind(self) -> &'static str {
        self.body().kind()
    }

    /// The sequence number as it stands in the header; zero where there is none (UDP).
    pub fn seq(self) -> u64 {
        self.body().seq()
    }

    /// The acknowledgement number as it stands in the header, where there is one.
    pub fn ack(self) -> Option<u64> {
        self.body().ack()
    }

    /// The datagram that it carries, where its protocol has such (DCCP, UDP).
    pub fn datagram(self) -> Option<&'a Payload> {
        self.body().datagram()
    }

    /// A number that no other packet has while this one is on its way. Numbers are small and are
    /// used again, so that they can index a table.
    #[inline(always)]
    pub const fn slot(self) -> usize {
        self.frame.body()
    }

    #[inline(always)]
    pub(crate) fn body(self) -> &'a Body {
        &self.bodies[self.frame.body()]
    }
}

/// A host: its flow's sender or receiver.
#[derive(Clone, Copy)]
pub struct HostView<'a> {
    id: HostId,
    host: &'a Host,
}

impl<'a> HostView<'a> {
    #[inline(always)]
    pub(crate) const fn new(id: HostId, host: &'a Host) -> Self {
        Self { id, host }
    }

    /// Which host it is.
    #[inline(always)]
    pub const fn id(self) -> HostId {
        self.id
    }

    /// Its counters, and the state of its congestion control.
    pub fn stats(self) -> HostStats {
        self.host.stats()
    }

    /// Tells `record` the inner values of its sender's congestion control, each with its name; see
    /// [`Control::inner_values`](skywave_congestion::Control::inner_values).
    pub fn inner_values(&self, record: &mut dyn FnMut(&'static str, f64)) {
        self.host.inner_values(record);
    }
}

/// A directed link, brought up to the time of the sample.
#[derive(Clone, Copy)]
pub struct LinkView<'a> {
    index: u32,
    link: &'a SimLink,
    count: PacketCount,
}

impl LinkView<'_> {
    /// Which link it is.
    pub const fn index(self) -> u32 {
        self.index
    }

    /// Its packets from the beginning of the run on.
    pub const fn count(self) -> PacketCount {
        self.count
    }

    /// Packets that wait in its queue; the one in transmission does not.
    pub fn queued_packets(self) -> u64 {
        self.link.queued_packets() as u64
    }

    /// Bytes that wait in its queue.
    pub fn queued_bytes(self) -> u64 {
        self.link.queued_bytes()
    }

    /// Tells `record` the inner values of its queue, each with its name; see
    /// [`Link::inner_values`](skywave_path::Link::inner_values).
    pub fn inner_values(&self, record: &mut dyn FnMut(&str, f64)) {
        self.link.inner_values(record);
    }
}

/// A run at a sampling time.
#[derive(Clone, Copy)]
pub struct Sample<'a> {
    links: &'a [SimLink],
    hosts: &'a [Host],
    /// Of each link; empty where nobody counts.
    counts: &'a [PacketCount],
}

impl<'a> Sample<'a> {
    pub(crate) const fn new(links: &'a [SimLink], hosts: &'a [Host]) -> Self {
        Self {
            links,
            hosts,
            counts: &[],
        }
    }

    /// The same, with a count of each link's packets.
    pub(crate) const fn with_counts(self, counts: &'a [PacketCount]) -> Self {
        Self { counts, ..self }
    }

    /// All directed links, in order.
    pub fn links(self) -> impl Iterator<Item = LinkView<'a>> {
        (0..self.links.len() as u32).map(move |index| self.link(index))
    }

    /// A directed link.
    ///
    /// # Panics
    /// Where there is none of this index.
    pub fn link(self, index: u32) -> LinkView<'a> {
        let count = self.counts.get(index as usize);
        LinkView {
            index,
            link: &self.links[index as usize],
            count: count.copied().unwrap_or_default(),
        }
    }

    /// All hosts, in order.
    pub fn hosts(self) -> impl Iterator<Item = HostView<'a>> {
        let hosts = (0..).map(HostId::new).zip(self.hosts);
        hosts.map(|(id, host)| HostView::new(id, host))
    }

    /// A host.
    ///
    /// # Panics
    /// Where there is none of this number.
    pub fn host(self, id: HostId) -> HostView<'a> {
        HostView::new(id, &self.hosts[id.index()])
    }
}

/// Packets counted on a link: all, or those of one flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketCount {
    /// Packets that came to the link.
    pub arrivals: u64,
    /// Those that it lost.
    pub drops: u64,
    /// Those that reached the far end.
    pub delivered: u64,
    /// Bytes in them.
    pub delivered_bytes: u64,
    /// Of those delivered, the ones that came out with another ECN field than they had gone in with.
    pub marks: u64,
}

impl PacketCount {
    /// Counts what happens to a packet on the link.
    // What happens is known where it is told: all but its own arm falls away there.
    #[inline(always)]
    pub fn add(&mut self, event: Event, packet: PacketView<'_>) {
        match event {
            Event::Send | Event::Receive => {}
            Event::Enqueue { .. } => self.arrivals += 1,
            Event::Drop { entered, .. } => {
                self.arrivals += u64::from(!entered);
                self.drops += 1;
            }
            Event::Arrive { .. } => {
                self.delivered += 1;
                self.marks += u64::from(packet.was_marked());
                self.delivered_bytes += u64::from(packet.size());
            }
        }
    }

    /// Bits per second delivered, if these are the packets of so many seconds.
    pub fn throughput_bps(&self, seconds: f64) -> f64 {
        self.delivered_bytes as f64 * 8.0 / seconds
    }
}

/// What came between an earlier count and this one.
impl Sub for PacketCount {
    type Output = Self;

    fn sub(self, earlier: Self) -> Self {
        Self {
            arrivals: self.arrivals - earlier.arrivals,
            drops: self.drops - earlier.drops,
            delivered: self.delivered - earlier.delivered,
            delivered_bytes: self.delivered_bytes - earlier.delivered_bytes,
            marks: self.marks - earlier.marks,
        }
    }
}
