//! Reports to a control about the flight: at a loss, and when the application is the limit.

use std::sync::{Arc, Mutex};

use skywave_congestion::{Ack, AnyControl, Control, Loss, Sent};
use skywave_transport::tcp::{RecoveryAlgorithm, SenderConfig};
use skywave_units::Instant;

use crate::script::{RTT, Script, config, duplicates};

/// What was reported.
#[derive(Debug, Default)]
struct Reports {
    /// The segments in flight at each loss, and of those the ones that are lost.
    losses: Vec<(u32, u32)>,
    /// Whether the application was the limit, for each segment sent.
    limited: Vec<bool>,
}

/// A control with a constant window.
struct Listener {
    cwnd: f64,
    reports: Arc<Mutex<Reports>>,
}

impl Control for Listener {
    fn on_sent(&mut self, sent: &Sent) {
        self.reports
            .lock()
            .unwrap()
            .limited
            .push(sent.application_limited);
    }

    fn on_ack(&mut self, _ack: &Ack) {}

    fn on_loss(&mut self, loss: &Loss) {
        let loss = (loss.in_flight, loss.lost);
        self.reports.lock().unwrap().losses.push(loss);
    }

    fn on_timeout(&mut self, _now: Instant, _in_flight: u32) {}

    fn limit_cwnd(&mut self, _limit: f64) {}

    fn cwnd(&self) -> f64 {
        self.cwnd
    }
}

/// Returns a sender that has written `bytes`, and the reports to its control.
fn sender(config: SenderConfig, cwnd: f64, bytes: u64) -> (Script, Arc<Mutex<Reports>>) {
    let reports = Arc::default();
    let control = AnyControl::new(Listener {
        cwnd,
        reports: Arc::clone(&reports),
    });
    let mut script = Script::with_control(config, control);
    script.apply(|sender| sender.write(bytes)).unwrap();
    script.accept();
    script.sent();
    script.now += RTT;
    (script, reports)
}

/// RFC 5681 section 3.2, step 2: "the additional data sent in limited transmit MUST NOT be included in
/// this calculation".
#[test]
fn rfc5681_3_2_limited_transmit_does_not_count_in_the_flight() {
    let (mut script, reports) = sender(config(), 10.0, 50_000);
    assert_eq!(duplicates(&mut script, 1, 2).len(), 2);
    assert_eq!(script.stats().flight, 12_000);
    script.ack(1);
    assert_eq!(reports.lock().unwrap().losses, [(10, 1)]);
}

/// RFC 6675 section 4, IsLost (): what more than two segments above it have arrived is lost.
#[test]
fn rfc6675_4_a_loss_counts_the_segments_that_are_lost() {
    for (blocks, lost) in [
        (&[(3001, 10_001)][..], 3),
        (&[(1001, 2001), (3001, 4001), (5001, 6001)], 1),
        (&[(1001, 2001), (4001, 10_001)], 3),
    ] {
        let config = SenderConfig {
            recovery: RecoveryAlgorithm::Sack,
            ..config()
        };
        let (mut script, reports) = sender(config, 10.0, 50_000);
        script.sack(1, blocks);
        assert_eq!(reports.lock().unwrap().losses, [(10, lost)], "{blocks:?}");
    }
}

/// The application is the limit once all that was written has left and cwnd has room.
#[test]
fn the_application_is_the_limit_where_cwnd_has_room() {
    for (bytes, cwnd, limited) in [
        (3000, 10.0, vec![false, false, true]),
        (3000, 3.0, vec![false; 3]),
        (3000, 3.1, vec![false, false, true]),
        (5000, 3.0, vec![false; 3]),
    ] {
        let (_, reports) = sender(config(), cwnd, bytes);
        assert_eq!(
            reports.lock().unwrap().limited,
            limited,
            "{bytes} B, cwnd {cwnd}"
        );
    }
}
