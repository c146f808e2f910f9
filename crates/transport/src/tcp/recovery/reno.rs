//! Reno: fast recovery that ends with the first acknowledgement of new data.

use super::{DUPLICATE_THRESHOLD, OnDuplicate, OnProgress, Position};

/// RFC 5681 section 3.2.
#[derive(Clone, Copy, Debug)]
pub(in crate::tcp) struct Reno {
    once_per_window: bool,
    /// The offset that must be passed before duplicates stand for another loss.
    recover: u64,
    recovering: bool,
    /// Duplicate acknowledgements since the last progress.
    duplicates: u32,
    inflation: i64,
}

impl Reno {
    pub(super) const fn new(once_per_window: bool) -> Self {
        Self {
            once_per_window,
            recover: 0,
            recovering: false,
            duplicates: 0,
            inflation: 0,
        }
    }

    pub(super) fn on_duplicate(&mut self, at: Position) -> OnDuplicate {
        self.duplicates = self.duplicates.saturating_add(1);
        if self.recovering {
            // Step 4: another segment has left the network.
            self.inflation += at.smss as i64;
            return OnDuplicate::Wait;
        }
        if self.duplicates != DUPLICATE_THRESHOLD || at.una <= self.recover {
            return OnDuplicate::Wait;
        }
        if self.once_per_window {
            self.recover = at.max;
        }
        self.recovering = true;
        // Step 3.
        self.inflation = (u64::from(DUPLICATE_THRESHOLD) * at.smss) as i64;
        OnDuplicate::FastRetransmit
    }

    pub(super) fn on_progress(&mut self) -> OnProgress {
        self.duplicates = 0;
        // Step 6.
        self.inflation = 0;
        if core::mem::take(&mut self.recovering) {
            OnProgress::Full
        } else {
            OnProgress::Ordinary
        }
    }

    pub(super) fn on_timeout(&mut self, at: Position) {
        *self = Self {
            recover: at.max,
            ..Self::new(self.once_per_window)
        };
    }

    pub(super) const fn inflation(&self) -> i64 {
        self.inflation
    }

    /// Nothing is lost or late.
    pub(super) fn is_quiet(&self) -> bool {
        !self.recovering && self.duplicates == 0
    }

    pub(super) fn limited_transmit(&self) -> u32 {
        if self.recovering {
            0
        } else {
            self.duplicates.min(DUPLICATE_THRESHOLD - 1)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn third_duplicate(reno: &mut Reno, una: u64, max: u64) -> OnDuplicate {
        let at = Position {
            una,
            max,
            smss: 1000,
        };
        [at; 3].map(|at| reno.on_duplicate(at))[2]
    }

    #[test]
    fn rfc5681_3_2_each_duplicate_inflates_and_progress_deflates() {
        let mut reno = Reno::new(false);
        assert_eq!(
            third_duplicate(&mut reno, 1, 10_001),
            OnDuplicate::FastRetransmit
        );
        assert_eq!(reno.inflation(), 3000);
        assert_eq!(third_duplicate(&mut reno, 1, 10_001), OnDuplicate::Wait);
        assert_eq!(reno.inflation(), 6000);
        assert_eq!(reno.on_progress(), OnProgress::Full);
        assert_eq!(reno.inflation(), 0);
        assert_eq!(reno.on_progress(), OnProgress::Ordinary);
    }

    #[test]
    fn a_second_loss_in_the_window_halves_again_unless_once_per_window() {
        for (once_per_window, second) in [
            (false, OnDuplicate::FastRetransmit),
            (true, OnDuplicate::Wait),
        ] {
            let mut reno = Reno::new(once_per_window);
            third_duplicate(&mut reno, 1, 10_001);
            reno.on_progress();
            assert_eq!(third_duplicate(&mut reno, 5001, 13_001), second);
            reno.on_timeout(Position {
                una: 5001,
                max: 13_001,
                smss: 1000,
            });
            assert_eq!(
                third_duplicate(&mut reno, 13_001, 14_001),
                OnDuplicate::Wait
            );
            reno.on_progress();
            assert_eq!(
                third_duplicate(&mut reno, 14_001, 19_001),
                OnDuplicate::FastRetransmit
            );
        }
    }
}
