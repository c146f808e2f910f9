//! Traces of Mahimahi: when a link can deliver a packet.

use std::sync::Arc;

use skywave_units::{Duration, Random, Rate};

use super::{Steps, TraceKind, TraceStep};

/// The bytes that fit one opportunity.
const BYTES: u64 = 1500;

/// How long the link is up for an opportunity. In Mahimahi, an opportunity takes no time.
const LENGTH: Duration = Duration::from_micros(1);

/// A link that delivers up to 1500 bytes at certain milliseconds, as Mahimahi's does (Netravali et
/// al. 2015). A packet uses the bytes left in an opportunity, and takes the remainder from the next
/// one. An opportunity without packets is lost. After the last one, the trace starts over.
#[derive(Clone, Debug)]
pub struct Opportunities(Arc<[u32]>);

impl Opportunities {
    /// Creates the trace of a link with opportunities at these times in milliseconds, which are in
    /// order; a time may occur several times. The last one is the length of the trace.
    ///
    /// # Panics
    /// If the last one is zero, or there is none.
    pub fn new(milliseconds: &[u32]) -> Self {
        assert!(
            milliseconds.last().is_some_and(|&last| last > 0),
            "a trace has a length"
        );
        Self(milliseconds.into())
    }
}

impl TraceKind for Opportunities {
    fn steps(&self, _: Rate, _: Duration, _: Random) -> Steps {
        let down = |at| TraceStep {
            at,
            rate: Some(Rate::default()),
            delay: None,
        };
        let times = Arc::clone(&self.0);
        // The link is down from the beginning until the first opportunity.
        let is_down_first = times[0] > 0;
        let (mut index, mut begun) = (0, 0);
        let groups = std::iter::from_fn(move || {
            if index == times.len() {
                index = 0;
                begun += u64::from(times[times.len() - 1]);
            }
            let time = times[index];
            let mut number = times[index..].iter().take_while(|&&at| at == time).count();
            index += number;
            // The end of the trace is the beginning of the next round.
            if index == times.len() && times[0] == 0 {
                let first = times.iter().take_while(|&&at| at == 0).count();
                number += first;
                index = first;
                begun += u64::from(time);
                return Some((begun, number));
            }
            Some((begun + u64::from(time), number))
        });
        let steps = groups.flat_map(move |(milliseconds, number)| {
            let at = Duration::from_millis(milliseconds);
            let bits = 8 * BYTES * number as u64;
            let up = TraceStep {
                rate: Some(Rate::from_bps(bits * 1_000_000_000 / LENGTH.as_nanos())),
                ..down(at)
            };
            [up, down(at + LENGTH)]
        });
        Box::new(
            is_down_first
                .then(|| down(Duration::ZERO))
                .into_iter()
                .chain(steps),
        )
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;
    use crate::contract::Parcel;
    use crate::{DropTail, Limit, Link, Trace, Variation};
    use skywave_units::Instant;

    const DELAY: Duration = Duration::from_millis(20);

    /// Returns the arrival times, in ms, of packets of these sizes that are all queued at the
    /// beginning.
    fn arrivals(milliseconds: &[u32], sizes: &[u32]) -> Vec<f64> {
        let random = Random::seed_from_u64(0);
        // Nothing leaves at this rate: the trace replaces it from the beginning.
        let rate = Rate::from_bps(1_000_000_000);
        let kind = Arc::new(Opportunities::new(milliseconds));
        let trace = Trace::new(kind, rate, DELAY, random);
        let queue = DropTail::new(Limit::Unlimited);
        let mut link = Link::new(queue, rate, DELAY).varying(Variation::new(trace));
        for (&size, id) in sizes.iter().zip(0..) {
            assert!(link.enqueue(Instant::ZERO, Parcel::new(id, size)).is_ok());
        }
        let mut found = Vec::new();
        while let Some(at) = link.deadline() {
            assert!(link.dequeue(at).is_some());
            found.push((at.as_secs_f64() - DELAY.as_secs_f64()) * 1e3);
        }
        found
    }

    /// Asserts that times lie within the microsecond of an opportunity.
    fn assert_at(found: &[f64], wanted: &[f64]) {
        assert_eq!(found.len(), wanted.len());
        for (found, wanted) in found.iter().zip(wanted) {
            let late = found - wanted;
            assert!((0.0..0.001_01).contains(&late), "{found} for {wanted}");
        }
    }

    #[test]
    fn each_opportunity_delivers_a_packet_and_the_trace_begins_anew() {
        let found = arrivals(&[3, 5, 5, 10], &[1500; 9]);
        assert_at(&found, &[3.0, 5.0, 5.0, 10.0, 13.0, 15.0, 15.0, 20.0, 23.0]);
    }

    #[test]
    fn a_trace_that_begins_at_zero_has_one_instant_for_its_end_and_beginning() {
        let found = arrivals(&[0, 4], &[1500; 5]);
        assert_at(&found, &[0.0, 4.0, 4.0, 8.0, 8.0]);
    }

    #[test]
    fn small_packets_share_an_opportunity_and_large_ones_take_several() {
        assert_at(&arrivals(&[2, 4], &[500; 4]), &[2.0, 2.0, 2.0, 4.0]);
        assert_at(&arrivals(&[2, 4], &[1000; 3]), &[2.0, 4.0, 4.0]);
        assert_at(&arrivals(&[2, 4], &[3000, 1500]), &[4.0, 6.0]);
    }
}
