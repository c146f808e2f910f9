//! The controls, from outside.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod aimd_windows;
mod contract;
mod ecn_echo;
mod forwarding;
mod loss_event_rate;
mod parameters;
mod path_windows;
mod support;
mod tfrc_documents;
