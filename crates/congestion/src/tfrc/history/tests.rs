use super::*;
use crate::tfrc::UnseenIntervals;
use proptest::prelude::*;

const MS: Duration = Duration::from_millis(1);
const FIRST: u64 = 1_000;

/// The fate of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Data,
    Ack,
    Marked,
    Lost,
}

/// A history that is fed packet by packet.
struct Bench {
    history: History,
    clock: Clock,
    now: Instant,
    /// The next arrival: sequence number, window counter, packets without data before it.
    seq: u64,
    counter: u8,
    ndp: u64,
    nonce: bool,
}

impl Bench {
    fn new(clock: Clock) -> Self {
        Self::averaging(clock, false)
    }

    fn averaging(clock: Clock, counts_losses: bool) -> Self {
        let averaging = Averaging {
            discounting: None,
            counts_losses,
            unseen: UnseenIntervals::LeftOut,
        };
        Self {
            history: History::new(FIRST, averaging),
            clock,
            now: Instant::ZERO,
            seq: FIRST,
            counter: 0,
            ndp: 0,
            nonce: false,
        }
    }

    fn arrival(&self, seq: u64, fate: Fate) -> Arrival {
        Arrival {
            seq,
            at: self.now,
            data: (fate != Fate::Ack).then_some(100),
            marked: fate == Fate::Marked,
            nonce: self.nonce,
            counter: self.counter,
            non_data_before: self.ndp,
        }
    }

    fn next(&mut self, fate: Fate) -> News {
        let seq = self.seq;
        self.seq += 1;
        if fate == Fate::Lost {
            return News::default();
        }
        self.arrive(seq, fate)
    }

    fn arrive(&mut self, seq: u64, fate: Fate) -> News {
        let arrival = self.arrival(seq, fate);
        self.history.on_arrival(self.clock, &arrival)
    }

    fn many(&mut self, count: u64) {
        for _ in 0..count {
            assert_eq!(self.next(Fate::Data), News::default());
        }
    }

    /// Lets a little more than a round-trip time pass.
    fn pause(&mut self) {
        self.counter = (self.counter + 5) & 0xf;
        self.now += MS * 101;
    }

    /// Simulates one loss, and the three packets that prove it.
    fn lose_one(&mut self) -> News {
        self.next(Fate::Lost);
        self.next(Fate::Data);
        self.next(Fate::Data);
        self.next(Fate::Data)
    }

    /// Returns the (lossless, loss, data) lengths, the newest first.
    fn lengths(&self) -> Vec<(u64, u64, u64)> {
        self.history
            .intervals()
            .map(|interval| {
                (
                    interval.lossless_length,
                    interval.loss_length,
                    interval.data_length,
                )
            })
            .collect()
    }
}

const CLOCKS: [Clock; 2] = [
    Clock::WindowCounter,
    Clock::Arrivals(Duration::from_millis(100)),
];

const FIRST_LOSS: News = News {
    losses: true,
    loss_event: true,
    first_loss_event: true,
    removed_event: false,
};

/// T-10: lost after three later packets, whether or not they carry data.
#[test]
fn t_10_three_later_packets_make_a_loss() {
    for clock in CLOCKS {
        for later in [Fate::Data, Fate::Ack] {
            let mut bench = Bench::new(clock);
            bench.many(10);
            bench.next(Fate::Lost);
            assert_eq!(bench.next(later), News::default());
            assert_eq!(bench.next(later), News::default());
            assert_eq!(bench.lengths(), [(10, 0, 0)]);
            assert_eq!(bench.history.settled(), FIRST + 9, "three are open");
            assert_eq!(bench.next(later), FIRST_LOSS);
            let data = if later == Fate::Data { 4 } else { 1 };
            assert_eq!(bench.lengths(), [(3, 1, data), (10, 0, 0)]);
            assert_eq!(bench.history.settled(), FIRST + 13);
        }
    }
}

/// T-10: reordering by less than three packets is no loss.
#[test]
fn t_10_reordering_is_no_loss() {
    let mut bench = Bench::new(Clock::WindowCounter);
    bench.many(5);
    let late = bench.seq;
    bench.seq += 1;
    bench.many(2);
    assert_eq!(bench.arrive(late, Fate::Data), News::default());
    bench.many(5);
    assert_eq!(bench.lengths(), [(13, 0, 0)]);
}

/// T-10: a mark counts as soon as it arrives, together with packets missing before it (RFC 5348
/// section 5.1's own example).
#[test]
fn t_10_marks_count_at_once() {
    for clock in CLOCKS {
        let mut bench = Bench::new(clock);
        bench.many(4);
        assert_eq!(bench.next(Fate::Marked), FIRST_LOSS);
        assert_eq!(bench.lengths(), [(0, 1, 1), (4, 0, 0)]);
        bench.pause();
        // n - 1, then n + 1 unmarked and n + 2 marked: the event begins with n.
        bench.many(1);
        bench.next(Fate::Lost);
        assert_eq!(bench.next(Fate::Data), News::default());
        let news = bench.next(Fate::Marked);
        assert!(news.loss_event && !news.first_loss_event);
        assert_eq!(bench.lengths(), [(0, 3, 3), (1, 1, 2), (4, 0, 0)]);
        assert_eq!(bench.history.intervals().next().unwrap().losses, 2);
        // Nothing arrived between what is missing and the mark.
        bench.pause();
        bench.many(1);
        bench.next(Fate::Lost);
        assert!(bench.next(Fate::Marked).loss_event);
        assert_eq!(bench.lengths()[0], (0, 2, 2));
    }
}

/// T-10, C3-5: losses within a round-trip time are one event, whose lossy part ends with the last
/// loss; a later loss starts another.
#[test]
fn t_10_c3_5_losses_within_a_round_trip_time_are_one_event() {
    for clock in CLOCKS {
        let mut bench = Bench::new(clock);
        bench.many(10);
        assert!(bench.lose_one().loss_event);
        bench.many(2);
        bench.now += MS * 60;
        bench.counter = 4;
        // Four counts, or 60 ms, later: still the same event.
        bench.many(1);
        let news = bench.lose_one();
        assert!(news.losses && !news.loss_event, "{clock:?}");
        assert_eq!(bench.lengths(), [(3, 8, 11), (10, 0, 0)], "{clock:?}");
        bench.many(2);
        bench.now += MS * 60;
        bench.counter = 6;
        bench.many(1);
        assert!(bench.lose_one().loss_event, "{clock:?}");
        let newest = bench.lengths();
        assert_eq!(newest, [(3, 1, 4), (6, 8, 14), (10, 0, 0)], "{clock:?}");
    }
}

/// RFC 4342 section 10.2: losses with nothing received in between are one event, however many. The
/// counter may wrap between two losses.
#[test]
fn a_long_hole_is_one_event() {
    let mut bench = Bench::new(Clock::WindowCounter);
    bench.many(3);
    bench.seq += 1 << 40;
    bench.counter = 3;
    bench.next(Fate::Data);
    bench.next(Fate::Data);
    assert_eq!(bench.next(Fate::Data), FIRST_LOSS);
    assert_eq!(bench.lengths(), [(3, 1 << 40, (1 << 40) + 3), (3, 0, 0)]);
    for counter in [7, 11, 15, 3] {
        bench.counter = counter;
        bench.many(1);
    }
    assert!(bench.lose_one().loss_event, "16 counts later, not 0");
}

/// RFC 5348 section 5.2: the arrival time of a lost packet is interpolated. It starts a loss event if
/// it is more than a round-trip time after the start of the last one.
#[test]
fn arrival_of_a_lost_packet_is_interpolated() {
    for (gap, is_another) in [(199, false), (200, false), (203, true)] {
        let mut bench = Bench::new(Clock::Arrivals(MS * 100));
        bench.many(3);
        // Lost at 0: the packets around it arrived at 0.
        assert!(bench.lose_one().loss_event);
        // Lost halfway between 0 and `gap`.
        bench.next(Fate::Lost);
        bench.now += MS * gap;
        bench.next(Fate::Data);
        bench.next(Fate::Data);
        assert_eq!(bench.next(Fate::Data).loss_event, is_another, "{gap} ms");
    }
}

/// C3-5, C3-6: a packet's NDP Count says how many of the packets lost before it carried no data;
/// the others are assumed to be data.
#[test]
fn c3_5_ndp_counts_tell_lost_acknowledgements_from_lost_data() {
    // A hole of three packets before one with this NDP Count.
    for (ndp, news, lengths) in [
        (0, true, vec![(3, 3, 6), (4, 0, 0)]),
        (2, true, vec![(5, 1, 4), (4, 0, 0)]),
        (3, false, vec![(10, 0, 0)]),
        (9, false, vec![(10, 0, 0)]),
    ] {
        let mut bench = Bench::new(Clock::WindowCounter);
        bench.many(4);
        bench.seq += 3;
        bench.ndp = ndp;
        bench.next(Fate::Data);
        bench.ndp = 0;
        bench.next(Fate::Data);
        assert_eq!(bench.next(Fate::Data).losses, news, "NDP Count {ndp}");
        assert_eq!(bench.lengths(), lengths, "NDP Count {ndp}");
    }
}

/// C3-6: packets without data count in sequence lengths but not in data lengths; their marks and
/// nonces are ignored.
#[test]
fn c3_6_packets_without_data() {
    let mut bench = Bench::new(Clock::WindowCounter);
    bench.many(2);
    bench.lose_one();
    let ack = Arrival {
        marked: true,
        nonce: true,
        ..bench.arrival(bench.seq, Fate::Ack)
    };
    bench.seq += 1;
    assert_eq!(bench.history.on_arrival(bench.clock, &ack), News::default());
    bench.many(1);
    assert_eq!(bench.lengths(), [(5, 1, 5), (2, 0, 0)]);
    assert!(!bench.history.intervals().next().unwrap().nonce);
}

/// C3-8: the nonce sum covers only the data packets of the lossless part.
#[test]
fn c3_8_nonces_of_the_lossless_part() {
    let mut bench = Bench::new(Clock::WindowCounter);
    let nonce = |bench: &Bench| bench.history.intervals().next().unwrap().nonce;
    bench.nonce = true;
    bench.many(3);
    assert!(nonce(&bench));
    bench.many(1);
    assert!(!nonce(&bench));
    bench.lose_one();
    assert!(nonce(&bench), "three packets after the loss");
    bench.lose_one();
    assert!(
        nonce(&bench),
        "three again: earlier packets are in the lossy part"
    );
    assert_eq!(bench.lengths()[0], (3, 5, 8));
}

/// RFC 5348 sections 5.1 and 6: if a packet was only late, there was no loss event.
#[test]
fn a_late_packet_takes_its_loss_event_back() {
    let mut bench = Bench::new(Clock::WindowCounter);
    bench.many(10);
    bench.nonce = true;
    let late = bench.seq;
    bench.lose_one();
    bench.history.seed(77.0);
    assert_eq!(bench.lengths(), [(3, 1, 4), (10, 0, 77)]);
    let news = bench.arrive(late, Fate::Data);
    assert!(news.removed_event && !news.losses);
    assert_eq!(bench.lengths(), [(14, 0, 0)]);
    assert_eq!(bench.history.loss_event_rate(), 0.0);
    assert!(
        !bench.history.intervals().next().unwrap().nonce,
        "four nonces"
    );

    // If one of two lost packets arrives, the event stays. If the second arrives too, it is undone.
    bench.seq += 2;
    bench.many(2);
    assert!(bench.next(Fate::Data).loss_event);
    let losses = |bench: &Bench| bench.history.intervals().next().unwrap().losses;
    assert_eq!(losses(&bench), 2);
    assert_eq!(bench.arrive(FIRST + 14, Fate::Data), News::default());
    assert_eq!(losses(&bench), 1);
    assert!(bench.arrive(FIRST + 15, Fate::Data).removed_event);
    assert_eq!(bench.lengths(), [(19, 0, 0)]);
}

/// RFC 5348 section 5.1: a late packet that is marked reports congestion, so its loss event stays.
/// A loss event whose late packet carries no data stays too.
#[test]
fn a_late_packet_without_good_news_takes_nothing_back() {
    for fate in [Fate::Marked, Fate::Ack] {
        let mut bench = Bench::new(Clock::WindowCounter);
        bench.many(10);
        let late = bench.seq;
        bench.lose_one();
        assert_eq!(bench.arrive(late, fate), News::default(), "{fate:?}");
        assert_eq!(bench.lengths(), [(3, 1, 4), (10, 0, 0)], "{fate:?}");
        assert_eq!(bench.history.intervals().next().unwrap().losses, 1);
    }
}

/// The interval before the oldest one is forgotten, so the oldest cannot be merged into it.
#[test]
fn a_packet_too_late_for_the_known_intervals_takes_nothing_back() {
    let mut bench = Bench::new(Clock::WindowCounter);
    bench.many(10);
    let mut lost = Vec::new();
    for _ in 0..=INTERVALS {
        bench.pause();
        bench.many(1);
        lost.push(bench.seq);
        assert!(bench.lose_one().loss_event);
    }
    let lengths = bench.lengths();
    assert_eq!(lengths.len(), INTERVALS + 1);
    assert_eq!(bench.arrive(lost[0], Fate::Data), News::default());
    assert_eq!(bench.lengths(), lengths);
    assert!(bench.arrive(lost[1], Fate::Data).removed_event);
    assert_eq!(bench.lengths().len(), INTERVALS);
}

/// C3-8: once all packets that seemed lost have arrived, the nonce sum covers every data packet
/// since the previous loss event.
#[test]
fn c3_8_a_withdrawn_event_adds_all_its_nonces() {
    // The nonces of the packet before the event, of those after each of its losses, and of the late
    // packets.
    for nonces in 0..1 << 7 {
        let nonce = |bit: u32| nonces >> bit & 1 == 1;
        let mut bench = Bench::new(Clock::WindowCounter);
        bench.many(2);
        bench.lose_one();
        bench.pause();
        bench.nonce = nonce(0);
        bench.many(1);
        let mut missing = Vec::new();
        for loss in 1..=3 {
            missing.push(bench.seq);
            bench.nonce = nonce(loss);
            assert_eq!(bench.lose_one().loss_event, loss == 1);
        }
        for (late, bit) in missing.into_iter().zip(4..) {
            bench.nonce = nonce(bit);
            let news = bench.arrive(late, Fate::Data);
            assert_eq!(news.removed_event, bit == 6);
        }
        let newest = bench.history.intervals().next().unwrap();
        // There are three packets after each loss.
        assert_eq!(
            newest.nonce,
            (0..7).fold(false, |sum, bit| sum ^ nonce(bit)),
            "{nonces:b}"
        );
        assert_eq!(newest.losses, 1);
    }
}

/// RFC 4342 section 10.2: the time since a loss event includes that of a later one that is
/// withdrawn.
#[test]
fn time_goes_on_through_a_withdrawn_event() {
    // Quarters of a round-trip time before and after the event that is taken back.
    for (before, after) in [(5, 0), (6, 1), (5, 5)] {
        let mut bench = Bench::new(Clock::WindowCounter);
        bench.many(10);
        bench.lose_one();
        bench.counter += before;
        bench.many(1);
        let late = bench.seq;
        assert!(bench.lose_one().loss_event);
        bench.counter += after;
        bench.many(1);
        assert!(bench.arrive(late, Fate::Data).removed_event);
        let quarters = u64::from(before + after);
        assert_eq!(bench.history.intervals().next().unwrap().quarters, quarters);
        assert!(bench.lose_one().loss_event, "{before}, {after}");
    }
}

/// RFC 5348 section 5.3, T-11: the mean of intervals between events, computed by hand.
#[test]
fn t_11_mean_interval_by_hand() {
    let mut bench = Bench::new(Clock::WindowCounter);
    bench.many(5);
    bench.lose_one();
    bench.history.seed(20.0);
    let p = |bench: &Bench| bench.history.loss_event_rate();
    // I_0 = 4, I_1 = 20: max(4, 20).
    assert_eq!(p(&bench), 1.0 / 20.0);
    bench.many(26);
    // I_0 = 30: max(30, 20).
    assert_eq!(p(&bench), 1.0 / 30.0);
    // Seven more events: I_0 = 4, I_1..I_6 = 10, I_7 = 31, I_8 = 20.
    for _ in 0..6 {
        bench.pause();
        bench.many(1);
        // The packet received before this loss belongs to the previous interval.
        bench.lose_one();
        bench.many(5);
    }
    bench.pause();
    bench.many(1);
    bench.lose_one();
    let data: Vec<u64> = bench.lengths().iter().map(|lengths| lengths.2).collect();
    assert_eq!(data, [4, 10, 10, 10, 10, 10, 10, 31, 20]);
    // Without I_0: 10 (1 + 1 + 1 + 1 + 0.8 + 0.6) + 0.4 * 31 + 0.2 * 20 = 70.4, with weights of 6
    // in total. With I_0: 4 + 10 (1 + 1 + 1 + 0.8 + 0.6 + 0.4) + 0.2 * 31 = 58.2.
    assert!((p(&bench) - 6.0 / 70.4).abs() < 1e-12, "{}", p(&bench));
    // I_0 counts once it increases the mean: 54.2 + I_0 > 70.4.
    bench.many(12);
    assert!((p(&bench) - 6.0 / 70.4).abs() < 1e-12);
    bench.many(1);
    assert!((p(&bench) - 6.0 / 71.2).abs() < 1e-12, "{}", p(&bench));
}

/// ns-2's mean: intervals not seen yet have length zero.
#[test]
fn unseen_intervals_of_length_zero() {
    let mut bench = Bench::new(Clock::WindowCounter);
    bench.history.averaging.unseen = UnseenIntervals::OfLengthZero;
    bench.many(5);
    assert_eq!(bench.history.loss_event_rate(), 0.0, "no loss event");
    bench.lose_one();
    bench.history.seed(20.0);
    // I_0 = 4, I_1 = 20, the others are zero; eight weights add up to 6.
    assert!((bench.history.loss_event_rate() - 6.0 / 24.0).abs() < 1e-12);
}

/// T-12: discounts, computed by hand. For I_1 = I_2 = 10 and I_0 = 50, DF = 2 * 10 / 50 = 0.4. The
/// mean with I_0 is (50 + 10 * 0.4) / (1 + 0.4) = 38.57; it omits I_2, the oldest.
#[test]
fn t_12_history_discounting_by_hand() {
    let run = |threshold: Option<f64>, current: u64| {
        let mut bench = Bench::new(Clock::WindowCounter);
        bench.history.averaging.discounting = threshold;
        bench.many(5);
        bench.lose_one();
        bench.history.seed(10.0);
        bench.many(5);
        bench.pause();
        bench.many(1);
        bench.lose_one();
        bench.many(current - 4);
        bench
    };
    let p = |bench: &Bench| bench.history.loss_event_rate();
    let close = |p: f64, mean: f64| assert!((p * mean - 1.0).abs() < 1e-12, "{}", 1.0 / p);
    close(p(&run(None, 50)), (50.0 + 10.0) / 2.0);
    close(p(&run(Some(0.25), 50)), 54.0 / 1.4);
    close(p(&run(Some(0.5), 50)), 55.0 / 1.5);
    close(p(&run(Some(0.25), 20)), 15.0);
    close(p(&run(Some(0.25), 1_000)), 1_002.5 / 1.25);
    // The next event multiplies the older intervals' discounts by DF, which is then 20 / 51. I_1 is
    // 51, and I_2 and I_3 are 10, discounted.
    let mut bench = run(Some(0.25), 50);
    bench.pause();
    bench.many(1);
    bench.lose_one();
    let df = 20.0 / 51.0;
    let older = (51.0 + 20.0 * df) / (1.0 + 2.0 * df);
    close(p(&bench), older);
    // A current interval of 200 discounts all of them by 2 * 33 / 200, I_2 and I_3 once more. I_3
    // is left out.
    bench.many(196);
    let general = 2.0 * older / 200.0;
    assert!(general > 0.25, "{general}");
    let sum = 200.0 + 51.0 * general + 10.0 * df * general;
    close(p(&bench), sum / (1.0 + general + df * general));
}

/// C4-4, C4-7: an interval of at most two round-trip times with K losses among N packets counts as
/// N / K; the current interval does not count while it is short.
#[test]
fn c4_4_short_intervals_count_each_loss() {
    let mut bench = Bench::averaging(Clock::WindowCounter, true);
    bench.many(5);
    bench.lose_one();
    bench.history.seed(12.0);
    bench.lose_one();
    bench.many(8);
    // The current interval: two losses among 16 packets within a round-trip time.
    let p = |bench: &Bench| bench.history.loss_event_rate();
    assert_eq!(p(&bench), 1.0 / 12.0);
    bench.counter = 5;
    bench.many(4);
    bench.counter = 8;
    bench.many(20);
    assert_eq!(
        p(&bench),
        1.0 / 12.0,
        "two round-trip times are still short"
    );
    bench.counter = 9;
    bench.many(1);
    assert_eq!(p(&bench), 1.0 / 41.0, "a long interval is N long");

    let mut bench = Bench::averaging(Clock::WindowCounter, true);
    bench.many(5);
    bench.lose_one();
    bench.history.seed(1.0);
    bench.lose_one();
    bench.counter = 5;
    bench.many(12);
    bench.lose_one();
    // I_1 = 20 packets with 2 losses in five quarters: 10; I_2 = 1: (10 + 1) / 2.
    assert_eq!(p(&bench), 2.0 / 11.0);
}

proptest! {
    /// For any packets in any order: every settled packet is in one interval, memory is bounded,
    /// and p is a rate.
    #[test]
    fn intervals_partition_the_sequence_numbers(
        packets in prop::collection::vec((0u64..60, 0u8..4, 0u8..16, 0u64..4, 0u64..300), 1..300),
        by_arrival in any::<bool>(),
    ) {
        let clock = CLOCKS[usize::from(by_arrival)];
        let mut bench = Bench::new(clock);
        bench.history.averaging.discounting = Some(0.25);
        let mut seen = std::collections::BTreeSet::new();
        let mut base = FIRST;
        let mut is_cut = false;
        for (ahead, fate, counter, ndp, pause) in packets {
            let fate = [Fate::Data, Fate::Data, Fate::Ack, Fate::Marked][usize::from(fate)];
            bench.now += MS * pause;
            bench.counter = counter;
            bench.ndp = ndp;
            base += 1;
            let seq = base + ahead - ahead.min(30);
            if !seen.insert(seq) {
                continue;
            }
            if bench.arrive(seq, fate).first_loss_event {
                bench.history.seed(10.0);
            }
            let intervals: Vec<_> = bench.history.intervals().copied().collect();
            prop_assert!(intervals.len() <= INTERVALS + 1);
            prop_assert!(bench.history.waiting.len() < NDUPACK);
            let total: u64 = intervals.iter().map(|i| i.loss_length + i.lossless_length).sum();
            prop_assert!(total <= bench.history.next - FIRST);
            is_cut |= intervals.len() > INTERVALS;
            if !is_cut {
                prop_assert_eq!(total, bench.history.next - FIRST);
            }
            for interval in &intervals[..intervals.len() - 1] {
                prop_assert!(interval.losses >= 1 && interval.losses <= interval.loss_length);
                prop_assert!(interval.data_length >= 1);
                prop_assert!(interval.data_length <= interval.loss_length + interval.lossless_length);
            }
            let p = bench.history.loss_event_rate();
            prop_assert!((0.0..=1.0).contains(&p), "p = {}", p);
            prop_assert_eq!(p > 0.0, intervals.len() > 1);
        }
    }
}

/// When a loss event is withdrawn, its interval is added to the first one, whose length was
/// computed from the receive rate.
#[test]
fn a_late_packet_lengthens_the_computed_first_interval() {
    let mut bench = Bench::new(Clock::WindowCounter);
    bench.many(10);
    let late = bench.seq;
    bench.lose_one();
    bench.history.seed(77.0);
    bench.pause();
    bench.many(1);
    bench.lose_one();
    let newest = (3, 1, 4);
    assert_eq!(bench.lengths(), [newest, (4, 1, 5), (10, 0, 77)]);
    assert!(bench.arrive(late, Fate::Data).removed_event);
    assert_eq!(bench.lengths(), [newest, (15, 0, 82)]);
    assert_eq!(bench.history.loss_event_rate(), 1.0 / 82.0);
}
