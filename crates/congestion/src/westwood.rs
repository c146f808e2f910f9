//! The control `westwood`: TCP Westwood+.
//!
//! Mascolo, Casetti, Gerla, Sanadidi and Wang, "TCP Westwood: Bandwidth Estimation for Enhanced
//! Transport over Wireless Links" (2001), and Grieco and Mascolo, "Performance Evaluation and
//! Comparison of Westwood+, New Reno, and Vegas TCP Congestion Control" (2004), as ns-3's
//! documentation and others describe them: an estimate of the bandwidth once per round trip, and
//! ssthresh = bandwidth times minimum round-trip time. The papers' own filters were not at hand. The
//! filter, the shortest interval of a sample, and when the minimum is forgotten are those of Linux
//! 6.12, read in the kernel's module.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_registry::ParameterError;
use skywave_units::{Duration, Instant};

use crate::law::{Cause, Congestion, Governed, Law};
use crate::ticks::Ticks;
use crate::window::{Phase, Window};
use crate::{Ack, AnyControl, ControlContext, ControlKind};

/// The longest `min_interval`.
const LONGEST_INTERVAL: Duration = Duration::from_secs(60);

/// Parameters of the control `westwood`: TCP Westwood+, a Reno that after a loss continues with the
/// window that fills the path at the bandwidth it has measured, instead of with half the window.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Westwood")]
#[serde(deny_unknown_fields, default)]
pub struct WestwoodParameters {
    /// The weight of earlier samples of the bandwidth in its estimate: of each of two low-pass
    /// filters in a row. At least 0 and below 1.
    #[schemars(extend("x-unit" = "1"))]
    pub filter: f64,
    /// The shortest time over which the bandwidth is measured; a round trip if that is longer. At
    /// most 60 s.
    pub min_interval: Duration,
    /// The resolution of the clock that measures time: round-trip times are rounded up to it. At
    /// most 1 s. Absent: 10 ms for TCP's profile `linux`, as in the kernel on virtual time (4 ms in
    /// Debian's); otherwise time is exact.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tick: Option<Duration>,
}

impl Default for WestwoodParameters {
    fn default() -> Self {
        Self {
            filter: 7.0 / 8.0,
            min_interval: Duration::from_millis(50),
            tick: None,
        }
    }
}

impl ControlKind for WestwoodParameters {
    fn check(&self) -> Result<(), ParameterError> {
        let Self {
            filter,
            min_interval,
            tick,
        } = *self;
        ParameterError::unless((0.0..1.0).contains(&filter), "filter", || {
            format!("{filter}: at least 0, below 1")
        })?;
        ParameterError::unless(min_interval <= LONGEST_INTERVAL, "min_interval", || {
            format!("{min_interval}: at most {LONGEST_INTERVAL}")
        })?;
        Ticks::check(tick)
    }

    fn build(&self, context: &ControlContext) -> AnyControl {
        Governed::build(context, Westwood::new(*self, context))
    }
}

/// Reno with another decrease.
#[derive(Clone, Debug)]
struct Westwood {
    /// In bytes.
    packet_size: f64,
    filter: f64,
    min_interval: Duration,
    ticks: Ticks,
    is_linux: bool,
    /// The last round-trip time.
    rtt: Option<Duration>,
    min_rtt: Option<Duration>,
    /// Whether the next acknowledgement replaces the minimum.
    forgets_min_rtt: bool,
    /// When the current sample of the bandwidth began; `None` before the first acknowledgement.
    began: Option<Instant>,
    /// Packets acknowledged in it.
    acked: u32,
    /// Packets not yet in `acked`: of the latest acknowledgement, and of those in a recovery before
    /// it, which are not reported.
    pending: u32,
    /// Duplicate acknowledgements that Linux has counted, each as a packet, and not yet subtracted
    /// from the acknowledgements that cover these packets.
    accounted: u32,
    /// The bandwidth in packets per second, filtered once and twice.
    filtered: Option<[f64; 2]>,
    /// Whether a reduction is in progress whose end sets the window.
    is_reduced: bool,
}

impl Westwood {
    fn new(parameters: WestwoodParameters, context: &ControlContext) -> Self {
        Self {
            packet_size: f64::from(context.packet_size),
            filter: parameters.filter,
            min_interval: parameters.min_interval,
            ticks: Ticks::new(parameters.tick, context.linux),
            is_linux: context.linux,
            rtt: None,
            min_rtt: None,
            forgets_min_rtt: false,
            began: None,
            acked: 0,
            pending: 0,
            accounted: 0,
            filtered: None,
            is_reduced: false,
        }
    }

    /// Notes `packets` of an acknowledgement. If a round trip has passed, a sample of the bandwidth
    /// ends, and they belong to the next one.
    fn sample(&mut self, now: Instant, packets: u32) {
        let began = *self.began.get_or_insert(now);
        let time = now - began;
        if self
            .rtt
            .is_some_and(|rtt| time > rtt.max(self.min_interval))
        {
            let sample = f64::from(self.acked) / time.as_secs_f64();
            self.filtered = Some(match self.filtered {
                None | Some([0.0, 0.0]) => [sample; 2],
                Some([once, twice]) => {
                    let once = self.filter * once + (1.0 - self.filter) * sample;
                    [once, self.filter * twice + (1.0 - self.filter) * once]
                }
            });
            self.began = Some(now);
            self.acked = 0;
        }
        self.acked += packets;
    }

    /// Returns the packets that Linux counts for an acknowledgement of this many. One of none is a
    /// duplicate, and counts as one; later acknowledgements count as so many less.
    fn count(&mut self, packets: u32) -> u32 {
        match packets {
            0 => {
                self.accounted += 1;
                1
            }
            1 => 1,
            _ if self.accounted >= packets => {
                self.accounted -= packets;
                1
            }
            _ => packets - core::mem::take(&mut self.accounted),
        }
    }

    /// Notes an acknowledgement as Linux does, in a recovery too. The first sample begins with the
    /// connection, but what the first acknowledgement covers does not count.
    fn sample_as_linux(&mut self, ack: &Ack) {
        let packets = core::mem::take(&mut self.pending);
        let packets = if self.began.is_some() {
            self.count(packets)
        } else {
            let connected = ack.now - ack.rtt.unwrap_or_default();
            self.began = Some(self.ticks.read(connected));
            0
        };
        self.sample(self.ticks.read(ack.now), packets);
    }

    /// Notes an acknowledgement, and what a recovery before it has acknowledged.
    fn sample_reported(&mut self, ack: &Ack) {
        let packets = core::mem::take(&mut self.pending);
        let latest = ack.newly_acked.min(packets);
        self.acked += packets - latest;
        self.sample(self.ticks.read(ack.now), latest);
    }

    /// Returns the bandwidth times the minimum round-trip time, in packets.
    fn bandwidth_delay_product(&self) -> f64 {
        match (self.filtered, self.min_rtt) {
            (Some([_, bandwidth]), Some(min_rtt)) => bandwidth * min_rtt.as_secs_f64(),
            _ => 0.0,
        }
    }
}

impl Law for Westwood {
    fn on_packet_acked(&mut self) {
        self.pending += 1;
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack, phase: Phase) {
        if let Some(rtt) = ack.rtt.filter(|rtt| !rtt.is_zero()) {
            self.rtt = Some(self.ticks.ceil(rtt));
        }
        if self.is_linux {
            self.sample_as_linux(ack);
        } else {
            self.sample_reported(ack);
        }
        if core::mem::take(&mut self.forgets_min_rtt) {
            self.min_rtt = self.rtt;
        } else {
            self.min_rtt = self.min_rtt.into_iter().chain(self.rtt).min();
        }
        if phase == Phase::Recovered && core::mem::take(&mut self.is_reduced) {
            window.resume_with(self.bandwidth_delay_product());
        }
        if window.may_grow(ack, phase) {
            window.grow_as_reno(ack);
        }
    }

    /// In Linux a recovery aims at half the window, and what the path carries applies at its end.
    fn rest(&mut self, window: &Window, congestion: Congestion) -> f64 {
        let is_timeout = congestion.cause == Cause::Timeout;
        self.forgets_min_rtt |= is_timeout;
        self.is_reduced = window.is_linux() && !is_timeout;
        if self.is_reduced {
            window.cwnd() / 2.0
        } else {
            self.bandwidth_delay_product()
        }
    }

    /// Linux measures in recoveries too.
    fn wants_every_rtt(&self) -> bool {
        self.is_linux
    }

    fn inner_values(&self, record: &mut dyn FnMut(&'static str, f64)) {
        if let Some([_, bandwidth]) = self.filtered {
            record("bandwidth_bps", 8.0 * self.packet_size * bandwidth);
        }
        if let Some(min_rtt) = self.min_rtt {
            record("min_rtt_s", min_rtt.as_secs_f64());
        }
    }
}

#[cfg(test)]
mod tests;
