//! How accurate the timing of a run in real time was.

use serde::Serialize;
use skywave_emulate::LatenessSummary;

/// How accurate the timing of a run in real time was.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// How long it ran, in seconds.
    pub elapsed_s: f64,
    /// Whether it ran for the scenario's whole duration.
    pub whole: bool,
    /// Whether it was interrupted. A run that is interrupted when its duration is over is still
    /// whole.
    pub interrupted: bool,
    /// How late packets left the network, relative to the time at which its links delivered them.
    /// Absent: none has left.
    pub lateness: Option<LatenessSummary>,
    /// Packets that the system has lost because we were too slow to read them. If there are any,
    /// more packets were lost than the links should lose.
    pub overflows: u64,
    /// Packets that the system did not take from the network for a node.
    pub undelivered: u64,
    /// Packets that the system did not take from an end of a flow.
    pub unsent: u64,
    /// Packets that belong to no flow.
    pub unknown: u64,
    /// Incomplete or malformed packets.
    pub malformed: u64,
}
