//! The part of an endpoint that one driver serves: a socket, and the connections that use it.
//!
//! The sockets of an endpoint over UDP are bound to the same address (`SO_REUSEPORT`), and a filter
//! in the kernel chooses one for each datagram by the DCCP ports in it. All packets of a connection
//! therefore arrive at one socket, and connections between the same two UDP ports are distributed
//! too. This only saves time. A packet that arrives at another socket, because the system has
//! joined packets of several connections or does not support such filters, still reaches its
//! connection.

use std::net::SocketAddr;
use std::thread;

use nix::libc;
use nix::sys::socket::{setsockopt, sockopt};
use tracing::debug;

use crate::config::{EndpointConfig, MAX_SHARDS};
use crate::error::OpenError;
use crate::shared::pending::Pending;
use crate::shared::timers::Timers;
use crate::system::alarm::Alarm;
use crate::system::clock::Clock;
use crate::system::sender::Sender;
use crate::system::socket::Socket;

/// A socket, with the sending and the timers of its connections.
#[derive(Debug)]
pub(crate) struct Shard<F> {
    pub(crate) socket: Socket,
    pub(crate) sender: Sender,
    pub(crate) timers: Timers<F>,
    pub(crate) pending: Pending<F>,
}

impl<F> Shard<F> {
    pub(crate) fn new(socket: Socket, clock: Clock) -> Result<Self, OpenError> {
        Ok(Self {
            socket,
            sender: Sender::default(),
            timers: Timers::new(clock, Alarm::new()?),
            pending: Pending::default(),
        })
    }
}

/// Opens as many UDP sockets at `address` as the configuration requests.
pub(crate) fn udp_sockets(
    address: SocketAddr,
    config: &EndpointConfig,
) -> Result<Vec<Socket>, OpenError> {
    let count = match config.shards {
        0 => thread::available_parallelism().map_or(1, |count| count.get().min(MAX_SHARDS)),
        count => count,
    };
    if count == 1 {
        return Ok(vec![Socket::udp(address, config)?]);
    }
    let sockets = Socket::udp_shared(address, count, config)?;
    if let Err(error) = steer(&sockets[0], count) {
        debug!(%error, "packets are distributed by their addresses alone");
    }
    Ok(sockets)
}

/// Returns which of `count` shards a connection between two DCCP ports belongs to; the same at both
/// ends.
pub(crate) fn home(port: u16, other: u16, count: usize) -> usize {
    (usize::from(port) + usize::from(other)) % count
}

/// Makes the system choose a socket by [`home`], for all sockets that share the address of `socket`.
///
/// The filter (classic BPF) sees the datagram after the UDP header. If the filter fails, as for a
/// datagram that is too short, the system chooses by a hash of the addresses.
fn steer(socket: &Socket, count: usize) -> nix::Result<()> {
    const SOURCE: u32 = 0;
    const DESTINATION: u32 = 2;
    let instruction = |code: u32, k| libc::sock_filter {
        code: code as u16,
        jt: 0,
        jf: 0,
        k,
    };
    let mut program = [
        instruction(libc::BPF_LD | libc::BPF_H | libc::BPF_ABS, SOURCE),
        instruction(libc::BPF_MISC | libc::BPF_TAX, 0),
        instruction(libc::BPF_LD | libc::BPF_H | libc::BPF_ABS, DESTINATION),
        instruction(libc::BPF_ALU | libc::BPF_ADD | libc::BPF_X, 0),
        instruction(libc::BPF_ALU | libc::BPF_MOD | libc::BPF_K, count as u32),
        instruction(libc::BPF_RET | libc::BPF_A, 0),
    ];
    let program = libc::sock_fprog {
        len: program.len() as u16,
        filter: program.as_mut_ptr(),
    };
    setsockopt(socket, sockopt::AttachReusePortCbpf, &program)
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::net::{Ipv4Addr, UdpSocket};
    use std::task::Poll;

    use skywave_transport::dccp::Config;

    use super::*;
    use crate::{Endpoint, Peer};

    const COUNT: usize = 3;

    fn config() -> EndpointConfig {
        EndpointConfig {
            shards: COUNT,
            ..EndpointConfig::default()
        }
    }

    /// The index of the socket at which a datagram arrives.
    async fn arrival(sockets: &[Socket]) -> usize {
        let mut incoming = sockets[0].incoming();
        poll_fn(|context| {
            let has = |socket: &Socket| socket.poll_receive(context, &mut incoming).is_ready();
            let number = sockets.iter().position(has);
            number.map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }

    #[tokio::test]
    async fn packets_arrive_where_their_connection_lives() {
        let sockets = udp_sockets((Ipv4Addr::LOCALHOST, 0).into(), &config()).unwrap();
        assert_eq!(sockets.len(), COUNT);
        let sender = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let send = |bytes: &[u8]| sender.send_to(bytes, sockets[0].local.address).unwrap();
        for (source, destination) in [(0, 1), (1, 1), (5001, 49_152), (65_535, 65_535), (7, 0)] {
            send([source, destination].map(u16::to_be_bytes).as_flattened());
            let home = home(source, destination, COUNT);
            assert_eq!(arrival(&sockets).await, home);
        }
        // What has no ports arrives somewhere.
        send(&[1]);
        arrival(&sockets).await;
    }

    /// Where the system does not support the filter, all packets between two UDP ports arrive at
    /// one socket, which for most of them is another connection's.
    #[tokio::test]
    async fn packets_that_arrive_elsewhere_reach_their_connection() {
        let any = (Ipv4Addr::LOCALHOST, 0).into();
        let open = || Endpoint::over(config(), |config| Socket::udp_shared(any, COUNT, config));
        let (client, server) = (open().unwrap(), open().unwrap());
        let listener = server.listen(5001, Config::default()).unwrap();
        let peer = Peer {
            address: server.local_address(),
            port: 5001,
        };
        let mut connections = Vec::new();
        for number in 0..=u8::MAX {
            let connect = client.connect(peer, Config::default());
            let (ours, theirs) = tokio::join!(connect, listener.accept());
            let (ours, theirs) = (ours.unwrap(), theirs.unwrap());
            ours.send(vec![number]).await.unwrap();
            assert_eq!(*theirs.recv().await.unwrap().unwrap().data, [number]);
            theirs.send(vec![number; 2]).await.unwrap();
            assert_eq!(*ours.recv().await.unwrap().unwrap().data, [number; 2]);
            connections.push((ours, theirs));
        }
        for (ours, theirs) in connections {
            ours.close().await.unwrap();
            assert!(theirs.recv().await.unwrap().is_none());
        }
        client.shutdown().await;
        server.shutdown().await;
    }
}
