//! Custom transports: protocols over UDP that scenarios select by name.
//!
//! Implement [`Peer`] for an end of a connection and [`TransportKind`] for its parameters, and
//! register the parameters:
//!
//! ```text
//! registry.transports.register("arq", "Stop and wait.", |arq: Arq| Ok(Arc::new(arq)));
//! ```
//!
//! Then a scenario's flow says `transport = "arq"` or `transport = { arq = { .. } }`. UDP itself is
//! such a transport.

use std::fmt;

use skywave_congestion::MemberFailure;
use skywave_registry::{Choice, OpenSet, Selection};
use skywave_units::{Instant, Random};
use skywave_wire::quick_start::QuickStart;
use skywave_wire::udp::Datagram;
use skywave_wire::{Ecn, Payload};

use crate::udp::Socket;
use crate::{Carrier, End, EndStats, SendingEnd, Status, Transmit};

/// One end of a connection of a custom transport, whose packets travel over UDP.
///
/// The driver obeys "mutate, then drain", as [`Driven`](crate::Driven) does. Both ends of a
/// connection are peers: the one that the application writes to, and the one that it reads from.
///
/// An end whose kind carries [`Carrier::Datagrams`] must bound its queue: once it is full,
/// [`SendingEnd::send`] returns false. An endless source hands over datagrams until then.
pub trait Peer: End<Packet = Datagram> + SendingEnd + Status + fmt::Debug + Send {
    /// Reads everything that has arrived, like an application that never falls behind. The driver
    /// calls it after each packet.
    fn read(&mut self) {}
}

/// A transport with its parameters, as stored in [`Transports`].
pub trait TransportKind: fmt::Debug + Send + Sync {
    /// Returns the kind of data that the transport carries. Sources that need another kind are
    /// rejected.
    fn carrier(&self) -> Carrier;

    /// Creates the two ends of a connection, the sending application's first.
    fn connect(&self, setup: &PeerSetup<'_>) -> [Box<dyn Peer>; 2];

    /// Returns whether connections, or the two ends of one, share state, such as a global variable
    /// or a learned model. A simulation then calls all members that do in order of time; it
    /// executes other parts of a network one after the other. Runs on other threads are not
    /// ordered.
    fn shares_state(&self) -> bool {
        false
    }
}

/// The setup of a connection, as passed to its transport.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct PeerSetup<'a> {
    /// When the connection starts.
    pub start: Instant,
    /// The UDP port of the sending application's end.
    pub sender_port: u16,
    /// The UDP port of the other end.
    pub receiver_port: u16,
    stream: &'a dyn Fn(&str) -> Random,
}

impl<'a> PeerSetup<'a> {
    /// Describes a connection that starts at `start` between these ports, sender's first. `stream`
    /// returns the connection's random stream for a purpose, always the same one.
    pub fn new(
        start: Instant,
        [sender_port, receiver_port]: [u16; 2],
        stream: &'a dyn Fn(&str) -> Random,
    ) -> Self {
        Self {
            start,
            sender_port,
            receiver_port,
            stream,
        }
    }

    /// Returns the connection's random stream for this purpose, from its start.
    pub fn random(&self, purpose: &str) -> Random {
        (self.stream)(purpose)
    }
}

impl fmt::Debug for PeerSetup<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PeerSetup")
            .field("start", &self.start)
            .field("sender_port", &self.sender_port)
            .field("receiver_port", &self.receiver_port)
            .finish_non_exhaustive()
    }
}

/// The known transports besides TCP, DCCP and UDP.
pub type Transports = OpenSet<dyn TransportKind>;

/// A transport of [`Transports`] and its parameters.
pub type TransportSelection = Selection<TransportChoice>;

/// Marks selections of transports.
#[derive(Clone, Copy, Debug)]
pub enum TransportChoice {}

impl Choice for TransportChoice {
    const KIND: &'static str = "transport";
    const DEFINITION: &'static str = "OtherTransport";
}

/// UDP as a transport of flows.
#[derive(Clone, Copy, Debug)]
pub struct Udp;

impl TransportKind for Udp {
    fn carrier(&self) -> Carrier {
        Carrier::BareDatagrams
    }

    fn connect(&self, setup: &PeerSetup<'_>) -> [Box<dyn Peer>; 2] {
        let (here, there) = (setup.sender_port, setup.receiver_port);
        [
            Box::new(Socket::new(here, there)),
            Box::new(Socket::new(there, here)),
        ]
    }
}

impl Peer for Socket {
    fn read(&mut self) {
        while self.recv().is_some() {}
    }
}

#[deny(clippy::missing_trait_methods)]
impl End for Box<dyn Peer> {
    type Packet = Datagram;

    fn receive(&mut self, now: Instant, ecn: Ecn, packet: Datagram) {
        (**self).receive(now, ecn, packet);
    }

    fn transmit(&mut self, now: Instant) -> Option<Transmit<Datagram>> {
        (**self).transmit(now)
    }

    fn quick_start(&mut self) -> Option<QuickStart> {
        (**self).quick_start()
    }

    fn deadline(&self) -> Option<Instant> {
        (**self).deadline()
    }

    fn expire(&mut self, now: Instant) {
        (**self).expire(now);
    }
}

#[deny(clippy::missing_trait_methods)]
impl SendingEnd for Box<dyn Peer> {
    fn send(&mut self, datagram: Payload) -> bool {
        (**self).send(datagram)
    }

    fn write(&mut self, bytes: Option<u64>) -> bool {
        (**self).write(bytes)
    }

    fn waiting(&self) -> usize {
        (**self).waiting()
    }

    fn close(&mut self, now: Instant) {
        (**self).close(now);
    }
}

#[deny(clippy::missing_trait_methods)]
impl Status for Box<dyn Peer> {
    fn end_stats(&self) -> EndStats {
        (**self).end_stats()
    }

    fn inner_values(&self, record: &mut dyn FnMut(&'static str, f64)) {
        (**self).inner_values(record);
    }

    fn failure(&self) -> Option<MemberFailure> {
        (**self).failure()
    }

    fn is_over(&self) -> bool {
        (**self).is_over()
    }
}
