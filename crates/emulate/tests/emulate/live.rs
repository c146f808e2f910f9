//! The network between real sockets, in namespaces. Where the system does not let us create them,
//! there is nothing to test: `tests/test_emulate.py` says so.

use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};

use skywave_emulate::{EmulateError, Emulation, Namespace, Network, Options, Registry, Report};
use skywave_scenario::LinkSpec;

use crate::skipped;

/// Returns two hosts with a link between them; `None` where namespaces are not permitted.
fn pair(link: &str) -> Option<Emulation> {
    let hosts = match Namespace::new().and_then(|first| Ok([first, Namespace::new()?])) {
        Ok(hosts) => hosts,
        Err(error @ EmulateError::System { .. }) => {
            skipped::skipped(error);
            return None;
        }
        Err(error) => panic!("{error}"),
    };
    let registry = Registry::default();
    let ends = ["a", "b"];
    let spec = LinkSpec::from_toml_beside(link, &registry, ".".as_ref(), ends).expect(link);
    let nodes = ends.map(str::to_owned);
    let network = Network::new(&nodes, &[spec], &nodes, &registry, 1);
    let network = network.expect("it can be emulated");
    let emulation = Emulation::start(network, hosts.into(), &[], Options::default());
    Some(emulation.expect("there are privileges"))
}

fn stop(emulation: Emulation) -> Report {
    emulation.stop().expect("its devices are there")
}

fn udp(host: &Namespace, address: IpAddr) -> UdpSocket {
    host.run(move || {
        let socket = UdpSocket::bind((address, 5001)).expect("it is the host's address");
        let patience = Some(Duration::from_secs(20));
        let set = socket.set_read_timeout(patience);
        set.expect("it is above zero");
        socket
    })
}

#[test]
fn a_datagram_takes_what_the_link_takes_in_both_ip_versions() {
    let Some(pair) = pair("rate = '10 Mbps'\ndelay = '30 ms'\nback = { delay = '10 ms' }") else {
        return;
    };
    for version in 0..2 {
        let there = SocketAddr::new(pair.addresses()[1][version], 5001);
        let a = udp(&pair.hosts()[0], pair.addresses()[0][version]);
        let b = udp(&pair.hosts()[1], pair.addresses()[1][version]);
        let mut buffer = [0; 2000];
        let begun = Instant::now();
        a.send_to(&[7; 1000], there).unwrap();
        let (length, from) = b.recv_from(&mut buffer).unwrap();
        assert_eq!(buffer[..length], [7; 1000]);
        b.send_to(b"back", from).unwrap();
        assert_eq!(a.recv(&mut buffer).unwrap(), 4);
        let took = begun.elapsed();
        assert!(took >= Duration::from_millis(40), "{took:?}");
    }
    let report = stop(pair);
    let lateness = report.lateness.unwrap();
    assert_eq!(lateness.packets, 4);
    assert_eq!(report.links[0].delivered, 2);
    // IP, UDP and the data.
    assert_eq!(report.links[0].delivered_bytes, 2000 + 28 + 48);
    assert_eq!((report.malformed, report.overflows), (0, 0));
}

/// What TCP sends comes in packets that a link carries, with right checksums.
#[test]
fn tcp_fills_the_link_and_its_queue_drops() {
    // After a late wake-up of the driver, many acknowledgements come at once.
    let Some(pair) = pair(
        "rate = '20 Mbps'\ndelay = '5 ms'\nqueue = { drop-tail = { packets = 20 } }\n\
         back = { queue = { drop-tail = { packets = 2000 } } }",
    ) else {
        return;
    };
    let there = SocketAddr::new(pair.addresses()[1][0], 5001);
    let listener = pair.hosts()[1].run(move || TcpListener::bind(there).unwrap());
    let server = thread::spawn(move || {
        let mut read = Vec::new();
        let (mut stream, _) = listener.accept().unwrap();
        stream.read_to_end(&mut read).unwrap();
        read
    });
    let sent: Vec<u8> = (0..2_500_000u32).map(|number| number as u8).collect();
    let mut stream = pair.hosts()[0].run(move || TcpStream::connect(there).unwrap());
    let begun = Instant::now();
    stream.write_all(&sent).unwrap();
    drop(stream);
    assert!(server.join().unwrap() == sent);
    // 20 Mbps for 2.5 MB.
    assert!(begun.elapsed() >= Duration::from_secs(1));
    let report = stop(pair);
    let [forward, back] = &report.links[..] else {
        panic!("two directions: {report:?}");
    };
    assert!(forward.drops > 0, "{report:?}");
    assert!(forward.delivered_bytes > 2_500_000);
    assert_eq!(back.drops, 0);
    let mean = forward.delivered_bytes / forward.delivered;
    assert!((1300..=1500).contains(&mean), "{report:?}");
}
