//! Controls that differ from Reno only in the laws of their window.

use skywave_units::{Duration, Instant};

use crate::window::{Phase, Window};
use crate::{
    Ack, AckedPacket, AnyControl, Control, ControlContext, Interests, Loss, Mark, MarkedPackets,
};

/// What kind of congestion was detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    Loss,
    Mark,
    Timeout,
}

/// A congestion event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Congestion {
    pub(crate) now: Instant,
    pub(crate) cause: Cause,
    /// Data packets outstanding.
    pub(crate) in_flight: u32,
}

/// The laws by which a window grows and shrinks. All else is [`Window`]'s.
pub(crate) trait Law {
    /// Notes the round-trip time of the handshake.
    fn on_handshake(&mut self, window: &mut Window, rtt: Duration) {
        let _ = (window, rtt);
    }

    /// Notes a packet that is acknowledged.
    fn on_packet_acked(&mut self) {}

    /// Notes packets that an acknowledgement reports as marked.
    fn on_packets_marked(&mut self, packets: u32) {
        let _ = packets;
    }

    /// Handles an acknowledgement: measures, and lets the window grow.
    fn on_ack(&mut self, window: &mut Window, ack: &Ack, phase: Phase);

    /// Returns the packets that congestion leaves of the window. Bounds are [`Window`]'s.
    fn rest(&mut self, window: &Window, congestion: Congestion) -> f64;

    /// Restores what the last loss has changed.
    fn on_spurious_loss(&mut self) {}

    /// Returns whether it asks for [`Interests::every_rtt`].
    fn wants_every_rtt(&self) -> bool {
        false
    }

    /// Implements [`Control::inner_values`].
    fn inner_values(&self, record: &mut dyn FnMut(&'static str, f64));
}

/// A window under a law.
#[derive(Clone, Debug)]
pub(crate) struct Governed<L> {
    pub(crate) window: Window,
    pub(crate) law: L,
}

impl<L: Law + Send + 'static> Governed<L> {
    /// Creates the window of a new connection.
    pub(crate) fn new(context: &ControlContext, law: L) -> Self {
        Self {
            window: Window::new(context),
            law,
        }
    }

    /// Builds the control of a new connection.
    pub(crate) fn build(context: &ControlContext, law: L) -> AnyControl {
        AnyControl::new(Self::new(context, law))
    }

    fn rest(&mut self, now: Instant, cause: Cause, in_flight: u32) -> f64 {
        let congestion = Congestion {
            now,
            cause,
            in_flight,
        };
        self.law.rest(&self.window, congestion)
    }
}

impl<L: Law + Send + 'static> Control for Governed<L> {
    /// Returns a request for each packet: laws measure the round-trip time of each acknowledgement,
    /// or count what is acknowledged, in a recovery too.
    fn interests(&self) -> Interests {
        Interests {
            packets: true,
            every_rtt: self.law.wants_every_rtt(),
            ..Interests::default()
        }
    }

    fn on_handshake(&mut self, rtt: Duration) {
        self.law.on_handshake(&mut self.window, rtt);
    }

    fn on_packet_acked(&mut self, _packet: &AckedPacket) {
        self.law.on_packet_acked();
    }

    fn on_packets_marked(&mut self, marked: &MarkedPackets) {
        self.law.on_packets_marked(marked.packets);
    }

    fn on_ack(&mut self, ack: &Ack) {
        let phase = self.window.on_ack(ack);
        self.law.on_ack(&mut self.window, ack, phase);
    }

    fn on_loss(&mut self, loss: &Loss) {
        let rest = self.rest(loss.now, Cause::Loss, loss.in_flight);
        self.window.on_loss(rest);
    }

    fn on_mark(&mut self, mark: &Mark) {
        let rest = self.rest(mark.now, Cause::Mark, mark.in_flight);
        self.window.on_mark(rest, mark.in_flight);
    }

    fn on_timeout(&mut self, now: Instant, in_flight: u32) {
        let rest = self.rest(now, Cause::Timeout, in_flight);
        self.window.on_timeout(rest, in_flight);
    }

    fn on_spurious_loss(&mut self, _now: Instant) {
        self.law.on_spurious_loss();
        self.window.on_spurious_loss();
    }

    fn on_restart(&mut self, _now: Instant) {
        self.window.on_restart();
    }

    fn on_receiver_overload(&mut self, _now: Instant, dropped: u32) {
        self.window.on_receiver_overload(dropped);
    }

    fn limit_cwnd(&mut self, limit: f64) {
        self.window.limit_cwnd(limit);
    }

    fn on_validation(&mut self, cwnd: f64, ssthresh: f64) {
        self.window.on_validation(cwnd, ssthresh);
    }

    fn cwnd(&self) -> f64 {
        self.window.cwnd()
    }

    fn ssthresh(&self) -> f64 {
        self.window.ssthresh()
    }

    fn inner_values(&self, record: &mut dyn FnMut(&'static str, f64)) {
        self.law.inner_values(record);
    }
}
