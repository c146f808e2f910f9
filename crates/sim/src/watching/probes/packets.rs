//! `packets`: everything that happens to every packet, at every link and host.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use skywave_units::Instant;

use super::identity;
use crate::watching::probe::{Probe, ProbeSetup, RunEnd, Wants};
use crate::world::ids::HostId;
use crate::world::observe::Observer;
use crate::world::view::{Event, PacketView};

pub(crate) struct Packets {
    rows: Vec<Row>,
}

struct Row {
    at: Instant,
    event: &'static str,
    place: Place,
    /// The destination host of the packet.
    to: HostId,
    packet: u64,
    kind: &'static str,
    seq: u64,
    ack: Option<u64>,
    bytes: u32,
    ecn: u8,
}

/// Where it happens.
#[derive(Clone, Copy)]
enum Place {
    Link(u32),
    Host(HostId),
}

impl Packets {
    pub(crate) const fn new(_setup: &Arc<ProbeSetup>) -> Self {
        Self { rows: Vec::new() }
    }
}

impl Observer for Packets {
    fn packet(&mut self, now: Instant, event: Event, packet: PacketView<'_>) {
        let (event, place) = match event {
            Event::Send => ("send", Place::Host(packet.from())),
            Event::Enqueue { link } => ("enqueue", Place::Link(link)),
            Event::Drop { link, .. } => ("drop", Place::Link(link)),
            Event::Arrive { link } => ("arrive", Place::Link(link)),
            Event::Receive => ("receive", Place::Host(packet.to())),
        };
        let body = packet.body();
        self.rows.push(Row {
            at: now,
            event,
            place,
            to: packet.to(),
            packet: packet.number(),
            kind: body.kind(),
            seq: body.seq(),
            ack: body.ack(),
            bytes: packet.size(),
            ecn: packet.ecn().bits(),
        });
    }
}

impl Probe for Packets {
    fn wants(&self) -> Wants {
        Wants {
            packets: true,
            ..Wants::NOTHING
        }
    }

    fn finish(self: Box<Self>, end: &RunEnd<'_>) -> Result<RecordBatch, ArrowError> {
        // Links first, then each flow's sender and receiver.
        let links = end.links().len() as u32;
        let hosts = end
            .flows()
            .iter()
            .flat_map(|flow| [format!("{flow} sender"), format!("{flow} receiver")]);
        let places: Vec<String> = end.links().iter().cloned().chain(hosts).collect();
        let place = |row: &Row| match row.place {
            Place::Link(link) => link,
            Place::Host(host) => links + host.get(),
        };
        end.table(&self.rows)
            .column("time_s", "When it happened.", |row| row.at)
            .column("event", "What happened: `send`, `enqueue`, `drop`, `arrive` (at the end of a link) or `receive`.", |row| row.event)
            .label("place", "Where: a directed link, or the `sender` or `receiver` of a flow.", &places, place)
            .flow("flow", "The flow of the packet.", |row| row.to.flow())
            .column("packet", identity::PACKET, |row| row.packet)
            .column("kind", identity::KIND, |row| row.kind)
            .column("seq", identity::SEQ, |row| row.seq)
            .column("ack", "Its acknowledgement number; null if it has none.", |row| row.ack)
            .column("bytes", identity::BYTES, |row| row.bytes)
            .column("ecn", "The two bits of its ECN field: 0 not ECT, 1 ECT(1), 2 ECT(0), 3 CE.", |row| u32::from(row.ecn))
            .finish()
    }
}
