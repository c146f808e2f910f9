//! VCP and MPCP in the simulator: routers and senders together, with physics verified.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../../../sim/tests/support/dumbbell.rs"]
mod dumbbell;
mod errors;
mod mpcp;
#[path = "../../../sim/tests/support/mod.rs"]
mod support;
mod vcp;
