//! The task that drives a shard of an endpoint: receives packets and runs timers.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};

use skywave_units::Duration;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use tracing::debug;

use crate::error::ConnectionError;
use crate::flow::{Flow, Shared};
use crate::shared::shard::Shard;
use crate::sync::{Ordering, locked};
use crate::system::incoming::Incoming;
use crate::system::network_error::NetworkError;

/// The maximum number of reads per turn, before other tasks get theirs.
const READS: usize = 8;
/// How long to wait if every read fails, for example while the system lacks memory.
const PAUSE: Duration = Duration::from_millis(10);
/// The maximum number of packets per turn, apart from those of the last read. Less than a
/// connection's default receive queue, so that its reader runs in time.
const INTAKE: u64 = 64;
/// The number of network errors that may wait for the driver. The system keeps the others.
const REPORTS: usize = 64;

/// Drives a shard of an endpoint until the endpoint has neither handles nor connections.
#[derive(Debug)]
pub(crate) struct Driver {
    shared: Arc<Shared>,
    /// The number of its shard.
    number: usize,
    incoming: Incoming,
    /// Always empty between uses; kept for its memory.
    flows: Vec<Arc<Flow>>,
    /// What the network reports, from `reader`.
    reports: mpsc::Receiver<NetworkError>,
    /// The task that reads it.
    reader: AbortHandle,
    /// Reports to heed once everything that arrived before them has been read: a peer may have
    /// answered before it closed its port.
    reported: Vec<NetworkError>,
}

/// The action after a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    /// Run another turn after other tasks have run.
    More,
    /// Stop: there are neither handles nor connections.
    Last,
}

impl Driver {
    pub(crate) fn new(shared: &Arc<Shared>, number: usize, runtime: &Handle) -> Self {
        let (sender, reports) = mpsc::channel(REPORTS);
        let read = Arc::clone(shared);
        let reader = runtime.spawn(async move {
            let socket = &read.shards[number].socket;
            while socket.network_errors(&sender).await.is_ok() {}
        });
        Self {
            incoming: shared.shards[number].socket.incoming(),
            shared: Arc::clone(shared),
            number,
            flows: Vec::new(),
            reports,
            reader: reader.abort_handle(),
            reported: Vec::new(),
        }
    }

    pub(crate) async fn run(mut self) {
        while poll_fn(|context| self.turn(context)).await == Turn::More {
            // Do not wake this task directly: on a single-threaded runtime, dozens of turns would
            // pass before the task that the runtime blocks on, which may be the reader.
            tokio::task::yield_now().await;
        }
    }

    fn shard(&self) -> &Shard<Flow> {
        &self.shared.shards[self.number]
    }

    /// Does the work available now; pending if there is none.
    fn turn(&mut self, context: &mut Context<'_>) -> Poll<Turn> {
        self.shard().pending.driven_by(context.waker());
        let may_send = self.send_backlog(context);
        let has_reports = self.take_reports(context);
        let has_more = self.receive(context);
        if !has_more {
            self.heed_reports();
        }
        self.expire(context);
        if may_send {
            self.flush();
        }
        if self.is_done() {
            return Poll::Ready(Turn::Last);
        }
        // If there is a backlog, room in the socket wakes the driver; otherwise handle what this
        // turn has produced.
        if has_more || has_reports || (may_send && !self.shard().pending.is_empty()) {
            return Poll::Ready(Turn::More);
        }
        Poll::Pending
    }

    /// Sends the backlog. Returns whether new packets may be sent.
    fn send_backlog(&self, context: &mut Context<'_>) -> bool {
        let Shard { sender, socket, .. } = self.shard();
        let counters = &self.shared.counters;
        sender.poll_backlog(context, socket, counters).is_ready()
    }

    /// Takes network errors that have been read. Returns whether there may be more.
    fn take_reports(&mut self, context: &mut Context<'_>) -> bool {
        if !self.reported.is_empty() {
            return true;
        }
        let taken = self
            .reports
            .poll_recv_many(context, &mut self.reported, REPORTS);
        matches!(taken, Poll::Ready(1..))
    }

    fn heed_reports(&mut self) {
        for report in self.reported.drain(..) {
            self.shared.network_error(&report);
        }
    }

    /// Reads the packets that have arrived. Returns whether there may be more.
    fn receive(&mut self, context: &mut Context<'_>) -> bool {
        let (mut intake, mut errors) = (0, 0);
        for _ in 0..READS {
            let Shared { shards, clock, .. } = &*self.shared;
            let Shard { socket, timers, .. } = &shards[self.number];
            match socket.poll_receive(context, &mut self.incoming) {
                Poll::Pending => return false,
                // Most errors concern a packet that was sent, not the socket: read again.
                Poll::Ready(Err(error)) => {
                    errors += 1;
                    if errors == READS {
                        debug!(%error, "cannot receive");
                        timers.wake_by(clock.now() + PAUSE);
                        return false;
                    }
                    continue;
                }
                Poll::Ready(Ok(())) => {}
            }
            let now = clock.now();
            let mut count = 0;
            let (shared, received) = (&self.shared, &mut self.flows);
            self.incoming.for_each(|arrival| {
                count += arrival.count() as u64;
                shared.dispatch(now, arrival, received);
            });
            // Answer once for the whole read. This causes fewer acknowledgements, each of which
            // permits a larger batch of packets.
            for flow in received.drain(..) {
                flow.answer(now);
            }
            shared.counters.received(count);
            intake += count;
            if intake >= INTAKE {
                break;
            }
        }
        true
    }

    fn expire(&mut self, context: &mut Context<'_>) {
        // Poll until pending, so that the alarm wakes this task.
        let timers = &self.shared.shards[self.number].timers;
        while timers.poll(context).is_ready() {
            let now = self.shared.clock.now();
            timers.take_due(now, &mut self.flows);
            for flow in self.flows.drain(..) {
                flow.expire(now);
            }
        }
    }

    fn flush(&mut self) {
        let pending = &self.shared.shards[self.number].pending;
        pending.take(&mut self.flows);
        for flow in self.flows.drain(..) {
            flow.flush(self.shared.clock.now());
        }
    }

    fn is_done(&self) -> bool {
        self.shared.is_orphaned.load(Ordering::Acquire) && locked(&self.shared.table).live() == 0
    }
}

impl Drop for Driver {
    /// Wakes the tasks that wait for packets, and releases the socket: the runtime is shutting
    /// down, or everything is over.
    fn drop(&mut self) {
        self.reader.abort();
        for flow in self.shared.close() {
            // The peer learns of this if the socket has room for another packet.
            flow.abort(ConnectionError::EndpointClosed);
            flow.discard();
        }
        locked(&self.shared.table).clear();
        self.shared.closing.clear();
        let Shard {
            timers, pending, ..
        } = &self.shared.shards[self.number];
        timers.clear();
        pending.take(&mut self.flows);
        self.shared.fewer.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
    use std::task::Waker;

    use skywave_transport::dccp;
    use skywave_transport::session::Session;
    use skywave_wire::Checksum;
    use skywave_wire::dccp::Packet;

    use super::*;
    use crate::EndpointConfig;
    use crate::handles::connection::Connection;
    use crate::path::{Key, Path};
    use crate::shared::random_generator;
    use crate::shared::table::Opened;
    use crate::system::clock::Clock;
    use crate::system::socket::Socket;
    use crate::system::socket::tests::unreadable;

    /// Returns the driver of an endpoint with this socket. It has a turn when the test says so.
    fn driver(socket: Socket) -> Driver {
        let (clock, local) = (Clock::new(), socket.local);
        let shards = [Shard::new(socket, clock).unwrap()].into();
        let config = EndpointConfig::default();
        let shared = Arc::new(Shared::new(clock, local, shards, config).unwrap());
        Driver::new(&shared, 0, &Handle::current())
    }

    fn turn(driver: &mut Driver) -> Poll<Turn> {
        driver.turn(&mut Context::from_waker(Waker::noop()))
    }

    /// The driver pauses if every read fails: otherwise it would take up a processor.
    #[tokio::test]
    async fn a_socket_that_only_fails_is_read_now_and_then() {
        let mut driver = driver(unreadable().await);
        assert!(turn(&mut driver).is_pending());
        let shared = Arc::clone(&driver.shared);
        poll_fn(|context| shared.shards[0].timers.poll(context)).await;
        assert!(turn(&mut driver).is_pending());
    }

    /// Begins a connection to a peer, with a Request.
    fn connect(shared: &Arc<Shared>, peer: SocketAddr) -> Arc<Flow> {
        let path = Path {
            local: Ipv4Addr::LOCALHOST.into(),
            peer,
        };
        let key = Key {
            path,
            local_port: 40_000,
            remote_port: 5_001,
        };
        let (now, random) = (shared.clock.now(), random_generator().unwrap());
        let config = Arc::new(dccp::Config::default());
        let client = dccp::Connection::client(config, 40_000, 5_001, now, random);
        let flow = Flow::new(shared, key, None, Session::new(client), None);
        let _ = locked(&shared.table).insert(key, Arc::clone(&flow), Opened::Here);
        flow.flush(now);
        flow
    }

    /// A peer that answers and exits makes the host report its port as closed to whatever is sent
    /// later. The answer arrived first.
    #[tokio::test]
    async fn what_arrived_before_a_report_counts_first() {
        let address = (Ipv4Addr::LOCALHOST, 0).into();
        let socket = Socket::udp(address, &EndpointConfig::default()).unwrap();
        let mut driver = driver(socket);
        let shared = Arc::clone(&driver.shared);
        let peer = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let flow = connect(&shared, peer.local_addr().unwrap());
        let connection = Connection::new(Arc::clone(&flow));

        let mut bytes = vec![0; 2_048];
        let (length, client) = peer.recv_from(&mut bytes).unwrap();
        bytes.truncate(length);
        let request = Packet::read(bytes.into(), Checksum::Ignored).unwrap();
        let refusal = locked(&shared.door).reset_stray(shared.clock.now(), &request);
        let Some(dccp::Action::Reply(refusal)) = refusal else {
            panic!("{refusal:?}");
        };
        let mut bytes = Vec::new();
        refusal.packet.emit(Checksum::Ignored, &mut bytes).unwrap();
        peer.send_to(&bytes, client).unwrap();
        drop(peer);
        // The second Request finds nobody.
        flow.expire(shared.clock.now() + Duration::from_secs(2));
        while shared.counters.stats().network_errors == 0 {
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
            let _ = turn(&mut driver);
        }
        assert_eq!(
            connection.established().await,
            Err(ConnectionError::Refused)
        );
    }
}
