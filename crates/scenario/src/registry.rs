//! The members a scenario can name.

use std::fmt;
use std::sync::Arc;

use skywave_congestion::{Controls, built_in_controls};
use skywave_path::{
    LossChoice, Losses, Packet, QueueChoice, Queues, TraceChoice, Traces, register_built_in_losses,
    register_built_in_queues, register_built_in_traces,
};
use skywave_registry::{Choice, Found, OpenSet, ParameterError, Value, unknown};
use skywave_traffic::{SourceChoice, Sources, register_built_in_sources};
use skywave_transport::dccp::mechanism::CcidKinds;
use skywave_transport::peer::{TransportChoice, Transports};
use skywave_transport::tcp::{AnyTransport, TcpControlKind, TcpControls, built_in_tcp_controls};

/// What runs scenarios: a simulator, or an emulator in real time.
pub trait Backend: Sized + 'static {
    /// The packets in its queues.
    type Packet: Packet + Send + 'static;

    /// What registering a probe creates, usually a factory.
    type Probe: ?Sized;

    /// Registers the backend's own probes.
    fn register_probes(probes: &mut OpenSet<Self::Probe>);
}

/// The open sets from which a scenario selects by name.
///
/// [`Registry::default`] has the built-in members. Users register their own with the same
/// functions, and scenarios name both in the same way.
pub struct Registry<B: Backend> {
    /// Queue disciplines.
    pub queues: Queues<B::Packet>,
    /// Loss models.
    pub losses: Losses,
    /// Kinds of traces, along which the rate and delay of links vary.
    pub traces: Traces,
    /// The applications of flows.
    pub sources: Sources,
    /// Congestion controls for TCP and DCCP's CCID 251.
    pub controls: Controls,
    /// Congestion controls that need more of TCP than a window. For a name in both sets, TCP uses
    /// this one.
    pub tcp_controls: TcpControls,
    /// DCCP's CCIDs.
    pub ccids: CcidKinds,
    /// Transports besides TCP, DCCP and UDP.
    pub transports: Transports,
    /// Probes, by the name of their table.
    pub probes: OpenSet<B::Probe>,
}

impl<B: Backend> Default for Registry<B> {
    fn default() -> Self {
        let mut queues = Queues::new(QueueChoice::KIND);
        register_built_in_queues(&mut queues);
        let mut losses = Losses::new(LossChoice::KIND);
        register_built_in_losses(&mut losses);
        let mut traces = Traces::new(TraceChoice::KIND);
        register_built_in_traces(&mut traces);
        let mut sources = Sources::new(SourceChoice::KIND);
        register_built_in_sources(&mut sources);
        let mut registry = Self {
            queues,
            losses,
            traces,
            sources,
            controls: built_in_controls(),
            tcp_controls: built_in_tcp_controls(),
            ccids: CcidKinds::built_in(),
            transports: Transports::new(TransportChoice::KIND),
            probes: OpenSet::new("table"),
        };
        B::register_probes(&mut registry.probes);
        skywave_mpcp::register(
            &mut registry.queues,
            &mut registry.tcp_controls,
            &mut registry.ccids,
        );
        registry
    }
}

impl<B: Backend> Registry<B> {
    /// Returns the probe `name`.
    ///
    /// # Errors
    /// A message listing the known probes, if `name` is not one of them.
    pub fn probe(&self, name: &str) -> Result<Arc<B::Probe>, String> {
        let no_parameters = Value::Object(serde_json::Map::new());
        match self.probes.read(name, &no_parameters) {
            Ok(found) => Ok(found.member),
            Err(error) => Err(error.message),
        }
    }

    /// Returns TCP's control `name`.
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
            return Err(ParameterError::new("", unknown("control", name, &known)));
        }
        let found = self.controls.read(name, parameters)?;
        let control = AnyTransport(found.member);
        control.check()?;
        Ok(Found {
            member: Arc::new(control),
            parameters: found.parameters,
        })
    }

    /// Returns whether TCP has a control `name`.
    pub fn has_tcp_control(&self, name: &str) -> bool {
        self.tcp_controls.contains(name) || self.controls.contains(name)
    }
}

impl<B: Backend> Clone for Registry<B> {
    fn clone(&self) -> Self {
        Self {
            queues: self.queues.clone(),
            losses: self.losses.clone(),
            traces: self.traces.clone(),
            sources: self.sources.clone(),
            controls: self.controls.clone(),
            tcp_controls: self.tcp_controls.clone(),
            ccids: self.ccids.clone(),
            transports: self.transports.clone(),
            probes: self.probes.clone(),
        }
    }
}

impl<B: Backend> fmt::Debug for Registry<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry")
            .field("queues", &self.queues)
            .field("losses", &self.losses)
            .field("traces", &self.traces)
            .field("sources", &self.sources)
            .field("controls", &self.controls)
            .field("tcp_controls", &self.tcp_controls)
            .field("ccids", &self.ccids)
            .field("transports", &self.transports)
            .field("probes", &self.probes)
            .finish()
    }
}
