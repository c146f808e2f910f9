//! RFC 5634 section 3.2, by paragraph.

use super::*;

const APPROVED: Rate = Rate::from_bps(1_280_000);
/// Equation 2: 160,000 bytes per second; 1000 of every 1036 bytes are data.
const QS_SENDRATE: f64 = 160_000.0 * 1_000.0 / 1_036.0;

fn asking() -> Config {
    Config {
        quick_start: Some(APPROVED),
        ..Config::rfc5348()
    }
}

/// Returns a sender in slow start whose request has just been approved.
fn approved(config: Config) -> Bench {
    let mut bench = Bench::new(config);
    bench.send_one();
    assert_eq!(bench.sender.quick_start_request(), Some(APPROVED));
    bench.after(100);
    bench.report(0.0, 0.0);
    bench.sender.on_quick_start(bench.now, APPROVED);
    bench
}

/// Section 3.2.1: a request with the first data packet, and none without an idle period.
#[test]
fn asks_at_the_start_and_only_then() {
    let mut bench = Bench::new(asking());
    bench.send_one();
    assert_eq!(bench.sender.quick_start_request(), Some(APPROVED));
    for _ in 0..5 {
        bench.round(40_000.0, 0.0);
        assert_eq!(bench.sender.quick_start_request(), None);
    }
    let mut other = Bench::started(Config::rfc5348());
    assert_eq!(other.sender.quick_start_request(), None, "off by default");
    let mut slow = Bench::new(Config {
        quick_start: Some(Rate::from_bps(8_000)),
        ..Config::rfc5348()
    });
    slow.send_one();
    assert_eq!(slow.sender.quick_start_request(), None, "allowed already");
}

/// Section 3.2.1: a request after an idle period, in which the nofeedback timer expires.
#[test]
fn asks_after_an_idle_period() {
    let mut bench = Bench::started(asking());
    bench.sender.quick_start_request();
    bench.send();
    bench.timeout();
    bench.timeout();
    bench.send_one();
    assert_eq!(bench.sender.quick_start_request(), Some(APPROVED));
}

/// Section 3.2.1: none for a rate that is allowed already, and none after a timeout of a sender that
/// is not idle.
#[test]
fn asks_only_for_more_than_is_allowed() {
    for (bps, asks) in [(8 * 1_036, false), (8 * 1_036 + 1, true)] {
        let mut bench = Bench::new(Config {
            quick_start: Some(Rate::from_bps(bps)),
            ..Config::rfc5348()
        });
        bench.send_one();
        assert_eq!(bench.x(), 1_000.0);
        assert_eq!(bench.sender.quick_start_request().is_some(), asks, "{bps}");
    }
    let mut bench = Bench::started(asking());
    bench.sender.quick_start_request();
    bench.send();
    bench.timeout();
    bench.send_one();
    assert_eq!(bench.sender.quick_start_request(), None);
}

/// Section 3.2.1: the requested rate "MUST NOT exceed the TFRC-controlled sending rate [...] when
/// this is bounded by the current loss event rate".
#[test]
fn asks_for_no_more_than_the_equation_allows() {
    let mut bench = Bench::started(asking());
    bench.sender.quick_start_request();
    bench.round(50_000.0, 0.02);
    let x_calc = equation::throughput(1_000.0, 0.1, 0.02);
    bench.timeout();
    bench.send_one();
    let wanted = bench.sender.quick_start_request().expect("an idle period");
    assert_eq!(wanted.as_bps(), (x_calc * 1.036 * 8.0).round() as u64);
    assert!(wanted < APPROVED);
}

/// Section 3.3.1: under CCID 4, no more than 100 packets per second.
#[test]
fn ccid_4_asks_for_100_packets_per_second() {
    let mut bench = Bench::new(Config {
        quick_start: Some(Rate::from_bps(1_000_000_000)),
        small_packets: Some(crate::tfrc::SmallPackets::rfc4828()),
        ..Config::rfc5348()
    });
    bench.sender.on_sent(bench.now, 80);
    let wanted = bench.sender.quick_start_request();
    assert_eq!(wanted, Some(Rate::from_bps(100 * (80 + 36) * 8)));
}

/// Section 3.2.3: QS_sendrate = R * s / (s + H); packets are paced at it, even if less was sent than
/// permitted before.
#[test]
fn the_allowed_rate_becomes_the_approved_one() {
    let mut bench = approved(asking());
    assert_close(bench.x(), QS_SENDRATE);
    assert!(bench.send() <= 2, "paced");
    let mut sent = 0;
    for _ in 0..100 {
        bench.after(1);
        sent += bench.send();
    }
    assert_eq!(sent, 15, "154 packets per second");
}

/// Section 3.2.3, first and second procedure: an approved rate below the current one is not used,
/// nor one approved after a loss that the sender has learnt of since the request.
#[test]
fn an_approved_rate_may_be_of_no_use() {
    let mut bench = Bench::started(asking());
    bench.sender.quick_start_request();
    bench
        .sender
        .on_quick_start(bench.now, Rate::from_bps(80_000));
    assert_close(bench.x(), INITIAL);
    bench.round(40_000.0, 0.01);
    let x = bench.x();
    bench.sender.on_quick_start(bench.now, APPROVED);
    assert_eq!(bench.x(), x);
}

/// Sections 3.2.3 and 3.2.4: feedback on a Quick-Start Packet ends the mode, not the use of the
/// rate; feedback on all Quick-Start Packets ends that. Slow start continues from X_recv.
#[test]
fn feedback_on_all_quick_start_packets_validates_the_rate() {
    let mut bench = approved(asking());
    bench.send();
    // On a packet from before: the rate stays.
    bench.after(50);
    bench.send();
    bench.report(10_000.0, 0.0);
    assert_close(bench.x(), QS_SENDRATE);
    bench.after(49);
    bench.send();
    // On the first Quick-Start Packet, whose receive rate is still low.
    bench.after(1);
    bench.report(20_000.0, 0.0);
    assert_close(bench.x(), QS_SENDRATE);
    bench.after(50);
    bench.send();
    bench.report(100_000.0, 0.0);
    assert_close(bench.x(), QS_SENDRATE);
    bench.after(50);
    bench.report(150_000.0, 0.0);
    assert_close(bench.x(), 300_000.0);
}

/// Section 3.2.4: the standard rate after the Validation Phase is bounded by X_recv, so a rate that
/// does not arrive is not kept.
#[test]
fn a_validated_rate_is_bounded_by_what_arrived() {
    let mut bench = approved(asking());
    bench.send();
    bench.after(100);
    bench.report(0.0, 0.0);
    bench.after(100);
    bench.report(30_000.0, 0.0);
    assert_close(bench.x(), 60_000.0);
}

/// Section 3.2.4: without feedback in the Validation Phase of two round-trip times, the rate is the
/// lesser of the previous one and half of QS_sendrate.
#[test]
fn silence_returns_to_the_rate_before() {
    let mut bench = approved(asking());
    let start = bench.now;
    bench.send();
    bench.timeout();
    assert_eq!(bench.now, start + MS * 300, "one round-trip time, and two");
    assert_close(bench.x(), INITIAL);
    assert_eq!(
        bench.sender.deadline(),
        Some(bench.now + MS * 400),
        "the nofeedback timer is reset"
    );

    let mut bench = approved(Config {
        initial_window: InitialWindow::Packets(10),
        ..asking()
    });
    bench.send();
    bench.timeout();
    assert_close(bench.x(), QS_SENDRATE / 2.0);
}

/// Section 3.2.4: feedback on some Quick-Start Packets only, and two round-trip times pass.
#[test]
fn the_validation_phase_is_bounded() {
    let mut bench = approved(asking());
    bench.send();
    bench.after(99);
    bench.send();
    bench.after(1);
    bench.report(30_000.0, 0.0);
    bench.after(50);
    bench.report_on(149, 35_000.0, 0.0);
    assert_close(bench.x(), QS_SENDRATE);
    bench.timeout();
    assert_close(bench.x(), 70_000.0);
}

/// Section 3.2.5: X = max(min(X_calc, recv_limit), s / t_mbi) at the first loss or mark.
#[test]
fn congestion_ends_quick_start_at_once() {
    for (receive_rate, p) in [(30_000.0, 0.01), (30_000.0, 0.05)] {
        let mut bench = approved(asking());
        bench.send();
        bench.after(150);
        bench.send();
        bench.report_on(149, receive_rate, p);
        let rtt = bench.sender.rtt.expect("a sample");
        let x_calc = equation::throughput(1_000.0, rtt, p);
        assert_close(bench.x(), x_calc.min(2.0 * receive_rate));
        assert!(bench.x() < QS_SENDRATE);
    }
}

/// Section 3.2.5: a reported loss event ends the use of the rate even if p does not rise, and so does
/// a receiver that cannot keep up.
#[test]
fn a_loss_event_or_a_slow_receiver_ends_quick_start() {
    for (loss_event, receiver_limited) in [(false, false), (true, false), (false, true)] {
        let mut bench = approved(asking());
        bench.send();
        bench.after(50);
        bench.send();
        let report = Feedback {
            sent_at: bench.now - MS * 100,
            delay: Duration::ZERO,
            receive_rate: 30_000.0,
            loss_event_rate: 0.0,
            loss_event,
            receiver_limited,
        };
        bench.sender.on_feedback(bench.now, &report);
        let goes_on = !loss_event && !receiver_limited;
        assert_eq!(bench.sender.quick_start.is_some(), goes_on, "{report:?}");
    }
}

/// Section 3.2.3: a rate that is allowed already does not start the Quick-Start Mode.
#[test]
fn approval_of_the_allowed_rate_changes_nothing() {
    for (bytes, starts) in [(40_000, false), (40_001, true)] {
        let mut bench = Bench::started(asking());
        bench.sender.quick_start_request();
        assert_eq!(bench.x(), 40_000.0);
        // Equation 2, rounded up.
        let approved = Rate::from_bps((bytes * 8 * 1_036_u64).div_ceil(1_000));
        bench.sender.on_quick_start(bench.now, approved);
        assert_eq!(bench.sender.quick_start.is_some(), starts, "{bytes} B/s");
    }
}

/// Section 2.3.1: oscillation prevention (RFC 5348 section 4.5) does not raise the instantaneous
/// rate above the approved one.
#[test]
fn no_packet_exceeds_the_approved_rate() {
    let mut bench = approved(asking());
    bench.send();
    bench.after(49);
    bench.send();
    bench.after(1);
    bench.report_on(50, 10_000.0, 0.0);
    assert!(bench.sender.slowdown > 1.0);
    assert!(bench.sender.x_inst() <= QS_SENDRATE * (1.0 + 1e-9));
}
