//! Sequence windows against plain integers: with 8-bit numbers every case, with 48-bit numbers
//! random ones near the wraps.
//!
//! A [`Plain`] connection counts packets from its first one and never wraps, so the formulas of RFC
//! 4340 section 7 hold as they are written, "max" and "<=" included. Only the low bits of its
//! numbers are on the wire. No window is wider than a quarter of all numbers (Wmax), so the packets
//! within half of all numbers of GSR or GSS include each number on the wire once.

use proptest::prelude::*;

use super::*;

/// The variables of section 7.1 as integers that do not wrap.
#[derive(Clone, Copy, Debug)]
struct Plain {
    iss: i128,
    isr: i128,
    gss: i128,
    gsr: i128,
    gar: i128,
}

impl Plain {
    /// A connection whose first packets have these numbers and have just been sent and received.
    fn new(iss: i128, isr: i128) -> Self {
        Self {
            iss,
            isr,
            gss: iss,
            gsr: isr,
            gar: iss,
        }
    }

    fn swl(&self, w: i128) -> i128 {
        (self.gsr + 1 - w / 4).max(self.isr)
    }

    fn swh(&self, w: i128) -> i128 {
        self.gsr + (3 * w + 3) / 4
    }

    fn awl(&self, w: i128) -> i128 {
        (self.gss + 1 - w).max(self.iss)
    }

    /// The tables of section 7.5.3.
    fn is_valid(&self, packet: PacketType, seq: i128, ack: Option<i128>, w: i128) -> bool {
        use PacketType::*;
        let seq_is_valid = match packet {
            Request | Response | Data | Ack | DataAck => self.swl(w) <= seq && seq <= self.swh(w),
            CloseReq | Close | Reset => self.gsr < seq && seq <= self.swh(w),
            Sync | SyncAck => self.swl(w) <= seq,
            Listen => unreachable!("it has no number"),
        };
        let ack_is_valid = match (packet, ack) {
            (Request | Data, _) | (_, None) => true,
            (CloseReq | Close | Reset, Some(ack)) => self.gar <= ack && ack <= self.gss,
            (_, Some(ack)) => self.awl(w) <= ack && ack <= self.gss,
        };
        seq_is_valid && ack_is_valid
    }
}

/// The low bits of a number.
fn wire<const BITS: u32>(number: i128) -> Circular<BITS> {
    Circular::new(number.rem_euclid(1 << BITS) as u64)
}

/// The numbers of a connection that has just sent its first packet and received the peer's.
fn begin<const BITS: u32>(plain: &Plain) -> SequenceNumbers<BITS> {
    let mut numbers = SequenceNumbers::new(wire(plain.iss));
    assert_eq!(numbers.take_next(), wire(plain.iss));
    numbers.start_receiving(wire(plain.isr));
    numbers.update_gsr(wire(plain.isr));
    numbers
}

/// Both windows `w` packets wide.
const fn both(w: u64) -> Windows {
    Windows {
        sequence: w,
        acknowledgement: w,
    }
}

/// All initial numbers of 8 bits, each as an integer far from zero.
const INITIAL: core::ops::Range<i128> = 1_024..1_280;
/// All sequence windows for 8-bit numbers.
const WIDTHS: core::ops::RangeInclusive<u64> = 1..=window_max(8);
/// How far connections are followed: past the point where the windows are no longer clamped, and
/// around all numbers.
const FOLLOWED: i128 = 256 + 64;

/// D7.5-1: for each ISR, GSR, W and number: it is in [SWL, SWH] exactly if the RFC says so.
#[test]
fn d7_5_1_all_sequence_windows_of_8_bits() {
    for isr in INITIAL {
        let mut plain = Plain::new(1_024, isr);
        let mut numbers = begin::<8>(&plain);
        while plain.gsr < isr + FOLLOWED {
            for w in WIDTHS {
                let (low, high) = (plain.swl(w.into()), plain.swh(w.into()));
                for seq in plain.gsr - 128..plain.gsr + 128 {
                    assert_eq!(
                        numbers.is_valid(PacketType::Data, wire(seq), None, both(w)),
                        low <= seq && seq <= high,
                        "{seq} with W = {w}: {plain:?}"
                    );
                }
            }
            plain.gsr += 1;
            numbers.update_gsr(wire(plain.gsr));
            assert_eq!(numbers.gsr, wire(plain.gsr));
        }
    }
}

/// D7.5-1: for each ISS, GSS, W' and number: it is in [AWL, AWH] exactly if the RFC says so.
#[test]
fn d7_5_1_all_acknowledgement_windows_of_8_bits() {
    for iss in INITIAL {
        let mut plain = Plain::new(iss, 1_024);
        let mut numbers = begin::<8>(&plain);
        while plain.gss < iss + FOLLOWED {
            for w in WIDTHS {
                let low = plain.awl(w.into());
                for ack in plain.gss - 128..plain.gss + 128 {
                    assert_eq!(
                        numbers.ack_in_window(wire(ack), both(w)),
                        low <= ack && ack <= plain.gss,
                        "{ack} with W' = {w}: {plain:?}"
                    );
                }
            }
            plain.gss += 1;
            assert_eq!(numbers.take_next(), wire(plain.gss));
        }
    }
}

/// D7.5-4: each type with each sequence and acknowledgement number, at the beginning of connections,
/// later, and where the numbers wrap.
#[test]
fn d7_5_4_all_packets_of_8_bits_are_valid_as_the_tables_say() {
    use PacketType::*;
    for (age, unacknowledged, w) in [
        (0, 0, 32),
        (3, 2, 32),
        (20, 20, 63),
        (150, 40, 63),
        (255, 7, 9),
    ] {
        for initial in [1_024, 1_100, 1_279] {
            let mut plain = Plain::new(initial, initial + 77);
            let mut numbers = begin::<8>(&plain);
            for _ in 0..age {
                plain.gss += 1;
                plain.gsr += 1;
                numbers.take_next();
                numbers.update_gsr(wire(plain.gsr));
                plain.gar = plain.gss - plain.gss.min(unacknowledged).min(plain.gss - plain.iss);
                numbers.update_gar(wire(plain.gar));
            }
            for seq in plain.gsr - 128..plain.gsr + 128 {
                for ack in plain.gss - 128..plain.gss + 128 {
                    let case = |kind| format!("{kind:?} {seq} acknowledges {ack}: {plain:?}");
                    for kind in [Request, Data] {
                        let judged = numbers.is_valid(kind, wire(seq), None, both(w));
                        let expected = plain.is_valid(kind, seq, None, w.into());
                        assert_eq!(judged, expected, "{}", case(kind));
                    }
                    for kind in [Response, Ack, DataAck, CloseReq, Close, Reset] {
                        let judged = numbers.is_valid(kind, wire(seq), Some(wire(ack)), both(w));
                        let expected = plain.is_valid(kind, seq, Some(ack), w.into());
                        assert_eq!(judged, expected, "{}", case(kind));
                    }
                    // "Later than SWL" means up to half of all numbers later.
                    let is_later = seq < plain.swl(w.into()) + 128;
                    for kind in [Sync, SyncAck] {
                        let judged =
                            |active| numbers.sync_is_valid(wire(seq), wire(ack), both(w), active);
                        let expected = plain.is_valid(kind, seq, Some(ack), w.into());
                        assert_eq!(judged(false), expected && is_later, "{}", case(kind));
                        let expected = plain.is_valid(Ack, seq, Some(ack), w.into());
                        assert_eq!(judged(true), expected, "{}", case(kind));
                    }
                }
            }
        }
    }
}

/// GSR never falls, whatever valid packet arrives next, and the windows follow it. A Sync
/// may leap ahead by almost half of all numbers.
#[test]
fn gsr_rises_with_all_valid_packets_of_8_bits() {
    for isr in INITIAL {
        let mut plain = Plain::new(1_024, isr);
        let mut numbers = begin::<8>(&plain);
        while plain.gsr < isr + FOLLOWED {
            for seq in plain.swl(63)..plain.swl(63) + 128 {
                let (mut plain, mut numbers) = (plain, numbers);
                plain.gsr = plain.gsr.max(seq);
                numbers.update_gsr(wire(seq));
                assert_eq!(numbers.gsr, wire(plain.gsr), "after {seq}: {plain:?}");
                for w in [1, 32, 63] {
                    let ends = (numbers.swl(both(w)), numbers.swh(both(w)));
                    let expected = (wire(plain.swl(w.into())), wire(plain.swh(w.into())));
                    assert_eq!(ends, expected, "after {seq}, W = {w}: {plain:?}");
                }
            }
            plain.gsr += 1;
            numbers.update_gsr(wire(plain.gsr));
        }
    }
}

/// D7.6-1: short numbers extend to each number of windows that are narrow enough.
#[test]
fn d7_6_1_all_numbers_of_narrow_windows_survive_short_headers() {
    // With 4 bits, the farthest are 7 packets away: ceil(3W/4) and W' - 1.
    for (w, low, high) in [(8, -7, 6), (9, -1, 7)] {
        for greatest in INITIAL {
            let plain = Plain {
                gsr: greatest,
                gss: greatest,
                ..Plain::new(0, 0)
            };
            assert!(plain.swl(w) >= greatest + low && plain.swh(w) <= greatest + high);
            for number in greatest + low..=greatest + high {
                let short = wire::<8>(number).short();
                assert_eq!(Circular::extend(short, wire(greatest)), wire::<8>(number));
            }
        }
    }
}

/// D6-10: FGSR stays behind GSR however GSR advances, and no packet of the window is mistaken for
/// one that is older than FGSR, or newer.
#[test]
fn d6_10_fgsr_stays_behind_all_gsr_of_8_bits() {
    for fgsr in INITIAL {
        for leap in 1..128 {
            let (mut kept, mut plain) = (wire::<8>(fgsr), Plain::new(0, 0));
            plain.gsr = fgsr;
            while plain.gsr < fgsr + 3 * 256 {
                plain.gsr += leap;
                kept = keep_behind(kept, wire(plain.gsr));
                for seq in plain.swl(63)..=plain.gsr {
                    assert_eq!(
                        wire(seq).is_after(kept),
                        seq > fgsr,
                        "{seq}, FGSR {fgsr} as {kept}, in leaps of {leap}: {plain:?}"
                    );
                }
            }
        }
    }
}

/// A number near one at which 48-bit numbers, or signed distances, wrap.
fn near_a_wrap() -> impl Strategy<Value = i128> {
    const WRAPS: [i128; 4] = [
        1 << 48,
        (1 << 48) + (1 << 46),
        (1 << 48) + (1 << 47),
        1 << 49,
    ];
    (proptest::sample::select(&WRAPS[..]), -200..200i128).prop_map(|(wrap, near)| wrap + near)
}

/// A Sequence Window of any magnitude.
fn any_width() -> impl Strategy<Value = u64> {
    (6..=46u32, any::<u64>()).prop_map(|(bits, random)| (random % (1 << bits)).max(32))
}

proptest! {
    /// D7.5-1, D7.5-4: 48-bit numbers, after packets that leap ahead as far as they may.
    #[test]
    fn windows_of_48_bits_are_those_of_plain_integers(
        iss in near_a_wrap(),
        isr in near_a_wrap(),
        steps in proptest::collection::vec((any_width(), 0.0..=1.0f64), 0..12),
        w in any_width(),
        w2 in any_width(),
        unacknowledged in 0..1i128 << 46,
        near in -3..=3i128,
    ) {
        let mut plain = Plain::new(iss, isr);
        let mut numbers = begin::<48>(&plain);
        for (width, part) in steps {
            let leap = ((plain.swh(width.into()) - plain.gsr) as f64 * part) as i128;
            plain.gsr += leap;
            numbers.update_gsr(wire(plain.gsr));
            plain.gss += leap;
            numbers.take(leap as u64);
        }
        plain.gar = (plain.gss - unacknowledged).max(plain.iss);
        numbers.gar = wire(plain.gar);
        let windows = Windows { sequence: w, acknowledgement: w2 };
        let (w, w2) = (i128::from(w), i128::from(w2));
        prop_assert_eq!(numbers.swl(windows), wire(plain.swl(w)));
        prop_assert_eq!(numbers.swh(windows), wire(plain.swh(w)));
        prop_assert_eq!(numbers.awl(windows), wire(plain.awl(w2)));
        prop_assert_eq!(numbers.awh(), wire(plain.gss));
        for seq in [plain.swl(w), plain.swh(w), plain.gsr, plain.isr].map(|edge| edge + near) {
            // Numbers that name two packets less than half the space apart do not exist.
            let is_near = (seq - plain.gsr).abs() < 1 << 47;
            let judged = numbers.is_valid(PacketType::Data, wire(seq), None, windows);
            prop_assert!(!is_near || judged == plain.is_valid(PacketType::Data, seq, None, w));
            let close = numbers.is_valid(PacketType::Close, wire(seq), None, windows);
            prop_assert!(!is_near || close == plain.is_valid(PacketType::Close, seq, None, w));
        }
        for ack in [plain.awl(w2), plain.gss, plain.gar, plain.iss].map(|edge| edge + near) {
            let is_near = (ack - plain.gss).abs() < 1 << 47;
            let expected = plain.awl(w2) <= ack && ack <= plain.gss;
            prop_assert!(!is_near || numbers.ack_in_window(wire(ack), windows) == expected);
            let seq = plain.gsr + 1;
            let judged = numbers.is_valid(PacketType::Close, wire(seq), Some(wire(ack)), windows);
            let expected = plain.gar <= ack && ack <= plain.gss;
            prop_assert!(!is_near || judged == expected, "{} {:?}", ack, plain);
        }
    }

    /// D7.6-1: 24 bits name each packet of the windows with which they may be used (section 7.6.2).
    #[test]
    fn short_numbers_name_each_packet_of_a_window(
        greatest in near_a_wrap(),
        w in 32..=1i128 << 16,
        part in 0.0..=1.0f64,
    ) {
        let plain = Plain { gsr: greatest, gss: greatest, ..Plain::new(0, 0) };
        for (low, high) in [(plain.swl(w), plain.swh(w)), (plain.awl(w), plain.gss)] {
            let number = low + ((high - low) as f64 * part) as i128;
            let extended = Circular::extend(wire::<48>(number).short(), wire(greatest));
            prop_assert_eq!(extended, wire::<48>(number));
        }
    }

    /// D6-10: as above, with 48-bit numbers.
    #[test]
    fn d6_10_fgsr_of_48_bits_stays_behind(
        fgsr in near_a_wrap(),
        leaps in proptest::collection::vec(1..1i128 << 47, 1..12),
        w in any_width(),
        part in 0.0..=1.0f64,
    ) {
        let (mut kept, mut plain) = (wire::<48>(fgsr), Plain::new(0, 0));
        plain.gsr = fgsr;
        for leap in leaps {
            plain.gsr += leap;
            kept = keep_behind(kept, wire(plain.gsr));
            let low = plain.swl(w.into());
            let seq = low + ((plain.gsr - low) as f64 * part) as i128;
            prop_assert_eq!(wire(seq).is_after(kept), seq > fgsr);
        }
    }
}
