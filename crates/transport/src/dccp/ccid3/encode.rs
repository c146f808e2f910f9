//! Encodes a receiver's report as options (RFC 4342 section 8, RFC 5622 section 8.7).

use skywave_congestion::tfrc::{LossInterval, Report};
use skywave_wire::dccp::{self as wire, DccpOption};

/// Skip Length is at most NDUPACK (section 8.6.1).
const MAX_SKIP: u64 = 3;

/// The Loss Event Rate that means "no loss" (section 8.5).
pub(super) const NO_LOSS: u32 = u32::MAX;

/// The greatest values of 24 and 23 bits.
const U24: u64 = (1 << 24) - 1;
const U23: u64 = (1 << 23) - 1;

/// Encodes Receive Rate, in bytes per second. Only zero is encoded as zero, because that marks the
/// first report (RFC 5348 section 4.3).
pub(super) fn receive_rate(report: &Report) -> DccpOption {
    let rate = report.receive_rate;
    let least = u32::from(rate > 0.0);
    DccpOption::ReceiveRate((rate.round() as u32).max(least))
}

/// Encodes Loss Event Rate: 1/p, rounded up.
pub(super) fn loss_event_rate(report: &Report) -> DccpOption {
    let p = report.loss_event_rate;
    DccpOption::LossEventRate(if p > 0.0 {
        ((1.0 / p).ceil() as u32).clamp(1, NO_LOSS - 1)
    } else {
        NO_LOSS
    })
}

/// Encodes Loss Intervals. The last `unsettled` sequence numbers do not belong to an interval yet.
pub(super) fn loss_intervals<'a>(
    intervals: impl Iterator<Item = &'a LossInterval>,
    unsettled: u64,
) -> DccpOption {
    let skip = unsettled.min(MAX_SKIP);
    // Behind a long hole, more numbers are unsettled than may be skipped. The excess extends the
    // newest interval, but not its data length, on which p depends.
    let mut filling = unsettled - skip;
    let intervals = intervals
        .map(|interval| wire::LossInterval {
            lossless_length: (interval.lossless_length + core::mem::take(&mut filling)).min(U24)
                as u32,
            // "If Lossless Length is 0, ... the ECN Nonce Echo MUST be reported as 0."
            nonce: interval.nonce && interval.lossless_length > 0,
            loss_length: interval.loss_length.min(U23) as u32,
            data_length: interval.data_length.min(U24) as u32,
        })
        .collect();
    DccpOption::LossIntervals {
        skip_length: skip as u8,
        intervals,
    }
}

/// Encodes Dropped Packets for the same intervals.
pub(super) fn dropped_packets<'a>(intervals: impl Iterator<Item = &'a LossInterval>) -> DccpOption {
    let count = |interval: &LossInterval| interval.losses.min(interval.loss_length).min(U23);
    DccpOption::DroppedPackets(intervals.map(|interval| count(interval) as u32).collect())
}
