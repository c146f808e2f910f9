//! Tests in their own network namespace.

#[path = "../../../../tests/skipped.rs"]
mod skipped;

use std::process::Command;
use std::thread;
use std::time::Duration;

use nix::sched::{CloneFlags, unshare};

pub(crate) use self::skipped::skipped;

const PATIENCE: Duration = Duration::from_secs(30);

/// Runs `test` in a new network namespace with `addresses` on its loopback interface, or skips it.
#[track_caller]
pub(crate) fn in_namespace<F: Future<Output = ()>>(
    addresses: &'static [&'static str],
    test: impl FnOnce() -> F + Send + 'static,
) {
    let name = thread::current().name().unwrap_or_default().to_owned();
    let within = thread::Builder::new().name(name).spawn(move || {
        if let Err(error) = unshare(CloneFlags::CLONE_NEWNET) {
            return Err(format!(
                "no network namespace ({error}): run the tests as root"
            ));
        }
        ip(&["link", "set", "lo", "up"])?;
        for address in addresses {
            ip(&["address", "add", address, "dev", "lo"])?;
        }
        // An IPv6 address is usable only after duplicate address detection.
        while is_tentative() {}
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap()
            .block_on(async { tokio::time::timeout(PATIENCE, test()).await.unwrap() });
        Ok(())
    });
    if let Err(reason) = within.unwrap().join().unwrap() {
        skipped(reason);
    }
}

/// Runs the command `ip`.
pub(crate) fn ip(arguments: &[&str]) -> Result<(), String> {
    iproute2("ip", arguments)
}

/// Runs a command of iproute2.
pub(crate) fn iproute2(command: &str, arguments: &[&str]) -> Result<(), String> {
    match Command::new(command).args(arguments).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{command} {}`: {status}", arguments.join(" "))),
        Err(error) => Err(format!("`{command}` ({error}): apt-get install iproute2")),
    }
}

fn is_tentative() -> bool {
    Command::new("ip")
        .args(["-6", "address", "show", "dev", "lo", "tentative"])
        .output()
        .is_ok_and(|output| !output.stdout.is_empty())
}
