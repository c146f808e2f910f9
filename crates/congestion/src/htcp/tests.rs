use super::*;
use crate::law::Governed;
use crate::testing::{context, linux, loss};
use crate::{Control, ControlContext};

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn control(parameters: HtcpParameters, context: &ControlContext) -> Governed<Htcp> {
    Governed::new(context, Htcp::new(parameters, context.linux))
}

/// Without scaling, the switch and ticks.
fn plain() -> HtcpParameters {
    HtcpParameters {
        rtt_scaling: false,
        bandwidth_switch: false,
        tick: Some(Duration::ZERO),
        ..HtcpParameters::default()
    }
}

fn ack(at_ms: u64, rtt_ms: u64) -> Ack {
    let mut ack = Ack::new(Instant::ZERO + ms(at_ms), 1, 9);
    ack.rtt = Some(ms(rtt_ms));
    ack
}

/// alpha (Delta) with beta 0.5, by which 2 (1 - beta) is 1.
#[test]
fn alpha_grows_with_the_time_since_the_last_congestion_event() {
    for (seconds, alpha) in [(0, 1.0), (1, 1.0), (2, 11.25), (3, 22.0), (11, 126.0)] {
        for (is_linux, alpha) in [(false, alpha), (true, f64::floor(alpha))] {
            let mut htcp = Htcp::new(plain(), is_linux);
            htcp.last_congestion = Some(Instant::ZERO);
            htcp.update_alpha(Instant::ZERO + Duration::from_secs(seconds));
            assert_eq!(htcp.alpha, alpha, "{seconds} s");
        }
    }
}

/// "2 (1 - beta)": a flow that gives up less grows more slowly.
#[test]
fn alpha_makes_up_for_beta() {
    let mut htcp = Htcp::new(plain(), false);
    htcp.beta = 0.75;
    htcp.update_alpha(Instant::ZERO);
    assert_eq!(htcp.alpha, 0.5);
}

/// Growth is in proportion to RTT / 100 ms, within 0.1 and 2, and at least a packet.
#[test]
fn alpha_is_scaled_by_the_round_trip_time() {
    // 1 + 10 * 2 + 1 = 22 three seconds after congestion.
    for (rtt_ms, exact, in_linux) in [
        (100, 22.0, 22.0),
        (50, 11.0, 11.0),
        (5, 2.2, 2.0),
        (150, 33.0, 35.0), // 8 / 1.5 is rounded to 5.
        (300, 44.0, 44.0),
        (1, 2.2, 2.0),
    ] {
        for (is_linux, alpha) in [(false, exact), (true, in_linux)] {
            let parameters = HtcpParameters {
                rtt_scaling: true,
                ..plain()
            };
            let mut htcp = Htcp::new(parameters, is_linux);
            htcp.min_rtt = Some(ms(rtt_ms));
            htcp.last_congestion = Some(Instant::ZERO);
            htcp.update_alpha(Instant::ZERO + Duration::from_secs(3));
            let found = htcp.alpha;
            assert!(
                (found - alpha).abs() < 1e-9,
                "{rtt_ms} ms: {found}, not {alpha}"
            );
            htcp.update_alpha(Instant::ZERO);
            assert!(htcp.alpha >= 1.0, "{rtt_ms} ms");
        }
    }
}

/// RTTmin / RTTmax, within 0.5 and 0.8. At the first event it is 0.5.
#[test]
fn beta_is_the_ratio_of_round_trip_times() {
    for (max_ms, exact, in_linux) in [
        (110, 0.8, 102.0 / 128.0),
        (160, 0.625, 0.625),
        (150, 2.0 / 3.0, 85.0 / 128.0),
        (400, 0.5, 0.5),
    ] {
        for (context, beta) in [(context(20.0, 20.0), exact), (linux(20.0, 20.0), in_linux)] {
            let mut htcp = control(plain(), &context);
            let mut now = 100;
            for rtt_ms in (100..=max_ms).step_by(10) {
                now += 10;
                htcp.on_ack(&ack(now, rtt_ms));
            }
            let at = Instant::ZERO + ms(now);
            htcp.on_loss(&loss(at, 20));
            assert_eq!(htcp.law.beta, 0.5, "{max_ms} ms, first");
            htcp.law.max_rtt = ms(max_ms);
            let before = htcp.cwnd();
            htcp.on_loss(&loss(at, before as u32));
            assert!(
                (htcp.law.beta - beta).abs() < 1e-9,
                "{max_ms} ms: {}",
                htcp.law.beta
            );
        }
    }
}

#[test]
fn a_loss_leaves_beta_of_the_window() {
    for (context, left) in [(context(25.0, 20.0), 12.5), (linux(25.0, 20.0), 12.0)] {
        let mut htcp = control(plain(), &context);
        htcp.on_loss(&loss(Instant::ZERO, 25));
        assert_eq!((htcp.cwnd(), htcp.ssthresh()), (left, left));
    }
}

/// RTTmax fades by 5 % at each event, and ignores what exceeds it by more than 20 ms.
#[test]
fn the_maximum_round_trip_time_fades() {
    let mut htcp = control(plain(), &context(20.0, 20.0));
    for (at_ms, rtt_ms, max_ms) in [(100, 100, 100), (110, 120, 120), (120, 141, 120)] {
        htcp.on_ack(&ack(at_ms, rtt_ms));
        assert_eq!(htcp.law.max_rtt, ms(max_ms));
    }
    htcp.on_loss(&loss(Instant::ZERO + ms(120), 20));
    assert_eq!(htcp.law.max_rtt, ms(119));
}

/// After the throughput has changed by more than a fifth, beta is 0.5, and so it is once more.
#[test]
fn a_change_of_throughput_resets_beta() {
    let parameters = HtcpParameters {
        bandwidth_switch: true,
        ..plain()
    };
    let mut htcp = Htcp::new(parameters, false);
    (htcp.min_rtt, htcp.max_rtt) = (Some(ms(100)), ms(125));
    htcp.adapts = true;
    let mut window = |throughput: f64| {
        htcp.throughput.set_max(throughput);
        htcp.update_beta();
        htcp.beta
    };
    let betas = [100.0, 100.0, 110.0, 150.0, 150.0, 150.0].map(&mut window);
    assert_eq!(betas, [0.5, 0.5, 0.8, 0.5, 0.5, 0.8]);
}

/// In Linux, an acknowledgement of any size increases cwnd by a packet, when those before it suffice.
#[test]
fn in_linux_packets_are_counted_between_increases() {
    let mut htcp = control(plain(), &linux(10.0, 10.0));
    htcp.law.last_congestion = Some(Instant::ZERO);
    htcp.law.alpha = 5.0;
    let mut cwnds = Vec::new();
    for _ in 0..3 {
        let mut ack = ack(500, 100);
        ack.newly_acked = 2;
        htcp.on_ack(&ack);
        cwnds.push(htcp.cwnd());
    }
    // Two packets times 5 suffice for the second one; then alpha is 1 again.
    assert_eq!(cwnds, [10.0, 11.0, 11.0]);
    assert_eq!(htcp.law.alpha, 1.0);
}

#[test]
fn the_window_grows_by_alpha_per_round_trip() {
    let mut htcp = control(plain(), &context(100.0, 100.0));
    htcp.law.last_congestion = Some(Instant::ZERO);
    for _ in 0..100 {
        htcp.on_ack(&ack(2000, 100));
    }
    let grown = htcp.cwnd() - 100.0;
    assert!((10.0..11.25).contains(&grown), "{grown}");
}

/// The time counts from the end of a recovery in Linux, and from the event otherwise.
#[test]
fn linux_counts_from_the_end_of_a_recovery() {
    for (context, from) in [(context(20.0, 20.0), 1000), (linux(20.0, 20.0), 1200)] {
        let mut htcp = control(plain(), &context);
        htcp.on_ack(&ack(900, 100));
        assert_eq!(htcp.law.last_congestion, Some(Instant::ZERO + ms(800)));
        htcp.on_loss(&loss(Instant::ZERO + ms(1000), 20));
        htcp.on_ack(&ack(1200, 100));
        assert_eq!(htcp.law.last_congestion, Some(Instant::ZERO + ms(from)));
    }
}

#[test]
fn a_spurious_loss_restores_the_time_of_the_last_congestion_event() {
    let mut htcp = control(plain(), &context(20.0, 20.0));
    htcp.on_ack(&ack(900, 100));
    htcp.on_loss(&loss(Instant::ZERO + ms(1000), 20));
    htcp.on_spurious_loss(Instant::ZERO + ms(1100));
    assert_eq!(htcp.law.last_congestion, Some(Instant::ZERO + ms(800)));
    assert!(htcp.cwnd() >= 20.0);
}
