//! The router of VCP and MPCP in the Linux kernel: the queue of any device, such as `tbf`, reports
//! its load in the ECN field, without a kernel patch.
//!
//! A BPF program at tc counts the packets that arrive for the device, before its queueing
//! discipline sees them, and raises their codes. Every t_q, [`KernelRouter::update`] reads the
//! counts and the length of the queue, and passes them to the same
//! [`Meter`](skywave_mpcp::load::Meter) as in the simulator. The program then writes the resulting
//! level until the next update.
//!
//! ```no_run
//! use skywave_kernel_router::{Config, KernelRouter, Object};
//! use skywave_units::Rate;
//!
//! // tc qdisc add dev eth1 root tbf rate 4mbit burst 3000 limit 60000
//! let config = Config::new(Rate::from_bps(4_000_000));
//! let mut router = KernelRouter::attach(&Object::compile()?, "eth1", &config)?;
//! loop {
//!     std::thread::sleep(router.time_to_update());
//!     router.update()?;
//! }
//! # Ok::<(), skywave_kernel_router::RouterError>(())
//! ```
//!
//! The program is detached when the [`KernelRouter`] is dropped or its process ends, for whatever
//! reason: the kernel closes the link by which it is attached.
//!
//! - [`Object`] is the compiled program. clang compiles it on demand, so nothing else depends on
//!   clang; it can also come from a file.
//! - [`Program`] is the loaded program, which also runs on frames that are handed to it.
//!   [`Sampler`] passes to the meter what the loop reads, without a clock.
//! - [`Config`] has the parameters of the simulator's router.
//!
//! It needs Linux 6.6 or newer, CAP_BPF and CAP_NET_ADMIN.

mod config;
mod device;
mod error;
mod object;
mod program;
mod router;
mod sampler;

pub use config::Config;
pub use error::RouterError;
pub use object::Object;
pub use program::{Counters, LinkHeader, Program, RunTime};
pub use router::{KernelRouter, Report};
pub use sampler::Sampler;
