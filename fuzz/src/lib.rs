//! The fuzz targets as functions: libFuzzer runs them (`fuzz_targets/`), and `benches/cost` counts
//! what some of their inputs cost.

pub mod capture;
pub mod connection;
pub mod handling;
pub mod listener;
pub mod options;
pub mod packet;
pub mod segment;
mod structured;
