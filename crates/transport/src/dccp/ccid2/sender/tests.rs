mod controls;

use skywave_congestion::GrowthLaw;
use skywave_wire::Ecn;
use skywave_wire::dccp::{DccpOption, ElapsedTime, OptionList};

use super::*;
use crate::dccp::ackvec::AckVectorBuffer;

const MS: Duration = Duration::from_millis(1);
const RTT: Duration = Duration::from_millis(100);

/// A sender, and a peer that receives what the test says it does.
struct Bench {
    sender: Sender,
    peer: AckVectorBuffer,
    now: Instant,
    next: u64,
    peer_next: u64,
    ecn: Ecn,
}

impl Bench {
    fn new(config: &Config) -> Self {
        Self {
            sender: Sender::new(config, 1000, 2),
            peer: AckVectorBuffer::new(),
            now: Instant::from_nanos(1_000_000_000),
            next: 100,
            peer_next: 5000,
            ecn: Ecn::Ect0,
        }
    }

    /// With cwnd at `cwnd`, in slow start.
    fn with_cwnd(cwnd: u32) -> Self {
        Self::new(&Config {
            initial_cwnd: Some(cwnd.into()),
            ..Config::default()
        })
    }

    /// Sends a packet, even if it may not leave.
    fn emit(&mut self, is_data: bool, ack: Option<u64>) {
        let packet = SentPacket {
            seq: SeqNo::new(self.next),
            data: is_data.then_some(1000),
            ack: ack.map(SeqNo::new),
            ecn: self.ecn,
            is_last: false,
        };
        self.sender.on_sent(self.now, &packet);
        self.next += 1;
    }

    /// Sends as many data packets as may leave, at most `limit`. Returns their number.
    fn send(&mut self, limit: u64) -> u64 {
        let permitted = |bench: &Self| bench.sender.may_send(bench.now, 1000) == Permit::Now;
        let mut count = 0;
        while count < limit && permitted(self) {
            self.emit(true, None);
            count += 1;
        }
        count
    }

    fn arrive(&mut self, numbers: impl IntoIterator<Item = u64>) {
        for number in numbers {
            self.peer.record(SeqNo::new(number), self.ecn);
        }
    }

    /// Delivers the peer's acknowledgement with these additional options.
    fn acknowledged_with(&mut self, more: &[DccpOption]) {
        let mut options = OptionList::new();
        self.peer.options(&mut options);
        options.extend(more.iter().cloned());
        self.deliver(&options, Ecn::Ect0);
    }

    fn acknowledged(&mut self) {
        self.acknowledged_with(&[]);
    }

    /// Delivers a data packet from the peer.
    fn peer_data(&mut self) {
        let options = OptionList::new();
        self.sender.on_received(
            self.now,
            &ReceivedPacket {
                seq: SeqNo::new(self.peer_next),
                is_new: true,
                ack: None,
                data: Some(1000),
                is_corrupted: false,
                ccval: 0,
                ecn: Ecn::Ect0,
                ndp_count: None,
                options: &options,
            },
        );
        self.peer_next += 1;
    }

    fn deliver(&mut self, options: &OptionList, ecn: Ecn) {
        self.sender.on_received(
            self.now,
            &ReceivedPacket {
                seq: SeqNo::new(self.peer_next),
                is_new: true,
                ack: self.peer.ack_number(),
                data: None,
                is_corrupted: false,
                ccval: 0,
                ecn,
                ndp_count: None,
                options,
            },
        );
        self.peer_next += 1;
    }

    /// Sends a window and acknowledges it a round-trip time later, two packets at a time.
    fn round(&mut self) {
        let first = self.next;
        self.send(u64::MAX);
        self.now += RTT;
        let last = self.next;
        for number in (first..last).step_by(2) {
            self.arrive(number..(number + 2).min(last));
            self.acknowledged();
        }
    }

    fn stats(&self) -> Stats {
        self.sender.stats()
    }

    fn cwnd(&self) -> f64 {
        self.stats().cwnd
    }
}

fn data_dropped(blocks: &[u8]) -> DccpOption {
    DccpOption::DataDropped(blocks.into())
}

// C2-2
#[test]
fn sends_while_pipe_is_below_cwnd() {
    let mut bench = Bench::with_cwnd(4);
    assert_eq!(bench.send(100), 4);
    assert_eq!(bench.sender.may_send(bench.now, 1), Permit::Blocked);
    bench.emit(false, Some(5000));
    assert_eq!(bench.stats().pipe, 4, "packets without data do not count");
    bench.arrive([100]);
    bench.acknowledged();
    assert_eq!(bench.send(100), 1);
}

// C2-5: RFC 3390 for the packet size, ssthresh arbitrarily high.
#[test]
fn starts_as_rfc_3390_says() {
    for (size, cwnd) in [(500, 4.0), (1400, 3.0), (9000, 2.0)] {
        let stats = Sender::new(&Config::default(), size, 2).stats();
        assert_eq!((stats.cwnd, stats.ssthresh), (cwnd, f64::INFINITY));
    }
}

// C2-5: grows by half per round-trip time with Ack Ratio 2, then by one packet.
#[test]
fn grows_by_half_then_by_one() {
    let mut bench = Bench::new(&Config {
        initial_ssthresh: 12.0,
        ..Config::default()
    });
    let windows: Vec<_> = (0..8)
        .map(|_| {
            bench.round();
            bench.cwnd()
        })
        .collect();
    assert_eq!(windows, [6.0, 9.0, 12.0, 13.0, 14.0, 15.0, 16.0, 17.0]);
}

// C2-4, C2-6: all losses of a window make one reduction; a loss after it makes another.
#[test]
fn one_reduction_for_a_congestion_event() {
    let mut bench = Bench::with_cwnd(20);
    bench.send(20);
    bench.arrive([101, 102]);
    bench.acknowledged();
    assert_eq!(
        bench.stats().counts.lost,
        0,
        "two later packets are not three"
    );
    bench.arrive([103, 105]);
    bench.acknowledged();
    let stats = bench.stats();
    assert_eq!(
        (stats.cwnd, stats.ssthresh, stats.counts.lost),
        (11.0, 11.0, 1)
    );
    bench.arrive([106, 107, 110, 111, 112]);
    bench.acknowledged();
    let stats = bench.stats();
    assert_eq!(
        (stats.counts.lost, stats.counts.reductions, stats.cwnd),
        (4, 1, 11.0)
    );
    // Packets sent from now on belong to the next event.
    bench.send(100);
    bench.arrive(113..120);
    bench.arrive([121, 122, 123]);
    bench.acknowledged();
    let stats = bench.stats();
    assert_eq!((stats.counts.lost, stats.counts.reductions), (5, 2));
    assert!(stats.cwnd < 7.0);
}

// "cwnd halves per loss packet" (Chen, Yang and Hong 2010, section 4.1).
#[test]
fn each_lost_packet_may_halve_cwnd() {
    let mut bench = Bench::new(&Config {
        initial_cwnd: Some(64.0),
        reductions: Reductions::PerPacket,
        ..Config::default()
    });
    bench.send(64);
    // 100 and 101 are missing.
    bench.arrive(102..105);
    bench.acknowledged();
    let stats = bench.stats();
    assert_eq!((stats.counts.lost, stats.counts.reductions), (2, 2));
    assert_eq!(stats.cwnd, 16.0);
    // 105 belongs to the same event.
    bench.arrive(106..109);
    bench.acknowledged();
    let stats = bench.stats();
    assert_eq!((stats.counts.lost, stats.counts.reductions), (3, 3));
    assert_eq!(stats.cwnd, 8.0);
}

// C2-6: a mark is a congestion event.
#[test]
fn a_mark_halves_cwnd() {
    let mut bench = Bench::with_cwnd(20);
    bench.send(20);
    bench.peer.record(SeqNo::new(100), Ecn::Ce);
    bench.peer.record(SeqNo::new(101), Ecn::Ce);
    bench.acknowledged();
    let stats = bench.stats();
    assert_eq!((stats.cwnd, stats.ssthresh), (10.0, 10.0));
    assert_eq!(
        (stats.counts.marked, stats.counts.lost, stats.pipe),
        (2, 0, 18)
    );
    bench.peer.record(SeqNo::new(102), Ecn::Ce);
    bench.acknowledged();
    assert_eq!(bench.stats().counts.reductions, 1);
}

// C2-6, C2-4: timeout.
#[test]
fn a_timeout_starts_over_and_backs_off() {
    let mut bench = Bench::with_cwnd(20);
    bench.send(20);
    let first = bench.sender.deadline().unwrap();
    assert_eq!(first, bench.now + Duration::from_secs(1));
    bench.sender.expire(first - MS);
    assert_eq!(bench.stats().counts.timeouts, 0);
    bench.now = first;
    bench.sender.expire(first);
    let stats = bench.stats();
    assert_eq!((stats.cwnd, stats.ssthresh, stats.pipe), (1.0, 10.0, 0));
    assert_eq!(bench.sender.deadline(), None, "nothing is out");
    assert_eq!(bench.send(100), 1);
    assert_eq!(
        bench.sender.deadline(),
        Some(bench.now + Duration::from_secs(2))
    );
    // The late detection of earlier losses belongs to the same event.
    bench.arrive([117, 118, 119]);
    bench.acknowledged();
    let stats = bench.stats();
    assert_eq!((stats.counts.lost, stats.counts.reductions), (17, 0));
    assert_eq!(stats.pipe, 1);
}

// C2-6: one sample per window of data, minus the peer's delay. The time that a Timestamp waited for
// its echo is not part of that delay.
#[test]
fn samples_the_round_trip_time_once_a_window() {
    let elapsed = [
        DccpOption::TimestampEcho {
            echo: 0,
            elapsed: Some(ElapsedTime::Short(9_000)),
        },
        DccpOption::ElapsedTime(ElapsedTime::Short(2_000)),
    ];
    let mut bench = Bench::with_cwnd(4);
    bench.send(4);
    bench.now += MS * 120;
    bench.arrive([100, 101]);
    bench.acknowledged_with(&elapsed);
    assert_eq!(bench.stats().srtt, Some(MS * 100));
    bench.now += MS * 300;
    bench.arrive([102]);
    bench.acknowledged();
    assert_eq!(bench.stats().srtt, Some(MS * 100));

    let mut eager = Bench::new(&Config {
        initial_cwnd: Some(4.0),
        ..Config::ns2()
    });
    eager.send(4);
    for number in 100..102 {
        eager.now += MS * 100;
        eager.arrive([number]);
        eager.acknowledged();
    }
    assert_eq!(eager.stats().srtt, Some(Duration::from_micros(112_500)));
}

// C2-6: each acknowledgement of new data restarts the timer; with nothing outstanding it stops.
#[test]
fn the_timer_runs_while_data_is_out() {
    let mut bench = Bench::with_cwnd(3);
    assert_eq!(bench.sender.deadline(), None);
    bench.emit(false, None);
    assert_eq!(bench.sender.deadline(), None);
    bench.send(3);
    bench.now += RTT;
    bench.arrive([100, 101]);
    bench.acknowledged();
    let deadline = bench.sender.deadline();
    assert_eq!(deadline, Some(bench.now + MS * 300));
    bench.now += MS;
    bench.acknowledged();
    assert_eq!(
        bench.sender.deadline(),
        deadline,
        "a duplicate does not restart it"
    );
    bench.arrive([102, 103]);
    bench.acknowledged();
    assert_eq!(bench.sender.deadline(), None);
}

// C2-6: the peer may delay the acknowledgement of fewer packets than the Ack Ratio, by more than
// samples show.
#[test]
fn a_delayed_acknowledgement_is_awaited() {
    let mut bench = Bench::with_cwnd(4);
    bench.send(2);
    bench.now += RTT;
    bench.arrive([100, 101]);
    bench.acknowledged();
    let rto = bench.stats().rto;
    assert_eq!(rto, MS * 300);
    let first = bench.now;
    bench.send(1);
    assert_eq!(bench.sender.deadline(), Some(first + rto + MS * 200));
    // A second packet makes the acknowledgement due, and gets its own time.
    bench.now += MS * 100;
    bench.send(1);
    assert_eq!(bench.sender.deadline(), Some(bench.now + rto));
    let mut slow = Bench::with_cwnd(4);
    slow.send(2);
    slow.now += RTT;
    slow.arrive([100, 101]);
    slow.acknowledged();
    slow.sender.on_ack_ratio(3);
    slow.send(2);
    assert_eq!(slow.sender.deadline(), Some(slow.now + rto + MS * 200));
}

/// However late a packet is sent that makes an acknowledgement due, there is time to acknowledge
/// it: the timer does not move into the past.
#[test]
fn a_late_second_packet_does_not_time_out_at_once() {
    let mut bench = Bench::with_cwnd(4);
    bench.send(2);
    bench.now += RTT;
    bench.arrive([100, 101]);
    bench.acknowledged();
    bench.send(1);
    bench.now += MS * 450;
    bench.send(1);
    assert!(bench.sender.deadline().unwrap() > bench.now);
}

// C2-8: after more than an RTO without data, slow start from the initial window.
#[test]
fn an_idle_sender_restarts() {
    for (idle, restarts) in [(MS * 50, false), (Duration::from_secs(5), true)] {
        let mut bench = Bench::new(&Config::default());
        (0..5).for_each(|_| bench.round());
        let grown = bench.cwnd();
        bench.now += idle;
        assert_eq!(bench.send(1), 1);
        assert_eq!(bench.cwnd(), if restarts { 4.0 } else { grown });
    }
    let mut keeping = Bench::new(&Config {
        idle: IdleRule::Keep,
        ..Config::default()
    });
    (0..5).for_each(|_| keeping.round());
    let grown = keeping.cwnd();
    keeping.now += Duration::from_secs(5);
    keeping.send(1);
    assert_eq!(keeping.cwnd(), grown);
}

// C2-8: cwnd does not grow beyond what the application uses.
#[test]
fn an_application_limited_sender_does_not_grow() {
    let mut bench = Bench::new(&Config::default());
    for _ in 0..3 {
        bench.round();
    }
    let used = bench.cwnd();
    for _ in 0..50 {
        let first = bench.next;
        assert_eq!(bench.send(3), 3);
        bench.now += RTT;
        bench.arrive(first..first + 3);
        bench.acknowledged();
    }
    assert_eq!(bench.cwnd(), used);
    bench.round();
    assert!(bench.cwnd() > used, "and it grows again when it is used");
}

// C2-9, D11.6-1
#[test]
fn a_slow_receiver_stops_growth_for_a_round_trip_time() {
    let mut bench = Bench::new(&Config::default());
    bench.round();
    bench.round();
    let before = bench.cwnd();
    bench.send(100);
    let first = bench.next - before as u64;
    bench.now += RTT;
    // As many as would increase cwnd.
    bench.arrive(first..first + 4);
    bench.acknowledged_with(&[DccpOption::SlowReceiver]);
    let stats = bench.stats();
    assert_eq!(
        (stats.cwnd, stats.ssthresh),
        (before, before),
        "slow start is over"
    );
    bench.arrive(first..bench.next);
    bench.acknowledged();
    assert_eq!(bench.cwnd(), before);
    bench.round();
    bench.round();
    assert!(bench.cwnd() > before);
}

// D11.7-1, D11.7-2, C2-9: by Drop Code.
#[test]
fn drop_codes_have_their_responses() {
    for (code, cwnd, ssthresh) in [
        (0x80, 21.0, f64::INFINITY),
        (0xa1, 19.0, 19.0),
        (0xb0, 10.0, 10.0),
        (0xc0, 10.0, 10.0),
        (0xf0, 10.0, 10.0),
    ] {
        let mut bench = Bench::with_cwnd(20);
        bench.send(20);
        bench.arrive([100, 101]);
        let dropped = [data_dropped(&[code])];
        bench.acknowledged_with(&dropped);
        let stats = bench.stats();
        assert_eq!((stats.cwnd, stats.ssthresh), (cwnd, ssthresh), "{code:x}");
        // The peer repeats it until the acknowledgement is acknowledged.
        bench.acknowledged_with(&dropped);
        assert_eq!(bench.cwnd(), cwnd, "{code:x} again");
    }
}

// D11.7-2: the peer has stopped listening.
#[test]
fn drop_code_1_stops_the_sender() {
    let mut bench = Bench::with_cwnd(20);
    bench.send(10);
    bench.arrive([100, 101]);
    assert!(!bench.sender.peer_stopped_listening());
    bench.acknowledged_with(&[data_dropped(&[0x90])]);
    assert!(bench.sender.peer_stopped_listening());
    assert_eq!(bench.sender.may_send(bench.now, 1), Permit::Blocked);
}

// D11.7-1: reports about packets that did not arrive are ignored.
#[test]
fn packets_not_received_cannot_have_been_dropped_by_the_peer() {
    let mut bench = Bench::with_cwnd(20);
    bench.send(20);
    bench.arrive([100, 102]);
    bench.acknowledged_with(&[data_dropped(&[0, 0xb0, 0, 0xbf, 0xbf])]);
    assert_eq!(bench.stats().counts.dropped_by_peer, 0);
    assert_eq!(bench.stats().counts.reductions, 0);
}

// D11.7-3: W + (W_new1 - W) + (W_new2 - W): a halving from 20 to 10 and three buffer drops make 7.
#[test]
fn drops_and_losses_add_up() {
    let mut bench = Bench::with_cwnd(20);
    bench.send(20);
    bench.arrive([101, 102, 103]);
    bench.acknowledged_with(&[data_dropped(&[0xa2])]);
    let stats = bench.stats();
    assert_eq!(
        (stats.cwnd, stats.counts.lost, stats.counts.dropped_by_peer),
        (7.0, 1, 3)
    );
}

// C2-13: once per cwnd of data packets, while there are acknowledgements to acknowledge.
#[test]
fn acknowledges_acknowledgements_once_a_window() {
    let mut bench = Bench::new(&Config {
        initial_cwnd: Some(10.0),
        initial_ssthresh: 10.0,
        ..Config::default()
    });
    bench.send(10);
    assert!(
        !bench.sender.ack_of_ack_due(),
        "nothing has been acknowledged"
    );
    bench.arrive(100..104);
    bench.acknowledged();
    assert!(bench.sender.ack_of_ack_due());
    bench.emit(true, Some(5000));
    assert!(!bench.sender.ack_of_ack_due());
    for sent in 1..=12 {
        bench.arrive([bench.next - 6]);
        bench.acknowledged();
        bench.emit(true, None);
        assert_eq!(
            bench.sender.ack_of_ack_due(),
            f64::from(sent) >= bench.cwnd(),
            "{sent}"
        );
    }
}

// Section 6.2.1, in ns-2's variant: a peer that sends data is acknowledged anyway.
#[test]
fn ns2_acknowledges_acknowledgements_of_a_quiescent_peer() {
    for (peer_sends, is_due) in [(true, false), (false, true)] {
        let mut bench = Bench::new(&Config {
            initial_ssthresh: 4.0,
            ..Config::ns2()
        });
        for _ in 0..4 {
            bench.round();
            if peer_sends {
                bench.peer_data();
            }
        }
        assert_eq!(bench.sender.ack_of_ack_due(), is_due);
    }
}

// C2-14, D12.3-1: a receiver that conceals a mark must guess a nonce; a wrong guess counts as a
// mark.
#[test]
fn a_wrong_nonce_echo_counts_as_a_mark() {
    for (verify_nonce, reductions) in [(true, 1), (false, 0)] {
        let config = Config {
            initial_cwnd: Some(10.0),
            verify_nonce,
            ..Config::default()
        };
        let mut bench = Bench::new(&config);
        bench.ecn = Ecn::Ect1;
        bench.send(10);
        let lie = |nonce| {
            OptionList::from_iter([DccpOption::AckVector {
                nonce,
                cells: [2][..].into(),
            }])
        };
        bench.peer.record(SeqNo::new(102), Ecn::Ect1);
        bench.deliver(&lie(true), Ecn::Ect0);
        assert_eq!(bench.stats().counts.reductions, 0);
        bench.deliver(&lie(false), Ecn::Ect0);
        assert_eq!(bench.stats().counts.reductions, reductions);
    }
}

// C2-11: the sender's part.
#[test]
fn lost_acknowledgements_raise_the_ack_ratio() {
    let mut bench = Bench::with_cwnd(40);
    assert_eq!(bench.sender.ack_ratio(), Some(2));
    bench.send(40);
    for number in 100..106 {
        bench.arrive([number]);
        bench.acknowledged();
        bench.peer_next += u64::from(number == 101);
    }
    assert_eq!(bench.sender.ack_ratio(), Some(4));
    bench.arrive([106]);
    let mut options = OptionList::new();
    bench.peer.options(&mut options);
    bench.deliver(&options, Ecn::Ce);
    assert_eq!(bench.sender.ack_ratio(), Some(4), "the same window");
}

// D7.5: about five times the packets per round-trip time.
#[test]
fn asks_for_a_sequence_window_of_five_windows() {
    assert_eq!(Bench::with_cwnd(4).sender.sequence_window(), Some(100));
    assert_eq!(Bench::with_cwnd(60).sender.sequence_window(), Some(300));
}

#[test]
fn growth_laws_can_be_exchanged() {
    let config = Config {
        growth: GrowthLaw::Ns2TcpLike,
        ..Config::default()
    };
    let mut bench = Bench::new(&config);
    bench.round();
    bench.round();
    assert_eq!(bench.cwnd(), 16.0);
}
