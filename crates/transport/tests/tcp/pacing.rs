//! A control that paces in trains.

use skywave_congestion::{Ack, AnyControl, Control, Loss, Pacing};
use skywave_units::{Duration, Instant};

use skywave_transport::tcp::{RecoveryAlgorithm, SenderConfig};

use crate::script::{RTT, Script, Sent, config, full};

const INTERVAL: Duration = Duration::from_millis(7);
const QUANTUM: u32 = 3;

/// A window of ten segments that leave this many at a time.
struct Trains(u32);

impl Control for Trains {
    fn on_ack(&mut self, _ack: &Ack) {}
    fn on_loss(&mut self, _loss: &Loss) {}
    fn on_timeout(&mut self, _now: Instant, _in_flight: u32) {}
    fn limit_cwnd(&mut self, _limit: f64) {}
    fn cwnd(&self) -> f64 {
        10.0
    }
    fn pacing(&self) -> Option<Pacing> {
        Some(Pacing::of_packets(INTERVAL, self.0, 1000))
    }
}

fn train(first: u32, count: u32) -> Vec<Sent> {
    (0..count).map(|index| full(first + index * 1000)).collect()
}

#[test]
fn a_quantum_leaves_together_and_an_interval_before_the_next_one() {
    let mut script = Script::with_control(config(), AnyControl::new(Trains(QUANTUM)));
    script.apply(|sender| sender.write_unlimited()).unwrap();
    script.accept();
    assert_eq!(script.sent(), train(1, 3));
    assert_eq!(script.wait_for_segment(), (INTERVAL, train(3001, 3)));
    assert_eq!(script.wait_for_segment(), (INTERVAL, train(6001, 3)));
    // cwnd cuts a train short; the rest follows as soon as cwnd permits.
    assert_eq!(script.wait_for_segment(), (INTERVAL, train(9001, 1)));
    assert!(script.wait(INTERVAL * 3).is_empty());
    script.now += RTT;
    assert_eq!(script.ack(1001), train(10_001, 1));
    assert_eq!(script.ack(4001), train(11_001, 1));
    assert_eq!(script.wait_for_segment(), (INTERVAL, train(12_001, 2)));
}

/// Two segments that are smaller than half a quantum leave together. The next one waits as long as
/// their bytes take.
#[test]
fn small_segments_wait_in_proportion_to_their_size() {
    let mut script = Script::with_control(config(), AnyControl::new(Trains(1)));
    script.apply(|sender| sender.write(300)).unwrap();
    script.accept();
    let part = |offset| Sent {
        offset,
        length: 300,
    };
    assert_eq!(script.sent(), [part(1)]);
    script.apply(|sender| sender.write(300)).unwrap();
    script.apply(|sender| sender.write(300)).unwrap();
    assert_eq!(script.sent(), [part(301), part(601)]);
    script.apply(|sender| sender.write(2000)).unwrap();
    assert_eq!(script.sent(), []);
    let wait = INTERVAL * 9 / 10;
    assert_eq!(script.wait_for_segment(), (wait, vec![full(901)]));
    assert_eq!(script.wait_for_segment(), (INTERVAL, vec![full(1901)]));
}

/// A window of ten segments that names no pacing.
struct Bursts;

impl Control for Bursts {
    fn on_ack(&mut self, _ack: &Ack) {}
    fn on_loss(&mut self, _loss: &Loss) {}
    fn on_timeout(&mut self, _now: Instant, _in_flight: u32) {}
    fn limit_cwnd(&mut self, _limit: f64) {}
    fn cwnd(&self) -> f64 {
        10.0
    }
}

/// RFC 9002 section 7.7: a window takes four fifths of a round trip.
#[test]
fn a_window_without_a_pacing_of_its_own_is_spread_if_the_configuration_says_so() {
    let mut config = config();
    config.pacing = true;
    let mut script = Script::with_control(config, AnyControl::new(Bursts));
    script.apply(|sender| sender.write_unlimited()).unwrap();
    script.accept();
    assert_eq!(script.sent(), train(1, 1));
    for start in (1001..10_000).step_by(1000) {
        assert_eq!(script.wait_for_segment(), (RTT * 2 / 25, train(start, 1)));
    }
    assert!(script.wait(RTT).is_empty());
}

/// Returns a sender that has just sent the last of its ten segments.
fn ten_sent_one_by_one() -> Script {
    let mut script = Script::with_control(config(), AnyControl::new(Trains(1)));
    script.apply(|sender| sender.write_unlimited()).unwrap();
    script.accept();
    assert_eq!(script.sent(), train(1, 1));
    for start in (1001..10_000).step_by(1000) {
        assert_eq!(script.wait_for_segment(), (INTERVAL, train(start, 1)));
    }
    script
}

#[test]
fn a_retransmission_waits_for_its_turn() {
    let mut script = ten_sent_one_by_one();
    for _ in 0..3 {
        assert_eq!(script.ack(1), []);
    }
    assert_eq!(script.wait_for_segment(), (INTERVAL, train(1, 1)));
    // A partial acknowledgement: the next retransmission waits as well.
    assert_eq!(script.ack(2001), []);
    assert_eq!(script.wait_for_segment(), (INTERVAL, train(2001, 1)));
}

#[test]
fn a_retransmission_that_waits_is_forgotten_when_its_segment_is_acknowledged() {
    let mut script = ten_sent_one_by_one();
    for _ in 0..3 {
        assert_eq!(script.ack(1), []);
    }
    assert_eq!(script.ack(10_001), []);
    assert_eq!(script.wait_for_segment(), (INTERVAL, train(10_001, 1)));
}

/// While a retransmission waits, new segments that cwnd permits wait as well.
#[test]
fn a_retransmission_that_waits_lets_nothing_else_pass() {
    let mut script = Script::with_control(config(), AnyControl::new(Trains(QUANTUM)));
    script.apply(|sender| sender.write_unlimited()).unwrap();
    script.accept();
    script.wait(INTERVAL * 4);
    script.now += RTT;
    script.ack(1001);
    assert_eq!(script.ack(4001), train(11_001, 1));
    // The quantum is used up: what cwnd permits is held back, and so is what each duplicate adds.
    for _ in 0..5 {
        assert_eq!(script.ack(4001), []);
    }
    let next = [full(4001), full(12_001), full(13_001)];
    assert_eq!(script.wait_for_segment(), (INTERVAL, next.to_vec()));
}

/// A recovery that counts what is in flight keeps to the pace as well.
#[test]
fn a_recovery_with_sack_is_paced() {
    let config = SenderConfig {
        recovery: RecoveryAlgorithm::Sack,
        ..config()
    };
    let mut script = Script::with_control(config, AnyControl::new(Trains(1)));
    script.apply(|sender| sender.write_unlimited()).unwrap();
    script.accept();
    script.wait(INTERVAL * 20);
    // Segments 1, 2 and 3 are lost. What is in flight leaves room for more than one.
    assert_eq!(script.sack(1, &[(3001, 10_001)]), train(1, 1));
    let mut at = Vec::new();
    for _ in 0..4 {
        let (waited, sent) = script.wait_for_segment();
        assert_eq!(sent.len(), 1, "{sent:?}");
        at.push(waited);
    }
    assert_eq!(at, [INTERVAL; 4]);
}
