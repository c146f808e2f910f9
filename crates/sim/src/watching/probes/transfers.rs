//! `transfers`: every file of web traffic, in the order of their start.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;

use crate::watching::probe::{Probe, ProbeSetup, RunEnd, Wants};
use crate::world::ids::FlowId;
use crate::world::observe::Observer;
use skywave_traffic::Transfer;

/// Samples nothing: at the end applications report what they have done.
pub(crate) struct Transfers;

struct Row {
    flow: FlowId,
    file: Transfer,
}

impl Transfers {
    pub(crate) const fn new(_setup: &Arc<ProbeSetup>) -> Self {
        Self
    }
}

impl Observer for Transfers {}

impl Probe for Transfers {
    fn is_optional(&self) -> bool {
        true
    }

    fn wants(&self) -> Wants {
        Wants::NOTHING
    }

    fn finish(self: Box<Self>, end: &RunEnd<'_>) -> Result<RecordBatch, ArrowError> {
        let mut rows: Vec<Row> = end
            .journals()
            .flat_map(|(flow, journal)| {
                journal
                    .transfers
                    .iter()
                    .map(move |&file| Row { flow, file })
            })
            .collect();
        rows.sort_by_key(|row| row.file.start);
        end.table(&rows)
            .flow("flow", "The flow of web traffic.", |row| row.flow)
            .column(
                "start_s",
                "When the connection of the file was opened.",
                |row| row.file.start,
            )
            .column(
                "finish_s",
                "When the sender knew that all was received; null if the run ended before.",
                |row| row.file.end.map(|(at, _)| at),
            )
            .column("bytes", "Length of the file.", |row| row.file.bytes)
            .column(
                "arrived_bytes",
                "How much of it arrived; null if the run ended before.",
                |row| row.file.end.map(|(_, bytes)| bytes),
            )
            .finish()
    }
}
