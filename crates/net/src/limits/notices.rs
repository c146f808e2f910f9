//! Limits how often the log mentions events that peers can cause at will.

use skywave_transport::dccp::RateLimit;
use skywave_units::Instant;

use crate::sync::{Mutex, locked};

/// Lets some notices of one kind pass per second, and counts the others.
#[derive(Debug)]
pub(crate) struct Notices {
    per_second: u32,
    state: Mutex<(RateLimit, u64)>,
}

impl Notices {
    pub(crate) fn new(per_second: u32) -> Self {
        Self {
            per_second,
            state: Mutex::default(),
        }
    }

    /// Decides whether a notice may pass at `now`. If so, returns how many were held back since the
    /// last one that passed.
    pub(crate) fn pass(&self, now: Instant) -> Option<u64> {
        let (limit, suppressed) = &mut *locked(&self.state);
        if limit.allows(now, self.per_second) {
            Some(core::mem::take(suppressed))
        } else {
            *suppressed += 1;
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use skywave_units::Duration;

    use super::*;

    #[test]
    fn what_does_not_pass_is_counted() {
        let notices = Notices::new(2);
        let at = |millis| notices.pass(Instant::ZERO + Duration::from_millis(millis));
        assert_eq!(
            [at(0), at(1), at(2), at(999)],
            [Some(0), Some(0), None, None]
        );
        assert_eq!([at(1_000), at(1_001)], [Some(2), Some(0)]);
    }
}
