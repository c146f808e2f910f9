//! A voice source: frames of speech, collected into datagrams.

use skywave_units::{Duration, Instant, Random};

use super::{Stamp, TalkspurtSpec, VoiceSpec};
use crate::draw::exponential;
use crate::{Journal, Made, SendingEnd, Setup, Source};

/// The minimum time a source stays in a mode of its codec before it switches to the next lower one.
const DOWN_AFTER: Duration = Duration::from_secs(1);
/// The time without waiting for the transport after which it switches to the next higher one.
const UP_AFTER: Duration = Duration::from_secs(5);

/// The talking end of a voice call.
#[derive(Debug)]
pub(super) struct Talker {
    start: Instant,
    interval: Duration,
    header: u32,
    /// The number of frames that completes a datagram, and the most frames per datagram.
    frames: u16,
    most_frames: u16,
    /// Whether to send a datagram only if none waits in the transport.
    waits: bool,
    /// The size of a frame in each mode, in descending order.
    modes: Vec<u32>,
    mode: u16,
    /// When the mode last changed, and when the transport last made it wait.
    mode_since: Instant,
    busy_at: Instant,
    /// The number of frames not handed over yet, and when the first of them was made.
    gathered: u16,
    first: Instant,
    spurts: Option<Spurts>,
    /// The length of the intervals of `counts`.
    probe_interval: Duration,
    counts: Vec<Made>,
}

/// Alternating talkspurts and pauses.
#[derive(Debug)]
struct Spurts {
    talk: Duration,
    pause: Duration,
    is_talking: bool,
    until: Instant,
    rng: Random,
}

impl Talker {
    /// Creates a source that starts to talk when the flow starts.
    pub(super) fn new(spec: &VoiceSpec, setup: &Setup<'_>) -> Self {
        let start = setup.start;
        let lower = spec.adapt.iter().flat_map(|adapt| &adapt.modes);
        let modes = std::iter::once(&spec.frame).chain(lower);
        let spurts = spec
            .talkspurts
            .as_ref()
            .map(|spec| Spurts::new(spec, start, setup.random("talkspurts")));
        Self {
            start,
            interval: spec.interval,
            header: spec.header.get() as u32,
            frames: spec.frames,
            most_frames: spec.most_frames(),
            waits: spec.adapt.is_some(),
            modes: modes.map(|bytes| bytes.get() as u32).collect(),
            mode: 0,
            mode_since: start,
            busy_at: start,
            gathered: 0,
            first: start,
            spurts,
            probe_interval: setup.interval,
            counts: Vec::new(),
        }
    }

    /// Makes a frame unless in a pause, and sends a datagram if there are enough.
    fn tick(&mut self, now: Instant, transport: &mut dyn SendingEnd) {
        let talks = self.spurts.as_mut().is_none_or(|spurts| spurts.talk(now));
        if talks {
            self.make_frame(now);
        }
        let is_complete = self.gathered >= self.frames || !talks;
        if self.gathered == 0 || !is_complete {
            return;
        }
        if self.waits && transport.waiting() > 0 {
            self.busy_at = now;
            return;
        }
        let bytes = self.modes[usize::from(self.mode)];
        let stamp = Stamp {
            made: self.first,
            frames: self.gathered,
            mode: self.mode,
        };
        let size = self.header + bytes * u32::from(self.gathered);
        if !transport.send(stamp.datagram(size)) {
            self.refuse(self.gathered);
        }
        self.gathered = 0;
    }

    fn make_frame(&mut self, now: Instant) {
        // Frames left over from an earlier talkspurt do not join this one.
        if self.first + self.interval * u64::from(self.gathered) < now {
            self.refuse(self.gathered);
            self.gathered = 0;
        }
        if self.gathered == self.most_frames {
            self.refuse(1);
            self.first += self.interval;
            self.gathered -= 1;
        }
        if self.gathered == 0 {
            self.first = now;
            self.choose_mode(now);
        }
        self.gathered += 1;
        self.count(now).frames += 1;
    }

    /// Chooses the mode of a datagram. All its frames have the same mode.
    fn choose_mode(&mut self, now: Instant) {
        let lowest = self.modes.len() as u16 - 1;
        let waited = self.busy_at > self.mode_since;
        let mode = if waited && now >= self.mode_since + DOWN_AFTER {
            (self.mode + 1).min(lowest)
        } else if now >= self.mode_since.max(self.busy_at) + UP_AFTER {
            self.mode.saturating_sub(1)
        } else {
            return;
        };
        if mode != self.mode {
            self.mode = mode;
            self.mode_since = now;
        }
    }

    /// Counts the first of the collected frames as refused.
    fn refuse(&mut self, frames: u16) {
        for frame in 0..frames {
            let made = self.first + self.interval * u64::from(frame);
            self.count(made).refused += 1;
        }
    }

    fn count(&mut self, made: Instant) -> &mut Made {
        let index = (made.as_nanos() / self.probe_interval.as_nanos()) as usize;
        if index >= self.counts.len() {
            self.counts.resize(index + 1, Made::default());
        }
        &mut self.counts[index]
    }
}

impl Source for Talker {
    fn begins(&self) -> Instant {
        self.start
    }

    fn act(&mut self, now: Instant, transport: &mut dyn SendingEnd) -> Option<Instant> {
        self.tick(now, transport);
        Some(now + self.interval)
    }

    fn journal(&self) -> Journal {
        Journal {
            speech: self.counts.clone(),
            ..Journal::default()
        }
    }
}

impl Spurts {
    fn new(spec: &TalkspurtSpec, start: Instant, rng: Random) -> Self {
        let mut spurts = Self {
            talk: spec.talk,
            pause: spec.pause,
            is_talking: true,
            until: start,
            rng,
        };
        let first = spurts.draw(spec.talk);
        spurts.until += first;
        spurts
    }

    /// Returns whether there is talk at `now`.
    fn talk(&mut self, now: Instant) -> bool {
        while self.until <= now {
            self.is_talking = !self.is_talking;
            let mean = if self.is_talking {
                self.talk
            } else {
                self.pause
            };
            let length = self.draw(mean);
            self.until += length;
        }
        self.is_talking
    }

    /// Draws an exponentially distributed time of at least one nanosecond, so that time advances.
    fn draw(&mut self, mean: Duration) -> Duration {
        exponential(mean.as_secs_f64(), &mut self.rng).max(Duration::from_nanos(1))
    }
}
