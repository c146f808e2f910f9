//! A sender's acknowledgements, for the tests of recoveries.

use skywave_units::Instant;

use super::{Detection, LossRecovery, OnDuplicate, OnProgress, Recovery};
use crate::tcp::sequence::Position;

const fn at(una: u64, max: u64) -> Position {
    Position {
        una,
        max,
        smss: 1000,
    }
}

/// Handles a duplicate acknowledgement of `una` with everything before `max` sent.
pub(in crate::tcp) fn duplicate<D: Detection, R: Recovery>(
    recovery: &mut LossRecovery<D, R>,
    una: u64,
    max: u64,
) -> OnDuplicate {
    recovery.on_duplicate(Instant::ZERO, at(una, max))
}

/// Handles an acknowledgement of `acked` new bytes, up to `una`.
pub(in crate::tcp) fn progress<D: Detection, R: Recovery>(
    recovery: &mut LossRecovery<D, R>,
    una: u64,
    max: u64,
    acked: u64,
) -> OnProgress {
    recovery.on_progress(Instant::ZERO, at(una, max), acked, None)
}
