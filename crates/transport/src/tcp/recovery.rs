//! Loss recovery: what acknowledgements say about loss, and when the window may open meanwhile.

/// How lost segments are found and sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecoveryAlgorithm {
    /// RFC 6582: fast retransmit and fast recovery that lasts until all that was outstanding has
    /// been acknowledged. The variant that restarts the retransmission timer at the first partial
    /// acknowledgement only ("impatient").
    NewReno,
}

/// What becomes of cwnd when a recovery ends (RFC 6582 section 3.2, step 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveryExit {
    /// min(ssthresh, max(FlightSize, SMSS) + SMSS): option 1 of the RFC, which cannot burst.
    FlightSize,
    /// ssthresh: option 2 of the RFC.
    Ssthresh,
    /// What partial acknowledgements have left of it, and the acknowledgement that ends the
    /// recovery makes it grow like any other: ns-2 with `exit_recovery_fix_` 0.
    Deflated,
}

/// What a duplicate acknowledgement asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OnDuplicate {
    /// Nothing but what the window allows.
    Wait,
    /// Reduce the window and retransmit the first unacknowledged segment.
    FastRetransmit,
}

/// What an acknowledgement of new data asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OnProgress {
    /// No recovery is going on.
    Ordinary,
    /// Retransmit the first unacknowledged segment; recovery goes on.
    Partial {
        /// Whether this is the first one of the recovery.
        first: bool,
    },
    /// Recovery has ended.
    Full,
}

/// The state of a recovery algorithm. All sizes are in bytes, all positions are offsets.
#[derive(Clone, Copy, Debug)]
pub(super) enum Recovery {
    NewReno(NewReno),
}

impl Recovery {
    pub(super) fn new(algorithm: RecoveryAlgorithm) -> Self {
        match algorithm {
            RecoveryAlgorithm::NewReno => Self::NewReno(NewReno::default()),
        }
    }

    /// A duplicate of the acknowledgement `una` has come; `max` follows the last byte sent.
    pub(super) fn on_duplicate(&mut self, una: u64, max: u64, smss: u64) -> OnDuplicate {
        match self {
            Self::NewReno(newreno) => newreno.on_duplicate(una, max, smss),
        }
    }

    /// `una` has just advanced by `acked`.
    pub(super) fn on_progress(&mut self, una: u64, acked: u64, smss: u64) -> OnProgress {
        match self {
            Self::NewReno(newreno) => newreno.on_progress(una, acked, smss),
        }
    }

    /// The retransmission timer has expired; `max` follows the last byte sent.
    pub(super) fn on_timeout(&mut self, max: u64) {
        match self {
            Self::NewReno(newreno) => {
                *newreno = NewReno {
                    recover: max,
                    ..NewReno::default()
                }
            }
        }
    }

    /// What is added to cwnd for the time being, in bytes; it may be negative.
    pub(super) const fn inflation(&self) -> i64 {
        match self {
            Self::NewReno(newreno) => newreno.inflation,
        }
    }

    /// How many segments limited transmit allows beyond cwnd (RFC 3042).
    pub(super) fn limited_transmit(&self) -> u32 {
        match self {
            Self::NewReno(newreno) if newreno.recovering => 0,
            Self::NewReno(newreno) => newreno.duplicates.min(DUPLICATE_THRESHOLD - 1),
        }
    }

    /// Takes what deflation has cut off cwnd itself, in bytes, leaving an inflation of one segment:
    /// ns-2's way of keeping the two apart.
    pub(super) fn take_deficit(&mut self, smss: u64) -> u64 {
        match self {
            Self::NewReno(newreno) => {
                let deficit = u64::try_from(smss as i64 - newreno.inflation).unwrap_or(0);
                newreno.inflation += deficit as i64;
                deficit
            }
        }
    }
}

/// Duplicate acknowledgements that stand for a loss (RFC 5681 section 3.2).
const DUPLICATE_THRESHOLD: u32 = 3;

/// RFC 6582.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NewReno {
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
    fn on_duplicate(&mut self, una: u64, max: u64, smss: u64) -> OnDuplicate {
        self.duplicates = self.duplicates.saturating_add(1);
        if self.recovering {
            // RFC 5681 section 3.2, step 4: another segment has left the network.
            self.inflation += smss as i64;
            return OnDuplicate::Wait;
        }
        // RFC 6582 section 3.2, step 2. `una > recover` is its "ack_number - 1 > recover", since
        // `recover` here follows the byte that the RFC's names. Without it, the duplicates that
        // go-back-N causes after a timeout would look like another loss.
        if self.duplicates != DUPLICATE_THRESHOLD || una <= self.recover {
            return OnDuplicate::Wait;
        }
        self.recover = max;
        self.recovering = true;
        self.partial_seen = false;
        self.inflation = (u64::from(DUPLICATE_THRESHOLD) * smss) as i64;
        OnDuplicate::FastRetransmit
    }

    fn on_progress(&mut self, una: u64, acked: u64, smss: u64) -> OnProgress {
        if !self.recovering {
            self.duplicates = 0;
            return OnProgress::Ordinary;
        }
        if una >= self.recover {
            self.recovering = false;
            self.duplicates = 0;
            self.inflation = 0;
            return OnProgress::Full;
        }
        self.inflation -= acked as i64;
        if acked >= smss {
            self.inflation += smss as i64;
        }
        OnProgress::Partial {
            first: !core::mem::replace(&mut self.partial_seen, true),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMSS: u64 = 1000;

    fn third_duplicate(recovery: &mut Recovery, una: u64, max: u64) -> OnDuplicate {
        for _ in 0..2 {
            assert_eq!(recovery.on_duplicate(una, max, SMSS), OnDuplicate::Wait);
        }
        recovery.on_duplicate(una, max, SMSS)
    }

    #[test]
    fn rfc6582_3_2_step_2_a_loss_in_the_same_window_is_not_a_second_one() {
        let mut recovery = Recovery::new(RecoveryAlgorithm::NewReno);
        assert_eq!(
            third_duplicate(&mut recovery, 1, 10_001),
            OnDuplicate::FastRetransmit
        );
        assert_eq!(recovery.on_progress(10_001, 10_000, SMSS), OnProgress::Full);
        // Exactly `recover` acknowledged: still not "covers more than recover".
        assert_eq!(
            third_duplicate(&mut recovery, 10_001, 12_001),
            OnDuplicate::Wait
        );
        assert_eq!(
            recovery.on_progress(11_001, 1_000, SMSS),
            OnProgress::Ordinary
        );
        assert_eq!(
            third_duplicate(&mut recovery, 11_001, 12_001),
            OnDuplicate::FastRetransmit
        );
    }

    #[test]
    fn rfc6582_3_2_step_3_partial_acknowledgements_deflate() {
        let mut recovery = Recovery::new(RecoveryAlgorithm::NewReno);
        third_duplicate(&mut recovery, 1, 10_001);
        assert_eq!(recovery.inflation(), 3_000);
        recovery.on_duplicate(1, 10_001, SMSS);
        assert_eq!(recovery.inflation(), 4_000);
        assert_eq!(
            recovery.on_progress(3_001, 3_000, SMSS),
            OnProgress::Partial { first: true }
        );
        assert_eq!(recovery.inflation(), 2_000);
        // Less than a segment acknowledged: nothing is added back.
        assert_eq!(
            recovery.on_progress(3_501, 500, SMSS),
            OnProgress::Partial { first: false }
        );
        assert_eq!(recovery.inflation(), 1_500);
        assert_eq!(recovery.on_progress(10_001, 6_500, SMSS), OnProgress::Full);
        assert_eq!(recovery.inflation(), 0);
    }

    #[test]
    fn rfc6582_3_2_step_4_a_timeout_ends_recovery_and_moves_recover() {
        let mut recovery = Recovery::new(RecoveryAlgorithm::NewReno);
        third_duplicate(&mut recovery, 1, 10_001);
        recovery.on_timeout(12_001);
        assert_eq!(recovery.inflation(), 0);
        assert_eq!(
            recovery.on_progress(2_001, 2_000, SMSS),
            OnProgress::Ordinary
        );
        assert_eq!(
            third_duplicate(&mut recovery, 12_001, 13_001),
            OnDuplicate::Wait
        );
    }

    #[test]
    fn what_deflation_takes_off_cwnd_is_handed_over_once() {
        let mut recovery = Recovery::new(RecoveryAlgorithm::NewReno);
        third_duplicate(&mut recovery, 1, 20_001);
        recovery.on_progress(5_001, 5_000, SMSS);
        assert_eq!(recovery.inflation(), -1_000);
        assert_eq!(recovery.take_deficit(SMSS), 2_000);
        assert_eq!(recovery.inflation(), 1_000);
        assert_eq!(recovery.take_deficit(SMSS), 0);
    }
}
