//! Paths that drop or clear ECN-capable packets.

use std::io::{self, IoSliceMut};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use quinn_udp::{EcnCodepoint, RecvMeta, Transmit, UdpSocketState};
use skywave_net::Peer;
use tokio::io::Interest;
use tokio::net::UdpSocket;

use crate::{PORT, endpoint, endpoint_with, peer, quick, soon};

/// The treatment of packets with ECT on a path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Treatment {
    Carries,
    Drops,
    Clears,
}

/// Forwards datagrams and their ECN bits between a client and `server`. Returns where the client
/// reaches it, and a count of the forwarded packets with ECT.
async fn relay(treatment: Treatment, server: SocketAddr) -> (SocketAddr, Arc<AtomicU64>) {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = socket.local_addr().unwrap();
    let count = Arc::new(AtomicU64::new(0));
    let capable = Arc::clone(&count);
    tokio::spawn(async move {
        let state = UdpSocketState::new((&socket).into()).unwrap();
        let mut client = None;
        loop {
            let mut buffer = [0; 65_536];
            let mut metas = [RecvMeta::default()];
            let receive = || {
                let mut slices = [IoSliceMut::new(&mut buffer)];
                state.recv((&socket).into(), &mut slices, &mut metas)
            };
            socket.readable().await.unwrap();
            match socket.try_io(Interest::READABLE, receive) {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
                Err(error) => panic!("{error}"),
            }
            let [meta] = metas;
            let is_ect = meta.ecn.is_some();
            if is_ect && treatment == Treatment::Drops {
                continue;
            }
            let ecn: Option<EcnCodepoint> = meta.ecn.filter(|_| treatment == Treatment::Carries);
            capable.fetch_add(u64::from(ecn.is_some()), Ordering::Relaxed);
            let destination = if meta.addr == server {
                client.unwrap()
            } else {
                client = Some(meta.addr);
                server
            };
            for datagram in buffer[..meta.len].chunks(meta.stride) {
                let transmit = Transmit {
                    destination,
                    ecn,
                    contents: datagram,
                    segment_size: None,
                    src_ip: None,
                };
                state.try_send((&socket).into(), &transmit).unwrap();
            }
        }
    });
    (address, count)
}

/// D12-1: ECN is used where the path carries it. Where ECT is dropped, the second Request connects
/// without it; where it is cleared, nothing is lost.
#[tokio::test]
async fn d12_1_ecn_is_used_where_the_path_carries_it() {
    for treatment in [Treatment::Carries, Treatment::Drops, Treatment::Clears] {
        // Every other server stores no half-open handshake, and answers with cookies.
        for half_open in [256, 0] {
            let there = endpoint_with(skywave_net::EndpointConfig {
                half_open,
                ..Default::default()
            });
            let here = endpoint();
            let listener = there.listen(PORT, quick()).unwrap();
            let (address, capable) = relay(treatment, there.local_address()).await;
            let target = Peer {
                address,
                ..peer(&there)
            };
            let connecting = here.connect(target, quick());
            let (client, server) =
                soon(async { tokio::join!(connecting, listener.accept()) }).await;
            let (client, server) = (client.unwrap(), server.unwrap());
            let before = capable.load(Ordering::Relaxed);
            for index in 0..5u8 {
                for (from, to) in [(&client, &server), (&server, &client)] {
                    from.send(vec![index]).await.unwrap();
                    let datagram = soon(to.recv()).await.unwrap().unwrap();
                    assert_eq!(datagram.data[..], [index]);
                }
            }
            let after = capable.load(Ordering::Relaxed);
            assert_eq!(after > before, treatment == Treatment::Carries);
        }
    }
}
