use super::*;
use crate::testing::{loss, mark};

const RTT: Duration = Duration::from_millis(100);

fn at(seconds: f64) -> Instant {
    Instant::ZERO + Duration::from_secs_f64(seconds)
}

fn ack(seconds: f64) -> Ack {
    Ack {
        rtt: Some(RTT),
        ..Ack::new(at(seconds), 1, 10)
    }
}

/// Returns a window of `cwnd` packets that has just been reduced.
fn reduced(cwnd: f64) -> Cubic {
    let mut window = Cubic::new(CubicConfig {
        initial_cwnd: cwnd,
        ..CubicConfig::rfc9438(1000)
    });
    window.on_loss(&loss(at(0.0), cwnd as u32));
    window
}

/// Acknowledges a window every `rtt` seconds until `until`, evenly spaced.
fn run(window: &mut Cubic, from: f64, until: f64, rtt: f64) {
    let mut now = from;
    while now < until {
        now += rtt / window.cwnd();
        window.on_ack(&Ack {
            rtt: Some(Duration::from_secs_f64(rtt)),
            ..ack(now)
        });
    }
}

#[track_caller]
fn assert_near(actual: f64, expected: f64, tolerance: f64) {
    assert!(
        (actual - expected).abs() <= tolerance,
        "{actual}, not {expected}"
    );
}

/// FlightSize includes data that SACK has already reported, so after a long recovery it exceeds
/// cwnd.
#[test]
fn rfc9438_4_6_a_loss_with_more_in_flight_than_cwnd_reduces_cwnd() {
    let mut window = reduced(100.0);
    window.on_loss(&loss(at(1.0), 150));
    assert_near(window.cwnd(), 49.0, 1e-9);
    window.on_mark(&mark(at(2.0), 150));
    assert_near(window.cwnd(), 34.3, 1e-9);
    window.on_timeout(at(3.0), 150);
    assert_near(window.ssthresh(), 24.01, 1e-9);
}

#[test]
fn rfc9438_4_6_a_loss_leaves_seven_tenths() {
    let window = reduced(100.0);
    assert_eq!((window.cwnd(), window.ssthresh()), (70.0, 70.0));
    let window = reduced(2.0);
    assert_eq!((window.cwnd(), window.ssthresh()), (2.0, 2.0));
}

/// Linux 6.12's `cubictcp_recalc_ssthresh`.
#[test]
fn linux_leaves_whole_packets_of_cwnd() {
    let mut window = Cubic::new(CubicConfig {
        initial_cwnd: 50.9,
        leaves_whole_packets: true,
        ..CubicConfig::rfc9438(1000)
    });
    window.on_loss(&loss(at(0.0), 20));
    assert_eq!((window.cwnd(), window.ssthresh()), (35.0, 35.0));
}

#[test]
fn rfc9438_4_6_marks_leave_at_least_one_packet() {
    let mut window = reduced(2.0);
    window.on_mark(&mark(at(1.0), 2));
    assert_eq!((window.cwnd(), window.ssthresh()), (1.4, 2.0));
    window.on_mark(&mark(at(2.0), 1));
    assert_eq!((window.cwnd(), window.ssthresh()), (1.0, 2.0));
    let mut window = reduced(100.0);
    window.on_mark(&mark(at(1.0), 70));
    assert_eq!((window.cwnd(), window.ssthresh()), (49.0, 49.0));
}

#[test]
fn rfc9438_4_2_the_cubic_leads_from_the_reduced_window_to_the_maximum() {
    let window = reduced(100.0);
    let epoch = window.new_epoch(at(0.0));
    // Equation 2: the cube root of (100 - 70) / 0.4.
    assert_near(epoch.k, 4.217_163, 1e-6);
    // Equation 1.
    for (t, expected) in [
        (0.0, 70.0),
        (2.0, 95.640_336),
        (epoch.k, 100.0),
        (6.0, 102.266_703),
    ] {
        assert_near(epoch.window(0.4, t), expected, 1e-5);
    }
}

#[test]
fn rfc9438_4_4_and_4_5_the_window_follows_the_cubic() {
    let mut window = reduced(100.0);
    let mut now = 0.0;
    for until in [1.0, 2.0, 3.0, 4.0, 5.0] {
        run(&mut window, now, until, 0.1);
        now = until;
        // cwnd approaches the cubic's value one round-trip time ahead, which takes a round-trip
        // time.
        let epoch = window.epoch.unwrap();
        let (here, ahead) = (epoch.window(0.4, now), epoch.window(0.4, now + 0.1));
        let cwnd = window.cwnd();
        assert!(
            (here - 0.1..=ahead + 0.1).contains(&cwnd),
            "{cwnd} at {now}"
        );
    }
}

#[test]
fn rfc9438_4_3_where_reno_would_be_faster_the_window_is_renos() {
    let mut window = reduced(20.0);
    run(&mut window, 0.0, 0.1, 0.01);
    // 3 * 0.3 / 1.7 packets per round trip.
    assert_near(window.cwnd(), 14.0 + 10.0 * 0.529, 0.3);
    run(&mut window, 0.1, 0.2, 0.01);
    // One packet per round trip above the previous maximum.
    let at_maximum = 6.0 / 0.529;
    assert_near(window.cwnd(), 20.0 + (20.0 - at_maximum), 0.5);
}

#[test]
fn rfc9438_4_7_a_window_that_shrinks_makes_room() {
    let mut window = reduced(100.0);
    window.on_loss(&loss(at(1.0), 70));
    assert_near(window.w_max.unwrap(), 70.0 * 0.85, 1e-9);
    let mut window = reduced(100.0);
    window.config.fast_convergence = false;
    window.on_loss(&loss(at(1.0), 70));
    assert_eq!(window.w_max, Some(70.0));
}

#[test]
fn rfc9438_4_8_after_a_timeout_the_cubic_begins_at_its_origin() {
    let mut window = reduced(100.0);
    window.on_timeout(at(1.0), 70);
    assert_eq!(window.cwnd(), 1.0);
    assert_near(window.ssthresh(), 49.0, 1e-9);
    window.on_timeout(at(2.0), 1);
    assert_near(window.ssthresh(), 49.0, 1e-9);
    for _ in 0..48 {
        window.on_ack(&ack(3.0));
    }
    assert_eq!(window.cwnd(), 49.0);
    window.on_ack(&ack(3.1));
    let epoch = window.epoch.unwrap();
    assert_eq!((epoch.k, epoch.origin), (0.0, 49.0));
}

#[test]
fn rfc9438_4_2_time_in_which_the_application_was_the_limit_does_not_count() {
    let mut window = reduced(100.0);
    run(&mut window, 0.0, 1.0, 0.1);
    let mut other = window.clone();
    let limited = Ack {
        application_limited: true,
        ..ack(1.0)
    };
    window.on_ack(&limited);
    assert_eq!(window.cwnd(), other.cwnd());
    run(&mut window, 11.0, 12.0, 0.1);
    run(&mut other, 1.0, 2.0, 0.1);
    assert_near(window.cwnd(), other.cwnd(), 0.3);
}

/// Section 5.1, equation 6 and table 1 for C = 0.4: the average window for losses at equal
/// distances in packets.
#[test]
fn rfc9438_5_1_the_average_window_is_that_of_the_response_function() {
    for (loss_rate, expected) in [(1e-4, 187.0), (1e-5, 1054.0)] {
        // The average is (3 + beta) / 4 of the maximum: equation 5.
        let mut window = reduced(expected / 0.925);
        window.config.fast_convergence = false;
        let packets = (1.0 / loss_rate) as u64;
        let (mut now, mut area) = (0.0, 0.0);
        for packet in 1..=10 * packets {
            let step = 0.1 / window.cwnd();
            now += step;
            area += window.cwnd() * step;
            window.on_ack(&ack(now));
            if packet % packets == 0 {
                window.on_loss(&loss(at(now), window.cwnd() as u32));
            }
        }
        assert_near(area / now, expected, 0.03 * expected);
    }
}

/// "Further reduce W_max" applies to a window below the last maximum, not to one that has just
/// reached it.
#[test]
fn rfc9438_4_7_a_window_that_reaches_the_last_maximum_makes_no_room() {
    let mut window = reduced(100.0);
    window.w_max = Some(window.cwnd);
    window.on_loss(&loss(at(1.0), 70));
    assert_eq!(window.w_max, Some(70.0));
}

/// Section 4.3, equation 4: W_est grows by alpha_cubic for each window acknowledged, however many
/// packets an acknowledgement covers, and alpha_cubic is 3 (1 - beta) / (1 + beta).
#[test]
fn rfc9438_4_3_the_estimate_counts_all_packets_acknowledged() {
    let mut window = reduced(100.0);
    window.on_ack(&Ack {
        newly_acked: 7,
        ..ack(0.1)
    });
    let mut values = Vec::new();
    window.inner_values(&mut |name, value| values.push((name, value)));
    let [(w_max, maximum), (k, seconds), (w_est, estimate)] = values[..] else {
        panic!("{values:?}");
    };
    assert_eq!([w_max, k, w_est], ["w_max_packets", "k_s", "w_est_packets"]);
    assert_eq!(maximum, 100.0);
    // Equation 2 with C = 0.4.
    assert_near(seconds, (30.0_f64 / 0.4).cbrt(), 1e-9);
    assert_near(estimate, 70.0 + 3.0 * 0.3 / 1.7 * 7.0 / 70.0, 1e-9);
}

/// RFC 5681 section 4.1: an idle connection restarts with at most the initial window.
#[test]
fn rfc5681_4_1_a_restart_uses_the_initial_window() {
    let mut window = Cubic::new(CubicConfig {
        initial_cwnd: 10.0,
        ..CubicConfig::rfc9438(1000)
    });
    for _ in 0..20 {
        window.on_ack(&ack(0.1));
    }
    assert_eq!(window.cwnd(), 30.0);
    window.on_restart(at(5.0));
    assert_eq!(window.cwnd(), 10.0);
    window.on_loss(&loss(at(6.0), 10));
    window.on_restart(at(10.0));
    assert_eq!(window.cwnd(), 7.0, "less than the initial window");
    // The stage begins anew: nothing counts of the time before.
    window.on_ack(&ack(100.0));
    assert_near(window.cwnd(), 7.0, 0.2);
}

#[test]
fn an_overloaded_receiver_takes_off_what_it_dropped() {
    let mut window = Cubic::new(CubicConfig {
        initial_cwnd: 10.0,
        ..CubicConfig::rfc9438(1000)
    });
    window.on_receiver_overload(at(0.0), 3);
    assert_eq!((window.cwnd(), window.ssthresh()), (7.0, 7.0));
    window.on_receiver_overload(at(0.0), 9);
    assert_eq!((window.cwnd(), window.ssthresh()), (1.0, 2.0));
}

/// As Linux 6.12: 5 % per round trip, until a loss shows where the cubic's plateau is.
#[test]
fn before_the_first_loss_cwnd_may_grow_faster() {
    let config = CubicConfig {
        initial_cwnd: 100.0,
        initial_ssthresh: 50.0,
        growth_before_loss: 0.05,
        ..CubicConfig::rfc9438(1000)
    };
    let mut window = Cubic::new(config);
    for _ in 0..100 {
        window.on_ack(&ack(1.0));
    }
    assert_near(window.cwnd(), 105.0, 0.01);
    window.on_loss(&loss(at(1.0), 100));
    let reduced = window.cwnd();
    for _ in 0..70 {
        window.on_ack(&ack(1.0));
    }
    assert!(window.cwnd() < reduced + 2.0, "{}", window.cwnd());
}
