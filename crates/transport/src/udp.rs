//! UDP (RFC 768): datagrams leave as soon as they are sent.

use std::collections::VecDeque;

use skywave_units::Instant;
use skywave_wire::udp::Datagram;
use skywave_wire::{Ecn, Payload};

use crate::{End, Transmit};

/// One end of a UDP flow, bound to a port and connected to another.
///
/// There is no handshake, no congestion control, no timer and no queueing delay: datagrams are
/// transmitted at once.
#[derive(Debug)]
pub struct Socket {
    local_port: u16,
    remote_port: u16,
    send_queue: VecDeque<Payload>,
    receive_queue: VecDeque<Payload>,
    counters: Counters,
}

/// Counters of a [`Socket`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// Datagrams sent.
    pub datagrams_sent: u64,
    /// Bytes of application data in them.
    pub bytes_sent: u64,
    /// Datagrams received.
    pub datagrams_received: u64,
    /// Bytes of application data in them.
    pub bytes_received: u64,
    /// Datagrams to or from another port, which were ignored.
    pub strays: u64,
}

impl Socket {
    /// Creates a socket on `local_port` that sends to, and receives from, `remote_port`.
    pub const fn new(local_port: u16, remote_port: u16) -> Self {
        Self {
            local_port,
            remote_port,
            send_queue: VecDeque::new(),
            receive_queue: VecDeque::new(),
            counters: Counters {
                datagrams_sent: 0,
                bytes_sent: 0,
                datagrams_received: 0,
                bytes_received: 0,
                strays: 0,
            },
        }
    }

    /// Sends a datagram.
    pub fn send(&mut self, datagram: Payload) {
        self.send_queue.push_back(datagram);
    }

    /// Returns the next received datagram, in order of arrival.
    pub fn recv(&mut self) -> Option<Payload> {
        self.receive_queue.pop_front()
    }

    /// Returns the counters since the beginning.
    pub const fn counters(&self) -> Counters {
        self.counters
    }
}

impl End for Socket {
    type Packet = Datagram;

    fn receive(&mut self, _now: Instant, _ecn: Ecn, packet: Datagram) {
        if packet.destination_port != self.local_port || packet.source_port != self.remote_port {
            self.counters.strays += 1;
            return;
        }
        self.counters.datagrams_received += 1;
        self.counters.bytes_received += packet.payload.len() as u64;
        self.receive_queue.push_back(packet.payload);
    }

    fn transmit(&mut self, _now: Instant) -> Option<Transmit<Datagram>> {
        let payload = self.send_queue.pop_front()?;
        self.counters.datagrams_sent += 1;
        self.counters.bytes_sent += payload.len() as u64;
        let packet = Datagram {
            source_port: self.local_port,
            destination_port: self.remote_port,
            payload,
        };
        // Nobody would react to a mark.
        let ecn = Ecn::NotEct;
        Some(Transmit { ecn, packet })
    }

    fn deadline(&self) -> Option<Instant> {
        None
    }

    fn expire(&mut self, _now: Instant) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Driven;

    fn sent(socket: &mut Driven<Socket>, datagram: u32) -> Datagram {
        let action = |socket: &mut Socket| socket.send(Payload::Synthetic(datagram));
        let ((), transmit) = socket.apply(Instant::ZERO, action, |mut drain| {
            let transmit = drain.transmit().unwrap();
            assert!(drain.transmit().is_none());
            drain.finish().map(|deadline| {
                assert_eq!(deadline, None);
                transmit
            })
        });
        assert_eq!(transmit.ecn, Ecn::NotEct);
        transmit.packet
    }

    fn receives(socket: &mut Driven<Socket>, packet: Datagram) -> Option<Payload> {
        socket.receive(Instant::ZERO, Ecn::NotEct, packet, |drain| drain.finish());
        let (received, _) = socket.apply(Instant::ZERO, Socket::recv, |drain| drain.finish());
        received
    }

    #[test]
    fn what_is_sent_arrives_and_is_counted() {
        let mut ends =
            [(1, 2), (2, 1)].map(|(local, remote)| Driven::new(Socket::new(local, remote)));
        let packet = sent(&mut ends[0], 80);
        assert_eq!(receives(&mut ends[1], packet), Some(Payload::Synthetic(80)));
        let (sender, receiver) = (ends[0].get().counters(), ends[1].get().counters());
        assert_eq!((sender.datagrams_sent, sender.bytes_sent), (1, 80));
        assert_eq!(
            (receiver.datagrams_received, receiver.bytes_received),
            (1, 80)
        );
    }

    #[test]
    fn strangers_are_not_heard() {
        let mut stranger = Driven::new(Socket::new(3, 2));
        let mut receiver = Driven::new(Socket::new(2, 1));
        let packet = sent(&mut stranger, 80);
        assert_eq!(receives(&mut receiver, packet), None);
        assert_eq!(receiver.get().counters().strays, 1);
    }
}
