//! DCCP under attack, tested through its public interface: whatever a path does, an attacker
//! injects or a peer claims, the application sees correct data, and connections end.
//!
//! - [`chaos`]: thousands of connections over paths with all kinds of faults; [`plan`] draws them.
//! - [`injection`] and [`replay`]: a [`stranger`] who sees nothing, and one who has seen
//!   everything.
//! - [`lies`], [`optimistic`] and [`garbage`]: a lying peer and its [`victim`].
//! - [`session`]: a layer between the application and its connection.
//! - [`network`] and [`path`]: the network between two ends.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod chaos;
mod garbage;
mod injection;
#[path = "../support/kind.rs"]
mod kind;
mod lies;
#[path = "../support/load_vectors.rs"]
mod load_vectors;
mod network;
mod optimistic;
mod path;
mod plan;
mod replay;
mod session;
mod stranger;
mod victim;
