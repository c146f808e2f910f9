//! States, transitions and signals of the specification.

use skywave_units::{Duration, Instant};
use skywave_wire::Ecn;

use super::super::parameters::{LOW_PUSH_ALPHA, PUSH_ALPHA};
use super::{C4, C4Config, C4Rules, State, is, path};
use crate::testing::flow::Application;
use crate::testing::path::{Path, SMSS};
use crate::{Ack, AckedPacket, Control, LostPacket, MarkedPackets};

const RTT: Duration = Duration::from_millis(40);

/// A path with 10 Mbit/s, 40 ms and a buffer that drops nothing.
fn wide() -> Path<C4> {
    let mut path = path(C4Rules::Specification, 10.0, 40);
    path.link.buffer *= 10.0;
    path
}

/// Section 4.1.
#[test]
fn without_measurements_there_is_no_pacing_and_the_window_is_initial() {
    let c4 = C4::new(C4Config::new(SMSS, 10.0));
    assert_eq!((c4.cwnd(), c4.pacing()), (10.0, None));
}

/// Section 4.1: the formulas of pacing rate, window and quantum.
#[test]
fn nominal_values_set_pacing_and_window() {
    let mut path = wide();
    path.reach(is(State::Cruising));
    let c4 = &path.flow.control;
    let nominal_max = c4.delays.nominal_max.unwrap();
    let cwnd = c4.nominal_rate * nominal_max;
    assert!((c4.cwnd - cwnd).abs() < 1.0, "{} {cwnd}", c4.cwnd);
    let pacing = c4.pacing().unwrap();
    assert_eq!(pacing.quantum, (cwnd / 4.0) as u32);
    let rate = f64::from(pacing.quantum) / pacing.interval.as_secs_f64();
    assert!((rate / c4.nominal_rate - 1.0).abs() < 1e-3, "{rate}");
}

/// Section 4.2: three eras without an increase end the Initial state.
#[test]
fn initial_ends_at_the_rate_of_the_path() {
    let mut path = wide();
    path.reach(|c4| c4.eras_without_increase == 2);
    assert_eq!(path.flow.control.state, State::Initial);
    path.reach(is(State::Recovery));
    let rate = path.flow.control.nominal_rate;
    assert!((rate / path.link.rate - 1.0).abs() < 0.02, "{rate}");
    assert_eq!(path.flow.control.era.alpha, 15.0 / 16.0);
}

/// Section 4.2: eras that the application limits do not count.
#[test]
fn an_application_that_sends_little_stays_in_the_initial_state() {
    let mut path = wide();
    path.flow.application = Application::Rate(0.2 * path.link.rate);
    path.run_for(RTT * 50);
    assert_eq!(path.flow.control.state, State::Initial);
}

/// Section 4: Cruising lasts four eras, Pushing and Recovery one each.
#[test]
fn a_cycle_takes_six_eras() {
    let mut path = wide();
    path.run_for(RTT * 100);
    path.reach(is(State::Pushing));
    assert_eq!(path.flow.control.era.alpha, LOW_PUSH_ALPHA);
    path.reach(is(State::Recovery));
    let start = path.now;
    path.reach(is(State::Pushing));
    path.reach(is(State::Recovery));
    // With the push's queue, an era is up to a quarter longer than the round trip.
    let eras = (path.now - start).as_secs_f64() / RTT.as_secs_f64();
    assert!((6.0..8.0).contains(&eras), "{eras}");
}

/// Section 4.4, and section 7.1 of the design: a push waits for an application with enough to send.
#[test]
fn an_application_that_sends_little_is_not_pushed() {
    let mut path = wide();
    path.reach(is(State::Cruising));
    path.flow.application = Application::Rate(0.5 * path.link.rate);
    path.run_for(RTT * 3);
    let pushes = path.run_until(RTT * 50, is(State::Pushing));
    assert!(!pushes);
    path.flow.application = Application::Greedy;
    path.reach(is(State::Pushing));
}

/// Sections 4.3 and 4.5: a success is followed by a push of 5/4, and three by the Initial state.
#[test]
fn three_successful_pushes_lead_back_to_the_initial_state() {
    let mut path = wide();
    path.reach(is(State::Cruising));
    path.change_rate(4.0);
    for alpha in [LOW_PUSH_ALPHA, PUSH_ALPHA, PUSH_ALPHA] {
        path.reach(is(State::Pushing));
        assert_eq!(path.flow.control.era.alpha, alpha);
        path.reach(is(State::Recovery));
    }
    path.reach(|c4| c4.state != State::Recovery);
    assert_eq!(path.flow.control.state, State::Initial);
    path.reach(is(State::Cruising));
    let rate = path.flow.control.nominal_rate;
    assert!((rate / path.link.rate - 1.0).abs() < 0.02, "{rate}");
}

/// A control in Cruising with this nominal rate in bytes per second and round-trip times of 100 ms,
/// and the time of its last acknowledgement.
fn cruising(rate: f64) -> (C4, Instant) {
    let mut c4 = C4::new(C4Config::new(SMSS, 10.0));
    let now = Instant::from_nanos(10_000_000_000);
    c4.nominal_rate = rate;
    c4.delays.on_sample(0.1);
    c4.delays.start_era();
    c4.state = State::Cruising;
    c4.cruising_left = 4;
    c4.era.start = now;
    c4.era.alpha = 1.0;
    c4.era.alpha_previous = 1.0;
    (c4, now)
}

/// Reports an acknowledgement of a packet that left before the era, with this round-trip time.
fn acknowledge(c4: &mut C4, now: Instant, rtt_ms: u64) {
    let rtt = Duration::from_millis(rtt_ms);
    c4.on_packet_acked(&AckedPacket::new(1, now - rtt * 2, 1, Ecn::NotEct));
    let mut ack = Ack::new(now, 1, 10);
    ack.rtt = Some(rtt);
    c4.on_ack(&ack);
}

/// Sections 5.2 and 5.5: with a sensitivity of 1, the threshold is 6.25 ms, and beta the excess in
/// parts of it.
#[test]
fn delays_reduce_the_rate_in_proportion_to_their_excess() {
    for (rtt_ms, beta) in [(106, 0.0), (107, 0.12), (120, 0.25)] {
        let (mut c4, now) = cruising(1e7);
        acknowledge(&mut c4, now, rtt_ms);
        assert!((c4.nominal_rate / 1e7 - (1.0 - beta)).abs() < 1e-9);
        let state = if beta > 0.0 {
            State::Recovery
        } else {
            State::Cruising
        };
        assert_eq!(c4.state, state, "{rtt_ms} ms");
        assert_eq!(c4.delays.nominal_max, Some(0.1));
    }
}

/// Sections 5.3 and 5.5: a loss rate of 1/16 is above the threshold of a fast flow, 0.02, and below
/// that of a slow one, 0.52.
#[test]
fn losses_reduce_the_rate_of_a_sensitive_flow() {
    for (rate, kept) in [(1e7, 0.75), (4e4, 1.0)] {
        let (mut c4, now) = cruising(rate);
        c4.on_packet_lost(&LostPacket::new(now, 1, now - RTT, 1));
        acknowledge(&mut c4, now, 100);
        assert!((c4.nominal_rate / rate - kept).abs() < 1e-9, "{rate}");
    }
}

/// Section 5.3.1: a timeout is no signal. The flight it gives up must not be sent again at once.
#[test]
fn a_timeout_leaves_the_nominal_values() {
    let (mut c4, now) = cruising(1e7);
    acknowledge(&mut c4, now, 100);
    let cwnd = c4.cwnd();
    for number in 0..10 {
        c4.on_packet_lost(&LostPacket::new(now, number, now - RTT, 1));
    }
    c4.on_timeout(now, 10);
    assert_eq!((c4.nominal_rate, c4.cwnd()), (1e7, 1.0));
    acknowledge(&mut c4, now, 100);
    assert_eq!((c4.state, c4.cwnd()), (State::Cruising, cwnd));
}

/// Section 4.3: signals in Recovery change nothing, except that the rate must not rise.
#[test]
fn recovery_ignores_further_signals() {
    let (mut c4, now) = cruising(1e7);
    acknowledge(&mut c4, now, 150);
    let rate = c4.nominal_rate;
    c4.on_packet_lost(&LostPacket::new(now, 1, now - RTT, 1));
    acknowledge(&mut c4, now, 150);
    assert_eq!((c4.state, c4.nominal_rate), (State::Recovery, rate));
    assert!(c4.is_congested);
}

/// Section 4.5: congestion that the push itself causes reduces nothing.
#[test]
fn congestion_of_a_push_only_ends_it() {
    for (is_own, kept) in [(true, 1.0), (false, 0.75)] {
        let (mut c4, start) = cruising(1e7);
        c4.state = State::Pushing;
        let now = start + RTT * 3;
        let sent_at = if is_own { now - RTT } else { start - RTT };
        c4.on_packet_lost(&LostPacket::new(now, 1, sent_at, 1));
        acknowledge(&mut c4, now, 100);
        assert_eq!(c4.state, State::Recovery);
        assert!((c4.nominal_rate / 1e7 - kept).abs() < 1e-9, "{is_own}");
    }
}

/// Section 5.4 plans a response to marks: here they reduce the rate in proportion to their excess
/// over a threshold of 3/32 for a sensitive flow.
#[test]
fn marks_reduce_the_rate_in_proportion_to_their_excess() {
    let (mut c4, now) = cruising(1e7);
    c4.on_packets_marked(&MarkedPackets::new(now, 1, None));
    acknowledge(&mut c4, now, 100);
    assert_eq!(c4.nominal_rate, 1e7);
    c4.on_packets_marked(&MarkedPackets::new(now, 1, None));
    acknowledge(&mut c4, now, 100);
    let ce_rate = (1.0 + 15.0 / 16.0) / 16.0;
    let beta: f64 = (ce_rate - 3.0 / 32.0) / (3.0 / 32.0);
    let expected = 1e7 * (1.0 - beta.min(0.25));
    assert!((c4.nominal_rate / expected - 1.0).abs() < 1e-9);
}

/// Section 3.2: only eras whose packets left at no more than the nominal rate count. A longer
/// maximum counts at once, a shorter one by an eighth, and neither for more than 250 ms of jitter.
#[test]
fn eras_update_the_nominal_max_rtt() {
    for (alpha_previous, rtt_ms, expected) in [
        (1.0, 104, 0.104),
        (1.0, 60, 0.1 - 0.04 / 8.0),
        (15.0 / 16.0, 104, 0.104),
        (5.0 / 4.0, 104, 0.1),
    ] {
        let (mut c4, now) = cruising(1e7);
        c4.era.alpha_previous = alpha_previous;
        acknowledge(&mut c4, now, rtt_ms);
        c4.end_era(now);
        let nominal_max = c4.delays.nominal_max.unwrap();
        assert!((nominal_max - expected).abs() < 1e-9, "{nominal_max}");
    }
    let (mut c4, now) = cruising(1e7);
    c4.delays.on_sample(2.0);
    c4.delays.on_sample(0.1);
    c4.delays.end_era(0.25);
    assert_eq!(c4.delays.nominal_max, Some(0.35));
    // Section 4.3.1: 100 ms are less than two fifths of 350 ms, once.
    assert!(c4.delays.are_jittery());
    c4.end_era(now);
    assert_eq!(c4.state, State::Initial);
    c4.enter_recovery(now, false);
    c4.era.alpha_previous = 1.0;
    c4.end_era(now);
    assert_eq!(c4.state, State::Cruising);
}
