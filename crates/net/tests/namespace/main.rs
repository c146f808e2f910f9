//! Endpoints in their own network namespace, with exclusive raw sockets and interfaces. Requires
//! root, or CAP_NET_RAW and CAP_SYS_ADMIN, and the command `ip`; otherwise these tests say why they
//! are skipped.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod black_hole;
mod checksum;
mod full;
mod icmp;
mod path;
mod raw;
mod within;

use skywave_transport::dccp::Config;

use within::{in_namespace, ip, skipped};

const PORT: u16 = 5001;

fn config() -> Config {
    Config {
        request_retry: skywave_units::Duration::from_millis(50),
        ..Config::default()
    }
}
