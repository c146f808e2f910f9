use skywave_units::{Duration, Instant};

use super::*;
use crate::law::Governed;
use crate::testing::{context, linux, loss};
use crate::{Control, ControlContext};

fn control(context: &ControlContext) -> Governed<Illinois> {
    let law = Illinois::new(IllinoisParameters::default(), context.linux);
    Governed::new(context, law)
}

#[track_caller]
fn assert_near(actual: f64, expected: f64) {
    assert!((actual - expected).abs() < 1e-9, "{actual}, not {expected}");
}

fn ack(rtt_ms: u64, packets: u32, in_flight: u32) -> Ack {
    let mut ack = Ack::new(Instant::ZERO, packets, in_flight);
    ack.rtt = Some(Duration::from_millis(rtt_ms));
    ack
}

/// Round trips of an acknowledgement each, with these round-trip times. Returns alpha and beta after
/// each.
fn rounds(control: &mut Governed<Illinois>, rtts_ms: &[u64]) -> Vec<(f64, f64)> {
    let each = |&rtt_ms: &u64| {
        control.on_ack(&ack(rtt_ms, 1, 0));
        (control.law.alpha, control.law.beta)
    };
    rtts_ms.iter().map(each).collect()
}

/// kappa_1 / (kappa_2 + d_a): alpha_max at d1, alpha_min at d_m, and the equations' kappas between.
#[test]
fn alpha_falls_from_its_maximum_to_its_minimum() {
    let illinois = Illinois::new(IllinoisParameters::default(), false);
    assert_near(illinois.alpha_of(1.0, 100.0), 10.0);
    assert_near(illinois.alpha_of(100.0, 100.0), 0.1);
    let (kappa_1, kappa_2) = (99.0 * 0.1 * 10.0 / 9.9, 99.0 * 0.1 / 9.9 - 1.0);
    for average in [5.0, 20.0, 50.0, 80.0] {
        assert_near(
            illinois.alpha_of(average, 100.0),
            kappa_1 / (kappa_2 + average),
        );
    }
}

/// beta_min up to d2, beta_max from d3 on, and kappa_3 + kappa_4 d_a between.
#[test]
fn beta_rises_from_its_minimum_to_its_maximum() {
    let illinois = Illinois::new(IllinoisParameters::default(), false);
    let (kappa_3, kappa_4) = ((0.125 * 80.0 - 0.5 * 10.0) / 70.0, 0.375 / 70.0);
    for (average, beta) in [
        (0.0, 0.125),
        (10.0, 0.125),
        (40.0, kappa_3 + kappa_4 * 40.0),
        (80.0, 0.5),
        (100.0, 0.5),
    ] {
        assert_near(illinois.beta_of(average, 100.0), beta);
    }
}

/// Below the threshold, and after a timeout, both are Reno's.
#[test]
fn a_small_window_is_renos() {
    for (context, threshold) in [(context(9.0, 2.0), 10.0), (linux(14.0, 2.0), 15.0)] {
        let mut small = control(&context);
        assert_eq!(rounds(&mut small, &[100]), [(1.0, 0.5)]);
        let mut large = control(&ControlContext {
            initial_cwnd: threshold,
            ..context
        });
        assert_eq!(rounds(&mut large, &[100]), [(10.0, 0.125)]);
        large.on_timeout(Instant::ZERO, 10);
        assert_eq!((large.law.alpha, large.law.beta), BASE);
    }
}

/// After a delay, alpha is at its maximum again when the delay has been short for five round trips:
/// in a row, or in total in Linux.
#[test]
fn one_good_round_trip_does_not_raise_alpha() {
    let rtts = [100, 200, 100, 100, 200, 100, 100, 100, 100, 100];
    for (context, good) in [(context(50.0, 2.0), 9), (linux(50.0, 2.0), 7)] {
        let mut illinois = control(&context);
        let alphas: Vec<_> = rounds(&mut illinois, &rtts)
            .iter()
            .map(|&(alpha, _)| alpha)
            .collect();
        assert_eq!(alphas[0], 10.0, "{alphas:?}");
        assert!(
            alphas[1..good].iter().all(|&alpha| alpha < 0.4),
            "{alphas:?}"
        );
        assert!(
            alphas[good..].iter().all(|&alpha| alpha == 10.0),
            "{alphas:?}"
        );
    }
}

/// A round trip ends when more is acknowledged than was in flight at its begin.
#[test]
fn both_change_once_per_round_trip() {
    let mut illinois = control(&context(50.0, 2.0));
    illinois.on_ack(&ack(100, 1, 4));
    let before = illinois.law.alpha;
    for _ in 0..4 {
        illinois.on_ack(&ack(200, 1, 4));
        assert_eq!(illinois.law.alpha, before);
    }
    illinois.on_ack(&ack(200, 1, 4));
    assert!(illinois.law.alpha < before);
}

#[test]
fn a_loss_takes_beta_of_the_window() {
    for (context, queued, left) in [
        (context(50.0, 2.0), false, 43.75),
        (context(50.0, 2.0), true, 25.0),
        (linux(50.0, 2.0), false, 44.0),
        (linux(50.0, 2.0), true, 25.0),
    ] {
        let mut illinois = control(&context);
        rounds(&mut illinois, &[100, if queued { 200 } else { 100 }]);
        illinois.window = Window::new(&context);
        illinois.on_loss(&loss(Instant::ZERO, 50));
        assert_eq!((illinois.cwnd(), illinois.ssthresh()), (left, left));
    }
}

/// alpha packets per window of packets acknowledged.
#[test]
fn the_window_grows_by_alpha_per_window() {
    let mut illinois = control(&context(1000.0, 2.0));
    for _ in 0..1000 {
        illinois.on_ack(&ack(100, 1, 999));
    }
    let grown = illinois.cwnd() - 1000.0;
    assert!((9.9..10.0).contains(&grown), "{grown}");
}

/// Linux counts packets between increases, and drops what is left over.
#[test]
fn in_linux_what_is_left_over_is_dropped() {
    let mut illinois = control(&linux(54.0, 2.0));
    illinois.law.left = 1000;
    let mut cwnds = Vec::new();
    for _ in 0..5 {
        illinois.on_ack(&ack(100, 3, 50));
        cwnds.push(illinois.cwnd());
    }
    // Six packets times 10 are one window of 54, and the rest of 6 is lost.
    assert_eq!(cwnds, [54.0, 55.0, 55.0, 56.0, 56.0]);
    // 120 packets are 21 windows.
    illinois.on_ack(&ack(100, 120, 50));
    assert_eq!(illinois.cwnd(), 56.0 + 21.0);
}

/// Linux's fixed point: alpha in 128ths, beta in 64ths.
#[test]
fn in_linux_alpha_and_beta_are_rounded() {
    let mut illinois = control(&linux(50.0, 2.0));
    for (alpha, beta) in rounds(&mut illinois, &[100, 200, 150, 130]) {
        assert_eq!((alpha * 128.0).fract(), 0.0, "{alpha}");
        assert_eq!((beta * 64.0).fract(), 0.0, "{beta}");
    }
}

/// A constant delay is no queue: neither are all times equal, nor do any divide by zero.
#[test]
fn equal_round_trip_times_are_no_delay() {
    let mut illinois = control(&context(50.0, 2.0));
    for (alpha, beta) in rounds(&mut illinois, &[137; 9]) {
        assert_eq!((alpha, beta), (10.0, 0.125));
    }
}
