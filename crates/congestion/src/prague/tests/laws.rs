//! The draft's equations, one acknowledgement at a time.

use skywave_units::{Duration, Instant};
use skywave_wire::Ecn;

use super::{Prague, PragueConfig, SMSS};
use crate::{Ack, AckedPacket, Control, Loss, Mark, MarkedPackets};

const RTT: Duration = Duration::from_millis(50);

fn at(rounds: u64) -> Instant {
    Instant::ZERO + RTT * rounds
}

/// A window of 20 packets in congestion avoidance, with an alpha of a half.
fn avoiding(transition_rounds: u32) -> Prague {
    Prague::new(PragueConfig {
        initial_ssthresh: 2.0,
        initial_alpha: 0.5,
        transition_rounds,
        ..PragueConfig::new(SMSS, 20.0)
    })
}

/// Acknowledges `acked` packets of a full window, `marked` of them marked.
fn acknowledge(prague: &mut Prague, now: Instant, acked: u32, marked: u32, rtt: Duration) {
    if marked > 0 {
        prague.on_packets_marked(&MarkedPackets::new(now, marked, None));
    }
    for number in 0..u64::from(acked) {
        prague.on_packet_acked(&AckedPacket::new(number, now, 1, Ecn::Ect1));
    }
    let mut ack = Ack::new(now, acked, 20 - acked.min(20));
    ack.marked = marked;
    ack.rtt = Some(rtt);
    prague.on_ack(&ack);
}

/// cwnd += (acked_sacked - ece_delta) * ai_per_rtt / cwnd, then ssthresh = (1 - alpha/2) * cwnd.
#[test]
fn marks_decrease_by_half_of_alpha_and_unmarked_packets_increase() {
    let mut prague = avoiding(0);
    acknowledge(&mut prague, at(1), 4, 0, RTT);
    assert!((prague.window - 20.2).abs() < 1e-12);
    acknowledge(&mut prague, at(1), 4, 3, RTT);
    let grown = 20.2 + 1.0 / 20.2;
    assert!((prague.window - 0.75 * grown).abs() < 1e-12);
    assert_eq!(prague.ssthresh(), prague.window);
}

/// "it suppresses any further decreases for one round trip", but not the increase.
#[test]
fn the_window_grows_in_the_cwr_state_and_shrinks_once_per_round() {
    let mut prague = avoiding(0);
    acknowledge(&mut prague, at(1), 4, 4, RTT);
    let reduced = prague.window;
    acknowledge(&mut prague, at(1), 4, 2, RTT);
    assert!((prague.window - (reduced + 2.0 / reduced)).abs() < 1e-12);
    // The 16 packets in flight, and a round trip.
    let before = prague.window;
    acknowledge(&mut prague, at(2), 12, 12, RTT);
    assert!(prague.window < before);
}

/// Marks end slow start ("Flow Start or Restart"), which doubles the window until then.
#[test]
fn a_single_mark_ends_slow_start() {
    let mut prague = Prague::new(PragueConfig::new(SMSS, 10.0));
    acknowledge(&mut prague, at(1), 10, 0, RTT);
    assert_eq!(prague.cwnd(), 20.0);
    acknowledge(&mut prague, at(2), 5, 1, RTT);
    // alpha is 0 as in udp_prague, so that the window stays.
    assert_eq!((prague.cwnd(), prague.ssthresh()), (24.0, 24.0));
    acknowledge(&mut prague, at(2), 5, 0, RTT);
    assert!((prague.cwnd() - (24.0 + 5.0 / 24.0)).abs() < 1e-12);
}

/// "the increase in cwnd per packet has to be (1/M^2) * (1/cwnd)", with M = 25 ms / 5 ms, after D
/// rounds.
#[test]
fn short_round_trip_times_grow_as_if_they_were_25_ms() {
    let rtt = Duration::from_millis(5);
    for (transition_rounds, divisor) in [(0, 25.0), (500, 1.0)] {
        let mut prague = avoiding(transition_rounds);
        acknowledge(&mut prague, at(1), 4, 0, rtt);
        let growth = prague.window - 20.0;
        assert!((growth - 0.2 / divisor).abs() < 1e-12, "{growth}");
    }
}

/// "halves cwnd, even if it has already reduced cwnd in the same round trip due to ECN marking"
/// ("ECN with Loss"), and does not grow in the round after.
#[test]
fn a_loss_halves_the_window_in_the_cwr_state_too() {
    let mut prague = avoiding(0);
    acknowledge(&mut prague, at(1), 4, 4, RTT);
    let before = prague.window;
    prague.on_loss(&Loss::new(at(1), 16, 1));
    assert_eq!(prague.window, before / 2.0);
    acknowledge(&mut prague, at(1), 4, 1, RTT);
    prague.on_loss(&Loss::new(at(1), 16, 1));
    assert_eq!(prague.window, before / 2.0);
    acknowledge(&mut prague, at(2), 12, 0, RTT);
    assert!(prague.window > before / 2.0);
}

#[test]
fn a_spurious_loss_is_undone() {
    let mut prague = avoiding(0);
    prague.on_loss(&Loss::new(at(1), 20, 1));
    assert_eq!(prague.cwnd(), 10.0);
    prague.on_spurious_loss(at(1));
    assert_eq!((prague.cwnd(), prague.ssthresh()), (20.0, 2.0));
    prague.on_spurious_loss(at(1));
    assert_eq!(prague.cwnd(), 20.0);
}

/// "pacing_rate = MTU_BITS * max(cwnd, inflight) / srtt", twice that in slow start, in bursts of 250
/// us at most.
#[test]
fn pacing_spreads_the_window_over_a_round_trip() {
    let mut prague = avoiding(0);
    assert_eq!(prague.pacing(), None);
    acknowledge(&mut prague, at(1), 1, 0, RTT);
    let rate = |prague: &Prague| {
        let pacing = prague.pacing().unwrap();
        f64::from(pacing.quantum) / pacing.interval.as_secs_f64()
    };
    let expected = f64::from(SMSS) * prague.window / 0.05;
    assert!((rate(&prague) / expected - 1.0).abs() < 1e-3);
    assert_eq!(prague.pacing().unwrap().quantum, SMSS);
    // 250 us of 20 packets per 0.5 ms are 10 packets.
    for _ in 0..200 {
        acknowledge(&mut prague, at(1), 0, 0, Duration::from_micros(500));
    }
    assert_eq!(prague.pacing().unwrap().quantum, 10 * SMSS);
    let mut starting = Prague::new(PragueConfig::new(SMSS, 19.0));
    acknowledge(&mut starting, at(1), 1, 0, RTT);
    assert!((rate(&starting) / (2.0 * f64::from(SMSS) * 20.0 / 0.05) - 1.0).abs() < 1e-3);
}

/// "If the peer does not support accurate ECN feedback, the sender MUST fall back to a Reno-friendly
/// CC behaviour".
#[test]
fn it_halves_the_window_if_the_receiver_only_echoes_marks() {
    let mut prague = avoiding(0);
    prague.on_packets_marked(&MarkedPackets::new(at(1), 4, None));
    let mut ack = Ack::new(at(1), 4, 16);
    ack.ecn_echo = true;
    prague.on_ack(&ack);
    assert_eq!(prague.cwnd(), 20.0);
    prague.on_mark(&Mark::new(at(1), 16, 1));
    assert_eq!(prague.cwnd(), 10.0);
}

#[test]
fn a_timeout_restarts_slow_start_with_one_packet() {
    let mut prague = avoiding(0);
    prague.on_timeout(at(1), 20);
    assert_eq!((prague.cwnd(), prague.ssthresh()), (1.0, 10.0));
    acknowledge(&mut prague, at(2), 1, 0, RTT);
    assert_eq!(prague.cwnd(), 2.0);
}

/// A flow that uses less than half of its window does not increase it.
#[test]
fn a_window_that_is_not_used_does_not_grow() {
    for (in_flight, grows) in [(5, false), (15, true)] {
        let mut prague = avoiding(0);
        let mut ack = Ack::new(at(1), 1, in_flight);
        ack.application_limited = true;
        prague.on_ack(&ack);
        assert_eq!(prague.cwnd() > 20.0, grows, "{in_flight}");
    }
}

/// In a recovery, TCP reports packets and marks but makes no call of `on_ack`: both count.
#[test]
fn a_recovery_counts_packets_and_marks() {
    let mut prague = Prague::new(PragueConfig {
        initial_ssthresh: 2.0,
        ..PragueConfig::new(SMSS, 20.0)
    });
    acknowledge(&mut prague, at(1), 20, 0, RTT);
    prague.on_loss(&Loss::new(at(1), 20, 1));
    for number in 0..19 {
        prague.on_packet_acked(&AckedPacket::new(number, at(1), 1, Ecn::Ect1));
    }
    prague.on_packets_marked(&MarkedPackets::new(at(2), 10, None));
    let reduced = prague.cwnd();
    acknowledge(&mut prague, at(2), 1, 0, RTT);
    // 10 of 40 packets: the first 20 began the round.
    assert!(
        (prague.alpha.value() - 0.25 / 16.0).abs() < 1e-12,
        "{}",
        prague.alpha.value()
    );
    assert!(
        prague.loss.is_none() && prague.cwnd() >= reduced,
        "the round is over"
    );
}

/// Marks that only duplicate acknowledgements report are answered.
#[test]
fn marks_of_a_duplicate_acknowledgement_are_answered() {
    let mut prague = avoiding(0);
    prague.on_packets_marked(&MarkedPackets::new(at(1), 2, None));
    prague.on_mark(&Mark::new(at(1), 20, 2));
    assert_eq!(prague.window, 15.0);
    prague.on_mark(&Mark::new(at(1), 20, 2));
    assert_eq!(prague.window, 15.0, "once per round");
}

#[test]
fn a_fraction_of_a_packet_grows_no_faster_than_in_slow_start() {
    let mut prague = avoiding(0);
    prague.window = 0.01;
    acknowledge(&mut prague, at(1), 4, 0, RTT);
    assert_eq!(prague.window, 4.01);
}

#[test]
fn a_spurious_timeout_is_undone_and_marks_before_it_are_forgotten() {
    let mut prague = avoiding(0);
    prague.on_packets_marked(&MarkedPackets::new(at(1), 2, None));
    prague.on_timeout(at(1), 20);
    assert_eq!(prague.marked, 0);
    prague.on_spurious_loss(at(1));
    assert_eq!((prague.cwnd(), prague.ssthresh()), (20.0, 2.0));
}
