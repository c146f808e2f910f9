//! Constructors for reports to controls, with defaults for fields that most tests do not vary.

use skywave_congestion::{Loss, Sent};
use skywave_units::Instant;

pub(crate) const fn loss(now: Instant, in_flight: u32) -> Loss {
    Loss::new(now, in_flight, 1)
}

pub(crate) const fn sent(now: Instant, in_flight: u32) -> Sent {
    Sent::new(now, 0, 1000, in_flight)
}
