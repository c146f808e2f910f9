//! Tail loss probes (RFC 8985 section 7).

use skywave_units::{Duration, Instant};

use super::{News, Timing};

/// The PTO without a round-trip time (section 7.2).
const PTO_WITHOUT_SRTT: Duration = Duration::from_secs(1);
/// TLP.max_ack_delay, which the RFC leaves to implementations: Linux's, and the delay of the
/// receiver of this crate.
const MAX_ACK_DELAY: Duration = Duration::from_millis(200);

/// A segment that is sent if acknowledgements stop, so that RACK can find the loss of the last ones
/// before the retransmission timer expires.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TailLossProbe {
    /// TLP.end_seq, while a probe is unacknowledged.
    end: Option<u64>,
    /// TLP.is_retrans.
    is_retransmission: bool,
    /// Whether there has been a round-trip time sample since the last probe.
    has_sample: bool,
}

impl TailLossProbe {
    /// Returns when a probe is due: TLP_calc_PTO () (section 7.2).
    pub(super) fn due(timing: &Timing) -> Instant {
        let delay = if timing.in_flight == 1 {
            MAX_ACK_DELAY
        } else {
            Duration::ZERO
        };
        let pto = timing
            .srtt
            .map_or(PTO_WITHOUT_SRTT, |srtt| srtt * 2 + delay);
        (timing.now + pto).min(timing.rto_at)
    }

    pub(super) fn on_rtt_sample(&mut self) {
        self.has_sample = true;
    }

    /// Returns whether a probe may be sent (section 7.3).
    pub(super) const fn is_permitted(&self) -> bool {
        self.end.is_none() && self.has_sample
    }

    /// Records that a probe was sent, after which everything before `end` has been sent.
    pub(super) fn on_sent(&mut self, end: u64, is_retransmission: bool) {
        *self = Self {
            end: Some(end),
            is_retransmission,
            has_sample: false,
        };
    }

    /// Forgets the probe, because a recovery begins (section 7.1).
    pub(super) fn reset(&mut self) {
        self.end = None;
        self.is_retransmission = false;
    }

    /// Returns whether an acknowledgement shows that the probe has repaired a loss:
    /// TLP_process_ack () (section 7.4.2).
    pub(super) fn has_repaired(&mut self, news: &News) -> bool {
        let Some(end) = self.end.filter(|&end| news.at.una >= end) else {
            return false;
        };
        let both_arrived = match news.dsack {
            Some(block) => block.end == end,
            None => news.acked == 0 && !news.has_sacked,
        };
        let has_repaired = self.is_retransmission && !both_arrived && news.at.una > end;
        if !self.is_retransmission || both_arrived || has_repaired {
            self.end = None;
        }
        has_repaired
    }
}
