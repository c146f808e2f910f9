//! What a control learns about single lost packets.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use skywave_congestion::{Ack, AnyControl, Control, Interests, Loss, LostPacket, Sent};
use skywave_transport::tcp::{RecoveryAlgorithm, SenderConfig};
use skywave_units::Instant;

use crate::delivery_rate::carry;
use crate::script::{RTT, Script, config};

/// What a control is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    Sent(u64),
    /// A packet is lost: its number, and how often it was sent.
    Lost(u64, u32),
    Loss,
    Timeout,
}

/// A control with a constant window that remembers what it is told.
struct Listener(Arc<Mutex<Vec<Told>>>);

impl Listener {
    fn hear(&self, told: Told) {
        self.0.lock().unwrap().push(told);
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
        self.hear(Told::Sent(sent.number));
    }
    fn on_packet_lost(&mut self, packet: &LostPacket) {
        assert!(packet.sent_at < packet.now);
        self.hear(Told::Lost(packet.number, packet.transmissions));
    }
    fn on_ack(&mut self, _ack: &Ack) {}
    fn on_loss(&mut self, _loss: &Loss) {
        self.hear(Told::Loss);
    }
    fn on_timeout(&mut self, _now: Instant, _in_flight: u32) {
        self.hear(Told::Timeout);
    }
    fn limit_cwnd(&mut self, _limit: f64) {}
    fn cwnd(&self) -> f64 {
        8.0
    }
}

fn listener() -> (AnyControl, Arc<Mutex<Vec<Told>>>) {
    let told = Arc::default();
    (AnyControl::new(Listener(Arc::clone(&told))), told)
}

/// What was told since the last call, without what was sent.
fn news(told: &Mutex<Vec<Told>>) -> Vec<Told> {
    let mut told = core::mem::take(&mut *told.lock().unwrap());
    told.retain(|told| !matches!(told, Told::Sent(_)));
    told
}

#[test]
fn each_lost_packet_is_reported_before_the_loss_and_once() {
    let (control, told) = listener();
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
    assert_eq!(news(&told), [Told::Lost(1, 1), Told::Loss]);
    script.sack(1, &[(3001, 6001), (1001, 2001)]);
    assert_eq!(news(&told), [Told::Lost(2001, 1)]);
    script.sack(1, &[(3001, 7001), (1001, 2001)]);
    assert_eq!(news(&told), []);
}

#[test]
fn a_timeout_loses_whatever_has_not_arrived() {
    let (control, told) = listener();
    let config = SenderConfig {
        recovery: RecoveryAlgorithm::Sack,
        ..config()
    };
    let mut script = Script::with_control(config, control);
    script.apply(|sender| sender.write(4000)).unwrap();
    script.accept();
    script.now += RTT;
    script.sack(1, &[(2001, 3001)]);
    assert_eq!(news(&told), []);
    script.wait_for_segment();
    let lost = [1, 1001, 3001].map(|number| Told::Lost(number, 1));
    assert_eq!(news(&told), [&lost[..], &[Told::Timeout]].concat());
}

/// Whatever is lost on the way is reported, and nothing is sent again that was not.
#[test]
fn what_is_sent_again_was_reported_as_lost_before() {
    for recovery in [
        RecoveryAlgorithm::Sack,
        RecoveryAlgorithm::NewReno,
        RecoveryAlgorithm::Reno {
            once_per_window: false,
        },
        RecoveryAlgorithm::Tahoe,
        RecoveryAlgorithm::Vegas,
    ] {
        for loss in [3, 20] {
            let (control, told) = listener();
            let dropped = carry(500_000, control, loss, recovery);
            let told = told.lock().unwrap();
            let (mut sent, mut lost) = (BTreeSet::new(), BTreeSet::new());
            let mut reports = BTreeSet::new();
            for told in told.iter() {
                match *told {
                    Told::Sent(number) if !sent.insert(number) => {
                        assert!(lost.remove(&number), "{recovery:?}: {number} is sent again");
                    }
                    Told::Lost(number, transmissions) => {
                        lost.insert(number);
                        let report = (number, transmissions);
                        assert!(reports.insert(report), "{recovery:?}: {report:?} twice");
                    }
                    Told::Sent(_) | Told::Loss | Told::Timeout => {}
                }
            }
            assert!(reports.len() as u64 >= dropped, "{recovery:?}: {dropped}");
        }
    }
}
