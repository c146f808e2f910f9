use proptest::prelude::*;

use super::*;

mod quick_start;

const MS: Duration = Duration::from_millis(1);
const SIZE: u32 = 1_000;
/// initial_rate for 1000-byte packets and a round-trip time of 100 ms: 4 * 1000 / 0.1.
const INITIAL: f64 = 40_000.0;

/// A sender on a path with a round-trip time of 100 ms, with invented reports.
struct Bench {
    sender: Sender,
    now: Instant,
}

impl Bench {
    fn new(config: Config) -> Self {
        Self {
            sender: Sender::new(config),
            now: Instant::ZERO + MS * 5_000,
        }
    }

    /// Creates a sender in slow start, after its first packet and first report.
    fn started(config: Config) -> Self {
        let mut bench = Self::new(config);
        bench.send();
        bench.after(100);
        bench.report(0.0, 0.0);
        bench
    }

    fn after(&mut self, millis: u64) {
        self.now += MS * millis;
    }

    /// Sends all packets that may leave. Returns their number.
    fn send(&mut self) -> u32 {
        let mut count = 0;
        while self.sender.earliest_departure(self.now) <= self.now {
            self.sender.on_sent(self.now, SIZE);
            count += 1;
        }
        count
    }

    fn send_one(&mut self) {
        self.sender.on_sent(self.now, SIZE);
    }

    /// Delivers a report on a packet that left `age` ms ago.
    fn report_on(&mut self, age: u64, receive_rate: f64, p: f64) {
        let feedback = Feedback {
            sent_at: self.now - MS * age,
            delay: Duration::ZERO,
            receive_rate,
            loss_event_rate: p,
            loss_event: false,
            receiver_limited: false,
        };
        self.sender.on_feedback(self.now, &feedback);
    }

    fn report(&mut self, receive_rate: f64, p: f64) {
        self.report_on(100, receive_rate, p);
    }

    /// Sends at the permitted rate for a round-trip time, then receives a report on the newest
    /// packet of the previous one.
    fn round(&mut self, receive_rate: f64, p: f64) {
        for _ in 0..100 {
            self.after(1);
            self.send();
        }
        self.report(receive_rate, p);
    }

    fn x(&self) -> f64 {
        self.sender.x()
    }

    fn timeout(&mut self) {
        self.now = self.sender.deadline().expect("a nofeedback timer");
        self.sender.expire(self.now);
    }
}

fn assert_close(value: f64, wanted: f64) {
    assert!((value / wanted - 1.0).abs() < 1e-9, "{value}, not {wanted}");
}

/// T-4: one packet per second until a round-trip time is known, then W_init per round-trip time.
/// The nofeedback timer starts with 2 s.
#[test]
fn t_4_start() {
    let mut bench = Bench::new(Config::rfc5348());
    assert_eq!(bench.send(), 1);
    assert_eq!(bench.x(), 1_000.0);
    assert_eq!(
        bench.sender.earliest_departure(bench.now),
        bench.now + MS * 1_000
    );
    assert_eq!(bench.sender.deadline(), Some(bench.now + MS * 2_000));
    bench.after(100);
    bench.report(0.0, 0.0);
    assert_close(bench.x(), INITIAL);
    // max(4 R, 2 s / X) = max(400 ms, 50 ms).
    assert_eq!(bench.sender.deadline(), Some(bench.now + MS * 400));

    for (size, window) in [
        (80, 320.0),
        (1_000, 4_000.0),
        (1_460, 4_380.0),
        (3_000, 6_000.0),
    ] {
        let mut sender = Sender::new(Config::rfc5348());
        sender.on_handshake_rtt(MS * 100);
        sender.on_sent(Instant::ZERO, size);
        assert_close(sender.x(), window / 0.1);
    }
}

/// T-4: with a round-trip time from the handshake, RFC 5348's sender starts at W_init per
/// round-trip time. RFC 3448's ignores it, and sends one packet per round-trip time after the first
/// report.
#[test]
fn t_4_handshake_and_rfc_3448() {
    let mut bench = Bench::new(Config::rfc5348());
    bench.sender.on_handshake_rtt(MS * 100);
    bench.send();
    assert_close(bench.x(), INITIAL);
    let mut bench = Bench::new(Config::rfc3448());
    bench.sender.on_handshake_rtt(MS * 100);
    bench.send();
    assert_eq!(bench.x(), 1_000.0);
    bench.after(100);
    bench.report(0.0, 0.0);
    assert_close(bench.x(), 10_000.0);
}

/// T-6: without loss, X doubles once per round-trip time, up to twice X_recv.
#[test]
fn t_6_slow_start_doubles() {
    let mut bench = Bench::started(Config::rfc5348());
    let mut rate = INITIAL;
    for _ in 0..6 {
        bench.round(rate, 0.0);
        rate *= 2.0;
        assert_close(bench.x(), rate);
        // Another report in the same round-trip time changes nothing.
        bench.after(10);
        bench.report(rate, 0.0);
        assert_close(bench.x(), rate);
        bench.now = bench.now - MS * 10;
    }
    for _ in 0..3 {
        bench.round(300_000.0, 0.0);
    }
    // Rates of earlier rounds are older than two round-trip times.
    assert_close(bench.x(), 600_000.0);
}

/// T-5, T-6: after a loss event, X is limited by the equation and by twice X_recv.
#[test]
fn t_6_loss_event() {
    let mut bench = Bench::started(Config::rfc5348());
    for rate in [40_000.0, 80_000.0, 160_000.0] {
        bench.round(rate, 0.0);
    }
    bench.round(160_000.0, 0.01);
    // 1000 / (0.1 * 0.0890216): the equation's own test has f(0.01).
    assert!((bench.x() - 112_332.0).abs() < 1.0, "{}", bench.x());
    for _ in 0..3 {
        bench.round(20_000.0, 0.01);
    }
    assert_close(bench.x(), 40_000.0);
    bench.round(200_000.0, 1.0);
    assert_close(bench.x(), equation::throughput(1_000.0, 0.1, 1.0));
    assert_eq!(bench.sender.stats().loss_events, 2);
}

/// T-5: q = 0.9, and the receiver's delay is not part of the round-trip time.
#[test]
fn t_5_round_trip_time() {
    let mut bench = Bench::new(Config::rfc5348());
    bench.sender.on_handshake_rtt(MS * 90);
    bench.send();
    bench.after(250);
    let mut feedback = Feedback {
        sent_at: bench.now - MS * 250,
        delay: MS * 150,
        receive_rate: 0.0,
        loss_event_rate: 0.0,
        loss_event: false,
        receiver_limited: false,
    };
    bench.sender.on_feedback(bench.now, &feedback);
    assert_eq!(bench.sender.rtt(), Some(MS * 100));
    feedback.delay = MS * 50;
    bench.sender.on_feedback(bench.now, &feedback);
    assert_eq!(bench.sender.rtt(), Some(MS * 110), "0.9 * 100 + 0.1 * 200");
    feedback.delay = Duration::MAX;
    bench.sender.on_feedback(bench.now, &feedback);
    let micros = bench.sender.rtt().unwrap().as_micros();
    assert_eq!(micros, 103_500, "0.9 * 110 + 0.1 * 90 / 2");
}

/// A receiver that exaggerates its delay does not choose its rate: R does not fall below half the
/// handshake's round-trip time, or without one half the shortest time to an acknowledgement.
#[test]
fn a_false_delay_does_not_shorten_the_round_trip_time() {
    for handshake in [Some(MS * 100), None] {
        let mut bench = Bench::new(Config::rfc5348());
        if let Some(rtt) = handshake {
            bench.sender.on_handshake_rtt(rtt);
        }
        bench.send();
        for round in 0..100 {
            bench.after(100);
            let feedback = Feedback {
                sent_at: bench.now - MS * 100,
                delay: MS * 100 - Duration::from_micros(10 * (round % 4)),
                receive_rate: 1e9,
                loss_event_rate: 0.01,
                loss_event: false,
                receiver_limited: false,
            };
            bench.sender.on_feedback(bench.now, &feedback);
            bench.send_one();
            let rtt = bench.sender.rtt().unwrap();
            assert!(rtt >= MS * 49, "{rtt}");
        }
        let x = bench.x();
        assert!(x <= equation::throughput(SIZE.into(), 0.049, 0.01), "{x}");
    }
}

/// A report that comes a day late does not delay the nofeedback timer by days.
#[test]
fn a_late_answer_keeps_the_timer_within_sight() {
    let day = Duration::from_secs(24 * 3600);
    let mut bench = Bench::new(Config::rfc5348());
    bench.send();
    bench.now += day;
    bench.report_on(day.as_nanos() / MS.as_nanos(), 0.0, 0.0);
    let ahead = bench.sender.deadline().expect("a nofeedback timer") - bench.now;
    assert!(ahead <= Duration::from_secs(4 * 240), "{ahead}");
}

/// T-5: reports on a data-limited interval do not lower the limit; a loss event in it halves the
/// remembered rates.
#[test]
fn t_5_data_limited() {
    let slow_rounds = |config: Config, p: [f64; 3]| {
        let mut bench = Bench::started(config);
        for rate in [40_000.0, 80_000.0, 160_000.0] {
            bench.round(rate, 0.000_1);
        }
        for p in p {
            // Far fewer packets than X permits.
            for _ in 0..2 {
                bench.after(50);
                bench.send_one();
            }
            bench.report_on(100, 20_000.0, p);
        }
        bench.x()
    };
    let quiet = [0.000_1; 3];
    assert_close(slow_rounds(Config::rfc5348(), quiet), 320_000.0);
    assert_close(slow_rounds(Config::rfc3448(), quiet), 40_000.0);
    // A loss event in the last of them: half of 160000, which is more than 0.85 * 20000.
    let loss = [0.000_1, 0.000_1, 0.000_2];
    assert_close(slow_rounds(Config::rfc5348(), loss), 80_000.0);
}

/// RFC 5348 section 4.3: a loss event in a data-limited interval leaves 85 % of X_recv, if that is
/// more than half the rate reported before. It replaces the limit of twice X_recv.
#[test]
fn t_5_a_loss_event_in_a_data_limited_interval_leaves_most_of_the_receive_rate() {
    let mut bench = Bench::started(Config::rfc5348());
    for rate in [40_000.0, 80_000.0, 160_000.0] {
        bench.round(rate, 0.000_1);
    }
    for p in [0.000_1, 0.000_2] {
        for _ in 0..2 {
            bench.after(50);
            bench.send_one();
        }
        bench.report_on(100, 100_000.0, p);
    }
    assert_close(bench.x(), 85_000.0);
}

/// T-7: without a round-trip time, each timeout halves X, down to one packet per 64 s.
#[test]
fn t_7_no_feedback_at_all() {
    let mut bench = Bench::new(Config::rfc5348());
    let mut rates = Vec::new();
    for _ in 0..9 {
        bench.send_one();
        bench.timeout();
        rates.push(bench.x());
    }
    let halves = [
        500.0, 250.0, 125.0, 62.5, 31.25, 15.625, 15.625, 15.625, 15.625,
    ];
    assert_eq!(rates, halves);
    assert_eq!(bench.sender.deadline(), Some(bench.now + MS * 128_000));
}

/// T-7: a receiver that completes the handshake and then reports nothing gets the first flight, and
/// no more until the timer expires. After that, step 2 of section 4.4 sets the timer to max(4 R, 2 s
/// / X), so that little more follows, however short the path.
#[test]
fn t_7_no_report_after_the_handshake() {
    for rtt in [Duration::from_micros(240), MS, MS * 50, MS * 400] {
        for small_packets in [None, Some(super::super::SmallPackets::rfc4828())] {
            let mut bench = Bench::new(Config {
                small_packets,
                ..Config::rfc5348()
            });
            bench.sender.on_handshake_rtt(rtt);
            let start = bench.now;
            let mut sent = Vec::new();
            while bench.now < start + MS * 300_000 {
                let next = bench.sender.earliest_departure(bench.now);
                let expiry = bench.sender.deadline().unwrap_or(Instant::MAX);
                bench.now = bench.now.max(next.min(expiry));
                if expiry <= bench.now {
                    bench.sender.expire(bench.now);
                } else {
                    bench.send_one();
                    sent.push(bench.now - start);
                }
            }
            let within = |time: Duration| sent.iter().filter(|&&at| at < time).count();
            assert_eq!(within(MS * 2_000), 16, "{rtt}");
            assert!(within(MS * 12_000) <= 60, "{rtt}: {sent:?}");
            assert!(sent.len() <= 72, "{rtt}: {}", sent.len());
            // The rate has fallen to one packet per 64 s.
            assert_close(bench.x(), f64::from(SIZE) / 64.0);
        }
    }
}

/// The bound of the first flight ends with the first report, however late that arrives within 2 s,
/// and does not affect a path longer than half a second.
#[test]
fn the_first_report_ends_the_first_flight() {
    let mut bench = Bench::new(Config::rfc5348());
    bench.sender.on_handshake_rtt(MS * 100);
    let start = bench.now;
    let mut sent = 0;
    while bench.now < start + MS * 1_500 {
        sent += bench.send();
        bench.after(1);
    }
    assert_eq!(sent, 16);
    bench.report_on(1_500, 40_000.0, 0.0);
    assert!(bench.send() > 0);

    let mut bench = Bench::new(Config::rfc5348());
    bench.sender.on_handshake_rtt(MS * 600);
    let mut sent = 0;
    while bench.now < start + MS * 2_000 {
        sent += bench.send();
        bench.after(1);
    }
    assert_eq!(sent, 14, "2 s at four packets per 600 ms");
}

/// T-7: the cases of section 4.4 with a round-trip time.
#[test]
fn t_7_timeouts() {
    // Slow start, not idle: halved.
    let mut bench = Bench::started(Config::rfc5348());
    bench.round(40_000.0, 0.0);
    bench.send_one();
    bench.timeout();
    assert_close(bench.x(), 40_000.0);

    // p > 0, limited by X_recv (50000, X_Bps 112332): X is halved to X_recv, then halved again.
    let limited = |receive_rate: f64| {
        let mut bench = Bench::started(Config::rfc5348());
        for _ in 0..4 {
            bench.round(receive_rate, 0.01);
        }
        bench.send_one();
        bench
    };
    let mut bench = limited(50_000.0);
    assert_close(bench.x(), 100_000.0);
    bench.timeout();
    assert_close(bench.x(), 50_000.0);
    bench.send_one();
    bench.timeout();
    assert_close(bench.x(), 25_000.0);

    // p > 0, limited by the equation: halved.
    let mut bench = limited(90_000.0);
    let equation = bench.x();
    assert!(equation < 180_000.0);
    bench.timeout();
    assert_close(bench.x(), equation / 2.0);
    // When reports return, each may double the rate.
    bench.round(equation / 2.0, 0.01);
    assert_close(bench.x(), equation);
}

/// T-7, C3-2: an idle period does not reduce X below the initial rate, and eventually stops the
/// timer.
#[test]
fn t_7_c3_2_idle() {
    for p in [0.0, 0.000_1] {
        let mut bench = Bench::started(Config::rfc5348());
        for rate in [40_000.0, 80_000.0, 160_000.0, 320_000.0] {
            bench.round(rate, p);
        }
        assert_close(bench.x(), 640_000.0);
        let mut timeouts = 0;
        while bench.sender.deadline().is_some() {
            bench.timeout();
            timeouts += 1;
            assert!(timeouts < 20, "an idle sender's timer never stops");
        }
        assert!(bench.x() >= INITIAL, "{}", bench.x());
        assert!(bench.x() < 2.0 * INITIAL, "{}", bench.x());
        bench.after(10_000);
        bench.send();
        assert!(
            bench.sender.deadline().is_some(),
            "data starts the timer again"
        );
    }
}

/// T-7 under RFC 3448: each timeout halves X_recv. An idle period leaves four packets per
/// round-trip time.
#[test]
fn t_7_rfc_3448() {
    let mut bench = Bench::started(Config::rfc3448());
    for rate in [10_000.0, 20_000.0, 40_000.0, 80_000.0] {
        bench.round(rate, 0.000_1);
    }
    bench.send_one();
    assert_close(bench.x(), 160_000.0);
    bench.timeout();
    assert_close(bench.x(), 80_000.0);
    while bench.sender.deadline().is_some() {
        bench.timeout();
    }
    // X_recv is halved from 40000 to 20000, which is below 4 packets per round-trip time: X =
    // 40000.
    assert_close(bench.x(), 40_000.0);
}

/// T-8: while sqrt(R) is above its mean, packets leave more slowly; without section 4.5 they do
/// not.
#[test]
fn t_8_oscillation_prevention() {
    let mut bench = Bench::started(Config::rfc5348());
    bench.round(40_000.0, 0.0);
    assert_close(bench.sender.x_inst(), bench.x());
    bench.after(300);
    bench.report_on(400, 40_000.0, 0.0);
    // The mean of the roots, 0.9 sqrt(0.1) + 0.1 sqrt(0.4), divided by sqrt(0.4): 0.45 + 0.1.
    assert_close(bench.sender.x_inst(), 0.55 * bench.x());
    let mut bench = Bench::started(Config::rfc5348().without_oscillation_prevention());
    bench.report_on(400, 40_000.0, 0.0);
    assert_close(bench.sender.x_inst(), bench.x());
    assert_eq!(
        bench.sender.rtt(),
        Some(MS * 370),
        "a low weight of the past"
    );
}

/// T-8: smoothing per round-trip time: ten reports within one round-trip time weigh as much as one,
/// and so does a report after several.
#[test]
fn smoothing_per_round_trip_time() {
    let rtt_after = |smoothing, step: u64, reports| {
        let mut bench = Bench::started(Config {
            smoothing,
            ..Config::rfc5348()
        });
        for _ in 0..reports {
            bench.after(step);
            // R starts at 100 ms; samples are 200 ms.
            bench.report_on(200, 40_000.0, 0.0);
        }
        bench.sender.rtt().unwrap().as_secs_f64()
    };
    assert_close(rtt_after(Smoothing::PerReport, 10, 1), 0.11);
    assert_close(rtt_after(Smoothing::PerRoundTrip, 100, 1), 0.11);
    assert_close(rtt_after(Smoothing::PerRoundTrip, 5_000, 1), 0.11);
    let ten = rtt_after(Smoothing::PerRoundTrip, 10, 10);
    assert!((0.109..0.111).contains(&ten), "{ten}");
    let literal = rtt_after(Smoothing::PerReport, 10, 10);
    assert!(literal > 0.16, "{literal}");
}

/// C4-1, C4-2: X is the equation's rate for 1460 bytes, minus the share of headers.
#[test]
fn c4_1_c4_2_small_packets() {
    let small_packets = Some(super::super::SmallPackets {
        header: 36,
        ..super::super::SmallPackets::rfc4828()
    });
    let mut sender = Sender::new(Config {
        small_packets,
        ..Config::rfc5348()
    });
    sender.on_sent(Instant::ZERO, 100);
    let now = Instant::ZERO + MS * 100;
    let feedback = Feedback {
        sent_at: Instant::ZERO,
        delay: Duration::ZERO,
        receive_rate: 1e9,
        loss_event_rate: 0.01,
        loss_event: true,
        receiver_limited: false,
    };
    sender.on_feedback(now, &feedback);
    assert!((sender.x() / (164_005.0 * 100.0 / 136.0) - 1.0).abs() < 1e-5);
    // 1206 packets per second would be 0.8 ms apart.
    sender.on_sent(now, 100);
    assert_eq!(sender.earliest_departure(now), now + MS * 10);
}

/// X never exceeds the user's limit.
#[test]
fn max_rate() {
    let mut bench = Bench::started(Config {
        max_rate: Some(Rate::from_bps(480_000)),
        ..Config::rfc5348()
    });
    for _ in 0..5 {
        bench.round(1e9, 0.0);
    }
    assert_eq!(bench.x(), 60_000.0);
}

proptest! {
    /// For any reports at any time: rates are finite and at least one packet per 64 s, and the
    /// timer runs after data is sent.
    #[test]
    fn any_report_leaves_a_rate(
        steps in prop::collection::vec(
            (0u64..5_000, 0u64..10_000, 0u64..1 << 40, 0.0f64..1.0, 0u8..6),
            1..200,
        ),
        rfc3448 in any::<bool>(),
    ) {
        let config = if rfc3448 { Config::rfc3448() } else { Config::rfc5348() };
        let mut bench = Bench::new(config);
        for (after, age, receive_rate, p, action) in steps {
            bench.after(after);
            match action {
                0 | 1 => bench.send_one(),
                2 => bench.sender.expire(bench.now),
                3 => bench.report_on(age, receive_rate as f64, 0.0),
                _ => bench.report_on(age, receive_rate as f64, p * p * p),
            }
            let least = bench.sender.least_rate();
            prop_assert!(bench.x().is_finite() && bench.x() >= least, "X = {}", bench.x());
            prop_assert!(bench.sender.x_inst() >= least);
            if action < 2 {
                prop_assert!(bench.sender.deadline().is_some());
            }
        }
    }

    /// T-5, T-6: if the sender uses its whole rate, X is at most twice X_recv: the greatest of two
    /// round-trip times under RFC 5348, the latest under RFC 3448. The limit is at least one packet
    /// per 64 s, or the initial rate before the first loss. In slow start X changes once per
    /// round-trip time, so it may exceed a falling limit for that long.
    #[test]
    fn t_5_x_keeps_to_twice_the_receive_rate(
        steps in prop::collection::vec((1u64..250, 0.0f64..1e6, 0.0f64..0.5), 1..100),
        reports_before_a_loss in 0usize..30,
        rfc3448 in any::<bool>(),
    ) {
        let config = if rfc3448 { Config::rfc3448() } else { Config::rfc5348() };
        let rtt = MS * 100;
        let mut bench = Bench::started(config);
        let mut reported = vec![(bench.now, f64::INFINITY)];
        let mut obeyed_at = bench.now;
        let mut sent = vec![bench.now - rtt];
        for (index, (after, receive_rate, p)) in steps.into_iter().enumerate() {
            for _ in 0..after {
                bench.after(1);
                if bench.send() > 0 {
                    sent.push(bench.now);
                }
            }
            // Report on the newest packet that can have arrived.
            sent.drain(..sent.partition_point(|&at| at + rtt <= bench.now).saturating_sub(1));
            let age = (bench.now - sent[0]).as_millis();
            let p = if index < reports_before_a_loss { 0.0 } else { 1e-6 + p * p * p };
            bench.sender.on_feedback(bench.now, &Feedback {
                sent_at: sent[0],
                delay: Duration::from_millis(age) - rtt,
                receive_rate,
                loss_event_rate: p,
                loss_event: false,
                receiver_limited: false,
            });
            if rfc3448 {
                reported.clear();
            }
            reported.push((bench.now, receive_rate));
            reported.retain(|&(at, _)| bench.now - at <= rtt * 2);
            let greatest = reported.iter().map(|&(_, rate)| rate).fold(0.0, f64::max);
            let floor = if p > 0.0 { bench.sender.least_rate() } else { bench.sender.initial_rate() };
            let limit = (2.0 * greatest).max(floor);
            let is_within = bench.x() <= limit * (1.0 + 1e-9);
            prop_assert!(
                is_within || (p == 0.0 && bench.now - obeyed_at < rtt),
                "X = {} above {limit} at {}", bench.x(), bench.now
            );
            if is_within {
                obeyed_at = bench.now;
            }
        }
    }
}

/// RFC 5348 section 4.4: without a loss event, an idle sender's rate is no longer halved once it is
/// below twice the rate after an idle period, not only once it has reached that rate.
#[test]
fn t_7_an_idle_sender_keeps_a_rate_below_twice_that_after_an_idle_period() {
    let mut bench = Bench::started(Config::rfc5348());
    bench.round(0.75 * INITIAL, 0.0);
    assert_close(bench.x(), 1.5 * INITIAL);
    bench.timeout();
    assert_eq!(bench.sender.deadline(), None);
    assert_close(bench.x(), 1.5 * INITIAL);
}

/// Section 4.6 of RFC 5348 lets a sender make up for a round-trip time in which it sent nothing; in
/// RFC 3448, unused permission to send is lost.
#[test]
fn unused_permission_to_send_is_kept_for_a_round_trip_time_or_not_at_all() {
    for (config, kept) in [
        (Config::rfc5348(), true),
        (Config::rfc3448(), false),
        (Config::ns2(), false),
    ] {
        let mut bench = Bench::started(config);
        for rate in [20_000.0, 40_000.0, 80_000.0] {
            bench.round(rate, 0.0);
        }
        let per_rtt = (bench.x() / 10.0 / f64::from(SIZE)) as u32;
        assert!(per_rtt > 4, "{per_rtt}");
        bench.after(100);
        assert_eq!(bench.send() >= per_rtt, kept, "of {per_rtt}");
    }
}

/// RFC 5348 section 4.4, after a loss event: the nofeedback timer of an idle sender changes nothing
/// once X_recv is below the rate after an idle period, and halves X as long as it is not.
#[test]
fn t_7_an_idle_sender_is_judged_by_its_receive_rate_after_a_loss_event() {
    let x_calc = equation::throughput(SIZE.into(), 0.1, 0.03);
    // X is twice X_recv, or the equation's rate.
    for (receive_rate, p, x, is_kept) in [
        (0.99 * INITIAL, 0.01, 1.98 * INITIAL, true),
        (1.01 * INITIAL, 0.01, 2.02 * INITIAL, false),
        (1.01 * INITIAL, 0.03, x_calc, false),
    ] {
        let mut bench = Bench::started(Config::rfc5348());
        for _ in 0..4 {
            bench.round(receive_rate, p);
        }
        assert_close(bench.x(), x);
        bench.timeout();
        assert_close(bench.x(), if is_kept { x } else { x / 2.0 });
        assert_eq!(
            bench.sender.deadline().is_none(),
            is_kept,
            "{receive_rate}, {p}"
        );
    }
}

/// RFC 3448 section 4.4: "If (X_calc > 2*X_recv) X_recv = max(X_recv/2, s/(2*t_mbi)); else X_recv =
/// X_calc/4", and X is at most twice that.
#[test]
fn t_7_rfc_3448_halves_what_limits() {
    let limited = |receive_rate: f64, p: f64| {
        let mut bench = Bench::started(Config::rfc3448());
        for _ in 0..4 {
            bench.round(receive_rate, p);
        }
        bench.send_one();
        bench.timeout();
        bench.x()
    };
    let x_calc = equation::throughput(SIZE.into(), 0.1, 0.01);
    // Limited by X_recv, and by the equation.
    assert_close(limited(0.4 * x_calc, 0.01), 0.4 * x_calc);
    assert_close(limited(0.6 * x_calc, 0.01), x_calc / 2.0);
    assert_close(limited(0.9 * x_calc, 0.01), x_calc / 2.0);
    // s / t_mbi.
    let least = f64::from(SIZE) / 64.0;
    assert_close(limited(0.0, 0.01), least);
    assert_close(limited(1.5 * least, 0.01), 1.5 * least);
}

/// RFC 3448 section 4.4: without any report, each expiration halves X.
#[test]
fn t_7_rfc_3448_no_feedback_at_all() {
    let mut bench = Bench::new(Config::rfc3448());
    for rate in [500.0, 250.0, 125.0, 62.5] {
        bench.send_one();
        bench.timeout();
        assert_eq!(bench.x(), rate);
    }
}

#[test]
fn packets_per_round_trip_time() {
    let mut bench = Bench::new(Config::rfc5348());
    assert_eq!(bench.sender.packets_per_rtt(), 0.0);
    bench.send();
    assert_eq!(bench.sender.segment_size(), f64::from(SIZE));
    bench.after(100);
    bench.report(0.0, 0.0);
    assert_close(bench.sender.packets_per_rtt(), 4.0);
    bench.round(30_000.0, 0.0);
    assert_close(bench.sender.packets_per_rtt(), 6.0);
}
