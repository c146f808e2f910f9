use skywave_path::contract::Parcel;
use skywave_units::Duration;
use skywave_wire::Ecn;

use super::*;
use crate::load::{Level, Zone};

/// One packet of 1000 bytes takes a millisecond.
const RATE: Rate = Rate::from_bps(8_000_000);

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

fn vcp(packets: u32) -> Router<Parcel> {
    let marker = Marker::new(1, 0);
    Router::new(
        Limit::Packets(packets),
        MeterConfig::default(),
        RATE,
        marker,
    )
}

/// Offers `percent` packets per 100 ms and serves one per millisecond. Returns the codes of packets
/// that leave, by interval of 200 ms.
fn serve(queue: &mut Router<Parcel>, percent: u64, from: u64, to: u64, ecn: Ecn) -> Vec<Vec<Ecn>> {
    let mut left = vec![vec![]; (to / 200) as usize];
    for ms in from..to {
        let arrivals = (ms + 1) * percent / 100 - ms * percent / 100;
        for _ in 0..arrivals {
            let parcel = Parcel::new(0, 1000).with_ecn(ecn);
            let _ = queue.enqueue(at(ms), parcel);
        }
        if let Some(parcel) = queue.dequeue(at(ms)) {
            left[(ms / 200) as usize].push(parcel.ecn());
        }
    }
    left
}

/// The code in an interval is for the load of the previous one.
#[test]
fn packets_leave_with_the_code_of_the_last_interval() {
    use Zone::{High, Low, Over};
    for (percent, zone) in [(70, Low), (90, High), (99, Over), (120, Over)] {
        let left = serve(&mut vcp(1000), percent, 0, 600, Low.code());
        assert!(left[0].iter().all(|&code| code == Low.code()));
        for interval in &left[1..] {
            assert!(
                interval.iter().all(|&code| code == zone.code()),
                "{percent} %"
            );
        }
    }
}

/// 80 % and 100 % of the target utilisation of 98 %.
#[test]
fn the_load_is_relative_to_the_target_utilisation() {
    use Zone::{High, Low};
    let second = |percent| serve(&mut vcp(1000), percent, 0, 400, Low.code())[1][0];
    assert_eq!(second(78), Low.code());
    assert_eq!(second(79), High.code());
    assert_eq!(second(97), High.code());
    assert_eq!(second(98), Zone::Over.code());
}

#[test]
fn codes_are_raised_only_and_what_has_none_gets_none() {
    let mut queue = vcp(1000);
    for (sent, expected) in [
        (Zone::Over.code(), Zone::Over.code()),
        (Ecn::NotEct, Ecn::NotEct),
    ] {
        let left = serve(&mut queue, 90, 0, 400, sent);
        assert!(left[1].iter().all(|&code| code == expected));
    }
}

/// Packets dropped by a full queue also count as load.
#[test]
fn drops_count_as_load() {
    let mut queue = vcp(1);
    for _ in 0..196 {
        let _ = queue.enqueue(at(10), Parcel::new(0, 1000));
    }
    assert_eq!(queue.packets(), 1);
    let full = queue.enqueue(at(11), Parcel::new(7, 1000));
    assert_eq!(full.unwrap_err().reason, DropReason::Full);
    let load = queue.meter.load(at(200));
    assert!((load - 197.0 / 196.0).abs() < 0.01, "{load}");
}

/// A standing queue also counts as load, half of it in each interval, so that it drains.
#[test]
fn a_standing_queue_is_load() {
    let mut queue = vcp(1000);
    for _ in 0..392 {
        let _ = queue.enqueue(at(0), Parcel::new(0, 1000).with_ecn(Zone::Low.code()));
    }
    // Nothing arrives in the second interval: half of 392 packets are a load of 1.
    assert_eq!(Zone::of(queue.meter.load(at(400))), Zone::High);
    assert_eq!(queue.dequeue(at(401)).unwrap().ecn(), Zone::High.code());
}

/// Each packet gets the digit for its place, even if the packets of flows alternate.
#[test]
fn a_chain_leaves_with_the_digits_of_the_level() {
    let marker = Marker::new(2, 64);
    let mut queue = Router::new(Limit::Packets(1000), MeterConfig::default(), RATE, marker);
    let mut said = vec![];
    for ms in 0..400 {
        // Nine packets in ten milliseconds: a load factor of 0.92.
        if ms % 10 != 9 {
            let (flow, place) = (ms % 2, (ms / 2 % 2) as u8);
            let parcel = Parcel::new(0, 1000).of_flow(flow as u32).tagged(place);
            let _ = queue.enqueue(at(ms), parcel.with_ecn(Zone::Low.code()));
        }
        if let Some(parcel) = queue.dequeue(at(ms)) {
            said.push((ms, parcel.tag(), parcel.ecn()));
        }
    }
    let level = Level::of(0.92, 2);
    for (ms, place, code) in said {
        if ms > 202 {
            assert_eq!(Some(code), level.digit(place).map(Zone::code), "at {ms} ms");
        }
    }
}
