use skywave_wire::Ecn;

use super::*;
use crate::testing::loss;

const LOW: Ecn = Zone::Low.code();
const HIGH: Ecn = Zone::High.code();
const OVER: Ecn = Zone::Over.code();

fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

fn config() -> VcpConfig {
    VcpConfig::chen2010(100.0)
}

/// A window whose round-trip time is known to be `rtt_ms`.
fn window(config: VcpConfig, rtt_ms: u64) -> Mpcp {
    let mut window = Mpcp::new(config);
    window.on_rtt(Duration::from_millis(rtt_ms));
    window
}

/// An acknowledgement of one packet for each code.
fn ack(window: &mut Mpcp, now: Instant, codes: &[Ecn]) {
    for &ecn in codes {
        window.on_packet_acked(&AckedPacket::new(0, now, 1, ecn));
    }
    window.on_ack(&Ack::new(now, codes.len() as u32, window.cwnd() as u32));
}

/// The growth of cwnd in a round-trip time in which every packet has this code.
fn round(window: &mut Mpcp, now: Instant, code: Ecn) -> f64 {
    let before = window.cwnd();
    for _ in 0..before as usize {
        ack(window, now, &[code]);
    }
    window.cwnd() - before
}

/// Equation A3: under low load cwnd doubles in t_rho ln 2 / ln 1.0625 = 2.29 s for any R. Only for
/// large R does sigma_MI limit growth, to 16.4 % per round.
#[test]
fn multiplicative_increase_is_the_same_in_time_for_all_round_trips() {
    for rtt in [20, 80, 200, 500] {
        let mut window = window(config(), rtt);
        let rounds = (2286.6 / rtt as f64).round() as u64;
        for number in 0..rounds {
            round(&mut window, at(number * rtt), LOW);
        }
        let doublings = (window.cwnd() / 100.0).log2();
        let expected = (rounds * rtt) as f64 / 2286.6;
        assert!(
            (doublings / expected - 1.0).abs() < 0.04,
            "R {rtt} ms: {doublings}"
        );
    }
    let mut window = window(config(), 2000);
    let growth = round(&mut window, at(0), LOW);
    assert!((growth - 16.37).abs() < 0.01, "{growth}");
}

/// Equation A4 and the variant in the authors' code, in packets per round.
#[test]
fn additive_increase_is_scaled_as_either_source_says() {
    let growth = |scaling, rtt| {
        let config = VcpConfig {
            additive_scaling: scaling,
            initial_cwnd: 1000.0,
            ..config()
        };
        round(&mut window(config, rtt), at(0), HIGH)
    };
    let near = |value: f64, expected: f64| (value / expected - 1.0).abs() < 0.02;
    let chen = AdditiveScaling::Capped { limit: 10.0 };
    for (rtt, packets) in [(100, 0.25), (200, 1.0), (400, 4.0), (2000, 10.0)] {
        let value = growth(chen, rtt);
        assert!(near(value, packets), "R {rtt} ms: {value}");
    }
    for (rtt, packets) in [(10, 0.02), (100, 1.0), (200, 4.0), (1000, 30.0)] {
        let value = growth(AdditiveScaling::Tails, rtt);
        assert!(near(value, packets), "R {rtt} ms: {value}");
    }
}

/// One acknowledgement of several packets increases cwnd as much as one for each packet.
#[test]
fn an_ack_ratio_does_not_slow_growth() {
    let mut each = window(config(), 100);
    let mut two = window(config(), 100);
    for _ in 0..50 {
        ack(&mut each, at(0), &[LOW]);
        ack(&mut each, at(0), &[LOW]);
        ack(&mut two, at(0), &[LOW, LOW]);
    }
    assert_eq!(each.cwnd(), two.cwnd());
}

/// Per acknowledgement, several packets are worth one increase, by the largest code among them. No
/// new packet, no increase; and a decrease as ever.
#[test]
fn growth_per_acknowledgement_does_not_count_packets() {
    let per_ack = VcpConfig {
        growth: GrowthPer::Ack,
        after_decrease: AfterDecrease::Increases,
        falls_back: false,
        ..config()
    };
    let mut window = window(per_ack, 100);
    let additive = |cwnd: f64| 0.25 / cwnd;
    let multiplicative = 1.0625_f64.powf(0.5) - 1.0;
    for (codes, increase) in [
        (&[LOW, LOW][..], multiplicative),
        (&[HIGH, HIGH, HIGH], additive(100.0 + multiplicative)),
        (&[], 0.0),
    ] {
        let before = window.cwnd();
        ack(&mut window, at(0), codes);
        assert!(
            (window.cwnd() - before - increase).abs() < 1e-12,
            "{codes:?}"
        );
    }
    for codes in [&[LOW, HIGH][..], &[HIGH, LOW]] {
        let before = window.cwnd();
        ack(&mut window, at(0), codes);
        let growth = window.cwnd() - before;
        assert!(
            (growth - additive(before)).abs() < 1e-12,
            "{codes:?}: {growth}"
        );
    }
    let before = window.cwnd();
    ack(&mut window, at(0), &[LOW, OVER]);
    assert_eq!(window.cwnd(), 0.875 * before, "no increase before it");
    let before = window.cwnd();
    ack(&mut window, at(50), &[OVER, OVER]);
    assert_eq!(window.cwnd(), before + additive(before), "for one R");
}

/// Equation A5, then no other decrease for t_rho, then additive increase for a round-trip time.
#[test]
fn overload_is_answered_once_and_then_not_for_a_while() {
    let mut window = window(config(), 100);
    ack(&mut window, at(0), &[OVER, OVER]);
    assert_eq!(window.cwnd(), 87.5);
    ack(&mut window, at(199), &[OVER]);
    assert_eq!(window.cwnd(), 87.5);
    ack(&mut window, at(250), &[OVER]);
    assert_eq!(window.cwnd(), 87.5 + 0.25 / 87.5);
    ack(&mut window, at(301), &[OVER]);
    assert!((window.cwnd() - 0.875 * 87.5).abs() < 0.01);
    let mut small = Mpcp::new(VcpConfig::chen2010(1.0));
    ack(&mut small, at(0), &[OVER]);
    assert_eq!(small.cwnd(), 1.0);
}

/// As published, a decrease leaves at least one packet. A refinement gives back only what the
/// decrease took.
#[test]
fn a_refinement_knows_that_one_packet_is_left() {
    for (cwnd, refined) in [(1.0, 1.0), (2.0, 1.75), (100.0, 87.5)] {
        let mut window = Mpcp::new(MpcpConfig::li2009(cwnd, 2));
        back(&mut window, at(0), 0, OVER);
        back(&mut window, at(1), 1, LOW);
        assert_eq!(window.cwnd(), refined);
    }
    // A loss halves cwnd, whether it precedes or follows the refinement.
    let mut window = dpcp(Acts::AtOnce);
    back(&mut window, at(0), 0, OVER);
    window.on_loss(&loss(at(1), 40));
    back(&mut window, at(2), 1, LOW);
    assert!((window.cwnd() - 43.75).abs() < 1e-9);
    // After a timeout, a refinement gives nothing back.
    let mut window = dpcp(Acts::AtOnce);
    back(&mut window, at(0), 0, OVER);
    window.on_timeout(at(1), 40);
    back(&mut window, at(2), 1, LOW);
    assert_eq!(window.cwnd(), 1.0);
}

#[test]
fn the_two_readings_differ_in_what_else_is_obeyed_after_a_decrease() {
    let freezes = VcpConfig {
        after_decrease: AfterDecrease::Freezes,
        ..config()
    };
    for (config, grows) in [(config(), true), (freezes, false)] {
        let mut window = window(config, 100);
        ack(&mut window, at(0), &[OVER]);
        ack(&mut window, at(150), &[LOW]);
        assert_eq!(window.cwnd() > 87.5, grows);
        // In the round-trip time after t_rho, the second reading treats every code as high load.
        let before = window.cwnd();
        ack(&mut window, at(250), &[LOW]);
        let growth = window.cwnd() - before;
        let additive = 0.25 / before;
        assert_eq!(growth > 2.0 * additive, grows, "{growth}");

        let mut chains = Mpcp::new(MpcpConfig {
            vcp: config,
            ..MpcpConfig::li2009(100.0, 2)
        });
        chains.on_rtt(Duration::from_millis(200));
        back(&mut chains, at(0), 0, OVER);
        back(&mut chains, at(0), 1, LOW);
        for (now, seq) in [(150, 2), (250, 4)] {
            let before = chains.cwnd();
            back(&mut chains, at(now), seq, LOW);
            back(&mut chains, at(now), seq + 1, LOW);
            let growth = chains.cwnd() - before;
            let additive = if now < 200 { 0.0 } else { 2.0 / before };
            if grows {
                assert!(growth > 2.0 * additive, "at {now} ms: {growth}");
            } else {
                assert!((growth - additive).abs() < 1e-3, "at {now} ms: {growth}");
            }
        }
    }
}

/// "After holding a decreased value of cwnd for a Round Trip Time (RTT), VCP applies the AI policy"
/// (Li and Yousefi'zadeh 2009, section 2.2): both phases last a round-trip time, not t_rho.
#[test]
fn a_decreased_window_is_held_for_a_round_trip_time() {
    let holds = VcpConfig {
        after_decrease: AfterDecrease::Holds,
        falls_back: false,
        ..config()
    };
    for rtt_ms in [50, 500] {
        let scale = (rtt_ms as f64 / 200.0).powi(2);
        let mut window = window(holds, rtt_ms);
        ack(&mut window, at(0), &[OVER]);
        for code in [LOW, HIGH, OVER] {
            ack(&mut window, at(rtt_ms - 1), &[code]);
            assert_eq!(window.cwnd(), 87.5, "held");
        }
        for code in [LOW, HIGH, OVER] {
            let before = window.cwnd();
            ack(&mut window, at(2 * rtt_ms - 1), &[code]);
            let growth = window.cwnd() - before;
            assert!((growth - scale / before).abs() < 1e-9, "{code:?}: {growth}");
        }
        let before = window.cwnd();
        ack(&mut window, at(2 * rtt_ms), &[OVER]);
        assert!((window.cwnd() - 0.875 * before).abs() < 1e-9, "open again");
    }
}

/// "after doing Equation (A5), the cwnd calculation follows AI algorithm for one R" (Chen, Yang and
/// Hong 2010, appendix).
#[test]
fn a_decreased_window_increases_for_a_round_trip_time() {
    let increases = VcpConfig {
        after_decrease: AfterDecrease::Increases,
        falls_back: false,
        ..config()
    };
    let mut window = window(increases, 100);
    ack(&mut window, at(0), &[OVER]);
    assert_eq!(window.cwnd(), 87.5);
    for code in [LOW, HIGH, OVER] {
        let before = window.cwnd();
        ack(&mut window, at(1), &[code]);
        let growth = window.cwnd() - before;
        assert!((growth - 0.25 / before).abs() < 1e-9, "{code:?}: {growth}");
    }
    let before = window.cwnd();
    ack(&mut window, at(101), &[OVER]);
    assert!((window.cwnd() - 0.875 * before).abs() < 1e-9, "open again");
}

/// "cwnd halves per loss packet ... After a short period when there is no loss event, the VCP
/// controller starts to affect the cwnd" (Chen, Yang and Hong 2010, section 4.1).
#[test]
fn a_slow_start_lasts_until_a_round_trip_time_without_loss() {
    let slow_start = VcpConfig {
        start: Start::BySlowStart,
        least_cwnd: 2.0,
        falls_back: false,
        ..config()
    };
    let mut window = window(slow_start, 100);
    let before = window.cwnd();
    ack(&mut window, at(0), &[OVER, OVER]);
    assert_eq!(window.cwnd(), before + 2.0, "codes do not matter yet");
    window.on_loss(&loss(at(10), 100));
    let half = window.cwnd();
    assert_eq!(half, (before + 2.0) / 2.0);
    ack(&mut window, at(109), &[LOW]);
    assert_eq!(window.cwnd(), half + half.recip());
    window.on_loss(&loss(at(109), 100));
    let half = window.cwnd();
    ack(&mut window, at(208), &[OVER]);
    assert!(window.cwnd() > half, "the period began again");
    let before = window.cwnd();
    ack(&mut window, at(209), &[OVER]);
    assert!(
        (window.cwnd() - 0.875 * before).abs() < 1e-9,
        "the load factor rules"
    );
    window.on_loss(&loss(at(250), 100));
    let before = window.cwnd();
    ack(&mut window, at(260), &[HIGH]);
    assert!(window.cwnd() > before, "a later loss starts no slow start");
    for millis in 300..320 {
        window.on_loss(&loss(at(millis), 100));
    }
    assert_eq!(window.cwnd(), 2.0);
    window.on_timeout(at(400), 2);
    assert_eq!(window.cwnd(), 2.0);
}

#[test]
fn the_three_readings_of_a_loss() {
    let decreases = VcpConfig {
        on_loss: OnLoss::Decreases,
        ..config()
    };
    let ignores = VcpConfig {
        on_loss: OnLoss::Ignores,
        ..config()
    };
    for (config, left) in [(config(), 50.0), (decreases, 87.5), (ignores, 100.0)] {
        let mut window = window(config, 100);
        ack(&mut window, at(0), &[HIGH]);
        let before = window.cwnd();
        window.on_loss(&loss(at(10), before as u32));
        assert!((window.cwnd() - left / 100.0 * before).abs() < 1e-9);
        assert!(window.fallback.is_none(), "load was called high");
    }
    for config in [self::config(), ignores] {
        let mut window = window(config, 100);
        window.on_timeout(at(0), 100);
        assert_eq!(window.cwnd(), 1.0);
    }
}

/// Behind a router that only drops, no code ever rises: the first loss ends multiplicative increase.
#[test]
fn a_loss_under_low_load_shows_a_router_without_vcp() {
    let mut window = window(config(), 100);
    ack(&mut window, at(0), &[LOW]);
    window.on_loss(&loss(at(10), 100));
    assert!(window.fallback.is_some());
    let reduced = window.cwnd();
    assert!((reduced - 50.0).abs() < 0.1, "{reduced}");
    round(&mut window, at(50), LOW);
    let growth = round(&mut window, at(150), LOW);
    assert!((growth - 1.0).abs() < 0.1, "RFC 5681: {growth} a round");
    window.on_loss(&loss(at(300), 50));
    assert!((window.cwnd() - 25.0).abs() < 1.0);
    // A code that only VCP routers write.
    ack(&mut window, at(400), &[HIGH]);
    assert!(window.fallback.is_none());
}

/// Returns a control with a window of `packets` packets that has fallen back.
fn fallen_back(config: VcpConfig, packets: f64, rtt_ms: u64) -> Mpcp {
    let mut window = window(
        VcpConfig {
            initial_cwnd: 2.0 * packets,
            ..config
        },
        rtt_ms,
    );
    window.on_loss(&loss(at(0), 2 * packets as u32));
    assert!(window.fallback.is_some());
    assert_eq!(window.cwnd(), packets);
    window
}

/// RFC 3168 section 6.1.2 lets a mark halve even a window of 3 packets, where a loss leaves 2.
#[test]
fn the_fallback_answers_a_mark_as_rfc_5681_does() {
    for told_by_transport in [true, false] {
        let mut window = fallen_back(config(), 3.0, 100);
        if told_by_transport {
            window.on_mark(&Mark::new(at(10), 3, 1));
        } else {
            window.on_packet_acked(&AckedPacket::new(0, at(0), 1, OVER));
            let mut ack = Ack::new(at(10), 1, 3);
            ack.application_limited = true;
            window.on_ack(&ack);
        }
        assert_eq!((window.cwnd(), window.ssthresh()), (1.5, 2.0));
    }
}

/// VCP's pacing suits VCP's windows; the fallback's window may grow far beyond its initial size.
#[test]
fn the_fallback_does_not_pace() {
    let paces = VcpConfig::xia2005(0.0);
    assert!(
        window(
            VcpConfig {
                initial_cwnd: 10.0,
                ..paces
            },
            2000
        )
        .pacing()
        .is_some()
    );
    assert_eq!(fallen_back(paces, 10.0, 2000).pacing(), None);
}

/// A router of RFC 3168 marks single packets; a VCP router keeps its code for t_rho.
#[test]
fn single_marks_show_a_router_of_rfc_3168() {
    let mut window = window(config(), 50);
    ack(&mut window, at(0), &[LOW]);
    ack(&mut window, at(10), &[OVER]);
    ack(&mut window, at(20), &[LOW]);
    assert!(window.fallback.is_some());
    let before = window.cwnd();
    ack(&mut window, at(100), &[OVER]);
    ack(&mut window, at(110), &[OVER]);
    let after = window.cwnd();
    assert!(
        (after / before - 0.5).abs() < 0.02,
        "once in a round-trip time"
    );
}

#[test]
fn a_vcp_router_is_not_taken_for_another() {
    let mut window = window(config(), 50);
    for millis in (0..4000).step_by(10) {
        // Overload for one interval in four.
        let code = if millis / 200 % 4 == 3 { OVER } else { LOW };
        ack(&mut window, at(millis), &[code]);
        assert!(window.fallback.is_none(), "at {millis} ms");
    }
}

#[test]
fn what_is_published_has_no_fallback() {
    let published = VcpConfig {
        falls_back: false,
        ..config()
    };
    let mut window = window(published, 100);
    ack(&mut window, at(0), &[LOW]);
    ack(&mut window, at(10), &[OVER]);
    ack(&mut window, at(20), &[LOW]);
    window.on_loss(&loss(at(500), 100));
    assert!(window.fallback.is_none());
}

/// With R = 2 s and 10 packets: 2 s / 2^4 = 125 ms between packets, which is more than t_rho / 2.
#[test]
fn small_windows_of_long_round_trips_are_paced() {
    let paces = VcpConfig {
        initial_cwnd: 10.0,
        ..VcpConfig::xia2005(10.0)
    };
    let mut window_of_ten = window(paces, 2000);
    // The first packet of a connection may be a small one.
    for bytes in [100, 1000, 400] {
        window_of_ten.on_sent(&Sent::new(at(0), 0, bytes, 1));
    }
    let pacing = window_of_ten.pacing().unwrap();
    assert_eq!(pacing.interval, Duration::from_millis(125));
    assert_eq!(pacing.quantum, 1000);
    assert_eq!(window(paces, 500).pacing(), None);
    let large = VcpConfig::xia2005(65.0);
    assert_eq!(window(large, 2000).pacing(), None);
}

#[test]
fn an_application_that_sends_little_is_not_given_more() {
    let mut window = window(config(), 100);
    window.on_packet_acked(&AckedPacket::new(0, at(0), 1, LOW));
    let mut ack = Ack::new(at(100), 1, 0);
    ack.application_limited = true;
    window.on_ack(&ack);
    assert_eq!(window.cwnd(), 100.0);
}

/// A DPCP window whose packets come back numbered, with a round-trip time of 200 ms.
fn dpcp(acts: Acts) -> Mpcp {
    let mut window = Mpcp::new(MpcpConfig {
        acts,
        ..MpcpConfig::li2009(100.0, 2)
    });
    window.on_rtt(Duration::from_millis(200));
    window
}

/// Packet `seq` comes back with `code`.
fn back(window: &mut Mpcp, now: Instant, seq: u64, code: Ecn) {
    window.on_packet_acked(&AckedPacket::new(seq, now, 1, code));
    window.on_ack(&Ack::new(now, 1, window.cwnd() as u32));
}

/// Li and Yousefi'zadeh 2009, section 3.3: the sender reduces cwnd for the worst overload at once,
/// and gives the excess back when it knows the level.
#[test]
fn a_decrease_is_refined_by_the_second_packet() {
    for (second, beta) in [(LOW, 0.875), (HIGH, 0.6), (OVER, 0.43)] {
        let mut at_once = dpcp(Acts::AtOnce);
        back(&mut at_once, at(0), 0, OVER);
        assert_eq!(at_once.cwnd(), 43.0);
        back(&mut at_once, at(1), 1, second);
        assert!((at_once.cwnd() - 100.0 * beta).abs() < 1e-9);
        // The next chain belongs to the same overload.
        back(&mut at_once, at(2), 2, OVER);
        back(&mut at_once, at(3), 3, LOW);
        assert!((at_once.cwnd() - 100.0 * beta).abs() < 1e-9);

        let mut waits = dpcp(Acts::WhenComplete);
        let before = waits.cwnd();
        back(&mut waits, at(0), 0, OVER);
        assert!(waits.cwnd() >= before, "the level is still the lowest");
        let before = waits.cwnd();
        back(&mut waits, at(1), 1, second);
        assert!((waits.cwnd() - before * beta).abs() < 1e-9);
    }
}

/// Lasting overload causes another decrease, after a round-trip time of additive increase as under
/// VCP.
#[test]
fn lasting_overload_is_answered_again() {
    let mut window = dpcp(Acts::AtOnce);
    for seq in 0..500 {
        // Two decreases, for a load of 105 to 140 %: t_rho and a round-trip time lie between them.
        back(
            &mut window,
            at(seq),
            seq,
            if seq % 2 == 0 { OVER } else { HIGH },
        );
    }
    // In the round-trip time of additive increase, from 200 to 400 ms, 200 packets come back.
    let mut between = 60.0;
    for _ in 0..200 {
        between += 1.0 / between;
    }
    assert!(
        (window.cwnd() - 0.6 * between).abs() < 0.1,
        "{}",
        window.cwnd()
    );
}

/// The multiplicative increase for the level's upper bound and the additive one add up: with R =
/// t_rho, xi and alpha in each round. cwnd doubles at most.
#[test]
fn growth_is_by_the_level_and_at_most_doubles() {
    for ([first, second], xi) in [
        ([LOW, LOW], 1.0),
        ([LOW, HIGH], 0.375),
        ([HIGH, LOW], 0.044_118),
    ] {
        let mut window = dpcp(Acts::WhenComplete);
        back(&mut window, at(0), 0, first);
        back(&mut window, at(0), 1, second);
        let before = window.cwnd();
        back(&mut window, at(0), 2, first);
        let expected = (xi + 1.0 / before).min(1.0);
        assert!((window.cwnd() - before - expected).abs() < 1e-6);
    }
}

/// An acknowledgement may cover the end of one chain and the start of the next. A complete chain
/// corrects a decrease that followed from half a chain.
#[test]
fn acknowledgements_across_chains_are_read_whole() {
    let both = |window: &mut Mpcp, now, packets: [(u64, Ecn); 2]| {
        // The newest first, as in an Ack Vector.
        for (seq, ecn) in packets.into_iter().rev() {
            window.on_packet_acked(&AckedPacket::new(seq, now, 1, ecn));
        }
        ack(window, now, &[]);
    };
    let mut window = dpcp(Acts::AtOnce);
    back(&mut window, at(0), 0, OVER);
    assert_eq!(window.cwnd(), 43.0);
    both(&mut window, at(1), [(1, LOW), (2, OVER)]);
    assert!((window.cwnd() - 87.5).abs() < 1e-9, "{}", window.cwnd());

    let mut window = dpcp(Acts::AtOnce);
    back(&mut window, at(0), 0, HIGH);
    let before = window.cwnd();
    both(&mut window, at(1), [(1, LOW), (2, OVER)]);
    both(&mut window, at(2), [(3, LOW), (4, OVER)]);
    assert!(
        (window.cwnd() / before - 0.875).abs() < 0.01,
        "{}",
        window.cwnd()
    );
}
