//! A sender's congestion control, including controls that affect more than the window.

use core::fmt;

use skywave_congestion::{
    Ack, AckedPacket, Aimd, AnyControl, Control, Interests, Loss, LostPacket, Mark, MarkedPackets,
    MemberFailure, Pacing, Sent, Vegas,
};
use skywave_units::{Duration, Instant};

use crate::tcp::SenderExtension;
use crate::tcp::loss::CwndChange;

/// The congestion control of a [`Sender`](super::Sender).
#[non_exhaustive]
pub enum SenderControl {
    /// A transport-independent control.
    Plain(AnyControl),
    /// A control that also writes into TCP's header.
    Extended(Box<dyn SenderExtension + Send>),
    /// ns-2's Vegas, whose cwnd itself is inflated during recovery. Use with
    /// [`RecoveryAlgorithm::Ns2Vegas`](crate::tcp::RecoveryAlgorithm::Ns2Vegas).
    Ns2Vegas(Box<Vegas>),
}

impl From<AnyControl> for SenderControl {
    fn from(control: AnyControl) -> Self {
        Self::Plain(control)
    }
}

impl From<Aimd> for SenderControl {
    fn from(aimd: Aimd) -> Self {
        Self::Plain(aimd.into())
    }
}

impl SenderControl {
    /// Returns the header extension, if the control has one.
    #[inline(always)]
    pub(super) fn extension(&mut self) -> Option<&mut (dyn SenderExtension + Send)> {
        match self {
            Self::Extended(extension) => Some(extension.as_mut()),
            Self::Plain(_) | Self::Ns2Vegas(_) => None,
        }
    }

    /// Changes cwnd itself as ns-2's Vegas does; does nothing for other controls.
    pub(super) fn change_cwnd(&mut self, change: CwndChange) {
        match (self, change) {
            (Self::Ns2Vegas(vegas), CwndChange::Inflate(segments)) => vegas.inflate(segments),
            (Self::Ns2Vegas(vegas), CwndChange::Deflate) => vegas.deflate(),
            (Self::Plain(_) | Self::Extended(_), _) => {}
        }
    }
}

impl fmt::Debug for SenderControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain(control) => control.fmt(f),
            Self::Ns2Vegas(vegas) => vegas.fmt(f),
            Self::Extended(control) => f
                .debug_struct("Extended")
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
            SenderControl::Plain($control) => $call,
            SenderControl::Extended($control) => $call,
            SenderControl::Ns2Vegas($control) => $call,
        }
    };
}

#[deny(clippy::missing_trait_methods)]
impl Control for SenderControl {
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

    #[inline(always)]
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

    fn failure(&self) -> Option<MemberFailure> {
        each!(self, control => control.failure())
    }
}
