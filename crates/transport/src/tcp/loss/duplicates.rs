//! Loss detection by duplicate acknowledgements.

use skywave_units::Instant;

use super::{DUPLICATE_THRESHOLD, Detection, Found, News};
use crate::tcp::sent_log::SentLog;
use crate::tcp::sequence::Position;

/// Detects a loss at the third duplicate acknowledgement (RFC 5681 section 3.2, step 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tcp) struct DuplicateAcks {
    /// Whether a loss counts only after everything that was outstanding at the last one has been
    /// acknowledged.
    once_per_window: bool,
    /// Whether the third duplicate takes back the segments that limited transmit has lent.
    is_tahoe: bool,
    /// The offset that must be acknowledged before duplicates show another loss. Initially that of
    /// the SYN, so that a fast retransmit of the first segment is allowed.
    recover: u64,
    /// Duplicate acknowledgements since the last progress.
    duplicates: u32,
}

impl DuplicateAcks {
    /// Creates a detection that finds a loss once per window of data.
    pub(in crate::tcp) const fn once_per_window() -> Self {
        Self {
            once_per_window: true,
            is_tahoe: false,
            recover: 0,
            duplicates: 0,
        }
    }

    /// Creates a detection that finds several losses in one window of data.
    pub(in crate::tcp) const fn every_time() -> Self {
        Self {
            once_per_window: false,
            ..Self::once_per_window()
        }
    }

    /// Creates the detection of Tahoe, whose third duplicate takes back the segments that the first
    /// two lent.
    pub(in crate::tcp) const fn tahoe() -> Self {
        Self {
            is_tahoe: true,
            ..Self::once_per_window()
        }
    }
}

impl Detection for DuplicateAcks {
    fn on_duplicate(&mut self, news: &News, _log: &mut SentLog) -> Found {
        self.duplicates = self.duplicates.saturating_add(1);
        // RFC 6582 section 3.2, step 2. `una > recover` is its "ack_number - 1 > recover", because
        // `recover` here is the byte after the RFC's. Without this check, the duplicates caused by
        // go-back-N after a timeout would look like another loss.
        if self.duplicates == DUPLICATE_THRESHOLD && news.at.una > self.recover {
            Found::Loss { is_repeated: false }
        } else {
            Found::Nothing
        }
    }

    fn on_progress(&mut self, _news: &News, _log: &mut SentLog) -> Found {
        self.duplicates = 0;
        Found::Nothing
    }

    fn on_timeout(&mut self, _now: Instant, at: Position, _log: &mut SentLog) {
        self.recover = at.max;
        self.duplicates = 0;
    }

    fn on_recovery(&mut self, at: Position) {
        if self.once_per_window {
            self.recover = at.max;
        }
    }

    fn limited_transmit(&self) -> u32 {
        if self.is_tahoe && self.duplicates >= DUPLICATE_THRESHOLD {
            0
        } else {
            self.duplicates.min(DUPLICATE_THRESHOLD - 1)
        }
    }

    fn is_quiet(&self, _log: &SentLog) -> bool {
        self.duplicates == 0
    }

    fn heap_size(&self) -> usize {
        0
    }
}
