//! Congestion control algorithms, free of any transport.
//!
//! - [`WindowControl`] is what every window algorithm is; [`Window`] is one of them, chosen at run
//!   time.
//! - [`Aimd`] is the Reno family: TCP, CCID 2 and their ns-2 counterparts.
//! - [`RttEstimator`] is RFC 6298.

mod aimd;
mod any;
mod rto;
mod window;

pub use aimd::{Aimd, AimdConfig, DecreaseLaw, GrowthLaw, rfc3390_window};
pub use any::Window;
pub use rto::{Clocking, RtoConfig, RttEstimator};
pub use window::{AckSummary, AckedPacket, WindowControl};
