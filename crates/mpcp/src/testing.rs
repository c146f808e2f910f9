//! Constructors for the reports of transports, with defaults for what tests do not vary.

use skywave_congestion::Loss;
use skywave_units::Instant;

pub(crate) const fn loss(now: Instant, in_flight: u32) -> Loss {
    Loss::new(now, in_flight, 1)
}
