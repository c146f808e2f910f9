//! Scenarios in real time, between real sockets.
//!
//! Each node at which a flow begins or ends is a network namespace with one interface. The links,
//! queues and routes between them are those of a simulation, in real time. The ends of flows
//! send through sockets in their namespaces:
//!
//! - DCCP as IP protocol 33, or over UDP (RFC 6773);
//! - our TCP as IP packets from an address that the kernel does not know, so that it resets
//!   nothing;
//! - UDP through the kernel's own UDP;
//! - `kernel-tcp` is the kernel's TCP itself, sampled by `TCP_INFO`;
//! - `kernel-dccp` is the kernel's DCCP.
//!
//! [`run`] runs a scenario, and returns the tables of a simulation with a [`Report`] on how far
//! they can be trusted. It needs the privileges to create network namespaces. Everything it creates
//! disappears with the process.

mod driver;
mod error;
mod kernel;
mod node;
mod report;
mod socket_options;
mod testbed;

pub use driver::{Lived, Options, Pace, Progress, run};
pub use error::LiveError;
pub use report::Report;
pub use skywave_sim::live::Encapsulation;
