//! Compares RED with ns-2.35: the same arrivals and random draws give the same average queue, drops
//! and adaptation.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::path::PathBuf;

use rand::TryRng;
use skywave_path::{AdaptiveRed, HandsOn, Limit, Packet, Red, RedConfig, RedWeight};
use skywave_units::{Duration, Instant, Rate};
use skywave_wire::Ecn;

/// The link of `validation/ns2/scripts/red.tcl`.
const RATE: Rate = Rate::from_bps(1_000_000);
const DELAY: Duration = Duration::from_millis(10);

/// A packet that has only a size.
struct Load(u32);

impl Packet for Load {
    fn size(&self) -> u32 {
        self.0
    }

    fn ecn(&self) -> Ecn {
        Ecn::NotEct
    }

    fn set_ecn(&mut self, _ecn: Ecn) {
        unreachable!("it cannot be marked")
    }

    fn flow(&self) -> u64 {
        0
    }

    fn class(&self) -> u8 {
        0
    }
}

/// ns-2's draws, in order.
struct Draws(std::vec::IntoIter<f64>);

impl TryRng for Draws {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        unreachable!("RED draws floating-point numbers")
    }

    /// Inverts `random::<f64>`, which uses the upper 53 bits.
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let draw = self.0.next().unwrap();
        Ok(((draw * (1_u64 << 53) as f64) as u64) << 11)
    }

    fn try_fill_bytes(&mut self, _bytes: &mut [u8]) -> Result<(), Infallible> {
        unreachable!("RED draws floating-point numbers")
    }
}

fn golden(name: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../validation/ns2/red");
    std::fs::read_to_string(folder.join(name)).unwrap()
}

/// The settings in the first line of a trace.
fn config(settings: &str) -> RedConfig {
    let settings: BTreeMap<&str, f64> = settings
        .trim_start_matches("# ")
        .split(' ')
        .map(|pair| {
            let (key, value) = pair.split_once('=').unwrap();
            (key, value.parse().unwrap())
        })
        .collect();
    let is = |key: &str| settings[key] != 0.0;
    let limit = settings["limit"] as u32;
    let defaults = RedConfig::new(Limit::Packets(limit));
    RedConfig {
        // ns-2 counts a limit in mean packets if the queue is measured in bytes.
        limit: if is("queue_in_bytes") {
            Limit::Bytes(u64::from(limit * defaults.mean_packet))
        } else {
            Limit::Packets(limit)
        },
        min_threshold: is("thresh").then(|| settings["thresh"]),
        max_threshold: is("maxthresh").then(|| settings["maxthresh"]),
        max_p: 1.0 / settings["linterm"],
        weight: match settings["weight"] {
            0.0 => RedWeight::TimeConstant(Duration::from_secs(1)),
            -1.0 => RedWeight::RoundTrips,
            -2.0 => RedWeight::TimeConstant(Duration::from_millis(100)),
            weight => RedWeight::Fixed(weight),
        },
        gentle: is("gentle"),
        wait: is("wait"),
        drop_by_bytes: is("bytes"),
        queue_in_bytes: is("queue_in_bytes"),
        mark_p: is("use_mark_p").then_some(0.1),
        adaptive: is("adaptive").then(AdaptiveRed::default),
        ..defaults
    }
}

/// ns-2 prints six significant digits.
fn agree(ours: f64, theirs: f64) -> bool {
    (ours - theirs).abs() <= 5.000_1e-6 * theirs.abs()
}

fn compare(name: &str) {
    let draws: Vec<f64> = golden("draws.txt")
        .lines()
        .map(|draw| draw.parse().unwrap())
        .collect();
    let trace = golden(name);
    let mut lines = trace.lines();
    let config = config(lines.next().unwrap());
    let red = Red::new(config, RATE, DELAY, Draws(draws.into_iter()));
    let mut queue = HandsOn::new(red);
    let mut free = Instant::ZERO;
    let mut drops = 0;
    for (row, line) in lines.enumerate() {
        let fields: Vec<&str> = line.split(',').collect();
        let [at, size, average, dropped, max_p] = fields.as_slice() else {
            panic!("{name}: {line}")
        };
        let now = Instant::from_nanos(at.parse().unwrap());
        let size: u32 = size.parse().unwrap();
        let taken = queue.enqueue(now, free, Load(size));
        assert_eq!(taken.is_err(), *dropped == "1", "{name}, row {row}: {line}");
        if taken.is_ok() {
            free = free.max(now) + RATE.transmission_time(u64::from(size));
        } else {
            drops += 1;
        }
        let red = queue.admission();
        let theirs = (average.parse().unwrap(), max_p.parse().unwrap());
        assert!(
            agree(red.average(), theirs.0) && agree(red.max_p(), theirs.1),
            "{name}, row {row}: {line}, ours {} and {}",
            red.average(),
            red.max_p()
        );
    }
    assert!(drops > 20, "{name}: only {drops} drops");
}

#[test]
fn by_packets() {
    compare("packets.csv");
}

#[test]
fn by_packets_neither_gentle_nor_waiting() {
    compare("packets-abrupt.csv");
}

#[test]
fn by_packets_with_forced_drops() {
    compare("packets-forced.csv");
    compare("packets-gentle-forced.csv");
}

#[test]
fn drops_by_bytes() {
    compare("bytes.csv");
}

#[test]
fn all_in_bytes_with_parameters_from_the_link() {
    compare("defaults.csv");
}

#[test]
fn adaptive() {
    compare("adaptive.csv");
}
