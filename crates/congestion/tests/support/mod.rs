//! Constructors for reports to controls, with defaults for fields that most tests do not vary.

#![allow(dead_code, reason = "each test program uses its part")]

use skywave_congestion::{Loss, Sent};
use skywave_units::Instant;

pub(crate) const fn loss(now: Instant, in_flight: u32) -> Loss {
    Loss {
        now,
        in_flight,
        lost: 1,
        is_repeated: false,
    }
}

pub(crate) const fn sent(now: Instant, in_flight: u32) -> Sent {
    Sent {
        now,
        number: 0,
        bytes: 1000,
        in_flight,
        application_limited: false,
    }
}
