//! A peer that lies in its acknowledgements, sequence numbers and times. The connection continues
//! or ends with a Reset; it does not panic or send more than it should.

use std::iter;

use rand::{Rng, RngExt};
use skywave_transport::dccp::{Config, Event, SendError, State};
use skywave_units::{Duration, Random};
use skywave_wire::dccp::{
    DccpOption, ElapsedTime, FeatureNumber, FeatureSide, Kind, OptionBytes, Packet, PacketType,
    ResetCode,
};
use skywave_wire::{Ecn, Payload};

use crate::network::seeded;
use crate::victim::{MILLISECOND, Victim, change, window};

/// Any option, with any contents.
fn any_option(rng: &mut Random) -> DccpOption {
    let longest = if rng.random_ratio(1, 10) { 253 } else { 20 };
    let mut value = vec![0; rng.random_range(0..=longest)];
    rng.fill(&mut value[..]);
    let value = OptionBytes::from_vec(value);
    match rng.random_range(0..5) {
        0 | 1 => DccpOption::AckVector {
            nonce: rng.random(),
            cells: value,
        },
        2 => DccpOption::DataDropped(value),
        3 => DccpOption::Other {
            kind: rng.random_range(32..=255),
            value: Some(value),
        },
        _ => match rng.random_range(0..5) {
            0 => DccpOption::ElapsedTime(ElapsedTime::Long(rng.random())),
            1 => DccpOption::TimestampEcho {
                echo: rng.random(),
                elapsed: None,
            },
            2 => DccpOption::ndp_count(rng.next_u64() >> 16),
            3 => DccpOption::SlowReceiver,
            _ => DccpOption::Timestamp(rng.random()),
        },
    }
}

/// D7.5-5: an acknowledgement of something not sent yet is rejected, whatever it contains.
#[test]
fn acknowledging_the_future_is_invalid() {
    let mut victim = Victim::new(Config::default());
    victim.send(3);
    for ahead in [1, 2, 100, 1 << 24, 1 << 46, (1 << 47) - 1] {
        victim.wait(Duration::from_secs(1));
        let before = victim.end.get().stats();
        let vector = DccpOption::AckVector {
            nonce: false,
            cells: [0x3f; 200].as_slice().into(),
        };
        let ack = victim.gss.add(ahead);
        let sent = victim.say(Kind::Ack { ack }, &[vector]);
        let syncs = sent
            .iter()
            .filter(|packet| packet.kind.packet_type() == PacketType::Sync);
        assert_eq!(syncs.count(), 1, "{sent:?}");
        let after = victim.end.get().stats();
        assert_eq!(
            after.counters.invalid_packets,
            before.counters.invalid_packets + 1
        );
        assert_eq!(after.congestion, before.congestion);
    }
    assert_eq!(victim.state(), State::Open);
}

/// D11.4-3: Ack Vectors that reach far below the first packet, with long runs, in as many options
/// as fit: what was sent counts once, the rest not at all.
#[test]
fn acknowledging_more_than_was_sent_gains_nothing() {
    let mut victim = Victim::new(Config {
        detect_optimistic_acks: false,
        ..Config::default()
    });
    for _ in 0..200 {
        victim.send(40);
        victim.wait(MILLISECOND);
        for state in [0x00, 0x40, 0x80, 0xc0] {
            let cells: OptionBytes = iter::repeat_n(state | 0x3f, 253).collect();
            let vector = DccpOption::AckVector {
                nonce: false,
                cells,
            };
            victim.acknowledge(&[vector.clone(), vector.clone(), vector]);
        }
    }
    let stats = victim.end.get().stats();
    let sent = stats.counters.data_packets_sent as f64;
    assert!(sent > 200.0);
    let cwnd = window(&stats).cwnd;
    assert!(cwnd <= 4.0 + sent / 2.0, "{cwnd} after {sent} packets");
    assert_eq!(victim.state(), State::Open);
}

/// The same with random, mutually contradictory Ack Vectors, and everything else that an
/// acknowledgement can contain.
#[test]
fn contradictory_acknowledgements_leave_the_account_in_order() {
    for (seed, nonces) in (0..40).map(|seed| (seed, seed % 2 == 0)) {
        let mut rng = seeded(seed);
        let mut victim = Victim::new(Config {
            ecn_nonces: nonces,
            ..Config::default()
        });
        for _ in 0..500 {
            victim.send(rng.random_range(0..10));
            victim.wait(MILLISECOND * rng.random_range(0..400));
            let behind = victim.gss.distance_from(victim.iss).min(90) as u64;
            let ack = victim.gss.sub(rng.random_range(0..=behind));
            let options: Vec<_> = (0..rng.random_range(0..4))
                .map(|_| any_option(&mut rng))
                .collect();
            victim.say(Kind::Ack { ack }, &options);
            if victim.state() != State::Open {
                break;
            }
        }
    }
}

/// With nonces, acknowledging data that was not received is detected: cwnd does not grow (RFC 4340
/// section 12.2).
#[test]
fn a_receiver_that_guesses_nonces_is_not_given_more() {
    let cwnd = |is_honest: bool| {
        let mut victim = Victim::new(Config {
            ecn_nonces: true,
            detect_optimistic_acks: false,
            ..Config::default()
        });
        for round in 0..300 {
            victim.send(8);
            let sent = std::mem::take(&mut victim.unreported);
            let Some(last) = sent.len().checked_sub(1) else {
                continue;
            };
            victim.wait(MILLISECOND * 20);
            let parity = sent.iter().filter(|&&ecn| ecn == Ecn::Ect1).count() % 2 == 1;
            let nonce = if is_honest { parity } else { round % 2 == 0 };
            let cells = OptionBytes::from_slice(&[last as u8]);
            victim.acknowledge(&[DccpOption::AckVector { nonce, cells }]);
        }
        window(&victim.end.get().stats()).cwnd
    };
    let (honest, liar) = (cwnd(true), cwnd(false));
    assert!(honest >= 8.0, "{honest}");
    assert!(liar <= 4.0, "{liar}");
}

/// D11.7-1, D11.7-2: Data Dropped for packets that were never sent is ignored; "not listening"
/// counts once it is reported for data that was sent.
#[test]
fn dropping_what_was_never_sent_means_nothing() {
    let mut victim = Victim::new(Config::default());
    let not_listening = |skip: u8| {
        let blocks = OptionBytes::from_slice(&[skip, 0x9f]);
        DccpOption::DataDropped(blocks)
    };
    victim.send(2);
    let cells = OptionBytes::from_slice(&[1]);
    let vector = DccpOption::AckVector {
        nonce: false,
        cells,
    };
    for skip in 0x10..0x80 {
        victim.acknowledge(&[vector.clone(), not_listening(skip)]);
    }
    assert_eq!(victim.events(), [Event::Connected]);
    victim.acknowledge(&[
        vector,
        DccpOption::DataDropped(OptionBytes::from_slice(&[0x90])),
    ]);
    // The latest packet may be an Ack; then it is not data that was dropped.
    victim.send(1);
    let ack = victim.gss;
    let cells = OptionBytes::from_slice(&[0]);
    let vector = DccpOption::AckVector {
        nonce: false,
        cells,
    };
    let dropped = DccpOption::DataDropped(OptionBytes::from_slice(&[0x90]));
    victim.say(Kind::Ack { ack }, &[vector, dropped]);
    assert_eq!(victim.events(), [Event::PeerNotListening]);
    let refused = victim.apply(|end| end.send(Payload::Synthetic(1)));
    assert_eq!(refused, Err(SendError::PeerNotListening));
}

/// A peer declares the widest Sequence Window and then repeatedly jumps ahead.
#[test]
fn leaps_within_a_huge_window_are_survived() {
    let mut victim = Victim::new(Config::default());
    let widest = ((1u64 << 46) - 1).to_be_bytes();
    let feature = FeatureNumber::SEQUENCE_WINDOW.0;
    victim.acknowledge(&[change(FeatureSide::Local, feature, &widest[2..])]);
    let mut rng = seeded(5);
    for _ in 0..2_000 {
        victim.next = victim
            .next
            .add(rng.next_u64() % (1 << rng.random_range(1..45)));
        let before = victim.end.get().stats().counters.packets_received;
        victim.say(Kind::DataAck { ack: victim.gss }, &[]);
        assert_eq!(
            victim.end.get().stats().counters.packets_received,
            before + 1
        );
        victim.apply(|end| end.recv()).unwrap();
        victim.wait(MILLISECOND);
    }
    assert_eq!(victim.state(), State::Open);
}

/// D6-10: a Change is answered although the peer's numbers have advanced by more than half of all
/// since its last one (RFC 4340 erratum 974).
#[test]
fn changes_are_answered_after_half_of_all_numbers() {
    let mut victim = Victim::new(Config::default());
    let widest = ((1u64 << 46) - 1).to_be_bytes();
    let feature = FeatureNumber::SEQUENCE_WINDOW.0;
    victim.acknowledge(&[change(FeatureSide::Local, feature, &widest[2..])]);
    for _ in 0..5 {
        victim.next = victim.next.add(1 << 45);
        victim.acknowledge(&[]);
    }
    let wanted = change(FeatureSide::Local, FeatureNumber::SEND_NDP_COUNT.0, &[1]);
    let sent = victim.acknowledge(&[wanted]);
    let confirms = |packet: &Packet| {
        let mut options = packet.options.iter();
        options.any(|option| matches!(option, DccpOption::Confirm { .. }))
    };
    assert!(sent.iter().any(confirms), "{sent:?}");
}

/// False times do not speed up timers: Elapsed Times longer than the round trip, Timestamp Echoes
/// of what was never sent, a clock that stands still.
#[test]
fn lies_about_time_do_not_speed_up_timers() {
    let mut victim = Victim::new(Config::default());
    let mut sent = 0;
    for _ in 0..1_000 {
        sent += victim.send(4).len();
        let elapsed = DccpOption::ElapsedTime(ElapsedTime::Long(u32::MAX));
        let echo = DccpOption::TimestampEcho {
            echo: 7,
            elapsed: Some(ElapsedTime::Long(u32::MAX)),
        };
        let cells = OptionBytes::from_slice(&[3]);
        let vector = DccpOption::AckVector {
            nonce: false,
            cells,
        };
        sent += victim.acknowledge(&[vector, elapsed, echo]).len();
    }
    // No time has passed, so only acknowledgements release data.
    assert!(sent <= 8_000, "{sent}");
    // No packet returns from now on: retransmission timers back off.
    victim.send(50);
    let sent = victim.wait(Duration::from_secs(60)).len();
    assert!(sent < 400, "{sent} packets in a minute of silence");
}

/// Clocks that jump ahead by hours or centuries, in every state. A timer then fires once, and the
/// connection ends or has a timer in the future.
#[test]
fn the_clock_jumps_ahead() {
    let hour = Duration::from_secs(3_600);
    for jump in [hour, hour * 24 * 366, hour * 24 * 366 * 500] {
        for state in 0..6 {
            let mut victim = match state {
                0 => Victim::in_request(Config::default()),
                _ => Victim::new(Config::default()),
            };
            victim.send(20);
            let now = victim.now;
            match state {
                2 => victim.apply(|end| end.close(now)),
                3 => {
                    victim.say(Kind::CloseReq { ack: victim.gss }, &[]);
                }
                4 => {
                    let code = ResetCode::CLOSED;
                    victim.say(
                        Kind::Reset {
                            ack: victim.gss,
                            code,
                            data: [0; 3],
                        },
                        &[],
                    );
                }
                5 => victim.apply(|end| end.abort(now)),
                _ => {}
            }
            victim.drain();
            victim.now += jump;
            for _ in 0..10 {
                victim.end.expire(victim.now, |drain| drain.postpone());
                let sent = victim.drain();
                assert!(sent.len() <= 60, "{} packets at once", sent.len());
                assert!(
                    victim.deadline.is_none_or(|at| at > victim.now),
                    "state {state}, {jump}, {:?} {}",
                    victim.deadline,
                    victim.now
                );
            }
            // A packet from before the jump arrives.
            victim.say(Kind::Ack { ack: victim.gss }, &[]);
            victim.wait(Duration::from_secs(10_000));
            if state != 1 {
                assert_eq!(victim.state(), State::Closed, "state {state}, {jump}");
                assert_eq!(victim.deadline, None);
            }
        }
    }
}

/// Time stands still: early or repeated wake-ups change nothing and send nothing.
#[test]
fn waking_up_too_early_does_nothing() {
    let mut victim = Victim::new(Config::default());
    victim.send(20);
    for _ in 0..1_000 {
        let deadline = victim.deadline;
        victim.end.expire(victim.now, |drain| drain.postpone());
        assert!(victim.drain().is_empty());
        assert_eq!(victim.deadline, deadline);
    }
    assert_eq!(victim.state(), State::Open);
}

/// A receiver that asks for one CCID after another gets no initial window each time: the CCID of
/// data that has left stays.
#[test]
fn alternating_ccids_gains_nothing() {
    let mut victim = Victim::new(Config::default());
    victim.send(100);
    let first = victim.end.get().stats().counters.data_packets_sent;
    let ack = victim.gss;
    for turn in 0..20 {
        let ccid = [3, 2][turn % 2];
        let wish = change(FeatureSide::Remote, 1, &[ccid]);
        let answer = victim.say(Kind::Ack { ack }, &[wish]);
        let is_confirmed = answer
            .iter()
            .flat_map(|packet| &packet.options)
            .any(|option| {
                matches!(option, DccpOption::Confirm { feature: FeatureNumber(1), value, .. }
                if value.as_slice() == [2, 2])
            });
        assert!(is_confirmed, "{answer:?}");
    }
    let sent = victim.end.get().stats().counters.data_packets_sent - first;
    assert!(sent <= 2, "{sent} for one acknowledged packet");
    assert_eq!(victim.state(), State::Open);
}
