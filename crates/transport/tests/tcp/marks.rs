//! What a sender reports to its control about marked packets.

use std::sync::{Arc, Mutex};

use skywave_congestion::{Ack, AnyControl, Control, Loss, Mark, MarkedPackets};
use skywave_transport::tcp::{
    EcnUse, LimitedTransmit, Ports, Receiver, ReceiverConfig, SenderConfig,
};
use skywave_transport::{Drain, Drained, Driven, Transmit};
use skywave_units::Instant;
use skywave_wire::Ecn;
use skywave_wire::tcp::{Flags, Segment};

use crate::script::{RTT, Script, config};

/// A call of a control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Call {
    /// Packets and bytes.
    Marked(u32, Option<u64>),
    Ack(u32),
    Mark,
    Loss,
}

/// A control with a constant window that records its calls.
struct Listener(Arc<Mutex<Vec<Call>>>);

impl Listener {
    fn record(&self, call: Call) {
        self.0.lock().unwrap().push(call);
    }
}

impl Control for Listener {
    fn on_packets_marked(&mut self, marked: &MarkedPackets) {
        self.record(Call::Marked(marked.packets, marked.bytes));
    }
    fn on_ack(&mut self, ack: &Ack) {
        self.record(Call::Ack(ack.newly_acked));
    }
    fn on_mark(&mut self, _mark: &Mark) {
        self.record(Call::Mark);
    }
    fn on_loss(&mut self, _loss: &Loss) {
        self.record(Call::Loss);
    }
    fn on_timeout(&mut self, _now: Instant, _in_flight: u32) {}
    fn limit_cwnd(&mut self, _limit: f64) {}
    fn cwnd(&self) -> f64 {
        8.0
    }
}

/// Returns a sender of an endless stream that has sent its SYN, and the calls of its control.
fn connecting() -> (Script, Arc<Mutex<Vec<Call>>>) {
    let calls = Arc::default();
    let control = AnyControl::new(Listener(Arc::clone(&calls)));
    let config = SenderConfig {
        ecn: EcnUse::Rfc3168,
        limited_transmit: LimitedTransmit::Off,
        ..config()
    };
    let mut script = Script::with_control(config, control);
    script.apply(|sender| sender.write_unlimited()).unwrap();
    (script, calls)
}

/// Returns the same with eight segments in flight.
fn eight_in_flight() -> (Script, Arc<Mutex<Vec<Call>>>) {
    let (mut script, calls) = connecting();
    script.accept();
    script.now += RTT;
    (script, calls)
}

/// Returns the calls since the last time.
fn news(calls: &Mutex<Vec<Call>>) -> Vec<Call> {
    core::mem::take(&mut *calls.lock().unwrap())
}

#[test]
fn each_echo_is_reported_and_only_the_first_of_a_window_is_an_event() {
    let (mut script, calls) = eight_in_flight();
    script.ack(1001);
    assert_eq!(news(&calls), [Call::Ack(1)]);
    script.echo(3001);
    let first = [Call::Marked(2, Some(2000)), Call::Ack(2), Call::Mark];
    assert_eq!(news(&calls), first);
    // Parts of a segment are counted once they add up to a whole one.
    script.echo(3501);
    assert_eq!(news(&calls), [Call::Marked(0, Some(500)), Call::Ack(0)]);
    script.echo(4001);
    assert_eq!(news(&calls), [Call::Marked(1, Some(500)), Call::Ack(1)]);
    // A duplicate acknowledges nothing.
    script.echo(4001);
    script.ack(5001);
    assert_eq!(news(&calls), [Call::Ack(1)]);
}

/// No acknowledgement during a recovery reaches `on_ack`, but its marks are reported.
#[test]
fn echoes_are_reported_in_a_recovery() {
    let (mut script, calls) = eight_in_flight();
    for _ in 0..3 {
        script.ack(1);
    }
    assert_eq!(news(&calls), [Call::Loss]);
    script.echo(2001);
    assert_eq!(news(&calls), [Call::Marked(2, Some(2000))]);
}

fn drained(mut drain: Drain<'_, Receiver>) -> Drained<Vec<Segment>> {
    let sent = std::iter::from_fn(|| drain.transmit());
    let sent = sent.map(|Transmit { packet, .. }| packet).collect();
    drain.finish().map(|_| sent)
}

/// RFC 3168 section 6.1.3: a receiver repeats a mark until CWR arrives. So the packets reported are
/// those that it received from a mark up to CWR; all of them, if all are marked.
#[test]
fn what_is_reported_follows_from_what_the_receiver_sees() {
    for every in [1, 3, 40] {
        let (mut script, calls) = connecting();
        let ports = Ports {
            local: 2,
            remote: 1,
        };
        let config = ReceiverConfig {
            ecn: EcnUse::Rfc3168,
            delayed_ack: None,
            ..ReceiverConfig::default()
        };
        let mut receiver = Driven::new(Receiver::new(config, ports, 3));
        let (mut received, mut marked, mut echoed) = (0, 0, 0);
        let mut echoes = false;
        for _ in 0..30 {
            let segments = core::mem::take(&mut script.segments);
            script.now += RTT;
            for segment in segments {
                let mut ecn = Ecn::NotEct;
                if !segment.payload.is_empty() {
                    received += 1;
                    let is_marked = received % every == 0;
                    ecn = if is_marked { Ecn::Ce } else { Ecn::Ect0 };
                    marked += u32::from(is_marked);
                    let cwr = segment.flags.contains(Flags::CWR);
                    echoes = is_marked || echoes && !cwr;
                    echoed += u32::from(echoes);
                }
                for answer in receiver.receive(script.now, ecn, segment, drained) {
                    script.relay(answer);
                }
            }
        }
        assert!(received > 200, "{received}");
        let told: u32 = news(&calls)
            .into_iter()
            .map(|call| match call {
                Call::Marked(packets, bytes) => {
                    assert_eq!(bytes, Some(1000 * u64::from(packets)));
                    packets
                }
                _ => 0,
            })
            .sum();
        assert_eq!(told, echoed);
        assert!(told >= marked);
        assert_eq!(every == 1, told == received);
    }
}
