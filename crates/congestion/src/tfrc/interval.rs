//! Loss intervals and their average (RFC 5348 sections 5.3 to 5.5).

use skywave_units::Instant;

use super::UnseenIntervals;

/// n: how many intervals count in addition to the current one (section 5.4). More than 8 would
/// react too slowly for the Internet.
pub const INTERVALS: usize = 8;

/// w_0 to w_7 (section 5.4).
const WEIGHTS: [f64; INTERVALS] = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2];

/// A loss interval of more than this many quarters of a round-trip time is not short. In short
/// intervals, of at most two round-trip times, RFC 4828 section 3 counts losses instead of loss
/// events.
const SHORT_QUARTERS: u64 = 8;

/// A loss interval (RFC 4342 section 6.1): at most a round-trip time with losses and marks,
/// followed by packets that arrived. Lengths are in sequence numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LossInterval {
    /// From the first lost or marked packet to the last one of the loss event; zero in the
    /// connection's first interval.
    pub loss_length: u64,
    /// The length of the rest.
    pub lossless_length: u64,
    /// Packets that carried data, or may have. In the first interval: zero until the first loss
    /// event, then the length that corresponds to the rate reached.
    pub data_length: u64,
    /// In the first interval: `data_length` before rounding.
    pub(super) seeded: Option<f64>,
    /// Lost or marked data packets.
    pub losses: u64,
    /// The parity of the ECN nonces of the data packets in the lossless part.
    pub nonce: bool,
    /// The parity of the ECN nonces of the data packets that arrived in the lossy part.
    pub(super) lossy_nonce: bool,
    /// The duration in quarters of a round-trip time, as far as received packets show.
    pub(super) quarters: u64,
    /// When its first packet was marked, or would have arrived.
    pub(super) began: Instant,
    /// DF_i.
    pub(super) discount: f64,
}

impl LossInterval {
    /// Creates the interval before any loss event.
    pub(super) const fn first() -> Self {
        Self {
            loss_length: 0,
            lossless_length: 0,
            data_length: 0,
            seeded: None,
            losses: 0,
            nonce: false,
            lossy_nonce: false,
            quarters: 0,
            began: Instant::ZERO,
            discount: 1.0,
        }
    }

    /// Returns whether TFRC-SP counts every loss in this interval.
    fn is_short(&self) -> bool {
        self.losses > 0 && self.quarters <= SHORT_QUARTERS
    }

    /// Returns I_i. With `counts_losses`, short intervals count N / K packets (RFC 4828 section 3).
    fn length(&self, counts_losses: bool) -> f64 {
        let length = self.seeded.unwrap_or(self.data_length.max(1) as f64);
        if counts_losses && self.is_short() {
            length / self.losses as f64
        } else {
            length
        }
    }
}

/// Returns p, computed from the lengths of the loss intervals, newest (I_0) first (section 5.4). It
/// is zero if there are none. Intervals beyond I_8 are ignored.
///
/// ```
/// use skywave_congestion::tfrc::loss_event_rate;
///
/// assert_eq!(loss_event_rate(&[100.0, 20.0]), 0.01);
/// assert_eq!(loss_event_rate(&[5.0, 20.0]), 0.05, "a short current interval does not count");
/// ```
pub fn loss_event_rate(lengths: &[f64]) -> f64 {
    mean(
        &lengths
            .iter()
            .map(|&length| (length, 1.0))
            .collect::<Vec<_>>(),
        1.0,
        true,
    )
    .map_or(0.0, |mean| (1.0 / mean).min(1.0))
}

/// Returns I_mean of intervals with their discounts, I_0 first; `df` is the general discount
/// factor.
fn mean(intervals: &[(f64, f64)], df: f64, includes_current: bool) -> Option<f64> {
    let (&(current, _), older) = intervals.split_first()?;
    let older = &older[..older.len().min(INTERVALS)];
    if older.is_empty() {
        return Some(current);
    }
    let with_current = older
        .iter()
        .zip(&WEIGHTS[1..])
        .take(older.len() - 1)
        .map(|(&(length, discount), weight)| (length, weight * discount * df))
        .fold((current, 1.0), add_weighted);
    let without = without_current(older);
    if includes_current {
        Some((with_current.0 / with_current.1).max(without))
    } else {
        Some(without)
    }
}

/// Returns the mean of I_1 to I_n.
fn without_current(older: &[(f64, f64)]) -> f64 {
    let (total, weights) = older
        .iter()
        .zip(&WEIGHTS)
        .map(|(&(length, discount), weight)| (length, weight * discount))
        .fold((0.0, 0.0), add_weighted);
    total / weights
}

fn add_weighted((total, weights): (f64, f64), (length, weight): (f64, f64)) -> (f64, f64) {
    (total + length * weight, weights + weight)
}

/// How intervals are averaged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Averaging {
    /// THRESHOLD of section 5.5; `None` disables discounting.
    pub(super) discounting: Option<f64>,
    /// Whether short intervals count losses (RFC 4828).
    pub(super) counts_losses: bool,
    /// How intervals that have not occurred yet count.
    pub(super) unseen: UnseenIntervals,
}

impl Averaging {
    /// Returns p of `intervals`, newest first; zero if there is only the first interval.
    pub(super) fn loss_event_rate<'a>(
        self,
        intervals: impl Iterator<Item = &'a LossInterval>,
    ) -> f64 {
        let mut list = [(0.0, 0.0); INTERVALS + 1];
        let mut count = 0;
        let mut current_is_short = false;
        for (slot, interval) in list.iter_mut().zip(intervals) {
            current_is_short |= count == 0 && interval.is_short();
            *slot = (interval.length(self.counts_losses), interval.discount);
            count += 1;
        }
        if count < 2 {
            return 0.0;
        }
        let list = match self.unseen {
            UnseenIntervals::LeftOut => &list[..count],
            UnseenIntervals::OfLengthZero => {
                list[count..].fill((0.0, 1.0));
                &list[..]
            }
        };
        let includes_current = !(self.counts_losses && current_is_short);
        mean(list, self.general_discount(list), includes_current)
            .map_or(0.0, |mean| (1.0 / mean).min(1.0))
    }

    /// Returns DF (section 5.5) of `intervals`, newest first.
    pub(super) fn discount_of<'a>(self, intervals: impl Iterator<Item = &'a LossInterval>) -> f64 {
        let list: Vec<_> = intervals
            .map(|interval| (interval.length(self.counts_losses), interval.discount))
            .collect();
        self.general_discount(&list)
    }

    fn general_discount(self, list: &[(f64, f64)]) -> f64 {
        let (Some(threshold), [(current, _), older @ ..]) = (self.discounting, list) else {
            return 1.0;
        };
        if older.is_empty() {
            return 1.0;
        }
        let twice = 2.0 * without_current(&older[..older.len().min(INTERVALS)]);
        if *current > twice {
            (twice / current).max(threshold)
        } else {
            1.0
        }
    }
}
