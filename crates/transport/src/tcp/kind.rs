//! Controls of TCP by name: those that need more of a sender than its window.

use core::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use skywave_congestion::{ControlContext, ControlKind, Vegas, VegasParameters, VegasRules};
use skywave_registry::{OpenSet, ParameterError};

use super::{Header, ReceiverExtension, RecoveryAlgorithm, SenderControl};

/// The parameters of a control for TCP, from which one is made for each connection.
///
/// Most controls know no transport: those are [`ControlKind`]s, and [`AnyTransport`] makes one of
/// them.
pub trait TcpControlKind: fmt::Debug + Send + Sync {
    /// Whether the parameters make sense.
    ///
    /// # Errors
    /// [`ParameterError`] with the first one that does not.
    fn check(&self) -> Result<(), ParameterError> {
        Ok(())
    }

    /// A control for a new connection.
    fn build(&self, context: &ControlContext) -> SenderControl;

    /// The receiver's half, where the control is a [`SenderExtension`](super::SenderExtension).
    fn receiver(&self) -> Option<Box<dyn ReceiverExtension + Send>> {
        None
    }

    /// The recovery that goes with it where none is chosen; `None` for the usual one.
    fn recovery(&self) -> Option<RecoveryAlgorithm> {
        None
    }

    /// Up to three bits that routers on the way read out of a segment's header, where it has such
    /// routers; zero where it has none.
    fn tag(&self, header: Header) -> u8 {
        let _ = header;
        0
    }

    /// Whether [`TcpControlKind::tag`] ever tells anything.
    fn has_tags(&self) -> bool {
        false
    }

    /// Whether it uses the ECN field in a way of its own, so that RFC 3168 cannot be used beside it.
    fn owns_ecn(&self) -> bool {
        false
    }

    /// Whether it gets along with the routers on its way that write codes of their own into the ECN
    /// field: the name and the variant of each one's codes.
    ///
    /// # Errors
    /// What is wrong and what to do.
    fn check_routers(&self, codes: &[(&'static str, u32)]) -> Result<(), String> {
        let _ = codes;
        Ok(())
    }
}

/// A control that knows no transport, as one for TCP.
#[derive(Clone, Debug)]
pub struct AnyTransport(pub Arc<dyn ControlKind>);

impl TcpControlKind for AnyTransport {
    fn check(&self) -> Result<(), ParameterError> {
        self.0.check()
    }

    fn build(&self, context: &ControlContext) -> SenderControl {
        self.0.build(context).into()
    }
}

/// Controls of TCP by name. They come before those of every transport that have the same name.
pub type TcpControls = OpenSet<dyn TcpControlKind>;

/// Adds a control with parameters of type `P`, which serde reads. `doc` says in a sentence what it is.
pub fn register_tcp_control<P>(controls: &mut TcpControls, name: &str, doc: &'static str)
where
    P: TcpControlKind + JsonSchema + Serialize + DeserializeOwned + 'static,
{
    controls.register(name, doc, |parameters: P| {
        parameters.check()?;
        Ok(Arc::new(parameters))
    });
}

/// The controls of this crate.
pub fn built_in_tcp_controls() -> TcpControls {
    let mut controls = OpenSet::new("control");
    let set = &mut controls;
    register_tcp_control::<TcpVegas>(set, "vegas", "Brakmo and Peterson 1995, or ns-2's.");
    controls
}

/// Vegas with its own recovery, and where ns-2 is followed, with its inflation of cwnd.
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
