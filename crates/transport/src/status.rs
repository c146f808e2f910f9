//! The status of an end of any transport.

use skywave_congestion::{Control, MemberFailure};
use skywave_units::Duration;

use crate::dccp::RateStats;
use crate::{dccp, tcp, udp};

/// Counters and congestion state, the same for every transport. A value that a transport does not
/// have is zero or `None`.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct EndStats {
    /// Data packets sent, including retransmissions.
    pub packets_sent: u64,
    /// Bytes of application data in them.
    pub bytes_sent: u64,
    /// Data packets retransmitted.
    pub retransmissions: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// How long data waited only because it did not fit TCP's receive window, until the sender's
    /// last event.
    pub receive_window_limited: Duration,
    /// Whether everything that the application handed over has been sent and, over TCP,
    /// acknowledged.
    pub is_idle: bool,
    /// Data packets received, excluding duplicates.
    pub delivered_packets: u64,
    /// Bytes of application data delivered (in order, for TCP).
    pub delivered_bytes: u64,
    /// cwnd, in packets; zero if there is no window.
    pub cwnd: f64,
    /// ssthresh, in packets; infinite before the first loss if the protocol defines it so.
    pub ssthresh: f64,
    /// Packets in flight, as estimated by the sender.
    pub pipe: u32,
    /// The smoothed round-trip time; `None` before the first sample.
    pub srtt: Option<Duration>,
    /// The state of a sender with a rate instead of a window.
    pub rate: Option<RateStats>,
}

impl EndStats {
    /// Returns these values with the counts of earlier connections added.
    #[must_use]
    pub fn counts_after(self, past: &Self) -> Self {
        // No `..` here, so that a new field must be listed either as a count or as something else.
        let Self {
            packets_sent,
            bytes_sent,
            retransmissions,
            timeouts,
            receive_window_limited,
            delivered_packets,
            delivered_bytes,
            is_idle: _,
            cwnd: _,
            ssthresh: _,
            pipe: _,
            srtt: _,
            rate: _,
        } = *past;
        Self {
            packets_sent: self.packets_sent + packets_sent,
            bytes_sent: self.bytes_sent + bytes_sent,
            retransmissions: self.retransmissions + retransmissions,
            timeouts: self.timeouts + timeouts,
            receive_window_limited: self.receive_window_limited + receive_window_limited,
            delivered_packets: self.delivered_packets + delivered_packets,
            delivered_bytes: self.delivered_bytes + delivered_bytes,
            ..self
        }
    }

    /// Returns only the counts.
    #[must_use]
    pub fn counts(&self) -> Self {
        Self::default().counts_after(self)
    }
}

/// The state that an end of any transport reports to its driver.
pub trait Status {
    /// Returns the end's counters and congestion state.
    fn end_stats(&self) -> EndStats;

    /// Passes the internal values of the congestion control to `record`, each with a name that ends
    /// in its unit.
    fn inner_values(&self, record: &mut dyn FnMut(&'static str, f64)) {
        let _ = record;
    }

    /// Returns why the congestion control has failed, if it has.
    fn failure(&self) -> Option<MemberFailure> {
        None
    }

    /// Returns whether its connection is over: it sends nothing more and needs nothing more.
    fn is_over(&self) -> bool {
        false
    }
}

impl Status for tcp::Sender {
    fn end_stats(&self) -> EndStats {
        let stats = self.stats();
        EndStats {
            packets_sent: stats.segments_sent,
            bytes_sent: stats.bytes_sent,
            retransmissions: stats.segments_retransmitted,
            timeouts: u64::from(stats.timeouts),
            receive_window_limited: stats.receive_window_limited,
            is_idle: self.is_idle(),
            cwnd: stats.cwnd,
            ssthresh: stats.ssthresh,
            pipe: stats.flight.div_ceil(self.segment_size()) as u32,
            srtt: stats.srtt,
            ..EndStats::default()
        }
    }

    fn inner_values(&self, record: &mut dyn FnMut(&'static str, f64)) {
        self.control().inner_values(record);
    }

    fn failure(&self) -> Option<MemberFailure> {
        self.control().failure()
    }

    fn is_over(&self) -> bool {
        Self::is_over(self)
    }
}

impl Status for tcp::Receiver {
    fn end_stats(&self) -> EndStats {
        let stats = self.stats();
        EndStats {
            delivered_packets: stats.segments_received - stats.duplicates,
            delivered_bytes: stats.bytes_delivered,
            ..EndStats::default()
        }
    }

    fn is_over(&self) -> bool {
        self.is_finished()
    }
}

impl Status for dccp::Connection {
    fn end_stats(&self) -> EndStats {
        let stats = self.stats();
        // A rate has no window, so the window's columns stay zero.
        let window = stats.congestion.window().copied().unwrap_or_default();
        EndStats {
            packets_sent: stats.counters.data_packets_sent,
            bytes_sent: stats.counters.bytes_sent,
            retransmissions: 0,
            timeouts: stats.timeouts,
            receive_window_limited: Duration::ZERO,
            is_idle: stats.queued == 0,
            delivered_packets: stats.counters.data_packets_received,
            delivered_bytes: stats.counters.bytes_received,
            cwnd: window.cwnd,
            ssthresh: window.ssthresh,
            pipe: window.pipe,
            srtt: stats.srtt,
            rate: stats.congestion.rate().copied(),
        }
    }

    fn inner_values(&self, record: &mut dyn FnMut(&'static str, f64)) {
        Self::inner_values(self, record);
    }

    fn failure(&self) -> Option<MemberFailure> {
        self.control_failure()
    }

    fn is_over(&self) -> bool {
        matches!(self.state(), dccp::State::TimeWait | dccp::State::Closed)
    }
}

impl Status for udp::Socket {
    fn end_stats(&self) -> EndStats {
        let counters = self.counters();
        EndStats {
            packets_sent: counters.datagrams_sent,
            bytes_sent: counters.bytes_sent,
            is_idle: true,
            delivered_packets: counters.datagrams_received,
            delivered_bytes: counters.bytes_received,
            ..EndStats::default()
        }
    }
}
