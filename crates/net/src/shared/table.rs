//! Finds the connection that a packet belongs to.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap};
use std::net::IpAddr;
use std::sync::Arc;

use skywave_transport::dccp::Stats;
use skywave_units::Instant;

use crate::config::EndpointConfig;
use crate::limits::sources::{SourceLimits, Sources};
use crate::path::{Key, Path};
use crate::shared::mailbox::Mailbox;
use crate::totals::Totals;

/// The range of client ports (RFC 4340 section 19.9: the dynamic range).
const EPHEMERAL: std::ops::RangeInclusive<u16> = 49_152..=65_535;

/// All flows and listeners of an endpoint.
///
/// RFC 6773 section 3.8 permits two methods. This is the second: several connections share the same
/// UDP ports and are distinguished by the 6-tuple.
#[derive(Debug)]
pub(crate) struct Table<F> {
    slots: HashMap<Key, Slot<F>>,
    /// The keys of the live slots in order, so that those of one peer are next to each other.
    live: BTreeSet<Key>,
    /// The sources of the accepted connections.
    sources: Sources,
    limits: Limits,
    listeners: HashMap<u16, Arc<Mailbox<F>>>,
    time_waits: BinaryHeap<Reverse<(Instant, Key)>>,
    /// The totals of the connections that have left the table.
    ended: Totals,
    is_closing: bool,
}

/// The capacity of a table.
#[derive(Clone, Copy, Debug)]
struct Limits {
    connections: usize,
    sources: SourceLimits,
    time_waits: usize,
}

/// Who opened a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opened {
    Here,
    ByPeer,
}

#[derive(Debug)]
enum Slot<F> {
    Live(Arc<F>, Opened),
    /// The connection is over; its ports must not be reused before this time.
    TimeWait(Instant),
}

impl<F> Slot<F> {
    fn live(&self) -> Option<Arc<F>> {
        match self {
            Self::Live(flow, _) => Some(Arc::clone(flow)),
            Self::TimeWait(_) => None,
        }
    }
}

/// The result of looking up a packet.
#[derive(Debug)]
pub(crate) enum Found<F> {
    Flow(Arc<F>),
    Listener(Arc<Mailbox<F>>),
    /// The connection is over, and its ports may not be reused yet.
    TimeWait,
    Nobody,
}

impl<F> Table<F> {
    pub(crate) fn new(config: &EndpointConfig) -> Self {
        Self {
            slots: HashMap::new(),
            live: BTreeSet::new(),
            sources: Sources::default(),
            limits: Limits {
                connections: config.max_connections,
                sources: SourceLimits {
                    address: config.max_per_address,
                    prefix: config.max_per_prefix,
                },
                time_waits: config.max_time_waits,
            },
            listeners: HashMap::new(),
            time_waits: BinaryHeap::new(),
            ended: Totals::default(),
            is_closing: false,
        }
    }

    /// Returns whether there is room for another connection with `peer`.
    pub(crate) fn has_room(&self, peer: IpAddr, opened: Opened) -> bool {
        let source_has_room =
            opened == Opened::Here || self.sources.has_room(peer, self.limits.sources);
        self.live.len() < self.limits.connections && source_has_room
    }

    /// Finds the recipient of a packet with `key` at `now`. Only a Request can match a listener.
    pub(crate) fn find(&self, key: &Key, is_request: bool, now: Instant) -> Found<F> {
        match self.slots.get(key) {
            Some(Slot::Live(flow, _)) => Found::Flow(Arc::clone(flow)),
            Some(&Slot::TimeWait(until)) if now < until => Found::TimeWait,
            _ => match self.listeners.get(&key.local_port) {
                Some(mailbox) if is_request => Found::Listener(Arc::clone(mailbox)),
                _ => Found::Nobody,
            },
        }
    }

    /// Returns the listener on a port.
    pub(crate) fn listener(&self, port: u16) -> Option<Arc<Mailbox<F>>> {
        self.listeners.get(&port).map(Arc::clone)
    }

    /// Inserts a connection. Returns the one that it replaces, if any.
    pub(crate) fn insert(&mut self, key: Key, flow: Arc<F>, opened: Opened) -> Option<Arc<F>> {
        let before = self.slots.insert(key, Slot::Live(flow, opened));
        self.live.insert(key);
        if opened == Opened::ByPeer {
            self.sources.add(key.path.peer.ip());
        }
        match before {
            Some(Slot::Live(before, opened)) => {
                self.uncount(&key, opened);
                Some(before)
            }
            Some(Slot::TimeWait(_)) | None => None,
        }
    }

    fn uncount(&mut self, key: &Key, opened: Opened) {
        if opened == Opened::ByPeer {
            self.sources.remove(key.path.peer.ip());
        }
    }

    /// Removes a connection that is over, unless another has taken its place, and adds its counters
    /// to the totals. Its ports are blocked until `time_wait`, or until there are too many such
    /// ports.
    pub(crate) fn remove(
        &mut self,
        key: Key,
        flow: &Arc<F>,
        counted: &Stats,
        time_wait: Option<Instant>,
    ) {
        match self.slots.get(&key) {
            Some(&Slot::Live(ref live, opened)) if Arc::ptr_eq(live, flow) => {
                self.uncount(&key, opened);
            }
            _ => return,
        }
        self.ended.add(counted);
        self.live.remove(&key);
        self.slots.remove(&key);
        if let Some(until) = time_wait {
            self.slots.insert(key, Slot::TimeWait(until));
            self.time_waits.push(Reverse((until, key)));
            while self.time_waits() > self.limits.time_waits && self.end_first_time_wait() {}
        }
    }

    /// Removes expired TIMEWAIT entries.
    pub(crate) fn expire(&mut self, now: Instant) {
        while let Some(&Reverse((until, _))) = self.time_waits.peek()
            && until <= now
        {
            self.end_first_time_wait();
        }
    }

    /// Ends the TIMEWAIT that would end first. Returns false if there is none.
    fn end_first_time_wait(&mut self) -> bool {
        let Some(Reverse((until, key))) = self.time_waits.pop() else {
            return false;
        };
        // The ports may have been reused since, and be blocked again.
        if matches!(self.slots.get(&key), Some(&Slot::TimeWait(last)) if last == until) {
            self.slots.remove(&key);
        }
        true
    }

    /// Finds a free DCCP port for a client, searching from a random one.
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

    /// Adds a listener. Returns false if the port is taken.
    pub(crate) fn listen(&mut self, port: u16, mailbox: &Arc<Mailbox<F>>) -> bool {
        if self.listeners.contains_key(&port) {
            return false;
        }
        self.listeners.insert(port, Arc::clone(mailbox));
        true
    }

    pub(crate) fn stop_listening(&mut self, port: u16, mailbox: &Arc<Mailbox<F>>) {
        if self
            .listeners
            .get(&port)
            .is_some_and(|listening| Arc::ptr_eq(listening, mailbox))
        {
            self.listeners.remove(&port);
        }
    }

    /// Stops accepting connections. Returns the listeners.
    pub(crate) fn close(&mut self) -> Vec<Arc<Mailbox<F>>> {
        self.is_closing = true;
        self.listeners.drain().map(|(_, mailbox)| mailbox).collect()
    }

    /// Removes all flows and TIMEWAIT entries.
    pub(crate) fn clear(&mut self) {
        self.slots.clear();
        self.live.clear();
        self.sources = Sources::default();
        self.time_waits.clear();
    }

    pub(crate) const fn is_closing(&self) -> bool {
        self.is_closing
    }

    /// Returns the flow with this key.
    pub(crate) fn flow(&self, key: &Key) -> Option<Arc<F>> {
        self.found(core::iter::once(key)).pop()
    }

    /// Returns the totals of the connections that have left the table.
    pub(crate) const fn ended(&self) -> &Totals {
        &self.ended
    }

    /// Returns all flows, in no particular order: looking each up in order takes ten times as long,
    /// and packets wait meanwhile.
    pub(crate) fn flows(&self) -> Vec<Arc<F>> {
        let mut flows = Vec::with_capacity(self.live.len());
        flows.extend(self.slots.values().filter_map(Slot::live));
        flows
    }

    /// Returns the flows to a peer, between these DCCP ports (ours and the peer's) if they are
    /// known.
    pub(crate) fn flows_to(&self, peer: IpAddr, ports: Option<(u16, u16)>) -> Vec<Arc<F>> {
        self.found(self.live.range(Key::all_to(peer, ports)))
    }

    fn found<'a>(&self, keys: impl Iterator<Item = &'a Key>) -> Vec<Arc<F>> {
        let live = |key| self.slots.get(key).and_then(Slot::live);
        keys.filter_map(live).collect()
    }

    pub(crate) fn live(&self) -> usize {
        self.live.len()
    }

    pub(crate) fn time_waits(&self) -> usize {
        self.slots.len() - self.live.len()
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr, SocketAddr};

    use skywave_units::Duration;

    use super::*;

    const TIME_WAIT: Duration = Duration::from_secs(240);
    const KEY: Key = Key {
        path: Path {
            local: IpAddr::V4(Ipv4Addr::LOCALHOST),
            peer: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 1),
        },
        local_port: 2,
        remote_port: 3,
    };

    /// A table, and two connections between the same ports.
    fn table() -> (Table<u8>, [Arc<u8>; 2]) {
        (Table::new(&EndpointConfig::default()), [1, 2].map(Arc::new))
    }

    /// The counters of a connection.
    fn counted() -> Stats {
        let mut stats = Stats::default();
        stats.counters.packets_sent = 1;
        stats
    }

    #[test]
    fn ports_that_are_taken_out_of_their_rest_are_live_and_rest_anew() {
        let (mut table, [first, second]) = table();
        let counts = |table: &Table<u8>| (table.live(), table.time_waits());

        assert!(
            table
                .insert(KEY, Arc::clone(&first), Opened::ByPeer)
                .is_none()
        );
        let rest = Instant::ZERO + TIME_WAIT;
        table.remove(KEY, &first, &counted(), Some(rest));
        assert_eq!(counts(&table), (0, 1));
        let at = |now| table.find(&KEY, true, now);
        assert!(matches!(at(Instant::ZERO), Found::TimeWait));
        assert!(matches!(at(rest), Found::Nobody));
        assert!(
            table
                .insert(KEY, Arc::clone(&second), Opened::ByPeer)
                .is_none()
        );
        assert_eq!(counts(&table), (1, 0));
        table.remove(KEY, &second, &counted(), Some(rest + TIME_WAIT));
        table.expire(rest);
        assert_eq!(counts(&table), (0, 1));
        table.expire(rest + TIME_WAIT);
        assert_eq!(counts(&table), (0, 0));
        let ended = table.ended();
        assert_eq!((ended.connections, ended.counters.packets_sent), (2, 2));
    }

    #[test]
    fn a_connection_that_has_lost_its_place_takes_nobody_with_it() {
        let (mut table, [first, second]) = table();
        table.insert(KEY, Arc::clone(&first), Opened::ByPeer);
        let before = table
            .insert(KEY, Arc::clone(&second), Opened::ByPeer)
            .unwrap();
        assert!(Arc::ptr_eq(&before, &first));
        table.remove(KEY, &first, &counted(), None);
        assert_eq!((table.live(), table.ended().connections), (1, 0));
        let found = table.find(&KEY, false, Instant::ZERO);
        assert!(matches!(found, Found::Flow(flow) if Arc::ptr_eq(&flow, &second)));
    }

    fn key(peer: [u8; 4], local_port: u16, remote_port: u16) -> Key {
        Key {
            path: Path {
                peer: SocketAddr::new(IpAddr::from(peer), 6511),
                ..KEY.path
            },
            local_port,
            remote_port,
        }
    }

    /// An ICMP error looks up the connections to one peer, and visits no others.
    #[test]
    fn connections_are_found_by_peer() {
        let mut table = Table::new(&EndpointConfig::default());
        let mut value = 0;
        for last in 1..=3 {
            for port in 1..=4 {
                let flow = Arc::new(value);
                table.insert(key([192, 0, 2, last], 5001, port), flow, Opened::ByPeer);
                value += 1;
            }
        }
        let to = |last, ports| {
            let found = table.flows_to(IpAddr::from([192, 0, 2, last]), ports);
            found.iter().map(|flow| **flow).collect::<Vec<_>>()
        };
        assert_eq!(to(2, None), [4, 5, 6, 7]);
        assert_eq!(to(2, Some((5001, 3))), [6]);
        assert!(to(2, Some((5002, 3))).is_empty());
        assert!(to(4, None).is_empty());
    }

    #[test]
    fn a_full_table_has_no_room() {
        let mut table = Table::new(&EndpointConfig {
            max_connections: 3,
            max_per_address: 2,
            ..EndpointConfig::default()
        });
        let (peer, other) = ([192, 0, 2, 1], [198, 51, 100, 1]);
        let flow = Arc::new(0);
        for port in [1, 2] {
            assert!(table.has_room(peer.into(), Opened::ByPeer));
            table.insert(key(peer, 5001, port), Arc::clone(&flow), Opened::ByPeer);
        }
        assert!(!table.has_room(peer.into(), Opened::ByPeer));
        assert!(table.has_room(peer.into(), Opened::Here), "our own choice");
        assert!(table.has_room(other.into(), Opened::ByPeer));
        table.insert(key(other, 5001, 1), Arc::clone(&flow), Opened::ByPeer);
        assert!(!table.has_room(other.into(), Opened::Here));
        // One that replaces another leaves the counts as they are.
        let again = table.insert(key(peer, 5001, 1), Arc::clone(&flow), Opened::ByPeer);
        assert!(again.is_some());
        table.remove(key(other, 5001, 1), &flow, &counted(), None);
        table.remove(key(peer, 5001, 1), &flow, &counted(), None);
        assert!(table.has_room(peer.into(), Opened::ByPeer));
        table.remove(key(peer, 5001, 2), &flow, &counted(), None);
        assert_eq!(table.live(), 0);
    }

    #[test]
    fn the_oldest_time_waits_make_room() {
        let mut table = Table::new(&EndpointConfig {
            max_time_waits: 2,
            ..EndpointConfig::default()
        });
        let flow = Arc::new(0);
        let keys = [1, 2, 3].map(|port| key([192, 0, 2, 1], 5001, port));
        for (age, key) in keys.into_iter().enumerate() {
            table.insert(key, Arc::clone(&flow), Opened::ByPeer);
            let until = Instant::ZERO + TIME_WAIT + Duration::from_secs(age as u64);
            table.remove(key, &flow, &counted(), Some(until));
        }
        assert_eq!(table.time_waits(), 2);
        let at = |key| table.find(key, false, Instant::ZERO);
        assert!(matches!(at(&keys[0]), Found::Nobody));
        assert!(matches!(at(&keys[1]), Found::TimeWait));
    }
}
