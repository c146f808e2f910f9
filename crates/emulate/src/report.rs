//! What an emulation has done, and how far it can be trusted.

use serde::Serialize;
use skywave_units::Instant;

use crate::{LatenessSummary, LinkTotals, Network};

/// Counts packets that are not in the network.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Strays {
    /// Incomplete packets from devices.
    pub(crate) malformed: u64,
    /// Packets for addresses that no host has, or to which no route leads.
    pub(crate) unreachable: u64,
    /// Packets that the system did not take.
    pub(crate) unsent: u64,
    /// Packets that the system has lost because the driver was too slow.
    pub(crate) overflows: u64,
}

/// What an emulation has done so far, and how far it can be trusted.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// How long it has run, in seconds.
    pub elapsed_s: f64,
    /// What each direction of each link has done.
    pub links: Vec<LinkTotals>,
    /// How late packets left. Absent: none has left.
    pub lateness: Option<LatenessSummary>,
    /// Packets that the system has lost because the emulator was too slow to read them. If there
    /// are any, more packets were lost than the links should lose.
    pub overflows: u64,
    /// Packets that the network refused because it was at its memory limit
    /// ([`MOST_BYTES`](crate::MOST_BYTES)).
    pub refused: u64,
    /// Packets that the system did not deliver to a host.
    pub unsent: u64,
    /// Packets for addresses that no host has.
    pub unreachable: u64,
    /// Packets that were incomplete.
    pub malformed: u64,
    /// Why the capture is incomplete. Absent: nothing has gone wrong so far, or there is no
    /// capture.
    pub capture_error: Option<String>,
}

impl Report {
    pub(crate) fn new(
        now: Instant,
        network: &mut Network,
        lateness: Option<LatenessSummary>,
        strays: Strays,
    ) -> Self {
        Self {
            elapsed_s: now.as_secs_f64(),
            links: network.totals(),
            lateness,
            overflows: strays.overflows,
            refused: network.refused(),
            unsent: strays.unsent,
            unreachable: strays.unreachable,
            malformed: strays.malformed,
            capture_error: None,
        }
    }
}
