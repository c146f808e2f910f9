//! Handles the ends of flows: passes packets and time to hosts, and lets applications read and
//! write.

use skywave_transport::Driven;
use skywave_transport::dccp::Connection;
use skywave_transport::peer::Peer;
use skywave_transport::tcp::Sender;
use skywave_units::Instant;
use skywave_wire::Ecn;
use skywave_wire::quick_start::QuickStart;

use super::World;
use super::plane::Plane;
use crate::world::application::Application;
use crate::world::datagrams::Datagrams;
use crate::world::host::Host;
use crate::world::ids::HostId;
use crate::world::observe::{Chronicle, Observer};
use crate::world::packet::Body;

impl<O: Observer + Chronicle, W: World> Plane<O, W> {
    /// Passes a packet to its host if it is not a bare segment, or is for one of several
    /// connections. Separate, so that the path of bare segments is specialized: without options,
    /// most of an endpoint's processing of a segment is optimized away. `option` is the Quick-Start
    /// option of its IP header, with the IP TTL. A host ignores a packet of a protocol that it does
    /// not speak.
    #[inline(never)]
    pub(super) fn receive_apart(
        &mut self,
        now: Instant,
        to: HostId,
        ecn: Ecn,
        host: &mut Host,
        body: Body,
        option: Option<(QuickStart, u8)>,
    ) {
        match (host, body) {
            (Host::TcpSender(sender), Body::Tcp(segment)) => {
                sender.receive(now, ecn, *segment, |drain| self.drain(to, drain));
            }
            (Host::TcpSender(sender), Body::Bare(bare)) => {
                sender.receive(now, ecn, bare.into(), |drain| self.drain(to, drain));
            }
            (Host::TcpReceiver(receiver), Body::Tcp(segment)) => {
                receiver.receive(now, ecn, *segment, |drain| self.drain(to, drain));
            }
            (Host::TcpReceiver(receiver), Body::Bare(bare)) => {
                receiver.receive(now, ecn, bare.into(), |drain| self.drain(to, drain));
            }
            (Host::Dccp(connection), Body::Dccp(packet)) => {
                let Some((option, ttl)) = option else {
                    connection.receive(now, ecn, *packet, |drain| self.drain(to, drain));
                    return;
                };
                let receive = |connection: &mut Connection| {
                    connection.receive_with_quick_start(now, ecn, *packet, option, ttl);
                };
                connection.apply(now, receive, |drain| self.drain(to, drain));
            }
            (Host::Other(peer), Body::Udp(datagram)) => {
                peer.receive(now, ecn, *datagram, |drain| self.drain(to, drain));
            }
            (Host::Successive(end), body) => {
                if let Some(host) = end.addressee(to, &body) {
                    self.receive_apart(now, to, ecn, host, body, option);
                }
            }
            _ => {}
        }
    }

    /// Processes the expired timers of a host.
    pub(super) fn expire(&mut self, now: Instant, id: HostId, host: &mut Host) {
        match host {
            Host::TcpSender(sender) => sender.expire(now, |drain| self.drain(id, drain)),
            Host::TcpReceiver(receiver) => receiver.expire(now, |drain| self.drain(id, drain)),
            Host::Dccp(connection) => connection.expire(now, |drain| self.drain(id, drain)),
            Host::Other(peer) => peer.expire(now, |drain| self.drain(id, drain)),
            Host::Successive(end) => {
                if let Some(host) = end.current() {
                    self.expire(now, id, host);
                }
            }
            // The kernel has its own timers.
            Host::Kernel(_) | Host::Elsewhere => {}
        }
    }

    /// Lets a sending application act.
    pub(super) fn act(
        &mut self,
        now: Instant,
        id: HostId,
        host: &mut Host,
        application: &mut Application,
    ) {
        match host {
            Host::TcpSender(sender) => {
                let write = |sender: &mut Sender| application.act(now, sender);
                sender.apply(now, write, |drain| self.drain(id, drain));
            }
            Host::Dccp(connection) => {
                let send = |connection: &mut Connection| application.act(now, connection);
                connection.apply(now, send, |drain| self.drain(id, drain));
            }
            Host::Other(peer) => {
                let send = |peer: &mut Box<dyn Peer>| application.act(now, peer);
                peer.apply(now, send, |drain| self.drain(id, drain));
            }
            Host::Successive(end) => match end.current() {
                Some(host) => self.act(now, id, host, application),
                None => application.rest(),
            },
            Host::Kernel(end) => {
                application.act(now, &mut **end);
                self.world.supply(id, end.supply());
            }
            Host::TcpReceiver(_) | Host::Elsewhere => application.rest(),
        }
    }

    /// Lets the application of a datagram transport read and write until it has nothing to do.
    #[inline(never)]
    pub(super) fn serve(
        &mut self,
        now: Instant,
        id: HostId,
        host: &mut Host,
        application: &mut Application,
    ) {
        match host {
            Host::Dccp(connection) => self.read_and_refill(now, id, connection, application),
            Host::Other(peer) => self.read_and_refill(now, id, peer, application),
            Host::Successive(end) => {
                if let Some(host) = end.current() {
                    self.serve(now, id, host, application);
                }
            }
            Host::TcpSender(_) | Host::TcpReceiver(_) | Host::Kernel(_) | Host::Elsewhere => {}
        }
    }

    fn read_and_refill<E>(
        &mut self,
        now: Instant,
        host: HostId,
        transport: &mut Driven<E>,
        application: &mut Application,
    ) where
        E: Datagrams,
        E::Packet: Into<Body>,
    {
        let is_sender = host.is_sender();
        loop {
            let read_and_refill = |transport: &mut E| {
                let may_send = transport.read();
                let filled = if is_sender {
                    application.refill(now, transport)
                } else {
                    0
                };
                (may_send || filled > 0).then_some(filled)
            };
            match transport.try_apply(now, read_and_refill, |drain| self.drain(host, drain)) {
                None | Some((0, ())) => break,
                Some(_) => {}
            }
        }
    }
}
