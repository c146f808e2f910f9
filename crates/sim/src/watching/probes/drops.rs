//! `drops`: every packet lost by a link.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use skywave_units::Instant;

use super::identity;
use crate::watching::probe::{Probe, ProbeSetup, RunEnd, Wants};
use crate::world::ids::FlowId;
use crate::world::observe::Observer;
use crate::world::view::{Event, PacketView};

pub(crate) struct Drops {
    rows: Vec<Row>,
}

struct Row {
    at: Instant,
    link: u32,
    flow: FlowId,
    packet: u64,
    kind: &'static str,
    seq: u64,
    bytes: u32,
    reason: &'static str,
}

impl Drops {
    pub(crate) const fn new(_setup: &Arc<ProbeSetup>) -> Self {
        Self { rows: Vec::new() }
    }
}

impl Observer for Drops {
    #[inline(always)]
    fn packet(&mut self, now: Instant, event: Event, packet: PacketView<'_>) {
        if let Event::Drop { link, reason, .. } = event {
            self.rows.push(Row {
                at: now,
                link,
                flow: packet.flow(),
                packet: packet.number(),
                kind: packet.kind(),
                seq: packet.seq(),
                bytes: packet.size(),
                reason: reason.name(),
            });
        }
    }
}

impl Probe for Drops {
    fn wants(&self) -> Wants {
        Wants {
            packets: true,
            ..Wants::NOTHING
        }
    }

    fn finish(self: Box<Self>, end: &RunEnd<'_>) -> Result<RecordBatch, ArrowError> {
        end.table(&self.rows)
            .column("time_s", "When the packet was lost.", |row| row.at)
            .link("link", "The directed link that lost it.", |row| row.link)
            .flow("flow", "Its flow.", |row| row.flow)
            .column("packet", identity::PACKET, |row| row.packet)
            .column("kind", identity::KIND, |row| row.kind)
            .column("seq", identity::SEQ, |row| row.seq)
            .column("bytes", identity::BYTES, |row| row.bytes)
            .column("reason", "Why: `full` (no room), `early` (a decision of the queue), `loss` (the loss model), `nat` (a NAT found it to be part of no connection).", |row| row.reason)
            .finish()
    }
}
