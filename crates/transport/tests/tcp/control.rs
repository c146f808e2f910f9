//! A sender's control forwards what its sender never reports, too: a driver may.

use std::io;
use std::sync::{Arc, Mutex};

use skywave_congestion::{Ack, AnyControl, Control, Loss, MemberFailure};
use skywave_transport::tcp::SenderControl;
use skywave_units::{Duration, Instant};

const NOW: Instant = Instant::from_nanos(7);

/// A control that records its calls.
struct Notes(Arc<Mutex<Vec<&'static str>>>);

impl Control for Notes {
    fn on_ack(&mut self, _ack: &Ack) {}

    fn on_loss(&mut self, _loss: &Loss) {}

    fn on_timeout(&mut self, _now: Instant, _in_flight: u32) {}

    fn on_handshake(&mut self, _rtt: Duration) {
        self.0.lock().unwrap().push("handshake");
    }

    fn on_spurious_loss(&mut self, _now: Instant) {
        self.0.lock().unwrap().push("spurious loss");
    }

    fn on_receiver_overload(&mut self, _now: Instant, _dropped: u32) {
        self.0.lock().unwrap().push("receiver overload");
    }

    fn limit_cwnd(&mut self, _limit: f64) {}

    fn cwnd(&self) -> f64 {
        1.0
    }

    fn inner_values(&self, record: &mut dyn FnMut(&'static str, f64)) {
        record("notes", 1.0);
    }

    fn failure(&self) -> Option<MemberFailure> {
        Some(MemberFailure::new(io::Error::other("it only takes notes")))
    }
}

#[test]
fn a_senders_control_forwards_each_call() {
    let notes = Arc::default();
    let mut control = SenderControl::from(AnyControl::new(Notes(Arc::clone(&notes))));
    control.on_handshake(Duration::ZERO);
    control.on_spurious_loss(NOW);
    control.on_receiver_overload(NOW, 1);
    assert_eq!(
        *notes.lock().unwrap(),
        ["handshake", "spurious loss", "receiver overload"]
    );
    let mut values = Vec::new();
    control.inner_values(&mut |name, value| values.push((name, value)));
    assert_eq!(values, [("notes", 1.0)]);
    let failure = control.failure().map(|failure| failure.to_string());
    assert_eq!(failure.as_deref(), Some("it only takes notes"));
}
