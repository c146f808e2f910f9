//! Connecting to a host with several addresses: Happy Eyeballs (RFC 8305).

use std::collections::VecDeque;
use std::future::poll_fn;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::task::Poll;

use skywave_transport::dccp;
use skywave_units::Duration;
use tokio::task::JoinSet;

use crate::config::Peer;
use crate::error::{ConnectError, ConnectionError};
use crate::handles::connection::Connection;
use crate::handles::endpoint::Endpoint;
use crate::system::alarm::{Alarm, OneShot as _};

/// How long an attempt has before the next one begins: the Connection Attempt Delay of RFC 8305
/// section 5.
const ATTEMPT_DELAY: Duration = Duration::from_millis(250);

impl Endpoint {
    /// Connects to a host at any one of its addresses, in the resolver's order of preference. IPv6
    /// and IPv4 alternate. An attempt begins every 250 ms, or as soon as another fails; the first
    /// handshake to complete wins, and the other attempts are aborted (RFC 8305 sections 4 and 5).
    ///
    /// The endpoint should support both IP versions, as one at the address `::` does. Cancelling
    /// aborts all attempts.
    ///
    /// # Errors
    ///
    /// See [`ConnectError`]. If all attempts fail, the error is that of the most preferred address
    /// at which something answered, or that of the most preferred address if nothing did.
    pub async fn connect_any(
        &self,
        peers: impl IntoIterator<Item = Peer>,
        config: impl Into<Arc<dccp::Config>>,
    ) -> Result<Connection, ConnectError> {
        let config = config.into();
        let mut waiting: VecDeque<_> = alternating(peers).into_iter().enumerate().collect();
        let alarm = Alarm::new().map_err(ConnectError::Timer)?;
        // Dropping the set aborts the attempts in it.
        let mut attempts = JoinSet::new();
        let mut failures = Vec::new();
        loop {
            if let Some((rank, peer)) = waiting.pop_front() {
                let (endpoint, config) = (self.clone(), Arc::clone(&config));
                attempts.spawn(async move { (rank, endpoint.connect(peer, config).await) });
                alarm.set(ATTEMPT_DELAY).map_err(ConnectError::Timer)?;
            }
            let ended = poll_fn(|context| match attempts.poll_join_next(context) {
                Poll::Pending if !waiting.is_empty() => alarm.poll_fired(context).map(|()| None),
                ended => ended.map(Some),
            });
            match ended.await {
                // The next attempt is due.
                None => {}
                Some(Some(Ok((_, Ok(connection))))) => return Ok(connection),
                Some(Some(Ok((rank, Err(error))))) => failures.push((rank, error)),
                Some(Some(Err(panicked))) => resume_unwind(panicked.into_panic()),
                Some(None) => return Err(foremost(failures)),
            }
        }
    }
}

/// Orders addresses so that the IP versions alternate, beginning with that of the first (RFC 8305
/// section 4).
fn alternating(peers: impl IntoIterator<Item = Peer>) -> Vec<Peer> {
    let mut peers = peers.into_iter().peekable();
    let first = peers.peek().map(|peer| peer.address.is_ipv6());
    let (one, other): (Vec<_>, Vec<_>) =
        peers.partition(|peer| Some(peer.address.is_ipv6()) == first);
    let (mut one, mut other) = (one.into_iter(), other.into_iter());
    let mut ordered = Vec::new();
    while one.len() + other.len() > 0 {
        ordered.extend(one.next());
        ordered.extend(other.next());
    }
    ordered
}

/// Chooses the error to report, out of the errors of all attempts with their ranks.
fn foremost(failures: Vec<(usize, ConnectError)>) -> ConnectError {
    let answered = |error: &ConnectError| {
        use ConnectionError::{TimedOut, Unreachable};
        matches!(error, ConnectError::Connection(ended) if !matches!(ended, TimedOut | Unreachable))
    };
    failures
        .into_iter()
        .min_by_key(|(rank, error)| (!answered(error), *rank))
        .map_or(ConnectError::NoAddress, |(_, error)| error)
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use super::*;

    fn peer(address: &str) -> Peer {
        let address: SocketAddr = address.parse().expect("an address");
        Peer { address, port: 1 }
    }

    #[test]
    fn ip_versions_alternate_in_order_of_preference() {
        let given = [
            "[::1]:1",
            "[::2]:1",
            "[::3]:1",
            "127.0.0.1:1",
            "127.0.0.2:1",
        ]
        .map(peer);
        let expected = [
            "[::1]:1",
            "127.0.0.1:1",
            "[::2]:1",
            "127.0.0.2:1",
            "[::3]:1",
        ]
        .map(peer);
        assert_eq!(alternating(given), expected);
        let backwards = given.into_iter().rev();
        let expected = [
            "127.0.0.2:1",
            "[::3]:1",
            "127.0.0.1:1",
            "[::2]:1",
            "[::1]:1",
        ]
        .map(peer);
        assert_eq!(alternating(backwards), expected);
        assert_eq!(alternating([]), []);
    }

    #[test]
    fn the_error_is_of_the_most_preferred_address_that_answered() {
        let timed_out = || ConnectError::from(ConnectionError::TimedOut);
        let failures = vec![
            (2, ConnectionError::TooBusy.into()),
            (1, ConnectionError::Refused.into()),
            (0, timed_out()),
        ];
        let refused = ConnectError::Connection(ConnectionError::Refused);
        assert_eq!(foremost(failures).to_string(), refused.to_string());
        let elsewhere = ConnectError::NoAddress;
        let failures = vec![(1, elsewhere), (0, timed_out())];
        assert_eq!(foremost(failures).to_string(), timed_out().to_string());
    }
}
