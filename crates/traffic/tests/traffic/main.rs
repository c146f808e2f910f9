//! Sources, from outside.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod ns2;
mod random;
mod replay;
mod support;
