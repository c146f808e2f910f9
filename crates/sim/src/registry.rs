//! What the words of a scenario stand for.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use skywave_congestion::{Controls, built_in_controls};
use skywave_path::Queues;
use skywave_registry::{Found, OpenSet, ParameterError, Value};
use skywave_transport::dccp::mechanism::CcidKinds;
use skywave_transport::tcp::{AnyTransport, TcpControlKind, TcpControls, built_in_tcp_controls};

use crate::packet::Frame;
use crate::probe::{Probe, ProbeFactory, ProbeSetup};
use crate::probes;

/// The open sets that a scenario chooses from by name.
///
/// [`Registry::default`] holds what this crate comes with. A member of one's own is registered by
/// the same functions as those are, and a scenario then names it as it names them.
#[derive(Clone, Debug)]
pub struct Registry {
    /// The queue disciplines.
    pub queues: Queues<Frame>,
    /// The congestion controls, for TCP and for DCCP's CCID 251.
    pub controls: Controls,
    /// The controls that need more of TCP than a window. They come before those of every transport
    /// that have the same name.
    pub tcp_controls: TcpControls,
    /// DCCP's CCIDs.
    pub ccids: CcidKinds,
    /// What a scenario may ask tables of.
    probes: OpenSet<ProbeFactory>,
}

impl Default for Registry {
    fn default() -> Self {
        let mut queues = Queues::new("queue discipline");
        skywave_path::register_built_in(&mut queues);
        let mut registry = Self {
            queues,
            controls: built_in_controls(),
            tcp_controls: built_in_tcp_controls(),
            ccids: CcidKinds::built_in(),
            probes: OpenSet::new("table"),
        };
        registry.register_probes();
        skywave_mpcp::register(
            &mut registry.queues,
            &mut registry.tcp_controls,
            &mut registry.ccids,
        );
        registry
    }
}

/// A probe has no parameters.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NoParameters {}

impl Registry {
    /// The probes of this crate, each as a user would register one of their own.
    #[rustfmt::skip]
    fn register_probes(&mut self) {
        self.register_probe("flows", "Each flow, over each interval.", probes::flows::Flows::new);
        self.register_probe("links", "Each link, over each interval.", probes::links::Links::new);
        self.register_probe("link_flows", "Each flow on each link.", probes::link_flows::LinkFlows::new);
        self.register_probe("drops", "Every packet that a link has lost.", probes::drops::Drops::new);
        self.register_probe("voice", "The frames of voice calls.", probes::voice::Voice::new);
        self.register_probe("transfers", "The files of web traffic.", probes::transfers::Transfers::new);
        self.register_probe("windows", "cwnd, ssthresh and pipe at each change.", probes::windows::Windows::new);
        self.register_probe("rates", "X, X_recv, p and R at each change.", probes::rates::Rates::new);
        self.register_probe("controls", "The inner values of congestion controls.", probes::controls::Controls::new);
        self.register_probe("queues", "The inner values of queue disciplines.", probes::queues::Queues::new);
        self.register_probe("packets", "All that happens to every packet.", probes::packets::Packets::new);
    }

    /// Adds a probe, or replaces the one of this name, which is that of its table too. `doc` is one
    /// sentence on what it measures; `make` makes one for each run.
    pub fn register_probe<P: Probe>(
        &mut self,
        name: &str,
        doc: &'static str,
        make: impl Fn(&Arc<ProbeSetup>) -> P + Send + Sync + 'static,
    ) {
        let factory: Arc<ProbeFactory> = Arc::new(move |setup| Box::new(make(setup)));
        self.probes
            .register(name, doc, move |NoParameters {}| Ok(Arc::clone(&factory)));
    }

    /// The probe of this name.
    ///
    /// # Errors
    /// What to do where there is none.
    pub(crate) fn probe(&self, name: &str) -> Result<Arc<ProbeFactory>, String> {
        let no_parameters = Value::Object(serde_json::Map::new());
        match self.probes.read(name, &no_parameters) {
            Ok(found) => Ok(found.member),
            Err(error) => Err(error.message),
        }
    }

    /// The control of this name for TCP.
    pub(crate) fn tcp_control(
        &self,
        name: &str,
        parameters: &Value,
    ) -> Result<Found<dyn TcpControlKind>, ParameterError> {
        if self.tcp_controls.contains(name) {
            return self.tcp_controls.read(name, parameters);
        }
        if !self.controls.contains(name) {
            let names = self.controls.names();
            let mut known: Vec<_> = names.chain(self.tcp_controls.names()).collect();
            known.sort_unstable();
            known.dedup();
            let known = known.join(", ");
            let message = format!("\"{name}\" is not a known control: use {known}");
            return Err(ParameterError::new("", message));
        }
        let found = self.controls.read(name, parameters)?;
        Ok(Found {
            member: Arc::new(AnyTransport(found.member)),
            parameters: found.parameters,
        })
    }

    /// Whether there is a control of this name for TCP.
    pub(crate) fn has_tcp_control(&self, name: &str) -> bool {
        self.tcp_controls.contains(name) || self.controls.contains(name)
    }
}
