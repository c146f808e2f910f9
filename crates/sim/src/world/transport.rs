//! The transport of a flow with its control, from its description and the registry.

mod dccp;
mod tcp;

use std::sync::Arc;

use skywave_congestion::{Clocking, Ect, RtoConfig};
use skywave_path::Dialect;
use skywave_registry::ParameterError;
use skywave_scenario::{
    Backend, DccpSpec, FlowSpec, KernelDccpSpec, KernelTcpSpec, Registry, ScenarioError, TcpSpec,
    TransportSpec, UdpSpec,
};
use skywave_transport::dccp::Config;
use skywave_transport::dccp::mechanism::Mechanism;
use skywave_transport::peer::{TransportKind, Udp};
use skywave_transport::tcp::Header;
use skywave_units::Duration;
use skywave_wire::Ecn;

pub(crate) use self::tcp::TcpPlan;
use crate::world::packet::Body;

/// What the connections of a flow are created from.
#[derive(Clone, Debug)]
pub(crate) enum Transport {
    Tcp(Arc<TcpPlan>),
    Dccp {
        config: Arc<Config>,
        mechanism: Arc<dyn Mechanism>,
    },
    /// UDP, or a transport of a user.
    Other(Arc<dyn TransportKind>),
    /// A transport of the kernel.
    Kernel(KernelTransport),
}

/// A transport of the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KernelTransport {
    /// TCP.
    Tcp(KernelTcpSpec),
    /// DCCP.
    Dccp {
        /// Its parameters.
        spec: KernelDccpSpec,
        /// The size of full datagrams.
        datagram: u64,
    },
}

/// What ECT(1) tells routers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ect1 {
    /// The sender responds to the share of marked packets (L4S, RFC 9331).
    L4s,
    /// The load of the routers before is low.
    LoadFactor,
}

/// The clock of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClockKind {
    /// Time passes from event to event.
    Virtual,
    /// Time passes by itself.
    Real,
}

impl Transport {
    /// Creates the transport of the flow at `field`, whose datagrams have up to `datagram` bytes.
    ///
    /// # Errors
    /// [`ScenarioError`] if its control, or a parameter of it, is unknown.
    pub(crate) fn new<B: Backend>(
        flow: &FlowSpec,
        datagram: u64,
        registry: &Registry<B>,
        clock: ClockKind,
        field: &str,
    ) -> Result<Self, ScenarioError> {
        let tcp = |spec: &TcpSpec| {
            let plan = TcpPlan::new(spec, registry);
            plan.map(|plan| Self::Tcp(Arc::new(plan)))
        };
        let dccp = |spec: &DccpSpec| {
            let found = spec.mechanism(registry)?;
            Ok(Self::Dccp {
                config: Arc::new(dccp::config(spec, &found.member, datagram)),
                mechanism: found.member,
            })
        };
        let (key, made) = match &*flow.transport {
            TransportSpec::Tcp(spec) => ("tcp", tcp(spec)),
            TransportSpec::KernelTcp(spec) if clock == ClockKind::Real => {
                return Ok(Self::Kernel(KernelTransport::Tcp(spec.clone())));
            }
            TransportSpec::KernelDccp(spec) if clock == ClockKind::Real => {
                let spec = spec.clone();
                return Ok(Self::Kernel(KernelTransport::Dccp { spec, datagram }));
            }
            TransportSpec::KernelTcp(spec) => {
                let made = tcp(&spec.simulated()).map_err(|error| {
                    let message = format!(
                        "{}; the kernel may have it: see skywave realtime",
                        error.message
                    );
                    ParameterError::new("control", message)
                });
                ("kernel-tcp", made)
            }
            TransportSpec::KernelDccp(spec) => ("kernel-dccp", dccp(&spec.simulated())),
            TransportSpec::Dccp(spec) => ("dccp", dccp(spec)),
            TransportSpec::Udp(UdpSpec {}) => return Ok(Self::Other(Arc::new(Udp))),
            TransportSpec::Other(other) => {
                let kind = registry.transport(other, &format!("{field}.transport"))?;
                return Ok(Self::Other(kind));
            }
        };
        made.map_err(|error| error.within(&format!("{field}.transport.{key}")).into())
    }

    /// Sets absent parameters to the values that follow from the profile and the control.
    pub(crate) fn complete(&self, spec: &mut TransportSpec) {
        match (self, spec) {
            (Self::Tcp(plan), TransportSpec::Tcp(spec)) => plan.complete(spec),
            (Self::Dccp { config, mechanism }, TransportSpec::Dccp(spec)) => {
                dccp::complete(spec, config, mechanism.row());
            }
            _ => {}
        }
    }

    /// Checks that the sender supports the routers on its route that write their own codes.
    pub(crate) fn check_routers(
        &self,
        routers: impl Iterator<Item = Dialect>,
        flow: &FlowSpec,
        field: &str,
    ) -> Result<(), ScenarioError> {
        let codes: Vec<_> = routers
            .map(|dialect| (dialect.name, dialect.variant))
            .collect();
        let (key, verdict) = match self {
            Self::Tcp(plan) => {
                let key = match *flow.transport {
                    TransportSpec::KernelTcp(_) => "kernel-tcp.control",
                    _ => "tcp.control",
                };
                (key, plan.control.check_routers(&codes))
            }
            Self::Dccp { mechanism, .. } => {
                let key = match *flow.transport {
                    TransportSpec::KernelDccp(_) => "kernel-dccp.ccid",
                    _ => "dccp.ccid",
                };
                (key, mechanism.check_routers(&codes))
            }
            Self::Other(_) | Self::Kernel(_) => return Ok(()),
        };
        verdict.map_err(|message| ScenarioError::new(format!("{field}.transport.{key}"), message))
    }

    /// Returns what ECT(1) on the sender's data tells routers; `None` if it carries other codes, or
    /// if it is unknown.
    pub(crate) fn meaning_of_ect1(&self) -> Option<Ect1> {
        let (wants, has_load_factor) = match self {
            Self::Tcp(plan) => (plan.control.wants(), plan.control.owns_ecn()),
            Self::Dccp { mechanism, .. } => {
                let data_ecn = mechanism.row().data_ecn;
                (mechanism.wants(), data_ecn == Some(Ecn::Ect1))
            }
            Self::Other(_) | Self::Kernel(_) => return None,
        };
        if has_load_factor {
            return Some(Ect1::LoadFactor);
        }
        (wants.ecn == Some(Ect::One)).then_some(Ect1::L4s)
    }

    /// Returns whether its connections share state.
    pub(crate) fn shares_state(&self) -> bool {
        match self {
            Self::Tcp(plan) => plan.control.shares_state(),
            Self::Dccp { mechanism, .. } => mechanism.shares_state(),
            Self::Other(kind) => kind.shares_state(),
            Self::Kernel(_) => false,
        }
    }

    /// Returns whether routers read tags of the sender's packets.
    pub(crate) fn has_tags(&self) -> bool {
        match self {
            Self::Tcp(plan) => plan.control.has_tags(),
            Self::Dccp { mechanism, .. } => mechanism.has_tags(),
            Self::Other(_) | Self::Kernel(_) => false,
        }
    }

    /// Returns the tag that routers read from one of the sender's packets.
    #[cold]
    pub(crate) fn tag(&self, body: &Body) -> u8 {
        match (self, body) {
            (Self::Tcp(plan), Body::Bare(bare)) => plan.control.tag(bare.header()),
            (Self::Tcp(plan), Body::Tcp(segment)) => plan.control.tag(Header::of(segment)),
            (Self::Dccp { mechanism, .. }, Body::Dccp(packet)) => mechanism.tag(packet),
            _ => 0,
        }
    }
}

/// Returns a window as in a scenario; `None` if it is unbounded or not a whole number of packets.
fn whole(packets: f64) -> Option<u32> {
    (packets.fract() == 0.0 && packets <= f64::from(u32::MAX)).then_some(packets as u32)
}

/// Returns `base` with the values set in a scenario.
fn rto_config(
    base: RtoConfig,
    tick: Option<Duration>,
    initial: Option<Duration>,
    min: Option<Duration>,
) -> RtoConfig {
    RtoConfig {
        clocking: tick.map_or(base.clocking, Clocking::Ticks),
        initial: initial.unwrap_or(base.initial),
        min: min.unwrap_or(base.min),
        ..base
    }
}
