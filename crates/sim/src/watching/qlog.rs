//! qlog files of flows, for qvis: what their senders see.

use std::io::{self, Write};

use skywave_qlog::{About, Metrics, Packet, Trace, VantagePoint, Window};
use skywave_registry::suggestion;
use skywave_scenario::{FlowSpec, TransportSpec};
use skywave_units::Instant;

use crate::error::RunError;
use crate::world::observe::Observer;
use crate::world::packet::Body;
use crate::world::view::{Event, HostView, PacketView};
use skywave_transport::EndStats;

/// Writes a trace for each of some flows.
pub(crate) struct Qlogs {
    /// The trace of each flow, if it has one.
    traces: Vec<Option<FlowTrace>>,
}

struct FlowTrace {
    flow: String,
    /// The trace, or the first error; nothing is written after it.
    trace: io::Result<Trace<Box<dyn Write + Send>>>,
}

impl Qlogs {
    /// Starts the traces; `None` if none is requested.
    pub(crate) fn new(
        wanted: Vec<(String, Box<dyn Write + Send>)>,
        flows: &[FlowSpec],
    ) -> Result<Option<Self>, RunError> {
        if wanted.is_empty() {
            return Ok(None);
        }
        let mut traces: Vec<_> = flows.iter().map(|_| None).collect();
        for (name, file) in wanted {
            let Some(index) = flows.iter().position(|flow| flow.name == name) else {
                let known: Vec<_> = flows.iter().map(|flow| flow.name.as_str()).collect();
                let meant = suggestion(&name, known.iter().copied());
                return Err(RunError::UnknownFlow {
                    flow: name,
                    known: known.join(", ") + &meant,
                });
            };
            let about = About {
                title: name.clone(),
                vantage_point: VantagePoint::Client,
                protocol: match *flows[index].transport {
                    TransportSpec::Tcp(_) | TransportSpec::KernelTcp(_) => "TCP",
                    TransportSpec::Dccp(_) | TransportSpec::KernelDccp(_) => "DCCP",
                    TransportSpec::Udp(_) | TransportSpec::Other(_) => "UDP",
                },
                start: Instant::ZERO,
            };
            traces[index] = Some(FlowTrace {
                flow: name,
                trace: Trace::new(file, about),
            });
        }
        Ok(Some(Self { traces }))
    }

    /// Ends the traces.
    pub(crate) fn finish(self) -> Result<(), RunError> {
        for FlowTrace { flow, trace } in self.traces.into_iter().flatten() {
            trace
                .and_then(|mut trace| trace.flush())
                .map_err(|source| RunError::Qlog { flow, source })?;
        }
        Ok(())
    }
}

impl FlowTrace {
    fn record(&mut self, record: impl FnOnce(&mut Trace<Box<dyn Write + Send>>) -> io::Result<()>) {
        if let Ok(trace) = &mut self.trace
            && let Err(error) = record(trace)
        {
            self.trace = Err(error);
        }
    }
}

impl Observer for Qlogs {
    fn packet(&mut self, now: Instant, event: Event, packet: PacketView<'_>) {
        let is_sent = match event {
            Event::Send if packet.from().is_sender() => true,
            Event::Receive if packet.to().is_sender() => false,
            _ => return,
        };
        if let Some(trace) = &mut self.traces[packet.flow().index()] {
            let packet = described(packet);
            trace.record(|trace| match is_sent {
                true => trace.sent(now, &packet),
                false => trace.received(now, &packet),
            });
        }
    }

    fn settled(&mut self, now: Instant, host: HostView<'_>) {
        let id = host.id();
        if id.is_sender()
            && let Some(trace) = &mut self.traces[id.flow().index()]
        {
            let metrics = metrics(&host.stats());
            trace.record(|trace| trace.metrics(now, &metrics));
        }
    }
}

fn described(packet: PacketView<'_>) -> Packet {
    if let Body::Dccp(body) = packet.body() {
        return Packet::dccp(body, packet.ecn());
    }
    let acked = packet.ack().and_then(|ack| ack.checked_sub(1));
    Packet {
        kind: packet.kind(),
        seq: (!matches!(packet.body(), Body::Udp(_))).then(|| packet.seq()),
        acked: acked.map(|last| (last, last)).into_iter().collect(),
        is_short: false,
        length: packet.body().size(),
        data: packet.data(),
        ecn: packet.ecn(),
    }
}

fn metrics(stats: &EndStats) -> Metrics {
    let window = Window {
        cwnd: stats.cwnd,
        ssthresh: stats.ssthresh,
        pipe: stats.pipe,
    };
    Metrics {
        window: (stats.cwnd > 0.0).then_some(window),
        pacing_rate: stats.rate.map(|rate| rate.rate),
        srtt: stats.srtt,
        timeouts: stats.timeouts,
        lost: None,
    }
}
