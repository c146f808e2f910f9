//! Emulated networks, from outside.

mod live;
mod network;
#[path = "../../../../tests/skipped.rs"]
mod skipped;
