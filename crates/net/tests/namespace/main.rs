//! Endpoints in a network namespace of their own, where raw sockets and interfaces are theirs alone.
//! It takes root, or CAP_NET_RAW and CAP_SYS_ADMIN, and the command `ip`; elsewhere these tests say
//! why they are skipped.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod path;
mod raw;

use std::process::Command;
use std::time::Duration;

use nix::sched::{CloneFlags, unshare};
use skywave_transport::dccp::Config;

const PORT: u16 = 5001;
const PATIENCE: Duration = Duration::from_secs(30);

/// Runs `test` in a fresh network with `addresses` on its loopback interface, or says why not.
fn in_namespace<F: Future<Output = ()>>(
    addresses: &'static [&'static str],
    test: impl FnOnce() -> F + Send + 'static,
) {
    let thread = std::thread::spawn(move || {
        if let Err(error) = unshare(CloneFlags::CLONE_NEWNET) {
            return Err(format!("no network namespace: {error}"));
        }
        ip(&["link", "set", "lo", "up"])?;
        for address in addresses {
            ip(&["address", "add", address, "dev", "lo"])?;
        }
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap()
            .block_on(async { tokio::time::timeout(PATIENCE, test()).await.unwrap() });
        Ok(())
    });
    if let Err(reason) = thread.join().unwrap() {
        eprintln!("skipped: {reason}");
    }
}

fn ip(arguments: &[&str]) -> Result<(), String> {
    match Command::new("ip").args(arguments).status() {
        Ok(status) if status.success() => Ok(()),
        other => Err(format!("`ip {}`: {other:?}", arguments.join(" "))),
    }
}

fn config() -> Config {
    Config {
        request_retry: skywave_units::Duration::from_millis(50),
        request_give_up: skywave_units::Duration::from_millis(300),
        ..Config::default()
    }
}
