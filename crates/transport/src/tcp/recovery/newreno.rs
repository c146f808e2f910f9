//! NewReno: fast recovery that lasts until all that was outstanding has been acknowledged.

use super::{DUPLICATE_THRESHOLD, News, OnDuplicate, OnProgress, Position};

/// RFC 6582.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::tcp) struct NewReno {
    /// The offset after the last byte that was outstanding when the last recovery or timeout
    /// began. Initially that of the SYN: a fast retransmit of the first segment is allowed.
    recover: u64,
    recovering: bool,
    partial_seen: bool,
    /// Duplicate acknowledgements since the last progress.
    duplicates: u32,
    inflation: i64,
}

impl NewReno {
    pub(super) fn on_duplicate(&mut self, at: Position) -> OnDuplicate {
        self.duplicates = self.duplicates.saturating_add(1);
        if self.recovering {
            // RFC 5681 section 3.2, step 4: another segment has left the network.
            self.inflation += at.smss as i64;
            return OnDuplicate::Wait;
        }
        // RFC 6582 section 3.2, step 2. `una > recover` is its "ack_number - 1 > recover", since
        // `recover` here follows the byte that the RFC's names. Without it, the duplicates that
        // go-back-N causes after a timeout would look like another loss.
        if self.duplicates != DUPLICATE_THRESHOLD || at.una <= self.recover {
            return OnDuplicate::Wait;
        }
        self.recover = at.max;
        self.recovering = true;
        self.partial_seen = false;
        self.inflation = (u64::from(DUPLICATE_THRESHOLD) * at.smss) as i64;
        OnDuplicate::FastRetransmit
    }

    pub(super) fn on_progress(&mut self, news: &News) -> OnProgress {
        if !self.recovering {
            self.duplicates = 0;
            return OnProgress::Ordinary;
        }
        if news.at.una >= self.recover {
            self.recovering = false;
            self.duplicates = 0;
            self.inflation = 0;
            return OnProgress::Full;
        }
        self.inflation -= news.acked as i64;
        if news.acked >= news.at.smss {
            self.inflation += news.at.smss as i64;
        }
        OnProgress::Partial {
            retransmit: true,
            restart_timer: !core::mem::replace(&mut self.partial_seen, true),
        }
    }

    pub(super) fn on_timeout(&mut self, at: Position) {
        *self = Self {
            recover: at.max,
            ..Self::default()
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

    /// Leaves an inflation of one segment.
    pub(super) fn take_deficit(&mut self, smss: u64) -> u64 {
        let deficit = u64::try_from(smss as i64 - self.inflation).unwrap_or(0);
        self.inflation += deficit as i64;
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
        // Exactly `recover` acknowledged: still not "covers more than recover".
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
        assert_eq!(recovery.inflation(), 3_000);
        recovery.on_duplicate(at(1, 10_001));
        assert_eq!(recovery.inflation(), 4_000);
        assert_eq!(progress(&mut recovery, 3_001, 3_000), partial(true));
        assert_eq!(recovery.inflation(), 2_000);
        // Less than a segment acknowledged: nothing is added back.
        assert_eq!(progress(&mut recovery, 3_501, 500), partial(false));
        assert_eq!(recovery.inflation(), 1_500);
        assert_eq!(progress(&mut recovery, 10_001, 6_500), OnProgress::Full);
        assert_eq!(recovery.inflation(), 0);
    }

    #[test]
    fn rfc6582_3_2_step_4_a_timeout_ends_recovery_and_moves_recover() {
        let mut recovery = NewReno::default();
        third_duplicate(&mut recovery, 1, 10_001);
        recovery.on_timeout(at(1, 12_001));
        assert_eq!(recovery.inflation(), 0);
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
        assert_eq!(recovery.inflation(), -1_000);
        assert_eq!(recovery.take_deficit(SMSS), 2_000);
        assert_eq!(recovery.inflation(), 1_000);
        assert_eq!(recovery.take_deficit(SMSS), 0);
    }
}
