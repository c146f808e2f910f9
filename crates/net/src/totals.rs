//! Sums of connections' counters.

use skywave_transport::dccp::{Counters, Stats};

/// The counters of a set of connections, added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Totals {
    /// The number of connections.
    pub connections: u64,
    /// The sums of their counters.
    pub counters: Counters,
    /// The sum of [`Stats::timeouts`].
    pub timeouts: u64,
    /// Data packets known to be lost, by connections with a window.
    pub lost: u64,
    /// Data packets sent that are known to have been marked (CE), by connections with a window.
    pub marked: u64,
}

impl Totals {
    /// Adds another connection.
    pub fn add(&mut self, stats: &Stats) {
        self.connections += 1;
        self.counters += stats.counters;
        self.timeouts += stats.timeouts;
        if let Some(window) = stats.congestion.window() {
            self.lost += window.lost;
            self.marked += window.marked;
        }
    }
}
