//! Sums up a round-trip time, for controls that are called once per round trip.

use skywave_congestion::{Ack, Loss};
use skywave_units::{Duration, Instant};

use super::values;

/// Sums up acknowledgements until one covers a packet that was sent after the first of them.
#[derive(Default)]
pub(super) struct Round {
    began: Option<Instant>,
    /// Bytes delivered when the round trip began. A packet belongs to the round trip if at least as
    /// many had been delivered when it was sent.
    began_with: u64,
    delivered: u64,
    newly_acked: u32,
    marked: u32,
    lost: u32,
    samples: u32,
    rtt_min: Option<Duration>,
    rtt_sum: Duration,
    is_busy: bool,
    ecn_echo: bool,
}

impl Round {
    pub(super) const fn on_loss(&mut self, loss: &Loss) {
        self.lost = self.lost.saturating_add(loss.lost);
    }

    /// Adds an acknowledgement. Returns the report of the round trip if this ends it.
    pub(super) fn on_ack(&mut self, ack: &Ack) -> Option<values::RoundTrip> {
        let began = *self
            .began
            .get_or_insert(ack.now - ack.rtt.unwrap_or_default());
        self.newly_acked = self.newly_acked.saturating_add(ack.newly_acked);
        self.marked = self.marked.saturating_add(ack.marked);
        self.is_busy |= !ack.application_limited;
        self.ecn_echo |= ack.ecn_echo;
        if let Some(rtt) = ack.rtt {
            self.samples += 1;
            self.rtt_sum += rtt;
            self.rtt_min = Some(self.rtt_min.map_or(rtt, |least| least.min(rtt)));
        }
        let sample = ack.delivery_rate?;
        self.delivered = sample.total_delivered;
        if sample.prior_delivered < self.began_with {
            return None;
        }
        let samples = self.samples;
        let mean = |sum: Duration| sum.as_secs_f64() / f64::from(samples);
        let report = values::RoundTrip {
            now_s: ack.now.as_secs_f64(),
            duration_s: (ack.now - began).as_secs_f64(),
            newly_acked: self.newly_acked,
            acked_bytes: self.delivered.saturating_sub(self.began_with),
            marked: self.marked,
            lost: self.lost,
            in_flight: ack.in_flight,
            rtt_samples: samples,
            rtt_min_s: self.rtt_min.map(Duration::as_secs_f64),
            rtt_mean_s: (samples > 0).then(|| mean(self.rtt_sum)),
            delivery_rate_bps: Some(sample.rate().as_bps()),
            delivery_limited: sample.is_application_limited,
            application_limited: !self.is_busy,
            ecn_echo: self.ecn_echo,
        };
        *self = Self {
            began: Some(ack.now),
            began_with: self.delivered,
            ..Self::default()
        };
        Some(report)
    }
}
