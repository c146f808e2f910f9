//! Packets as others write and read them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod captures;
mod dccp;
mod pcapng;
#[path = "../../../../tests/skipped.rs"]
mod skipped;
mod support;
mod tcp;
mod tshark;
