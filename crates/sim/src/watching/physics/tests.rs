//! Valid records, and each kind of violation.

use skywave_units::Duration;

use super::*;
use crate::{FlowId, Registry};

/// One link: 1000 B take 1 ms, propagation takes 10 ms, and one packet may wait.
fn scenario() -> Scenario {
    with_queue("drop-tail = { packets = 1 }")
}

fn with_queue(queue: &str) -> Scenario {
    let text = r#"
        name = "one link"
        duration = "1 s"
        nodes = ["a", "b"]

        [[links]]
        from = "a"
        to = "b"
        rate = "8 Mbps"
        delay = "10 ms"
        queue = { QUEUE }

        [[flows]]
        name = "flow"
        from = "a"
        to = "b"
        transport = { tcp = {} }
        source = { ftp = {} }
        "#;
    Scenario::from_toml(&text.replace("QUEUE", queue), &Registry::default()).unwrap()
}

fn record(at_ms: u64, packet: u64, what: What) -> Record {
    let at = Instant::ZERO + Duration::from_millis(at_ms);
    Record {
        at,
        packet,
        what,
        size: 1000,
        ecn: Ecn::NotEct,
    }
}

const FLOW: FlowId = FlowId::new(0);
const SENT: What = What::Sent {
    host: FLOW.sender(),
};
const ENQUEUED: What = What::Enqueued { link: 0 };
const ARRIVED: What = What::Arrived { link: 0 };
const RECEIVED: What = What::Received {
    host: FLOW.receiver(),
};
const FULL: What = What::Dropped {
    link: 0,
    reason: DropReason::Full,
};

/// Three packets at once: one leaves, one waits, one is dropped.
fn good() -> Vec<Record> {
    vec![
        record(0, 0, SENT),
        record(0, 0, ENQUEUED),
        record(0, 1, SENT),
        record(0, 1, ENQUEUED),
        record(0, 2, SENT),
        record(0, 2, FULL),
        record(11, 0, ARRIVED),
        record(11, 0, RECEIVED),
        record(12, 1, ARRIVED),
        record(12, 1, RECEIVED),
    ]
}

/// Returns the violations after a change to the valid record.
fn verdict(change: impl FnOnce(&mut Vec<Record>)) -> String {
    let mut records = good();
    change(&mut records);
    verify(&scenario(), &Registry::default(), &records).join("\n")
}

#[test]
fn has_nothing_to_say_of_a_good_run() {
    assert_eq!(verdict(|_| {}), "");
}

#[test]
fn sees_each_kind_of_violation() {
    type Change = fn(&mut Vec<Record>);
    let cases: [(Change, &str); 16] = [
        (
            |records| records[5].what = ENQUEUED,
            "exceeds the limit of its queue",
        ),
        (
            |records| records[3].what = FULL,
            "although the queue has room",
        ),
        (
            |records| {
                records[5].what = What::Dropped {
                    link: 0,
                    reason: DropReason::Loss,
                }
            },
            "without a loss model",
        ),
        (
            |records| records[6].at = records[6].at - Duration::from_nanos(1),
            "than its delay allows",
        ),
        (
            |records| records[8].at = records[8].at - Duration::from_nanos(1),
            "than its rate allows",
        ),
        (
            |records| (records[6].packet, records[8].packet) = (1, 0),
            "not FIFO",
        ),
        (
            |records| {
                records[7].what = What::Received {
                    host: FLOW.sender(),
                }
            },
            "at another node or link",
        ),
        (|records| records[9].packet = 0, "not in the network"),
        (
            |records| records[7].what = ENQUEUED,
            "at another node or link",
        ),
        (|records| records[6].ecn = Ecn::Ce, "ECN field"),
        (|records| records[6].size = 999, "changed from 1000 B"),
        (
            |records| records[2].packet = 7,
            "the next packet sent should be",
        ),
        (
            |records| {
                records[8].at += Duration::from_millis(1);
                records[9].at += Duration::from_millis(1);
            },
            "later than its rate",
        ),
        (|records| records.truncate(8), "a->b does not deliver it"),
        (|records| records.truncate(9), "left at node b"),
        (
            |records| {
                records.remove(5);
            },
            "left at node a",
        ),
    ];
    for (index, (change, complaint)) in cases.into_iter().enumerate() {
        let verdict = verdict(change);
        assert!(verdict.contains(complaint), "case {index}: {verdict}");
    }
}

#[test]
fn sees_time_run_backwards() {
    assert!(verdict(|records| records.swap(7, 8)).contains("before that of the previous record"));
}

const EARLY: What = What::Dropped {
    link: 0,
    reason: DropReason::Early,
};

/// Like `verdict`, with another queue.
fn verdict_on(queue: &str, change: impl FnOnce(&mut Vec<Record>)) -> String {
    let mut records = good();
    change(&mut records);
    verify(&with_queue(queue), &Registry::default(), &records).join("\n")
}

/// The third packet is accepted instead of dropped. The second, which waits, is dropped when the
/// link requests it, and the third is sent instead.
fn drops_the_head(records: &mut Vec<Record>) {
    records[5].what = ENQUEUED;
    records.insert(6, record(1, 1, EARLY));
    for record in &mut records[9..] {
        record.packet = 2;
    }
}

fn marked(records: &mut [Record]) {
    for record in records.iter_mut().filter(|record| record.packet == 0) {
        let sent = matches!(record.what, What::Sent { .. } | What::Enqueued { .. });
        record.ecn = if sent { Ecn::Ect0 } else { Ecn::Ce };
    }
}

/// A mark on a packet that was not ECN-capable.
fn unmarkable(records: &mut [Record]) {
    (records[6].ecn, records[7].ecn) = (Ecn::Ce, Ecn::Ce);
}

fn swapped(records: &mut [Record]) {
    for (index, packet) in [(6, 1), (7, 1), (8, 0), (9, 0)] {
        records[index].packet = packet;
    }
}

/// Defines tests per discipline: with this queue and after this change, there are no violations or
/// they contain this text.
macro_rules! verdicts {
    ($($test:ident: [$($queue:literal, $change:expr, $complaint:literal;)*])*) => {
        $(#[test]
        fn $test() {
            $(
                let verdict = verdict_on($queue, $change);
                assert_eq!(verdict.is_empty(), $complaint.is_empty(), "{}: {verdict}", $queue);
                assert!(verdict.contains($complaint), "{}: {verdict}", $queue);
            )*
        })*
    };
}

verdicts! {
    allows_drop_tail_what_it_does: [
        "drop-tail = { packets = 1 }", |records| records[5].what = EARLY, "drops it early";
    ]
    allows_red_what_it_does: [
        "red = { packets = 1 }", |records| records[5].what = EARLY, "";
        "red = { packets = 1, ecn = true }", |records| marked(records), "";
        "red = { packets = 1 }", |records| marked(records), "ECN field";
        "red = { packets = 2 }", drops_the_head, "drops it after accepting it";
    ]
    allows_pie_what_it_does: [
        "pie = { packets = 1, ecn = true }", |records| unmarkable(records), "ECN field";
    ]
    allows_codel_what_it_does: [
        "codel = { packets = 2 }", drops_the_head, "";
        "codel = { packets = 1 }", drops_the_head, "exceeds the limit of its queue";
        "codel = { packets = 3 }", |_| {}, "although the queue has room";
        "codel = { packets = 1 }", |_| {}, "";
        "codel = { packets = 1 }", |records| swapped(records), "not FIFO";
    ]
    allows_fq_codel_what_it_does: [
        "fq-codel = { packets = 1 }", |records| swapped(records), "";
    ]
    allows_weighted_queues_what_they_do: [
        "weighted = { queues = [{ weight = 1, queue = { drop-tail = { packets = 1 } } }] }", |records| swapped(records),
            "not FIFO";
        "weighted = { queues = [{ weight = 1 }, { weight = 1 }] }", |records| swapped(records), "";
    ]
}

/// A frame in transmission at the end of the run has left the queue, even though no arrival is
/// recorded.
#[test]
fn does_not_count_as_waiting_what_may_have_begun() {
    let mut scenario = with_queue("codel = { packets = 1 }");
    scenario.duration = Duration::from_millis(11);
    let mut records = good();
    records.truncate(4);
    records.extend([
        record(2, 2, SENT),
        record(2, 2, ENQUEUED),
        record(11, 0, ARRIVED),
        record(11, 0, RECEIVED),
    ]);
    let violations = verify(&scenario, &Registry::default(), &records);
    assert_eq!(violations, Vec::<String>::new());
    // Before the last known transmission, the content of the queue is known.
    records[4].at = Instant::ZERO;
    records[5].at = Instant::ZERO;
    let violations = verify(&scenario, &Registry::default(), &records).join("\n");
    assert!(
        violations.contains("exceeds the limit of its queue"),
        "{violations}"
    );
}
