//! Compares NewReno with ns-2.35: the same segments at the same times, with the same window.
//!
//! The traces are in `validation/ns2`; they show one flow over s1 -8 Mbps, 0.1 ms- r1 -0.8 Mbps,
//! 100 ms- k1, with named drops at the bottleneck.

use std::path::Path;

use skywave_congestion::{Aimd, AimdConfig};
use skywave_transport::tcp::{
    EcnUse, Ports, ReceiveWindow, Receiver, ReceiverConfig, RecoveryAlgorithm, Sender, SenderConfig,
};
use skywave_units::{Duration, Instant};
use skywave_wire::tcp::Flags;

use crate::network::{Direction, Fate, Link, Network, Seen};

const SEGMENT: u32 = 1000;
/// Segments that the receiver's window holds: ns-2's `window_`.
const WINDOW: u32 = 28;
const END: f64 = 8.0;
/// The traces print microseconds.
const TIME_TOLERANCE: f64 = 1e-6;
/// They print the window with three decimals, cut to six digits.
const CWND_TOLERANCE: f64 = 0.0006;

/// The lines of a trace: type, time and value.
#[derive(Default)]
struct Trace {
    /// S: segments sent, by ns-2's numbers (0 is the SYN).
    sent: Vec<(f64, f64)>,
    /// A: acknowledgements that reached the sender: the last segment received in order.
    acknowledged: Vec<(f64, f64)>,
    /// C: cwnd, where it changed.
    cwnd: Vec<(f64, f64)>,
    /// H: ssthresh, where it changed.
    ssthresh: Vec<(f64, f64)>,
}

impl Trace {
    fn read(path: &str) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../validation/ns2");
        let text = std::fs::read_to_string(root.join(path)).unwrap();
        let mut trace = Self::default();
        for line in text.lines().skip(1) {
            let fields: Vec<_> = line.split(',').collect();
            let (time, value) = (fields[1].parse().unwrap(), fields[2].parse().unwrap());
            if time >= END {
                continue;
            }
            match fields[0] {
                "S" => trace.sent.push((time, value)),
                "A" => trace.acknowledged.push((time, value)),
                "C" => trace.cwnd.push((time, value)),
                "H" => trace.ssthresh.push((time, value)),
                _ => {}
            }
        }
        trace
    }

    fn run(drops: &[u64], delayed_ack: Option<Duration>) -> Self {
        let mut sender_config = SenderConfig::ns2(RecoveryAlgorithm::NewReno);
        // ns-2 draws the phase of its clock for each run. In these traces a timeout shows that it
        // is between 2.7 and 8.9 ms; otherwise the timeout would differ by a tick.
        sender_config.rto.tick_phase = Duration::from_millis(5);
        let window = Aimd::new(AimdConfig::ns2_tcp(WINDOW));
        let ports = |local, remote| Ports { local, remote };
        let sender = Sender::new(sender_config, window, ports(1, 2), 7);
        let receiver_config = ReceiverConfig {
            max_segment_size: SEGMENT as u16,
            window: ReceiveWindow::Fixed(WINDOW * SEGMENT),
            syn_options: false,
            timestamps: false,
            sack_blocks: 0,
            dsack: false,
            delayed_ack,
            quick_acks: 0,
            ecn: EcnUse::Off,
        };
        let receiver = Receiver::new(receiver_config, ports(2, 1), 8);
        // The ordinals in the traces count data segments, without the SYN.
        let fate = |direction, ordinal, _: &_| {
            let lost = direction == Direction::Forward && drops.contains(&(ordinal - 1));
            if lost { Fate::Drop } else { Fate::Pass }
        };
        let access = Link::new("8 Mbps", "0.1 ms");
        let bottleneck = Link::new("0.8 Mbps", "100 ms");
        let mut network = Network::new(sender, receiver, access, bottleneck, fate);

        let mut trace = Self::default();
        let mut initial = 0_u32;
        let mut see = |now: Instant, seen: Seen<'_>| {
            let now = now.as_secs_f64();
            match seen {
                Seen::Sent(segment) => {
                    if segment.flags.contains(Flags::SYN) {
                        initial = segment.seq;
                    }
                    let offset = segment.seq.wrapping_sub(initial);
                    let number = if offset == 0 {
                        0
                    } else {
                        (offset - 1) / SEGMENT + 1
                    };
                    trace.sent.push((now, f64::from(number)));
                }
                Seen::Acknowledged(segment) => {
                    let number = (segment.ack.wrapping_sub(initial) - 1) / SEGMENT;
                    trace.acknowledged.push((now, f64::from(number)));
                }
                Seen::Settled(sender, _) => {
                    let stats = sender.get().stats();
                    if stats.srtt.is_some() {
                        push_change(&mut trace.cwnd, now, stats.cwnd);
                    }
                    push_change(&mut trace.ssthresh, now, stats.ssthresh);
                }
                Seen::Answered(_) | Seen::Received(_) => {}
            }
        };
        network.apply(&mut see, |sender| sender.write_unlimited().unwrap());
        network.run(Instant::ZERO + Duration::from_secs_f64(END), &mut see);
        trace
    }

    fn compare(&self, ns2: &Self) {
        assert_same("S", &self.sent, &ns2.sent, 0.0);
        assert_same("A", &self.acknowledged, &ns2.acknowledged, 0.0);
        assert_same("C", &self.cwnd, &ns2.cwnd, CWND_TOLERANCE);
        assert_same("H", &self.ssthresh, &ns2.ssthresh, 0.0);
    }
}

/// ns-2 prints a value only when its printed form changes.
fn push_change(series: &mut Vec<(f64, f64)>, now: f64, value: f64) {
    let printed = (value * 1000.0).round() / 1000.0;
    if series.last().is_none_or(|&(_, last)| last != printed) {
        series.push((now, printed));
    }
}

fn assert_same(what: &str, ours: &[(f64, f64)], ns2: &[(f64, f64)], tolerance: f64) {
    for (index, (our, their)) in ours.iter().zip(ns2).enumerate() {
        assert!(
            (our.0 - their.0).abs() <= TIME_TOLERANCE && (our.1 - their.1).abs() <= tolerance,
            "{what} line {index}: {our:?} here, {their:?} in ns-2"
        );
    }
    assert_eq!(ours.len(), ns2.len(), "{what} lines");
}

#[test]
fn without_loss_the_window_grows_to_the_receivers_and_beyond() {
    Trace::run(&[], None).compare(&Trace::read("canonical/Newreno_drop0.csv"));
}

#[test]
fn one_loss_is_a_fast_retransmit() {
    Trace::run(&[14], None).compare(&Trace::read("canonical/Newreno_drop1.csv"));
}

#[test]
fn two_losses_are_a_partial_acknowledgement() {
    Trace::run(&[14, 28], None).compare(&Trace::read("canonical/Newreno_drop2.csv"));
}

#[test]
fn three_losses_run_into_the_timer_that_is_not_restarted() {
    Trace::run(&[14, 26, 28], None).compare(&Trace::read("canonical/Newreno_drop3.csv"));
}

#[test]
fn four_losses_too() {
    Trace::run(&[14, 24, 26, 28], None).compare(&Trace::read("canonical/Newreno_drop4.csv"));
}

#[test]
fn delayed_acknowledgements_leave_at_the_same_times() {
    let delay = Some(Duration::from_millis(100));
    Trace::run(&[], delay).compare(&Trace::read("canonical_delack/Newreno_drop0.csv"));
}
