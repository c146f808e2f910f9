//! `voice`: the fate of the frames of each voice call, by the interval in which they were made.
//! Each frame is in time, late or lost. Frames whose deadline may come after the end of the run are
//! left out.

use std::sync::Arc;
use std::{iter, mem};

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use skywave_units::{Duration, Instant};
use skywave_wire::Payload;

use crate::watching::probe::{Probe, ProbeSetup, RunEnd, Wants};
use crate::world::ids::FlowId;
use crate::world::observe::{Mergeable, Observer};
use crate::world::view::{Event, PacketView};
use skywave_traffic::{Codec, Made, Playout, Stamp};

pub(crate) struct Voice {
    interval: Duration,
    /// A log for each flow that is a voice call.
    logs: Vec<Option<VoiceLog>>,
}

struct Row {
    /// The end of the interval.
    at: Instant,
    flow: FlowId,
    playout: Playout,
    made: Made,
    count: VoiceCount,
}

impl Voice {
    pub(crate) fn new(setup: &Arc<ProbeSetup>) -> Self {
        let interval = setup.interval();
        let log = |playout| VoiceLog::new(playout, interval);
        Self {
            interval,
            logs: (0..setup.flows() as u32)
                .map(|flow| setup.playout(FlowId::new(flow)).map(log))
                .collect(),
        }
    }
}

impl Mergeable for Voice {
    fn of_region(&self) -> Option<Self> {
        let log = |log: &VoiceLog| VoiceLog::new(log.playout, self.interval);
        Some(Self {
            interval: self.interval,
            logs: self.logs.iter().map(|of| of.as_ref().map(log)).collect(),
        })
    }

    fn absorb(&mut self, other: &mut Self) {
        let logs = self.logs.iter_mut().zip(&mut other.logs);
        for (log, other) in logs.filter_map(|(log, other)| log.as_mut().zip(other.as_mut())) {
            log.absorb(other);
        }
    }
}

impl Observer for Voice {
    fn packet(&mut self, now: Instant, event: Event, packet: PacketView<'_>) {
        if !packet.is_forward() {
            return;
        }
        let Some(log) = &mut self.logs[packet.flow().index()] else {
            return;
        };
        let Some(datagram) = packet.datagram() else {
            return;
        };
        match event {
            Event::Send => log.sent(now, datagram),
            Event::Drop { .. } => log.lost(datagram),
            Event::Receive => log.arrived(now, datagram),
            Event::Enqueue { .. } | Event::Arrive { .. } => {}
        }
    }
}

impl Probe for Voice {
    fn is_optional(&self) -> bool {
        true
    }

    fn wants(&self) -> Wants {
        Wants {
            packets: self.logs.iter().any(Option::is_some),
            ..Wants::NOTHING
        }
    }

    fn finish(self: Box<Self>, end: &RunEnd<'_>) -> Result<RecordBatch, ArrowError> {
        let mut rows = Vec::new();
        for (log, (flow, journal)) in self.logs.iter().zip(end.journals()) {
            let Some(log) = log else { continue };
            // Whatever was sent was made.
            for (index, &made) in journal.speech.iter().enumerate() {
                let at = Instant::ZERO + self.interval * (index as u64 + 1);
                // It is not known yet whether later frames are in time.
                if at + log.playout.deadline > end.time() {
                    break;
                }
                rows.push(Row {
                    at,
                    flow,
                    playout: log.playout,
                    made,
                    count: log.known(index),
                });
            }
        }
        end.table(&rows)
            .column("time_s", "The end of the interval in which the frames were made. It is not in the table unless the deadlines of all its frames came before the end of the run.", |row| row.at)
            .flow("flow", "The call.", |row| row.flow)
            .column("codec", "Its codec; null if the scenario does not say.", |row| row.playout.codec.map(Codec::name))
            .column("mouth_to_ear_s", "Time from the beginning of a frame's speech until it is played: its interval and its deadline.", |row| row.playout.deadline + row.playout.frame)
            .column("frames", "Frames that the codec made in the interval.", |row| row.made.frames)
            .column("refused", "Of these, frames that the transport did not take.", |row| row.made.refused)
            .column("sent", "Frames in datagrams that were sent; counted, as all that follows, in the interval in which they were made.", |row| row.count.sent)
            .column("lost", "Frames that did not arrive.", |row| row.count.lost)
            .column("late", "Frames that arrived after their deadline.", |row| row.count.late)
            .column("played", "Frames that were played in time.", |row| row.count.played)
            .column("mode_mean", "Mean of the codec's mode over the frames played, where 0 is the best; null if none was.", |row| row.count.mode_mean())
            .column("wait_mean_s", "Mean time from making a frame to sending it; null if none was sent.", |row| row.count.wait_mean())
            .column("delay_mean_s", "Mean time from making a frame to its arrival; null if none arrived.", |row| row.count.delay_mean())
            .finish()
    }
}

/// The fate of frames, by the interval in which they were made.
#[derive(Clone, Debug)]
struct VoiceLog {
    playout: Playout,
    probe_interval: Duration,
    /// The first interval with frames.
    first: usize,
    /// Of each interval from the first on.
    counts: Vec<VoiceCount>,
}

/// The fate of the frames made in one interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct VoiceCount {
    /// Frames sent.
    sent: u64,
    /// Frames lost by links.
    lost: u64,
    /// Frames that arrived after their deadline.
    late: u64,
    /// Frames that arrived in time.
    played: u64,
    /// The sum of the modes of frames in time.
    modes: u64,
    /// The total time from making to sending, over frames sent.
    waits: Duration,
    /// The total time from making to arrival, over frames that arrived.
    delays: Duration,
}

impl VoiceCount {
    fn add(&mut self, other: Self) {
        self.sent += other.sent;
        self.lost += other.lost;
        self.late += other.late;
        self.played += other.played;
        self.modes += other.modes;
        self.waits += other.waits;
        self.delays += other.delays;
    }

    /// Returns the mean mode of the frames played.
    fn mode_mean(&self) -> Option<f64> {
        (self.played > 0).then(|| self.modes as f64 / self.played as f64)
    }

    /// Returns the mean time frames waited in their sender.
    fn wait_mean(&self) -> Option<Duration> {
        (self.sent > 0).then(|| self.waits / self.sent)
    }

    /// Returns the mean time from making to arrival.
    fn delay_mean(&self) -> Option<Duration> {
        let arrived = self.played + self.late;
        (arrived > 0).then(|| self.delays / arrived)
    }
}

impl VoiceLog {
    /// Creates a log of a call. Frames are counted per `probe_interval`.
    const fn new(playout: Playout, probe_interval: Duration) -> Self {
        Self {
            playout,
            probe_interval,
            first: 0,
            counts: Vec::new(),
        }
    }

    /// Adds the counts of another log, which begins again from zero.
    fn absorb(&mut self, other: &mut Self) {
        for (interval, other_count) in (other.first..).zip(mem::take(&mut other.counts)) {
            self.count(interval).add(other_count);
        }
    }

    /// Returns what is known of an interval.
    fn known(&self, interval: usize) -> VoiceCount {
        let place = interval.checked_sub(self.first);
        let count = place.and_then(|place| self.counts.get(place));
        count.copied().unwrap_or_default()
    }

    /// Returns the count of an interval.
    fn count(&mut self, interval: usize) -> &mut VoiceCount {
        if self.counts.is_empty() {
            self.first = interval;
        }
        // A frame can arrive after some that were made later.
        if interval < self.first {
            let missing = iter::repeat_n(VoiceCount::default(), self.first - interval);
            self.counts.splice(..0, missing);
            self.first = interval;
        }
        let place = interval - self.first;
        if place >= self.counts.len() {
            self.counts.resize(place + 1, VoiceCount::default());
        }
        &mut self.counts[place]
    }

    /// Records that a datagram was sent.
    fn sent(&mut self, now: Instant, datagram: &Payload) {
        self.each_frame(datagram, |count, made, _| {
            count.sent += 1;
            count.waits += now - made;
        });
    }

    /// Records that a link lost a datagram.
    fn lost(&mut self, datagram: &Payload) {
        self.each_frame(datagram, |count, _, _| count.lost += 1);
    }

    /// Records that a datagram arrived.
    fn arrived(&mut self, now: Instant, datagram: &Payload) {
        let deadline = self.playout.deadline;
        self.each_frame(datagram, |count, made, mode| {
            let delay = now - made;
            count.delays += delay;
            if delay <= deadline {
                count.played += 1;
                count.modes += u64::from(mode);
            } else {
                count.late += 1;
            }
        });
    }

    /// Calls `add` for each frame with the counts of the interval in which it was made.
    fn each_frame(
        &mut self,
        datagram: &Payload,
        mut add: impl FnMut(&mut VoiceCount, Instant, u16),
    ) {
        let Some(stamp) = Stamp::read(datagram) else {
            return;
        };
        for frame in 0..stamp.frames {
            let made = stamp.made + self.playout.frame * u64::from(frame);
            let interval = (made.as_nanos() / self.probe_interval.as_nanos()) as usize;
            add(self.count(interval), made, stamp.mode);
        }
    }
}
