//! Skywave for Rust: DCCP on sockets, and a congestion-control laboratory built from the same code.
//!
//! - [`sim`] runs scenarios on virtual time; [`net`] carries datagrams over real networks.
//! - [`congestion`], [`path`] and [`transport`] contain the congestion controls, queues and
//!   protocols, and the traits for your own: see `examples/own_control.rs`.
//! - [`wire`] decodes and encodes packets, [`units`] defines quantities, and [`registry`] finds
//!   members by name.

pub use skywave_congestion as congestion;
pub use skywave_net as net;
pub use skywave_path as path;
pub use skywave_registry as registry;
pub use skywave_sim as sim;
pub use skywave_transport as transport;
pub use skywave_units as units;
pub use skywave_wire as wire;
