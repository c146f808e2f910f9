//! TCP from outside: what the RFCs require of a sender and of a receiver, what ns-2 did, and what
//! must hold whatever the network does.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod delivery;
mod delivery_rate;
mod ecn;
mod extension;
mod network;
mod ns2_newreno;
mod pacing;
mod receiver;
mod recovery;
mod script;
mod sender;
