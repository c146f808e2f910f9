//! Congestion window validation (RFC 7661).

use std::collections::BTreeSet;

use skywave_transport::tcp::{EcnUse, RecoveryAlgorithm, SenderConfig};
use skywave_units::Duration;

use crate::script::{RTT, Script, full, secs, window};

/// IW, in segments.
const IW: f64 = 4.0;
/// The application's segments per round trip, once it does not use up cwnd.
const USED: u32 = 10;

fn config(cwnd_validation: bool) -> SenderConfig {
    SenderConfig {
        segment_size: 1000,
        cwnd_validation,
        ..SenderConfig::rfc(RecoveryAlgorithm::Sack)
    }
}

/// A connection and the byte after the last one sent, which is acknowledged.
struct Application {
    script: Script,
    end: u32,
}

impl Application {
    /// Starts a connection, and grows cwnd to at least 40 segments in slow start.
    fn new(cwnd_validation: bool) -> Self {
        Self::with(config(cwnd_validation))
    }

    fn with(config: SenderConfig) -> Self {
        let mut script = Script::closed(config, window(IW));
        script.apply(|sender| sender.connect());
        script.accept();
        script.sent();
        let mut application = Self { script, end: 1 };
        while application.cwnd() < 40.0 {
            application.round(application.cwnd() as u32);
        }
        application
    }

    fn cwnd(&self) -> f64 {
        self.script.stats().cwnd
    }

    fn write(&mut self, segments: u32) {
        self.script
            .apply(|sender| sender.write(1000 * u64::from(segments)))
            .unwrap();
    }

    /// Sends `segments`, which are acknowledged one by one a round-trip time later.
    fn round(&mut self, segments: u32) {
        self.write(segments);
        self.script.wait(RTT);
        for _ in 0..segments {
            self.end += 1000;
            self.script.ack(self.end);
        }
        assert_eq!(self.script.stats().flight, 0);
    }

    /// Sends less than half of cwnd per round trip until that is known.
    fn lapse(&mut self) {
        for _ in 0..=12 {
            self.round(USED);
        }
    }
}

/// Section 4.4: "the cwnd only increases after a sender fully uses the cwnd in this phase; otherwise,
/// the cwnd neither grows nor reduces". RFC 5681 section 4.1 restarts after an RTO instead.
#[test]
fn rfc7661_4_4_an_unused_cwnd_outlives_a_pause() {
    for (cwnd_validation, expected) in [(true, 40.0), (false, IW)] {
        let mut application = Application::new(cwnd_validation);
        application.lapse();
        assert_eq!(application.cwnd(), 40.0);
        application.script.wait(secs(60));
        application.write(1);
        assert_eq!(application.cwnd(), expected);
    }
}

/// Section 4.4.2: a sender whose cwnd is not validated "SHOULD control the maximum burst size".
#[test]
fn rfc7661_4_4_2_an_unvalidated_cwnd_is_paced() {
    let mut application = Application::new(true);
    application.script.wait(Duration::from_millis(500));
    application.write(40);
    assert_eq!(
        application.script.sent().len(),
        40,
        "validated until a second has passed"
    );
    application.script.wait(RTT);
    application.script.ack(application.end + 40_000);
    application.end += 40_000;

    application.script.wait(secs(60));
    application.write(40);
    let at_once = application.script.sent().len();
    assert!(at_once <= 2, "{at_once}");
    let later = application.script.wait(RTT).len();
    assert_eq!(at_once + later, 40);
}

/// Section 4.4.1: max(pipeACK, LossFlightSize) / 2 in the recovery, and afterwards what was sent again
/// less, before the half is taken.
#[test]
fn rfc7661_4_4_1_a_loss_leaves_half_of_what_was_used() {
    for (flight, used) in [(6, f64::from(USED)), (14, 14.0)] {
        let mut application = Application::new(true);
        application.lapse();
        application.write(flight);
        application.script.wait(RTT);
        let (first, end) = (application.end, application.end + 1000 * flight);
        let mut resent = Vec::new();
        for sacked in 2..=4 {
            resent.extend(
                application
                    .script
                    .sack(first, &[(first + 1000, first + 1000 * sacked)]),
            );
        }
        assert_eq!(resent, [full(first)]);
        assert_eq!(application.cwnd(), used / 2.0, "{flight}");
        assert_eq!(application.script.stats().ssthresh, used / 2.0, "{flight}");
        application.script.ack(end);
        let stats = application.script.stats();
        assert_eq!(
            (stats.cwnd, stats.ssthresh),
            ((used - 1.0) / 2.0, (used - 1.0) / 2.0)
        );
    }
}

/// Section 4.4: "If the Retransmission Timeout (RTO) expires while in the non-validated phase, the
/// sender MUST exit the non-validated phase. It then resumes using the standard TCP RTO mechanism",
/// including the restart after a pause.
#[test]
fn rfc7661_4_4_a_timeout_ends_the_phase() {
    let mut application = Application::new(true);
    application.lapse();
    application.write(8);
    application.script.wait(RTT);
    application.script.wait_for_segment();
    let stats = application.script.stats();
    assert_eq!((stats.timeouts, stats.cwnd, stats.ssthresh), (1, 1.0, 4.0));
    application.end += 8000;
    application.script.ack(application.end);
    application.script.wait(secs(400));
    application.write(1);
    let stats = application.script.stats();
    // Section 4.4.3 would have raised ssthresh.
    assert_eq!((stats.cwnd, stats.ssthresh), (2.0, 4.0));
}

/// Section 4.4: a mark ends the phase too, and leaves half of what was used.
#[test]
fn rfc7661_4_4_a_mark_leaves_half_of_what_was_used() {
    let ecn = SenderConfig {
        ecn: EcnUse::Rfc3168,
        ..config(true)
    };
    let mut application = Application::with(ecn);
    application.lapse();
    application.write(6);
    application.script.wait(RTT);
    application.end += 6000;
    application.script.echo(application.end);
    assert_eq!(application.cwnd(), f64::from(USED) / 2.0);
}

/// Section 4.3: "or pipeACK is undefined (i.e., at the start or directly after loss recovery)", when
/// standard methods apply: the restart of RFC 5681 section 4.1.
#[test]
fn rfc7661_4_3_without_a_measurement_a_pause_restarts() {
    let mut application = Application::new(true);
    application.lapse();
    application.write(14);
    application.script.wait(RTT);
    let first = application.end;
    for sacked in 2..=4 {
        let block = (first + 1000, first + 1000 * sacked);
        application.script.sack(first, &[block]);
    }
    application.script.ack(first + 14_000);
    assert_eq!(application.cwnd(), 6.5);
    application.script.wait(secs(60));
    application.write(1);
    assert_eq!(application.cwnd(), IW);
}

/// Section 4.4: "A sender that is not cwnd-limited MUST NOT increase the cwnd when ACK packets are
/// received in this phase", even if it otherwise may.
#[test]
fn rfc7661_4_4_an_unvalidated_cwnd_does_not_grow() {
    let growing = SenderConfig {
        rate_limited_increase: true,
        ..config(true)
    };
    let mut application = Application::with(growing);
    application.lapse();
    let cwnd = application.cwnd();
    for used in [12, 14, 16] {
        application.round(used);
    }
    assert_eq!(application.cwnd(), cwnd);
}

/// Section 4.4.3: after five minutes, cwnd is halved and ssthresh remembers three quarters.
#[test]
fn rfc7661_4_4_3_five_minutes_without_validation_halve_cwnd() {
    let mut application = Application::new(true);
    application.lapse();
    application.script.wait(secs(301));
    application.write(1);
    let stats = application.script.stats();
    assert_eq!((stats.cwnd, stats.ssthresh), (20.0, f64::INFINITY));
}

/// Section 4.3: a sender that uses cwnd up stays in the validated phase, where nothing changes.
#[test]
fn rfc7661_4_3_a_bulk_transfer_is_not_affected() {
    let run = |cwnd_validation| {
        let mut script = Script::streaming(config(cwnd_validation), window(IW));
        let (mut sent, mut acked) = (script.sent(), 1);
        let mut arrived = BTreeSet::new();
        let mut windows = Vec::new();
        for round in 0..100 {
            script.now += RTT;
            let mut next = Vec::new();
            for (index, segment) in sent.iter().enumerate() {
                if round % 10 == 9 && index == 0 {
                    continue;
                }
                arrived.insert(segment.offset);
                let before = acked;
                while arrived.remove(&acked) {
                    acked += 1000;
                }
                let block = (segment.offset, segment.offset + segment.length);
                next.extend(if acked > before {
                    script.ack(acked)
                } else {
                    script.sack(acked, &[block])
                });
            }
            windows.push((script.stats().cwnd, script.stats().ssthresh, next.len()));
            sent = next;
        }
        assert!(script.stats().fast_retransmits > 5);
        windows
    };
    assert_eq!(run(true), run(false));
}
