//! The namespaces and devices.

use std::net::Ipv4Addr;
use std::process::Command;

use skywave_emulate::{Emulation, Namespace, Network, Options, Registry};
use skywave_scenario::LinkSpec;

use crate::skipped;

/// The device of the router at which its queue is.
pub(crate) const BOTTLENECK: &str = "skywave0";

/// sender - router - 20 ms - receiver.
///
/// The delay is an emulated link. Its host is the router; the sender has the router's address there,
/// so that the receiver's packets find back.
pub(crate) struct Testbed {
    pub(crate) sender: Namespace,
    emulation: Emulation,
    pub(crate) addresses: [Ipv4Addr; 2],
}

impl Testbed {
    /// Returns a testbed with `tbf` at the bottleneck, with these arguments; `None`, with a message,
    /// where there can be none.
    pub(crate) fn new(tbf: &str) -> Option<Self> {
        let sender = match Namespace::new() {
            Ok(sender) => sender,
            Err(error) => return skipped(error),
        };
        let hosts = vec![Namespace::new().unwrap(), Namespace::new().unwrap()];
        let registry = Registry::default();
        let ends = ["router", "receiver"];
        let link = "rate = '1 Gbps'\ndelay = '20 ms'";
        let link = LinkSpec::from_toml_beside(link, &registry, ".".as_ref(), ends).unwrap();
        let nodes = ends.map(str::to_owned);
        let network = Network::new(&nodes, &[link], &nodes, &registry, 1).unwrap();
        let emulation = match Emulation::start(network, hosts, &[], Options::default()) {
            Ok(emulation) => emulation,
            Err(error) => return skipped(error),
        };
        let addresses = [0, 1].map(|host| match emulation.addresses()[host][0] {
            std::net::IpAddr::V4(address) => address,
            std::net::IpAddr::V6(_) => panic!("the first address is of IPv4"),
        });
        let testbed = Self {
            sender,
            emulation,
            addresses,
        };
        match testbed.set_up(tbf) {
            Ok(_) => Some(testbed),
            Err(why) => skipped(why),
        }
    }

    pub(crate) fn router(&self) -> &Namespace {
        &self.emulation.hosts()[0]
    }

    pub(crate) fn receiver(&self) -> &Namespace {
        &self.emulation.hosts()[1]
    }

    fn set_up(&self, tbf: &str) -> Result<String, String> {
        let [ours, _] = self.addresses;
        let there = self.sender.run(|| {
            let task = std::fs::read_link("/proc/thread-self").unwrap();
            format!("/proc/{}/ns/net", task.display())
        });
        let tbf = tbf.to_owned();
        self.router().run(move || {
            run("ip link add near type veth peer name uplink")?;
            run(&format!("ip link set uplink netns {there}"))?;
            run("ip address add 192.0.2.2/30 dev near")?;
            run("ip link set near up")?;
            run(&format!("ip address flush dev {BOTTLENECK}"))?;
            run(&format!("ip route add default dev {BOTTLENECK}"))?;
            run(&format!("ip route add {ours} via 192.0.2.1"))?;
            std::fs::write("/proc/sys/net/ipv4/ip_forward", "1").map_err(|e| e.to_string())?;
            run(&format!("tc qdisc add dev {BOTTLENECK} root tbf {tbf}"))
        })?;
        self.sender.run(move || {
            run("ip address add 192.0.2.1/30 dev uplink")?;
            run(&format!("ip address add {ours}/32 dev uplink"))?;
            run("ip link set uplink up")?;
            run(&format!(
                "ip route add default via 192.0.2.2 dev uplink src {ours}"
            ))
        })
    }

    /// The bytes in the queue at the bottleneck, and the packets that it has dropped.
    pub(crate) fn queue(&self) -> (u64, u64) {
        let text = self
            .router()
            .run(|| run(&format!("tc -j -s qdisc show dev {BOTTLENECK}")))
            .unwrap();
        let number = |name: &str| {
            let rest = text.split_once(&format!("\"{name}\":")).unwrap().1;
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            digits.parse().unwrap()
        };
        (number("backlog"), number("drops"))
    }
}

/// Runs a command in the namespace of the calling thread, and returns what it prints.
pub(crate) fn run(line: &str) -> Result<String, String> {
    let mut words = line.split(' ');
    let command = words.next().unwrap();
    let ended = Command::new(command).args(words).output();
    let ended = ended.map_err(|error| format!("cannot run {command}: {error}"))?;
    if ended.status.success() {
        Ok(String::from_utf8_lossy(&ended.stdout).into_owned())
    } else {
        let message = String::from_utf8_lossy(&ended.stderr);
        Err(format!("{line}: {}", message.trim()))
    }
}
