//! 4.3BSD-Tahoe: fast retransmit without fast recovery.

use super::{DUPLICATE_THRESHOLD, OnDuplicate, OnProgress, Position};

/// Tahoe.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::tcp) struct Tahoe {
    /// The offset after the last byte that was outstanding at the last loss.
    recover: u64,
    /// Duplicate acknowledgements since the last progress.
    duplicates: u32,
}

impl Tahoe {
    pub(super) fn on_duplicate(&mut self, at: Position) -> OnDuplicate {
        self.duplicates = self.duplicates.saturating_add(1);
        if self.duplicates != DUPLICATE_THRESHOLD || at.una <= self.recover {
            return OnDuplicate::Wait;
        }
        self.recover = at.max;
        OnDuplicate::Restart
    }

    pub(super) fn on_progress(&mut self) -> OnProgress {
        self.duplicates = 0;
        OnProgress::Ordinary
    }

    pub(super) fn on_timeout(&mut self, at: Position) {
        self.recover = at.max;
        self.duplicates = 0;
    }

    /// Whether nothing is lost or late.
    pub(super) fn is_quiet(&self) -> bool {
        self.duplicates == 0
    }

    pub(super) fn limited_transmit(&self) -> u32 {
        // The third one restarts.
        if self.duplicates < DUPLICATE_THRESHOLD {
            self.duplicates
        } else {
            0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duplicates_of_what_is_sent_again_are_no_loss() {
        let mut tahoe = Tahoe::default();
        let at = |una| Position {
            una,
            max: 10_001,
            smss: 1000,
        };
        let mut third = |una| [una; 3].map(|una| tahoe.on_duplicate(at(una)))[2];
        assert_eq!(third(1), OnDuplicate::Restart);
        tahoe.on_progress();
        let mut third = |una| [una; 3].map(|una| tahoe.on_duplicate(at(una)))[2];
        assert_eq!(third(10_001), OnDuplicate::Wait);
        tahoe.on_progress();
        let mut third = |una| [una; 3].map(|una| tahoe.on_duplicate(at(una)))[2];
        assert_eq!(third(11_001), OnDuplicate::Restart);
    }
}
