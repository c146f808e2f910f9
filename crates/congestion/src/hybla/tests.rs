use skywave_units::Instant;

use super::*;
use crate::Control;
use crate::testing::{context, linux, loss};

fn control(context: &ControlContext) -> Governed<Hybla> {
    let law = Hybla::new(HyblaParameters::default(), context.linux);
    Governed::new(context, law)
}

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

#[track_caller]
fn assert_near(actual: f64, expected: f64) {
    assert!((actual - expected).abs() < 1e-9, "{actual}, not {expected}");
}

const fn ack(packets: u32) -> Ack {
    Ack::new(Instant::ZERO, packets, 9)
}

/// A connection whose handshake takes `rtt_ms`, with a window of `cwnd` packets.
fn connected(context: &ControlContext, rtt_ms: u64) -> Governed<Hybla> {
    let mut hybla = control(context);
    hybla.on_handshake(ms(rtt_ms));
    hybla.window = Window::new(context);
    hybla
}

/// rho = RTT / RTT0, at least 1; in eighths in Linux.
#[test]
fn rho_is_the_round_trip_time_divided_by_25_ms() {
    for (rtt_ms, exact, in_linux) in [
        (600, 24.0, 24.0),
        (60, 2.4, 2.375),
        (100, 4.0, 4.0),
        (25, 1.0, 1.0),
        (10, 1.0, 1.0),
    ] {
        let rho = |context| connected(&context, rtt_ms).law.rho;
        assert_near(rho(context(9.0, 9.0)), exact);
        assert_near(rho(linux(9.0, 9.0)), in_linux);
    }
}

/// In slow start 2^rho - 1 per acknowledgement, whatever it acknowledges.
#[test]
fn slow_start_grows_by_two_to_the_rho_less_one() {
    for (rtt_ms, step) in [(25, 1.0), (50, 3.0), (75, 7.0), (100, 15.0)] {
        for context in [context(10.0, 1000.0), linux(10.0, 1000.0)] {
            let mut hybla = connected(&context, rtt_ms);
            hybla.on_ack(&ack(1));
            assert_eq!(hybla.cwnd(), 10.0 + step, "{rtt_ms} ms");
            hybla.on_ack(&ack(2));
            assert_eq!(hybla.cwnd(), 10.0 + 2.0 * step, "{rtt_ms} ms");
        }
    }
}

/// Emory's example: with rho = 2, a window of 2 packets grows to 8, 32 and 128 in three round trips,
/// which is rho 2^(rho t / RTT).
#[test]
fn the_window_follows_the_papers_equation() {
    let mut hybla = control(&context(1.0, f64::INFINITY));
    hybla.on_handshake(ms(50));
    let mut cwnds = vec![hybla.cwnd()];
    for _ in 0..3 {
        for _ in 0..hybla.cwnd() as u32 {
            hybla.on_ack(&ack(1));
        }
        cwnds.push(hybla.cwnd());
    }
    assert_eq!(cwnds, [2.0, 8.0, 32.0, 128.0]);
}

#[test]
fn slow_start_ends_at_ssthresh() {
    for context in [context(10.0, 17.0), linux(10.0, 17.0)] {
        let mut hybla = connected(&context, 100);
        hybla.on_ack(&ack(1));
        assert_eq!(hybla.cwnd(), 17.0);
    }
}

/// In congestion avoidance rho^2 packets per window of acknowledgements.
#[test]
fn congestion_avoidance_grows_by_rho_squared_per_window() {
    for (context, least) in [(context(200.0, 2.0), 15.3), (linux(200.0, 2.0), 14.0)] {
        let mut hybla = connected(&context, 100);
        for _ in 0..200 {
            hybla.on_ack(&ack(1));
        }
        let grown = hybla.cwnd() - 200.0;
        assert!((least..=16.0).contains(&grown), "{grown}");
    }
}

/// Linux counts in 128ths of a packet. What is less is lost, unless all is: then the window grows by
/// a packet per window of acknowledgements.
#[test]
fn in_linux_increments_are_in_128ths() {
    let acks_until_growth = |cwnd: f64| {
        let mut hybla = connected(&linux(cwnd, 2.0), 25);
        let mut acks = 0;
        while hybla.cwnd() == cwnd {
            hybla.on_ack(&ack(1));
            acks += 1;
        }
        acks
    };
    // 128 / 100 is rounded to 1, 128 / 60 to 2, and 128 / 200 to 0.
    assert_eq!(acks_until_growth(100.0), 128);
    assert_eq!(acks_until_growth(60.0), 64);
    assert_eq!(acks_until_growth(200.0), 200);
}

/// Linux: 2^rho in two parts; the fractional one is rounded: 2^(3/8) to 165 / 128.
#[test]
fn in_linux_slow_start_is_rounded() {
    let mut hybla = connected(&linux(10.0, 1e6), 60);
    assert_near(hybla.law.slow_start(), 4.0 * 165.0 / 128.0 - 1.0);
    // 4.15625 per acknowledgement: the fractions make up a packet after seven.
    for _ in 0..7 {
        hybla.on_ack(&ack(1));
    }
    assert_eq!(hybla.cwnd(), 10.0 + 29.0);
}

/// The window has at most 65535 packets; Linux doubles at most 16 times.
#[test]
fn on_a_very_long_path_the_window_has_bounds() {
    let mut hybla = connected(&linux(10.0, f64::INFINITY), 600);
    assert_eq!(hybla.law.slow_start(), 65_535.0);
    hybla.on_ack(&ack(1));
    assert_eq!(hybla.cwnd(), 65_535.0);
    let mut hybla = connected(&context(10.0, f64::INFINITY), 60_000);
    hybla.on_ack(&ack(1));
    assert_eq!(hybla.cwnd(), 65_535.0);
}

/// rho follows the shortest smoothed round-trip time: a queue does not raise it.
#[test]
fn rho_follows_the_shortest_smoothed_round_trip_time() {
    let mut hybla = connected(&context(10.0, 10.0), 100);
    let mut sample = |rtt_ms| {
        let mut ack = ack(1);
        ack.rtt = Some(ms(rtt_ms));
        hybla.on_ack(&ack);
        hybla.law.rho
    };
    assert_near(sample(900), 4.0);
    // 100, 200, 187.5, ... ms, smoothed by an eighth.
    assert_near(sample(100), 4.0);
    let last = (0..100).map(|_| sample(50)).last().unwrap();
    assert!((2.0..2.01).contains(&last), "{last}");
}

/// A connection begins with rho packets: in Linux with no more and no less.
#[test]
fn a_connection_begins_with_rho_packets() {
    for (context, rtt_ms, cwnd) in [
        (context(3.0, 9.0), 60, 3.0),
        (context(3.0, 9.0), 110, 4.4),
        (linux(10.0, 9.0), 60, 2.0),
        (linux(10.0, 9.0), 600, 24.0),
        (linux(10.0, 9.0), 5, 1.0),
    ] {
        let mut hybla = control(&context);
        hybla.on_handshake(ms(rtt_ms));
        assert_eq!(hybla.cwnd(), cwnd, "{rtt_ms} ms");
    }
}

#[test]
fn a_loss_halves_the_window() {
    for (context, left) in [(context(21.0, 9.0), 10.5), (linux(21.0, 9.0), 10.0)] {
        let mut hybla = connected(&context, 100);
        hybla.on_loss(&loss(Instant::ZERO, 21));
        assert_eq!((hybla.cwnd(), hybla.ssthresh()), (left, left));
    }
}

/// Linux grows as Reno until what was in flight at a timeout is acknowledged.
#[test]
fn in_linux_the_repair_after_a_timeout_is_renos() {
    for (context, cwnds) in [
        (context(90.0, 9.0), [16.0, 31.0, 45.0]),
        (linux(90.0, 9.0), [2.0, 3.0, 18.0]),
    ] {
        let mut hybla = connected(&context, 100);
        hybla.on_timeout(Instant::ZERO, 90);
        hybla.window.on_timeout(45.0, 3);
        let found: Vec<_> = (0..3)
            .map(|_| {
                hybla.on_ack(&ack(1));
                hybla.cwnd()
            })
            .collect();
        assert_eq!(found, cwnds);
    }
}
