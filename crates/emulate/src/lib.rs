//! Links and routers in real time.
//!
//! Here the links, queues, losses and traces of [`skywave_path`] connect network devices, as they
//! connect endpoints in the simulator. Hosts are [`Namespace`]s with one interface each. The other
//! ends of their interfaces are in the emulator's own namespace. The emulator reads the packets,
//! sends them through a [`Network`], and delivers them when its links do.
//!
//! - [`Network`] has no clock and no devices; its caller passes the time. A packet's delay therefore does
//!   not depend on how often the driver wakes, and errors do not add up along a route.
//! - [`Emulation`] drives it, on a thread.
//! - [`Report`] says what the links did, and how late packets left relative to the time at which
//!   the links delivered them.
//!
//! To drive a network of your own, use [`Edge`], [`Port`], [`Clock`], [`wait()`] and [`Lateness`].
//!
//! An emulation needs the privileges to create a network namespace: those of root, or of a user
//! namespace.

mod capture;
mod clock;
mod device;
mod driver;
mod emulation;
mod error;
mod lateness;
mod namespace;
mod network;
mod packet;
mod pool;
mod report;
#[cfg(test)]
mod tests;
mod wait;

pub use clock::Clock;
pub use device::{Attachment, ETHERNET_MTU, Edge, Inbox, LONGEST_PACKET, Port, TunQueue, enlarge};
pub use emulation::{Emulation, MOST_HOSTS, Options};
pub use error::EmulateError;
pub use lateness::{LATE, Lateness, LatenessSummary};
pub use namespace::{Namespace, set};
pub use network::{Arrival, Emulator, LinkTotals, MOST_BYTES, Network, Registry};
pub use packet::IpBuffer;
pub use pool::Pool;
pub use report::Report;
pub use wait::{wait, wake_exactly};
