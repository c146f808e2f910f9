//! TCP through its public interface: the RFCs' requirements on sender and receiver, ns-2's
//! behaviour, and invariants for any network.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod control;
mod delivery;
mod delivery_rate;
mod ecn;
mod extension;
mod flight;
mod kinds;
mod lost_packets;
mod marks;
mod network;
mod ns2_newreno;
mod pacing;
mod receive_window;
mod receiver;
mod recovery;
mod reports;
mod script;
mod sender;
