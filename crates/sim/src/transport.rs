//! The transport of a flow with its control, as its description and the registry have it.

mod dccp;
mod tcp;

use std::sync::Arc;

use skywave_congestion::{Clocking, RtoConfig};
use skywave_path::Dialect;
use skywave_transport::dccp::Config;
use skywave_transport::dccp::mechanism::Mechanism;
use skywave_transport::tcp::Header;
use skywave_units::Duration;

pub(crate) use self::tcp::TcpPlan;
use crate::backend::Registry;
use crate::packet::Body;
use skywave_scenario::{FlowSpec, ScenarioError, SourceSpec, TransportSpec, UdpSpec};

/// What the connections of a flow are made of.
#[derive(Clone, Debug)]
pub(crate) enum Transport {
    Tcp(Arc<TcpPlan>),
    Dccp {
        config: Arc<Config>,
        mechanism: Arc<dyn Mechanism>,
    },
    Udp,
}

impl Transport {
    /// The transport of the flow at `field`.
    ///
    /// # Errors
    /// [`ScenarioError`] where its control or a parameter of that is not known.
    fn new(flow: &FlowSpec, registry: &Registry, field: &str) -> Result<Self, ScenarioError> {
        let (key, made) = match &flow.transport {
            TransportSpec::Tcp(spec) => {
                let plan = TcpPlan::new(spec, registry);
                ("tcp", plan.map(|plan| Self::Tcp(Arc::new(plan))))
            }
            TransportSpec::Dccp(spec) => {
                let made = spec.mechanism(registry).map(|found| Self::Dccp {
                    config: Arc::new(dccp::config(
                        spec,
                        &found.member,
                        datagram_size(&flow.source),
                    )),
                    mechanism: found.member,
                });
                ("dccp", made)
            }
            TransportSpec::Udp(UdpSpec {}) => return Ok(Self::Udp),
        };
        made.map_err(|error| error.within(&format!("{field}.transport.{key}")).into())
    }

    /// The transport of the flow at `field`, shared with `neighbour` where both are described alike:
    /// thousands of flows are then little more than one.
    ///
    /// # Errors
    /// As [`Transport::new`].
    pub(crate) fn beside(
        neighbour: Option<(&FlowSpec, &Self)>,
        flow: &FlowSpec,
        registry: &Registry,
        field: &str,
    ) -> Result<Self, ScenarioError> {
        match neighbour {
            Some((other, shared))
                if other.transport == flow.transport
                    && datagram_size(&other.source) == datagram_size(&flow.source) =>
            {
                Ok(shared.clone())
            }
            _ => Self::new(flow, registry, field),
        }
    }

    /// Puts what follows from the profile and the control in the place of what is absent.
    pub(crate) fn complete(&self, spec: &mut TransportSpec) {
        match (self, spec) {
            (Self::Tcp(plan), TransportSpec::Tcp(spec)) => plan.complete(spec),
            (Self::Dccp { config, mechanism }, TransportSpec::Dccp(spec)) => {
                dccp::complete(spec, config, mechanism.row());
            }
            _ => {}
        }
    }

    /// Whether the sender gets along with the routers on its way that write codes of their own.
    pub(crate) fn check_routers(
        &self,
        routers: impl Iterator<Item = Dialect>,
        field: &str,
    ) -> Result<(), ScenarioError> {
        let codes: Vec<_> = routers
            .map(|dialect| (dialect.name, dialect.variant))
            .collect();
        let (key, verdict) = match self {
            Self::Tcp(plan) => ("tcp.control", plan.control.check_routers(&codes)),
            Self::Dccp { mechanism, .. } => ("dccp.ccid", mechanism.check_routers(&codes)),
            Self::Udp => return Ok(()),
        };
        verdict.map_err(|message| ScenarioError::new(format!("{field}.transport.{key}"), message))
    }

    /// Whether routers read anything out of the sender's packets.
    pub(crate) fn has_tags(&self) -> bool {
        match self {
            Self::Tcp(plan) => plan.control.has_tags(),
            Self::Dccp { mechanism, .. } => mechanism.has_tags(),
            Self::Udp => false,
        }
    }

    /// What routers read out of a packet of the sender's.
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

fn datagram_size(source: &SourceSpec) -> u64 {
    match source {
        SourceSpec::Ftp(ftp) => ftp.datagram.get(),
        SourceSpec::Cbr(cbr) => cbr.datagram.get(),
        SourceSpec::Voice(voice) => voice.largest_datagram(),
        SourceSpec::Web(web) => web.datagram.get(),
    }
}

/// A window as a scenario gives it; absent where it is unbounded, or no whole number of packets.
fn whole(packets: f64) -> Option<u32> {
    (packets.fract() == 0.0 && packets <= f64::from(u32::MAX)).then_some(packets as u32)
}

/// `base` with what a scenario says of it.
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
