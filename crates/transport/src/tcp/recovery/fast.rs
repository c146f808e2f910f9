//! What Reno and NewReno have in common: fast retransmit, and a window inflated by duplicates while
//! recovery lasts.

use super::{DUPLICATE_THRESHOLD, OnDuplicate, Position};

/// RFC 5681 section 3.2, steps 1 to 4. How it ends is what sets the two apart.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::tcp) struct FastRecovery {
    /// The offset that must be passed before duplicates stand for another loss. Initially that of
    /// the SYN: a fast retransmit of the first segment is allowed.
    pub(super) recover: u64,
    pub(super) recovering: bool,
    /// Duplicate acknowledgements since the last progress.
    pub(super) duplicates: u32,
    /// Bytes by which the window is larger than cwnd; negative while deflation has taken more.
    pub(super) inflation: i64,
}

impl FastRecovery {
    /// After a timeout, which ends a recovery.
    pub(super) fn after_timeout(at: Position) -> Self {
        Self {
            recover: at.max,
            ..Self::default()
        }
    }

    pub(super) fn on_duplicate(&mut self, at: Position) -> OnDuplicate {
        self.duplicates = self.duplicates.saturating_add(1);
        if self.recovering {
            // Step 4: another segment has left the network.
            self.inflation += at.smss as i64;
            return OnDuplicate::Wait;
        }
        // RFC 6582 section 3.2, step 2. `una > recover` is its "ack_number - 1 > recover", since
        // `recover` here follows the byte that the RFC's names. Without it, the duplicates that
        // go-back-N causes after a timeout would look like another loss.
        if self.duplicates != DUPLICATE_THRESHOLD || at.una <= self.recover {
            return OnDuplicate::Wait;
        }
        self.recovering = true;
        // Step 3.
        self.inflation = (u64::from(DUPLICATE_THRESHOLD) * at.smss) as i64;
        OnDuplicate::FastRetransmit
    }

    /// Ends a recovery, if one is going on; answers whether one was.
    pub(super) fn end(&mut self) -> bool {
        self.duplicates = 0;
        // Step 6.
        self.inflation = 0;
        core::mem::take(&mut self.recovering)
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
