//! What is measured during a run, and the tables that it becomes.

use skywave_path::Packet;
use skywave_transport::dccp::RateStats;
use skywave_units::{Duration, Instant};

use crate::bodies::Bodies;
use crate::count::{FlowCounts, PacketCount};
use crate::host::{Host, HostStats};
use crate::ids::{FlowId, HostId};
use crate::network::Network;
use crate::observe::{Event, Observer};
use crate::packet::{Body, Frame};
use crate::scenario::Probes;
use crate::tables::{
    DropRow, FlowRow, LinkFlowRow, LinkRow, PacketRow, RateRow, TableSet, VoiceRow, WindowRow,
};
use crate::traffic::Made;
use crate::voice::VoiceLog;

/// Samples flows and links, and counts for the summary.
pub(crate) struct Sampler {
    interval: Duration,
    sampled: Sampled,
    /// Indices of the flows that are sampled.
    sampled_flows: Vec<usize>,
    /// Whether a flow's packets, there or back, use a link: `[link][flow]`.
    usage: Vec<Vec<bool>>,
    windows: bool,
    rates: bool,
    packets: bool,
    /// Counts since the last sample.
    links: Vec<PacketCount>,
    link_flows: FlowCounts,
    flows: Vec<FlowCount>,
    /// A log for each flow that is a voice call.
    voice: Vec<Option<VoiceLog>>,
    /// Whether any table has to do with packets one by one.
    looks_closely: bool,
    /// When each packet on its way was sent, by the key of its body.
    sent_at: Vec<Instant>,
    pub(crate) tables: TableSet,
    pub(crate) totals: Totals,
}

/// What is sampled: whether each link, and each flow, is.
pub(crate) struct Sampled {
    pub(crate) links: Vec<bool>,
    pub(crate) flows: Vec<bool>,
}

/// What a whole run adds up to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Totals {
    pub(crate) links: Vec<LinkTotal>,
    pub(crate) flow_drops: Vec<u64>,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LinkTotal {
    pub(crate) packets: PacketCount,
    pub(crate) queue_max_packets: u64,
}

/// One flow in the interval in progress.
#[derive(Clone, Copy, Debug, Default)]
struct FlowCount {
    /// One-way delays of data packets.
    delays: u64,
    delay_sum: Duration,
    delay_min: Option<Duration>,
    delay_max: Option<Duration>,
    /// The receiver's counts at the last sample.
    delivered_packets: u64,
    delivered_bytes: u64,
    /// cwnd, ssthresh and pipe when last written down.
    window: Option<(f64, f64, u32)>,
    /// How the rate stood then, and R.
    rate: Option<(RateStats, Option<Duration>)>,
}

impl Sampler {
    /// A sampler that has seen nothing yet.
    pub(crate) fn new(
        probes: &Probes,
        sampled: Sampled,
        usage: Vec<Vec<bool>>,
        voice: Vec<Option<VoiceLog>>,
    ) -> Self {
        let (links, flows) = (sampled.links.len(), sampled.flows.len());
        Self {
            sampled_flows: (0..flows).filter(|&flow| sampled.flows[flow]).collect(),
            interval: probes.interval,
            link_flows: FlowCounts::new(&sampled.links, &sampled.flows),
            sampled,
            usage,
            windows: probes.windows,
            rates: probes.rates,
            packets: probes.packets,
            links: vec![PacketCount::default(); links],
            flows: vec![FlowCount::default(); flows],
            looks_closely: probes.packets || voice.iter().any(Option::is_some),
            voice,
            sent_at: Vec::new(),
            tables: TableSet::default(),
            totals: Totals {
                links: vec![LinkTotal::default(); links],
                flow_drops: vec![0; flows],
            },
        }
    }

    #[inline(always)]
    fn count(&mut self, link: u32, frame: &Frame, add: impl Fn(&mut PacketCount)) {
        add(&mut self.links[link as usize]);
        let flow = frame.to().flow().index();
        if let Some(count) = self.link_flows.of(link as usize, flow) {
            add(count);
        }
    }

    /// Writes down what is asked for of a sender's state.
    #[inline(never)]
    fn write_state(&mut self, now: Instant, flow: FlowId, stats: &HostStats) {
        if self.windows {
            self.write_window(now, flow, stats);
        }
        if self.rates {
            self.write_rate(now, flow, stats);
        }
    }

    /// Writes the window of a flow down if it has changed.
    fn write_window(&mut self, now: Instant, flow: FlowId, stats: &HostStats) {
        let &HostStats {
            cwnd,
            ssthresh,
            pipe,
            ..
        } = stats;
        let window = (cwnd, ssthresh, pipe);
        let last = &mut self.flows[flow.index()].window;
        if *last != Some(window) {
            *last = Some(window);
            self.tables.windows.push(WindowRow {
                at: now,
                flow,
                cwnd,
                ssthresh,
                pipe,
            });
        }
    }

    /// Writes the rate of a flow down if it has one and something is new.
    fn write_rate(&mut self, now: Instant, flow: FlowId, stats: &HostStats) {
        let Some(rate) = stats.rate else {
            return;
        };
        let rtt = stats.srtt;
        let last = &mut self.flows[flow.index()].rate;
        if *last != Some((rate, rtt)) {
            *last = Some((rate, rtt));
            self.tables.rates.push(RateRow {
                at: now,
                flow,
                rate,
                rtt,
            });
        }
    }

    /// Ends the run: counts to its end, and writes down what became of each voice call. `made` is
    /// what the source of a call says, by interval.
    pub(crate) fn end(&mut self, made: &[Vec<Made>]) {
        for (total, count) in self.totals.links.iter_mut().zip(&mut self.links) {
            total.packets += std::mem::take(count);
        }
        for ((log, made), flow) in self.voice.iter().zip(made).zip((0..).map(FlowId::new)) {
            let Some(log) = log else { continue };
            // What is sent has been made.
            for (index, &made) in made.iter().enumerate() {
                self.tables.voice.push(VoiceRow {
                    at: Instant::ZERO + self.interval * (index as u64 + 1),
                    flow,
                    made,
                    count: log.counts.get(index).copied().unwrap_or_default(),
                });
            }
        }
    }

    /// Keeps tables that have to do with packets one by one.
    #[inline(never)]
    fn look_closely(&mut self, now: Instant, event: Event, frame: &Frame, body: &Body) {
        self.voice(now, event, frame, body);
        if self.packets {
            let row = PacketRow::new(now, event, frame, body);
            self.tables.packets.push(row);
        }
    }

    /// Keeps the log of a voice call.
    fn voice(&mut self, now: Instant, event: Event, frame: &Frame, body: &Body) {
        let Some(datagram) = body.datagram() else {
            return;
        };
        if let Some(log) = &mut self.voice[frame.to().flow().index()]
            && !frame.to().is_sender()
        {
            match event {
                Event::Send => log.sent(now, datagram),
                Event::Drop { .. } => log.lost(datagram),
                Event::Receive => log.arrived(now, datagram),
                Event::Enqueue { .. } | Event::Arrive { .. } => {}
            }
        }
    }

    #[inline(always)]
    fn sent(&mut self, now: Instant, frame: &Frame) {
        let key = frame.body();
        if key >= self.sent_at.len() {
            self.sent_at.resize(key + 1, Instant::ZERO);
        }
        self.sent_at[key] = now;
    }

    #[cold]
    fn dropped(&mut self, row: DropRow, frame: &Frame, entered: bool) {
        self.totals.flow_drops[row.flow.index()] += 1;
        self.count(row.link, frame, |count| {
            count.arrivals += u64::from(!entered);
            count.drops += 1;
        });
        self.tables.drops.push(row);
    }

    #[inline(always)]
    fn received(&mut self, now: Instant, frame: &Frame, body: &Body) {
        let flow = frame.to().flow().index();
        if !self.sampled.flows[flow] || frame.to().is_sender() || body.data() == 0 {
            return;
        }
        let delay = now - self.sent_at[frame.body()];
        let flow = &mut self.flows[flow];
        flow.delays += 1;
        flow.delay_sum += delay;
        flow.delay_min = Some(flow.delay_min.map_or(delay, |least| least.min(delay)));
        flow.delay_max = Some(flow.delay_max.map_or(delay, |most| most.max(delay)));
    }
}

impl Observer for Sampler {
    // What happens is known where it is told: all but its own arm falls away there.
    #[inline(always)]
    fn packet(&mut self, now: Instant, event: Event, frame: &Frame, bodies: &Bodies) {
        match event {
            Event::Send => self.sent(now, frame),
            Event::Enqueue { link } => {
                self.count(link, frame, |count| count.arrivals += 1);
            }
            Event::Drop {
                link,
                reason,
                entered,
            } => {
                let body = &bodies[frame.body()];
                let row = DropRow {
                    at: now,
                    link,
                    flow: frame.to().flow(),
                    kind: body.kind(),
                    seq: body.seq(),
                    bytes: frame.size(),
                    reason: reason.name(),
                };
                self.dropped(row, frame, entered);
            }
            Event::Arrive { link } => {
                self.count(link, frame, |count| {
                    count.delivered += 1;
                    count.marks += u64::from(frame.was_marked());
                    count.delivered_bytes += u64::from(frame.size());
                });
            }
            Event::Receive => self.received(now, frame, &bodies[frame.body()]),
        }
        if self.looks_closely {
            self.look_closely(now, event, frame, &bodies[frame.body()]);
        }
    }

    #[inline(always)]
    fn settled(&mut self, now: Instant, id: HostId, host: &Host) {
        if (self.windows || self.rates) && id.is_sender() {
            self.write_state(now, id.flow(), &host.stats());
        }
    }

    fn sample(&mut self, now: Instant, network: &mut Network, hosts: &[Host]) {
        let seconds = self.interval.as_secs_f64();
        for (index, link) in network.links.iter_mut().enumerate() {
            link.expire(now);
            let queue_packets = link.queued_packets() as u64;
            let queue_bytes = link.queued_bytes();
            let total = &mut self.totals.links[index];
            total.queue_max_packets = total.queue_max_packets.max(queue_packets);
            let count = std::mem::take(&mut self.links[index]);
            total.packets += count;
            if !self.sampled.links[index] {
                continue;
            }
            let link = index as u32;
            self.tables.links.push(LinkRow {
                at: now,
                link,
                count,
                seconds,
                queue_packets,
                queue_bytes,
            });
            for &flow in &self.sampled_flows {
                let count = self.link_flows.take(index, flow);
                // A flow that does not use the link has no rows there.
                if self.usage[index][flow] {
                    let flow = FlowId::new(flow as u32);
                    self.tables.link_flows.push(LinkFlowRow {
                        at: now,
                        link,
                        flow,
                        count,
                        seconds,
                    });
                }
            }
        }
        for &flow in &self.sampled_flows {
            let count = &mut self.flows[flow];
            let id = FlowId::new(flow as u32);
            let [sender, receiver] =
                [id.sender(), id.receiver()].map(|end| hosts[end.index()].stats());
            let packets = receiver.delivered_packets - count.delivered_packets;
            let bytes = receiver.delivered_bytes - count.delivered_bytes;
            self.tables.flows.push(FlowRow {
                at: now,
                flow: id,
                seconds,
                delivered_packets: packets,
                delivered_bytes: bytes,
                delay_mean: (count.delays > 0).then(|| count.delay_sum / count.delays),
                delay_min: count.delay_min,
                delay_max: count.delay_max,
                srtt: sender.srtt,
                cwnd: sender.cwnd,
                ssthresh: sender.ssthresh,
                pipe: sender.pipe,
            });
            *count = FlowCount {
                delivered_packets: receiver.delivered_packets,
                delivered_bytes: receiver.delivered_bytes,
                window: count.window,
                rate: count.rate,
                ..FlowCount::default()
            };
        }
    }
}
