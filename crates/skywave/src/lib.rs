//! Skywave for Rust: DCCP on sockets, and a congestion-control laboratory built from the same code.
//!
//! - [`sim`] runs scenarios in simulated time; [`net`] carries datagrams over real networks.
//! - [`congestion`], [`path`], [`traffic`] and [`transport`] contain the congestion controls,
//!   queues, sources and protocols, and the traits for writing your own: see
//!   `examples/own_control.rs` and `examples/own_queue.rs`.
//! - [`wire`] decodes and encodes packets, [`units`] defines quantities, and [`registry`] finds
//!   members by name.
//! - [`rand`] is the version of the `rand` crate whose traits [`units::Random`] implements. Queues,
//!   losses and sources draw from that generator.
//!
//! Features select what is compiled; `net` and `sim` are on by default:
//!
//! | feature | what it adds |
//! |---|---|
//! | `net` | `net`: DCCP on sockets. Linux only: elsewhere it adds nothing |
//! | `blocking` | `net::blocking`: those sockets without async |
//! | `sim` | `sim` and `scenario`: scenarios, and their runs in simulated time |
//! | `emulate` | `emulate`: a scenario's network in real time, between network namespaces. Linux only |
//! | `live` | `live`: a complete scenario in real time. Linux only |
//! | `mpcp` | `mpcp`: MPCP and VCP, their controls and their router |
//! | `capture` | `wire::capture`: pcapng and pcap files |
//! | `qlog` | `qlog`, and logs of connections and flows for qvis |
//! | `contract` | the contract tests of [`congestion`], for controls of your own |

#![cfg_attr(docsrs, feature(doc_cfg))]

pub use rand;
pub use skywave_congestion as congestion;
#[cfg(all(feature = "emulate", target_os = "linux"))]
pub use skywave_emulate as emulate;
#[cfg(all(feature = "live", target_os = "linux"))]
pub use skywave_live as live;
#[cfg(feature = "mpcp")]
pub use skywave_mpcp as mpcp;
#[cfg(all(feature = "net", target_os = "linux"))]
pub use skywave_net as net;
pub use skywave_path as path;
#[cfg(feature = "qlog")]
pub use skywave_qlog as qlog;
pub use skywave_registry as registry;
#[cfg(feature = "sim")]
pub use skywave_scenario as scenario;
#[cfg(feature = "sim")]
pub use skywave_sim as sim;
pub use skywave_traffic as traffic;
pub use skywave_transport as transport;
pub use skywave_units as units;
pub use skywave_wire as wire;

#[cfg(all(doctest, feature = "sim"))]
#[doc = include_str!("../README.md")]
struct Readme;
