//! What a run shows to those who watch it.

use skywave_path::DropReason;
use skywave_units::Instant;

use crate::bodies::Bodies;
use crate::host::Host;
use crate::ids::HostId;
use crate::network::Network;
use crate::packet::Frame;

/// What happens to a packet. From `Send` to `Receive` or `Drop`, each packet takes part in an
/// `Enqueue` and an `Arrive` for every link of its route; a queue may drop it between the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// Its sender has sent it.
    Send,
    /// A link has taken it in.
    Enqueue { link: u32 },
    /// A link has lost it, after it had taken it in (`entered`) or instead.
    Drop {
        link: u32,
        reason: DropReason,
        entered: bool,
    },
    /// It has reached the far end of a link.
    Arrive { link: u32 },
    /// The host that it is addressed to has it, but has not looked at it yet.
    Receive,
}

/// Watches a run. Observers see; they never change what happens.
///
/// Every method does nothing unless it is overridden, and a run that nobody watches (`()`)
/// compiles to a run without observation.
pub(crate) trait Observer {
    /// Something happens to a packet; its body is in `bodies`.
    fn packet(&mut self, now: Instant, event: Event, frame: &Frame, bodies: &Bodies) {
        let _ = (now, event, frame, bodies);
    }

    /// A host has dealt with an input and sent what it had to send.
    fn settled(&mut self, now: Instant, id: HostId, host: &Host) {
        let _ = (now, id, host);
    }

    /// A sampling time.
    fn sample(&mut self, now: Instant, network: &mut Network, hosts: &[Host]) {
        let _ = (now, network, hosts);
    }
}

impl Observer for () {}

impl<O: Observer> Observer for Option<O> {
    #[inline(always)]
    fn packet(&mut self, now: Instant, event: Event, frame: &Frame, bodies: &Bodies) {
        if let Some(observer) = self {
            observer.packet(now, event, frame, bodies);
        }
    }

    fn settled(&mut self, now: Instant, id: HostId, host: &Host) {
        if let Some(observer) = self {
            observer.settled(now, id, host);
        }
    }

    fn sample(&mut self, now: Instant, network: &mut Network, hosts: &[Host]) {
        if let Some(observer) = self {
            observer.sample(now, network, hosts);
        }
    }
}

impl<A: Observer, B: Observer> Observer for (A, B) {
    #[inline(always)]
    fn packet(&mut self, now: Instant, event: Event, frame: &Frame, bodies: &Bodies) {
        self.0.packet(now, event, frame, bodies);
        self.1.packet(now, event, frame, bodies);
    }

    #[inline(always)]
    fn settled(&mut self, now: Instant, id: HostId, host: &Host) {
        self.0.settled(now, id, host);
        self.1.settled(now, id, host);
    }

    fn sample(&mut self, now: Instant, network: &mut Network, hosts: &[Host]) {
        self.0.sample(now, network, hosts);
        self.1.sample(now, network, hosts);
    }
}
