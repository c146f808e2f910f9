//! Load factors: how a router expresses its link's load in two bits.
//!
//! The router measures with a [`Meter`], and the bits encode a [`Zone`]. Routers and senders share
//! this module, so each threshold is defined once. Both come from Xia, Subramanian, Stoica and
//! Kalyanaraman, "One More Bit Is Enough" (2005 and 2008), as restated by Chen, Yang and Hong
//! (2010). In MPCP several consecutive packets encode a [`Level`], and the router's [`Marker`]
//! writes each packet's part of it.

mod level;
mod marker;
mod meter;
mod zone;

pub(crate) use level::VCP_DECREASE;
pub use level::{Level, MAX_PACKETS};
pub use marker::Marker;
pub use meter::{Meter, MeterConfig, QueueAverage};
pub use zone::Zone;
