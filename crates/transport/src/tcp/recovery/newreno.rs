//! NewReno: fast recovery that lasts until everything outstanding at its start is acknowledged.

use super::fast::FastRecovery;
use super::{News, OnDuplicate, OnProgress, Position};

/// RFC 6582.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::tcp) struct NewReno {
    /// Here `recover` is the offset after the last byte outstanding when the last recovery or
    /// timeout began.
    pub(super) fast: FastRecovery,
    partial_seen: bool,
}

impl NewReno {
    pub(super) fn on_duplicate(&mut self, at: Position) -> OnDuplicate {
        let answer = self.fast.on_duplicate(at);
        if answer == OnDuplicate::FastRetransmit {
            self.fast.recover = at.max;
            self.partial_seen = false;
        }
        answer
    }

    pub(super) fn on_progress(&mut self, news: &News) -> OnProgress {
        let fast = &mut self.fast;
        if !fast.recovering {
            fast.duplicates = 0;
            return OnProgress::Ordinary;
        }
        if news.at.una >= fast.recover {
            fast.end();
            return OnProgress::Full;
        }
        fast.inflation -= news.acked as i64;
        if news.acked >= news.at.smss {
            fast.inflation += news.at.smss as i64;
        }
        OnProgress::Partial {
            retransmit: true,
            restart_timer: !core::mem::replace(&mut self.partial_seen, true),
        }
    }

    pub(super) fn on_timeout(&mut self, at: Position) {
        *self = Self {
            fast: FastRecovery::after_timeout(at),
            partial_seen: false,
        };
    }

    /// Leaves an inflation of one segment.
    pub(super) fn take_deficit(&mut self, smss: u64) -> u64 {
        let deficit = u64::try_from(smss as i64 - self.fast.inflation).unwrap_or(0);
        self.fast.inflation += deficit as i64;
        deficit
    }
}

#[cfg(test)]
mod tests {
    use skywave_units::Instant;

    use super::*;

    const SMSS: u64 = 1000;

    const fn at(una: u64, max: u64) -> Position {
        Position {
            una,
            max,
            smss: SMSS,
        }
    }

    fn third_duplicate(recovery: &mut NewReno, una: u64, max: u64) -> OnDuplicate {
        for _ in 0..2 {
            assert_eq!(recovery.on_duplicate(at(una, max)), OnDuplicate::Wait);
        }
        recovery.on_duplicate(at(una, max))
    }

    fn progress(recovery: &mut NewReno, una: u64, acked: u64) -> OnProgress {
        recovery.on_progress(&News {
            now: Instant::ZERO,
            at: at(una, 20_001),
            acked,
            rtt: None,
            oldest: None,
        })
    }

    const fn partial(first: bool) -> OnProgress {
        OnProgress::Partial {
            retransmit: true,
            restart_timer: first,
        }
    }

    #[test]
    fn rfc6582_3_2_step_2_a_loss_in_the_same_window_is_not_a_second_one() {
        let mut recovery = NewReno::default();
        assert_eq!(
            third_duplicate(&mut recovery, 1, 10_001),
            OnDuplicate::FastRetransmit
        );
        assert_eq!(progress(&mut recovery, 10_001, 10_000), OnProgress::Full);
        // Exactly `recover` is acknowledged, which is not "more than recover".
        assert_eq!(
            third_duplicate(&mut recovery, 10_001, 12_001),
            OnDuplicate::Wait
        );
        assert_eq!(progress(&mut recovery, 11_001, 1_000), OnProgress::Ordinary);
        assert_eq!(
            third_duplicate(&mut recovery, 11_001, 12_001),
            OnDuplicate::FastRetransmit
        );
    }

    #[test]
    fn rfc6582_3_2_step_3_partial_acknowledgements_deflate() {
        let mut recovery = NewReno::default();
        third_duplicate(&mut recovery, 1, 10_001);
        assert_eq!(recovery.fast.inflation, 3_000);
        recovery.on_duplicate(at(1, 10_001));
        assert_eq!(recovery.fast.inflation, 4_000);
        assert_eq!(progress(&mut recovery, 3_001, 3_000), partial(true));
        assert_eq!(recovery.fast.inflation, 2_000);
        // Less than a segment acknowledged: nothing is added back.
        assert_eq!(progress(&mut recovery, 3_501, 500), partial(false));
        assert_eq!(recovery.fast.inflation, 1_500);
        assert_eq!(progress(&mut recovery, 10_001, 6_500), OnProgress::Full);
        assert_eq!(recovery.fast.inflation, 0);
    }

    #[test]
    fn rfc6582_3_2_step_4_a_timeout_ends_recovery_and_moves_recover() {
        let mut recovery = NewReno::default();
        third_duplicate(&mut recovery, 1, 10_001);
        recovery.on_timeout(at(1, 12_001));
        assert_eq!(recovery.fast.inflation, 0);
        assert_eq!(progress(&mut recovery, 2_001, 2_000), OnProgress::Ordinary);
        assert_eq!(
            third_duplicate(&mut recovery, 12_001, 13_001),
            OnDuplicate::Wait
        );
    }

    #[test]
    fn what_deflation_takes_off_cwnd_is_handed_over_once() {
        let mut recovery = NewReno::default();
        third_duplicate(&mut recovery, 1, 20_001);
        progress(&mut recovery, 5_001, 5_000);
        assert_eq!(recovery.fast.inflation, -1_000);
        assert_eq!(recovery.take_deficit(SMSS), 2_000);
        assert_eq!(recovery.fast.inflation, 1_000);
        assert_eq!(recovery.take_deficit(SMSS), 0);
    }
}
