//! [`AnyControl`] forwards each call to the control that it wraps, and returns its answer. A
//! control that defines only the required methods has the documented defaults.

use std::io;
use std::sync::{Arc, Mutex};

use skywave_congestion::{
    Ack, AckedPacket, AnyControl, Control, Interests, Loss, LostPacket, Mark, MarkedPackets,
    MemberFailure, Pacing, Sent,
};
use skywave_units::{Duration, Instant};
use skywave_wire::Ecn;

use crate::support::{loss, sent};

const NOW: Instant = Instant::from_nanos(7);

const MARK: Mark = Mark::new(NOW, 9, 2);

const ACKED: AckedPacket = AckedPacket::new(3, NOW, 1, Ecn::NotEct);

const ACK: Ack = Ack::new(NOW, 5, 4);

/// A control that records its calls, and whose answers differ from the trait's defaults.
struct Notes(Arc<Mutex<Vec<String>>>);

impl Notes {
    fn add(&self, call: &str, value: impl ToString) {
        let note = format!("{call} {}", value.to_string());
        self.0.lock().unwrap().push(note);
    }
}

impl Control for Notes {
    fn interests(&self) -> Interests {
        Interests {
            delivery_rate: true,
            ..Interests::default()
        }
    }

    fn on_handshake(&mut self, rtt: Duration) {
        self.add("handshake", rtt.as_micros());
    }

    fn on_sent(&mut self, sent: &Sent) {
        self.add("sent", sent.in_flight);
    }

    fn on_packet_acked(&mut self, packet: &AckedPacket) {
        self.add("packet acked", packet.number);
    }

    fn on_packet_lost(&mut self, packet: &LostPacket) {
        self.add("packet lost", packet.number);
    }

    fn on_packets_marked(&mut self, marked: &MarkedPackets) {
        self.add("packets marked", marked.packets);
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.add("ack", ack.newly_acked);
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.add("loss", loss.in_flight);
    }

    fn on_mark(&mut self, mark: &Mark) {
        self.add("mark", mark.marked);
    }

    fn on_timeout(&mut self, _now: Instant, in_flight: u32) {
        self.add("timeout", in_flight);
    }

    fn on_spurious_loss(&mut self, now: Instant) {
        self.add("spurious loss", now.as_nanos());
    }

    fn on_restart(&mut self, now: Instant) {
        self.add("restart", now.as_nanos());
    }

    fn on_receiver_overload(&mut self, _now: Instant, dropped: u32) {
        self.add("receiver overload", dropped);
    }

    fn limit_cwnd(&mut self, limit: f64) {
        self.add("limit", limit);
    }

    fn on_validation(&mut self, cwnd: f64, ssthresh: f64) {
        self.add("validation", cwnd + ssthresh);
    }

    fn cwnd(&self) -> f64 {
        12.5
    }

    fn ssthresh(&self) -> f64 {
        3.5
    }

    fn pacing(&self) -> Option<Pacing> {
        Some(Pacing {
            interval: Duration::from_millis(2),
            quantum: 3,
        })
    }

    fn inner_values(&self, record: &mut dyn FnMut(&'static str, f64)) {
        record("notes", 1.0);
    }

    fn failure(&self) -> Option<MemberFailure> {
        Some(MemberFailure::new(io::Error::other("it only takes notes")))
    }
}

fn inner_values(control: &dyn Control) -> Vec<(&'static str, f64)> {
    let mut values = Vec::new();
    control.inner_values(&mut |name, value| values.push((name, value)));
    values
}

#[test]
fn any_control_forwards_each_call() {
    let notes = Arc::default();
    let mut control = AnyControl::new(Notes(Arc::clone(&notes)));
    control.on_handshake(Duration::from_micros(14));
    control.on_sent(&sent(NOW, 1));
    control.on_packet_acked(&ACKED);
    control.on_packet_lost(&LostPacket::new(NOW, 4, NOW, 1));
    control.on_packets_marked(&MarkedPackets::new(NOW, 13, None));
    control.on_ack(&ACK);
    control.on_loss(&loss(NOW, 6));
    control.on_mark(&MARK);
    control.on_timeout(NOW, 8);
    control.on_spurious_loss(NOW);
    control.on_restart(NOW);
    control.on_receiver_overload(NOW, 10);
    control.limit_cwnd(11.5);
    control.on_validation(12.5, 3.5);
    assert_eq!(
        *notes.lock().unwrap(),
        [
            "handshake 14",
            "sent 1",
            "packet acked 3",
            "packet lost 4",
            "packets marked 13",
            "ack 5",
            "loss 6",
            "mark 2",
            "timeout 8",
            "spurious loss 7",
            "restart 7",
            "receiver overload 10",
            "limit 11.5",
            "validation 16",
        ]
    );
    assert!(control.interests().delivery_rate);
    assert_eq!((control.cwnd(), control.ssthresh()), (12.5, 3.5));
    assert_eq!(control.pacing().unwrap().quantum, 3);
    assert_eq!(inner_values(&control), [("notes", 1.0)]);
    let failure = control.failure().unwrap().to_string();
    assert!(failure.contains("it only takes notes"), "{failure}");
}

/// A control that defines only the required methods.
struct Least {
    losses: Vec<u32>,
}

impl Control for Least {
    fn on_ack(&mut self, _ack: &Ack) {}

    fn on_loss(&mut self, loss: &Loss) {
        self.losses.push(loss.in_flight);
    }

    fn on_timeout(&mut self, _now: Instant, _in_flight: u32) {}

    fn limit_cwnd(&mut self, _limit: f64) {}

    fn cwnd(&self) -> f64 {
        1.0
    }
}

/// RFC 3168 section 5: a mark is a loss, unless a control says otherwise.
#[test]
fn what_a_control_need_not_define_says_nothing_and_marks_are_losses() {
    let mut control = Least { losses: Vec::new() };
    assert_eq!(control.interests(), Interests::default());
    assert_eq!(control.ssthresh(), f64::INFINITY);
    assert_eq!(control.pacing(), None);
    assert_eq!(inner_values(&control), []);
    assert_eq!(control.failure(), None);
    control.on_mark(&MARK);
    assert_eq!(control.losses, [9]);
}
