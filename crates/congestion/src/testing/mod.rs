//! A model of a path, and constructors for the reports of transports, with defaults for fields that
//! most tests do not vary.

pub(crate) mod bottleneck;
pub(crate) mod competition;
pub(crate) mod flow;
pub(crate) mod jitter;
pub(crate) mod path;

use skywave_units::Instant;

use crate::{Loss, Mark, Sent};

pub(crate) const fn loss(now: Instant, in_flight: u32) -> Loss {
    Loss::new(now, in_flight, 1)
}

pub(crate) const fn mark(now: Instant, in_flight: u32) -> Mark {
    Mark::new(now, in_flight, 1)
}

pub(crate) const fn sent(now: Instant, in_flight: u32) -> Sent {
    Sent::new(now, 0, 1000, in_flight)
}
