//! Controls by name: factories with typed parameters.

use core::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use skywave_registry::{OpenSet, ParameterError};

use crate::AnyControl;

/// What a control depends on beyond its own parameters. Windows are in packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ControlContext {
    /// Bytes of application data in a full packet.
    pub packet_size: u32,
    /// cwnd of a new connection, and the most that is left of it after an idle period.
    pub initial_cwnd: f64,
    /// ssthresh of a new connection; infinite for "arbitrarily high".
    pub initial_ssthresh: f64,
    /// Whether the endpoint follows ns-2 where that departs from the RFCs. Most controls know of no
    /// such place.
    pub ns2: bool,
}

/// The parameters of a control, from which one is made for each connection.
pub trait ControlKind: fmt::Debug + Send + Sync {
    /// Whether the parameters make sense.
    ///
    /// # Errors
    /// [`ParameterError`] with the first one that does not.
    fn check(&self) -> Result<(), ParameterError> {
        Ok(())
    }

    /// A control for a new connection.
    fn build(&self, context: &ControlContext) -> AnyControl;
}

/// Controls by name.
pub type Controls = OpenSet<dyn ControlKind>;

/// A set without controls.
pub const fn no_controls() -> Controls {
    OpenSet::new("control")
}

/// Adds a control with parameters of type `P`, which serde reads. `doc` says in a sentence what it is.
///
/// ```
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
/// use skywave_congestion::{
///     Ack, AnyControl, Control, ControlContext, ControlKind, Loss, built_in_controls,
///     register_control,
/// };
/// use skywave_units::Instant;
///
/// /// A window that never grows.
/// #[derive(Debug, JsonSchema, Serialize, Deserialize)]
/// #[serde(deny_unknown_fields)]
/// struct Fixed {
///     /// In packets.
///     cwnd: f64,
/// }
///
/// struct FixedWindow(f64);
///
/// impl Control for FixedWindow {
///     fn on_ack(&mut self, _ack: &Ack) {}
///     fn on_loss(&mut self, _loss: &Loss) {}
///     fn on_timeout(&mut self, _now: Instant, _in_flight: u32) {}
///     fn limit_cwnd(&mut self, limit: f64) {
///         self.0 = self.0.min(limit.max(1.0));
///     }
///     fn cwnd(&self) -> f64 {
///         self.0
///     }
/// }
///
/// impl ControlKind for Fixed {
///     fn build(&self, _context: &ControlContext) -> AnyControl {
///         AnyControl::new(FixedWindow(self.cwnd))
///     }
/// }
///
/// let mut controls = built_in_controls();
/// register_control::<Fixed>(&mut controls, "fixed", "A window that never grows.");
/// assert!(controls.contains("fixed"));
/// ```
pub fn register_control<P>(controls: &mut Controls, name: &str, doc: &'static str)
where
    P: ControlKind + JsonSchema + Serialize + DeserializeOwned + 'static,
{
    controls.register(name, doc, |parameters: P| {
        parameters.check()?;
        Ok(Arc::new(parameters))
    });
}
