//! Load factors: how a router says in two bits how busy its link is.
//!
//! The router measures ([`Meter`]) and the bits name a [`Zone`]; routers and senders share this one
//! module, so a threshold is written once. Xia, Subramanian, Stoica and Kalyanaraman, "One More Bit
//! Is Enough" (2005 and 2008), is where both come from; Chen, Yang and Hong (2010) restate them.
//! Where several packets in a row say it together (MPCP), they name a [`Level`], and the router's
//! [`Marker`] writes each packet's part of it.

mod level;
mod marker;
mod meter;
mod zone;

pub(crate) use level::VCP_DECREASE;
pub use level::{Level, MAX_PACKETS};
pub use marker::Marker;
pub use meter::{Meter, MeterConfig, QueueAverage};
pub use zone::Zone;
