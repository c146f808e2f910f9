//! Tests that cannot test anything where they run, because it lacks a privilege or a program.
//!
//! A module of the crates' tests, by its path.

use std::fmt::Display;
use std::io::Write;
use std::panic::Location;

/// Reports that the test of this thread is skipped.
///
/// # Panics
/// If the environment variable `SKYWAVE_NO_SKIPS` is `1`: whoever sets it has everything that tests
/// need.
#[track_caller]
pub(crate) fn skipped(reason: impl Display) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    let line = format!("SKIPPED: {test}: {reason}");
    let forbidden = std::env::var_os("SKYWAVE_NO_SKIPS").is_some_and(|value| value == "1");
    assert!(!forbidden, "{line} ({})", Location::caller());
    // The harness hides the output of eprintln! if the test passes.
    let _ = writeln!(std::io::stderr(), "{line}");
}
