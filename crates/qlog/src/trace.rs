//! Writing a trace.

use std::io::{self, Write};

pub use qlog::VantagePointType as VantagePoint;
use qlog::events::quic::{
    AckedRanges, LossTimerEventType, LossTimerUpdated, MetricsUpdated, PacketHeader,
    PacketReceived, PacketSent, PacketType, QuicFrame, TimerType,
};
use qlog::events::{EventData, ExData, RawInfo};
use serde::Serialize;
use serde_json::json;
use skywave_units::Instant;
use skywave_wire::Ecn;
use skywave_wire::dccp::SeqNo;

use crate::packet::{Metrics, Packet};

/// Precedes each JSON text of a sequence (RFC 7464 section 2.2).
const RECORD_SEPARATOR: u8 = 0x1e;

/// What a trace says about itself.
#[derive(Clone, Debug)]
pub struct About {
    /// A title: tools show it to distinguish traces.
    pub title: String,
    /// The end whose view this is.
    pub vantage_point: VantagePoint,
    /// The protocol, such as `DCCP`.
    pub protocol: &'static str,
    /// Time zero: events' times are relative to it.
    pub start: Instant,
}

/// Writes one connection.
///
/// It writes to `out` in small pieces; give it a buffered writer. Errors are those of `out`, after
/// which the file has an incomplete record at its end, which readers skip.
#[derive(Debug)]
pub struct Trace<W> {
    out: W,
    start: Instant,
    metrics: Option<Metrics>,
    /// Data packets sent, and the bytes of data in them.
    sent: (u64, u64),
    /// The latest sequence numbers sent and received.
    latest: [Option<SeqNo>; 2],
}

#[derive(Serialize)]
struct Event<'a> {
    /// In milliseconds. The library's own event has too few digits for a long run.
    time: f64,
    #[serde(flatten)]
    data: &'a EventData,
    #[serde(skip_serializing_if = "Option::is_none")]
    skywave: Option<Extension>,
}

/// What qlog has no name for.
#[derive(Serialize)]
struct Extension {
    #[serde(rename = "type")]
    kind: &'static str,
    ecn: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Sent,
    Received,
}

impl<W: Write> Trace<W> {
    /// Starts a trace.
    ///
    /// # Errors
    ///
    /// The header cannot be written.
    pub fn new(out: W, about: About) -> io::Result<Self> {
        let mut trace = Self {
            out,
            start: about.start,
            metrics: None,
            sent: (0, 0),
            latest: [None; 2],
        };
        trace.record(&qlog::QlogSeq {
            qlog_version: qlog::QLOG_VERSION.to_owned(),
            qlog_format: "JSON-SEQ".to_owned(),
            title: Some(about.title.clone()),
            description: None,
            summary: None,
            trace: qlog::TraceSeq {
                vantage_point: qlog::VantagePoint {
                    name: None,
                    ty: about.vantage_point,
                    flow: None,
                },
                title: Some(about.title),
                description: None,
                configuration: None,
                common_fields: Some(qlog::CommonFields {
                    group_id: None,
                    protocol_type: Some(vec![about.protocol.to_owned()]),
                    reference_time: Some(0.0),
                    time_format: Some("relative".to_owned()),
                }),
            },
        })?;
        Ok(trace)
    }

    /// Records a packet that this end has sent.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    pub fn sent(&mut self, now: Instant, packet: &Packet) -> io::Result<()> {
        if packet.data > 0 {
            self.sent.0 += 1;
            self.sent.1 += u64::from(packet.data);
        }
        let data = EventData::PacketSent(PacketSent {
            header: self.header(packet, Direction::Sent),
            raw: Some(raw(packet)),
            frames: Some(self.frames(packet, Direction::Sent).into()),
            ..PacketSent::default()
        });
        self.event(now, &data, Some(extension(packet)))
    }

    /// Records a packet that this end has received.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    pub fn received(&mut self, now: Instant, packet: &Packet) -> io::Result<()> {
        let data = EventData::PacketReceived(PacketReceived {
            header: self.header(packet, Direction::Received),
            raw: Some(raw(packet)),
            frames: Some(self.frames(packet, Direction::Received)),
            ..PacketReceived::default()
        });
        self.event(now, &data, Some(extension(packet)))
    }

    /// Records the state of congestion control, if it has changed.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    pub fn metrics(&mut self, now: Instant, metrics: &Metrics) -> io::Result<()> {
        let before = self.metrics.replace(*metrics);
        if before == Some(*metrics) {
            return Ok(());
        }
        let timeouts = before.map_or(0, |before| before.timeouts);
        if metrics.timeouts > timeouts {
            let timer = EventData::LossTimerUpdated(LossTimerUpdated {
                timer_type: Some(TimerType::Pto),
                packet_number_space: None,
                event_type: LossTimerEventType::Expired,
                delta: None,
            });
            self.event(now, &timer, None)?;
        }
        let data = EventData::MetricsUpdated(self.updated(metrics));
        self.event(now, &data, None)
    }

    /// Records that `events` events are missing here.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    pub fn missing(&mut self, now: Instant, events: u64) -> io::Result<()> {
        let data = EventData::InternalWarning {
            code: None,
            description: Some(format!("{events} events are missing: the log was too slow")),
        };
        self.event(now, &data, None)
    }

    /// Flushes the writer.
    ///
    /// # Errors
    ///
    /// It cannot be flushed.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn event(
        &mut self,
        now: Instant,
        data: &EventData,
        skywave: Option<Extension>,
    ) -> io::Result<()> {
        let time = now.saturating_since(self.start).as_nanos() as f64 / 1e6;
        self.record(&Event {
            time,
            data,
            skywave,
        })
    }

    fn record(&mut self, record: &impl Serialize) -> io::Result<()> {
        self.out.write_all(&[RECORD_SEPARATOR])?;
        serde_json::to_writer(&mut self.out, record)?;
        self.out.write_all(b"\n")
    }

    fn header(&mut self, packet: &Packet, direction: Direction) -> PacketHeader {
        let latest = &mut self.latest[direction as usize];
        let number = packet.seq.map(|seq| {
            let seq = extended(SeqNo::new(seq), packet.is_short, *latest);
            *latest = Some(latest.map_or(seq, |latest| latest.max(seq)));
            seq.get()
        });
        PacketHeader {
            packet_type: PacketType::OneRtt,
            packet_number: number,
            ..PacketHeader::default()
        }
    }

    fn frames(&self, packet: &Packet, direction: Direction) -> Vec<QuicFrame> {
        let mut frames = Vec::with_capacity(2);
        if !packet.acked.is_empty() {
            let other = match direction {
                Direction::Sent => Direction::Received,
                Direction::Received => Direction::Sent,
            };
            let latest = self.latest[other as usize];
            let whole = |seq| extended(SeqNo::new(seq), packet.is_short, latest).get();
            let ranges = packet.acked.iter();
            let ranges = ranges.map(|&(first, last)| (whole(first), whole(last)));
            // A range across the wrap of the numbers cannot be written.
            let ranges = ranges.filter(|(first, last)| first <= last);
            frames.push(QuicFrame::Ack {
                ack_delay: None,
                acked_ranges: Some(AckedRanges::Double(ranges.collect())),
                ect1: None,
                ect0: None,
                ce: None,
                length: None,
                payload_length: None,
            });
        }
        if packet.data > 0 {
            frames.push(QuicFrame::Datagram {
                length: u64::from(packet.data),
                raw: None,
            });
        }
        frames
    }

    fn updated(&self, metrics: &Metrics) -> MetricsUpdated {
        let (packets, bytes) = self.sent;
        let mean = (packets > 0).then(|| bytes as f64 / packets as f64);
        let in_bytes = |count: f64| {
            let bytes = mean? * count;
            bytes.is_finite().then(|| bytes.round() as u64)
        };
        let mut more = ExData::new();
        if let Some(window) = &metrics.window {
            more.insert("cwnd_packets".to_owned(), json!(window.cwnd));
            if window.ssthresh.is_finite() {
                more.insert("ssthresh_packets".to_owned(), json!(window.ssthresh));
            }
        }
        if let Some(lost) = metrics.lost {
            more.insert("lost_packets".to_owned(), json!(lost));
        }
        more.insert("timeouts".to_owned(), json!(metrics.timeouts));
        let window = metrics.window.as_ref();
        MetricsUpdated {
            ex_data: more,
            smoothed_rtt: metrics.srtt.map(|srtt| (srtt.as_secs_f64() * 1e3) as f32),
            congestion_window: window.and_then(|window| in_bytes(window.cwnd)),
            ssthresh: window.and_then(|window| in_bytes(window.ssthresh)),
            bytes_in_flight: window.and_then(|window| in_bytes(f64::from(window.pipe))),
            packets_in_flight: window.map(|window| u64::from(window.pipe)),
            pacing_rate: metrics.pacing_rate.map(|rate| rate.as_bps()),
            ..MetricsUpdated::default()
        }
    }
}

/// Returns the whole number of a packet that may state only its low 24 bits.
fn extended(seq: SeqNo, is_short: bool, latest: Option<SeqNo>) -> SeqNo {
    match latest {
        Some(latest) if is_short => SeqNo::extend(seq.get() as u32, latest),
        _ => seq,
    }
}

fn raw(packet: &Packet) -> RawInfo {
    RawInfo {
        length: Some(u64::from(packet.length)),
        payload_length: Some(u64::from(packet.data)),
        data: None,
    }
}

fn extension(packet: &Packet) -> Extension {
    let ecn = match packet.ecn {
        Ecn::NotEct => "Not-ECT",
        Ecn::Ect0 => "ECT(0)",
        Ecn::Ect1 => "ECT(1)",
        Ecn::Ce => "CE",
    };
    Extension {
        kind: packet.kind,
        ecn,
    }
}
