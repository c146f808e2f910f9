use proptest::prelude::*;

use super::*;
use crate::VcpConfig;

const RTT: Duration = Duration::from_millis(100);
use Zone::{High, Low, Over};

fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

fn reader(packets: u8, order: ChainOrder) -> Reader {
    Reader::new(&MpcpConfig {
        order,
        ..MpcpConfig::li2009(4.0, packets)
    })
}

fn level(zones: &[Zone]) -> Level {
    let (first, rest) = zones.split_first().unwrap();
    rest.iter()
        .fold(Level::begin(*first), |level, &digit| level.with(digit))
}

/// Reads places and codes that come back a millisecond apart. Returns the level known after each.
fn headers(reader: &mut Reader, from: u64, packets: &[(u8, Zone)]) -> Vec<Level> {
    (from..)
        .zip(packets)
        .map(|(ms, &(place, zone))| {
            reader.on_header(at(ms), RTT, place, zone);
            reader.on_packet(0, Low).level
        })
        .collect()
}

/// Li and Yousefi'zadeh 2009, section 3.3: a first packet gives the worst level of its zone, the
/// second one the exact level.
#[test]
fn the_worst_is_taken_until_more_is_known() {
    let expected = [
        level(&[High, Over]),
        level(&[High, Low]),
        level(&[Low, Over]),
        level(&[Low, High]),
    ];
    let mut by_header = reader(2, ChainOrder::TcpNumbers);
    let back = [(0, High), (1, Low), (0, Low), (1, High)];
    assert_eq!(headers(&mut by_header, 0, &back), expected);
    let mut by_number = reader(2, ChainOrder::SequenceNumbers);
    let zones = [High, Low, Low, High];
    let levels: Vec<_> = (6..)
        .zip(zones)
        .map(|(seq, zone)| by_number.on_packet(seq, zone).level)
        .collect();
    assert_eq!(levels, expected);
}

#[test]
fn it_can_wait_for_the_whole_level() {
    let mut reader = Reader::new(&MpcpConfig {
        acts: Acts::WhenComplete,
        ..MpcpConfig::li2009(4.0, 3)
    });
    for (seq, zone) in [(3, Over), (4, High)] {
        assert_eq!(reader.on_packet(seq, zone).level, Level::lowest(3));
    }
    assert_eq!(reader.on_packet(5, Low).level, level(&[Over, High, Low]));
}

/// Section 3.4: of two first packets in a row the larger code counts; the second of two second
/// packets is not combined with a first one.
#[test]
fn a_missing_half_is_made_up_for() {
    let mut reader = reader(2, ChainOrder::TcpNumbers);
    let levels = headers(&mut reader, 0, &[(0, Over), (0, High), (1, Low), (1, High)]);
    assert_eq!(
        levels,
        [
            level(&[Over, Over]),
            level(&[Over, Over]),
            level(&[Over, Low]),
            level(&[Over, Over]),
        ]
    );
    assert!(!reader.is_vcp());
}

/// Section 3.4: after three equal places in a row, the sender does without chains for four
/// round-trip times. If that recurs within as many, it does without them for good.
#[test]
fn lost_order_leads_to_vcp_and_back_and_if_it_recurs_to_stay() {
    for place in [0, 1] {
        let mut reader = reader(2, ChainOrder::TcpNumbers);
        assert_eq!((reader.next_place(), reader.next_place()), (0, 1));
        let back = [
            (0, High),
            (1, Low),
            (place, High),
            (place, High),
            (place, High),
        ];
        headers(&mut reader, 0, &back);
        assert!(reader.is_vcp());
        assert_eq!((reader.next_place(), reader.next_place()), (0, 0));
        // Packets sent before may still come back; only first places count.
        let levels = headers(&mut reader, 10, &[(1, Over), (0, High), (0, Over)]);
        let zones = levels.iter().map(|level| (level.packets(), level.zone()));
        assert!(zones.eq([(1, High), (1, High), (1, Over)]));
        // In the first round trip after the return, only packets sent without chains come back.
        let sent_before = [(0, Low), (0, Over), (0, High), (0, Low)];
        let levels = headers(&mut reader, 405, &sent_before);
        let zones = levels.iter().map(|level| (level.packets(), level.zone()));
        assert!(zones.eq(sent_before.map(|(_, zone)| (1, zone))));
        assert!(!reader.is_vcp());
        assert_eq!((reader.next_place(), reader.next_place()), (0, 1));
        let levels = headers(&mut reader, 500, &[(0, Low), (1, High)]);
        assert_eq!(levels[1], level(&[Low, High]));

        let mut unlucky = reader.clone();
        headers(&mut unlucky, 600, &[(1, Low), (1, Low), (1, Low)]);
        assert!(unlucky.is_vcp());
        headers(&mut unlucky, 60_000, &[(0, Low), (0, Low)]);
        assert!(unlucky.is_vcp(), "for good");
        // Much later it counts as a first time again.
        headers(&mut reader, 2000, &[(1, Low), (1, Low), (1, Low)]);
        headers(&mut reader, 3000, &[(0, Low), (0, Low)]);
        assert!(!reader.is_vcp());
    }
}

/// A path switch reorders packets, but few equal places follow each other.
#[test]
fn a_path_switch_is_no_trouble() {
    let mut reader = reader(2, ChainOrder::TcpNumbers);
    let before = [(0, Low), (1, High)].repeat(5);
    headers(&mut reader, 0, &before);
    // The second half of a window overtakes the first.
    headers(
        &mut reader,
        20,
        &[
            (1, High),
            (0, Low),
            (1, High),
            (1, High),
            (0, Low),
            (0, Low),
            (1, High),
        ],
    );
    assert!(!reader.is_vcp());
}

proptest! {
    /// The advantage of sequence numbers: for any loss and order, the level is that of one chain or
    /// the worst that the start of one chain allows, and the sender never switches to VCP.
    #[test]
    fn numbers_survive_any_loss_and_order(
        packets in 2..=3_u8,
        loads in proptest::collection::vec(0.0..2.0_f64, 20),
        order in Just((0..60_u64).collect::<Vec<_>>()).prop_shuffle(),
        kept in 1..60_usize,
    ) {
        let mut reader = reader(packets, ChainOrder::SequenceNumbers);
        let n = u64::from(packets);
        for &seq in order.iter().take(kept) {
            let (chain, place) = (seq / n, seq % n);
            let Some(&load) = loads.get(chain as usize) else { continue };
            let said = Level::of(load, packets);
            let known = reader.on_packet(seq, said.digit(place as u8).unwrap()).level;
            let possible = loads.iter().any(|&load| {
                let level = Level::of(load, packets);
                (1..=packets).any(|digits| {
                    Level::of(load, digits).completed(Zone::Over, packets) == known
                }) || level == known
            });
            prop_assert!(possible || known == Level::lowest(packets));
            prop_assert!(!reader.is_vcp());
        }
    }
}

#[test]
fn vcp_needs_no_order() {
    let mut reader = Reader::new(&VcpConfig::chen2010(4.0).into());
    assert!(reader.is_vcp());
    assert_eq!(reader.on_packet(7, High).level, Level::begin(High));
    assert_eq!(reader.next_place(), 0);
}
