//! What a path takes.

use std::net::{IpAddr, SocketAddr};

use skywave_net::{Endpoint, EndpointConfig, Peer, SendError};

use crate::{PORT, config, in_namespace, ip};

/// U-6, D14-1, D14-2: the maximum packet size follows the interface, and follows it down when the
/// path takes less than it did; what then leaves is lost, and what is sent later refused.
async fn mtu(address: IpAddr, overhead: usize) {
    ip(&["link", "set", "lo", "mtu", "1500"]).unwrap();
    let open = || Endpoint::udp(SocketAddr::new(address, 0), EndpointConfig::default()).unwrap();
    let (here, there) = (open(), open());
    let listener = there.listen(PORT, config()).unwrap();
    let peer = Peer {
        address: there.local_address(),
        port: PORT,
    };
    let (connected, accepted) = tokio::join!(here.connect(peer, config()), listener.accept());
    let (connected, accepted) = (connected.unwrap(), accepted.unwrap());
    let first = connected.max_datagram_size();
    assert_eq!(first, 1500 - overhead);
    connected.send(vec![1; first]).await.unwrap();
    assert_eq!(accepted.recv().await.unwrap().unwrap().data.len(), first);

    ip(&["link", "set", "lo", "mtu", "1300"]).unwrap();
    connected.send(vec![2; first]).await.unwrap();
    while connected.max_datagram_size() == first {
        tokio::task::yield_now().await;
    }
    let second = connected.max_datagram_size();
    assert_eq!(second, 1300 - overhead);
    let error = connected.send(vec![3; first]).await.unwrap_err();
    let (size, maximum) = (first, second);
    assert_eq!(error, SendError::TooLarge { size, maximum });
    assert!(error.to_string().contains("max_datagram_size"), "{error}");
    connected.send(vec![4; second]).await.unwrap();
    let datagram = accepted.recv().await.unwrap().unwrap();
    assert_eq!(datagram.data[..], vec![4; second]);
    assert_eq!(here.stats().send_errors, 1);
}

#[test]
fn u_6_mtu_of_ipv4() {
    in_namespace(&[], || mtu([127, 0, 0, 1].into(), 20 + 8 + 100));
}

#[test]
fn u_6_mtu_of_ipv6() {
    in_namespace(&[], || mtu("::1".parse().unwrap(), 40 + 8 + 100));
}
