//! Both ends of a DCCP connection on this host. The book's page "Sockets in Rust" shows the whole
//! program.

use std::error::Error;
use std::net::Ipv4Addr;

use skywave::net::{Connection, Endpoint, EndpointConfig, Peer};
use skywave::transport::dccp::Config;

/// Sends datagrams, and waits until the peer has confirmed the end.
async fn send(connection: Connection, datagrams: usize) -> Result<(), Box<dyn Error>> {
    let size = connection.max_datagram_size().min(1000);
    for _ in 0..datagrams {
        connection.send(vec![0; size]).await?;
    }
    connection.close().await?;
    Ok(())
}

/// Receives until the peer closes, and returns how many datagrams arrived.
async fn receive(connection: Connection) -> Result<usize, Box<dyn Error>> {
    let mut arrived = 0;
    while connection.recv().await?.is_some() {
        arrived += 1;
    }
    Ok(arrived)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let server = Endpoint::udp((Ipv4Addr::LOCALHOST, 0).into(), EndpointConfig::default())?;
    let listener = server.listen(5001, Config::default())?;

    let client = Endpoint::udp((Ipv4Addr::LOCALHOST, 0).into(), EndpointConfig::default())?;
    let peer = Peer {
        address: server.local_address(),
        port: 5001,
    };
    let connecting = client.connect(peer, Config::default());
    let (outgoing, incoming) = tokio::join!(connecting, listener.accept());

    let (sent, arrived) = tokio::join!(send(outgoing?, 1000), receive(incoming?));
    sent?;
    println!("{} of 1000 datagrams arrived", arrived?);
    Ok(())
}
