//! Delivery-rate samples as seen by a user-defined control.

use std::sync::{Arc, Mutex};

use rand_xoshiro::SplitMix64;
use skywave_congestion::{Ack, AnyControl, Control, DeliveryRate, Interests, Loss};
use skywave_transport::tcp::{
    Ports, Receiver, ReceiverConfig, RecoveryAlgorithm, Sender, SenderConfig,
};
use skywave_units::rand_core::{Rng, SeedableRng};
use skywave_units::{Duration, Instant, Rate};
use skywave_wire::tcp::Segment;

use crate::network::{Direction, Fate, Link, Network};
use crate::script::{RTT, Script, config, full};

/// A control with a constant window that stores the samples it receives.
struct Keeper {
    cwnd: f64,
    samples: Samples,
}

type Samples = Arc<Mutex<Vec<DeliveryRate>>>;

impl Control for Keeper {
    fn interests(&self) -> Interests {
        Interests {
            delivery_rate: true,
            ..Interests::default()
        }
    }
    fn on_ack(&mut self, ack: &Ack) {
        self.samples.lock().unwrap().extend(ack.delivery_rate);
    }
    fn on_loss(&mut self, _loss: &Loss) {}
    fn on_timeout(&mut self, _now: Instant, _in_flight: u32) {}
    fn limit_cwnd(&mut self, _limit: f64) {}
    fn cwnd(&self) -> f64 {
        self.cwnd
    }
}

fn keeper(cwnd: f64) -> (AnyControl, Samples) {
    let samples = Samples::default();
    let control = AnyControl::new(Keeper {
        cwnd,
        samples: samples.clone(),
    });
    (control, samples)
}

/// The share of data in 2 Mbit/s, with segments of 1000 bytes and 40-byte headers.
const BOTTLENECK: f64 = 2e6 * 1000.0 / 1040.0;

/// The samples of a transfer of `bytes` over a bottleneck of 2 Mbit/s and 40 ms that loses this
/// many of 256 segments.
fn transfer(bytes: u64, cwnd: f64, loss: u32, recovery: RecoveryAlgorithm) -> Vec<DeliveryRate> {
    let (control, samples) = keeper(cwnd);
    carry(bytes, control, loss, recovery);
    let samples = samples.lock().unwrap();
    samples.clone()
}

/// Transfers `bytes` over a bottleneck of 2 Mbit/s and 40 ms that loses this many of 256 segments.
/// Returns how many segments with data were lost.
pub(crate) fn carry(
    bytes: u64,
    control: AnyControl,
    loss: u32,
    recovery: RecoveryAlgorithm,
) -> u64 {
    let (local, remote) = (1, 2);
    let sender_config = SenderConfig {
        segment_size: 1000,
        ..SenderConfig::rfc(recovery)
    };
    let sender = Sender::new(sender_config, control, Ports { local, remote }, 7);
    let ports = Ports {
        local: remote,
        remote: local,
    };
    let receiver_config = ReceiverConfig {
        delayed_ack: None,
        ..ReceiverConfig::default()
    };
    let receiver = Receiver::new(receiver_config, ports, 8);
    let mut random = SplitMix64::seed_from_u64(9);
    let mut lost = 0;
    let fate = |direction, _, segment: &Segment| {
        if direction == Direction::Forward && random.next_u32() >> 24 < loss {
            lost += u64::from(!segment.payload.is_empty());
            Fate::Drop
        } else {
            Fate::Pass
        }
    };
    let link = |rate| Link::new(rate, "10 ms");
    let mut network = Network::new(sender, receiver, link("10 Mbps"), link("2 Mbps"), fate);
    network.apply(&mut |_, _| {}, |sender| {
        sender.write(bytes).unwrap();
        sender.close();
    });
    network.run(Instant::ZERO + Duration::from_secs(10_000), &mut |_, _| {});
    assert!(network.receiver.get().is_finished());
    drop(network);
    lost
}

fn bps(rate: Rate) -> f64 {
    rate.as_bps() as f64
}

#[test]
fn a_full_bottleneck_is_measured_as_fast_as_it_is() {
    let samples = transfer(1_000_000, 30.0, 0, RecoveryAlgorithm::NewReno);
    assert_eq!(samples.last().unwrap().total_delivered, 1_000_000);
    let steady: Vec<_> = samples
        .iter()
        .filter(|sample| (100_000..900_000).contains(&sample.prior_delivered))
        .collect();
    assert!(steady.len() > 300, "{}", steady.len());
    for sample in steady {
        let ratio = bps(sample.rate()) / BOTTLENECK;
        assert!((0.97..1.03).contains(&ratio), "{ratio}: {sample:?}");
        assert!(!sample.is_application_limited);
    }
}

/// A window of slightly more than a quarter of the bandwidth-delay product.
#[test]
fn a_small_window_is_measured_too() {
    let samples = transfer(200_000, 3.0, 0, RecoveryAlgorithm::NewReno);
    let rates: Vec<_> = samples.iter().map(|sample| bps(sample.rate())).collect();
    // 3000 bytes in 45 ms.
    let largest = rates.iter().fold(0.0, |most: f64, &rate| most.max(rate));
    assert!((0.2..0.35).contains(&(largest / BOTTLENECK)), "{largest}");
}

/// With losses and retransmissions: no byte is counted twice, and if SACKs report when each
/// arrived, no sample is faster than the path.
#[test]
fn losses_neither_exaggerate_nor_lose_bytes() {
    for recovery in [
        RecoveryAlgorithm::Sack,
        RecoveryAlgorithm::Rack,
        RecoveryAlgorithm::Sack1,
        RecoveryAlgorithm::NewReno,
        RecoveryAlgorithm::Tahoe,
    ] {
        for loss in [3, 20] {
            let samples = transfer(500_000, 30.0, loss, recovery);
            // A recovery that lasts to the end is not reported.
            let total = samples.last().unwrap().total_delivered;
            assert!(
                (400_000..=500_000).contains(&total),
                "{recovery:?}: {total}"
            );
            assert!(
                samples.is_sorted_by(|a, b| a.total_delivered < b.total_delivered),
                "{recovery:?}"
            );
            if !matches!(recovery, RecoveryAlgorithm::Sack | RecoveryAlgorithm::Sack1) {
                continue;
            }
            for sample in &samples {
                let ratio = bps(sample.rate()) / BOTTLENECK;
                assert!(ratio < 1.03, "{recovery:?}: {ratio}: {sample:?}");
            }
        }
    }
}

/// Whether the samples since the last check are application-limited.
fn limited(samples: &Samples) -> Vec<bool> {
    let taken = core::mem::take(&mut *samples.lock().unwrap());
    taken.iter().map(|it| it.is_application_limited).collect()
}

/// The last segment fills cwnd, so it is not application-limited when it leaves; then
/// acknowledgements open cwnd, and there is nothing to send.
#[test]
fn an_application_that_is_late_is_the_limit() {
    let (control, samples) = keeper(4.0);
    let mut script = Script::with_control(config(), control);
    script.apply(|sender| sender.write(4000)).unwrap();
    script.accept();
    assert_eq!(script.sent().len(), 4);
    script.now += RTT;
    for ack in [1001, 2001, 3001, 4001] {
        script.ack(ack);
        script.now += Duration::from_millis(1);
    }
    assert_eq!(limited(&samples), [false; 4]);
    script.now += RTT;
    script.apply(|sender| sender.write(8000)).unwrap();
    assert_eq!(script.sent().len(), 4);
    script.now += RTT;
    // Samples of segments sent before anything of the new flight was delivered are
    // application-limited, the others are not.
    for ack in (5001..=12_001).step_by(1000) {
        script.now += RTT;
        script.ack(ack);
    }
    assert_eq!(
        limited(&samples),
        [true, true, true, true, false, false, false, false]
    );
}

#[test]
fn an_application_that_writes_in_time_is_not_the_limit() {
    let (control, samples) = keeper(4.0);
    let mut script = Script::with_control(config(), control);
    script.apply(|sender| sender.write(5000)).unwrap();
    script.accept();
    for ack in (1001..=20_001).step_by(1000) {
        script.now += RTT;
        script.apply(|sender| sender.write(1000)).unwrap();
        script.ack(ack);
    }
    assert_eq!(limited(&samples), [false; 20]);
}

/// A lost segment awaiting retransmission counts as data to send.
#[test]
fn what_is_to_be_sent_again_is_no_application_limit() {
    let (control, samples) = keeper(8.0);
    let mut script = Script::with_control(
        SenderConfig {
            segment_size: 1000,
            ..SenderConfig::rfc(RecoveryAlgorithm::Sack)
        },
        control,
    );
    script.apply(|sender| sender.write(8000)).unwrap();
    script.accept();
    assert_eq!(script.sent().len(), 8);
    // The timer goes back to the first segment: everything written is sent again.
    let (_, sent) = script.wait_for_segment();
    assert_eq!(sent.len(), 8);
    script.apply(|sender| sender.write(1000)).unwrap();
    script.now += RTT;
    for ack in (1001..=9001).step_by(1000) {
        script.ack(ack);
        script.now += Duration::from_millis(1);
    }
    assert_eq!(limited(&samples)[..8], [false; 8]);
}

/// Idle time is not attributed to the path.
#[test]
fn a_timeout_begins_anew() {
    let (control, samples) = keeper(4.0);
    let mut script = Script::with_control(config(), control);
    script.apply(|sender| sender.write_unlimited()).unwrap();
    script.accept();
    assert_eq!(script.sent().len(), 4);
    let (waited, sent) = script.wait_for_segment();
    assert!(waited >= Duration::from_secs(1), "{waited}");
    assert_eq!(sent.len(), 4);
    script.now += RTT;
    script.ack(4001);
    let samples = samples.lock().unwrap();
    assert_eq!((samples[0].delivered, samples[0].interval), (4000, RTT));
}

/// Duplicates with SACK deliver data that is reported to the control later.
#[test]
fn what_is_acknowledged_selectively_counts_when_it_is() {
    let (control, samples) = keeper(6.0);
    let mut script = Script::with_control(
        SenderConfig {
            segment_size: 1000,
            ..SenderConfig::rfc(RecoveryAlgorithm::Sack)
        },
        control,
    );
    script.apply(|sender| sender.write_unlimited()).unwrap();
    script.accept();
    assert_eq!(script.sent().len(), 6);
    script.now += RTT;
    // Limited transmit answers each.
    assert_eq!(script.sack(1, &[(2001, 3001)]), [full(6001)]);
    script.now += Duration::from_millis(1);
    assert_eq!(script.sack(1, &[(2001, 4001)]), [full(7001)]);
    script.now += Duration::from_millis(1);
    // The first two were only late.
    script.ack(4001);
    script.now += RTT;
    script.ack(8001);
    let samples = samples.lock().unwrap();
    let told: Vec<_> = samples
        .iter()
        .map(|sample| (sample.prior_delivered, sample.total_delivered))
        .collect();
    // The last one was sent when two segments had been SACKed.
    assert_eq!(told, [(0, 4000), (2000, 8000)]);
}
