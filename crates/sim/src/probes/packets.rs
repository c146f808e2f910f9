//! `packets`: everything that happens to every packet, at every link and host.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use skywave_units::Instant;

use crate::ids::HostId;
use crate::observe::Observer;
use crate::probe::{Probe, ProbeSetup, RunEnd, Wants};
use crate::view::{Event, PacketView};

pub(crate) struct Packets {
    rows: Vec<Row>,
}

struct Row {
    at: Instant,
    event: &'static str,
    place: Place,
    /// The host that the packet is for.
    to: HostId,
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

    fn finish(self: Box<Self>, end: &RunEnd<'_>) -> Result<Option<RecordBatch>, ArrowError> {
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
            .column("time_s", |row| row.at)
            .column("event", |row| row.event)
            .label("place", &places, place)
            .flow("flow", |row| row.to.flow())
            .column("kind", |row| row.kind)
            .column("seq", |row| row.seq)
            .column("ack", |row| row.ack)
            .column("bytes", |row| row.bytes)
            .column("ecn", |row| u32::from(row.ecn))
            .finish()
            .map(Some)
    }
}
