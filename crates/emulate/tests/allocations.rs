//! Once it has its buffers, the emulator moves packets without allocating memory: it reuses a
//! packet's memory once the packet has been delivered or dropped.
//!
//! This is the only test in its binary, since others would allocate memory at the same time.

#[path = "../../../tests/skipped.rs"]
mod skipped;

use std::net::{SocketAddr, UdpSocket};
use std::thread::sleep;
use std::time::{Duration, Instant};

use peak_alloc::PeakAlloc;
use skywave_emulate::{Emulation, Namespace, Network, Options, Registry, enlarge};
use skywave_scenario::LinkSpec;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Most of a burst is dropped: the queue holds fewer packets.
const LINK: &str = "rate = '50 Mbps'\ndelay = '2 ms'\nqueue = { drop-tail = { packets = 50 } }";
const BURST: u64 = 200;
/// Rounds of [`PACKETS`] packets.
const ROUNDS: u64 = 20;
const PACKETS: u64 = 250;
/// How long the test waits for packets.
const PATIENCE: Duration = Duration::from_secs(60);

fn pair() -> Option<Emulation> {
    let hosts = match Namespace::new().and_then(|first| Ok(vec![first, Namespace::new()?])) {
        Ok(hosts) => hosts,
        Err(error) => {
            skipped::skipped(error);
            return None;
        }
    };
    let registry = Registry::default();
    let ends = ["a", "b"];
    let spec = LinkSpec::from_toml_beside(LINK, &registry, ".".as_ref(), ends).expect(LINK);
    let nodes = ends.map(str::to_owned);
    let network = Network::new(&nodes, &[spec], &nodes, &registry, 1);
    let network = network.expect("it can be emulated");
    let emulation = Emulation::start(network, hosts, &[], Options::default());
    Some(emulation.expect("there are privileges"))
}

/// The sockets at both ends, and what has passed them.
struct Flow {
    sender: UdpSocket,
    receiver: UdpSocket,
    sent: u64,
    received: u64,
    begun: Instant,
}

impl Flow {
    fn new(emulation: &Emulation) -> Self {
        let [from, to] = [0, 1].map(|host| SocketAddr::new(emulation.addresses()[host][0], 5001));
        let bind = |host: usize, address| {
            emulation.hosts()[host].run(move || UdpSocket::bind(address).expect("it is free"))
        };
        let (sender, receiver) = (bind(0, from), bind(1, to));
        sender.connect(to).expect("there is a route");
        receiver.set_nonblocking(true).expect("it can be");
        enlarge(&receiver).expect("it can be larger");
        Self {
            sender,
            receiver,
            sent: 0,
            received: 0,
            begun: Instant::now(),
        }
    }

    /// Fails a test that waits for packets in vain.
    fn be_patient(&self) {
        assert!(self.begun.elapsed() < PATIENCE, "packets are missing");
    }

    /// Sends packets until one arrives. Returns when all of them have arrived.
    fn begin(&mut self) {
        let mut buffer = [0; 2000];
        while self.receiver.recv(&mut buffer).is_err() {
            self.be_patient();
            self.sender.send(b"begins").expect("it has room");
            sleep(Duration::from_millis(1));
        }
        self.sender.send(b"has begun").expect("it has room");
        while self.receiver.recv(&mut buffer).ok() != Some(9) {
            self.be_patient();
            sleep(Duration::from_millis(1));
        }
    }

    /// Sends bursts until this many packets have arrived.
    fn carry(&mut self, packets: u64) {
        let until = self.received + packets;
        while self.received < until {
            self.be_patient();
            for _ in 0..BURST {
                self.sender.send(&[7; 1000]).expect("it has room");
            }
            self.sent += BURST;
            sleep(Duration::from_millis(1));
            self.receive();
        }
    }

    fn receive(&mut self) {
        let mut buffer = [0; 2000];
        while self.receiver.recv(&mut buffer).is_ok() {
            self.received += 1;
        }
    }
}

#[test]
fn packets_allocate_nothing_and_all_are_counted() {
    let Some(emulation) = pair() else {
        return;
    };
    let mut flow = Flow::new(&emulation);
    flow.begin();
    let before = emulation.report().links[0].clone();
    flow.carry(PACKETS);
    let first = MEMORY.current_usage();
    // A buffer grows when more packets than ever before arrive together, which a busy machine
    // decides. So most rounds must allocate nothing, and all of them together less than a byte
    // for each packet, which is less than any packet that is kept.
    let quiet = (0..ROUNDS).filter(|_| {
        let used = MEMORY.current_usage();
        MEMORY.reset_peak_usage();
        flow.carry(PACKETS);
        (MEMORY.current_usage(), MEMORY.peak_usage()) == (used, used)
    });
    let quiet = quiet.count() as u64;
    assert!(quiet > ROUNDS / 2, "{quiet} of {ROUNDS} rounds");
    let grown = MEMORY.current_usage().saturating_sub(first) as u64;
    assert!(grown < ROUNDS * PACKETS, "{grown} bytes");
    // Now each packet is accounted for.
    let report = loop {
        flow.be_patient();
        flow.receive();
        let report = emulation.report();
        let link = &report.links[0];
        let is_through = link.arrivals - before.arrivals + report.overflows >= flow.sent;
        if is_through && link.delivered + link.drops == link.arrivals {
            break report;
        }
        sleep(Duration::from_millis(1));
    };
    flow.receive();
    let link = &report.links[0];
    assert!(link.drops > 0, "{report:?}");
    let arrivals = link.arrivals - before.arrivals;
    assert_eq!(arrivals + report.overflows, flow.sent, "{report:?}");
    let delivered = link.delivered - before.delivered;
    assert_eq!(flow.received + report.unsent, delivered, "{report:?}");
}
