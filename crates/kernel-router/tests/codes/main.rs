//! The program in the kernel writes the codes that the router in user space writes, and nothing
//! else. Needs root (or CAP_BPF and CAP_NET_ADMIN) and clang; without them, nothing is tested.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod frames;
mod hostile;
mod same;
#[path = "../../../../tests/skipped.rs"]
mod skipped;
mod twin;

use std::fmt::Display;
use std::sync::OnceLock;

use proptest::test_runner::{Config as Cases, TestRunner};
use skywave_kernel_router::{Config, LinkHeader, Object, Program, RouterError};
use skywave_mpcp::{OrderParameter, RouterParameters};
use skywave_units::{Duration, Rate};

/// The rate of the link: a frame of 1000 bytes takes a millisecond.
const RATE: Rate = Rate::from_bps(8_000_000);
/// Few enough that flows meet each other in the table.
const SLOTS: u32 = 8;

fn config(chain: u8, order: OrderParameter) -> Config {
    Config {
        load: RouterParameters {
            chain,
            flows: SLOTS,
            // Short, so that the load changes often.
            interval: Duration::from_millis(20),
            sampling: Duration::from_millis(2),
            ..RouterParameters::default()
        },
        order,
        ..Config::new(RATE)
    }
}

#[track_caller]
fn skipped<T>(why: impl Display) -> Option<T> {
    skipped::skipped(why);
    None
}

/// Returns the program in the kernel, for Ethernet; `None`, with a message, where that is not to be
/// had.
fn program(config: &Config) -> Option<Program> {
    static OBJECT: OnceLock<Result<Object, RouterError>> = OnceLock::new();
    let object = match OBJECT.get_or_init(Object::compile) {
        Ok(object) => object,
        Err(error @ RouterError::NoClang { .. }) => return skipped(error),
        Err(error @ RouterError::Compile { message, .. }) if message.contains("not found") => {
            return skipped(error);
        }
        Err(error) => panic!("{error}"),
    };
    match Program::load(object, config, LinkHeader::Ethernet) {
        Ok(program) => Some(program),
        Err(error @ RouterError::Privilege { .. }) => skipped(error),
        Err(error) => panic!("{error}"),
    }
}

/// Runs a property as often as given. Failures are printed, not stored.
fn runner(cases: u32) -> TestRunner {
    TestRunner::new(Cases {
        cases,
        failure_persistence: None,
        ..Cases::default()
    })
}
