//! Anything that is not a complete packet passes unchanged.

use std::cell::RefCell;

use proptest::prelude::*;
use skywave_kernel_router::Program;
use skywave_mpcp::OrderParameter;
use skywave_units::{Duration, Instant};
use skywave_wire::Ecn;

use crate::frames::{Between, ETHERNET, Spec, Transport, rechecked, specs};
use crate::twin::{Twin, Unreadable};
use crate::{config, program, runner};

/// The longest chain of extension headers that the program follows.
const MOST_EXTENSIONS: usize = 8;

/// The length of an IP header. The kernel runs no program on a frame without a whole one.
fn header(version: u8) -> usize {
    if version == 4 { 20 } else { 40 }
}

fn spec(version: u8, transport: Transport, between: Between) -> Spec {
    Spec {
        version,
        transport,
        between,
        flow: 0,
        seq: 0,
        ack: 5,
        checksum_offset: 0,
        identification: 0,
        ecn: Ecn::Ect1,
        dscp: 0,
        size: 40,
    }
}

/// A program that raises every code that it can, for each length of a chain.
fn overloaded() -> impl Iterator<Item = Program> {
    (1..=3).filter_map(|chain| {
        let mut program = program(&config(chain, OrderParameter::TcpNumbers))?;
        program.set_load(9.0).unwrap();
        Some(program)
    })
}

fn changed(frame: &[u8], change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut frame = frame.to_vec();
    change(&mut frame);
    if frame.len() >= ETHERNET + 20 && frame[ETHERNET] >> 4 == 4 && frame[ETHERNET] & 0xf == 5 {
        rechecked(&mut frame[ETHERNET..]);
    }
    frame
}

/// The control of the tests below: the whole frames are marked.
#[test]
fn whole_packets_are_marked() {
    for program in overloaded() {
        for version in [4, 6] {
            for between in [Between::Nothing, Between::Options, Between::Authentication] {
                let frame = spec(version, Transport::Dccp, between).frame();
                assert_ne!(program.run(&frame, 1).unwrap(), frame);
            }
        }
    }
}

#[test]
fn truncated_packets_pass_unchanged() {
    for program in overloaded() {
        for version in [4, 6] {
            for between in [Between::Nothing, Between::Options, Between::Authentication] {
                let frame = spec(version, Transport::Tcp, between).frame();
                for length in ETHERNET + header(version)..frame.len() {
                    let frame = &frame[..length];
                    assert_eq!(program.run(frame, 1).unwrap(), frame, "{length} bytes");
                }
            }
        }
    }
}

#[test]
fn wrong_ipv4_headers_pass_unchanged() {
    const IP: usize = ETHERNET;
    let whole = spec(4, Transport::Dccp, Between::Nothing).frame();
    let frames = [
        ("version", changed(&whole, |frame| frame[IP] = 0x55)),
        ("short header", changed(&whole, |frame| frame[IP] = 0x44)),
        ("long header", changed(&whole, |frame| frame[IP] = 0x4f)),
        ("too long", changed(&whole, |frame| frame[IP + 3] += 1)),
        (
            "length 0",
            changed(&whole, |frame| frame[IP + 2..IP + 4].fill(0)),
        ),
        ("length 19", changed(&whole, |frame| frame[IP + 3] = 19)),
        (
            "more fragments",
            changed(&whole, |frame| frame[IP + 6] = 0x20),
        ),
        ("fragment", changed(&whole, |frame| frame[IP + 7] = 1)),
        ("checksum", {
            let mut frame = whole.clone();
            frame[IP + 10] ^= 1;
            frame
        }),
    ];
    for program in overloaded() {
        assert_ne!(program.run(&whole, 1).unwrap(), whole);
        for (what, frame) in &frames {
            assert_eq!(program.run(frame, 1).unwrap(), *frame, "{what}");
        }
    }
}

#[test]
fn wrong_ipv6_headers_pass_unchanged() {
    const IP: usize = ETHERNET;
    let whole = spec(6, Transport::Dccp, Between::Nothing).frame();
    let before = |next: u8, headers: &[u8]| {
        changed(&whole, |frame| {
            frame[IP + 6] = next;
            frame[IP + 5] += headers.len() as u8;
            frame.splice(IP + 40..IP + 40, headers.iter().copied());
        })
    };
    let destinations = |count: usize| {
        let mut headers = [60, 0, 1, 4, 0, 0, 0, 0].repeat(count);
        headers[8 * (count - 1)] = 33;
        before(60, &headers)
    };
    let frames = [
        ("version", changed(&whole, |frame| frame[IP] = 0x40)),
        ("too long", changed(&whole, |frame| frame[IP + 5] += 1)),
        ("first fragment", before(44, &[33, 0, 0, 1, 0, 0, 0, 1])),
        ("other fragment", before(44, &[33, 0, 1, 0, 0, 0, 0, 1])),
        ("endless options", before(60, &[33, 255, 1, 4, 0, 0, 0, 0])),
        (
            "late hop-by-hop",
            before(60, &[0, 0, 1, 4, 0, 0, 0, 0, 33, 0, 1, 4, 0, 0, 0, 0]),
        ),
        (
            "empty authentication",
            before(51, &[33, 0, 0, 0, 0, 0, 0, 0]),
        ),
        ("many headers", destinations(MOST_EXTENSIONS)),
    ];
    for program in overloaded() {
        for marked in [&whole, &destinations(MOST_EXTENSIONS - 1)] {
            assert_ne!(program.run(marked, 1).unwrap(), *marked);
        }
        for (what, frame) in &frames {
            assert_eq!(program.run(frame, 1).unwrap(), *frame, "{what}");
        }
    }
}

#[test]
fn other_frames_pass_unchanged() {
    let whole = spec(4, Transport::Dccp, Between::Nothing).frame();
    let mut vlan = whole.clone();
    vlan.splice(12..12, [0x81, 0x00, 0x00, 0x07]);
    let mut arp = whole.clone();
    arp[12..14].copy_from_slice(&[0x08, 0x06]);
    for program in overloaded() {
        for frame in [&vlan, &arp] {
            assert_eq!(program.run(frame, 1).unwrap(), *frame);
        }
        assert_eq!(program.counters().unwrap().packets, 2);
        let bytes = (vlan.len() + arp.len()) as u64;
        assert_eq!(program.counters().unwrap().bytes, bytes);
    }
}

/// The first packet of several that were joined says nothing about the others' places.
#[test]
fn joined_packets_are_marked_only_without_chains() {
    let frame = spec(4, Transport::Dccp, Between::Nothing).frame();
    for (chain, program) in (1..).zip(overloaded()) {
        let left = program.run(&frame, 3).unwrap();
        assert_eq!(left != frame, chain == 1);
        let counters = program.counters().unwrap();
        assert_eq!((counters.packets, counters.coded), (3, 1));
        assert_eq!(counters.unreadable, u64::from(chain > 1));
    }
}

/// Whatever the bytes are, the program does what the router in user space does.
#[test]
fn any_bytes_pass_as_in_user_space() {
    // Overloaded, both of them: no digit depends on the packets before.
    for (chain, program) in (1..).zip(overloaded()) {
        let twin = RefCell::new(Twin::new(&config(chain, OrderParameter::TcpNumbers)));
        let other = changed(&[0; 1500], |_| {});
        for _ in 0..400 {
            assert!(twin.borrow_mut().pass(Instant::ZERO, &other).is_err());
        }
        let now = Instant::ZERO + Duration::from_millis(25);
        let changes = proptest::collection::vec((0..80_usize, any::<u8>(), any::<bool>()), 1..4);
        let mut cases = runner(20_000);
        let result = cases.run(
            &(specs(), changes, any::<bool>()),
            |(spec, changes, repair)| {
                let mut frame = spec.frame();
                let end = frame.len();
                for (at, byte, is_cut) in changes {
                    match frame.get_mut(ETHERNET + at) {
                        Some(place) if !is_cut || at < header(spec.version) => *place = byte,
                        Some(_) => frame.truncate(end.min(ETHERNET + at)),
                        None => {}
                    }
                }
                let ip = &mut frame[ETHERNET..];
                // `Forwarded` leaves the reserved bit of IPv4 out of the checksum; the kernel does not.
                if ip[0] >> 4 == 4 {
                    ip[6] &= 0x7f;
                }
                if repair && ip[0] >> 4 == 4 && ip.len() >= 4 * usize::from(ip[0] & 0xf).max(5) {
                    rechecked(ip);
                }
                let left = program.run(&frame, 1).unwrap();
                match twin.borrow_mut().pass(now, &frame) {
                    Ok(expected) => prop_assert_eq!(left, expected),
                    Err(Unreadable::Ip) => prop_assert_eq!(&left, &frame),
                    Err(Unreadable::Place) => {}
                }
                Ok(())
            },
        );
        result.unwrap();
    }
}
