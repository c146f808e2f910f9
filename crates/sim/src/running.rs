//! What runs a scenario: checks, builds, simulates, steps, and reports.

pub(crate) mod arrival;
pub(crate) mod bench;
pub(crate) mod build;
pub(crate) mod check;
mod code_points;
pub mod live;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod samples;
pub(crate) mod simulate;
pub(crate) mod stepped;
