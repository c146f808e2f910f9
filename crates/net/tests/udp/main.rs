//! Two endpoints over UDP on this host.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod black_hole;
mod ccids;
mod data;
mod ecn;
mod ends;
mod errors;
mod gather;
mod happy_eyeballs;
mod liars;
mod limits;
mod liveness;
mod many;
mod qlog;
mod relay;
mod shards;
#[path = "../../../../tests/skipped.rs"]
mod skipped;
mod snapshot;
mod stranger;
mod unaccepted;

#[path = "../support/mod.rs"]
mod support;

use support::{PATIENCE, PORT, Pair, endpoint, endpoint_with, pair, peer, quick, soon};
