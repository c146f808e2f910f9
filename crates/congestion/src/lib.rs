//! Congestion control algorithms, free of any transport.
//!
//! - [`WindowControl`] is what every window algorithm is; [`Window`] is one of them, chosen at run
//!   time.
//! - [`Aimd`] is the Reno family: TCP, CCID 2 and their ns-2 counterparts.
//! - [`Cubic`] is RFC 9438, [`Vegas`] control by delay, [`Mpcp`] by the routers' load factor:
//!   VCP, and MPCP.
//! - [`load`] is what VCP's routers measure, and the codes in which they say it.
//! - [`tfrc`] is control by rate instead of by window: RFC 5348.
//! - [`RttEstimator`] is RFC 6298.

mod aimd;
mod any;
mod cubic;
pub mod load;
mod mpcp;
mod rto;
pub mod tfrc;
mod vegas;
mod window;

pub use aimd::{Aimd, AimdConfig, DecreaseLaw, GrowthLaw, rfc3390_window};
pub use any::Window;
pub use cubic::{Cubic, CubicConfig};
pub use mpcp::{
    Acts, AdditiveScaling, AfterDecrease, ChainOrder, Mpcp, MpcpConfig, OnLoss, VcpConfig,
};
pub use rto::{Clocking, RtoConfig, RttEstimator};
pub use vegas::{Vegas, VegasConfig, VegasRules};
pub use window::{AckSummary, AckedPacket, WindowControl};
