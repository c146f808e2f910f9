//! A congestion control of one's own: over TCP and over DCCP (CCID 251) in the simulator, and over
//! DCCP on a socket.
//!
//! ```sh
//! cargo run -p skywave --example own_control
//! ```
//!
//! `docs/tutorials/own-control-rust.md` prints all that follows.

use std::env;
use std::error::Error;
use std::fs;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave::congestion::{
    Ack, AnyControl, Control, ControlContext, ControlKind, Loss, register_control,
};
use skywave::net::{Endpoint, EndpointConfig, Peer};
use skywave::registry::ParameterError;
use skywave::sim::{Registry, RunOptions, Scenario, run};
use skywave::transport::dccp::{Config, SendersChoice};
use skywave::units::Instant;

/// What a scenario file can set: `control = "shy", shy = { target_ms = 10.0 }`.
#[derive(Clone, Copy, Debug, JsonSchema, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Shy {
    /// The delay in queues that it aims at, in milliseconds.
    target_ms: f64,
}

impl Default for Shy {
    fn default() -> Self {
        Self { target_ms: 20.0 }
    }
}

impl ControlKind for Shy {
    fn check(&self) -> Result<(), ParameterError> {
        if self.target_ms.is_finite() && self.target_ms > 0.0 {
            return Ok(());
        }
        let message = format!("{} ms is no target: give a time above zero", self.target_ms);
        Err(ParameterError::new("target_ms", message))
    }

    fn build(&self, context: &ControlContext) -> AnyControl {
        AnyControl::new(ShyWindow {
            target_s: self.target_ms / 1000.0,
            cwnd: context.initial_cwnd,
            base_rtt_s: f64::INFINITY,
            queueing_s: 0.0,
        })
    }
}

/// Grows while it sees less delay in queues than its target, and shrinks while it sees more.
struct ShyWindow {
    target_s: f64,
    cwnd: f64,
    base_rtt_s: f64,
    queueing_s: f64,
}

impl Control for ShyWindow {
    fn on_ack(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.base_rtt_s = self.base_rtt_s.min(rtt.as_secs_f64());
            self.queueing_s = rtt.as_secs_f64() - self.base_rtt_s;
        }
        if !ack.application_limited && !ack.ecn_echo {
            let room = (1.0 - self.queueing_s / self.target_s).clamp(-1.0, 1.0);
            let step = room * f64::from(ack.newly_acked) / self.cwnd;
            self.cwnd = (self.cwnd + step).max(2.0);
        }
    }

    fn on_loss(&mut self, _loss: &Loss) {
        self.cwnd = (self.cwnd / 2.0).max(2.0);
    }

    fn on_timeout(&mut self, _now: Instant, _in_flight: u32) {
        self.cwnd = self.cwnd.min(1.0);
    }

    fn limit_cwnd(&mut self, limit: f64) {
        self.cwnd = self.cwnd.min(limit.max(1.0));
    }

    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    fn inner_values(&self, record: &mut dyn FnMut(&'static str, f64)) {
        record("queueing_delay_s", self.queueing_s);
    }
}

const SCENARIO: &str = r#"
    name = "a control of one's own"
    duration = "30 s"
    probes = { tables = ["controls"] }

    [dumbbell]
    pairs = 2
    rate = "4 Mbps"
    delay = "20 ms"
    queue = { drop-tail = { packets = 200 } }
    access_rate = "100 Mbps"
    access_delays = ["1 ms"]

    [[flows]]
    name = "over TCP"
    from = "s1"
    to = "d1"
    transport = { tcp = { control = "shy", shy = { target_ms = 10.0 } } }
    source = { ftp = {} }

    [[flows]]
    name = "over DCCP"
    from = "s2"
    to = "d2"
    transport = { dccp = { ccid = 251, control = "shy", shy = { target_ms = 10.0 } } }
    source = { ftp = {} }
"#;

/// Runs a scenario in the simulator; the name of each flow, and its goodput in Mbit/s.
fn simulated(scenario: &str) -> Result<Vec<(String, f64)>, Box<dyn Error>> {
    let mut registry = Registry::default();
    register_control::<Shy>(&mut registry.controls, "shy", "Aims at a delay in queues.");
    let scenario = Scenario::from_toml(scenario, &registry)?;
    let results = run(&scenario, &registry, RunOptions::default(), |_| true)?;
    let flows = results.summary.flows.into_iter();
    Ok(flows
        .map(|flow| (flow.name, flow.goodput_bps / 1e6))
        .collect())
}

/// Sends datagrams over a socket of this host; how many arrived.
async fn on_a_socket(datagrams: usize) -> Result<usize, Box<dyn Error>> {
    let config = || Config::default().with_ccid(SendersChoice::new(Arc::new(Shy::default())));
    let endpoint = Endpoint::udp("127.0.0.1:0".parse()?, EndpointConfig::default())?;
    let listener = endpoint.listen(5001, config())?;
    let peer = Peer {
        address: endpoint.local_address(),
        port: 5001,
    };
    let (client, server) = tokio::join!(endpoint.connect(peer, config()), listener.accept());
    let (client, server) = (client?, server?);
    for _ in 0..datagrams {
        client.send(vec![0; 1000]).await?;
    }
    let mut arrived = 0;
    while arrived < datagrams && server.recv().await?.is_some() {
        arrived += 1;
    }
    Ok(arrived)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let file = env::args().nth(1);
    let scenario = file.as_ref().map(fs::read_to_string).transpose()?;
    for (name, mbps) in simulated(scenario.as_deref().unwrap_or(SCENARIO))? {
        println!("{name}: {mbps:.2} Mbit/s");
    }
    if file.is_none() {
        println!("on a socket: {} of 100 datagrams", on_a_socket(100).await?);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use skywave::congestion::contract::{calls, verify};

    use super::*;

    #[test]
    fn it_shares_a_link_in_the_simulator() {
        let flows = simulated(SCENARIO).unwrap();
        assert!(flows.iter().all(|(_, mbps)| *mbps > 1.0), "{flows:?}");
        assert!(flows.iter().map(|(_, mbps)| mbps).sum::<f64>() > 3.5);
    }

    #[test]
    fn a_target_below_zero_is_refused_by_the_name_of_its_field() {
        let wrong = SCENARIO.replace("target_ms = 10.0", "target_ms = -1.0");
        let error = simulated(&wrong).unwrap_err().to_string();
        assert!(error.contains("shy.target_ms: -1 ms"), "{error}");
    }

    #[tokio::test]
    async fn it_carries_datagrams_over_a_socket() {
        assert_eq!(on_a_socket(200).await.unwrap(), 200);
    }

    proptest! {
        #[test]
        fn it_keeps_the_contract(calls in calls()) {
            let context = ControlContext {
                packet_size: 1000,
                initial_cwnd: 4.0,
                initial_ssthresh: f64::INFINITY,
                ns2: false,
                linux: false,
            };
            verify(Shy::default().build(&context), &calls)?;
        }
    }
}
