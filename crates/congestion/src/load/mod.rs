//! Load factors: how a router says in two bits how busy its link is.
//!
//! The router measures ([`Meter`]) and the bits name a [`Zone`]; routers and senders share this one
//! module, so a threshold is written once. Xia, Subramanian, Stoica and Kalyanaraman, "One More Bit
//! Is Enough" (2005 and 2008), is where both come from; Chen, Yang and Hong (2010) restate them.

mod meter;
mod zone;

pub use meter::{Meter, MeterConfig, QueueAverage};
pub use zone::Zone;
