//! Sending packets, with a backlog for a full socket.

use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::ops::ControlFlow;
use std::task::{Context, Poll};

use skywave_transport::Transmit;
use skywave_transport::dccp::{Outlet, Train};
use skywave_wire::dccp::Packet;
use skywave_wire::{Checksum, Ecn};

use crate::counters::Counters;
use crate::path::Path;
use crate::sync::{AtomicBool, Mutex, Ordering, locked};
use crate::system::batch::Batch;
use crate::system::socket::{Room, Socket};

/// How many emptied batches are kept for reuse.
const SPARE: usize = 8;

/// Sends batches from any thread, and keeps those for which the socket has no room.
#[derive(Debug, Default)]
pub(crate) struct Sender {
    spare: Mutex<Vec<Batch>>,
    backlog: Mutex<Backlog>,
    /// Whether there is a backlog.
    is_blocked: AtomicBool,
}

#[derive(Debug, Default)]
struct Backlog {
    /// Batches that found the socket full, oldest first. Nothing overtakes them.
    batches: VecDeque<(Path, Batch)>,
    /// Notifies of room in the socket.
    room: Option<Room>,
}

impl Sender {
    /// Sends all packets that `hand_over` puts into its outlet, which breaks when the socket is
    /// full. Returns false in that case.
    pub(crate) fn send_all(
        &self,
        socket: &Socket,
        path: &Path,
        counters: &Counters,
        hand_over: impl FnOnce(&mut Outgoing<'_>) -> ControlFlow<()>,
    ) -> bool {
        if self.is_blocked.load(Ordering::Acquire) {
            return false;
        }
        let mut outgoing = Outgoing {
            sender: self,
            socket,
            path,
            counters,
            checksum: path.checksum(socket.local.encapsulation),
            max_segments: socket.max_segments(),
            batch: None,
        };
        let is_full = hand_over(&mut outgoing).is_break();
        let Some(mut batch) = outgoing.batch else {
            return true;
        };
        if is_full {
            self.hold(path, batch);
            return false;
        }
        let drained = self.send(socket, path, counters, &mut batch);
        let mut spare = locked(&self.spare);
        if spare.len() < SPARE {
            spare.push(batch);
        }
        drained
    }

    /// Sends `batch` and empties it. Returns false if it had to be added to the backlog.
    fn send(&self, socket: &Socket, path: &Path, counters: &Counters, batch: &mut Batch) -> bool {
        if batch.is_empty() {
            return true;
        }
        let count = batch.count();
        match socket.send(path, batch) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                // Some packets may have left already.
                counters.sent(count - batch.count());
                self.hold(path, core::mem::take(batch));
                return false;
            }
            Err(_) if batch.count() > 1 => {
                // Segmentation may have failed: send the packets individually.
                counters.send_errors(socket.send_singly(path, batch));
            }
            Err(_) => counters.send_errors(1),
            Ok(()) => {}
        }
        counters.sent(count);
        batch.clear();
        true
    }

    fn hold(&self, path: &Path, batch: Batch) {
        let mut backlog = locked(&self.backlog);
        if !batch.is_empty() {
            backlog.batches.push_back((*path, batch));
        }
        self.is_blocked.store(true, Ordering::Release);
    }

    /// Sends the backlog as the socket gets room. Ready once it is empty.
    pub(crate) fn poll_backlog(
        &self,
        context: &mut Context<'_>,
        socket: &Socket,
        counters: &Counters,
    ) -> Poll<()> {
        if !self.is_blocked.load(Ordering::Acquire) {
            return Poll::Ready(());
        }
        let mut backlog = locked(&self.backlog);
        let Backlog { batches, room } = &mut *backlog;
        while let Some((path, batch)) = batches.front_mut() {
            let count = batch.count();
            match poll_send(context, socket, room, path, batch) {
                Poll::Pending => {
                    counters.sent(count - batch.count());
                    return Poll::Pending;
                }
                Poll::Ready(Ok(())) => {}
                Poll::Ready(Err(_)) => counters.send_errors(socket.send_singly(path, batch)),
            }
            counters.sent(count);
            batches.pop_front();
        }
        *room = None;
        self.is_blocked.store(false, Ordering::Release);
        Poll::Ready(())
    }
}

/// An outlet that batches packets.
#[derive(Debug)]
pub(crate) struct Outgoing<'a> {
    sender: &'a Sender,
    socket: &'a Socket,
    path: &'a Path,
    counters: &'a Counters,
    checksum: Checksum,
    max_segments: usize,
    batch: Option<Batch>,
}

impl Outgoing<'_> {
    fn batch(&mut self) -> &mut Batch {
        self.batch
            .get_or_insert_with(|| locked(&self.sender.spare).pop().unwrap_or_default())
    }

    /// Sends the batch. Breaks if the socket is full.
    fn send(&mut self) -> ControlFlow<()> {
        let batch = self.batch.get_or_insert_default();
        if self
            .sender
            .send(self.socket, self.path, self.counters, batch)
        {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    }

    /// Appends `packet` to the batch. Returns whether it fitted.
    fn push(&mut self, packet: &Packet, ecn: Ecn) -> bool {
        let (checksum, max_segments) = (self.checksum, self.max_segments);
        let pushed = self.batch().push(packet, ecn, checksum, max_segments);
        pushed.unwrap_or_else(|_| {
            // The peer sees this as a loss.
            self.counters.send_errors(1);
            true
        })
    }
}

impl Outlet for Outgoing<'_> {
    fn packet(&mut self, Transmit { ecn, packet }: Transmit<Packet>) -> ControlFlow<()> {
        if self.push(&packet, ecn) {
            return ControlFlow::Continue(());
        }
        let step = self.send();
        self.push(&packet, ecn);
        step
    }

    #[inline]
    fn train(&mut self, train: &mut Train<'_>) -> ControlFlow<()> {
        loop {
            let (checksum, max_segments) = (self.checksum, self.max_segments);
            match self.batch().extend(train, checksum, max_segments) {
                Ok(true) => self.send()?,
                Ok(false) => return ControlFlow::Continue(()),
                Err(_) => self.counters.send_errors(1),
            }
        }
    }
}

/// Sends `batch` once there is room. Starts watching for room at the first call.
fn poll_send(
    context: &mut Context<'_>,
    socket: &Socket,
    room: &mut Option<Room>,
    path: &Path,
    batch: &mut Batch,
) -> Poll<io::Result<()>> {
    let room = match room {
        Some(room) => room,
        None => room.insert(socket.room()?),
    };
    socket.poll_send(context, room, path, batch)
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::net::Ipv4Addr;

    use skywave_units::Bytes;

    use super::*;
    use crate::config::EndpointConfig;
    use crate::system::batch::tests::data;
    use crate::system::socket::within::{in_namespace, iproute2, skipped};

    fn packet() -> Transmit<Packet> {
        Transmit {
            ecn: Ecn::Ect0,
            packet: data(1_000),
        }
    }

    /// Offers one packet to send.
    fn one(outgoing: &mut Outgoing<'_>) -> ControlFlow<()> {
        outgoing.packet(packet())
    }

    async fn full_socket() {
        let open = |send_buffer| {
            let config = EndpointConfig {
                send_buffer,
                ..EndpointConfig::default()
            };
            Socket::udp((Ipv4Addr::LOCALHOST, 0).into(), &config).unwrap()
        };
        let (here, there) = (open(Some(Bytes::new(1))), open(None));
        let (sender, counters) = (Sender::default(), Counters::default());
        let path = Path {
            local: here.local.address.ip(),
            peer: there.local.address,
        };
        let mut sent = 0;
        loop {
            sent += 1;
            if !sender.send_all(&here, &path, &counters, one) {
                break;
            }
            assert!(sent < 1_000, "the socket is never full");
        }
        assert!(!sender.send_all(&here, &path, &counters, one));

        poll_fn(|context| sender.poll_backlog(context, &here, &counters)).await;
        assert!(sender.send_all(&here, &path, &counters, |_| ControlFlow::Continue(())));
        let (mut incoming, mut received) = (there.incoming(), 0);
        while received < sent {
            poll_fn(|context| there.poll_receive(context, &mut incoming))
                .await
                .unwrap();
            incoming.for_each(|arrival| received += arrival.count());
        }
        assert_eq!(received, sent);
    }

    /// Needs a network with a delay, which loopback alone does not have.
    #[test]
    fn what_finds_the_socket_full_leaves_when_there_is_room() {
        in_namespace(&[], || async {
            match slow_loopback() {
                Ok(()) => full_socket().await,
                Err(reason) => skipped(reason),
            }
        });
    }

    fn slow_loopback() -> Result<(), String> {
        let shaper = "qdisc add dev lo root tbf rate 10mbit burst 5kb latency 1s";
        iproute2("tc", &shaper.split(' ').collect::<Vec<_>>())
    }
}
