//! NewReno: fast recovery that lasts until everything outstanding at its start is acknowledged.

use super::{Begin, DUPLICATE_THRESHOLD, News, Phase, Recovery};
use crate::tcp::sent_log::SentLog;
use crate::tcp::sequence::Position;

/// The recovery of RFC 6582.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::tcp) struct NewReno {
    recovering: bool,
    /// The offset after the last byte outstanding when the recovery began.
    recover: u64,
    /// Bytes by which the window exceeds cwnd; negative if deflation has taken more.
    pub(in crate::tcp) inflation: i64,
    partial_seen: bool,
}

impl Recovery for NewReno {
    fn begin(&mut self, at: Position, _log: &mut SentLog) -> Begin {
        *self = Self {
            recovering: true,
            recover: at.max,
            // RFC 5681 section 3.2, step 3.
            inflation: (u64::from(DUPLICATE_THRESHOLD) * at.smss) as i64,
            partial_seen: false,
        };
        Begin::Retransmit
    }

    fn is_recovering(&self) -> bool {
        self.recovering
    }

    fn on_duplicate(&mut self, news: &News, _log: &mut SentLog) -> bool {
        // RFC 5681 section 3.2, step 4: another segment has left the network.
        self.inflation += news.at.smss as i64;
        false
    }

    fn on_progress(&mut self, news: &News, _log: &mut SentLog) -> Phase {
        if news.at.una >= self.recover {
            self.recovering = false;
            self.inflation = 0;
            return Phase::Full;
        }
        self.inflation -= news.acked as i64;
        if news.acked >= news.at.smss {
            self.inflation += news.at.smss as i64;
        }
        Phase::Partial {
            retransmit: true,
            restart_timer: !core::mem::replace(&mut self.partial_seen, true),
        }
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

    const MAX: u64 = 20_001;

    const FAST_RETRANSMIT: OnDuplicate = OnDuplicate::Loss {
        begin: Begin::Retransmit,
        is_repeated: false,
    };
    const FULL: OnProgress = OnProgress::Recovery(Phase::Full);

    fn newreno() -> LossRecovery<DuplicateAcks, NewReno> {
        let detection = DuplicateAcks::once_per_window();
        LossRecovery::from_parts(detection, NewReno::default(), Keeps::default())
    }

    fn third_duplicate(
        recovery: &mut LossRecovery<DuplicateAcks, NewReno>,
        una: u64,
        max: u64,
    ) -> OnDuplicate {
        for _ in 0..2 {
            assert_eq!(duplicate(recovery, una, max), OnDuplicate::Wait);
        }
        duplicate(recovery, una, max)
    }

    const fn partial(first: bool) -> OnProgress {
        OnProgress::Recovery(Phase::Partial {
            retransmit: true,
            restart_timer: first,
        })
    }

    #[test]
    fn rfc6582_3_2_step_2_a_loss_in_the_same_window_is_not_a_second_one() {
        let mut recovery = newreno();
        assert_eq!(third_duplicate(&mut recovery, 1, 10_001), FAST_RETRANSMIT);
        assert_eq!(progress(&mut recovery, 10_001, MAX, 10_000), FULL);
        // Exactly `recover` is acknowledged, which is not "more than recover".
        let same = third_duplicate(&mut recovery, 10_001, 12_001);
        assert_eq!(same, OnDuplicate::Wait);
        let ordinary = OnProgress::Ordinary;
        assert_eq!(progress(&mut recovery, 11_001, MAX, 1_000), ordinary);
        let next = third_duplicate(&mut recovery, 11_001, 12_001);
        assert_eq!(next, FAST_RETRANSMIT);
    }

    #[test]
    fn rfc6582_3_2_step_3_partial_acknowledgements_deflate() {
        let mut recovery = newreno();
        third_duplicate(&mut recovery, 1, 10_001);
        assert_eq!(recovery.inflation(10_001), 3_000);
        duplicate(&mut recovery, 1, 10_001);
        assert_eq!(recovery.inflation(10_001), 4_000);
        assert_eq!(progress(&mut recovery, 3_001, MAX, 3_000), partial(true));
        assert_eq!(recovery.inflation(10_001), 2_000);
        // Less than a segment acknowledged: nothing is added back.
        assert_eq!(progress(&mut recovery, 3_501, MAX, 500), partial(false));
        assert_eq!(recovery.inflation(10_001), 1_500);
        assert_eq!(progress(&mut recovery, 10_001, MAX, 6_500), FULL);
        assert_eq!(recovery.inflation(10_001), 0);
    }

    #[test]
    fn rfc6582_3_2_step_4_a_timeout_ends_recovery_and_moves_recover() {
        let mut recovery = newreno();
        third_duplicate(&mut recovery, 1, 10_001);
        let at = Position {
            una: 1,
            max: 12_001,
            smss: 1000,
        };
        recovery.on_timeout(Instant::ZERO, at);
        assert_eq!(recovery.inflation(12_001), 0);
        let ordinary = OnProgress::Ordinary;
        assert_eq!(progress(&mut recovery, 2_001, MAX, 2_000), ordinary);
        let later = third_duplicate(&mut recovery, 12_001, 13_001);
        assert_eq!(later, OnDuplicate::Wait);
    }
}
