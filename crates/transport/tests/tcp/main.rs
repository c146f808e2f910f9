//! TCP through its public interface: the RFCs' requirements on sender and receiver, ns-2's
//! behaviour, and invariants for any network.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod closed_window;
mod closing;
mod control;
mod delivery;
mod delivery_rate;
mod ecn;
mod extension;
mod fast_recovery;
mod flight;
mod handshake;
mod jitter;
mod kinds;
mod lost_packets;
mod marks;
mod network;
mod ns2_newreno;
mod pacing;
mod rack;
mod receive_window;
mod receiver;
mod recovery;
mod reports;
mod script;
mod size;
mod timeouts;
mod timestamps;
mod validation;
mod window;
