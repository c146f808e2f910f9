//! Controls by name: factories with typed parameters.

use core::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use skywave_registry::{OpenSet, ParameterError};

use crate::AnyControl;

/// The values that a control depends on besides its own parameters. Windows are in packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ControlContext {
    /// Bytes of application data in a full packet.
    pub packet_size: u32,
    /// The initial cwnd, and the upper bound of cwnd after an idle period.
    pub initial_cwnd: f64,
    /// The initial ssthresh; infinite for "arbitrarily high".
    pub initial_ssthresh: f64,
    /// Whether the endpoint emulates ns-2 where it deviates from the RFCs. Most controls have no
    /// such deviation.
    pub ns2: bool,
    /// Whether the endpoint follows Linux where the RFCs leave a choice.
    pub linux: bool,
}

/// The features that a control requests from the transport.
///
/// ```
/// use skywave_congestion::{Ect, Wants};
///
/// let wants = Wants::default().with_sack().with_ecn(Ect::Zero);
/// assert!(wants.sack && !wants.pacing);
/// assert_eq!(wants.ecn, Some(Ect::Zero));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Wants {
    /// Whether the control wants selective acknowledgements. Over TCP this selects a recovery that
    /// uses them (RFC 6675), unless the user chooses another one; DCCP's Ack Vectors are always
    /// selective.
    pub sack: bool,
    /// Whether the control wants losses to be found by sending times, so that a lost retransmission
    /// does not wait for a timeout. Over TCP this selects RACK-TLP (RFC 8985), unless the user
    /// chooses another recovery.
    pub rack: bool,
    /// The ECN code point that the control wants on data; any code point enables ECN. `None` leaves
    /// both choices to the transport and the user.
    pub ecn: Option<Ect>,
    /// Whether the control needs every mark reported: over TCP this selects AccECN; DCCP's Ack
    /// Vectors report it already.
    pub accurate_ecn: bool,
    /// Whether the transport should spread packets over the round trip
    /// ([`Pacing::of_window`](crate::Pacing::of_window)) while the control names no
    /// [`Pacing`](crate::Pacing) of its own.
    pub pacing: bool,
    /// Whether the control models the path and derives cwnd from the model, so that the transport
    /// must not validate cwnd (RFC 7661).
    pub models_path: bool,
}

impl Wants {
    /// Adds a request for selective acknowledgements.
    #[must_use]
    pub const fn with_sack(mut self) -> Self {
        self.sack = true;
        self
    }

    /// Adds a request for RACK-TLP, which includes selective acknowledgements.
    #[must_use]
    pub const fn with_rack(mut self) -> Self {
        self.sack = true;
        self.rack = true;
        self
    }

    /// Adds a request for ECN, with `code` on data.
    #[must_use]
    pub const fn with_ecn(mut self, code: Ect) -> Self {
        self.ecn = Some(code);
        self
    }

    /// Adds a request for reports of every mark.
    #[must_use]
    pub const fn with_accurate_ecn(mut self) -> Self {
        self.accurate_ecn = true;
        self
    }

    /// Adds a request for pacing.
    #[must_use]
    pub const fn with_pacing(mut self) -> Self {
        self.pacing = true;
        self
    }

    /// States that cwnd follows from a model of the path.
    #[must_use]
    pub const fn with_model_of_path(mut self) -> Self {
        self.models_path = true;
        self
    }
}

/// A code point of ECN-capable transports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ect {
    /// ECT(0): a router marks packets that it would otherwise drop (RFC 3168).
    Zero,
    /// ECT(1): a router marks early and often (L4S, RFC 9331). The control responds to the fraction
    /// of marked packets, so the receiver must report each mark: DCCP's Ack Vectors and Accurate
    /// ECN do, RFC 3168's echo does not.
    One,
}

/// The parameters of a control, from which each connection's control is built.
pub trait ControlKind: fmt::Debug + Send + Sync {
    /// Checks the parameters.
    ///
    /// # Errors
    /// [`ParameterError`] with the first invalid one.
    fn check(&self) -> Result<(), ParameterError> {
        Ok(())
    }

    /// Returns the features with which the control works best.
    fn wants(&self) -> Wants {
        Wants::default()
    }

    /// Builds a control for a new connection.
    fn build(&self, context: &ControlContext) -> AnyControl;

    /// Returns whether the controls of different connections share state, such as a global variable
    /// or a learned model. A simulation then calls all members that do in order of time; it
    /// executes other parts of a network one after the other. Runs on other threads are not
    /// ordered.
    fn shares_state(&self) -> bool {
        false
    }
}

/// Controls by name.
pub type Controls = OpenSet<dyn ControlKind>;

/// Returns an empty set of controls.
pub const fn no_controls() -> Controls {
    OpenSet::new("control")
}

/// Registers a control with parameters of type `P`, which serde reads. `doc` describes it in one
/// sentence.
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
