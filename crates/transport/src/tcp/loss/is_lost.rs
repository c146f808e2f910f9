//! Loss detection from SACKs.

use skywave_units::Instant;

use super::{DUPLICATE_THRESHOLD, Detection, Found, News};
use crate::tcp::sent_log::SentLog;
use crate::tcp::sequence::Position;

/// The detection of RFC 6675: three acknowledgements that SACK something new, or IsLost () for the
/// first unacknowledged byte, show a loss. Where the RFC names a byte, the offset here is that of
/// the byte after it.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::tcp) struct IsLost {
    /// RecoveryPoint: until this is acknowledged, no other recovery begins.
    recovery_point: u64,
    /// DupAcks.
    duplicates: u32,
}

impl IsLost {
    /// Returns whether a loss is detected (section 5, steps 1 and 2).
    fn find(&self, at: Position, log: &SentLog) -> Found {
        let is_lost =
            self.duplicates >= DUPLICATE_THRESHOLD || at.una < log.sacks().lost_below(at.smss);
        if is_lost && at.una >= self.recovery_point {
            Found::Loss { is_repeated: false }
        } else {
            Found::Nothing
        }
    }
}

impl Detection for IsLost {
    /// Counts a duplicate (section 5). An acknowledgement that SACKs nothing new is not one
    /// (section 2).
    fn on_duplicate(&mut self, news: &News, log: &mut SentLog) -> Found {
        if !news.has_sacked {
            return Found::Nothing;
        }
        self.duplicates = self.duplicates.saturating_add(1);
        self.find(news.at, log)
    }

    fn on_progress(&mut self, news: &News, log: &mut SentLog) -> Found {
        self.duplicates = u32::from(news.has_sacked);
        if news.has_sacked {
            self.find(news.at, log)
        } else {
            Found::Nothing
        }
    }

    /// Resets the state at a timeout (section 5.1).
    fn on_timeout(&mut self, _now: Instant, at: Position, _log: &mut SentLog) {
        self.recovery_point = at.max;
        self.duplicates = 0;
    }

    fn on_recovery(&mut self, at: Position) {
        self.recovery_point = at.max;
    }

    fn on_recovered(&mut self) {
        self.duplicates = 0;
    }

    fn lost_below(&self, at: Position, log: &SentLog) -> u64 {
        log.sacks().lost_below(at.smss)
    }

    fn limited_transmit(&self) -> u32 {
        self.duplicates.min(DUPLICATE_THRESHOLD - 1)
    }

    fn is_quiet(&self, log: &SentLog) -> bool {
        self.duplicates == 0 && log.sacks().sacked().is_empty()
    }

    fn heap_size(&self) -> usize {
        0
    }
}
