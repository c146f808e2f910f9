//! What a sender reports to its control at an acknowledgement, and to its user.

use std::sync::{Arc, Mutex};

use skywave_congestion::{Ack, AckedPacket, AnyControl, Control, Loss};
use skywave_transport::tcp::{RecoveryAlgorithm, Sender, SenderConfig};
use skywave_units::{Duration, Instant};

use crate::script::{RTT, Script, config, full, window};

/// A control with a window of ten segments and no interests.
struct Samples(Arc<Mutex<Vec<Option<Duration>>>>);

impl Control for Samples {
    fn on_packet_acked(&mut self, _packet: &AckedPacket) {
        panic!("nobody has asked for packets");
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.0.lock().unwrap().push(ack.rtt);
    }

    fn on_loss(&mut self, _loss: &Loss) {}

    fn on_timeout(&mut self, _now: Instant, _in_flight: u32) {}

    fn limit_cwnd(&mut self, _limit: f64) {}

    fn cwnd(&self) -> f64 {
        10.0
    }
}

/// RFC 6298 section 3: at least one sample per round-trip time. Later acknowledgements of the same
/// window have none, since only one segment is timed.
#[test]
fn a_control_without_interests_is_told_the_round_trip_time_once_per_window() {
    let samples = Arc::default();
    let control = AnyControl::new(Samples(Arc::clone(&samples)));
    let mut script = Script::with_control(config(), control);
    script.apply(Sender::write_unlimited).unwrap();
    script.accept();
    script.now += RTT;
    script.ack(1001);
    script.ack(2001);
    assert_eq!(*samples.lock().unwrap(), [Some(RTT), None]);
}

#[test]
fn a_sender_is_idle_when_all_that_was_written_is_acknowledged() {
    let mut script = Script::closed(config(), window(4.0));
    script.apply(|sender| sender.write(1500)).unwrap();
    assert!(!script.sender.get().is_idle());
    script.accept();
    assert_eq!(script.sent()[0], full(1));
    assert!(!script.sender.get().is_idle());
    script.ack(1001);
    assert!(!script.sender.get().is_idle());
    script.ack(1501);
    assert!(script.sender.get().is_idle());
}

/// A sender without SACK keeps all its state in itself.
#[test]
fn only_sack_takes_memory_of_the_heap() {
    let reno = RecoveryAlgorithm::Reno {
        once_per_window: false,
    };
    let heap_size = |recovery| {
        let script = Script::closed(SenderConfig::rfc(recovery), window(4.0));
        script.sender.get().heap_size()
    };
    for recovery in [RecoveryAlgorithm::Tahoe, reno, RecoveryAlgorithm::NewReno] {
        assert_eq!(heap_size(recovery), 0, "{recovery:?}");
    }
    for recovery in [RecoveryAlgorithm::Sack, RecoveryAlgorithm::Sack1] {
        assert!(heap_size(recovery) > 0, "{recovery:?}");
    }
}
