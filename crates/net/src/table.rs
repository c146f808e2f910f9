//! Finds the connection that a packet belongs to.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::sync::Arc;

use skywave_units::Instant;

use crate::mailbox::Mailbox;
use crate::path::{Key, Path};

/// The range of client ports (RFC 4340 section 19.9: the dynamic range).
const EPHEMERAL: std::ops::RangeInclusive<u16> = 49_152..=65_535;

/// All flows and listeners of an endpoint.
///
/// RFC 6773 section 3.8 permits two methods. This is the second: several connections share the same
/// UDP ports and are distinguished by the 6-tuple.
#[derive(Debug)]
pub(crate) struct Table<F> {
    slots: HashMap<Key, Slot<F>>,
    /// The number of live slots.
    live: usize,
    listeners: HashMap<u16, Arc<Mailbox<F>>>,
    time_waits: BinaryHeap<Reverse<(Instant, Key)>>,
    is_closing: bool,
}

#[derive(Debug)]
enum Slot<F> {
    Live(Arc<F>),
    /// The connection is over; its ports must not be reused before then.
    TimeWait(Instant),
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

impl<F> Default for Table<F> {
    fn default() -> Self {
        Self {
            slots: HashMap::new(),
            live: 0,
            listeners: HashMap::new(),
            time_waits: BinaryHeap::new(),
            is_closing: false,
        }
    }
}

impl<F> Table<F> {
    /// Finds the recipient of a packet with `key` at `now`. Only a Request can match a listener.
    pub(crate) fn find(&self, key: &Key, is_request: bool, now: Instant) -> Found<F> {
        match self.slots.get(key) {
            Some(Slot::Live(flow)) => Found::Flow(Arc::clone(flow)),
            Some(&Slot::TimeWait(until)) if now < until => Found::TimeWait,
            _ => match self.listeners.get(&key.local_port) {
                Some(mailbox) if is_request => Found::Listener(Arc::clone(mailbox)),
                _ => Found::Nobody,
            },
        }
    }

    /// The listener on a port.
    pub(crate) fn listener(&self, port: u16) -> Option<Arc<Mailbox<F>>> {
        self.listeners.get(&port).map(Arc::clone)
    }

    /// Inserts a connection. Returns the one that it replaces, if any.
    pub(crate) fn insert(&mut self, key: Key, flow: Arc<F>) -> Option<Arc<F>> {
        match self.slots.insert(key, Slot::Live(flow)) {
            Some(Slot::Live(before)) => Some(before),
            Some(Slot::TimeWait(_)) | None => {
                self.live += 1;
                None
            }
        }
    }

    /// Removes a connection that is over, unless another has taken its place. Its ports are blocked
    /// until `time_wait`.
    pub(crate) fn remove(&mut self, key: Key, flow: &Arc<F>, time_wait: Option<Instant>) {
        match self.slots.get(&key) {
            Some(Slot::Live(live)) if Arc::ptr_eq(live, flow) => self.live -= 1,
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

    /// Removes expired TIMEWAIT entries.
    pub(crate) fn expire(&mut self, now: Instant) {
        while let Some(Reverse((until, key))) = self.time_waits.peek().copied()
            && until <= now
        {
            self.time_waits.pop();
            // The ports may have been reused since, and be blocked again.
            if matches!(self.slots.get(&key), Some(&Slot::TimeWait(last)) if last <= now) {
                self.slots.remove(&key);
            }
        }
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
        self.live = 0;
        self.time_waits.clear();
    }

    pub(crate) const fn is_closing(&self) -> bool {
        self.is_closing
    }

    /// All flows.
    pub(crate) fn flows(&self) -> Vec<Arc<F>> {
        self.flows_where(|_| true)
    }

    /// The flows whose keys are `wanted`.
    pub(crate) fn flows_where(&self, wanted: impl Fn(&Key) -> bool) -> Vec<Arc<F>> {
        let live = |(key, slot): (&Key, &Slot<F>)| match slot {
            Slot::Live(flow) if wanted(key) => Some(Arc::clone(flow)),
            Slot::Live(_) | Slot::TimeWait(_) => None,
        };
        self.slots.iter().filter_map(live).collect()
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
        (Table::default(), [1, 2].map(Arc::new))
    }

    #[test]
    fn ports_that_are_taken_out_of_their_rest_are_live_and_rest_anew() {
        let (mut table, [first, second]) = table();
        let counts = |table: &Table<u8>| (table.live(), table.time_waits());

        assert!(table.insert(KEY, Arc::clone(&first)).is_none());
        let rest = Instant::ZERO + TIME_WAIT;
        table.remove(KEY, &first, Some(rest));
        assert_eq!(counts(&table), (0, 1));
        let at = |now| table.find(&KEY, true, now);
        assert!(matches!(at(Instant::ZERO), Found::TimeWait));
        assert!(matches!(at(rest), Found::Nobody));
        assert!(table.insert(KEY, Arc::clone(&second)).is_none());
        assert_eq!(counts(&table), (1, 0));
        table.remove(KEY, &second, Some(rest + TIME_WAIT));
        table.expire(rest);
        assert_eq!(counts(&table), (0, 1));
        table.expire(rest + TIME_WAIT);
        assert_eq!(counts(&table), (0, 0));
    }

    #[test]
    fn a_connection_that_has_lost_its_place_takes_nobody_with_it() {
        let (mut table, [first, second]) = table();
        table.insert(KEY, Arc::clone(&first));
        let before = table.insert(KEY, Arc::clone(&second)).unwrap();
        assert!(Arc::ptr_eq(&before, &first));
        table.remove(KEY, &first, None);
        assert_eq!(table.live(), 1);
        let found = table.find(&KEY, false, Instant::ZERO);
        assert!(matches!(found, Found::Flow(flow) if Arc::ptr_eq(&flow, &second)));
    }
}
