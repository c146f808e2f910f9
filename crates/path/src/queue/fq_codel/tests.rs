//! The properties of RFC 8290.

use std::collections::BTreeMap;

use proptest::prelude::*;
use skywave_units::Duration;
use skywave_wire::Ecn;

use super::*;
use crate::contract::Parcel;

const NOW: Instant = Instant::ZERO;

fn fq_codel(config: FqCoDelConfig) -> FqCoDel<Parcel> {
    FqCoDel::new(config, 1)
}

fn offer(queue: &mut FqCoDel<Parcel>, flow: u32, size: u32, count: u32) {
    for id in 0..count {
        let parcel = Parcel::new(id, size).of_flow(flow);
        assert_eq!(queue.enqueue(NOW, parcel), Ok(()));
    }
}

/// Returns the flows of the next packets.
fn served(queue: &mut FqCoDel<Parcel>, count: usize) -> Vec<u64> {
    std::iter::from_fn(|| queue.dequeue(NOW))
        .take(count)
        .map(|parcel| parcel.flow())
        .collect()
}

/// Deficit round robin shares bytes, not packets (RFC 8290 section 4.2).
#[test]
fn flows_share_by_bytes() {
    let mut queue = fq_codel(FqCoDelConfig::default());
    offer(&mut queue, 1, 1500, 200);
    offer(&mut queue, 2, 300, 1000);
    let mut bytes = BTreeMap::<u64, u64>::new();
    for _ in 0..600 {
        let parcel = queue.dequeue(NOW).unwrap();
        *bytes.entry(parcel.flow()).or_default() += u64::from(parcel.size());
    }
    let difference = bytes[&1].abs_diff(bytes[&2]);
    assert!(difference <= 2 * 1514, "{bytes:?}");
}

/// A new flow is served before flows that have built a queue (RFC 8290 section 4.2).
#[test]
fn a_new_flow_goes_first_for_a_quantum() {
    let mut queue = fq_codel(FqCoDelConfig::default());
    offer(&mut queue, 1, 1000, 50);
    assert_eq!(served(&mut queue, 9), [1; 9]);
    offer(&mut queue, 2, 500, 10);
    // A quantum of 1514 B is overdrawn by the fourth packet. By then the old flow, which has 84 B
    // left, has overdrawn it six times, each time by less than a packet.
    assert_eq!(served(&mut queue, 8), [2, 2, 2, 2, 1, 2, 2, 2]);
}

/// A flow that always returns just after its queue has emptied does not stay new, so it cannot
/// starve the others (RFC 8290 section 4.2, last paragraphs).
#[test]
fn one_packet_at_a_time_starves_nobody() {
    let mut queue = fq_codel(FqCoDelConfig::default());
    offer(&mut queue, 1, 1000, 100);
    let mut counts = BTreeMap::<u64, u32>::new();
    for _ in 0..100 {
        offer(&mut queue, 2, 200, 1);
        for flow in served(&mut queue, 2) {
            *counts.entry(flow).or_default() += 1;
        }
    }
    assert!(counts[&1] >= 90, "{counts:?}");
}

/// RFC 8290 section 4.1: the longest queue pays, oldest packets first, half of it and 64 at most.
#[test]
fn overflow_hits_the_longest_queue() {
    let mut queue = fq_codel(FqCoDelConfig {
        limit: 100,
        ..FqCoDelConfig::default()
    });
    offer(&mut queue, 1, 1000, 90);
    offer(&mut queue, 2, 1500, 10);
    offer(&mut queue, 3, 100, 1);
    let dropped: Vec<_> = std::iter::from_fn(|| queue.dropped()).collect();
    assert_eq!(dropped.len(), 45);
    assert!(dropped.iter().zip(0..).all(|(dropped, id)| {
        dropped.reason == DropReason::Full && (dropped.packet.flow(), dropped.packet.id) == (1, id)
    }));
    assert_eq!(queue.packets(), 56);
}

/// Each queue has its own control (RFC 8290 section 5.8): a flow that builds no queue loses nothing
/// next to one that does.
#[test]
fn only_the_flow_that_builds_a_queue_is_dropped() {
    let mut queue = fq_codel(FqCoDelConfig::default());
    let (mut heavy, mut light) = (0, 0);
    for ms in 0..3000 {
        let now = NOW + Duration::from_millis(ms);
        for _ in 0..2 {
            let parcel = Parcel::new(0, 1000).of_flow(1);
            assert_eq!(queue.enqueue(now, parcel), Ok(()));
        }
        if ms % 5 == 0 {
            let parcel = Parcel::new(0, 100).of_flow(2);
            assert_eq!(queue.enqueue(now, parcel), Ok(()));
        }
        queue.dequeue(now);
        while let Some(dropped) = queue.dropped() {
            assert_eq!(dropped.reason, DropReason::Early);
            match dropped.packet.flow() {
                1 => heavy += 1,
                _ => light += 1,
            }
        }
    }
    assert!(heavy > 10, "{heavy}");
    assert_eq!(light, 0);
}

/// RFC 8290 section 4.1: which flows share a queue depends on the salt.
#[test]
fn the_salt_moves_flows() {
    let buckets = |salt| {
        let queue = FqCoDel::<Parcel>::new(FqCoDelConfig::default(), salt);
        (0..100).map(|flow| queue.bucket(flow)).collect::<Vec<_>>()
    };
    assert_eq!(buckets(1), buckets(1));
    assert_ne!(buckets(1), buckets(2));
}

/// RFC 8289 section 4.1: a flow's last packet is not dropped while no other flow waits, however long
/// the delay. Behind another flow it is (section 4.4).
#[test]
fn the_last_packet_of_the_link_is_kept() {
    for (others, drops) in [(false, false), (true, true)] {
        let mut queue = fq_codel(FqCoDelConfig::default());
        let mut dropped = 0;
        for step in 0..100 {
            let now = NOW + Duration::from_millis(100) * step;
            let flows = if others { 1..=2 } else { 1..=1 };
            for flow in flows {
                let index = queue.bucket(u64::from(flow)) as usize;
                while queue.flows[index].waiting.packets() < 2 {
                    let parcel = Parcel::new(0, 1000).of_flow(flow);
                    assert_eq!(queue.enqueue(now, parcel), Ok(()));
                }
            }
            assert!(queue.dequeue(now).is_some());
            dropped += std::iter::from_fn(|| queue.dropped()).count();
        }
        assert_eq!(dropped > 0, drops, "{dropped}");
    }
}

proptest! {
    /// Every packet is accounted for, each flow keeps its order, the limit holds, and the link is
    /// busy while packets wait.
    #[test]
    fn keeps_count(
        steps in prop::collection::vec((0_u64..30, 0_u32..8, 40_u32..1500), 1..200),
        flows in 1_u32..6,
        ecn: bool,
        salt: u64,
    ) {
        let config = FqCoDelConfig {
            limit: 30,
            flows: 4,
            codel: CoDelConfig { ecn, ..CoDelConfig::default() },
            ..FqCoDelConfig::default()
        };
        let mut queue = FqCoDel::new(config, salt);
        let (mut now, mut id, mut gone) = (NOW, 0, 0);
        let mut last = BTreeMap::new();
        for (gap, count, size) in steps {
            now += Duration::from_millis(gap);
            for _ in 0..count {
                id += 1;
                let parcel = Parcel::new(id, size).of_flow(id % flows).with_ecn(Ecn::Ect0);
                prop_assert_eq!(queue.enqueue(now, parcel), Ok(()));
                prop_assert!(queue.packets() <= 30);
            }
            let waited = queue.packets() > 0;
            let parcel = queue.dequeue(now);
            prop_assert!(parcel.is_some() || !waited || queue.packets() == 0);
            if let Some(parcel) = parcel {
                gone += 1;
                let before = last.insert(parcel.flow(), parcel.id);
                prop_assert!(before.is_none_or(|before| before < parcel.id));
            }
            while queue.dropped().is_some() {
                gone += 1;
            }
            prop_assert_eq!(gone + queue.packets() as u32, id);
        }
        while queue.dequeue(now).is_some() {}
        prop_assert_eq!((queue.packets(), queue.bytes()), (0, 0));
    }
}

/// The limit is the number of packets that may wait: only the next one causes drops.
#[test]
fn as_many_packets_wait_as_the_limit_says() {
    let mut queue = fq_codel(FqCoDelConfig {
        limit: 10,
        ..FqCoDelConfig::default()
    });
    offer(&mut queue, 1, 100, 10);
    assert_eq!(queue.packets(), 10);
    assert_eq!(queue.dropped(), None);
    offer(&mut queue, 1, 100, 1);
    assert!(queue.packets() <= 10);
    assert!(queue.dropped().is_some());
}

/// A flow that has used its quantum to the last byte passes its turn to the next flow.
#[test]
fn packets_of_a_quantum_alternate() {
    let mut queue = fq_codel(FqCoDelConfig {
        quantum: 1500,
        ..FqCoDelConfig::default()
    });
    offer(&mut queue, 1, 1500, 3);
    offer(&mut queue, 2, 1500, 3);
    assert_eq!(served(&mut queue, 6), [1, 2, 1, 2, 1, 2]);
}
