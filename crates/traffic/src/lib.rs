//! The applications of flows: what is sent, and when.
//!
//! A [`Source`] is the sending application of a flow. It is sans-IO: it receives the time and hands
//! its data to the [`SendingEnd`] of any transport, so it runs in the simulator and on real sockets
//! alike. A [`SourceKind`] is a source with its parameters, and [`Sources`] holds the kinds by name.
//!
//! To add a source, write a parameter type and implement both traits in one file, and call
//! [`OpenSet::register`](skywave_registry::OpenSet::register) once. The built-in sources are
//! registered in the same way:
//!
//! ```
//! use std::sync::Arc;
//!
//! use schemars::JsonSchema;
//! use serde::{Deserialize, Serialize};
//! use skywave_traffic::{SendingEnd, Setup, Source, SourceKind, SourceSpec, Sources};
//! use skywave_units::{Duration, Instant};
//! use skywave_wire::Payload;
//!
//! /// Two datagrams of 100 bytes, every second.
//! #[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
//! struct Pairs {}
//!
//! impl SourceKind for Pairs {
//!     fn datagram(&self) -> u64 {
//!         100
//!     }
//!
//!     fn build(&self, setup: &Setup<'_>) -> Box<dyn Source> {
//!         Box::new(Pair { start: setup.start })
//!     }
//! }
//!
//! #[derive(Debug)]
//! struct Pair {
//!     start: Instant,
//! }
//!
//! impl Source for Pair {
//!     fn begins(&self) -> Instant {
//!         self.start
//!     }
//!
//!     fn act(&mut self, now: Instant, transport: &mut dyn SendingEnd) -> Option<Instant> {
//!         for _ in 0..2 {
//!             let _accepted = transport.send(Payload::Synthetic(100));
//!         }
//!         Some(now + Duration::from_secs(1))
//!     }
//! }
//!
//! let mut sources = Sources::new("source");
//! sources.register("pairs", "Two datagrams a second.", |pairs: Pairs| Ok(Arc::new(pairs)));
//! let spec: SourceSpec = SourceSpec::named("pairs");
//! assert_eq!(spec.read(&sources)?.datagram(), 100);
//! # Ok::<(), skywave_registry::ParameterError>(())
//! ```

mod built_in;
mod cbr;
mod check;
mod codec;
mod draw;
mod ftp;
mod interval;
mod journal;
mod on_off;
mod poisson;
mod replay;
mod source;
mod voice;
mod web;

pub use built_in::register_built_in_sources;
pub use cbr::CbrSpec;
pub use check::check_datagram;
pub use codec::Codec;
pub use ftp::FtpSpec;
pub use journal::{Journal, Made, Transfer};
pub use on_off::{ExponentialSpec, OnOffSpec, ParetoSpec, PeriodSpec};
pub use poisson::PoissonSpec;
pub use replay::ReplaySpec;
pub use skywave_transport::{Carrier, SendingEnd};
pub use source::{
    CheckedSource, Playout, Setup, Source, SourceChoice, SourceKind, SourceSpec, Sources,
};
pub use voice::{AdaptSpec, Stamp, TalkspurtSpec, VoiceSpec};
pub use web::{FileSizeSpec, ThinkSpec, WebSpec};
