//! TCP-specific controls by name: those that control more of a sender than its window.

use core::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use skywave_congestion::{ControlContext, ControlKind, Vegas, VegasParameters, VegasRules, Wants};
use skywave_registry::{OpenSet, ParameterError};

use super::{Header, ReceiverExtension, RecoveryAlgorithm, SenderControl};

/// The parameters of a TCP control, from which each connection's control is built.
///
/// Most controls are independent of the transport: those are [`ControlKind`]s, and [`AnyTransport`]
/// adapts them.
pub trait TcpControlKind: fmt::Debug + Send + Sync {
    /// Checks the parameters.
    ///
    /// # Errors
    /// [`ParameterError`] with the first invalid one.
    fn check(&self) -> Result<(), ParameterError> {
        Ok(())
    }

    /// Builds a control for a new connection.
    fn build(&self, context: &ControlContext) -> SenderControl;

    /// Returns whether the controls of different connections, or the two ends of one, share state,
    /// such as a global variable or a learned model. A simulation then calls all members that do in
    /// order of time; it executes other parts of a network one after the other. Runs on other
    /// threads are not ordered.
    fn shares_state(&self) -> bool {
        false
    }

    /// Returns the receiver's half, if the control is a
    /// [`SenderExtension`](super::SenderExtension).
    fn receiver(&self) -> Option<Box<dyn ReceiverExtension + Send>> {
        None
    }

    /// Returns the features that the control requests from the sender.
    fn wants(&self) -> Wants {
        Wants::default()
    }

    /// Returns the recovery to use if none is chosen, or `None` for the usual default.
    fn recovery(&self) -> Option<RecoveryAlgorithm> {
        None
    }

    /// Returns up to three bits that routers on the path read from a segment's header, or zero if
    /// the control uses no such routers.
    fn tag(&self, header: Header) -> u8 {
        let _ = header;
        0
    }

    /// Returns whether [`TcpControlKind::tag`] ever returns anything but zero.
    fn has_tags(&self) -> bool {
        false
    }

    /// Returns whether the control uses the ECN field for its own purposes, which rules out RFC
    /// 3168.
    fn owns_ecn(&self) -> bool {
        false
    }

    /// Checks that the control works with the routers on its path that write their own codes into
    /// the ECN field. `codes` lists the name and variant of each router's codes.
    ///
    /// # Errors
    /// A message that says what is wrong and what to do.
    fn check_routers(&self, codes: &[(&'static str, u32)]) -> Result<(), String> {
        let _ = codes;
        Ok(())
    }
}

/// Adapts a transport-independent control to TCP.
#[derive(Clone, Debug)]
pub struct AnyTransport(pub Arc<dyn ControlKind>);

impl TcpControlKind for AnyTransport {
    fn check(&self) -> Result<(), ParameterError> {
        self.0.check()
    }

    fn shares_state(&self) -> bool {
        self.0.shares_state()
    }

    fn build(&self, context: &ControlContext) -> SenderControl {
        self.0.build(context).into()
    }

    fn wants(&self) -> Wants {
        self.0.wants()
    }

    fn recovery(&self) -> Option<RecoveryAlgorithm> {
        let wants = self.wants();
        if wants.rack {
            Some(RecoveryAlgorithm::Rack)
        } else {
            wants.sack.then_some(RecoveryAlgorithm::Sack)
        }
    }
}

/// TCP-specific controls by name. They take precedence over transport-independent controls with the
/// same name.
pub type TcpControls = OpenSet<dyn TcpControlKind>;

/// Registers a control with parameters of type `P`, which serde reads. `doc` describes it in one
/// sentence.
pub fn register_tcp_control<P>(controls: &mut TcpControls, name: &str, doc: &'static str)
where
    P: TcpControlKind + JsonSchema + Serialize + DeserializeOwned + 'static,
{
    controls.register(name, doc, |parameters: P| {
        parameters.check()?;
        Ok(Arc::new(parameters))
    });
}

/// Returns the TCP-specific controls of this crate.
pub fn built_in_tcp_controls() -> TcpControls {
    let mut controls = OpenSet::new("control");
    register_tcp_control::<TcpVegas>(
        &mut controls,
        "vegas",
        "TCP Vegas (Brakmo and Peterson 1995), or ns-2's variant.",
    );
    controls
}

/// Vegas with its own recovery and, in its ns-2 variant, with its inflation of cwnd.
#[derive(Clone, Copy, Debug, Default, JsonSchema, Serialize, Deserialize)]
#[schemars(inline)]
#[serde(transparent)]
struct TcpVegas(VegasParameters);

impl TcpControlKind for TcpVegas {
    fn check(&self) -> Result<(), ParameterError> {
        self.0.check()
    }

    fn build(&self, context: &ControlContext) -> SenderControl {
        if context.ns2 {
            let config = self.0.window(context, VegasRules::Ns2);
            SenderControl::Ns2Vegas(Box::new(Vegas::new(config)))
        } else {
            self.0.build(context).into()
        }
    }

    fn recovery(&self) -> Option<RecoveryAlgorithm> {
        Some(RecoveryAlgorithm::Vegas)
    }
}

#[cfg(test)]
mod tests {
    use skywave_congestion::{CubicParameters, RenoParameters};

    use super::*;

    /// A control does not name a recovery of TCP, but the features with which it works best.
    #[test]
    fn a_control_that_wants_sack_recovers_with_it() {
        let cubic = AnyTransport(Arc::new(CubicParameters::default()));
        assert_eq!(cubic.recovery(), Some(RecoveryAlgorithm::Sack));
        let reno = AnyTransport(Arc::new(RenoParameters::default()));
        assert_eq!(reno.recovery(), None);
    }
}
