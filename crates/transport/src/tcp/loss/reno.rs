//! Reno: fast recovery that ends with the first acknowledgement of new data.

use super::{Begin, DUPLICATE_THRESHOLD, News, Phase, Recovery};
use crate::tcp::sent_log::SentLog;
use crate::tcp::sequence::Position;

/// The recovery of RFC 5681 section 3.2, steps 3 to 6.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::tcp) struct Reno {
    recovering: bool,
    /// Bytes by which the window exceeds cwnd.
    inflation: i64,
}

impl Recovery for Reno {
    fn begin(&mut self, at: Position, _log: &mut SentLog) -> Begin {
        self.recovering = true;
        // Step 3.
        self.inflation = (u64::from(DUPLICATE_THRESHOLD) * at.smss) as i64;
        Begin::Retransmit
    }

    fn is_recovering(&self) -> bool {
        self.recovering
    }

    fn on_duplicate(&mut self, news: &News, _log: &mut SentLog) -> bool {
        // Step 4: another segment has left the network.
        self.inflation += news.at.smss as i64;
        false
    }

    fn on_progress(&mut self, _news: &News, _log: &mut SentLog) -> Phase {
        // Step 6.
        *self = Self::default();
        Phase::Full
    }

    fn on_timeout(&mut self, _at: Position, _log: &mut SentLog) {
        *self = Self::default();
    }

    fn inflation(&self, _nxt: u64, _log: &SentLog) -> i64 {
        self.inflation
    }
}

#[cfg(test)]
mod tests {
    use skywave_units::Instant;

    use super::*;
    use crate::tcp::loss::testing::{duplicate, progress};
    use crate::tcp::loss::{DuplicateAcks, LossRecovery, OnDuplicate, OnProgress};
    use crate::tcp::sent_log::Keeps;

    fn reno(once_per_window: bool) -> LossRecovery<DuplicateAcks, Reno> {
        let detection = if once_per_window {
            DuplicateAcks::once_per_window()
        } else {
            DuplicateAcks::every_time()
        };
        LossRecovery::from_parts(detection, Reno::default(), Keeps::default())
    }

    fn third_duplicate(
        reno: &mut LossRecovery<DuplicateAcks, Reno>,
        una: u64,
        max: u64,
    ) -> OnDuplicate {
        [(); 3].map(|()| duplicate(reno, una, max))[2]
    }

    const FAST_RETRANSMIT: OnDuplicate = OnDuplicate::Loss {
        begin: Begin::Retransmit,
        is_repeated: false,
    };

    #[test]
    fn rfc5681_3_2_each_duplicate_inflates_and_progress_deflates() {
        let mut reno = reno(false);
        assert_eq!(third_duplicate(&mut reno, 1, 10_001), FAST_RETRANSMIT);
        assert_eq!(reno.inflation(10_001), 3000);
        assert_eq!(third_duplicate(&mut reno, 1, 10_001), OnDuplicate::Wait);
        assert_eq!(reno.inflation(10_001), 6000);
        let full = OnProgress::Recovery(Phase::Full);
        assert_eq!(progress(&mut reno, 1001, 10_001, 1000), full);
        assert_eq!(reno.inflation(10_001), 0);
        let ordinary = OnProgress::Ordinary;
        assert_eq!(progress(&mut reno, 2001, 10_001, 1000), ordinary);
    }

    #[test]
    fn a_second_loss_in_the_window_halves_again_unless_once_per_window() {
        for (once_per_window, second) in [(false, FAST_RETRANSMIT), (true, OnDuplicate::Wait)] {
            let mut reno = reno(once_per_window);
            third_duplicate(&mut reno, 1, 10_001);
            progress(&mut reno, 5001, 13_001, 5000);
            assert_eq!(third_duplicate(&mut reno, 5001, 13_001), second);
            reno.on_timeout(
                Instant::ZERO,
                Position {
                    una: 5001,
                    max: 13_001,
                    smss: 1000,
                },
            );
            let repeats = third_duplicate(&mut reno, 13_001, 14_001);
            assert_eq!(repeats, OnDuplicate::Wait);
            progress(&mut reno, 14_001, 19_001, 1000);
            assert_eq!(third_duplicate(&mut reno, 14_001, 19_001), FAST_RETRANSMIT);
        }
    }
}
