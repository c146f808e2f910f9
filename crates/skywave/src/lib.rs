//! Skywave for Rust: DCCP on sockets, and a congestion-control laboratory built from the same code.
//!
//! - [`sim`] runs scenarios on virtual time; [`net`] carries datagrams over real networks.
//! - [`congestion`], [`path`], [`traffic`] and [`transport`] contain the congestion controls, queues,
//!   sources and protocols, and the traits for your own: see `examples/own_control.rs` and
//!   `examples/own_queue.rs`.
//! - [`wire`] decodes and encodes packets, [`units`] defines quantities, and [`registry`] finds
//!   members by name.
//! - [`rand`] and [`rand_xoshiro`] are the crates of the random streams that queues, losses and sources
//!   draw from, in the version whose types they have.
//!
//! The features `sim` and `net` are on by default; `net` needs Linux. The feature `contract` adds the
//! contract tests of [`congestion`], for controls of your own.

#![cfg_attr(docsrs, feature(doc_cfg))]

pub use rand;
pub use rand_xoshiro;
pub use skywave_congestion as congestion;
#[cfg(feature = "net")]
pub use skywave_net as net;
pub use skywave_path as path;
pub use skywave_registry as registry;
#[cfg(feature = "sim")]
pub use skywave_sim as sim;
pub use skywave_traffic as traffic;
pub use skywave_transport as transport;
pub use skywave_units as units;
pub use skywave_wire as wire;

#[cfg(all(doctest, feature = "sim"))]
#[doc = include_str!("../README.md")]
struct Readme;
