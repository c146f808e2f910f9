//! TCP from outside: what the RFCs require of a sender and of a receiver, what ns-2 did, and what
//! must hold whatever the network does.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod delivery;
mod ecn;
mod network;
mod ns2_newreno;
mod receiver;
mod recovery;
mod script;
mod sender;
