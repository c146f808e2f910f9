use skywave_wire::Ecn;
use skywave_wire::dccp::ElapsedTime;

use super::*;

const MS: Duration = Duration::from_millis(1);

fn at(millis: u64) -> Instant {
    Instant::ZERO + MS * millis
}

/// A packet that arrives at `receiver`.
fn come(receiver: &mut Receiver, millis: u64, number: u64, is_data: bool, ecn: Ecn) {
    let options = OptionList::new();
    receiver.on_received(
        at(millis),
        &ReceivedPacket {
            seq: SeqNo::new(number),
            is_new: true,
            ack: None,
            data: is_data.then_some(1000),
            is_corrupted: false,
            ccval: 0,
            ecn,
            ndp_count: None,
            options: &options,
        },
    );
}

fn receiver() -> Receiver {
    Receiver::new(&Config::default(), 2)
}

fn elapsed(receiver: &mut Receiver, millis: u64) -> Option<ElapsedTime> {
    let mut options = OptionList::new();
    receiver.ack_options(at(millis), &mut options);
    match options.as_slice() {
        [] => None,
        [DccpOption::ElapsedTime(elapsed)] => Some(*elapsed),
        other => panic!("{other:?}"),
    }
}

// D11.3-1: one acknowledgement per Ack Ratio data packets.
#[test]
fn acknowledges_every_ack_ratio_packets() {
    for ratio in [1, 2, 5] {
        let mut receiver = receiver();
        receiver.on_ack_ratio(ratio);
        let due: Vec<_> = (1..=10)
            .map(|number| {
                come(&mut receiver, 0, number, true, Ecn::Ect0);
                let is_due = receiver.ack_due();
                if is_due {
                    receiver.on_ack_sent(at(0));
                }
                is_due
            })
            .collect();
        let expected: Vec<_> = (1..=10).map(|number| number % ratio == 0).collect();
        assert_eq!(due, expected);
    }
}

// D11.3-1: packets without data are not counted and do not start the timer.
#[test]
fn acknowledgements_are_not_acknowledged() {
    let mut receiver = receiver();
    for number in [1, 2, 3, 7, 5] {
        come(&mut receiver, 0, number, false, Ecn::Ce);
    }
    assert!(!receiver.ack_due());
    assert_eq!(receiver.deadline(), None);
}

// D11.3-1: T = 200 ms from the first unacknowledged packet.
#[test]
fn delays_an_acknowledgement_by_200_ms_at_most() {
    let mut receiver = receiver();
    receiver.on_ack_ratio(4);
    come(&mut receiver, 10, 1, true, Ecn::Ect0);
    come(&mut receiver, 50, 2, true, Ecn::Ect0);
    assert_eq!(receiver.deadline(), Some(at(210)));
    receiver.expire(at(209));
    assert!(!receiver.ack_due());
    receiver.expire(at(210));
    assert!(receiver.ack_due());
    assert_eq!(receiver.deadline(), None);
    receiver.on_ack_sent(at(210));
    assert!(!receiver.ack_due());
    come(&mut receiver, 300, 3, true, Ecn::Ect0);
    assert_eq!(receiver.deadline(), Some(at(500)));
}

// D11.3-1: immediately on a hole, on a packet that fills it, and on a duplicate.
#[test]
fn acknowledges_packets_out_of_order_at_once() {
    let mut receiver = receiver();
    receiver.on_ack_ratio(100);
    for (number, is_due) in [
        (1, false),
        (2, false),
        (4, true),
        (5, false),
        (3, true),
        (5, true),
    ] {
        come(&mut receiver, 0, number, true, Ecn::Ect0);
        assert_eq!(receiver.ack_due(), is_due, "{number}");
        receiver.on_ack_sent(at(0));
    }
    let mut patient = Receiver::new(&Config::ns2(), 100);
    for number in [1, 4, 3] {
        come(&mut patient, 0, number, true, Ecn::Ce);
        assert!(!patient.ack_due());
    }
}

// D11.3-1: immediately on a mark, but once per round-trip time.
#[test]
fn acknowledges_marks_at_once() {
    let mut receiver = receiver();
    receiver.on_ack_ratio(100);
    receiver.on_rtt(MS * 50);
    for (number, millis, is_due) in [
        (1, 0, true),
        (2, 10, false),
        (3, 49, false),
        (4, 50, true),
        (5, 60, false),
    ] {
        come(&mut receiver, millis, number, true, Ecn::Ce);
        assert_eq!(receiver.ack_due(), is_due, "{number}");
        receiver.on_ack_sent(at(millis));
    }
}

#[test]
fn a_lower_ratio_acts_at_once_and_zero_means_each_packet() {
    let mut receiver = receiver();
    receiver.on_ack_ratio(10);
    (1..=3).for_each(|number| come(&mut receiver, 0, number, true, Ecn::Ect0));
    assert!(!receiver.ack_due());
    receiver.on_ack_ratio(3);
    assert!(receiver.ack_due());
    receiver.on_ack_sent(at(0));
    receiver.on_ack_ratio(0);
    assert!(!receiver.ack_due());
    come(&mut receiver, 0, 4, true, Ecn::Ect0);
    assert!(receiver.ack_due());
}

// D13-2: the time since the acknowledged packet arrived, in units of 10 us, never overstated; in
// the short form if possible.
#[test]
fn tells_the_elapsed_time() {
    let mut receiver = receiver();
    assert_eq!(elapsed(&mut receiver, 5), None);
    come(&mut receiver, 10, 2, true, Ecn::Ect0);
    come(&mut receiver, 20, 1, true, Ecn::Ect0);
    assert_eq!(elapsed(&mut receiver, 10), None);
    assert_eq!(
        elapsed(&mut receiver, 210),
        Some(ElapsedTime::Short(20_000))
    );
    assert_eq!(
        elapsed(&mut receiver, 665),
        Some(ElapsedTime::Short(65_500))
    );
    assert_eq!(elapsed(&mut receiver, 666), Some(ElapsedTime::Long(65_600)));
    assert_eq!(
        elapsed(&mut receiver, 1 << 40),
        Some(ElapsedTime::Long(u32::MAX))
    );
    let mut options = OptionList::new();
    receiver.ack_options(at(10) + Duration::from_nanos(19_999), &mut options);
    assert_eq!(
        options.as_slice(),
        [DccpOption::ElapsedTime(ElapsedTime::Short(1))]
    );
}
