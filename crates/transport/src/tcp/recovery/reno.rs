//! Reno: fast recovery that ends with the first acknowledgement of new data.

use super::fast::FastRecovery;
use super::{OnDuplicate, OnProgress, Position};

/// RFC 5681 section 3.2.
#[derive(Clone, Copy, Debug)]
pub(in crate::tcp) struct Reno {
    once_per_window: bool,
    pub(super) fast: FastRecovery,
}

impl Reno {
    pub(super) fn new(once_per_window: bool) -> Self {
        Self {
            once_per_window,
            fast: FastRecovery::default(),
        }
    }

    pub(super) fn on_duplicate(&mut self, at: Position) -> OnDuplicate {
        let answer = self.fast.on_duplicate(at);
        if answer == OnDuplicate::FastRetransmit && self.once_per_window {
            self.fast.recover = at.max;
        }
        answer
    }

    pub(super) fn on_progress(&mut self) -> OnProgress {
        if self.fast.end() {
            OnProgress::Full
        } else {
            OnProgress::Ordinary
        }
    }

    pub(super) fn on_timeout(&mut self, at: Position) {
        self.fast = FastRecovery::after_timeout(at);
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
        assert_eq!(reno.fast.inflation, 3000);
        assert_eq!(third_duplicate(&mut reno, 1, 10_001), OnDuplicate::Wait);
        assert_eq!(reno.fast.inflation, 6000);
        assert_eq!(reno.on_progress(), OnProgress::Full);
        assert_eq!(reno.fast.inflation, 0);
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
