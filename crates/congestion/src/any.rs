//! The built-in windows as one type.

use core::fmt;

use skywave_units::Instant;
use skywave_wire::Ecn;

use crate::{AckSummary, AckedPacket, Aimd, Cubic, Mpcp, Vegas, WindowControl};

/// A window algorithm chosen at run time: a built-in, called without indirection, or one of the
/// user's own.
#[non_exhaustive]
pub enum Window {
    /// The Reno family.
    Aimd(Aimd),
    /// Any other. Two kinds only, so that the first costs one predictable branch: a simulation
    /// asks for cwnd with every packet.
    Custom(Box<dyn WindowControl + Send>),
}

impl From<Aimd> for Window {
    fn from(aimd: Aimd) -> Self {
        Self::Aimd(aimd)
    }
}

impl From<Cubic> for Window {
    fn from(cubic: Cubic) -> Self {
        Self::Custom(Box::new(cubic))
    }
}

impl From<Mpcp> for Window {
    fn from(mpcp: Mpcp) -> Self {
        Self::Custom(Box::new(mpcp))
    }
}

impl From<Vegas> for Window {
    fn from(vegas: Vegas) -> Self {
        Self::Custom(Box::new(vegas))
    }
}

impl fmt::Debug for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Aimd(aimd) => aimd.fmt(f),
            Self::Custom(window) => f
                .debug_struct("Custom")
                .field("cwnd", &window.cwnd())
                .field("ssthresh", &window.ssthresh())
                .finish_non_exhaustive(),
        }
    }
}

/// Calls the same method on whichever window this is.
macro_rules! each {
    ($window:expr, $inner:ident => $call:expr) => {
        match $window {
            Window::Aimd($inner) => $call,
            Window::Custom($inner) => $call,
        }
    };
}

impl WindowControl for Window {
    fn on_sent(&mut self, now: Instant, in_flight: u32) {
        each!(self, window => window.on_sent(now, in_flight));
    }

    fn wants_packets(&self) -> bool {
        each!(self, window => window.wants_packets())
    }

    fn on_packet_acked(&mut self, packet: &AckedPacket) {
        each!(self, window => window.on_packet_acked(packet));
    }

    fn on_feedback(&mut self, now: Instant, place: u8, code: Ecn) {
        each!(self, window => window.on_feedback(now, place, code));
    }

    fn next_place(&mut self) -> u8 {
        each!(self, window => window.next_place())
    }

    fn on_ack(&mut self, ack: &AckSummary) {
        each!(self, window => window.on_ack(ack));
    }

    fn on_congestion(&mut self, now: Instant, in_flight: u32) {
        each!(self, window => window.on_congestion(now, in_flight));
    }

    fn on_mark(&mut self, now: Instant, in_flight: u32) {
        each!(self, window => window.on_mark(now, in_flight));
    }

    fn on_repeated_congestion(&mut self, now: Instant, in_flight: u32) {
        each!(self, window => window.on_repeated_congestion(now, in_flight));
    }

    fn on_inflated(&mut self, packets: u32) {
        each!(self, window => window.on_inflated(packets));
    }

    fn on_deflated(&mut self) {
        each!(self, window => window.on_deflated());
    }

    fn on_timeout(&mut self, now: Instant, in_flight: u32) {
        each!(self, window => window.on_timeout(now, in_flight));
    }

    fn on_restart(&mut self, now: Instant) {
        each!(self, window => window.on_restart(now));
    }

    fn on_receiver_overload(&mut self, now: Instant, dropped: u32) {
        each!(self, window => window.on_receiver_overload(now, dropped));
    }

    fn limit_cwnd(&mut self, limit: f64) {
        each!(self, window => window.limit_cwnd(limit));
    }

    fn cwnd(&self) -> f64 {
        each!(self, window => window.cwnd())
    }

    fn ssthresh(&self) -> f64 {
        each!(self, window => window.ssthresh())
    }

    fn earliest_departure(&self) -> Option<Instant> {
        each!(self, window => window.earliest_departure())
    }
}
