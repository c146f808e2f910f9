//! A control chosen at run time.

use core::fmt;

use skywave_units::{Duration, Instant};

use crate::{
    Ack, AckedPacket, Aimd, Control, Interests, Loss, LostPacket, Mark, MarkedPackets,
    MemberFailure, Pacing, Sent,
};

/// A control chosen at run time: built-in or user-defined.
#[non_exhaustive]
pub enum AnyControl {
    /// The Reno family, called directly, because a simulation reads cwnd for every packet.
    Aimd(Aimd),
    /// Any other control. With only two variants, the first costs one predictable branch.
    Custom(Box<dyn Control + Send>),
}

impl From<Aimd> for AnyControl {
    fn from(aimd: Aimd) -> Self {
        Self::Aimd(aimd)
    }
}

impl AnyControl {
    /// Wraps a control of any type.
    pub fn new(control: impl Control + Send + 'static) -> Self {
        Self::Custom(Box::new(control))
    }
}

impl fmt::Debug for AnyControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Aimd(aimd) => aimd.fmt(f),
            Self::Custom(control) => f
                .debug_struct("Custom")
                .field("cwnd", &control.cwnd())
                .field("ssthresh", &control.ssthresh())
                .finish_non_exhaustive(),
        }
    }
}

/// Calls the same method on whichever control this is.
macro_rules! each {
    ($any:expr, $control:ident => $call:expr) => {
        match $any {
            AnyControl::Aimd($control) => $call,
            AnyControl::Custom($control) => $call,
        }
    };
}

#[deny(clippy::missing_trait_methods)]
impl Control for AnyControl {
    fn interests(&self) -> Interests {
        each!(self, control => control.interests())
    }

    fn on_handshake(&mut self, rtt: Duration) {
        each!(self, control => control.on_handshake(rtt));
    }

    #[inline(always)]
    fn on_sent(&mut self, sent: &Sent) {
        each!(self, control => control.on_sent(sent));
    }

    fn on_packet_acked(&mut self, packet: &AckedPacket) {
        each!(self, control => control.on_packet_acked(packet));
    }

    fn on_packet_lost(&mut self, packet: &LostPacket) {
        each!(self, control => control.on_packet_lost(packet));
    }

    fn on_packets_marked(&mut self, marked: &MarkedPackets) {
        each!(self, control => control.on_packets_marked(marked));
    }

    fn on_ack(&mut self, ack: &Ack) {
        each!(self, control => control.on_ack(ack));
    }

    fn on_loss(&mut self, loss: &Loss) {
        each!(self, control => control.on_loss(loss));
    }

    fn on_mark(&mut self, mark: &Mark) {
        each!(self, control => control.on_mark(mark));
    }

    fn on_timeout(&mut self, now: Instant, in_flight: u32) {
        each!(self, control => control.on_timeout(now, in_flight));
    }

    fn on_spurious_loss(&mut self, now: Instant) {
        each!(self, control => control.on_spurious_loss(now));
    }

    fn on_restart(&mut self, now: Instant) {
        each!(self, control => control.on_restart(now));
    }

    fn on_receiver_overload(&mut self, now: Instant, dropped: u32) {
        each!(self, control => control.on_receiver_overload(now, dropped));
    }

    fn limit_cwnd(&mut self, limit: f64) {
        each!(self, control => control.limit_cwnd(limit));
    }

    fn on_validation(&mut self, cwnd: f64, ssthresh: f64) {
        each!(self, control => control.on_validation(cwnd, ssthresh));
    }

    #[inline(always)]
    fn cwnd(&self) -> f64 {
        each!(self, control => control.cwnd())
    }

    fn ssthresh(&self) -> f64 {
        each!(self, control => control.ssthresh())
    }

    #[inline(always)]
    fn pacing(&self) -> Option<Pacing> {
        each!(self, control => control.pacing())
    }

    fn inner_values(&self, record: &mut dyn FnMut(&'static str, f64)) {
        each!(self, control => control.inner_values(record));
    }

    #[inline(always)]
    fn failure(&self) -> Option<MemberFailure> {
        each!(self, control => control.failure())
    }
}
