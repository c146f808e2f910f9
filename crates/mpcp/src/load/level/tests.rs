use proptest::prelude::*;

use super::*;

/// The codes of a level's packets, as the paper prints them.
fn codes(level: Level) -> String {
    (0..level.packets())
        .map(|place| format!("{:02b}", level.digit(place).unwrap().code().bits()))
        .collect()
}

/// Li and Yousefi'zadeh 2009, Table 1, whole.
#[test]
fn two_packets_tell_the_published_levels() {
    let rows = [
        ("0101", 0.20, None),
        ("0110", 0.40, None),
        ("0111", 0.80, None),
        ("1001", 0.85, None),
        ("1010", 0.95, None),
        ("1011", 1.00, None),
        ("1101", 1.05, Some(0.875)),
        ("1110", 1.40, Some(0.6)),
        ("1111", 2.00, Some(0.43)),
    ];
    let mut below = 0.0;
    for (expected, upper, decrease) in rows {
        let level = Level::of(upper - 0.001, 2);
        assert_eq!(codes(level), expected);
        assert_eq!(level, Level::of(below, 2), "from {below}");
        assert_eq!(level.upper(), upper);
        if let Some(beta) = decrease {
            assert_eq!(level.decrease(), Some(beta));
        }
        below = upper;
    }
    assert_eq!(
        codes(Level::of(7.0, 2)),
        "1111",
        "what the table leaves out"
    );
}

/// A chain of one packet gives VCP's zones and its xi of 1/16. VCP's beta is a parameter.
#[test]
fn one_packet_tells_the_zone() {
    for load in [0.0, 0.79, 0.8, 0.99, 1.0, 5.0] {
        let level = Level::of(load, 1);
        assert_eq!(level, Level::begin(Zone::of(load)));
        assert_eq!(level.packets(), 1);
        assert_eq!(level.decrease(), None);
    }
    assert!((Level::of(0.5, 1).increase() - 0.0625).abs() < 1e-12);
    assert_eq!(Level::of(0.9, 1).increase(), 0.0);
}

/// xi for the published bounds.
#[test]
fn growth_follows_the_upper_bound() {
    for (upper, xi) in [
        (0.2, 1.0),
        (0.4, 0.375),
        (0.8, 0.0625),
        (0.85, 0.0441),
        (0.95, 0.0132),
        (1.0, 0.0),
        (1.4, 0.0),
    ] {
        let level = Level::of(upper - 0.001, 2);
        assert!((level.increase() - xi).abs() < 1e-4, "{upper}");
    }
}

/// A decrease must lead out of overload, but not below the zone of high load.
#[test]
fn decreases_land_in_the_zone_of_high_load() {
    for packets in 2..=5 {
        for percent in 100..200 {
            let level = Level::of(f64::from(percent) / 100.0, packets);
            let landing = level.upper() * level.decrease().unwrap();
            assert!((0.8..1.0).contains(&landing), "{percent} %: {landing}");
        }
    }
}

#[test]
fn a_chain_has_at_least_one_packet_and_at_most_eight() {
    assert_eq!(Level::of(0.92, 0), Level::of(0.92, 1));
    assert_eq!(Level::of(0.92, 9), Level::of(0.92, MAX_PACKETS));
    assert_eq!(Level::of(0.92, u8::MAX).packets(), MAX_PACKETS);
}

proptest! {
    /// For chains of any length, a level contains its load, levels are ordered like loads, and a
    /// longer chain only adds digits.
    #[test]
    fn a_level_holds_its_load(load in 0.0..2.0_f64, other in 0.0..2.0_f64, packets in 1..=MAX_PACKETS) {
        let level = Level::of(load, packets);
        prop_assert_eq!(level.packets(), packets);
        let (lower, upper) = level.bounds();
        prop_assert!(lower <= load + 1e-12 && load < upper + 1e-12, "{} {} {}", lower, load, upper);
        if load <= other {
            prop_assert!(level <= Level::of(other, packets));
        }
        if packets > 1 {
            let shorter = Level::of(load, packets - 1);
            for place in 0..packets - 1 {
                prop_assert_eq!(shorter.digit(place), level.digit(place));
            }
            prop_assert!(shorter.completed(Zone::Over, packets) >= level);
            prop_assert!(shorter.completed(Zone::Low, packets) <= level);
        }
    }
}
