//! What a control hears of CCID 2's acknowledgements: packets, marks, round-trip times, and losses that
//! were none.

use skywave_congestion::{
    Ack, AckedPacket, AnyControl, Interests, Loss, Mark, MarkedPackets, Pacing, Sent,
};

use super::*;

/// A control that paces and records its calls.
#[derive(Debug, Default)]
struct Recorder {
    sent: u32,
    acked: Vec<Ecn>,
    marked: u32,
    marks: u32,
}

impl Control for Recorder {
    fn on_sent(&mut self, sent: &Sent) {
        self.sent += 1;
        assert_eq!(
            (sent.in_flight, sent.number),
            (self.sent, 99 + u64::from(self.sent))
        );
        assert_eq!((sent.bytes, sent.application_limited), (1000, false));
    }
    fn on_packet_acked(&mut self, packet: &AckedPacket) {
        self.acked.push(packet.ecn);
    }
    fn on_packets_marked(&mut self, marked: &MarkedPackets) {
        assert_eq!(marked.bytes, None);
        self.marked += marked.packets;
    }
    fn on_ack(&mut self, ack: &Ack) {
        assert_eq!(self.marked, ack.marked);
        assert_eq!(self.acked.len(), ack.newly_acked as usize);
        assert_eq!(self.acked, [Ecn::Ce, Ecn::Ect0]);
        assert_eq!((ack.in_flight, ack.ack_ratio, ack.rtt), (1, 2, Some(RTT)));
        assert_eq!(ack.marked, 1);
        let rate = ack.delivery_rate.unwrap();
        assert_eq!((rate.delivered, rate.total_delivered), (2000, 2000));
    }
    fn interests(&self) -> Interests {
        Interests {
            delivery_rate: true,
            ..Interests::default()
        }
    }
    fn on_loss(&mut self, loss: &Loss) {
        panic!("nothing was lost: {loss:?}");
    }
    fn on_mark(&mut self, mark: &Mark) {
        assert_eq!((mark.in_flight, mark.marked), (3, 1));
        self.marks += 1;
    }
    fn on_timeout(&mut self, _now: Instant, _in_flight: u32) {}
    fn limit_cwnd(&mut self, _limit: f64) {}
    fn cwnd(&self) -> f64 {
        3.5
    }
    fn ssthresh(&self) -> f64 {
        f64::INFINITY
    }
    fn pacing(&self) -> Option<Pacing> {
        Some(Pacing::of_packets(MS, 1, 1000))
    }
    fn inner_values(&self, record: &mut dyn FnMut(&'static str, f64)) {
        record("marks", self.marks.into());
    }
}

// C2-7: any control works with this transport.
#[test]
fn any_control_can_steer_the_sender() {
    let control = AnyControl::new(Recorder::default());
    let mut bench = Bench::new(&Config::default());
    bench.sender = Sender::with_control(&Config::default(), control, 2, VectorKind::Ack);
    for _ in 0..3 {
        assert_eq!(bench.send(10), 1);
        assert_eq!(
            bench.sender.may_send(bench.now, 1),
            match bench.stats().pipe {
                3 => Permit::Blocked,
                _ => Permit::At(bench.now + MS),
            }
        );
        bench.now += MS;
    }
    bench.now += RTT - MS * 2;
    bench.arrive([100]);
    bench.peer.record(SeqNo::new(101), Ecn::Ce);
    bench.acknowledged();
    assert_eq!(bench.stats().counts.marked, 1);
    let mut marks = None;
    bench
        .sender
        .inner_values(&mut |name, value| marks = Some((name, value)));
    assert_eq!(marks, Some(("marks", 1.0)));
}

/// A control that counts the round-trip times reported to it.
#[derive(Default)]
struct Stopwatch {
    samples: u32,
}

impl Control for Stopwatch {
    fn on_ack(&mut self, ack: &Ack) {
        self.samples += u32::from(ack.rtt.is_some());
    }
    fn on_loss(&mut self, _loss: &Loss) {}
    fn on_timeout(&mut self, _now: Instant, _in_flight: u32) {}
    fn limit_cwnd(&mut self, _limit: f64) {}
    fn cwnd(&self) -> f64 {
        100.0
    }
    fn inner_values(&self, record: &mut dyn FnMut(&'static str, f64)) {
        record("samples", self.samples.into());
    }
}

/// RFC 4341 section 5: the timeout takes one sample per window, whatever the control learns.
#[test]
fn a_control_can_learn_every_round_trip_time() {
    for (every_rtt, samples) in [(false, 1.0), (true, 4.0)] {
        let control = AnyControl::new(Stopwatch::default());
        let mut bench = Bench::new(&Config::default());
        let sender = Sender::with_control(&Config::default(), control, 2, VectorKind::Ack);
        bench.sender = sender.with_every_rtt(every_rtt);
        assert_eq!(bench.send(8), 8);
        bench.now += RTT;
        for first in [100, 102, 104, 106] {
            bench.now += MS;
            bench.arrive([first, first + 1]);
            bench.acknowledged();
        }
        assert_eq!(told(&bench), [samples]);
        // The first; the others were 1 to 3 ms longer.
        assert_eq!(bench.stats().srtt, Some(RTT + MS), "{every_rtt}");
    }
}

/// A control that counts the losses, spurious losses and marks reported to it.
#[derive(Default)]
struct Doubter {
    losses: u32,
    spurious: u32,
    marks: u32,
}

impl Control for Doubter {
    fn on_ack(&mut self, _ack: &Ack) {}
    fn on_loss(&mut self, loss: &Loss) {
        self.losses += loss.lost;
    }
    fn on_mark(&mut self, mark: &Mark) {
        self.marks += mark.marked;
    }
    fn on_spurious_loss(&mut self, _now: Instant) {
        self.spurious += 1;
    }
    fn on_timeout(&mut self, _now: Instant, _in_flight: u32) {}
    fn limit_cwnd(&mut self, _limit: f64) {}
    fn cwnd(&self) -> f64 {
        100.0
    }
    fn inner_values(&self, record: &mut dyn FnMut(&'static str, f64)) {
        record("losses", self.losses.into());
        record("spurious", self.spurious.into());
        record("marks", self.marks.into());
    }
}

fn doubting() -> Bench {
    let mut bench = Bench::new(&Config::default());
    let control = AnyControl::new(Doubter::default());
    bench.sender = Sender::with_control(&Config::default(), control, 2, VectorKind::Ack);
    bench
}

/// The counts of a [`Doubter`].
fn told(bench: &Bench) -> Vec<f64> {
    let mut told = Vec::new();
    bench.sender.inner_values(&mut |_, value| told.push(value));
    told
}

/// Packets 101 and 102 are overtaken by four others and count as lost, but both arrive. The next
/// two arrive too late and stay lost.
#[test]
fn a_loss_that_was_none_is_told_to_the_control() {
    let mut bench = doubting();
    bench.send(7);
    bench.now += RTT;
    bench.arrive([100, 103, 104, 105, 106]);
    bench.acknowledged();
    assert_eq!(told(&bench), [2.0, 0.0, 0.0]);
    bench.now += MS;
    bench.arrive([101]);
    bench.acknowledged();
    assert_eq!(told(&bench), [2.0, 0.0, 0.0]);
    bench.arrive([102]);
    bench.acknowledged();
    assert_eq!(told(&bench), [2.0, 1.0, 0.0]);

    bench.send(6);
    bench.now += RTT;
    bench.arrive([109, 110, 111, 112]);
    bench.acknowledged();
    bench.now += RTT * 10;
    bench.arrive([107, 108]);
    bench.acknowledged();
    assert_eq!(told(&bench), [4.0, 1.0, 0.0]);
}

/// A sender that has sent packets 100 to 119, and counts 101 as lost.
fn doubtful() -> Bench {
    let mut bench = doubting();
    assert_eq!(bench.send(20), 20);
    bench.now += RTT;
    bench.arrive([100, 102, 103, 104]);
    bench
}

/// The late packet 101 arrives. Returns the number of events reported as spurious.
fn spurious(mut bench: Bench, late: Ecn) -> f64 {
    bench.now += MS;
    bench.peer.record(SeqNo::new(101), late);
    bench.acknowledged();
    told(&bench)[1]
}

#[test]
fn a_loss_is_real_where_another_packet_of_its_event_stays_lost() {
    let mut bench = doubtful();
    bench.acknowledged();
    bench.arrive((105..110).chain(111..115));
    bench.acknowledged();
    assert_eq!(bench.stats().counts.lost, 2);
    assert_eq!(bench.stats().counts.reductions, 1);
    assert_eq!(spurious(bench, Ecn::Ect0), 0.0);
}

#[test]
fn a_loss_is_real_where_packets_were_marked_as_well() {
    let with_mark = |before: bool| {
        let mut bench = doubtful();
        if before {
            bench.acknowledged();
        }
        bench.peer.record(SeqNo::new(105), Ecn::Ce);
        bench.acknowledged();
        assert_eq!(bench.stats().counts.reductions, 1);
        spurious(bench, Ecn::Ect0)
    };
    assert_eq!([with_mark(true), with_mark(false)], [0.0; 2]);
}

#[test]
fn a_loss_is_real_where_the_packet_arrives_marked() {
    let mut bench = doubtful();
    bench.acknowledged();
    assert_eq!(spurious(bench, Ecn::Ce), 0.0);
    let mut bench = doubtful();
    bench.acknowledged();
    assert_eq!(spurious(bench, Ecn::Ect0), 1.0);
}

/// As many packets as can be remembered, and one more.
#[test]
fn many_late_packets_are_a_loss() {
    for (lost, expected) in [(8, 1.0), (9, 0.0)] {
        let mut bench = doubting();
        bench.send(20);
        bench.now += RTT;
        bench.arrive([100]);
        bench.arrive(101 + lost..104 + lost);
        bench.acknowledged();
        assert_eq!(told(&bench), [lost as f64, 0.0, 0.0]);
        bench.arrive(102..101 + lost);
        assert_eq!(spurious(bench, Ecn::Ect0), expected, "{lost}");
    }
}

/// The same acknowledgement reveals the loss of an older packet, which belongs to an event already
/// answered.
#[test]
fn a_mark_beside_an_older_loss_is_a_mark() {
    let mut bench = doubtful();
    bench.acknowledged();
    assert_eq!(bench.send(5), 5);
    bench.arrive((105..110).chain(111..120));
    bench.peer.record(SeqNo::new(120), Ecn::Ce);
    bench.acknowledged();
    assert_eq!(bench.stats().counts.lost, 2);
    assert_eq!(told(&bench), [1.0, 0.0, 1.0]);
}
