//! DCCP (RFC 4340): a full connection as a sans-IO endpoint.
//!
//! The way through it:
//!
//! - [`Connection`] is one end of a connection, [`Config`] what can be chosen about it; [`State`],
//!   [`Event`] and [`Stats`] are what an application sees.
//! - `connection::receive` reads like RFC 4340 section 8.5, one function per step; `sequence`
//!   holds the windows of section 7, `features` the negotiation of section 6, `ackvec` the Ack
//!   Vector of section 11.4, `data_dropped` the option of section 11.7.
//! - [`Listener`] answers what belongs to no connection: Requests, with Init Cookies where there
//!   are too many, and strays.
//! - [`ccid`] is the line to congestion control: what a half-connection's sender and receiver must
//!   answer. [`ccid2`] holds the halves of TCP-like congestion control (RFC 4341), `ccid3` those of
//!   TCP-Friendly Rate Control (RFC 4342).
//! - [`mechanism`] is the table of CCIDs, a file each: 2, 3, 4 (CCID 3 for small packets, RFC 5622)
//!   and 251 (CCID 2 with a control of the sender's choice).
//!
//! Extensions beyond RFC 4340, and choices where it leaves one:
//!
//! - Data leaves in Data and DataAck packets only, never in a Request or Response; data of a
//!   peer's Request or Response is delivered.
//! - A datagram that arrives twice is delivered once.
//! - A server acknowledges an Ack that shows its client to be in PARTOPEN, so that an idle
//!   connection, too, leaves that state.
//! - Close is repeated for [`Config::handshake_give_up`], then the connection is reset.

mod ackvec;
pub mod ccid;
pub mod ccid2;
mod ccid3;
mod config;
mod connection;
mod data_dropped;
mod features;
mod half;
mod listener;
pub mod mechanism;
mod sequence;
mod state;
mod stray;
#[cfg(test)]
mod tests;
mod timer;
mod timing;

pub use ackvec::VectorKind;
pub use ccid::Ccid;
pub use ccid2::{AckOfAckRule, AckRatioRule, Config as Ccid2Config, IdleRule, RttSampling};
pub use config::{Config, ConfigError};
pub use connection::{Connection, Outlet, Train};
pub use listener::{Action, Listener, ListenerConfig, ListenerStats, OfferError, Secret};
pub use mechanism::{Ccids, SendersChoice};
pub use skywave_congestion::tfrc::Config as TfrcConfig;
pub use state::{
    Congestion, Counters, Datagram, Event, Origin, RateStats, Role, SendError, State, Stats,
    WindowStats,
};
pub use stray::Strays;
