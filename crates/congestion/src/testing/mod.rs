//! A model of a path, and constructors for the reports of transports, with defaults for fields that
//! most tests do not vary.

pub(crate) mod bottleneck;
pub(crate) mod competition;
pub(crate) mod flow;
pub(crate) mod jitter;
pub(crate) mod path;

use skywave_units::Instant;

use crate::{ControlContext, Loss, Mark, Sent};

pub(crate) const fn loss(now: Instant, in_flight: u32) -> Loss {
    Loss::new(now, in_flight, 1)
}

pub(crate) const fn mark(now: Instant, in_flight: u32) -> Mark {
    Mark::new(now, in_flight, 1)
}

pub(crate) const fn sent(now: Instant, in_flight: u32) -> Sent {
    Sent::new(now, 0, 1000, in_flight)
}

/// The context of a connection with packets of 1000 bytes, a window of `cwnd` and a known ssthresh.
pub(crate) const fn context(cwnd: f64, ssthresh: f64) -> ControlContext {
    ControlContext {
        packet_size: 1000,
        initial_cwnd: cwnd,
        initial_ssthresh: ssthresh,
        ns2: false,
        linux: false,
    }
}

/// The same in TCP's profile `linux`.
pub(crate) const fn linux(cwnd: f64, ssthresh: f64) -> ControlContext {
    ControlContext {
        linux: true,
        ..context(cwnd, ssthresh)
    }
}
