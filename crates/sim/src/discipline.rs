//! The queue disciplines of a scenario.

use rand::Rng;
use skywave_path::{
    AdaptiveRed, AnyQueue, CoDel, DropTail, FqCoDel, Limit, Mpcp, Pie, Red, RedConfig, Weighted,
};
use skywave_units::{Bytes, Duration, Rate};

use crate::host::stream;
use crate::packet::Frame;
use crate::scenario::QueueSpec;

/// What a queue depends on beside its description.
#[derive(Clone, Copy)]
pub(crate) struct Head<'a> {
    /// The link's name, which its random stream is named after.
    pub(crate) link: &'a str,
    /// The link's rate.
    pub(crate) rate: Rate,
    /// What a sub-queue has of it when all are busy.
    pub(crate) share: Rate,
    /// The link's propagation delay.
    pub(crate) delay: Duration,
    /// The scenario's seed.
    pub(crate) seed: u64,
}

/// The queue at the head of a link. Its description has been validated.
pub(crate) fn discipline(spec: &QueueSpec, head: Head<'_>) -> AnyQueue<Frame> {
    sub_queue(spec, head, 0)
}

/// The sub-queue of this index, which has a random stream of its own.
fn sub_queue(spec: &QueueSpec, head: Head<'_>, index: usize) -> AnyQueue<Frame> {
    let random = || stream(head.seed, &format!("{}/queue{index}", head.link));
    let red = |config: RedConfig| {
        AnyQueue::Red(Box::new(Red::new(config, head.rate, head.delay, random())))
    };
    match spec {
        QueueSpec::Unlimited => AnyQueue::DropTail(DropTail::new(Limit::Unlimited)),
        QueueSpec::DropTail(spec) => {
            AnyQueue::DropTail(DropTail::new(limit(spec.packets, spec.bytes)))
        }
        QueueSpec::Red(spec) => red(spec.config(limit(spec.packets, spec.bytes), None)),
        QueueSpec::AdaptiveRed(spec) => {
            let limit = limit(spec.packets, spec.bytes);
            red(spec.config(limit, Some(AdaptiveRed::default())))
        }
        QueueSpec::CoDel(spec) => AnyQueue::CoDel(Box::new(CoDel::new(
            limit(spec.packets, spec.bytes),
            spec.config(),
        ))),
        QueueSpec::FqCoDel(spec) => {
            AnyQueue::FqCoDel(Box::new(FqCoDel::new(spec.config(), random().next_u64())))
        }
        QueueSpec::Pie(spec) => AnyQueue::Pie(Box::new(Pie::new(
            limit(spec.packets, spec.bytes),
            spec.config(),
            random(),
        ))),
        QueueSpec::Vcp(spec) => AnyQueue::Mpcp(Box::new(Mpcp::new(
            limit(spec.packets, spec.bytes),
            spec.config(),
            head.share,
            spec.marker(),
        ))),
        QueueSpec::Weighted(spec) => {
            let weights: u64 = spec.queues.iter().map(|sub| u64::from(sub.weight)).sum();
            let share = |weight: u32| {
                let bps = u128::from(head.rate.as_bps()) * u128::from(weight);
                Rate::from_bps((bps / u128::from(weights)) as u64)
            };
            let queues = spec
                .queues
                .iter()
                .enumerate()
                .map(|(index, sub)| {
                    let head = Head {
                        share: share(sub.weight),
                        ..head
                    };
                    (sub.weight, sub_queue(&sub.queue, head, index))
                })
                .collect();
            let weighted = Weighted::new(queues).expect("weights have been validated");
            AnyQueue::Weighted(Box::new(weighted))
        }
    }
}

fn limit(packets: Option<u32>, bytes: Option<Bytes>) -> Limit {
    match (packets, bytes) {
        (Some(packets), _) => Limit::Packets(packets),
        (None, Some(bytes)) => Limit::Bytes(bytes.get()),
        (None, None) => Limit::Unlimited,
    }
}
