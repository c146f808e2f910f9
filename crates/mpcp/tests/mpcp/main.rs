//! VCP and MPCP, from outside.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod contract;
mod dccp;
#[path = "../../../sim/tests/sim/support/dumbbell.rs"]
mod dumbbell;
mod router;
mod simulated;
mod sockets;
#[path = "../../../sim/tests/sim/support/mod.rs"]
mod support;
