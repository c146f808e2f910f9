//! The retransmission of TCP Vegas (Brakmo and Peterson 1995), as in ns-2.35.

use skywave_units::{Duration, Instant};

use super::{DUPLICATE_THRESHOLD, News, OnDuplicate, OnProgress, Position};
use crate::tcp::sent_log::SentSegment;

/// The number of acknowledgements after a retransmission that check for overdue segments.
const SUSPICIOUS_ACKS: u32 = 2;

/// How segments sent beyond cwnd on duplicate acknowledgements are accounted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Inflation {
    /// They are lent until the next acknowledgement of new data.
    Lent,
    /// They are added to cwnd itself, and removed if duplicates followed the third one or the one
    /// that found an overdue segment: [`super::RecoveryAlgorithm::Ns2Vegas`].
    PartOfCwnd,
}

/// See [`super::RecoveryAlgorithm::Vegas`] and [`super::RecoveryAlgorithm::Ns2Vegas`].
#[derive(Clone, Debug)]
pub(in crate::tcp) struct FineTimer {
    kind: Inflation,
    timeout: Option<FineTimeout>,
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
    /// Bytes lent beyond cwnd.
    inflation: i64,
    /// Segments still to be added to cwnd itself.
    inflation_of_cwnd: u32,
    /// Whether cwnd itself must be deflated.
    deflates_cwnd: bool,
}

impl FineTimer {
    pub(super) const fn new(kind: Inflation) -> Self {
        Self {
            kind,
            timeout: None,
            recover: 0,
            timed_out: false,
            reduced_at: None,
            duplicates: 0,
            suspicious: 0,
            inflation: 0,
            inflation_of_cwnd: 0,
            deflates_cwnd: false,
        }
    }

    fn inflate(&mut self, segments: u32, smss: u64) {
        match self.kind {
            Inflation::Lent => self.inflation += (u64::from(segments) * smss) as i64,
            Inflation::PartOfCwnd => self.inflation_of_cwnd += segments,
        }
    }

    pub(super) fn take_inflation_of_cwnd(&mut self) -> u32 {
        core::mem::take(&mut self.inflation_of_cwnd)
    }

    pub(super) fn take_deflation_of_cwnd(&mut self) -> bool {
        core::mem::take(&mut self.deflates_cwnd)
    }

    pub(super) fn backs_off(&self) -> bool {
        self.kind == Inflation::PartOfCwnd
    }

    pub(super) fn times_retransmissions(&self) -> bool {
        self.kind == Inflation::PartOfCwnd
    }

    /// Takes the round-trip time `rtt` of a segment that was sent only once.
    pub(super) fn on_sample(&mut self, rtt: Duration) {
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

    pub(super) fn on_duplicate(&mut self, news: &News) -> OnDuplicate {
        self.duplicates = self.duplicates.saturating_add(1);
        let Some(oldest) = &news.oldest else {
            return OnDuplicate::Wait;
        };
        if self.duplicates != DUPLICATE_THRESHOLD && !self.is_overdue(news.now, oldest) {
            if self.duplicates > DUPLICATE_THRESHOLD {
                self.inflate(1, news.at.smss);
            }
            return OnDuplicate::Wait;
        }
        if self.timed_out && news.at.una <= self.recover {
            return OnDuplicate::Wait;
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
            self.inflation = 0;
            self.inflate(self.duplicates, news.at.smss);
        }
        if !is_repeated {
            self.duplicates = DUPLICATE_THRESHOLD;
        }
        match (is_new_loss, is_repeated) {
            (false, _) => OnDuplicate::Retransmit,
            (true, false) => OnDuplicate::FastRetransmit,
            (true, true) => OnDuplicate::RepeatedRetransmit,
        }
    }

    pub(super) fn on_progress(&mut self, news: &News) -> OnProgress {
        self.deflates_cwnd =
            self.kind == Inflation::PartOfCwnd && self.duplicates > DUPLICATE_THRESHOLD;
        self.inflation = 0;
        self.duplicates = 0;
        if let Some(rtt) = news.rtt {
            self.on_sample(rtt);
        }
        if self.suspicious == 0 {
            return OnProgress::Ordinary;
        }
        let is_overdue = match &news.oldest {
            Some(oldest) => self.is_overdue(news.now, oldest),
            None => self.kind == Inflation::PartOfCwnd,
        };
        if is_overdue {
            self.suspicious -= 1;
            self.duplicates = DUPLICATE_THRESHOLD;
            OnProgress::Overdue
        } else {
            self.suspicious = 0;
            OnProgress::Ordinary
        }
    }

    pub(super) fn on_timeout(&mut self, now: Instant, at: Position) {
        self.recover = at.max;
        self.timed_out = true;
        self.reduced_at = Some(now);
        self.duplicates = 0;
        self.inflation = 0;
    }

    pub(super) const fn inflation(&self) -> i64 {
        self.inflation
    }

    pub(super) fn limited_transmit(&self) -> u32 {
        if self.kind == Inflation::Lent && self.duplicates < DUPLICATE_THRESHOLD {
            self.duplicates
        } else {
            0
        }
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
