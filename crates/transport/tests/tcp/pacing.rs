//! A control that paces in trains.

use skywave_congestion::{Ack, AnyControl, Control, Loss, Pacing};
use skywave_units::{Duration, Instant};

use crate::script::{RTT, Script, Sent, config, full};

const INTERVAL: Duration = Duration::from_millis(7);
const QUANTUM: u32 = 3;

/// A window of ten segments that leave three at a time.
struct Trains;

impl Control for Trains {
    fn on_ack(&mut self, _ack: &Ack) {}
    fn on_loss(&mut self, _loss: &Loss) {}
    fn on_timeout(&mut self, _now: Instant, _in_flight: u32) {}
    fn limit_cwnd(&mut self, _limit: f64) {}
    fn cwnd(&self) -> f64 {
        10.0
    }
    fn pacing(&self) -> Option<Pacing> {
        Some(Pacing {
            interval: INTERVAL,
            quantum: QUANTUM,
        })
    }
}

fn train(first: u32, count: u32) -> Vec<Sent> {
    (0..count).map(|index| full(first + index * 1000)).collect()
}

/// The retransmission does not wait for the next interval. It counts as the first of a new quantum,
/// whose other two segments leave with it, an interval early.
#[test]
fn a_retransmission_leaves_at_once_and_begins_a_quantum_while_pacing_holds_new_data_back() {
    let mut script = Script::with_control(config(), AnyControl::new(Trains));
    script.apply(|sender| sender.write_unlimited()).unwrap();
    script.accept();
    script.wait(INTERVAL * 4);
    script.now += RTT;
    script.ack(1001);
    assert_eq!(script.ack(4001), train(11_001, 1));
    // The quantum is used up: what cwnd permits, and each duplicate more of it, is held back.
    assert_eq!(script.ack(4001), []);
    assert_eq!(script.ack(4001), []);
    let lost = [full(4001), full(12_001), full(13_001)];
    assert_eq!(script.ack(4001), lost);
    // What a duplicate releases waits again.
    assert_eq!(script.ack(4001), []);
    assert_eq!(script.ack(4001), []);
    assert_eq!(script.wait_for_segment(), (INTERVAL, train(14_001, 3)));
}

#[test]
fn a_quantum_leaves_together_and_an_interval_before_the_next_one() {
    let mut script = Script::with_control(config(), AnyControl::new(Trains));
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
