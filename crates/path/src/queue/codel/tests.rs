//! The properties of RFC 8289.

use proptest::prelude::*;
use skywave_wire::Ecn;

use super::*;
use crate::contract::Parcel;

const MS: Duration = Duration::from_millis(1);

fn at(ms: u64) -> Instant {
    Instant::ZERO + MS * ms
}

fn codel(ecn: bool) -> CoDel<Parcel> {
    let config = CoDelConfig {
        ecn,
        ..CoDelConfig::default()
    };
    CoDel::new(Limit::Unlimited, config)
}

/// The fate of the packets of a standing queue.
#[derive(Debug, Default)]
struct Outcome {
    left: Vec<(Instant, Parcel)>,
    dropped: Vec<(Instant, u32)>,
}

/// Serves a queue of `standing` packets and refills it by one packet every millisecond.
fn stand(codel: &mut CoDel<Parcel>, standing: u32, ms: u64, ecn: Ecn) -> Outcome {
    let mut outcome = Outcome::default();
    let mut id = 0;
    for now in (0..ms).map(at) {
        while codel.packets() < standing as usize {
            id += 1;
            let parcel = Parcel::new(id, 1000).with_ecn(ecn);
            assert_eq!(codel.enqueue(now, parcel), Ok(()));
        }
        if let Some(parcel) = codel.dequeue(now) {
            outcome.left.push((now, parcel));
        }
        while let Some(dropped) = codel.dropped() {
            assert_eq!(dropped.reason, DropReason::Early);
            outcome.dropped.push((now, dropped.packet.id));
        }
    }
    outcome
}

/// The delay exceeds the target of 5 ms at 5 ms, and the first drop follows an interval of 100 ms
/// later. The n-th drop follows 100/sqrt(n) ms after the previous one (RFC 8289 sections 5.5 and
/// 5.6), rounded up to a millisecond, because a packet leaves every millisecond.
#[test]
fn drops_come_ever_closer() {
    let outcome = stand(&mut codel(false), 10, 600, Ecn::NotEct);
    let times: Vec<Instant> = outcome.dropped.iter().map(|&(at, _)| at).collect();
    let mut due = 105.0;
    let expected: Vec<Instant> = (1..=times.len())
        .map(|count| {
            let at = at(f64::ceil(due) as u64);
            due += 100.0 / (count as f64).sqrt();
            at
        })
        .collect();
    assert_eq!(times[0], at(105));
    assert_eq!(times, expected);
    assert!(times.len() >= 9, "{}", times.len());
}

/// With ECN, packets that can be marked are marked when others would be dropped.
#[test]
fn marks_come_when_drops_would() {
    let dropped = stand(&mut codel(false), 10, 600, Ecn::NotEct).dropped;
    let marked = stand(&mut codel(true), 10, 600, Ecn::Ect0);
    let marks: Vec<Instant> = marked
        .left
        .iter()
        .filter(|(_, parcel)| parcel.ecn().is_ce())
        .map(|&(at, _)| at)
        .collect();
    assert_eq!(marked.dropped, []);
    assert_eq!(marks, dropped.iter().map(|&(at, _)| at).collect::<Vec<_>>());
    let others = stand(&mut codel(true), 10, 600, Ecn::NotEct).dropped;
    assert_eq!(others, dropped);
}

/// RFC 8289 section 4.3: a delay below the target is left alone, however long it lasts.
#[test]
fn a_short_standing_queue_is_left_alone() {
    let outcome = stand(&mut codel(false), 5, 5000, Ecn::NotEct);
    assert_eq!(outcome.dropped, []);
    assert_eq!(outcome.left.len(), 5000);
}

/// A single packet below the target ends the drop state (RFC 8289 section 5.5).
#[test]
fn one_short_delay_ends_the_drop_state() {
    let mut codel = codel(false);
    stand(&mut codel, 10, 300, Ecn::NotEct);
    assert!(codel.control.dropping);
    while codel.dequeue(at(300)).is_some() {}
    while codel.dropped().is_some() {}
    for id in 0..5 {
        let parcel = Parcel::new(id, 1000);
        assert_eq!(codel.enqueue(at(301), parcel), Ok(()));
    }
    assert!(codel.dequeue(at(302)).is_some());
    assert!(!codel.control.dropping);
}

/// A drop state that soon follows another resumes its drop rate; a later one starts from the lowest
/// rate (RFC 8289 section 5.5).
#[test]
fn the_drop_rate_is_remembered_for_a_while() {
    let resumed = |pause_ms: u64| {
        let mut codel = codel(false);
        stand(&mut codel, 10, 600, Ecn::NotEct);
        let mut now = at(600) + MS * pause_ms;
        while codel.dequeue(now).is_some() {}
        while codel.dropped().is_some() {}
        let count = codel.control.count;
        assert!(count > 5 && !codel.control.dropping);
        let mut id = 0;
        loop {
            while codel.packets() < 10 {
                id += 1;
                assert_eq!(codel.enqueue(now, Parcel::new(id, 1000)), Ok(()));
            }
            codel.dequeue(now);
            if codel.dropped().is_some() {
                return (count, codel.control.count);
            }
            now += MS;
        }
    };
    let (before, after) = resumed(10);
    assert_eq!(after, before - 1);
    assert_eq!(resumed(3000).1, 1);
}

/// RFC 8289 section 5.5: the drop rate is resumed if "now - drop_next_ < 16.0*INTERVAL".
#[test]
fn the_drop_rate_is_remembered_for_less_than_sixteen_intervals() {
    let interval = CoDelConfig::default().interval;
    for (pause, count) in [
        (interval * 16 - Duration::from_nanos(1), 9),
        (interval * 16, 1),
    ] {
        let mut codel = codel(false);
        for id in 0..10 {
            assert_eq!(codel.enqueue(at(0), Parcel::new(id, 1000)), Ok(()));
        }
        codel.control.first_above_time = Some(at(0));
        codel.control.drop_next = at(0);
        codel.control.count = 10;
        codel.control.last_count = 1;
        assert!(codel.dequeue(at(0) + pause).is_some());
        assert!(codel.control.dropping);
        assert_eq!(codel.control.count, count, "{pause}");
    }
}

proptest! {
    /// RFC 8289 section 4.1: the last packet is never dropped, so the link is busy while packets
    /// wait. Every packet leaves in order or is dropped.
    #[test]
    fn never_starves_the_link(
        steps in prop::collection::vec((0_u64..40, 0_u32..6, 40_u32..1500), 1..300),
        ecn: bool,
    ) {
        let mut codel = codel(ecn);
        let (mut now, mut id) = (Instant::ZERO, 0);
        let mut out = Vec::new();
        for (gap, count, size) in steps {
            now += MS * gap;
            for _ in 0..count {
                id += 1;
                let capable = if id % 2 == 0 { Ecn::Ect0 } else { Ecn::NotEct };
                let parcel = Parcel::new(id, size).with_ecn(capable);
                prop_assert_eq!(codel.enqueue(now, parcel), Ok(()));
            }
            let waited = codel.packets() > 0;
            let parcel = codel.dequeue(now);
            prop_assert_eq!(parcel.is_some(), waited);
            while let Some(dropped) = codel.dropped() {
                out.push(dropped.packet.id);
            }
            out.extend(parcel.map(|parcel| parcel.id));
        }
        while let Some(parcel) = codel.dequeue(now) {
            while let Some(dropped) = codel.dropped() {
                out.push(dropped.packet.id);
            }
            out.push(parcel.id);
        }
        prop_assert_eq!(out, (1..=id).collect::<Vec<_>>());
        prop_assert_eq!((codel.packets(), codel.bytes()), (0, 0));
    }
}
