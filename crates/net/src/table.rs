//! Which connection a packet belongs to.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::sync::Arc;

use skywave_units::Instant;

use crate::flow::Flow;
use crate::listener::Mailbox;
use crate::path::{Key, Path};

/// Where ports for clients are taken from (RFC 4340 section 19.9: the dynamic range).
const EPHEMERAL: std::ops::RangeInclusive<u16> = 49_152..=65_535;

/// All connections of an endpoint, and who listens.
///
/// RFC 6773 section 3.8 leaves two methods: this is the second, several connections over the same
/// UDP ports, told apart by the 6-tuple.
#[derive(Debug, Default)]
pub(crate) struct Table {
    slots: HashMap<Key, Slot>,
    /// How many of the slots are live.
    live: usize,
    listeners: HashMap<u16, Arc<Mailbox>>,
    time_waits: BinaryHeap<Reverse<(Instant, Key)>>,
    is_closing: bool,
}

#[derive(Debug)]
enum Slot {
    Live(Arc<Flow>),
    /// The connection is over, and its ports are kept from being used again before then.
    TimeWait(Instant),
}

/// What the table says about a packet.
#[derive(Debug)]
pub(crate) enum Found {
    Flow(Arc<Flow>),
    Listener(Arc<Mailbox>),
    /// The connection is over, and its ports rest.
    TimeWait,
    Nobody,
}

impl Table {
    /// Whom a packet with `key` is for at `now`; only a Request is for a listener.
    pub(crate) fn find(&self, key: &Key, is_request: bool, now: Instant) -> Found {
        match self.slots.get(key) {
            Some(Slot::Live(flow)) => Found::Flow(Arc::clone(flow)),
            Some(&Slot::TimeWait(until)) if now < until => Found::TimeWait,
            _ => match self.listeners.get(&key.local_port) {
                Some(mailbox) if is_request => Found::Listener(Arc::clone(mailbox)),
                _ => Found::Nobody,
            },
        }
    }

    /// Who listens on a port.
    pub(crate) fn listener(&self, port: u16) -> Option<Arc<Mailbox>> {
        self.listeners.get(&port).map(Arc::clone)
    }

    /// Enters a connection, and answers the one whose place it takes.
    pub(crate) fn insert(&mut self, flow: Arc<Flow>) -> Option<Arc<Flow>> {
        match self.slots.insert(flow.key, Slot::Live(flow)) {
            Some(Slot::Live(before)) => Some(before),
            Some(Slot::TimeWait(_)) | None => {
                self.live += 1;
                None
            }
        }
    }

    /// Forgets a connection that is over, unless another has its place; its ports rest until
    /// `time_wait`.
    pub(crate) fn remove(&mut self, flow: &Flow, time_wait: Option<Instant>) {
        let key = flow.key;
        match self.slots.get(&key) {
            Some(Slot::Live(live)) if live.id == flow.id => self.live -= 1,
            _ => return,
        }
        match time_wait {
            Some(until) => {
                self.slots.insert(key, Slot::TimeWait(until));
                self.time_waits.push(Reverse((until, key)));
            }
            None => {
                self.slots.remove(&key);
            }
        }
    }

    /// Ends what TIMEWAIT has lasted long enough.
    pub(crate) fn expire(&mut self, now: Instant) {
        while let Some(Reverse((until, key))) = self.time_waits.peek().copied()
            && until <= now
        {
            self.time_waits.pop();
            // Its ports may have been taken since, and rest again.
            if matches!(self.slots.get(&key), Some(&Slot::TimeWait(last)) if last <= now) {
                self.slots.remove(&key);
            }
        }
    }

    /// A DCCP port for a client, looked for from a random one on.
    pub(crate) fn free_port(&self, path: Path, remote_port: u16, random: u64) -> Option<u16> {
        let first = *EPHEMERAL.start();
        let count = EPHEMERAL.len() as u64;
        (0..count)
            .map(|step| first + ((random % count + step) % count) as u16)
            .find(|&local_port| {
                let key = Key {
                    path,
                    local_port,
                    remote_port,
                };
                !self.slots.contains_key(&key) && !self.listeners.contains_key(&local_port)
            })
    }

    /// Whether the port was free.
    pub(crate) fn listen(&mut self, port: u16, mailbox: &Arc<Mailbox>) -> bool {
        if self.listeners.contains_key(&port) {
            return false;
        }
        self.listeners.insert(port, Arc::clone(mailbox));
        true
    }

    pub(crate) fn stop_listening(&mut self, port: u16, mailbox: &Arc<Mailbox>) {
        if self
            .listeners
            .get(&port)
            .is_some_and(|listening| Arc::ptr_eq(listening, mailbox))
        {
            self.listeners.remove(&port);
        }
    }

    /// Takes no new connections from now on; says who listened.
    pub(crate) fn close(&mut self) -> Vec<Arc<Mailbox>> {
        self.is_closing = true;
        self.listeners.drain().map(|(_, mailbox)| mailbox).collect()
    }

    pub(crate) const fn is_closing(&self) -> bool {
        self.is_closing
    }

    pub(crate) fn flows(&self) -> Vec<Arc<Flow>> {
        let live = |slot: &Slot| match slot {
            Slot::Live(flow) => Some(Arc::clone(flow)),
            Slot::TimeWait(_) => None,
        };
        self.slots.values().filter_map(live).collect()
    }

    pub(crate) const fn live(&self) -> usize {
        self.live
    }

    pub(crate) fn time_waits(&self) -> usize {
        self.slots.len() - self.live
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use skywave_transport::dccp;
    use skywave_units::Duration;

    use super::*;
    use crate::alarm::Alarm;
    use crate::clock::Clock;
    use crate::config::EndpointConfig;
    use crate::shared::{Shared, random_generator};
    use crate::socket::Socket;
    use crate::timers::Timers;

    const TIME_WAIT: Duration = Duration::from_secs(240);

    fn shared() -> Arc<Shared> {
        let (clock, config) = (Clock::new(), EndpointConfig::default());
        let timers = Timers::new(clock, Alarm::new().unwrap());
        let socket = Socket::udp((Ipv4Addr::LOCALHOST, 0).into(), &config).unwrap();
        Arc::new(Shared::new(clock, socket, timers, config).unwrap())
    }

    /// A connection that is always between the same ports.
    fn flow(shared: &Arc<Shared>) -> Arc<Flow> {
        let key = Key {
            path: Path {
                local: Ipv4Addr::LOCALHOST.into(),
                peer: (Ipv4Addr::LOCALHOST, 1).into(),
            },
            local_port: 2,
            remote_port: 3,
        };
        let (config, rng) = (dccp::Config::default(), random_generator().unwrap());
        let client = dccp::Connection::client(Arc::new(config), 2, 3, Instant::ZERO, rng);
        Flow::new(shared, key, None, client, None)
    }

    #[tokio::test]
    async fn ports_that_are_taken_out_of_their_rest_are_live_and_rest_anew() {
        let (shared, mut table) = (shared(), Table::default());
        let (first, second) = (flow(&shared), flow(&shared));
        let counts = |table: &Table| (table.live(), table.time_waits());

        assert!(table.insert(Arc::clone(&first)).is_none());
        let rest = Instant::ZERO + TIME_WAIT;
        table.remove(&first, Some(rest));
        assert_eq!(counts(&table), (0, 1));
        let at = |now| table.find(&first.key, true, now);
        assert!(matches!(at(Instant::ZERO), Found::TimeWait));
        assert!(matches!(at(rest), Found::Nobody));
        assert!(table.insert(Arc::clone(&second)).is_none());
        assert_eq!(counts(&table), (1, 0));
        table.remove(&second, Some(rest + TIME_WAIT));
        table.expire(rest);
        assert_eq!(counts(&table), (0, 1));
        table.expire(rest + TIME_WAIT);
        assert_eq!(counts(&table), (0, 0));
    }

    #[tokio::test]
    async fn a_connection_that_has_lost_its_place_takes_nobody_with_it() {
        let (shared, mut table) = (shared(), Table::default());
        let (first, second) = (flow(&shared), flow(&shared));
        table.insert(Arc::clone(&first));
        let before = table.insert(Arc::clone(&second)).unwrap();
        assert!(Arc::ptr_eq(&before, &first));
        table.remove(&first, None);
        assert_eq!(table.live(), 1);
        let found = table.find(&second.key, false, Instant::ZERO);
        assert!(matches!(found, Found::Flow(flow) if Arc::ptr_eq(&flow, &second)));
    }
}
