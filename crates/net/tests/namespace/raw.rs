//! DCCP as IP protocol 33.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};
use std::thread;

use caps::CapSet;
use skywave_net::{ConnectError, ConnectionError, Endpoint, EndpointConfig, OpenError, Peer};
use skywave_transport::dccp::Config;
use skywave_wire::dccp::ServiceCode;
use tokio::runtime::Builder;

use crate::{PORT, config, in_namespace};

fn open(address: IpAddr) -> Endpoint {
    open_at(SocketAddr::new(address, 0))
}

fn open_at(address: SocketAddr) -> Endpoint {
    Endpoint::raw(address, EndpointConfig::default()).unwrap()
}

/// An echo, errors and a close, from `client` to `server`.
async fn exchange(client: SocketAddr, server: SocketAddr) {
    let (here, there) = (open_at(client), open_at(server));
    let nonces = Config {
        ecn_nonces: true,
        ..config()
    };
    let listener = there.listen(PORT, nonces.clone()).unwrap();
    let peer = Peer {
        address: server,
        port: PORT,
    };
    let (connected, accepted) = tokio::join!(here.connect(peer, nonces), listener.accept());
    let (connected, accepted) = (connected.unwrap(), accepted.unwrap());
    assert_eq!(accepted.local_ip(), server.ip());
    for index in 0..200u32 {
        let data = vec![index as u8; 5 * index as usize];
        connected.send(data.clone()).await.unwrap();
        let there = accepted.recv().await.unwrap().unwrap();
        assert_eq!(there.data, data);
        accepted.send(there.data).await.unwrap();
        assert_eq!(connected.recv().await.unwrap().unwrap().data, data);
    }
    // ECT(0) and ECT(1) at random: the receivers saw what was sent.
    for connection in [&connected, &accepted] {
        let stats = connection.stats();
        let window = stats.congestion.window().unwrap();
        assert_eq!((window.lost, window.marked), (0, 0), "{stats:?}");
        assert_eq!(stats.counters.invalid_packets, 0);
    }

    let nobody = Peer {
        port: PORT + 1,
        ..peer
    };
    let error = here.connect(nobody, config()).await.unwrap_err();
    assert!(
        matches!(error, ConnectError::Connection(ConnectionError::Refused)),
        "{error}"
    );
    let other = Config {
        service_codes: vec![ServiceCode(9)],
        ..config()
    };
    let error = here.connect(peer, other).await.unwrap_err();
    assert!(
        matches!(
            error,
            ConnectError::Connection(ConnectionError::BadServiceCode)
        ),
        "{error}"
    );

    let (closed, last) = tokio::join!(connected.close(), accepted.recv());
    closed.unwrap();
    assert_eq!(last, Ok(None));
    // Every packet passed the checksum with its pseudo-header; otherwise it would count as
    // malformed.
    for endpoint in [&here, &there] {
        assert_eq!(endpoint.stats().malformed, 0);
        assert_eq!(endpoint.stats().send_errors, 0);
    }
}

#[test]
fn over_ipv4() {
    in_namespace(&["192.0.2.1/32", "192.0.2.2/32"], || async {
        let [one, two] = ["192.0.2.1:0", "192.0.2.2:0"].map(|ip| ip.parse().unwrap());
        exchange(one, two).await;
    });
}

#[test]
fn over_ipv6() {
    in_namespace(&["2001:db8::1/128", "2001:db8::2/128"], || async {
        let [one, two] = ["[2001:db8::1]:0", "[2001:db8::2]:0"].map(|ip| ip.parse().unwrap());
        exchange(one, two).await;
    });
}

/// The addresses that `in_namespace` gives the loopback interface, with their interface.
fn link_local() -> [SocketAddr; 2] {
    const LOOPBACK: u32 = 1;
    ["fe80::1", "fe80::2"].map(|ip| SocketAddrV6::new(ip.parse().unwrap(), 0, 0, LOOPBACK).into())
}

/// A link-local address can be bound only with its interface.
#[test]
fn over_link_local_addresses() {
    in_namespace(&["fe80::1/64", "fe80::2/64"], || async {
        let [one, two] = link_local();
        exchange(one, two).await;

        let error = Endpoint::raw(SocketAddr::new(one.ip(), 0), EndpointConfig::default());
        let error = error.unwrap_err().to_string();
        assert!(error.starts_with("cannot bind fe80::1: "), "{error}");
        assert!(error.contains("name the interface"), "{error}");
        let error = Endpoint::raw("192.0.2.9:0".parse().unwrap(), EndpointConfig::default());
        let error = error.unwrap_err().to_string();
        assert!(
            error.contains("address of this host") && !error.contains("UDP"),
            "{error}"
        );
    });
}

/// The same over UDP, where the route to the peer is looked up from that address.
#[test]
fn over_link_local_addresses_and_udp() {
    in_namespace(&["fe80::1/64", "fe80::2/64"], || async {
        let open = |address| Endpoint::udp(address, EndpointConfig::default()).unwrap();
        let [here, there] = link_local().map(open);
        let listener = there.listen(PORT, config()).unwrap();
        let peer = Peer {
            address: there.local_address(),
            port: PORT,
        };
        let (connected, accepted) = tokio::join!(here.connect(peer, config()), listener.accept());
        connected.unwrap().send("hello").await.unwrap();
        assert_eq!(
            accepted.unwrap().recv().await.unwrap().unwrap().data,
            "hello"
        );
    });
}

/// One socket for all addresses, which answers from the address that was contacted.
#[test]
fn wildcard_addresses() {
    in_namespace(&["192.0.2.1/32", "2001:db8::1/128"], || async {
        for (any, ip) in [
            (IpAddr::from(Ipv4Addr::UNSPECIFIED), "192.0.2.1"),
            (Ipv6Addr::UNSPECIFIED.into(), "2001:db8::1"),
        ] {
            let endpoint = open(any);
            let listener = endpoint.listen(PORT, config()).unwrap();
            let ip: IpAddr = ip.parse().unwrap();
            let peer = Peer {
                address: (ip, 0).into(),
                port: PORT,
            };
            let (connected, accepted) =
                tokio::join!(endpoint.connect(peer, config()), listener.accept());
            let (connected, accepted) = (connected.unwrap(), accepted.unwrap());
            connected.send("hello").await.unwrap();
            assert_eq!(accepted.recv().await.unwrap().unwrap().data, "hello");
            assert_eq!(connected.local_ip(), ip);
        }
    });
}

/// A host without DCCP reports this (ICMP "protocol unreachable").
#[test]
fn u_5_no_dccp_there() {
    in_namespace(&["192.0.2.1/32", "192.0.2.2/32"], || async {
        let endpoint = open("192.0.2.1".parse().unwrap());
        let peer = Peer {
            address: "192.0.2.2:0".parse().unwrap(),
            port: PORT,
        };
        let error = endpoint.connect(peer, config()).await.unwrap_err();
        assert!(
            matches!(
                error,
                ConnectError::Connection(ConnectionError::Unreachable)
            ),
            "{error}"
        );
    });
}

/// Without permission for raw sockets, the error says how to get it.
#[test]
fn without_permission() {
    // Capabilities are per thread: only this one loses them.
    let unprivileged = thread::spawn(|| {
        caps::clear(None, CapSet::Effective).unwrap();
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let _within = runtime.enter();
        Endpoint::raw((Ipv4Addr::LOCALHOST, 0).into(), EndpointConfig::default())
    });
    let error = unprivileged.join().unwrap().unwrap_err();
    assert!(matches!(error, OpenError::Permission { .. }), "{error}");
    assert!(error.to_string().contains("cap_net_raw"), "{error}");
}
