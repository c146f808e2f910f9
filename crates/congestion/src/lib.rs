//! Congestion control algorithms, free of any transport.
//!
//! - [`Control`] is what every congestion control is; [`AnyControl`] is one of them, chosen at run
//!   time; [`Controls`] finds one by its name. The feature `contract` has the tests that hold any
//!   control to what transports rely on.
//! - [`Aimd`] is the Reno family: TCP, CCID 2 and their ns-2 counterparts.
//! - [`Cubic`] is RFC 9438, [`Vegas`] control by delay.
//! - [`tfrc`] is control by rate instead of by window: RFC 5348.
//! - [`DeliverySampler`] measures how fast data is delivered, [`Pacer`] spreads it over time.
//! - [`RttEstimator`] is RFC 6298.

mod aimd;
mod any;
mod built_in;
#[cfg(feature = "contract")]
pub mod contract;
mod control;
mod cubic;
mod delivery_rate;
mod kind;
mod pacer;
mod reno;
mod rto;
#[cfg(test)]
mod testing;
pub mod tfrc;
mod vegas;

pub use aimd::{Aimd, AimdConfig, DecreaseLaw, GrowthLaw, rfc3390_window};
pub use any::AnyControl;
pub use built_in::built_in_controls;
pub use control::{Ack, AckedPacket, Control, Interests, Loss, Mark, Sent};
pub use cubic::{Cubic, CubicConfig, CubicParameters};
pub use delivery_rate::{DeliveryRate, DeliverySampler};
pub use kind::{ControlContext, ControlKind, Controls, no_controls, register_control};
pub use pacer::{Pacer, Pacing};
pub use reno::RenoParameters;
pub use rto::{Clocking, RtoConfig, RttEstimator};
pub use vegas::{Vegas, VegasConfig, VegasParameters, VegasRules};
