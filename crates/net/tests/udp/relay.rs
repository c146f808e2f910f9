//! A middlebox between a client and a server.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::net::UdpSocket;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// Forwards datagrams between one client and one server, like port forwarding.
pub(crate) struct Relay {
    /// The address at which the client reaches the server.
    pub(crate) address: SocketAddr,
    server: watch::Sender<SocketAddr>,
    longest: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl Relay {
    pub(crate) async fn to(server: SocketAddr) -> Self {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = socket.local_addr().unwrap();
        let (sender, target) = watch::channel(server);
        let longest = Arc::new(AtomicUsize::new(usize::MAX));
        let limit = Arc::clone(&longest);
        let task = tokio::spawn(async move {
            let mut buffer = [0; 2_048];
            let mut client = None;
            while let Ok((length, from)) = socket.recv_from(&mut buffer).await {
                let server = *target.borrow();
                let to = if from == server {
                    client
                } else {
                    client = Some(from);
                    Some(server)
                };
                let fits = length <= limit.load(Ordering::Relaxed);
                if let Some(to) = to.filter(|_| fits) {
                    socket.send_to(&buffer[..length], to).await.unwrap();
                }
            }
        });
        Self {
            address,
            server: sender,
            longest,
            task,
        }
    }

    /// Silently drops datagrams that are longer than this.
    pub(crate) fn limit(&self, longest: usize) {
        self.longest.store(longest, Ordering::Relaxed);
    }

    /// Stops forwarding.
    pub(crate) async fn stop(self) {
        self.task.abort();
        // It was aborted, so there is no result.
        let _ = self.task.await;
    }

    /// Forwards to another server from now on.
    pub(crate) fn redirect(&self, server: SocketAddr) {
        self.server.send(server).unwrap();
    }
}
