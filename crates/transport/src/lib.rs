//! Sans-IO transport endpoints.
//!
//! [`Endpoint`] is the boundary: packets and times go in, packets and deadlines come out. The same
//! endpoint runs in the simulator and on sockets.

mod endpoint;

pub use endpoint::{Drain, Driven, Endpoint, Transmit};
