//! Arrow tables from rows.

use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Float64Array, Int32Array, RecordBatch, StringArray, UInt32Array,
    UInt64Array,
};
use arrow_schema::ArrowError;
use skywave_path::Packet;
use skywave_transport::dccp::RateStats;
use skywave_units::{Duration, Instant};

use crate::count::PacketCount;
use crate::ids::{FlowId, HostId};
use crate::observe::Event;
use crate::packet::{Body, Frame};
use crate::scenario::Probes;
use crate::traffic::{Made, Transfer};
use crate::voice::VoiceCount;

/// The rows of all tables of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct TableSet {
    pub(crate) flows: Vec<FlowRow>,
    pub(crate) links: Vec<LinkRow>,
    pub(crate) link_flows: Vec<LinkFlowRow>,
    pub(crate) windows: Vec<WindowRow>,
    pub(crate) rates: Vec<RateRow>,
    pub(crate) drops: Vec<DropRow>,
    pub(crate) packets: Vec<PacketRow>,
    pub(crate) voice: Vec<VoiceRow>,
    pub(crate) transfers: Vec<TransferRow>,
}

/// A flow over one interval.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlowRow {
    pub(crate) at: Instant,
    pub(crate) flow: FlowId,
    pub(crate) seconds: f64,
    pub(crate) delivered_packets: u64,
    pub(crate) delivered_bytes: u64,
    pub(crate) delay_mean: Option<Duration>,
    pub(crate) delay_min: Option<Duration>,
    pub(crate) delay_max: Option<Duration>,
    pub(crate) srtt: Option<Duration>,
    pub(crate) cwnd: f64,
    pub(crate) ssthresh: f64,
    pub(crate) pipe: u32,
}

/// A link over one interval, its queue at the end of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkRow {
    pub(crate) at: Instant,
    pub(crate) link: u32,
    pub(crate) count: PacketCount,
    pub(crate) seconds: f64,
    pub(crate) queue_packets: u64,
    pub(crate) queue_bytes: u64,
}

/// A flow on a link over one interval.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkFlowRow {
    pub(crate) at: Instant,
    pub(crate) link: u32,
    pub(crate) flow: FlowId,
    pub(crate) count: PacketCount,
    pub(crate) seconds: f64,
}

/// A sender's window after a change.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WindowRow {
    pub(crate) at: Instant,
    pub(crate) flow: FlowId,
    pub(crate) cwnd: f64,
    pub(crate) ssthresh: f64,
    pub(crate) pipe: u32,
}

/// A sender's rate after a report or a change.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RateRow {
    pub(crate) at: Instant,
    pub(crate) flow: FlowId,
    pub(crate) rate: RateStats,
    pub(crate) rtt: Option<Duration>,
}

/// A packet that a link lost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DropRow {
    pub(crate) at: Instant,
    pub(crate) link: u32,
    pub(crate) flow: FlowId,
    pub(crate) kind: &'static str,
    pub(crate) seq: u64,
    pub(crate) bytes: u32,
    pub(crate) reason: &'static str,
}

/// What became of the frames that a voice source made in one interval.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VoiceRow {
    /// The end of the interval.
    pub(crate) at: Instant,
    pub(crate) flow: FlowId,
    pub(crate) made: Made,
    pub(crate) count: VoiceCount,
}

/// A file of web traffic.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TransferRow {
    pub(crate) flow: FlowId,
    pub(crate) file: Transfer,
}

/// Something that happened to a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PacketRow {
    at: Instant,
    event: &'static str,
    /// The link, where the event happens at one.
    link: Option<u32>,
    /// The host that the packet is for.
    to: HostId,
    kind: &'static str,
    seq: u64,
    ack: Option<u64>,
    bytes: u32,
    ecn: u8,
}

impl PacketRow {
    pub(crate) fn new(at: Instant, event: Event, frame: &Frame, body: &Body) -> Self {
        let (event, link) = match event {
            Event::Send => ("send", None),
            Event::Enqueue { link } => ("enqueue", Some(link)),
            Event::Drop { link, .. } => ("drop", Some(link)),
            Event::Arrive { link } => ("arrive", Some(link)),
            Event::Receive => ("receive", None),
        };
        Self {
            at,
            event,
            link,
            to: frame.to(),
            kind: body.kind(),
            seq: body.seq(),
            ack: body.ack(),
            bytes: frame.size(),
            ecn: frame.ecn().bits(),
        }
    }
}

/// Names that rows refer to by index.
pub(crate) struct Names<'a> {
    pub(crate) links: &'a [String],
    pub(crate) flows: &'a [String],
}

/// Makes a table of rows, column by column.
macro_rules! table {
    ($rows:expr, { $($name:literal: $column:expr),+ $(,)? }) => {{
        let rows = $rows;
        RecordBatch::try_from_iter_with_nullable([
            $(($name, $column(rows.as_slice()), NULLABLE.contains(&$name))),+
        ])
    }};
}

/// Columns that may hold nulls.
const NULLABLE: &[&str] = &[
    "delay_mean_s",
    "delay_min_s",
    "delay_max_s",
    "srtt_s",
    "rtt_s",
    "ssthresh_packets",
    "ack",
    "mode_mean",
    "wait_mean_s",
    "finish_s",
    "arrived_bytes",
];

impl TableSet {
    /// The tables, by name. `windows`, `rates` and `packets` are there only where they were asked for,
    /// `voice` where somebody talks, `transfers` where there is web traffic.
    pub(crate) fn into_batches(
        self,
        names: &Names<'_>,
        probes: &Probes,
    ) -> Result<Vec<(&'static str, RecordBatch)>, ArrowError> {
        let mut batches = vec![
            ("flows", self.flow_table(names)?),
            ("links", self.link_table(names)?),
            ("link_flows", self.link_flow_table(names)?),
            ("drops", self.drop_table(names)?),
        ];
        if !self.voice.is_empty() {
            batches.push(("voice", self.voice_table(names)?));
        }
        if !self.transfers.is_empty() {
            batches.push(("transfers", self.transfer_table(names)?));
        }
        if probes.windows {
            batches.push(("windows", self.window_table(names)?));
        }
        if probes.rates {
            batches.push(("rates", self.rate_table(names)?));
        }
        if probes.packets {
            batches.push(("packets", self.packet_table(names)?));
        }
        Ok(batches)
    }

    fn flow_table(&self, names: &Names<'_>) -> Result<RecordBatch, ArrowError> {
        table!(&self.flows, {
            "time_s": floats(|row: &FlowRow| row.at.as_secs_f64()),
            "flow": labels(names.flows, |row: &FlowRow| row.flow.get()),
            "goodput_bps": floats(|row: &FlowRow| row.delivered_bytes as f64 * 8.0 / row.seconds),
            "delivered_packets": counts(|row: &FlowRow| row.delivered_packets),
            "delivered_bytes": counts(|row: &FlowRow| row.delivered_bytes),
            "delay_mean_s": seconds(|row: &FlowRow| row.delay_mean),
            "delay_min_s": seconds(|row: &FlowRow| row.delay_min),
            "delay_max_s": seconds(|row: &FlowRow| row.delay_max),
            "srtt_s": seconds(|row: &FlowRow| row.srtt),
            "cwnd_packets": floats(|row: &FlowRow| row.cwnd),
            "ssthresh_packets": finite(|row: &FlowRow| row.ssthresh),
            "pipe_packets": small(|row: &FlowRow| row.pipe),
        })
    }

    fn link_table(&self, names: &Names<'_>) -> Result<RecordBatch, ArrowError> {
        table!(&self.links, {
            "time_s": floats(|row: &LinkRow| row.at.as_secs_f64()),
            "link": labels(names.links, |row: &LinkRow| row.link),
            "arrivals": counts(|row: &LinkRow| row.count.arrivals),
            "drops": counts(|row: &LinkRow| row.count.drops),
            "delivered": counts(|row: &LinkRow| row.count.delivered),
            "delivered_bytes": counts(|row: &LinkRow| row.count.delivered_bytes),
            "marks": counts(|row: &LinkRow| row.count.marks),
            "throughput_bps": floats(|row: &LinkRow| row.count.throughput_bps(row.seconds)),
            "queue_packets": counts(|row: &LinkRow| row.queue_packets),
            "queue_bytes": counts(|row: &LinkRow| row.queue_bytes),
        })
    }

    fn link_flow_table(&self, names: &Names<'_>) -> Result<RecordBatch, ArrowError> {
        table!(&self.link_flows, {
            "time_s": floats(|row: &LinkFlowRow| row.at.as_secs_f64()),
            "link": labels(names.links, |row: &LinkFlowRow| row.link),
            "flow": labels(names.flows, |row: &LinkFlowRow| row.flow.get()),
            "arrivals": counts(|row: &LinkFlowRow| row.count.arrivals),
            "drops": counts(|row: &LinkFlowRow| row.count.drops),
            "delivered": counts(|row: &LinkFlowRow| row.count.delivered),
            "delivered_bytes": counts(|row: &LinkFlowRow| row.count.delivered_bytes),
            "marks": counts(|row: &LinkFlowRow| row.count.marks),
            "throughput_bps": floats(|row: &LinkFlowRow| row.count.throughput_bps(row.seconds)),
        })
    }

    fn window_table(&self, names: &Names<'_>) -> Result<RecordBatch, ArrowError> {
        table!(&self.windows, {
            "time_s": floats(|row: &WindowRow| row.at.as_secs_f64()),
            "flow": labels(names.flows, |row: &WindowRow| row.flow.get()),
            "cwnd_packets": floats(|row: &WindowRow| row.cwnd),
            "ssthresh_packets": finite(|row: &WindowRow| row.ssthresh),
            "pipe_packets": small(|row: &WindowRow| row.pipe),
        })
    }

    fn rate_table(&self, names: &Names<'_>) -> Result<RecordBatch, ArrowError> {
        table!(&self.rates, {
            "time_s": floats(|row: &RateRow| row.at.as_secs_f64()),
            "flow": labels(names.flows, |row: &RateRow| row.flow.get()),
            "rate_bps": counts(|row: &RateRow| row.rate.rate.as_bps()),
            "allowed_rate_bps": counts(|row: &RateRow| row.rate.allowed_rate.as_bps()),
            "receive_rate_bps": counts(|row: &RateRow| row.rate.receive_rate.as_bps()),
            "loss_event_rate": floats(|row: &RateRow| row.rate.loss_event_rate),
            "rtt_s": seconds(|row: &RateRow| row.rtt),
            "reports": counts(|row: &RateRow| row.rate.reports),
            "loss_events": counts(|row: &RateRow| row.rate.loss_events),
        })
    }

    fn drop_table(&self, names: &Names<'_>) -> Result<RecordBatch, ArrowError> {
        table!(&self.drops, {
            "time_s": floats(|row: &DropRow| row.at.as_secs_f64()),
            "link": labels(names.links, |row: &DropRow| row.link),
            "flow": labels(names.flows, |row: &DropRow| row.flow.get()),
            "kind": words(|row: &DropRow| row.kind),
            "seq": counts(|row: &DropRow| row.seq),
            "bytes": small(|row: &DropRow| row.bytes),
            "reason": words(|row: &DropRow| row.reason),
        })
    }

    fn voice_table(&self, names: &Names<'_>) -> Result<RecordBatch, ArrowError> {
        table!(&self.voice, {
            "time_s": floats(|row: &VoiceRow| row.at.as_secs_f64()),
            "flow": labels(names.flows, |row: &VoiceRow| row.flow.get()),
            "frames": counts(|row: &VoiceRow| row.made.frames),
            "refused": counts(|row: &VoiceRow| row.made.refused),
            "sent": counts(|row: &VoiceRow| row.count.sent),
            "lost": counts(|row: &VoiceRow| row.count.lost),
            "late": counts(|row: &VoiceRow| row.count.late),
            "played": counts(|row: &VoiceRow| row.count.played),
            "mode_mean": maybe_floats(|row: &VoiceRow| row.count.mode_mean()),
            "wait_mean_s": seconds(|row: &VoiceRow| row.count.wait_mean()),
            "delay_mean_s": seconds(|row: &VoiceRow| row.count.delay_mean()),
        })
    }

    fn transfer_table(&self, names: &Names<'_>) -> Result<RecordBatch, ArrowError> {
        table!(&self.transfers, {
            "flow": labels(names.flows, |row: &TransferRow| row.flow.get()),
            "start_s": floats(|row: &TransferRow| row.file.start.as_secs_f64()),
            "finish_s": maybe_floats(|row: &TransferRow| row.file.end.map(|(at, _)| at.as_secs_f64())),
            "bytes": counts(|row: &TransferRow| row.file.bytes),
            "arrived_bytes": maybe_counts(|row: &TransferRow| row.file.end.map(|(_, bytes)| bytes)),
        })
    }

    fn packet_table(&self, names: &Names<'_>) -> Result<RecordBatch, ArrowError> {
        // Links first, then each flow's sender and receiver.
        let links = names.links.len() as u32;
        let hosts = names
            .flows
            .iter()
            .flat_map(|flow| [format!("{flow} sender"), format!("{flow} receiver")]);
        let places: Vec<String> = names.links.iter().cloned().chain(hosts).collect();
        let place = |row: &PacketRow| match (row.link, row.event) {
            (Some(link), _) => link,
            (None, "send") => links + row.to.peer().get(),
            (None, _) => links + row.to.get(),
        };
        table!(&self.packets, {
            "time_s": floats(|row: &PacketRow| row.at.as_secs_f64()),
            "event": words(|row: &PacketRow| row.event),
            "place": labels(&places, place),
            "flow": labels(names.flows, |row: &PacketRow| row.to.flow().get()),
            "kind": words(|row: &PacketRow| row.kind),
            "seq": counts(|row: &PacketRow| row.seq),
            "ack": maybe_counts(|row: &PacketRow| row.ack),
            "bytes": small(|row: &PacketRow| row.bytes),
            "ecn": small(|row: &PacketRow| u32::from(row.ecn)),
        })
    }
}

impl PacketCount {
    fn throughput_bps(&self, seconds: f64) -> f64 {
        self.delivered_bytes as f64 * 8.0 / seconds
    }
}

fn floats<R>(value: impl Fn(&R) -> f64) -> impl Fn(&[R]) -> ArrayRef {
    move |rows| Arc::new(Float64Array::from_iter_values(rows.iter().map(&value)))
}

fn maybe_floats<R>(value: impl Fn(&R) -> Option<f64>) -> impl Fn(&[R]) -> ArrayRef {
    move |rows| Arc::new(Float64Array::from_iter(rows.iter().map(&value)))
}

/// Null where the value is infinite.
fn finite<R>(value: impl Fn(&R) -> f64) -> impl Fn(&[R]) -> ArrayRef {
    maybe_floats(move |row| Some(value(row)).filter(|value| value.is_finite()))
}

fn seconds<R>(value: impl Fn(&R) -> Option<Duration>) -> impl Fn(&[R]) -> ArrayRef {
    maybe_floats(move |row| value(row).map(Duration::as_secs_f64))
}

fn counts<R>(value: impl Fn(&R) -> u64) -> impl Fn(&[R]) -> ArrayRef {
    move |rows| Arc::new(UInt64Array::from_iter_values(rows.iter().map(&value)))
}

fn maybe_counts<R>(value: impl Fn(&R) -> Option<u64>) -> impl Fn(&[R]) -> ArrayRef {
    move |rows| Arc::new(UInt64Array::from_iter(rows.iter().map(&value)))
}

fn small<R>(value: impl Fn(&R) -> u32) -> impl Fn(&[R]) -> ArrayRef {
    move |rows| Arc::new(UInt32Array::from_iter_values(rows.iter().map(&value)))
}

/// Names by index, as a dictionary.
fn labels<R>(names: &[String], index: impl Fn(&R) -> u32) -> impl Fn(&[R]) -> ArrayRef {
    let names: ArrayRef = Arc::new(StringArray::from_iter_values(names));
    move |rows| {
        let keys = Int32Array::from_iter_values(rows.iter().map(|row| index(row) as i32));
        Arc::new(
            DictionaryArray::<Int32Type>::try_new(keys, Arc::clone(&names))
                .expect("rows refer to names that exist"),
        )
    }
}

/// A few words that recur, as a dictionary.
fn words<R>(value: impl Fn(&R) -> &'static str) -> impl Fn(&[R]) -> ArrayRef {
    move |rows| {
        Arc::new(
            rows.iter()
                .map(&value)
                .collect::<DictionaryArray<Int32Type>>(),
        )
    }
}
