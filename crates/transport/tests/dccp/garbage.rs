//! A peer with invalid options: absurd lengths, random bytes, unrequested negotiation. The
//! connection continues or ends with a Reset, and sends few answers.

use std::iter;

use rand::RngExt;
use skywave_transport::dccp::State;
use skywave_wire::Checksum;
use skywave_wire::dccp::{DccpOption, FeatureSide, Kind, OptionBytes, Packet, ResetCode};

use crate::network::seeded;
use crate::victim::{MILLISECOND, Victim, change, confirm, reset_code, tcp_like};

/// A packet as decoded from bytes with this option space.
fn with_space(mut packet: Packet, space: Vec<u8>) -> Packet {
    let options = DccpOption::Malformed(OptionBytes::from_vec(space));
    packet.options.push(options);
    let bytes = packet.to_bytes(Checksum::Ignored).unwrap();
    Packet::parse(&bytes, Checksum::Ignored).unwrap()
}

/// D5.8-3: every option type with every length, valid and invalid, with and without a preceding
/// Mandatory. Only Mandatory and negotiation may end the connection, with a Reset of code 5 or 6.
#[test]
fn every_length_of_every_option_is_survived() {
    let mut victim = Victim::new(tcp_like());
    for kind in 0..=255u8 {
        for length in 0..=255u8 {
            for mandatory in [false, true] {
                let packet = victim.packet(Kind::Ack { ack: victim.gss }, &[]);
                let mut space = vec![u8::from(mandatory), kind, length];
                space.extend(iter::repeat_n(kind ^ length, 45));
                let sent = victim.hear(with_space(packet, space));
                if victim.state() == State::Open {
                    continue;
                }
                let code = reset_code(&sent);
                let expected = [ResetCode::OPTION_ERROR, ResetCode::MANDATORY_ERROR];
                assert!(
                    code.is_some_and(|code| expected.contains(&code)),
                    "{kind} {length}"
                );
                victim = Victim::new(tcp_like());
            }
        }
    }
}

/// Random option spaces on packets of each type that carries options.
#[test]
fn random_option_spaces_end_in_nothing_or_a_reset() {
    let mut rng = seeded(3);
    let mut victim = Victim::new(tcp_like());
    let mut resets = 0;
    for _ in 0..50_000 {
        let ack = victim.gss;
        let kind = match rng.random_range(0..5) {
            0 => Kind::Data,
            1 => Kind::DataAck { ack },
            2 => Kind::Sync { ack },
            3 => Kind::SyncAck { ack },
            _ => Kind::Ack { ack },
        };
        let packet = victim.packet(kind, &[]);
        let longest = if rng.random_ratio(1, 10) { 990 } else { 60 };
        let mut space = vec![0; rng.random_range(0..longest)];
        rng.fill(&mut space[..]);
        if rng.random_ratio(3, 4) {
            // Mostly known types.
            for byte in &mut space {
                *byte %= 46;
            }
        }
        let sent = victim.hear(with_space(packet, space));
        victim.wait(MILLISECOND * rng.random_range(0..20));
        victim.apply(|end| iter::from_fn(|| end.recv()).for_each(drop));
        if victim.state() != State::Open {
            assert!(reset_code(&sent).is_some(), "{sent:?}");
            resets += 1;
            victim = Victim::new(tcp_like());
        }
    }
    assert!(resets > 100, "{resets}");
}

/// D6-2, D6-13: unrequested Confirms, of every feature and with any value, change nothing.
#[test]
fn confirms_without_a_change_are_ignored() {
    let mut victim = Victim::new(tcp_like());
    let before = victim.end.get().stats().counters.packets_sent;
    for feature in 0..=255 {
        for side in [FeatureSide::Local, FeatureSide::Remote] {
            for value in [&[][..], &[0], &[1], &[3, 3, 2], &[0xff; 6], &[7; 252]] {
                victim.acknowledge(&[confirm(side, feature, value)]);
            }
        }
    }
    assert_eq!(victim.state(), State::Open);
    assert_eq!(
        victim.end.get().stats().counters.packets_sent,
        before,
        "nothing to say"
    );
}

/// D6-13, D6-14: random Changes, as many as fit a packet. Each packet gets a few answers at most,
/// and afterwards nothing stays pending.
#[test]
fn negotiation_garbage_is_answered_in_measure() {
    let mut rng = seeded(4);
    let mut victim = Victim::new(tcp_like());
    let mut ends = 0;
    for round in 0..5_000 {
        let mut options = Vec::new();
        let mut room = 1020 - 28usize;
        loop {
            let side = if rng.random() {
                FeatureSide::Local
            } else {
                FeatureSide::Remote
            };
            let feature = if round % 2 == 0 {
                rng.random()
            } else {
                rng.random_range(0..11)
            };
            let longest = if rng.random_ratio(1, 20) { 252 } else { 3 };
            let mut value = vec![0; rng.random_range(0..=longest)];
            rng.fill(&mut value[..]);
            let option = if rng.random_ratio(1, 4) {
                confirm(side, feature, &value)
            } else {
                change(side, feature, &value)
            };
            let Some(left) = room.checked_sub(option.encoded_len()) else {
                break;
            };
            room = left;
            options.push(option);
        }
        let sent = victim.acknowledge(&options);
        assert!(sent.len() <= 24, "{} packets answer one", sent.len());
        if victim.state() != State::Open {
            assert_eq!(reset_code(&sent), Some(ResetCode::OPTION_ERROR));
            victim = Victim::new(tcp_like());
            ends += 1;
        }
    }
    assert!(ends < 5_000, "some garbage is merely refused");
}
