//! The simulator, from outside. One program, since linking each costs as much as running it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod capture;
mod check;
mod delivered;
#[path = "support/dumbbell.rs"]
mod dumbbell;
mod last_interval;
mod links;
mod live;
mod marks;
mod ns2;
mod packets;
mod probes;
mod qlog;
mod queues;
mod quick_start;
mod reductions;
mod sequence_window;
#[path = "../../../../tests/skipped.rs"]
mod skipped;
mod sources;
mod stepped;
mod support;
mod tcp;
mod tfrc;
mod tfrc_rates;
mod totals;
mod transports;
mod voice;
mod web;
