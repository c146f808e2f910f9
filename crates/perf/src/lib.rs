//! How fast DCCP is: on one host beside plain UDP and quinn ([`loopback`]), and between two hosts
//! ([`between`]).
//!
//! What is measured is what an application gets: datagrams that arrived, round trips, and the CPU
//! time and memory of the process, user and system.

pub mod between;
pub mod loopback;

mod error;

pub use error::PerfError;
