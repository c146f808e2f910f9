//! What watches a run: probes, records, captures, and the physics verifier.

pub(crate) mod backend;
pub(crate) mod capture;
pub(crate) mod passage;
pub mod physics;
pub(crate) mod probe;
pub(crate) mod probes;
#[cfg(feature = "qlog")]
pub(crate) mod qlog;
pub(crate) mod record;
pub(crate) mod table;
pub(crate) mod totals;
