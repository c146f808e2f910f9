//! DCCP from outside, among enemies: whatever a path does to packets, whatever a stranger injects
//! and whatever a peer says, what the application sees is true, and connections end.
//!
//! - [`chaos`]: thousands of connections over paths that do everything to packets; [`plan`] draws them.
//! - [`injection`] and [`replay`]: a [`stranger`] who sees nothing, and one who has seen it all.
//! - [`lies`] and [`garbage`]: a peer whose [`victim`] believes its numbers but not its words.
//! - [`network`] and [`path`]: what stands between two ends.

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
mod path;
mod plan;
mod replay;
mod stranger;
mod victim;
