use proptest::prelude::*;
use skywave_wire::Ecn;

use super::*;
use crate::testing::loss;

fn ack(newly_acked: u32, ack_ratio: u32) -> Ack {
    Ack {
        ack_ratio,
        ..Ack::new(Instant::ZERO, newly_acked, 0)
    }
}

fn marked() -> AckedPacket {
    AckedPacket {
        number: 0,
        sent_at: Instant::ZERO,
        transmissions: 1,
        ecn: Ecn::Ce,
    }
}

fn with(config: AimdConfig, cwnd: f64, ssthresh: f64) -> Aimd {
    Aimd::new(AimdConfig {
        initial_cwnd: cwnd,
        initial_ssthresh: ssthresh,
        ..config
    })
}

#[test]
fn initial_window_is_that_of_rfc_3390() {
    for (size, packets) in [(0, 4.0), (500, 4.0), (1095, 4.0), (1096, 3.0), (1464, 3.0)] {
        assert_eq!(rfc3390_window(size), packets, "{size}");
    }
    assert_eq!((rfc3390_window(2190), rfc3390_window(2191)), (3.0, 2.0));
    assert_eq!(rfc3390_window(u32::MAX), 2.0);
}

#[test]
fn rfc5681_counts_what_is_acknowledged_and_halves_the_flight() {
    let mut window = with(AimdConfig::rfc5681(1000), 4.0, 5.0);
    // Slow start: min (N, SMSS).
    window.on_ack(&ack(3, 1));
    assert_eq!(window.cwnd(), 5.0);
    // Congestion avoidance: a packet when a window has been acknowledged.
    window.on_ack(&ack(2, 1));
    window.on_ack(&ack(2, 1));
    assert_eq!(window.cwnd(), 5.0);
    window.on_ack(&ack(1, 1));
    assert_eq!(window.cwnd(), 6.0);
    // No more than one, whatever an acknowledgement covers.
    window.on_ack(&ack(30, 1));
    assert_eq!(window.cwnd(), 7.0);
    window.on_loss(&loss(Instant::ZERO, 5));
    assert_eq!((window.cwnd(), window.ssthresh()), (2.5, 2.5));
    window.on_loss(&loss(Instant::ZERO, 3));
    assert_eq!((window.cwnd(), window.ssthresh()), (2.0, 2.0));
}

#[test]
fn rfc3168_6_1_2_marks_take_the_window_to_one_packet_and_losses_to_two() {
    let mark = |in_flight| Mark {
        now: Instant::ZERO,
        in_flight,
        marked: 1,
    };
    let mut window = with(AimdConfig::rfc5681(1000), 3.0, 3.0);
    window.on_mark(&mark(3));
    assert_eq!((window.cwnd(), window.ssthresh()), (1.5, 2.0));
    window.on_mark(&mark(2));
    assert_eq!((window.cwnd(), window.ssthresh()), (1.0, 2.0));
    window.on_loss(&loss(Instant::ZERO, 1));
    assert_eq!((window.cwnd(), window.ssthresh()), (2.0, 2.0));
}

#[test]
fn rfc5681_holds_ssthresh_through_repeated_timeouts() {
    let mut window = with(AimdConfig::rfc5681(1000), 20.0, 10.0);
    window.on_timeout(Instant::ZERO, 20);
    window.on_timeout(Instant::ZERO, 1);
    assert_eq!((window.cwnd(), window.ssthresh()), (1.0, 10.0));
    window.on_ack(&ack(1, 1));
    window.on_timeout(Instant::ZERO, 2);
    assert_eq!((window.cwnd(), window.ssthresh()), (1.0, 2.0));
}

#[test]
fn linux_halves_cwnd_in_whole_packets() {
    let config = AimdConfig {
        decrease: DecreaseLaw::Linux,
        ..AimdConfig::rfc5681(1000)
    };
    let mut window = with(config, 85.0, 10.0);
    // A flight of 20 does not matter.
    window.on_loss(&loss(Instant::ZERO, 20));
    assert_eq!((window.cwnd(), window.ssthresh()), (42.0, 42.0));
    window.on_timeout(Instant::ZERO, 20);
    window.on_timeout(Instant::ZERO, 20);
    assert_eq!((window.cwnd(), window.ssthresh()), (1.0, 21.0));
    window.on_loss(&loss(Instant::ZERO, 1));
    assert_eq!((window.cwnd(), window.ssthresh()), (2.0, 2.0));
}

#[test]
fn ns2_tcp_halves_whole_windows() {
    let mut window = with(AimdConfig::ns2_tcp(20), 21.0, 20.0);
    window.on_loss(&loss(Instant::ZERO, 15));
    assert_eq!((window.cwnd(), window.ssthresh()), (7.5, 7.0));
    let mut window = with(AimdConfig::ns2_tcp(20), 10.5, 7.0);
    window.on_loss(&loss(Instant::ZERO, 20));
    assert_eq!((window.cwnd(), window.ssthresh()), (5.25, 5.0));
    // The receiver's window is the smaller one, by less than a packet.
    let mut window = with(AimdConfig::ns2_tcp(10), 10.5, 7.0);
    window.on_loss(&loss(Instant::ZERO, 10));
    assert_eq!((window.cwnd(), window.ssthresh()), (5.0, 5.0));
    window.on_timeout(Instant::ZERO, 7);
    window.on_timeout(Instant::ZERO, 1);
    assert_eq!((window.cwnd(), window.ssthresh()), (1.0, 2.0));
}

// C2-5: cwnd grows by one packet per two newly acknowledged, unmarked packets, and by at most Ack
// Ratio / 2 per acknowledgement.
#[test]
fn rfc4341_slow_start_counts_pairs_of_unmarked_packets() {
    let mut window = with(AimdConfig::rfc4341(1000), 4.0, f64::INFINITY);
    window.on_ack(&ack(2, 2));
    assert_eq!(window.cwnd(), 5.0);
    window.on_ack(&ack(7, 2));
    assert_eq!(window.cwnd(), 6.0);
    window.on_ack(&ack(7, 6));
    assert_eq!(window.cwnd(), 9.0);
    window.on_ack(&ack(1, 1));
    assert_eq!(window.cwnd(), 9.0);
    window.on_ack(&ack(1, 1));
    assert_eq!(window.cwnd(), 10.0);
    window.on_packet_acked(&marked());
    window.on_packet_acked(&marked());
    window.on_ack(&ack(2, 2));
    assert_eq!(window.cwnd(), 10.0);
}

// C2-5: cwnd grows by one packet per window of data without loss.
#[test]
fn rfc4341_congestion_avoidance_counts_windows() {
    let mut window = with(AimdConfig::rfc4341(1000), 4.0, 4.0);
    window.on_ack(&ack(3, 2));
    assert_eq!(window.cwnd(), 4.0);
    window.on_ack(&ack(1, 2));
    assert_eq!(window.cwnd(), 5.0);
    window.on_ack(&ack(4, 2));
    window.on_loss(&loss(Instant::ZERO, 0));
    window.on_ack(&ack(1, 2));
    assert_eq!(window.cwnd(), 2.0, "a loss begins a new window");
}

// C2-6: rounded down, cwnd at least 1, ssthresh at least 2.
#[test]
fn rfc4341_halves_and_rounds_down() {
    let config = AimdConfig::rfc4341(1000);
    for (before, cwnd, ssthresh) in [(11.0, 5.0, 5.0), (3.0, 1.0, 2.0), (1.0, 1.0, 2.0)] {
        let mut window = with(config, before, f64::INFINITY);
        window.on_loss(&loss(Instant::ZERO, 0));
        assert_eq!((window.cwnd(), window.ssthresh()), (cwnd, ssthresh));
    }
    let mut window = with(config, 11.0, f64::INFINITY);
    window.on_timeout(Instant::ZERO, 0);
    assert_eq!((window.cwnd(), window.ssthresh()), (1.0, 5.0));
    window.on_timeout(Instant::ZERO, 0);
    assert_eq!((window.cwnd(), window.ssthresh()), (1.0, 2.0));
}

#[test]
fn ns2_tcplike_carries_the_overflow_into_congestion_avoidance() {
    let mut window = with(AimdConfig::ns2_tcplike(), 9.0, 10.0);
    window.on_ack(&ack(9, 2));
    // One packet reaches ssthresh; the rest of the step and the seven beyond it still count.
    assert_eq!(window.cwnd(), 10.0);
    window.on_ack(&ack(2, 2));
    assert_eq!(window.cwnd(), 11.0);
    let mut window = with(AimdConfig::ns2_tcplike(), 1.0, 10.0);
    window.on_loss(&loss(Instant::ZERO, 0));
    assert_eq!((window.cwnd(), window.ssthresh()), (1.0, 1.0));
}

// C2-8
#[test]
fn an_application_limited_window_does_not_grow() {
    let limited = Ack {
        application_limited: true,
        ..ack(2, 2)
    };
    for config in [AimdConfig::rfc4341(1000), AimdConfig::rfc5681(1000)] {
        let mut window = with(config, 4.0, 100.0);
        window.on_ack(&limited);
        assert_eq!(window.cwnd(), 4.0);
    }
    let mut window = with(AimdConfig::ns2_tcplike(), 4.0, 100.0);
    window.on_ack(&limited);
    assert_eq!(window.cwnd(), 6.0);
}

// C2-8
#[test]
fn a_restart_never_raises_the_window() {
    let mut window = with(AimdConfig::rfc4341(1000), 4.0, f64::INFINITY);
    window.on_ack(&ack(2, 2));
    window.on_restart(Instant::ZERO);
    assert_eq!((window.cwnd(), window.ssthresh()), (4.0, f64::INFINITY));
    window.on_timeout(Instant::ZERO, 0);
    window.on_restart(Instant::ZERO);
    assert_eq!(window.cwnd(), 1.0);
}

// C2-9, D11.7-2
#[test]
fn an_overloaded_receiver_ends_slow_start() {
    let mut window = with(AimdConfig::rfc4341(1000), 8.0, f64::INFINITY);
    window.on_receiver_overload(Instant::ZERO, 3);
    assert_eq!((window.cwnd(), window.ssthresh()), (5.0, 5.0));
    window.on_receiver_overload(Instant::ZERO, 30);
    assert_eq!(window.cwnd(), 1.0);
}

/// An event that a window responds to.
#[derive(Clone, Debug)]
enum Step {
    Acked {
        newly: u32,
        ratio: u32,
        marked: u32,
        limited: bool,
    },
    Congestion(u32),
    Timeout(u32),
    Restart,
    Overload(u32),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (0..40u32, 0..9u32, 0..3u32, any::<bool>()).prop_map(
            |(newly, ratio, marked, limited)| Step::Acked { newly, ratio, marked, limited }
        ),
        2 => (0..200u32).prop_map(Step::Congestion),
        1 => (0..200u32).prop_map(Step::Timeout),
        1 => Just(Step::Restart),
        1 => (0..20u32).prop_map(Step::Overload),
    ]
}

fn config() -> impl Strategy<Value = AimdConfig> {
    let growth = prop_oneof![
        Just(GrowthLaw::PerAck),
        (0..4u32).prop_map(|limit| GrowthLaw::PerPacket { limit }),
        Just(GrowthLaw::Rfc4341),
        Just(GrowthLaw::Ns2TcpLike),
    ];
    let decrease = prop_oneof![
        Just(DecreaseLaw::Rfc5681),
        Just(DecreaseLaw::Ns2Tcp),
        Just(DecreaseLaw::Rfc4341),
        Just(DecreaseLaw::Ns2TcpLike),
        Just(DecreaseLaw::Linux),
    ];
    let odd = prop_oneof![Just(f64::NAN), Just(f64::INFINITY), Just(-1.0), 0.0..100.0];
    (
        growth,
        decrease,
        [odd.clone(), odd.clone(), odd.clone(), odd.clone(), odd],
        any::<bool>(),
    )
        .prop_map(
            |(growth, decrease, [cwnd, ssthresh, after, increase, factor], grows)| AimdConfig {
                initial_cwnd: cwnd,
                initial_ssthresh: ssthresh,
                growth,
                decrease,
                increase,
                decrease_factor: factor,
                cwnd_after_timeout: after,
                grows_when_application_limited: grows,
                hystart: false,
            },
        )
}

// RFC 5681 section 3.1: ssthresh is at most half of FlightSize. If fast recovery ends in a timeout,
// FlightSize far exceeds cwnd, because duplicates have released packets; ssthresh is half of cwnd.
#[test]
fn a_timeout_in_a_swollen_flight_halves_what_the_path_has_borne() {
    let mut window = Aimd::new(AimdConfig {
        initial_cwnd: 66.0,
        ..AimdConfig::rfc5681(1460)
    });
    window.on_timeout(Instant::ZERO, 791);
    assert_eq!((window.ssthresh(), window.cwnd()), (33.0, 1.0));
    let mut window = Aimd::new(AimdConfig {
        initial_cwnd: 66.0,
        ..AimdConfig::rfc5681(1460)
    });
    window.on_timeout(Instant::ZERO, 20);
    assert_eq!(window.ssthresh(), 10.0);
}

proptest! {
    #[test]
    fn a_window_stays_finite_and_above_its_floors(
        config in config(),
        steps in proptest::collection::vec(step(), 0..200),
    ) {
        let mut window = Aimd::new(config);
        for step in steps {
            let before = window.cwnd();
            match step {
                Step::Acked { newly, ratio, marked: marks, limited } => {
                    for _ in 0..marks {
                        window.on_packet_acked(&marked());
                    }
                    window.on_ack(&Ack { application_limited: limited, ..ack(newly, ratio) });
                    prop_assert!(window.cwnd() >= before.min(window.ssthresh()));
                    let most = f64::from(newly).max(1.0) * window.increase.max(1.0);
                    prop_assert!(window.cwnd() <= before + most);
                }
                Step::Congestion(flight) => {
                    window.on_loss(&loss(Instant::ZERO, flight));
                    prop_assert!(window.cwnd() <= before.max(2.0));
                }
                Step::Timeout(flight) => window.on_timeout(Instant::ZERO, flight),
                Step::Restart => {
                    window.on_restart(Instant::ZERO);
                    prop_assert!(window.cwnd() <= before);
                }
                Step::Overload(dropped) => {
                    window.on_receiver_overload(Instant::ZERO, dropped);
                    prop_assert!(window.cwnd() <= before);
                    prop_assert!(window.cwnd() >= window.ssthresh() || window.cwnd() < 2.0);
                }
            }
            prop_assert!(window.cwnd() >= 1.0 && window.cwnd().is_finite());
            prop_assert!(window.ssthresh() >= config.decrease.min_ssthresh());
        }
    }

    // Laws that count packets keep cwnd whole.
    #[test]
    fn ccid2_windows_are_whole(
        ns2 in any::<bool>(),
        steps in proptest::collection::vec(step(), 0..200),
    ) {
        let config = if ns2 { AimdConfig::ns2_tcplike() } else { AimdConfig::rfc4341(1000) };
        let mut window = Aimd::new(config);
        for step in steps {
            match step {
                Step::Acked { newly, ratio, .. } => window.on_ack(&ack(newly, ratio)),
                Step::Congestion(flight) => window.on_loss(&loss(Instant::ZERO, flight)),
                Step::Timeout(flight) => window.on_timeout(Instant::ZERO, flight),
                Step::Restart => window.on_restart(Instant::ZERO),
                Step::Overload(dropped) => window.on_receiver_overload(Instant::ZERO, dropped),
            }
            prop_assert_eq!(window.cwnd().fract(), 0.0);
        }
    }
}

/// With ns-2's TCP-like growth, an acknowledgement counts towards slow start until cwnd reaches
/// ssthresh, and its remainder towards congestion avoidance.
#[test]
fn ns2_tcplike_crosses_ssthresh_within_an_acknowledgement() {
    let mut window = with(AimdConfig::ns2_tcplike(), 10.0, 12.0);
    window.on_ack(&ack(5, 5));
    assert_eq!(window.cwnd(), 12.0);
    // Three of the five count towards the next packet, and nine are missing.
    window.on_ack(&ack(8, 8));
    assert_eq!(window.cwnd(), 12.0);
    window.on_ack(&ack(1, 1));
    assert_eq!(window.cwnd(), 13.0);
}
