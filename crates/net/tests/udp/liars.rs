//! Peers that acknowledge packets that they have not received.

use std::net::{Ipv4Addr, SocketAddr};

use bytes::Bytes;
use skywave_net::{ConnectionError, Peer};
use skywave_wire::Checksum;
use skywave_wire::dccp::{DccpOption, OptionType, Packet, ResetCode};
use tokio::net::UdpSocket;

use crate::{PORT, endpoint, quick, soon};

/// Relays between a sender and `receiver`, and changes the receiver's Ack Vectors to say that
/// everything has arrived.
async fn lie_for(receiver: SocketAddr) -> SocketAddr {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = socket.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut buffer, mut sender) = ([0; 2_048], None);
        while let Ok((length, from)) = socket.recv_from(&mut buffer).await {
            let bytes = &buffer[..length];
            if from == receiver {
                let lie = optimistic(Bytes::copy_from_slice(bytes));
                socket.send_to(&lie, sender.unwrap()).await.unwrap();
            } else {
                sender = Some(from);
                socket.send_to(bytes, receiver).await.unwrap();
            }
        }
    });
    address
}

fn optimistic(bytes: Bytes) -> Vec<u8> {
    let mut packet = Packet::parse(&bytes, Checksum::Ignored).unwrap();
    packet.options = packet.options.iter().map(received).collect();
    packet.to_bytes(Checksum::Ignored).unwrap().to_vec()
}

/// An Ack Vector with the state of every cell changed to "received"; other options are unchanged.
fn received(option: &DccpOption) -> DccpOption {
    match option {
        DccpOption::AckVector { cells, .. } => {
            let cells: Vec<u8> = cells.iter().map(|cell| cell & 0x3f).collect();
            DccpOption::parse(OptionType::ACK_VECTOR_0, &cells)
        }
        other => other.clone(),
    }
}

/// RFC 9000 section 21.4, on DCCP: sequence numbers are skipped, and a peer that acknowledges two of
/// them is reset.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_peer_that_acknowledges_too_much_is_reset() {
    let (client, server) = (endpoint(), endpoint());
    let listener = server.listen(PORT, quick()).unwrap();
    let address = lie_for(server.local_address()).await;
    let peer = Peer {
        address,
        port: PORT,
    };
    let connecting = client.connect(peer, quick());
    let (sender, receiver) = soon(async { tokio::join!(connecting, listener.accept()) }).await;
    let (sender, receiver) = (sender.unwrap(), receiver.unwrap());
    let reading = tokio::spawn(async move {
        while let Ok(Some(_)) = receiver.recv().await {}
        receiver.closed().await
    });
    let end = soon(async {
        while sender.send("too fast?").await.is_ok() {}
        sender.closed().await
    });
    let code = ResetCode::AGGRESSION_PENALTY;
    assert_eq!(end.await, ConnectionError::Violation { code });
    assert_eq!(
        soon(reading).await.unwrap(),
        ConnectionError::Reset { code }
    );
}
