//! The retransmission of TCP Vegas (Brakmo and Peterson 1995), as in ns-2.35.

use skywave_units::{Duration, Instant};

use super::{DUPLICATE_THRESHOLD, Detection, Found, News};
use crate::tcp::sent_log::{SentLog, SentSegment};
use crate::tcp::sequence::Position;

/// The number of acknowledgements after a retransmission that check for overdue segments.
const SUSPICIOUS_ACKS: u32 = 2;

/// The detection of [`RecoveryAlgorithm::Vegas`](super::RecoveryAlgorithm::Vegas).
#[derive(Clone, Debug, Default)]
pub(in crate::tcp) struct FineTimer {
    timeout: Option<FineTimeout>,
    /// Whether a segment that has not been sent counts as overdue.
    is_unsent_overdue: bool,
    /// The offset after the last byte that was outstanding at the last loss or timeout.
    recover: u64,
    /// Whether the last reaction was to a timeout.
    timed_out: bool,
    /// When the window was last reduced.
    reduced_at: Option<Instant>,
    /// Duplicate acknowledgements since the last progress.
    duplicates: u32,
    /// The number of further acknowledgements that check for overdue segments.
    suspicious: u32,
    /// Bytes lent beyond cwnd until the next acknowledgement of new data.
    lent: i64,
}

impl FineTimer {
    /// Creates a detection that treats an unsent segment as overdue, as ns-2 does.
    pub(in crate::tcp) fn ns2() -> Self {
        Self {
            is_unsent_overdue: true,
            ..Self::default()
        }
    }

    /// Returns whether duplicates followed the third one, or the one that found an overdue segment.
    pub(in crate::tcp) const fn has_further_duplicates(&self) -> bool {
        self.duplicates > DUPLICATE_THRESHOLD
    }

    /// Takes the bytes lent beyond cwnd.
    pub(in crate::tcp) fn take_lent(&mut self) -> i64 {
        core::mem::take(&mut self.lent)
    }

    fn lend(&mut self, segments: u32, smss: u64) {
        self.lent += (u64::from(segments) * smss) as i64;
    }

    /// Updates the timeout with the round-trip time `rtt` of a segment that was sent only once.
    fn on_sample(&mut self, rtt: Duration) {
        let rtt = rtt.as_secs_f64();
        match &mut self.timeout {
            Some(timeout) => timeout.on_sample(rtt),
            None => self.timeout = Some(FineTimeout::new(rtt)),
        }
    }

    fn is_overdue(&self, now: Instant, segment: &SentSegment) -> bool {
        self.timeout
            .as_ref()
            .is_some_and(|timeout| (now - segment.sent_at).as_secs_f64() >= timeout.seconds)
    }
}

impl Detection for FineTimer {
    fn on_duplicate(&mut self, news: &News, _log: &mut SentLog) -> Found {
        self.duplicates = self.duplicates.saturating_add(1);
        let Some(oldest) = &news.oldest else {
            return Found::Nothing;
        };
        if self.duplicates != DUPLICATE_THRESHOLD && !self.is_overdue(news.now, oldest) {
            if self.has_further_duplicates() {
                self.lend(1, news.at.smss);
            }
            return Found::Nothing;
        }
        if self.timed_out && news.at.una <= self.recover {
            return Found::Nothing;
        }
        self.timed_out = false;
        self.recover = news.at.max;
        self.suspicious = SUSPICIOUS_ACKS;
        let is_repeated = oldest.transmissions > 1;
        if let Some(timeout) = &mut self.timeout {
            timeout.seconds *= if is_repeated { 2.0 } else { 1.125 };
        }
        let is_new_loss = self.reduced_at.is_none_or(|at| at < oldest.sent_at);
        if is_new_loss {
            self.reduced_at = Some(news.now);
            self.lent = 0;
            self.lend(self.duplicates, news.at.smss);
        }
        if !is_repeated {
            self.duplicates = DUPLICATE_THRESHOLD;
        }
        if is_new_loss {
            Found::Loss { is_repeated }
        } else {
            Found::Covered
        }
    }

    fn on_progress(&mut self, news: &News, _log: &mut SentLog) -> Found {
        self.lent = 0;
        self.duplicates = 0;
        if let Some(rtt) = news.rtt {
            self.on_sample(rtt);
        }
        if self.suspicious == 0 {
            return Found::Nothing;
        }
        let is_overdue = match &news.oldest {
            Some(oldest) => self.is_overdue(news.now, oldest),
            None => self.is_unsent_overdue,
        };
        if is_overdue {
            self.suspicious -= 1;
            self.duplicates = DUPLICATE_THRESHOLD;
            Found::Covered
        } else {
            self.suspicious = 0;
            Found::Nothing
        }
    }

    fn on_timeout(&mut self, now: Instant, at: Position, _log: &mut SentLog) {
        self.recover = at.max;
        self.timed_out = true;
        self.reduced_at = Some(now);
        self.duplicates = 0;
        self.lent = 0;
    }

    fn on_handshake(&mut self, _now: Instant, rtt: Duration) {
        self.on_sample(rtt);
    }

    fn inflation(&self) -> i64 {
        self.lent
    }

    fn limited_transmit(&self) -> u32 {
        if self.duplicates < DUPLICATE_THRESHOLD {
            self.duplicates
        } else {
            0
        }
    }

    fn is_quiet(&self, _log: &SentLog) -> bool {
        false
    }

    fn heap_size(&self) -> usize {
        0
    }
}

/// Jacobson's estimator without clock granularity: SRTT + 2 RTTVAR, plus a sixteenth.
#[derive(Clone, Copy, Debug)]
struct FineTimeout {
    srtt: f64,
    rttvar: f64,
    seconds: f64,
}

impl FineTimeout {
    fn new(rtt: f64) -> Self {
        Self {
            srtt: rtt,
            rttvar: rtt / 4.0,
            seconds: 1.5 * rtt,
        }
    }

    fn on_sample(&mut self, rtt: f64) {
        let error = rtt - self.srtt;
        self.srtt += error / 8.0;
        self.rttvar += (error.abs() - self.rttvar) / 4.0;
        self.seconds = (self.srtt + 2.0 * self.rttvar) * (1.0 + 1.0 / 16.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Jacobson 1988, appendix A: gains of an eighth and a quarter, computed by hand.
    #[test]
    fn the_estimate_follows_samples_and_their_deviation() {
        let close = |value: f64, wanted: f64| assert!((value - wanted).abs() < 1e-12, "{value}");
        let mut timeout = FineTimeout::new(0.1);
        close(timeout.seconds, 0.15);
        // RTTVAR from 25 ms to 25 + (100 - 25) / 4 ms.
        timeout.on_sample(0.2);
        close(timeout.srtt, 0.1125);
        close(timeout.rttvar, 0.04375);
        close(timeout.seconds, (0.1125 + 0.0875) * 17.0 / 16.0);
        // A sample below the mean deviates as much as one above.
        timeout.on_sample(0.0125);
        close(timeout.srtt, 0.1);
        close(timeout.rttvar, 0.04375 + (0.1 - 0.04375) / 4.0);
    }
}
