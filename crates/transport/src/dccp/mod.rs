//! DCCP (RFC 4340): a complete connection as a sans-IO endpoint.
//!
//! Where to find what:
//!
//! - [`Connection`] is one end of a connection and [`Config`] its options. [`State`], [`Event`] and
//!   [`Stats`] are the application's view of it.
//! - `connection::receive` follows RFC 4340 section 8.5, one function per step. `sequence`
//!   implements the windows of section 7, `features` the negotiation of section 6, `ackvec` the Ack
//!   Vector of section 11.4, `detection` the inference of losses from it, `data_dropped` the option
//!   of section 11.7, `quick_start` the requests and responses of RFC 5634.
//! - [`Listener`] answers packets that belong to no connection: Requests (with Init Cookies if
//!   there are too many) and strays.
//! - [`ccid`] is the interface to congestion control: the traits of a half-connection's sender and
//!   receiver. [`ccid2`] implements the halves of TCP-like congestion control (RFC 4341), `ccid3`
//!   those of TCP-Friendly Rate Control (RFC 4342), with [`skywave_congestion::tfrc`].
//! - [`mechanism`] is the table of CCIDs, one file each: 2, 3, 4 (CCID 3 for small packets, RFC
//!   5622) and 251 (CCID 2 with a control chosen by the sender).
//!
//! Extensions to RFC 4340, and choices where it leaves one:
//!
//! - Data is sent only in Data and DataAck packets, never in a Request or Response. Data in a
//!   peer's Request or Response is delivered.
//! - A duplicated datagram is delivered once.
//! - A server acknowledges an Ack that shows its client to be in PARTOPEN, so that an idle
//!   connection leaves that state too.
//! - Close is repeated for [`Config::silence_timeout`], then the connection is reset.
//! - A Close or CloseReq leaves only after the data sent before it has been acknowledged, or a little
//!   later than that should have happened: on a path that reorders packets, it would otherwise
//!   overtake data and end the connection before that arrives.
//! - Syncs ask a silent peer whether it is still there ([`Config::keepalive`],
//!   [`Config::silence_timeout`]).

mod ackvec;
pub mod ccid;
pub mod ccid2;
mod ccid3;
mod config;
mod connection;
mod data_dropped;
mod detection;
mod features;
mod half;
mod listener;
mod liveness;
pub mod mechanism;
mod queue;
mod quick_start;
mod sequence;
mod state;
mod stray;
#[cfg(test)]
mod tests;
mod timer;
mod timing;

pub use ackvec::VectorKind;
pub use ccid::Ccid;
pub use ccid2::{
    AckOfAckRule, AckRatioBounds, AckRatioRule, Config as Ccid2Config, IdleRule, Reductions,
    RttSampling,
};
pub use config::{Config, ConfigError};
pub use connection::{Connection, Outlet, Train};
pub use listener::{Action, Listener, ListenerConfig, ListenerStats, OfferError, Secret};
pub use mechanism::{Ccids, SendersChoice};
pub use skywave_congestion::tfrc::Config as TfrcConfig;
pub use state::{
    Congestion, Counters, Datagram, Event, Origin, QuickStartStats, RateStats, Role, SendError,
    State, Stats, WindowStats,
};
pub use stray::Strays;
pub use timer::RateLimit;
