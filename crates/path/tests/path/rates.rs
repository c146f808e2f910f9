//! A link delivers the integral of its rate, however the rate is stated.

use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;
use rand::SeedableRng;
use skywave_path::contract::Parcel;
use skywave_path::{
    AnyQueue, Condition, DropTail, Kept, Limit, Link, ListedSteps, Opportunities, Trace,
    TraceChoice, TraceKind, TraceSelection, TraceStep, Traces, Variation, register_built_in_traces,
};
use skywave_registry::Selection;
use skywave_units::{Duration, Instant, Random, Rate};

/// A rate in bits per second is as many nanobits in a nanosecond.
const NANOBITS_PER_BYTE: u128 = 8_000_000_000;

/// A packet that arrives at the link at a time, in nanoseconds, and has a size in bytes.
type Arrival = (u64, u32);

/// A link of this rate without delay, which follows a trace if there is one.
#[derive(Clone)]
struct Stated {
    rate: Rate,
    trace: Option<Trace>,
    /// The jitter of a link whose trace changes its delay, not its rate.
    jitter: Option<Duration>,
}

impl std::fmt::Debug for Stated {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let trace = self.trace.as_ref();
        let conditions: Option<Vec<_>> = trace.map(|trace| trace.conditions().take(40).collect());
        write!(f, "{}, {conditions:?}, jitter {:?}", self.rate, self.jitter)
    }
}

impl Stated {
    fn constant(rate: u64) -> Self {
        Self {
            rate: Rate::from_bps(rate),
            trace: None,
            jitter: None,
        }
    }

    fn varying(rate: u64, kind: Arc<dyn TraceKind>) -> Self {
        let rate = Rate::from_bps(rate);
        let random = Random::seed_from_u64(1);
        Self {
            rate,
            trace: Some(Trace::new(kind, rate, Duration::ZERO, random)),
            jitter: None,
        }
    }

    fn link(&self, queue: impl Into<AnyQueue<Parcel>>) -> Link<Parcel> {
        let link = Link::new(queue, self.rate, Duration::ZERO);
        let Some(trace) = &self.trace else {
            return link;
        };
        let variation = Variation::new(trace.clone());
        link.varying(match self.jitter {
            Some(most) => variation.with_jitter(most, Random::seed_from_u64(2)),
            None => variation,
        })
    }

    /// The nanobits that the link can deliver from time zero to each of these times, which are in
    /// order.
    fn capacities(&self, times: &[Instant]) -> Vec<u128> {
        let constant = Condition {
            since: Instant::ZERO,
            rate: self.rate,
            delay: Duration::ZERO,
        };
        let conditions: Box<dyn Iterator<Item = Condition>> = match &self.trace {
            Some(trace) => Box::new(trace.conditions()),
            None => Box::new(std::iter::once(constant)),
        };
        let mut later = conditions.peekable();
        let mut now = later.next().unwrap();
        let mut total = 0;
        let until = |now: &Condition, at: Instant| {
            u128::from(now.rate.as_bps()) * u128::from((at - now.since).as_nanos())
        };
        let capacity = times.iter().map(|&at| {
            while let Some(next) = later.next_if(|next| next.since <= at) {
                total += until(&now, next.since);
                now = next;
            }
            total + until(&now, at)
        });
        capacity.collect()
    }
}

/// The times at which a link delivers packets.
fn deliveries(mut link: Link<Parcel>, packets: &[Arrival]) -> Vec<Instant> {
    let mut found = Vec::new();
    let mut run = |link: &mut Link<Parcel>, until: Option<Instant>| {
        while let Some(at) = link.deadline()
            && until.is_none_or(|until| at < until)
        {
            found.extend(link.dequeue(at).map(|_| at));
        }
    };
    for (&(at, size), id) in packets.iter().zip(0..) {
        let at = Instant::from_nanos(at);
        run(&mut link, Some(at));
        assert!(link.enqueue(at, Parcel::new(id, size)).is_ok());
    }
    run(&mut link, None);
    found
}

/// Checks a link against its rate: over any interval it delivers at most the bits that the rate
/// allows and one packet more, and if it is always busy, at least those bits less one packet. A
/// delivery at a whole nanosecond may really be later by a fraction of one.
fn hold(stated: &Stated, packets: &[Arrival]) {
    let is_always_busy = stated.jitter.is_none() && packets.iter().all(|&(at, _)| at == 0);
    let drop_tail = || DropTail::new(Limit::Unlimited);
    let at = deliveries(stated.link(drop_tail()), packets);
    let kept = stated.link(AnyQueue::keeps(Kept::new(drop_tail())));
    assert_eq!(
        deliveries(kept, packets),
        at,
        "with a queue that keeps packets"
    );
    assert_eq!(at.len(), packets.len());

    let nanosecond = Duration::from_nanos(1);
    let after: Vec<_> = at.iter().map(|&at| at + nanosecond).collect();
    let (most, least) = (stated.capacities(&after), stated.capacities(&at));
    let sizes = packets.iter().map(|&(_, size)| u128::from(size));
    let sizes: Vec<u128> = sizes.map(|size| size * NANOBITS_PER_BYTE).collect();
    let mut delivered = vec![0];
    for size in &sizes {
        delivered.push(delivered.last().unwrap() + size);
    }
    for last in 0..at.len() {
        if is_always_busy {
            assert!(
                delivered[last + 1] >= least[last],
                "packets 0 to {last} take until {}",
                at[last]
            );
        }
        for first in 0..=last {
            let bits = delivered[last + 1] - delivered[first];
            assert!(
                bits <= most[last] - least[first] + sizes[first],
                "packets {first} to {last} arrive from {} to {}",
                at[first],
                at[last]
            );
            if is_always_busy {
                let next = delivered[last + 1] - delivered[first + 1];
                assert!(
                    next + sizes[last] >= (least[last] + sizes[last]).saturating_sub(most[first]),
                    "packets {first} to {last} arrive from {} to {}",
                    at[first],
                    at[last]
                );
            }
        }
    }
}

/// From 1 bps to 400 Gbps, equally many of each order of magnitude.
fn rate() -> impl Strategy<Value = u64> {
    (0.0..400e9_f64.ln()).prop_map(|exponent| exponent.exp() as u64)
}

/// Packets of 40 B to 64 kB that all arrive at the beginning, or one after the other.
fn packets() -> impl Strategy<Value = Vec<Arrival>> {
    let sizes = prop_oneof![
        vec(40..=64_000_u32, 1..60),
        (40..=64_000_u32, 1..60_usize).prop_map(|(size, number)| vec![size; number]),
    ];
    let gaps = prop_oneof![
        Just(vec![0; 60]),
        vec(0..20_u64, 60),
        vec(0..2_000_000_u64, 60)
    ];
    (sizes, gaps).prop_map(|(sizes, gaps)| {
        let times = gaps.into_iter().scan(0, |time, gap| {
            *time += gap;
            Some(*time)
        });
        times.zip(sizes).collect()
    })
}

fn stated() -> impl Strategy<Value = Stated> {
    let step = (1..100_000_000_u64, prop_oneof![4 => rate(), 1 => Just(0)]);
    let steps = (rate(), vec(step, 1..20)).prop_map(|(first, steps)| {
        let mut at = Duration::ZERO;
        let mut steps: Vec<_> = steps
            .into_iter()
            .map(|(length, rate)| {
                at += Duration::from_nanos(length);
                TraceStep {
                    at,
                    rate: Some(Rate::from_bps(rate)),
                    delay: None,
                }
            })
            .collect();
        // Everything arrives in the end.
        steps.push(TraceStep {
            at: at + Duration::from_millis(1),
            rate: Some(Rate::from_bps(1_000_003)),
            delay: None,
        });
        Stated::varying(first, Arc::new(ListedSteps::new(&steps)))
    });
    let delays = (
        rate(),
        vec((1..1_000_000_u64, 0..1_000_000_u64), 1..20),
        0..1_000_u64,
    );
    let delays = delays.prop_map(|(rate, steps, jitter)| {
        let mut at = Duration::ZERO;
        let steps = steps.into_iter().map(|(length, delay)| {
            at += Duration::from_nanos(length);
            TraceStep {
                at,
                rate: None,
                delay: Some(Duration::from_nanos(delay)),
            }
        });
        let steps: Vec<_> = steps.collect();
        Stated {
            jitter: Some(Duration::from_nanos(jitter)),
            ..Stated::varying(rate, Arc::new(ListedSteps::new(&steps)))
        }
    });
    let opportunities = vec((0..3_u32, 1..300_usize), 1..10).prop_map(|groups| {
        let mut times = Vec::new();
        let mut at = 0;
        for (gap, number) in groups {
            at += gap;
            times.extend(std::iter::repeat_n(at, number));
        }
        times.push(at + 1);
        Stated::varying(1, Arc::new(Opportunities::new(&times)))
    });
    prop_oneof![
        rate().prop_map(Stated::constant),
        rate().prop_map(|rate| Stated::varying(rate, Arc::new(ListedSteps::new(&[])))),
        steps,
        delays,
        opportunities,
        (100_000..400_000_000_000_u64, 0..GENERATED.len())
            .prop_map(|(rate, which)| Stated::varying(rate, generated(GENERATED[which]))),
    ]
}

/// A link that is up for 2 ms and down for 1 ms on average, one with aggregates, and one with frequent
/// handovers. None changes its delay, without which an arrival is the end of a transmission.
const GENERATED: [&str; 3] = [
    r#"{ "outages": { "up": "2 ms", "down": "1 ms" } }"#,
    r#"{ "wifi": { "packets": 3 } }"#,
    r#"{ "leo": { "interval": "5 ms", "outage": "1 ms", "min_delay": "0 s", "max_delay": "0 s" } }"#,
];

fn generated(text: &str) -> Arc<dyn TraceKind> {
    let mut traces = Traces::new("kind of trace");
    register_built_in_traces(&mut traces);
    let selection: TraceSelection = serde_json::from_str(text).unwrap();
    Selection::<TraceChoice>::read(&selection, &traces).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn a_link_delivers_what_its_rate_allows(
        stated in stated(),
        packets in packets(),
    ) {
        hold(&stated, &packets);
    }
}

/// The seconds that a link takes for this many packets of this size.
fn seconds(stated: &Stated, size: u32, packets: usize) -> f64 {
    let sent = vec![(0, size); packets];
    let at = deliveries(stated.link(DropTail::new(Limit::Unlimited)), &sent);
    at.last().unwrap().as_secs_f64()
}

/// 128 B at 400 Gbps take 2.56 ns.
#[test]
fn a_fast_link_carries_its_rate() {
    let seconds = seconds(&Stated::constant(400_000_000_000), 128, 10_000);
    let carried = 128.0 * 8.0 * 10_000.0 / seconds;
    assert!((carried / 400e9 - 1.0).abs() < 1e-4, "{carried}");
}

/// The remaining fraction of a nanosecond delays a packet that waits or arrives in the same
/// nanosecond, not one that arrives later.
#[test]
fn an_idle_link_begins_afresh() {
    let ends = |times: [u64; 5]| {
        let packets = times.map(|at| (at, 128));
        let link = Stated::constant(400_000_000_000).link(DropTail::new(Limit::Unlimited));
        let at = deliveries(link, &packets).into_iter();
        at.map(Instant::as_nanos).collect::<Vec<_>>()
    };
    assert_eq!(ends([0, 0, 0, 0, 0]), [2, 5, 7, 10, 12]);
    assert_eq!(ends([0, 2, 5, 7, 10]), [2, 5, 7, 10, 12]);
    assert_eq!(ends([0, 3, 6, 9, 12]), [2, 5, 8, 11, 14]);
}

/// 90 opportunities of 1500 B in each 10 ms.
#[test]
fn opportunities_in_the_same_millisecond_carry_their_bytes() {
    let stated = Stated::varying(1, Arc::new(Opportunities::new(&[10; 90])));
    for size in [100, 500, 1500] {
        let packets = 135_000 / size as usize;
        let sent = vec![(0, size); 5 * packets + 1];
        let at = deliveries(stated.link(DropTail::new(Limit::Unlimited)), &sent);
        for (packet, at) in at.into_iter().enumerate() {
            let round = 1 + packet as u64 / packets as u64;
            let begins = Instant::ZERO + Duration::from_millis(10) * round;
            let ends = begins + Duration::from_micros(1);
            assert!(
                begins <= at && at <= ends,
                "packet {packet} of {size} B at {at}"
            );
        }
    }
}

/// A second at 10 Mbps and one at a low rate, in turn: the link is not held up by a packet that
/// begins at the low rate.
#[test]
fn a_packet_that_begins_at_a_low_rate_goes_on_at_the_next_one() {
    let mean = |low: u64| {
        let step = |second: u64| TraceStep {
            at: Duration::from_secs(second),
            rate: Some(Rate::from_bps(if second.is_multiple_of(2) {
                10_000_000
            } else {
                low
            })),
            delay: None,
        };
        let steps: Vec<_> = (1..1000).map(step).collect();
        let stated = Stated::varying(10_000_000, Arc::new(ListedSteps::new(&steps)));
        1500.0 * 8.0 * 25_000.0 / seconds(&stated, 1500, 25_000)
    };
    for low in [0, 1, 100, 2_000, 5_000, 50_000, 1_000_000] {
        let (mean, expected) = (mean(low), (10_000_000.0 + low as f64) / 2.0);
        assert!((mean / expected - 1.0).abs() < 0.02, "{low} bps: {mean}");
    }
}

/// Where the delay falls, packets that would overtake an earlier one follow it at the link's rate.
/// The fractions of a nanosecond that their transmissions take therefore add up: 1547 B take
/// 89,410.14 ns.
#[test]
fn packets_that_must_not_overtake_are_spaced_by_their_exact_times() {
    let step = |at: u64, delay: u64| TraceStep {
        at: Duration::from_nanos(at),
        rate: None,
        delay: Some(Duration::from_nanos(delay)),
    };
    let (late, on_time) = (step(0, 10_000_000), step(1_000_000, 0));
    let trace = Arc::new(ListedSteps::new(&[late, on_time]));
    let stated = Stated::varying(138_417_288, trace);
    // The first arrives 10 ms late; each of the others finds an idle link.
    let packets: Vec<Arrival> = (0..50).map(|index| (index * 200_000, 1547)).collect();
    let first = u64::from(1547_u32) * 8_000_000_000 / 138_417_288;
    let at = deliveries(stated.link(DropTail::new(Limit::Unlimited)), &packets);
    let exact = |packets: u64| u128::from(packets) * 1547 * 8_000_000_000 / 138_417_288;
    assert_eq!(at[0].as_nanos(), first + 10_000_000);
    let bunch = (at[20] - at[4]).as_nanos();
    assert!(
        u128::from(bunch) >= exact(16) && u128::from(bunch) <= exact(16) + 1,
        "{bunch}"
    );
}

/// A packet whose nanobits do not fit into 64 bits: like any other, it passes its fraction of a
/// nanosecond on to the next one.
#[test]
fn the_largest_packets_take_their_time() {
    for rate in [7_777_777_777, 400_000_000_001] {
        let packets = [(0, u32::MAX), (0, u32::MAX), (0, 1000), (0, 1001)];
        hold(&Stated::constant(rate), &packets);
    }
}
