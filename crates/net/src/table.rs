//! Which connection a packet belongs to.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::sync::Arc;

use skywave_units::Instant;

use crate::mailbox::Mailbox;
use crate::path::{Key, Path};

/// Where ports for clients are taken from (RFC 4340 section 19.9: the dynamic range).
const EPHEMERAL: std::ops::RangeInclusive<u16> = 49_152..=65_535;

/// All flows of an endpoint, and who listens.
///
/// RFC 6773 section 3.8 leaves two methods: this is the second, several connections over the same
/// UDP ports, told apart by the 6-tuple.
#[derive(Debug)]
pub(crate) struct Table<F> {
    slots: HashMap<Key, Slot<F>>,
    /// How many of the slots are live.
    live: usize,
    listeners: HashMap<u16, Arc<Mailbox<F>>>,
    time_waits: BinaryHeap<Reverse<(Instant, Key)>>,
    is_closing: bool,
}

#[derive(Debug)]
enum Slot<F> {
    Live(Arc<F>),
    /// The connection is over, and its ports are kept from being used again before then.
    TimeWait(Instant),
}

/// What the table says about a packet.
#[derive(Debug)]
pub(crate) enum Found<F> {
    Flow(Arc<F>),
    Listener(Arc<Mailbox<F>>),
    /// The connection is over, and its ports rest.
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
    /// Whom a packet with `key` is for at `now`; only a Request is for a listener.
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

    /// Who listens on a port.
    pub(crate) fn listener(&self, port: u16) -> Option<Arc<Mailbox<F>>> {
        self.listeners.get(&port).map(Arc::clone)
    }

    /// Enters a connection, and answers the one whose place it takes.
    pub(crate) fn insert(&mut self, key: Key, flow: Arc<F>) -> Option<Arc<F>> {
        match self.slots.insert(key, Slot::Live(flow)) {
            Some(Slot::Live(before)) => Some(before),
            Some(Slot::TimeWait(_)) | None => {
                self.live += 1;
                None
            }
        }
    }

    /// Forgets a connection that is over, unless another has its place; its ports rest until
    /// `time_wait`.
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

    /// Takes no new connections from now on; says who listened.
    pub(crate) fn close(&mut self) -> Vec<Arc<Mailbox<F>>> {
        self.is_closing = true;
        self.listeners.drain().map(|(_, mailbox)| mailbox).collect()
    }

    /// Forgets all flows, and which ports rest.
    pub(crate) fn clear(&mut self) {
        self.slots.clear();
        self.live = 0;
        self.time_waits.clear();
    }

    pub(crate) const fn is_closing(&self) -> bool {
        self.is_closing
    }

    pub(crate) fn flows(&self) -> Vec<Arc<F>> {
        let live = |slot: &Slot<F>| match slot {
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

    /// A table, and two connections that are between the same ports.
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
