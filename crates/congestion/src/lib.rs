//! Congestion control algorithms, independent of the transport.
//!
//! - [`Control`] is the trait of window-based congestion controls, [`AnyControl`] a control chosen
//!   at run time, and [`Controls`] the set of controls by name. The `contract` feature provides
//!   property tests for any implementation.
//! - [`Aimd`] is the Reno family, as used by TCP, CCID 2 and their ns-2 counterparts.
//! - [`Cubic`] is RFC 9438. [`Vegas`] is delay-based. [`Bbr`] is BBRv3, which models the path.
//!   [`C4`] has a nominal rate and a nominal max RTT. [`Prague`] responds to the number of marks, for
//!   L4S.
//! - [`DctcpParameters`], [`HtcpParameters`], [`HyblaParameters`], [`IllinoisParameters`] and
//!   [`WestwoodParameters`] build controls that differ from Reno only in their laws of increase and
//!   decrease.
//! - [`tfrc`] is TCP-Friendly Rate Control (RFC 5348), which controls a rate instead of a window.
//! - [`DeliverySampler`] measures the delivery rate; [`Pacer`] spreads packets over time.
//! - [`RttEstimator`] computes SRTT and the RTO (RFC 6298).

#![cfg_attr(docsrs, feature(doc_cfg))]

mod aimd;
mod any;
mod bbr;
mod built_in;
mod c4;
#[cfg(feature = "contract")]
pub mod contract;
mod control;
mod cubic;
mod dctcp;
mod delivery_rate;
mod general_aimd;
mod htcp;
mod hybla;
mod hystart;
mod hystart_linux;
mod illinois;
mod kind;
mod law;
mod marked_fraction;
mod pacer;
mod prague;
mod reno;
mod rto;
mod slow_start;
#[cfg(test)]
mod testing;
pub mod tfrc;
mod ticks;
mod vegas;
mod westwood;
mod window;

pub use aimd::{Aimd, AimdConfig, DecreaseLaw, GrowthLaw, rfc3390_window};
pub use any::AnyControl;
pub use bbr::{Bbr, BbrConfig, BbrParameters};
pub use built_in::built_in_controls;
pub use c4::{C4, C4Config, C4Parameters, C4Rules};
pub use control::{
    Ack, AckedPacket, Control, Interests, Loss, LostPacket, Mark, MarkedPackets, Sent,
};
pub use cubic::{Cubic, CubicConfig, CubicParameters};
pub use dctcp::DctcpParameters;
pub use delivery_rate::{DeliveryRate, DeliverySampler};
pub use general_aimd::AimdParameters;
pub use htcp::HtcpParameters;
pub use hybla::HyblaParameters;
pub use illinois::IllinoisParameters;
pub use kind::{ControlContext, ControlKind, Controls, Ect, Wants, no_controls, register_control};
pub use pacer::{Pacer, Pacing};
pub use prague::{Prague, PragueConfig, PragueParameters};
pub use reno::RenoParameters;
pub use rto::{Clocking, RtoConfig, RttEstimator};
pub use skywave_registry::MemberFailure;
pub use vegas::{Vegas, VegasConfig, VegasParameters, VegasRules};
pub use westwood::WestwoodParameters;
