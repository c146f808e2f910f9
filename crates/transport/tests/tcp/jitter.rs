//! Random delays of what the window permits (ns-2's `overhead_`).

use skywave_transport::tcp::{LimitedTransmit, SenderConfig};
use skywave_units::Duration;

use crate::script::{Script, config, duplicates, full, window, without_limited_transmit};

const JITTER: Duration = Duration::from_millis(50);

/// A stream whose first window of ten segments has left, delayed and all at once.
fn ten_in_flight_with_jitter(config: SenderConfig) -> Script {
    let config = SenderConfig {
        send_jitter: JITTER,
        ..config
    };
    let mut script = Script::streaming(config, window(10.0));
    script.sent();
    let (waited, sent) = script.wait_for_segment();
    assert!(waited <= JITTER, "{waited:?}");
    assert_eq!(sent.len(), 10);
    script
}

#[test]
fn send_jitter_keeps_back_what_the_window_lets_go_and_lets_it_go_at_once() {
    let mut script = ten_in_flight_with_jitter(without_limited_transmit());
    // Two acknowledgements in slow start release four segments, which are delayed together.
    assert!(script.ack(1001).is_empty());
    assert!(script.ack(2001).is_empty());
    let (waited, sent) = script.wait_for_segment();
    assert!(waited <= JITTER, "{waited:?}");
    assert_eq!(sent, [10_001, 11_001, 12_001, 13_001].map(full));
    // A fast retransmit is not delayed.
    assert!(duplicates(&mut script, 2001, 2).is_empty());
    assert_eq!(script.ack(2001), [full(2001)]);
}

#[test]
fn rfc3042_limited_transmit_does_not_wait_for_jitter() {
    let mut script = ten_in_flight_with_jitter(config());
    assert_eq!(script.ack(1), [full(10_001)]);
    assert_eq!(script.ack(1), [full(11_001)]);
    assert_eq!(script.ack(1), [full(1)]);
}

/// Further duplicates inflate the window, and what that releases is delayed like anything else.
#[test]
fn what_a_recovery_releases_waits_for_jitter() {
    for limited_transmit in [LimitedTransmit::Off, LimitedTransmit::NewData] {
        let mut script = ten_in_flight_with_jitter(SenderConfig {
            limited_transmit,
            ..config()
        });
        let new = match limited_transmit {
            LimitedTransmit::NewData => vec![full(10_001), full(11_001), full(1)],
            _ => vec![full(1)],
        };
        assert_eq!(duplicates(&mut script, 1, 3), new);
        assert!(duplicates(&mut script, 1, 7).is_empty());
        assert!(!script.wait_for_segment().1.is_empty());
    }
}
