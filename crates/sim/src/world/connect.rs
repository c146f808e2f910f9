//! Creates connections, the two ends of a flow, as a scenario describes them.

use std::sync::Arc;

use rand::RngExt;
use skywave_transport::Driven;
use skywave_transport::dccp::Connection;
use skywave_transport::peer::PeerSetup;
use skywave_transport::tcp::Ports;
use skywave_units::{Duration, Instant};
use twox_hash::XxHash3_64;

use crate::world::host::Host;
use crate::world::transport::Transport;
use skywave_scenario::{FlowSpec, stream};
use skywave_traffic::SourceKind;

/// The port of every receiver.
pub(crate) const RECEIVER_PORT: u16 = 5001;

/// Creates the successive connections of a flow.
#[derive(Clone, Debug)]
pub(crate) struct Connector {
    pub(crate) flow: FlowSpec,
    pub(crate) transport: Transport,
    /// The flow's index and the number of flows, which keep the flows' ports distinct.
    pub(crate) index: usize,
    pub(crate) flows: usize,
    pub(crate) seed: u64,
}

/// The two ends of a connection, and its sender's port.
pub(crate) struct Opened {
    pub(crate) ends: [Host; 2],
    pub(crate) port: u16,
}

impl Connector {
    /// Returns both ends of the flow's connection `number`.
    pub(crate) fn open(&self, number: usize, now: Instant) -> Opened {
        let flow = &self.flow;
        let port = sender_port(self.index + number * self.flows);
        let label = format!("{}/{number}", flow.name);
        let ends = connect(&self.transport, &label, port, now, self.seed);
        Opened { ends, port }
    }
}

/// Returns when a flow starts.
pub(crate) fn start_of(flow: &FlowSpec, seed: u64) -> Instant {
    let start = Instant::ZERO + flow.start;
    if flow.start_jitter.is_zero() {
        return start;
    }
    let mut rng = stream(seed, &format!("{}/start", flow.name));
    start + Duration::from_nanos(rng.random_range(0..=flow.start_jitter.as_nanos()))
}

/// Returns the sender and the receiver of a flow.
pub(crate) fn pair(
    flow: &FlowSpec,
    source: &dyn SourceKind,
    transport: &Transport,
    index: usize,
    seed: u64,
) -> [Host; 2] {
    if source.opens_connections() {
        let closed = || Host::Successive(Box::default());
        return [closed(), closed()];
    }
    connect(
        transport,
        &flow.name,
        sender_port(index),
        start_of(flow, seed),
        seed,
    )
}

/// Returns the two ends of a connection that starts at `start`. `label` names its random streams.
fn connect(
    transport: &Transport,
    label: &str,
    sender_port: u16,
    start: Instant,
    seed: u64,
) -> [Host; 2] {
    let name = |end: &str| format!("{label}/{end}");
    match transport {
        Transport::Tcp(plan) => {
            let (local, remote) = (sender_port, RECEIVER_PORT);
            let isn = |end| XxHash3_64::oneshot_with_seed(seed, name(end).as_bytes());
            let sender = plan.sender(Ports { local, remote }, isn("sender"));
            let back = Ports {
                local: remote,
                remote: local,
            };
            let receiver = plan.receiver(back, isn("receiver"));
            [
                Host::TcpSender(Box::new(Driven::new(sender))),
                Host::TcpReceiver(Box::new(Driven::new(receiver))),
            ]
        }
        Transport::Dccp { config, .. } => {
            let sender = Connection::client(
                Arc::clone(config),
                sender_port,
                RECEIVER_PORT,
                start,
                stream(seed, &name("sender")),
            );
            let rng = stream(seed, &name("receiver"));
            let receiver = Connection::listen(Arc::clone(config), RECEIVER_PORT, rng);
            [
                Host::Dccp(Box::new(Driven::new(sender))),
                Host::Dccp(Box::new(Driven::new(receiver))),
            ]
        }
        Transport::Kernel(_) => [(); 2].map(|()| Host::Kernel(Box::default())),
        Transport::Other(kind) => {
            let random = |purpose: &str| stream(seed, &name(purpose));
            let setup = PeerSetup::new(start, [sender_port, RECEIVER_PORT], &random);
            let peers = kind.connect(&setup);
            peers.map(|peer| Host::Other(Box::new(Driven::new(peer))))
        }
    }
}

/// Returns a client port: one per flow from the dynamic range, reused when the range is exhausted.
pub(crate) const fn sender_port(flow: usize) -> u16 {
    const FIRST: u16 = 49_152;
    FIRST + (flow % (u16::MAX - FIRST) as usize) as u16
}
