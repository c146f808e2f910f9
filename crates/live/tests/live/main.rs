//! Scenarios in real time, from outside.

mod live;
mod refused;
mod routes;
#[path = "../../../../tests/skipped.rs"]
mod skipped;
