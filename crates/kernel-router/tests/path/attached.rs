//! A router leaves nothing behind.

use std::io::Read;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use aya::programs::{SchedClassifier, TcAttachType};
use skywave_emulate::Namespace;
use skywave_kernel_router::{Config, KernelRouter};
use skywave_units::Rate;

use crate::testbed::run;
use crate::{object, skipped};

const DEVICE: &str = "marked";
const PATIENCE: Duration = Duration::from_secs(30);

/// The number of programs at the device.
fn programs() -> usize {
    let (_, programs) = SchedClassifier::query_tcx(DEVICE, TcAttachType::Egress).unwrap();
    programs.len()
}

/// Returns whether no program is left at the device, at once or soon: the kernel closes what a killed
/// process had open a little later, and a process that another test is starting has a copy of the
/// descriptor until it becomes its program.
fn are_detached() -> bool {
    let begun = Instant::now();
    while programs() > 0 {
        if begun.elapsed() > PATIENCE {
            return false;
        }
        thread::sleep(Duration::from_millis(10));
    }
    true
}

/// Returns a namespace with a device; `None`, with a message, where there can be none.
fn host() -> Option<Namespace> {
    let host = match Namespace::new() {
        Ok(host) => host,
        Err(error) => return skipped(error),
    };
    let set_up = host.run(|| {
        run(&format!("ip link add {DEVICE} type veth peer name other"))?;
        run(&format!("ip link set {DEVICE} up"))?;
        run(&format!(
            "tc qdisc add dev {DEVICE} root tbf rate 4mbit burst 3000 limit 60000"
        ))
    });
    match set_up {
        Ok(_) => Some(host),
        Err(why) => skipped(why),
    }
}

#[test]
fn a_router_that_is_dropped_or_panics_is_detached() {
    let (Some(object), Some(host)) = (object(), host()) else {
        return;
    };
    host.run(move || {
        let config = Config::new(Rate::from_bps(4_000_000));
        let attach = || KernelRouter::attach(&object, DEVICE, &config).unwrap();
        let router = attach();
        assert_eq!(programs(), 1);
        drop(router);
        assert!(are_detached());
        let panicked = std::panic::catch_unwind(|| {
            let _router = attach();
            assert_eq!(programs(), 1);
            panic!("as expected");
        });
        assert!(panicked.is_err());
        assert!(are_detached());
    });
}

#[test]
fn a_router_that_is_killed_is_detached() {
    let (Some(_), Some(host)) = (object(), host()) else {
        return;
    };
    for signal in ["-KILL", "-INT"] {
        host.run(move || {
            let mut child = Command::new(env!("CARGO_BIN_EXE_kernel-router"))
                .args([DEVICE, "--rate", "4 Mbps"])
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let mut byte = [0];
            // It prints when it is attached.
            child
                .stdout
                .as_mut()
                .unwrap()
                .read_exact(&mut byte)
                .unwrap();
            assert_eq!(programs(), 1);
            run(&format!("kill {signal} {}", child.id())).unwrap();
            let status = child.wait().unwrap();
            assert_eq!(status.success(), signal == "-INT");
            assert!(are_detached());
        });
    }
}
