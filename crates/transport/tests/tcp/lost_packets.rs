//! What a control learns about single lost packets.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use skywave_congestion::{Ack, AnyControl, Control, Interests, Loss, LostPacket, Sent};
use skywave_transport::tcp::{RecoveryAlgorithm, SenderConfig};
use skywave_units::Instant;

use crate::delivery_rate::carry;
use crate::script::{RTT, Script, config};

/// A call of a control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Call {
    Sent(u64),
    /// A packet is lost: its number, and how often it was sent.
    Lost(u64, u32),
    Loss,
    Timeout,
}

/// A control with a constant window that remembers its calls.
struct Listener(Arc<Mutex<Vec<Call>>>);

impl Listener {
    fn record(&self, call: Call) {
        self.0.lock().unwrap().push(call);
    }
}

impl Control for Listener {
    fn interests(&self) -> Interests {
        Interests {
            packets: true,
            ..Interests::default()
        }
    }
    fn on_sent(&mut self, sent: &Sent) {
        self.record(Call::Sent(sent.number));
    }
    fn on_packet_lost(&mut self, packet: &LostPacket) {
        assert!(packet.sent_at < packet.now);
        self.record(Call::Lost(packet.number, packet.transmissions));
    }
    fn on_ack(&mut self, _ack: &Ack) {}
    fn on_loss(&mut self, _loss: &Loss) {
        self.record(Call::Loss);
    }
    fn on_timeout(&mut self, _now: Instant, _in_flight: u32) {
        self.record(Call::Timeout);
    }
    fn limit_cwnd(&mut self, _limit: f64) {}
    fn cwnd(&self) -> f64 {
        8.0
    }
}

fn listener() -> (AnyControl, Arc<Mutex<Vec<Call>>>) {
    let calls = Arc::default();
    (AnyControl::new(Listener(Arc::clone(&calls))), calls)
}

/// The calls since the last time, without those for what was sent.
fn news(calls: &Mutex<Vec<Call>>) -> Vec<Call> {
    let mut calls = core::mem::take(&mut *calls.lock().unwrap());
    calls.retain(|call| !matches!(call, Call::Sent(_)));
    calls
}

#[test]
fn each_lost_packet_is_reported_before_the_loss_and_once() {
    let (control, calls) = listener();
    let config = SenderConfig {
        recovery: RecoveryAlgorithm::Sack,
        ..config()
    };
    let mut script = Script::with_control(config, control);
    script.apply(|sender| sender.write_unlimited()).unwrap();
    script.accept();
    script.now += RTT;
    // Segments 1 and 3 are lost. Above segment 3, not enough has arrived yet.
    script.sack(1, &[(1001, 2001), (3001, 5001)]);
    assert_eq!(news(&calls), [Call::Lost(1, 1), Call::Loss]);
    script.sack(1, &[(3001, 6001), (1001, 2001)]);
    assert_eq!(news(&calls), [Call::Lost(2001, 1)]);
    script.sack(1, &[(3001, 7001), (1001, 2001)]);
    assert_eq!(news(&calls), []);
}

/// What a timeout loses after segment 3 of 4 was SACKed.
fn lost_by_a_timeout(keep_sacks: bool) -> Vec<Call> {
    let (control, calls) = listener();
    let config = SenderConfig {
        recovery: RecoveryAlgorithm::Sack,
        keep_sacks,
        ..config()
    };
    let mut script = Script::with_control(config, control);
    script.apply(|sender| sender.write(4000)).unwrap();
    script.accept();
    script.now += RTT;
    script.sack(1, &[(2001, 3001)]);
    assert_eq!(news(&calls), []);
    script.wait_for_segment();
    news(&calls)
}

#[test]
fn a_timeout_loses_whatever_has_not_arrived() {
    let lost = |numbers: &[u64]| {
        let packets = numbers.iter().map(|&number| Call::Lost(number, 1));
        packets.chain([Call::Timeout]).collect::<Vec<_>>()
    };
    assert_eq!(lost_by_a_timeout(true), lost(&[1, 1001, 3001]));
    // Whatever the receiver may have discarded is sent again.
    assert_eq!(lost_by_a_timeout(false), lost(&[1, 1001, 2001, 3001]));
}

/// Whatever is lost on the way is reported, and nothing is sent again that was not.
#[test]
fn what_is_sent_again_was_reported_as_lost_before() {
    for recovery in [
        RecoveryAlgorithm::Sack,
        RecoveryAlgorithm::Rack,
        RecoveryAlgorithm::NewReno,
        RecoveryAlgorithm::Reno {
            once_per_window: false,
        },
        RecoveryAlgorithm::Tahoe,
        RecoveryAlgorithm::Vegas,
    ] {
        for loss in [3, 20] {
            let (control, calls) = listener();
            let dropped = carry(500_000, control, loss, recovery);
            let calls = calls.lock().unwrap();
            let (mut sent, mut lost) = (BTreeSet::new(), BTreeSet::new());
            let mut reports = BTreeSet::new();
            for call in calls.iter() {
                match *call {
                    Call::Sent(number) if !sent.insert(number) => {
                        assert!(lost.remove(&number), "{recovery:?}: {number} is sent again");
                    }
                    Call::Lost(number, transmissions) => {
                        lost.insert(number);
                        let report = (number, transmissions);
                        assert!(reports.insert(report), "{recovery:?}: {report:?} twice");
                    }
                    Call::Sent(_) | Call::Loss | Call::Timeout => {}
                }
            }
            assert!(reports.len() as u64 >= dropped, "{recovery:?}: {dropped}");
        }
    }
}
