use core::num::NonZeroU32;

use super::super::{DynamicFeedback, ObservationWindow};
use super::*;

const MS: Duration = Duration::from_millis(1);
const RTT: Duration = Duration::from_millis(100);

struct Bench {
    receiver: Receiver,
    now: Instant,
    seq: u64,
    counter: u8,
}

impl Bench {
    fn new(config: &Config) -> Self {
        let mut receiver = Receiver::new(config);
        receiver.on_rtt(RTT);
        Self {
            receiver,
            now: Instant::ZERO + MS * 1_000,
            seq: 0,
            counter: 0,
        }
    }

    fn arrive(&mut self, marked: bool) {
        self.seq += 1;
        self.receiver.on_arrival(&Arrival {
            seq: self.seq,
            at: self.now,
            data: Some(1_000),
            marked,
            nonce: false,
            counter: self.counter,
            non_data_before: 0,
        });
    }

    /// Receives a packet `after` ms after the previous one. Returns the report, if there is one.
    fn next(&mut self, after: u64, counter: u8) -> Option<Report> {
        self.now += MS * after;
        self.counter = counter;
        self.arrive(false);
        self.take()
    }

    fn take(&mut self) -> Option<Report> {
        let due = self.receiver.report_due();
        due.then(|| self.receiver.report(self.now)).flatten()
    }
}

/// T-15: the first data packet causes a report at once, with X_recv = 0 and p = 0. Earlier packets
/// without data cause none.
#[test]
fn t_15_first_packet() {
    let mut bench = Bench::new(&Config::rfc5348());
    bench.receiver.on_arrival(&Arrival {
        seq: 0,
        at: bench.now,
        data: None,
        marked: false,
        nonce: false,
        counter: 0,
        non_data_before: 0,
    });
    assert!(!bench.receiver.report_due());
    assert_eq!(bench.receiver.report(bench.now), None);
    let first = Report {
        receive_rate: 0.0,
        loss_event_rate: 0.0,
    };
    assert_eq!(bench.next(10, 0), Some(first));
    assert!(!bench.receiver.report_due());
}

/// T-13, C3-16: a report for every four counts, or for every packet if each advances the counter by
/// five.
#[test]
fn c3_16_reports_follow_the_window_counter() {
    let mut bench = Bench::new(&Config::rfc5348());
    let mut reported = Vec::new();
    for quarter in 0..20u8 {
        for _ in 0..3 {
            if bench.next(8, quarter & 0xf).is_some() {
                reported.push(quarter);
            }
        }
    }
    assert_eq!(reported, [0, 4, 8, 12, 16]);
    for step in 1..10u8 {
        assert!(bench.next(2_000, (16 + 5 * step) & 0xf).is_some());
    }
}

/// T-14, C3-13: X_recv covers the time since the last report or a round-trip time, whichever is
/// longer; after a silence, a round-trip time.
#[test]
fn t_14_receive_rate_covers_a_round_trip_time() {
    let mut bench = Bench::new(&Config::rfc5348());
    bench.next(0, 0);
    // The tenth packet since the first report arrives at 100 ms and has counter 4: 10 packets in
    // 100 ms.
    let mut report = None;
    for index in 1..=10u8 {
        report = bench.next(10, if index < 10 { 1 } else { 4 });
    }
    assert_eq!(report.map(|report| report.receive_rate), Some(100_000.0));
    // A mark arrives 20 ms after the last report, less than a round-trip time, so X_recv covers the
    // time since the report before: 12 packets in 120 ms.
    bench.next(10, 5);
    bench.now += MS * 10;
    bench.arrive(true);
    let report = bench.take().map(|report| report.receive_rate);
    assert_eq!(report, Some(100_000.0));
    // After almost half a second of silence: two packets since the feedback timer would have expired,
    // three round-trip times after the last report.
    bench.now += MS * 480;
    bench.arrive(false);
    let report = bench.next(10, 10).map(|report| report.receive_rate);
    assert_eq!(report, Some(2_000.0 / 0.19));
}

/// T-14: "a minimum value for the measured receive rate X_recv of one packet per round-trip time"
/// (RFC 5348 section 6.2), however rare the packets are. An empty packet counts as one byte, as it
/// does in s. RFC 4342 section 8.3 covers the whole time since the latest report.
#[test]
fn t_14_receive_rate_of_rare_packets() {
    let rate_of = |config: &Config, bytes: u32| {
        let mut receiver = Receiver::new(config);
        receiver.on_rtt(RTT);
        let mut rates = Vec::new();
        for index in 0..4u64 {
            let now = Instant::ZERO + MS * 64_000 * index;
            receiver.on_arrival(&Arrival {
                seq: index,
                at: now,
                data: Some(bytes),
                marked: false,
                nonce: false,
                counter: (5 * index % 16) as u8,
                non_data_before: 0,
            });
            assert!(receiver.report_due());
            rates.push(receiver.report(now).expect("data").receive_rate);
        }
        rates
    };
    let new = Config::rfc5348();
    assert_eq!(rate_of(&new, 20), [0.0, 200.0, 200.0, 200.0]);
    assert_eq!(rate_of(&new, 0), [0.0, 10.0, 10.0, 10.0]);
    let rate = 20.0 / 64.0;
    assert_eq!(rate_of(&Config::rfc3448(), 20), [0.0, rate, rate, rate]);
}

/// T-13: a new loss event is reported at once.
#[test]
fn t_13_loss_events_are_reported_at_once() {
    let mut bench = Bench::new(&Config::rfc5348());
    bench.next(0, 0);
    for _ in 0..5 {
        assert_eq!(bench.next(1, 1), None);
    }
    bench.seq += 1;
    assert_eq!(bench.next(1, 1), None);
    assert_eq!(bench.next(1, 1), None);
    let report = bench.next(1, 1).expect("a loss event");
    assert!(report.loss_event_rate > 0.0);
    // Another loss belongs to the same event and is not reported.
    bench.seq += 1;
    for _ in 0..3 {
        assert_eq!(bench.next(1, 1), None);
    }
}

/// T-16: the first interval is such that the equation yields the greatest X_recv so far (RFC 3448:
/// the latest), and at least half a packet per round-trip time.
#[test]
fn t_16_first_interval() {
    let rate_after = |config: &Config| {
        let mut bench = Bench::new(config);
        bench.next(0, 0);
        // 10 packets in a round-trip time, then 2.
        for index in 1..=10u8 {
            bench.next(10, if index < 10 { 1 } else { 4 });
        }
        bench.next(50, 6);
        bench.next(50, 8);
        bench.now += MS * 50;
        bench.arrive(false);
        bench.now += MS * 50;
        bench.arrive(true);
        let p = bench.take().expect("a loss event").loss_event_rate;
        1.0 / equation::response(p)
    };
    let close = |rate: f64, packets: f64| {
        assert!((rate / packets - 1.0).abs() < 1e-6, "{rate}, not {packets}");
    };
    close(rate_after(&Config::rfc5348()), 10.0);
    close(rate_after(&Config::rfc3448()), 2.0);

    let mut bench = Bench::new(&Config::rfc5348());
    bench.arrive(true);
    let p = bench.take().expect("the first packet").loss_event_rate;
    // f(p) = 2: one packet per two round-trip times.
    close(1.0 / equation::response(p), 0.5);
}

/// T-14: a timer causes several reports per round-trip time. Each covers a whole round-trip time,
/// and there is none if nothing has arrived.
#[test]
fn several_reports_in_a_round_trip_time() {
    let mut bench = Bench::new(&Config {
        feedback: FeedbackSchedule::PerRoundTrip(NonZeroU32::new(4).unwrap()),
        ..Config::rfc5348()
    });
    let mut rates = Vec::new();
    for _ in 0..100 {
        rates.extend(bench.next(5, 0).map(|report| report.receive_rate));
    }
    assert_eq!(rates.len(), 20, "a report every 25 ms, for 500 ms");
    assert!(
        rates[5..].iter().all(|&rate| rate == 200_000.0),
        "{rates:?}"
    );
    // The timer reports what has arrived since.
    assert!(bench.next(5, 0).is_some());
    bench.next(5, 0);
    let deadline = bench.receiver.deadline().expect("something to report");
    bench.receiver.expire(deadline);
    bench.now = deadline;
    assert!(bench.take().is_some());
    assert_eq!(bench.receiver.deadline(), None);
}

/// Dynamic feedback sends N reports per round-trip time, but no more than packets arrive. X_recv
/// covers RTT / N or a whole round-trip time.
#[test]
fn dynamic_feedback() {
    let reports = |window, gap: u64| {
        let mut bench = Bench::new(&Config {
            feedback: FeedbackSchedule::Dynamic(DynamicFeedback {
                rtt_ref: MS * 10,
                window,
            }),
            ..Config::rfc5348()
        });
        let mut rates = Vec::new();
        for _ in 0..1_000 / gap {
            rates.extend(bench.next(gap, 0).map(|report| report.receive_rate));
        }
        // Packets arrive twice as fast until the second report.
        let mut faster = Vec::new();
        while faster.len() < 2 {
            faster.extend(bench.next(gap / 2, 0).map(|report| report.receive_rate));
        }
        (rates.len(), faster[1] / rates[rates.len() - 1])
    };
    // The first report, the next one a round-trip time later, then ten per round-trip time: one for
    // every fifth packet.
    let (count, growth) = reports(ObservationWindow::Interval, 2);
    assert_eq!(count, 1 + 1 + 89);
    assert_eq!(growth, 2.0, "in a tenth of a round-trip time");
    let (count, growth) = reports(ObservationWindow::RoundTrip, 2);
    assert_eq!(count, 1 + 1 + 89);
    assert!((1.1..1.25).contains(&growth), "{growth} in a tenth or two");
    // A packet every 50 ms, two per round-trip time: a report for each.
    let (count, _) = reports(ObservationWindow::Interval, 50);
    assert_eq!(count, 1 + 1 + 17);
}

/// E-3: the sender's own round-trip time takes precedence.
#[test]
fn e_3_the_senders_round_trip_time_goes_first() {
    let mut bench = Bench::new(&Config::rfc5348());
    for quarter in 0..8 {
        bench.next(10, quarter);
    }
    assert_eq!(bench.receiver.rtt(), MS * 40, "by the counter");
    bench.receiver.on_sender_rtt(Some(MS * 70));
    assert_eq!(bench.receiver.rtt(), MS * 70);
}

/// C3-11: without losses the counter cannot have wrapped, so a pair of packets is a sample however
/// far apart they arrive.
#[test]
fn c3_11_a_sudden_delay_is_a_sample() {
    let mut bench = Bench::new(&Config::rfc5348());
    bench.seq = 1_000;
    bench.next(0, 0);
    assert_eq!(bench.receiver.rtt(), RTT);
    bench.next(150, 4);
    assert_eq!(bench.receiver.rtt(), MS * 150);
}

/// A withdrawn loss event is reported at once, like a new one: the sender has slowed down for
/// nothing.
#[test]
fn a_withdrawn_loss_event_is_reported_at_once() {
    let mut bench = Bench::new(&Config::rfc5348());
    for _ in 0..5 {
        bench.next(1, 0);
    }
    bench.seq += 1;
    let late = bench.seq;
    bench.next(1, 0);
    bench.next(1, 0);
    assert!(bench.next(1, 0).expect("a loss event").loss_event_rate > 0.0);
    let newest = core::mem::replace(&mut bench.seq, late - 1);
    let report = bench.next(1, 0).expect("no loss event");
    assert_eq!(report.loss_event_rate, 0.0);
    bench.seq = newest;
    assert_eq!(bench.next(1, 0), None);
}

/// T-13: a loss event is reported at once even if p stays the same, because all intervals are equally
/// long.
#[test]
fn t_13_a_loss_event_is_reported_whatever_p_is() {
    let mut bench = Bench::new(&Config::rfc5348());
    bench.next(0, 0);
    for event in 1..=12 {
        let counter = 5 * event % 16;
        for _ in 0..16 {
            bench.next(7, counter);
        }
        bench.seq += 1;
        bench.next(1, counter);
        bench.next(1, counter);
        let before = bench.receiver.report(bench.now).expect("new data");
        let report = bench.next(1, counter).expect("a loss event");
        if event > 10 {
            assert_eq!(report.loss_event_rate, 1.0 / 20.0);
            assert_eq!(before.loss_event_rate, 1.0 / 20.0);
        }
    }
}

/// The packets after a hole are settled once the fate of those in it is certain.
#[test]
fn a_hole_is_not_settled_while_it_may_be_filled() {
    let mut bench = Bench::new(&Config::rfc5348());
    assert_eq!(bench.receiver.settled(), None);
    assert_eq!(bench.receiver.intervals().count(), 0);
    for _ in 0..5 {
        bench.next(1, 0);
    }
    assert_eq!(bench.receiver.settled(), Some(5));
    bench.seq += 1;
    for settled in [5, 5, 9] {
        bench.next(1, 0);
        assert_eq!(bench.receiver.settled(), Some(settled));
    }
    let intervals = bench.receiver.intervals();
    let lengths = intervals.map(|interval| (interval.lossless_length, interval.loss_length));
    assert_eq!(lengths.collect::<Vec<_>>(), [(3, 1), (5, 0)]);
}
