//! Shares of the link (Chen, Yang and Hong 2010, section 4.4).

use std::sync::Mutex;

use proptest::prelude::*;
use rand::SeedableRng;
use skywave_units::{Duration, Random, Rate};

use super::*;
use crate::contract::Parcel;
use crate::{DropTail, Limit, Red, RedConfig};

const NOW: Instant = Instant::ZERO;

fn drop_tail(packets: u32) -> AnyQueue<Parcel> {
    DropTail::new(Limit::Packets(packets)).into()
}

fn red() -> AnyQueue<Parcel> {
    let random = Random::seed_from_u64(1);
    let rate = Rate::from_bps(10_000_000);
    let red = Red::new(
        RedConfig::new(Limit::Packets(100)),
        rate,
        Duration::from_millis(10),
        random,
    );
    red.into()
}

fn weighted(weights: [u32; 2]) -> Weighted<Parcel> {
    Weighted::new(vec![(weights[0], drop_tail(1000)), (weights[1], red())]).unwrap()
}

/// Keeps both classes at 30 packets of these sizes and serves `count`. Returns the bytes of each
/// class.
fn serve(queue: &mut Weighted<Parcel>, sizes: [u32; 2], count: u32) -> [u64; 2] {
    let mut bytes = [0; 2];
    for _ in 0..count {
        for (class, size) in sizes.into_iter().enumerate() {
            while queue.queues[class].queue.packets() < 30 {
                let parcel = Parcel::new(0, size).of_class(class as u8);
                // RED may refuse it.
                let _ = queue.enqueue(NOW, parcel);
            }
        }
        let parcel = queue.dequeue(NOW).unwrap();
        bytes[usize::from(parcel.class())] += u64::from(parcel.size());
    }
    bytes
}

/// A sub-queue that has used up its quantum waits for the next round.
#[test]
fn packets_of_a_quantum_alternate() {
    let mut queue = Weighted::new(vec![(1, drop_tail(9)), (1, drop_tail(9))]).unwrap();
    for class in [0, 0, 0, 1, 1, 1] {
        let parcel = Parcel::new(0, QUANTUM as u32).of_class(class);
        assert_eq!(queue.enqueue(NOW, parcel), Ok(()));
    }
    let served: Vec<u8> = std::iter::from_fn(|| queue.dequeue(NOW))
        .map(|parcel| parcel.class())
        .collect();
    assert!(
        served == [0, 1, 0, 1, 0, 1] || served == [1, 0, 1, 0, 1, 0],
        "{served:?}"
    );
}

#[test]
fn weights_share_the_link_whatever_the_packets() {
    for (weights, sizes) in [
        ([1, 1], [1000, 1000]),
        ([1, 1], [1500, 40]),
        ([3, 1], [200, 1500]),
        ([1, 7], [1500, 64]),
    ] {
        let bytes = serve(&mut weighted(weights), sizes, 5000);
        let shares = [0, 1].map(|class| bytes[class] as f64 / f64::from(weights[class]));
        let round = 1500.0 + f64::from(sizes[0].max(sizes[1]));
        assert!(
            (shares[0] - shares[1]).abs() <= round,
            "{weights:?} {sizes:?}: {bytes:?}"
        );
    }
}

#[test]
fn what_one_leaves_over_the_other_gets() {
    let mut queue = weighted([1, 9]);
    for id in 0..50 {
        assert_eq!(queue.enqueue(NOW, Parcel::new(id, 1000)), Ok(()));
    }
    let left: Vec<u32> = std::iter::from_fn(|| queue.dequeue(NOW))
        .map(|parcel| parcel.id)
        .collect();
    assert_eq!(left, (0..50).collect::<Vec<_>>());
    // A class that was silent has no credit for the turns it missed.
    let bytes = serve(&mut queue, [1000, 1000], 1000);
    assert!(bytes[1] <= 9 * bytes[0] + 9 * 2500, "{bytes:?}");
}

#[test]
fn high_classes_go_to_the_last_sub_queue() {
    let mut queue = weighted([1, 1]);
    let parcel = Parcel::new(0, 1000).of_class(3);
    assert_eq!(queue.enqueue(NOW, parcel), Ok(()));
    assert_eq!(queue.queues[1].queue.packets(), 1);
}

#[test]
fn needs_sub_queues_with_weights() {
    assert!(Weighted::<Parcel>::new(Vec::new()).is_none());
    assert!(Weighted::new(vec![(0, drop_tail(1))]).is_none());
}

proptest! {
    /// The link is busy while packets wait, each class keeps its order, and every packet is
    /// accounted for.
    #[test]
    fn conserves_work(
        steps in prop::collection::vec((0_u8..3, 40_u32..1500, 0_u32..3), 1..300),
        weights in prop::collection::vec(1_u32..10, 1..4),
    ) {
        let queues = weights.iter().map(|&weight| (weight, drop_tail(10))).collect();
        let mut queue = Weighted::new(queues).unwrap();
        let (mut taken, mut left) = (0, 0_usize);
        let mut last = [0; 3];
        for (id, (class, size, serve)) in (1..).zip(steps) {
            taken += usize::from(queue.enqueue(NOW, Parcel::new(id, size).of_class(class)).is_ok());
            for _ in 0..serve {
                let waited = queue.packets() > 0;
                let parcel = queue.dequeue(NOW);
                prop_assert_eq!(parcel.is_some(), waited);
                if let Some(parcel) = parcel {
                    let last = &mut last[usize::from(parcel.class())];
                    prop_assert!(*last < parcel.id);
                    *last = parcel.id;
                    left += 1;
                }
            }
            prop_assert_eq!(queue.packets(), taken - left);
        }
    }
}

/// A kind of queue that records the link's rate, and the share of that rate for which it must build
/// queues.
#[derive(Default)]
struct RateRecorder(Mutex<Vec<[Rate; 2]>>);

impl QueueKind<Parcel> for RateRecorder {
    fn conduct(&self) -> Conduct {
        Conduct::fifo(Limit::Packets(1))
    }

    fn build(&self, head: &Head<'_>) -> AnyQueue<Parcel> {
        self.0.lock().unwrap().push([head.rate, head.share]);
        drop_tail(1)
    }
}

#[test]
fn a_sub_queue_gets_its_share_of_the_rate() {
    let rates = Arc::new(RateRecorder::default());
    let queue = |weight| (weight, Arc::clone(&rates) as Arc<dyn QueueKind<Parcel>>);
    let kind = Kind {
        queues: [1, 2, 7].map(queue).to_vec(),
    };
    let rate = Rate::from_bps(10_000_009);
    let random = |_: &str| Random::seed_from_u64(1);
    kind.build(&Head::new("link", rate, Duration::ZERO, &random));
    // Rounded down.
    let shares = [1_000_000, 2_000_001, 7_000_006].map(|bps| [rate, Rate::from_bps(bps)]);
    assert_eq!(*rates.0.lock().unwrap(), shares);
}
