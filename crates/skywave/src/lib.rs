//! Skywave for Rust: DCCP on sockets, and a laboratory for congestion control made of the same code.
//!
//! - [`sim`] runs scenarios on virtual time; [`net`] carries datagrams over real networks.
//! - [`congestion`] holds the controls, [`path`] the queues, [`transport`] the protocols, for those who
//!   bring one of their own: `examples/own_control.rs` does.
//! - [`wire`] reads and writes packets; [`units`] has the quantities; [`registry`] is how members are
//!   found by name.
//!
//! The features `sim` and `net` are both on by default; `net` needs Linux. The feature `contract` has the
//! tests that hold a control of one's own to what transports rely on ([`congestion`]).

pub use skywave_congestion as congestion;
#[cfg(feature = "net")]
pub use skywave_net as net;
pub use skywave_path as path;
pub use skywave_registry as registry;
#[cfg(feature = "sim")]
pub use skywave_sim as sim;
pub use skywave_transport as transport;
pub use skywave_units as units;
pub use skywave_wire as wire;
