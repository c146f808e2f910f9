//! Queues, losses and links, from outside.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod conduct;
mod contract;
mod network;
mod ns2_red;
mod parameters;
mod rates;
