//! What observers see of a run: packets, hosts and links.

use std::ops::{AddAssign, Sub};

use skywave_path::{DropReason, Packet};
use skywave_units::{Duration, Instant};
use skywave_wire::{Ecn, Payload};

use crate::world::bodies::Bodies;
use crate::world::host::Host;
use crate::world::ids::{FlowId, HostId};
use crate::world::packet::{Body, Frame, SimLink};
use crate::world::partition::Map;
use skywave_transport::EndStats;

/// What happens to a packet. Between `Send` and `Receive` or `Drop`, each packet has an `Enqueue`
/// and an `Arrive` for every link of its route; a queue may drop it between the two.
///
/// Links are directed and numbered: both directions of each link in the order of the scenario,
/// those of a dumbbell first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// Its sender has sent it.
    Send,
    /// A link has accepted it.
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
        /// Whether the link had accepted it before.
        entered: bool,
    },
    /// It has reached the far end of a link.
    Arrive {
        /// The link.
        link: u32,
    },
    /// It has reached its destination host, which has not processed it yet.
    Receive,
}

impl Event {
    /// Returns the link on which it happens, if any.
    #[inline(always)]
    pub const fn link(self) -> Option<u32> {
        match self {
            Self::Enqueue { link } | Self::Drop { link, .. } | Self::Arrive { link } => Some(link),
            Self::Send | Self::Receive => None,
        }
    }
}

/// A packet in flight.
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

    /// Returns the flow it belongs to.
    #[inline(always)]
    pub const fn flow(self) -> FlowId {
        self.to().flow()
    }

    /// Returns the host that sent it.
    #[inline(always)]
    pub const fn from(self) -> HostId {
        self.to().peer()
    }

    /// Returns its destination host.
    #[inline(always)]
    pub const fn to(self) -> HostId {
        self.frame.to().host()
    }

    /// Returns whether it goes from its flow's sender to the receiver.
    #[inline(always)]
    pub const fn is_forward(self) -> bool {
        !self.to().is_sender()
    }

    /// Returns its size on the link in bytes, including the IP header.
    #[inline(always)]
    pub fn size(self) -> u32 {
        self.frame.size()
    }

    /// Returns the ECN field of its IP header.
    #[inline(always)]
    pub fn ecn(self) -> Ecn {
        self.frame.ecn()
    }

    /// Returns whether the link it is on has changed its ECN field.
    #[inline(always)]
    pub const fn was_marked(self) -> bool {
        self.frame.was_marked()
    }

    /// Returns the bytes of application data.
    pub fn data(self) -> u32 {
        self.body().data()
    }

    /// Returns its type in one or two words: `"TCP data"`, `"DCCP-Ack"`.
    pub fn kind(self) -> &'static str {
        self.body().kind()
    }

    /// Returns the sequence number in the header, or zero if there is none (UDP).
    pub fn seq(self) -> u64 {
        self.body().seq()
    }

    /// Returns the acknowledgement number in the header, if there is one.
    pub fn ack(self) -> Option<u64> {
        self.body().ack()
    }

    /// Returns the datagram it carries, if its protocol has datagrams (DCCP, UDP).
    pub fn datagram(self) -> Option<&'a Payload> {
        self.body().datagram()
    }

    /// Returns its number, which no other packet of the run has: packets are numbered from 0 in the
    /// order in which all flows send them. A retransmission is another packet.
    #[inline(always)]
    pub fn number(self) -> u64 {
        self.bodies.label(self.frame.body()).number
    }

    /// Returns when it was sent.
    #[inline(always)]
    pub fn sent_at(self) -> Instant {
        self.bodies.label(self.frame.body()).sent_at
    }

    /// Returns the slot that it occupies while it is in flight. Slots are small numbers and are used
    /// again, so they can index a table.
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

    /// Returns its identifier.
    #[inline(always)]
    pub const fn id(self) -> HostId {
        self.id
    }

    /// Returns its counters and the state of its congestion control.
    pub fn stats(self) -> EndStats {
        self.host.status().end_stats()
    }

    /// Passes the named inner values of its sender's congestion control to `record`; see
    /// [`Control::inner_values`](skywave_congestion::Control::inner_values).
    pub fn inner_values(&self, record: &mut dyn FnMut(&'static str, f64)) {
        self.host.status().inner_values(record);
    }
}

/// A directed link at the time of the sample.
#[derive(Clone, Copy)]
pub struct LinkView<'a> {
    index: u32,
    link: &'a SimLink,
    count: PacketCount,
}

impl LinkView<'_> {
    /// Returns its index.
    pub const fn index(self) -> u32 {
        self.index
    }

    /// Returns the counts of its packets since the start of the run.
    pub const fn count(self) -> PacketCount {
        self.count
    }

    /// Returns the number of packets in its queue, without the one in transmission.
    pub fn queued_packets(self) -> u64 {
        self.link.queued_packets() as u64
    }

    /// Returns the number of bytes in its queue.
    pub fn queued_bytes(self) -> u64 {
        self.link.queued_bytes()
    }

    /// Passes the named inner values of its queue to `record`; see
    /// [`Link::inner_values`](skywave_path::Link::inner_values).
    pub fn inner_values(&self, record: &mut dyn FnMut(&str, f64)) {
        self.link.inner_values(record);
    }
}

/// A run at a sampling time.
#[derive(Clone, Copy)]
pub struct Sample<'a> {
    /// The links and hosts of each region.
    regions: &'a [(&'a [SimLink], &'a [Host])],
    map: &'a Map,
    /// The counts of each link; empty if nothing counts them.
    counts: &'a [PacketCount],
}

impl<'a> Sample<'a> {
    pub(crate) const fn new(regions: &'a [(&'a [SimLink], &'a [Host])], map: &'a Map) -> Self {
        Self {
            regions,
            map,
            counts: &[],
        }
    }

    /// Returns the same sample with the counts of each link's packets.
    pub(crate) const fn with_counts(self, counts: &'a [PacketCount]) -> Self {
        Self { counts, ..self }
    }

    /// Returns all directed links, in order.
    pub fn links(self) -> impl Iterator<Item = LinkView<'a>> {
        let links = self.regions[0].0.len() as u32;
        (0..links).map(move |index| self.link(index))
    }

    /// Returns a directed link.
    ///
    /// # Panics
    /// If there is no link with this index.
    pub fn link(self, index: u32) -> LinkView<'a> {
        let count = self.counts.get(index as usize);
        LinkView {
            index,
            link: &self.regions[self.map.of_link(index)].0[index as usize],
            count: count.copied().unwrap_or_default(),
        }
    }

    /// Returns all hosts, in order.
    pub fn hosts(self) -> impl Iterator<Item = HostView<'a>> {
        let hosts = self.regions[0].1.len() as u32;
        (0..hosts).map(move |host| self.host(HostId::new(host)))
    }

    /// Returns a host.
    ///
    /// # Panics
    /// If there is no host with this number.
    pub fn host(self, id: HostId) -> HostView<'a> {
        HostView::new(id, &self.regions[self.map.of_host(id)].1[id.index()])
    }
}

/// Counts of packets on a link: all of them, or those of one flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PacketCount {
    /// Packets that arrived at the link.
    pub arrivals: u64,
    /// Packets lost by the link.
    pub drops: u64,
    /// Packets that reached the far end.
    pub delivered: u64,
    /// Bytes in the delivered packets.
    pub delivered_bytes: u64,
    /// Delivered packets whose ECN field changed on the link.
    pub marks: u64,
}

impl PacketCount {
    /// Counts an event of a packet on the link.
    // Inlined, because callers know the event at compile time and all other arms are optimized
    // away.
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

    /// Returns the rate in bits per second, if these packets were delivered within `time`.
    pub fn throughput_bps(&self, time: Duration) -> f64 {
        self.delivered_bytes as f64 * 8.0 / time.as_secs_f64()
    }
}

impl AddAssign for PacketCount {
    fn add_assign(&mut self, other: Self) {
        self.arrivals += other.arrivals;
        self.drops += other.drops;
        self.delivered += other.delivered;
        self.delivered_bytes += other.delivered_bytes;
        self.marks += other.marks;
    }
}

/// Returns the counts since an earlier count.
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
