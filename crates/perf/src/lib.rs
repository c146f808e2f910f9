//! Performance measurements of DCCP: on one host, compared with plain UDP and quinn ([`loopback`]),
//! and between two hosts ([`between`]).
//!
//! The results are from the application's point of view: datagrams that arrived, round trips, and
//! the CPU time (user and system) and memory of the process.

#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod between;
pub mod loopback;

mod error;

pub use error::PerfError;
