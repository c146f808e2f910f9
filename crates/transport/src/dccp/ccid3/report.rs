//! Reads a report from an acknowledgement's options (RFC 4342 sections 6 and 8.6).

use std::collections::VecDeque;

use skywave_congestion::tfrc;
use skywave_wire::dccp::{DccpOption, LossInterval, OptionList, SeqNo};

use super::encode::NO_LOSS;

/// Skip Length is at most NDUPACK (section 8.6.1).
const MAX_SKIP: u8 = 3;

/// The receiver's loss intervals, as known to the sender.
#[derive(Clone, Debug, Default)]
pub(super) struct KnownIntervals {
    /// First sequence number and length of each interval, newest first.
    list: VecDeque<(SeqNo, f64)>,
    /// Whether the last entry is the connection's first interval.
    is_complete: bool,
}

/// The contents of a report.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Report {
    /// Bytes per second.
    pub(super) receive_rate: f64,
    /// p.
    pub(super) loss_event_rate: f64,
    /// Whether it contains a new loss event.
    pub(super) loss_event: bool,
}

impl KnownIntervals {
    /// Reads the options of an acknowledgement of `ack`; `None` if they do not form a report.
    /// Intervals of fewer than `counts_losses` packets are short (RFC 4828 section 3).
    pub(super) fn read(
        &mut self,
        ack: SeqNo,
        options: &OptionList,
        counts_losses: Option<f64>,
    ) -> Option<Report> {
        // Of repeated options, the last valid one holds (RFC 4340 section 5.8).
        let receive_rate = options.iter().rev().find_map(|option| match option {
            DccpOption::ReceiveRate(rate) => Some(f64::from(*rate)),
            _ => None,
        })?;
        let inverse = options.iter().rev().find_map(|option| match option {
            DccpOption::LossEventRate(inverse) => Some(*inverse).filter(|&inverse| inverse > 0),
            _ => None,
        });
        let news = self.take_in(ack, options, counts_losses);
        let p = match (inverse, news) {
            (Some(NO_LOSS), _) => 0.0,
            (Some(inverse), _) => 1.0 / f64::from(inverse),
            (None, Some(_)) => self.loss_event_rate(),
            (None, None) => return None,
        };
        Some(Report {
            receive_rate,
            loss_event_rate: p,
            loss_event: news.unwrap_or(false),
        })
    }

    fn loss_event_rate(&self) -> f64 {
        if self.is_complete && self.list.len() == 1 {
            return 0.0;
        }
        let lengths: Vec<f64> = self.list.iter().map(|&(_, length)| length).collect();
        tfrc::loss_event_rate(&lengths)
    }

    /// Merges Loss Intervals, and Dropped Packets if present. Returns whether there is a new
    /// interval; `None` if there are no valid intervals.
    fn take_in(
        &mut self,
        ack: SeqNo,
        options: &OptionList,
        counts_losses: Option<f64>,
    ) -> Option<bool> {
        let mut reported = reported(options)?;
        let mut drops = options.iter().flat_map(|option| match option {
            DccpOption::DroppedPackets(counts) => counts.as_slice(),
            _ => &[],
        });
        let newest_before = self.list.front().map(|&(start, _)| start);
        let mut next = ack.sub(reported.skip.into()).next();
        let mut list = VecDeque::new();
        let mut is_complete = false;
        for interval in &mut reported.intervals {
            let sequence = u64::from(interval.lossless_length) + u64::from(interval.loss_length);
            next = next.sub(sequence);
            is_complete |= interval.loss_length == 0;
            let mut length = f64::from(interval.data_length.max(1));
            let losses = drops.next().map_or(interval.loss_length, |&count| {
                count.min(interval.loss_length)
            });
            if counts_losses.is_some_and(|short| (sequence as f64) < short) && losses > 0 {
                length /= f64::from(losses);
            }
            if list.len() <= tfrc::INTERVALS {
                list.push_back((next, length));
            }
        }
        // The receiver may omit intervals that it knows the sender has (section 8.6.1).
        let older = self.list.iter().filter(|(start, _)| start.is_before(next));
        let room = (tfrc::INTERVALS + 1).saturating_sub(list.len());
        list.extend(older.take(room).copied());
        self.is_complete = is_complete || (self.is_complete && list.len() <= tfrc::INTERVALS);
        self.list = list;
        let newest = self.list.front().map(|&(start, _)| start);
        let is_loss_event = match (newest_before, newest) {
            (Some(before), Some(newest)) => newest.is_after(before),
            _ => self.list.len() > 1,
        };
        Some(is_loss_event)
    }
}

struct Reported<'a> {
    skip: u8,
    intervals: Vec<&'a LossInterval>,
}

/// Returns the intervals of all valid Loss Intervals options.
fn reported(options: &OptionList) -> Option<Reported<'_>> {
    let mut found: Option<Reported<'_>> = None;
    for option in options {
        let DccpOption::LossIntervals {
            skip_length,
            intervals,
        } = option
        else {
            continue;
        };
        match &mut found {
            // "The Skip Lengths of the second and subsequent options MUST equal zero."
            Some(found) if *skip_length == 0 => found.intervals.extend(intervals),
            None if *skip_length <= MAX_SKIP => {
                found = Some(Reported {
                    skip: *skip_length,
                    intervals: intervals.iter().collect(),
                });
            }
            _ => {}
        }
    }
    found
}
