//! A sender, a router whose bottleneck is the kernel's `tbf`, and a receiver, each in its network
//! namespace. Needs root, `ip`, `tc` and clang; without them, nothing is tested.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod attached;
mod shared;
#[path = "../../../../tests/skipped.rs"]
mod skipped;
mod testbed;

use std::fmt::Display;

use skywave_kernel_router::{Object, RouterError};

#[track_caller]
fn skipped<T>(why: impl Display) -> Option<T> {
    skipped::skipped(why);
    None
}

/// Returns the compiled program; `None`, with a message, where there is no compiler.
fn object() -> Option<Object> {
    match Object::compile() {
        Ok(object) => Some(object),
        Err(error @ RouterError::NoClang { .. }) => skipped(error),
        Err(error @ RouterError::Compile { .. }) if error.to_string().contains("not found") => {
            skipped(error)
        }
        Err(error) => panic!("{error}"),
    }
}
