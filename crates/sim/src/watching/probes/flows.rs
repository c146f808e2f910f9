//! `flows`: each flow over each interval, and its sender at the end of the interval.

use std::mem;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use skywave_units::{Duration, Instant};

use crate::watching::probe::{Piecewise, Probe, ProbeSetup, RunEnd, Wants};
use crate::watching::table::finite;
use crate::world::ids::FlowId;
use crate::world::observe::{Mergeable, Observer};
use crate::world::view::{Event, PacketView, Sample};

pub(crate) struct Flows {
    setup: Arc<ProbeSetup>,
    /// Each flow in the current interval.
    current: Vec<Interval>,
    rows: Vec<Row>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Interval {
    /// The number of one-way delays of data packets.
    delays: u64,
    delay_sum: Duration,
    delay_min: Option<Duration>,
    delay_max: Option<Duration>,
    /// The receiver's counts at the last sample.
    delivered_packets: u64,
    delivered_bytes: u64,
}

struct Row {
    at: Instant,
    flow: FlowId,
    delivered_packets: u64,
    delivered_bytes: u64,
    delay_mean: Option<Duration>,
    delay_min: Option<Duration>,
    delay_max: Option<Duration>,
    srtt: Option<Duration>,
    cwnd: f64,
    ssthresh: f64,
    pipe: u32,
}

impl Flows {
    pub(crate) fn new(setup: &Arc<ProbeSetup>) -> Self {
        Self {
            setup: Arc::clone(setup),
            current: vec![Interval::default(); setup.flows()],
            rows: Vec::new(),
        }
    }

    #[inline(always)]
    fn received(&mut self, now: Instant, packet: PacketView<'_>) {
        let flow = packet.flow();
        if !self.setup.samples_flow(flow) || !packet.is_forward() || packet.data() == 0 {
            return;
        }
        let delay = now - packet.sent_at();
        let flow = &mut self.current[flow.index()];
        flow.delays += 1;
        flow.delay_sum += delay;
        flow.delay_min = Some(flow.delay_min.map_or(delay, |least| least.min(delay)));
        flow.delay_max = Some(flow.delay_max.map_or(delay, |most| most.max(delay)));
    }
}

impl Mergeable for Flows {
    fn of_region(&self) -> Option<Self> {
        Some(Self::new(&self.setup))
    }

    fn absorb(&mut self, other: &mut Self) {
        for (interval, other) in self.current.iter_mut().zip(&mut other.current) {
            interval.absorb(mem::take(other));
        }
    }
}

impl Interval {
    /// Adds the delays of another interval.
    fn absorb(&mut self, other: Self) {
        self.delays += other.delays;
        self.delay_sum += other.delay_sum;
        let both = |one: Option<Duration>, other: Option<Duration>| one.into_iter().chain(other);
        self.delay_min = both(self.delay_min, other.delay_min).min();
        self.delay_max = both(self.delay_max, other.delay_max).max();
    }
}

impl Observer for Flows {
    #[inline(always)]
    fn packet(&mut self, now: Instant, event: Event, packet: PacketView<'_>) {
        if event == Event::Receive {
            self.received(now, packet);
        }
    }

    fn sample(&mut self, now: Instant, sample: Sample<'_>) {
        for flow in self.setup.sampled_flows() {
            let sender = sample.host(flow.sender()).stats();
            let receiver = sample.host(flow.receiver()).stats();
            let current = &mut self.current[flow.index()];
            self.rows.push(Row {
                at: now,
                flow,
                delivered_packets: receiver.delivered_packets - current.delivered_packets,
                delivered_bytes: receiver.delivered_bytes - current.delivered_bytes,
                delay_mean: (current.delays > 0).then(|| current.delay_sum / current.delays),
                delay_min: current.delay_min,
                delay_max: current.delay_max,
                srtt: sender.srtt,
                cwnd: sender.cwnd,
                ssthresh: sender.ssthresh,
                pipe: sender.pipe,
            });
            *current = Interval {
                delivered_packets: receiver.delivered_packets,
                delivered_bytes: receiver.delivered_bytes,
                ..Interval::default()
            };
        }
    }
}

impl Probe for Flows {
    fn wants(&self) -> Wants {
        Wants {
            packets: true,
            samples: true,
            ..Wants::NOTHING
        }
    }

    fn finish(mut self: Box<Self>, end: &RunEnd<'_>) -> Result<RecordBatch, ArrowError> {
        self.take(end)
    }
}

impl Piecewise for Flows {
    fn take(&mut self, end: &RunEnd<'_>) -> Result<RecordBatch, ArrowError> {
        let setup = &self.setup;
        let table = end.table(&self.rows)
            .column("time_s", "When the sample was taken: the end of its interval.", |row| row.at)
            .flow("flow", "The flow.", |row| row.flow)
            .column("goodput_bps", "Application data delivered in the interval, as a rate.", |row| {
                row.delivered_bytes as f64 * 8.0 / setup.length(row.at).as_secs_f64()
            })
            .column("delivered_packets", "Packets with application data delivered in the interval.", |row| row.delivered_packets)
            .column("delivered_bytes", "Application data delivered in the interval.", |row| row.delivered_bytes)
            .column("delay_mean_s", "Mean one-way delay of the data packets that arrived in the interval, from sending to receipt; null if none did.", |row| row.delay_mean)
            .column("delay_min_s", "The smallest of these delays.", |row| row.delay_min)
            .column("delay_max_s", "The largest of these delays.", |row| row.delay_max)
            .column("srtt_s", "The sender's smoothed round-trip time at the sample; null before the first measurement.", |row| row.srtt)
            .column("cwnd_packets", "Congestion window at the sample; 0 for a sender without one.", |row| row.cwnd)
            .column("ssthresh_packets", "Slow-start threshold at the sample; null if unbounded, 0 for a sender without one.", |row| finite(row.ssthresh))
            .column("pipe_packets", "Data packets in flight at the sample, as the sender estimates them; 0 for a sender that does not.", |row| row.pipe)
            .finish()?;
        self.rows.clear();
        Ok(table)
    }
}
