//! Counters of an endpoint, which any thread may increment.

use crate::config::EndpointStats;
use crate::sync::{AtomicU64, Ordering::Relaxed};

#[derive(Debug, Default)]
pub(crate) struct Counters {
    packets_sent: AtomicU64,
    send_calls: AtomicU64,
    send_errors: AtomicU64,
    packets_received: AtomicU64,
    malformed: AtomicU64,
    strays: AtomicU64,
    too_busy: AtomicU64,
    half_open_dropped: AtomicU64,
    closing_dropped: AtomicU64,
    network_errors: AtomicU64,
}

impl Counters {
    /// Counts a call that sent `packets`; does nothing if that is zero.
    pub(crate) fn sent(&self, packets: usize) {
        if packets == 0 {
            return;
        }
        self.packets_sent.fetch_add(packets as u64, Relaxed);
        self.send_calls.fetch_add(1, Relaxed);
    }

    pub(crate) fn send_errors(&self, packets: u64) {
        if packets > 0 {
            self.send_errors.fetch_add(packets, Relaxed);
        }
    }

    pub(crate) fn received(&self, packets: u64) {
        self.packets_received.fetch_add(packets, Relaxed);
    }

    pub(crate) fn malformed(&self, packets: u64) {
        self.malformed.fetch_add(packets, Relaxed);
    }

    pub(crate) fn stray(&self) {
        self.strays.fetch_add(1, Relaxed);
    }

    pub(crate) fn too_busy(&self) {
        self.too_busy.fetch_add(1, Relaxed);
    }

    pub(crate) fn half_open_dropped(&self) {
        self.half_open_dropped.fetch_add(1, Relaxed);
    }

    pub(crate) fn closing_dropped(&self) {
        self.closing_dropped.fetch_add(1, Relaxed);
    }

    pub(crate) fn network_error(&self) {
        self.network_errors.fetch_add(1, Relaxed);
    }

    /// Returns the counters; those that are not kept here are zero.
    pub(crate) fn stats(&self) -> EndpointStats {
        EndpointStats {
            packets_sent: self.packets_sent.load(Relaxed),
            send_calls: self.send_calls.load(Relaxed),
            packets_received: self.packets_received.load(Relaxed),
            malformed: self.malformed.load(Relaxed),
            strays: self.strays.load(Relaxed),
            too_busy: self.too_busy.load(Relaxed),
            half_open_dropped: self.half_open_dropped.load(Relaxed),
            closing_dropped: self.closing_dropped.load(Relaxed),
            send_errors: self.send_errors.load(Relaxed),
            network_errors: self.network_errors.load(Relaxed),
            ..EndpointStats::default()
        }
    }
}
