//! Links and routers on the real clock.
//!
//! The links, queues, losses and traces of [`skywave_path`] stand between network devices here, as
//! they stand between endpoints in the simulator. Hosts are [`Namespace`]s with one interface each.
//! The other ends of their interfaces are in a namespace of the emulator's, which reads the packets,
//! sends them through a [`Network`], and delivers them when its links do.
//!
//! - [`Network`] has no clock and no devices: it is told the time. So a packet's delay does not
//!   depend on how often the driver wakes, and errors do not add up along a route.
//! - [`Emulation`] drives it, on a thread.
//! - [`Report`] says what the links did, and how late packets left beside the time at which the
//!   links would have delivered them.
//!
//! Who drives a network of its own takes [`Edge`], [`Port`], [`Clock`], [`wait()`] and [`Lateness`].
//!
//! An emulation takes the privileges of a network namespace: those of root, or of a user namespace.

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
mod report;
mod wait;

pub use clock::Clock;
pub use device::{Attachment, ETHERNET_MTU, Edge, LONGEST_PACKET, Port, enlarge};
pub use emulation::{Emulation, MOST_HOSTS, Options};
pub use error::EmulateError;
pub use lateness::{LATE, Lateness, LatenessSummary};
pub use namespace::{Namespace, set};
pub use network::{Arrival, Emulator, LinkTotals, MOST_BYTES, Network, Registry};
pub use packet::IpBuffer;
pub use report::Report;
pub use wait::{wait, wake_exactly};
