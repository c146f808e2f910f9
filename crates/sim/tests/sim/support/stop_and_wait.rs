//! A custom transport over UDP: stop and wait.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_registry::ParameterError;
use skywave_sim::{Carrier, EndStats, Peer, PeerSetup, Registry, SendingEnd, TransportKind};
use skywave_transport::{End, Status, Transmit};
use skywave_units::{Duration, Instant};
use skywave_wire::udp::Datagram;
use skywave_wire::{Ecn, Payload};

/// Sends a datagram again and again until it is acknowledged, and then the next one.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StopAndWait {
    /// How long it waits for an acknowledgement.
    timeout: Duration,
}

impl TransportKind for StopAndWait {
    fn carrier(&self) -> Carrier {
        Carrier::Datagrams
    }

    fn connect(&self, setup: &PeerSetup<'_>) -> [Box<dyn Peer>; 2] {
        let ports = [setup.sender_port, setup.receiver_port];
        let back = [setup.receiver_port, setup.sender_port];
        [ports, back].map(|ports| {
            let timeout = self.timeout;
            Box::new(StopAndWaitEnd::new(ports, timeout)) as Box<dyn Peer>
        })
    }
}

/// An end. Its packets begin with their number: even ones carry data, odd ones acknowledge it.
#[derive(Debug)]
struct StopAndWaitEnd {
    ports: [u16; 2],
    timeout: Duration,
    waiting: VecDeque<Bytes>,
    /// The number of the datagram at the front of `waiting`.
    number: u32,
    /// When the datagram at the front is sent again; `None` if it has not been sent yet.
    deadline: Option<Instant>,
    is_due: bool,
    expected: u32,
    acknowledges: Option<u32>,
    stats: EndStats,
}

/// The capacity of the queue.
const MOST_WAITING: usize = 10;

impl StopAndWaitEnd {
    fn new(ports: [u16; 2], timeout: Duration) -> Self {
        Self {
            ports,
            timeout,
            waiting: VecDeque::new(),
            number: 0,
            deadline: None,
            is_due: false,
            expected: 0,
            acknowledges: None,
            stats: EndStats::default(),
        }
    }

    fn packet(&self, number: u32, data: &[u8]) -> Transmit<Datagram> {
        let payload = [&number.to_be_bytes(), data].concat();
        let packet = Datagram {
            source_port: self.ports[0],
            destination_port: self.ports[1],
            payload: Payload::Bytes(payload.into()),
        };
        Transmit {
            ecn: Ecn::NotEct,
            packet,
        }
    }
}

impl End for StopAndWaitEnd {
    type Packet = Datagram;

    fn receive(&mut self, _now: Instant, _ecn: Ecn, packet: Datagram) {
        let bytes = packet.payload.into_bytes();
        let (number, data) = bytes.split_first_chunk().unwrap();
        let number = u32::from_be_bytes(*number);
        if number == self.number + 1 {
            self.waiting.pop_front();
            self.number += 2;
            self.deadline = None;
            self.is_due = true;
        } else if number.is_multiple_of(2) {
            self.acknowledges = Some(number);
            if number == self.expected {
                self.expected += 2;
                self.stats.delivered_packets += 1;
                self.stats.delivered_bytes += data.len() as u64;
            }
        }
    }

    fn transmit(&mut self, now: Instant) -> Option<Transmit<Datagram>> {
        if let Some(number) = self.acknowledges.take() {
            return Some(self.packet(number + 1, &[]));
        }
        let data = self.waiting.front()?;
        if !self.is_due {
            return None;
        }
        self.is_due = false;
        self.stats.packets_sent += 1;
        self.stats.bytes_sent += data.len() as u64;
        self.stats.retransmissions += u64::from(self.deadline.is_some());
        self.deadline = Some(now + self.timeout);
        Some(self.packet(self.number, &self.waiting[0]))
    }

    fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    fn expire(&mut self, now: Instant) {
        if self.deadline.is_some_and(|deadline| deadline <= now) {
            self.stats.timeouts += 1;
            self.is_due = true;
        }
    }
}

impl SendingEnd for StopAndWaitEnd {
    fn send(&mut self, datagram: Payload) -> bool {
        let has_room = self.waiting.len() < MOST_WAITING;
        if has_room {
            self.is_due |= self.waiting.is_empty();
            self.waiting.push_back(datagram.into_bytes());
        }
        has_room
    }

    fn write(&mut self, _bytes: Option<u64>) -> bool {
        false
    }

    fn waiting(&self) -> usize {
        self.waiting.len()
    }

    fn close(&mut self, _now: Instant) {}
}

impl Status for StopAndWaitEnd {
    fn end_stats(&self) -> EndStats {
        let mut stats = self.stats;
        stats.is_idle = self.waiting.is_empty();
        stats
    }
}

impl Peer for StopAndWaitEnd {}

/// Returns a registry that has it.
pub(crate) fn registry() -> Registry {
    let mut registry = Registry::default();
    registry
        .transports
        .register("stop-and-wait", "Stop and wait.", |kind: StopAndWait| {
            ParameterError::unless(!kind.timeout.is_zero(), "timeout", || {
                "0: give a longer time".to_owned()
            })?;
            Ok(Arc::new(kind))
        });
    registry
}
