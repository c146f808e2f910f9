//! The common part of Reno and NewReno: fast retransmit, and window inflation by duplicates during
//! recovery.

use super::{DUPLICATE_THRESHOLD, OnDuplicate, Position};

/// RFC 5681 section 3.2, steps 1 to 4. Reno and NewReno differ in how the recovery ends.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::tcp) struct FastRecovery {
    /// The offset that must be acknowledged before duplicates indicate another loss. Initially that
    /// of the SYN, so that a fast retransmit of the first segment is allowed.
    pub(super) recover: u64,
    pub(super) recovering: bool,
    /// Duplicate acknowledgements since the last progress.
    pub(super) duplicates: u32,
    /// Bytes by which the window exceeds cwnd; negative if deflation has taken more.
    pub(super) inflation: i64,
}

impl FastRecovery {
    /// The state after a timeout, which ends a recovery.
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
        // `recover` here is the byte after the RFC's. Without this check, the duplicates caused by
        // go-back-N after a timeout would look like another loss.
        if self.duplicates != DUPLICATE_THRESHOLD || at.una <= self.recover {
            return OnDuplicate::Wait;
        }
        self.recovering = true;
        // Step 3.
        self.inflation = (u64::from(DUPLICATE_THRESHOLD) * at.smss) as i64;
        OnDuplicate::FastRetransmit
    }

    /// Ends the recovery. Returns whether there was one.
    pub(super) fn end(&mut self) -> bool {
        self.duplicates = 0;
        // Step 6.
        self.inflation = 0;
        core::mem::take(&mut self.recovering)
    }

    /// Whether nothing is lost or late.
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
