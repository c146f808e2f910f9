//! Every discipline, built-in or user-defined, behaves as it declares.

use std::sync::Arc;

use skywave_path::contract::{self, Parcel, Tally};
use skywave_path::{
    Admission, AnyQueue, Arrival, Backlog, Conduct, DropReason, Dropped, Head, Keeps, Kept, Limit,
    Line, Link, Packet, QueueKind, QueueSpec, Queues, Room, Verdict, Writes,
    register_built_in_queues,
};
use skywave_registry::MemberFailure;
use skywave_units::{Duration, Instant, Rate};
use skywave_wire::Ecn;

/// A user-defined discipline that decides on arrival: each class may fill half as much as the
/// previous one.
struct Halves {
    packets: u32,
}

impl Admission for Halves {
    fn admit(
        &mut self,
        _now: Instant,
        line: &mut Line<'_>,
        arrival: Arrival,
    ) -> Result<Verdict, DropReason> {
        let waiting = line.packets();
        if waiting >= self.packets as usize {
            Err(DropReason::Full)
        } else if waiting >= (self.packets >> arrival.class) as usize {
            Err(DropReason::Early)
        } else if arrival.can_be_marked && waiting > 5 {
            Ok(Verdict::Mark)
        } else {
            Ok(Verdict::Keep)
        }
    }
}

struct HalvesKind(u32);

impl<P> QueueKind<P> for HalvesKind {
    fn conduct(&self) -> Conduct {
        Conduct {
            drops_early: true,
            writes: Writes::Marks,
            ..Conduct::fifo(Limit::Packets(self.0))
        }
    }

    fn build(&self, _head: &Head<'_>) -> AnyQueue<P> {
        AnyQueue::admission(Halves { packets: self.0 })
    }
}

/// A user-defined discipline that keeps packets: the last to arrive leaves first, and the first to
/// arrive is dropped first.
struct Stack<P> {
    packets: Vec<P>,
    most: usize,
    dropped: Vec<Dropped<P>>,
    now: Instant,
}

impl<P> Stack<P> {
    fn advance(&mut self, now: Instant) {
        assert!(now >= self.now, "time runs backwards");
        self.now = now;
    }
}

impl<P: Packet> Keeps<P> for Stack<P> {
    fn enqueue(&mut self, now: Instant, packet: P) -> Result<(), Dropped<P>> {
        self.advance(now);
        self.packets.push(packet);
        if self.packets.len() > self.most {
            self.dropped
                .push(Dropped::new(self.packets.remove(0), DropReason::Full));
        }
        Ok(())
    }

    fn dequeue(&mut self, now: Instant) -> Option<P> {
        self.advance(now);
        self.packets.pop()
    }

    fn dropped(&mut self) -> Option<Dropped<P>> {
        self.dropped.pop()
    }

    fn packets(&self) -> usize {
        self.packets.len()
    }

    fn bytes(&self) -> u64 {
        self.packets.iter().map(|p| u64::from(p.size())).sum()
    }
}

struct StackKind(u32);

impl<P: Packet + Send + 'static> QueueKind<P> for StackKind {
    fn conduct(&self) -> Conduct {
        Conduct {
            fifo: false,
            drops_inside: true,
            ..Conduct::fifo(Limit::Packets(self.0))
        }
    }

    fn build(&self, _head: &Head<'_>) -> AnyQueue<P> {
        AnyQueue::keeps(Stack {
            packets: Vec::new(),
            most: self.0 as usize,
            dropped: Vec::new(),
            now: Instant::ZERO,
        })
    }
}

/// This crate's disciplines and the user-defined ones, whose only parameter is a number of packets.
fn queues() -> Queues<Parcel> {
    let mut queues = Queues::new("queue discipline");
    register_built_in_queues(&mut queues);
    queues.register("halves", "A stranger.", |packets| {
        Ok(Arc::new(HalvesKind(packets)))
    });
    queues.register("stack", "A stranger.", |packets| {
        Ok(Arc::new(StackKind(packets)))
    });
    queues
}

/// Checks the contract of a queue as written in a file.
fn hold(spec: &str) -> Tally {
    let spec: QueueSpec = serde_json::from_str(spec).unwrap();
    let kind = spec.read(&queues()).unwrap();
    let mut sum = Tally::default();
    for seed in 0..100 {
        let tally = contract::check(&*kind, seed).unwrap_or_else(|violation| panic!("{violation}"));
        sum.left += tally.left;
        sum.written += tally.written;
        sum.refused += tally.refused;
        sum.dropped_inside += tally.dropped_inside;
    }
    sum
}

fn hold_with_defaults(name: &str) {
    let specs = [
        format!(r#"{{ "{name}": {{ "packets": 25 }} }}"#),
        format!(r#""{name}""#),
    ];
    let valid = specs.iter().find(|spec| {
        let spec: QueueSpec = serde_json::from_str(spec).unwrap();
        spec.read(&queues()).is_ok()
    });
    match valid {
        Some(spec) => assert!(hold(spec).left > 10_000, "{spec}"),
        None => panic!("{name} needs parameters: give it a test in `contracts!`"),
    }
}

/// One test per discipline: the queue that is checked, and what must occur in the test.
macro_rules! contracts {
    ($($test:ident: $spec:expr, $seen:expr;)*) => {
        $(#[test]
        fn $test() {
            let tally = hold($spec);
            let seen: fn(Tally) -> bool = $seen;
            assert!(tally.left > 10_000 && seen(tally), "{tally:?}");
        })*

        /// Disciplines without a test of their own are checked with 25 packets, or with the
        /// defaults of all parameters.
        #[test]
        fn every_discipline_is_held_to_the_contract() {
            let held = [$($spec),*].map(|spec| {
                let spec: QueueSpec = serde_json::from_str(spec).unwrap();
                spec.name().to_owned()
            });
            for name in queues().names().filter(|&name| held.iter().all(|held| held != name)) {
                hold_with_defaults(name);
            }
        }
    };
}

#[test]
fn a_discipline_without_a_test_of_its_own_is_checked() {
    hold_with_defaults("drop-tail");
    hold_with_defaults("unlimited");
}

contracts! {
    unlimited: r#""unlimited""#, |tally| tally.refused == 0;
    drop_tail: r#"{ "drop-tail": { "packets": 9 } }"#, |tally| tally.refused > 0;
    drop_tail_of_bytes: r#"{ "drop-tail": { "bytes": "9 kB" } }"#, |tally| tally.refused > 0;
    red: r#"{ "red": { "packets": 25, "weight": 0.3, "ecn": true } }"#,
        |tally| tally.refused > 0 && tally.written > 0;
    red_without_marks: r#"{ "red": { "bytes": "20 kB", "weight": 0.3, "queue_in_bytes": true } }"#,
        |tally| tally.refused > 0 && tally.written == 0;
    adaptive_red: r#"{ "adaptive-red": { "packets": 25, "weight": 0.3, "ecn": true } }"#,
        |tally| tally.refused > 0 && tally.written > 0;
    codel: r#"{ "codel": { "packets": 40, "ecn": true, "target": "1 ms", "interval": "5 ms" } }"#,
        |tally| tally.written > 0 && tally.dropped_inside > 0;
    codel_without_marks: r#"{ "codel": { "bytes": "20 kB", "target": "1 ms", "interval": "5 ms" } }"#,
        |tally| tally.written == 0 && tally.dropped_inside > 0;
    fq_codel: r#"{ "fq-codel": { "packets": 20, "flows": 3, "target": "1 ms", "interval": "5 ms" } }"#,
        |tally| tally.written > 0 && tally.dropped_inside > 0;
    pie: r#"{ "pie": { "packets": 20, "ecn": true, "target": "1 ms", "update": "1 ms" } }"#,
        |tally| tally.refused > 0;
    dualpi2: r#"{ "dualpi2": { "packets": 20, "target": "1 ms", "t_update": "1 ms", "alpha": 10, "beta": 20 } }"#,
        |tally| tally.refused > 0 && tally.written > 0 && tally.dropped_inside > 0;
    dualpi2_of_bytes: r#"{ "dualpi2": { "bytes": "9 kB", "tshift": "5 ms" } }"#,
        |tally| tally.refused > 0 && tally.written > 0;
    step: r#"{ "step": { "packets": 20, "threshold": 5 } }"#,
        |tally| tally.refused > 0 && tally.written > 0;
    step_of_delay: r#"{ "step": { "bytes": "9 kB", "threshold_delay": "1 ms" } }"#,
        |tally| tally.refused > 0 && tally.written > 0;
    kernels: r#"{ "kernel": { "qdisc": "pfifo limit 9", "simulated": { "drop-tail": { "packets": 9 } } } }"#,
        |tally| tally.refused > 0;
    weighted: r#"{ "weighted": { "queues": [
        { "weight": 3, "queue": { "drop-tail": { "packets": 9 } } },
        { "weight": 1, "queue": { "drop-tail": { "bytes": "9 kB" } } } ] } }"#,
        |tally| tally.refused > 0;
    weighted_red: r#"{ "weighted": { "queues": [
        { "weight": 1, "queue": { "red": { "packets": 25, "weight": 0.3, "ecn": true } } },
        { "weight": 2 } ] } }"#,
        |tally| tally.refused > 0 && tally.written > 0;
    weighted_codel: r#"{ "weighted": { "queues": [
        { "weight": 3, "queue": { "codel": { "packets": 9, "target": "1 ms", "interval": "5 ms" } } },
        { "weight": 1 } ] } }"#,
        |tally| tally.dropped_inside > 0;
    weighted_pie: r#"{ "weighted": { "queues": [
        { "weight": 1 }, { "weight": 2, "queue": { "pie": { "packets": 9 } } } ] } }"#,
        |tally| tally.refused > 0;
    weighted_of_one: r#"{ "weighted": { "queues": [
        { "weight": 5, "queue": { "drop-tail": { "packets": 9 } } } ] } }"#,
        |tally| tally.refused > 0;
    weighted_of_strangers: r#"{ "weighted": { "queues": [
        { "weight": 1, "queue": { "halves": 12 } }, { "weight": 1, "queue": { "stack": 4 } } ] } }"#,
        |tally| tally.refused > 0 && tally.written > 0 && tally.dropped_inside > 0;
    halves: r#"{ "halves": 12 }"#, |tally| tally.refused > 0 && tally.written > 0;
    stack: r#"{ "stack": 12 }"#, |tally| tally.dropped_inside > 0;
}

/// Ways in which a queue can violate its declaration, which is that of drop-tail, or of drop-tail
/// that may drop what it has accepted.
#[derive(Clone, Copy, Debug)]
enum Fault {
    Swallows,
    Repeats,
    Reorders,
    DropsEarly,
    DropsInside,
    DropsEarlyInside,
    Marks,
    Shrinks,
    HoldsMore,
    RefusesNeedlessly,
    Miscounts,
    Idles,
    Fails,
}

const MOST: usize = 9;

struct Broken {
    fault: Fault,
    waiting: Backlog<Parcel>,
    spare: Option<Parcel>,
    calls: u32,
}

impl Keeps<Parcel> for Broken {
    fn enqueue(&mut self, now: Instant, packet: Parcel) -> Result<(), Dropped<Parcel>> {
        self.calls += 1;
        let is_time = self.calls % 5 == 4;
        let refuse = |reason| Err(Dropped::new(packet, reason));
        match self.fault {
            Fault::Swallows if is_time => return Ok(()),
            Fault::DropsEarly if is_time => return refuse(DropReason::Early),
            Fault::RefusesNeedlessly if is_time => return refuse(DropReason::Full),
            Fault::HoldsMore => {}
            _ if self.waiting.packets() >= MOST => return refuse(DropReason::Full),
            _ => {}
        }
        self.waiting.push(now, packet);
        Ok(())
    }

    fn dequeue(&mut self, now: Instant) -> Option<Parcel> {
        self.calls += 1;
        let is_time = self.calls % 5 == 4;
        match self.fault {
            Fault::Reorders if self.spare.is_none() => {
                self.spare = self.waiting.pop(now).map(|(_, packet)| packet);
            }
            Fault::Repeats if is_time && self.spare.is_some() => return self.spare.take(),
            Fault::Idles if is_time => return None,
            _ => {}
        }
        let Some((_, mut packet)) = self.waiting.pop(now) else {
            return self
                .spare
                .take()
                .filter(|_| matches!(self.fault, Fault::Reorders));
        };
        match self.fault {
            Fault::Marks if packet.ecn().is_capable() => packet.set_ecn(Ecn::Ce),
            Fault::Repeats => self.spare = Some(packet),
            Fault::Shrinks => packet = Parcel::new(packet.id, packet.size() / 2),
            _ => {}
        }
        Some(packet)
    }

    fn dropped(&mut self) -> Option<Dropped<Parcel>> {
        let reason = match self.fault {
            Fault::DropsInside => DropReason::Full,
            Fault::DropsEarlyInside => DropReason::Early,
            _ => return None,
        };
        if self.waiting.packets() <= 5 {
            return None;
        }
        let (_, packet) = self.waiting.pop(Instant::MAX)?;
        Some(Dropped::new(packet, reason))
    }

    fn packets(&self) -> usize {
        self.waiting.packets()
            + usize::from(matches!(self.fault, Fault::Reorders if self.spare.is_some()))
    }

    fn bytes(&self) -> u64 {
        let spare = self.spare.filter(|_| matches!(self.fault, Fault::Reorders));
        let spare = spare.map_or(0, |packet| u64::from(packet.size()));
        self.waiting.bytes() + spare + u64::from(matches!(self.fault, Fault::Miscounts))
    }

    fn failure(&self) -> Option<MemberFailure> {
        let fails = matches!(self.fault, Fault::Fails) && self.calls > 10;
        fails.then(|| MemberFailure::new(std::io::Error::other("cannot go on")))
    }
}

impl QueueKind<Parcel> for Fault {
    fn conduct(&self) -> Conduct {
        Conduct {
            drops_inside: matches!(self, Self::DropsEarlyInside),
            ..Conduct::fifo(Limit::Packets(MOST as u32))
        }
    }

    fn build(&self, _head: &Head<'_>) -> AnyQueue<Parcel> {
        AnyQueue::keeps(Broken {
            fault: *self,
            waiting: Backlog::new(),
            spare: None,
            calls: 0,
        })
    }
}

#[test]
fn a_queue_that_breaks_what_it_declares_is_caught() {
    for (fault, what) in [
        (Fault::Swallows, "the queue counts"),
        (Fault::Repeats, "which it does not contain"),
        (Fault::Reorders, "out of order"),
        (Fault::DropsEarly, "early"),
        (
            Fault::DropsInside,
            "after accepting it, for the reason \"full\"",
        ),
        (
            Fault::DropsEarlyInside,
            "after accepting it, for the reason \"early\"",
        ),
        (Fault::Marks, "the queue changes"),
        (Fault::Shrinks, "the queue changes"),
        (Fault::HoldsMore, "the queue holds 10 packets"),
        (Fault::RefusesNeedlessly, "although it would fit"),
        (Fault::Miscounts, "the queue counts"),
        (Fault::Idles, "although packets are waiting"),
        (Fault::Fails, "cannot go on"),
    ] {
        for seed in 0..20 {
            let violation = contract::check(&fault, seed).unwrap_err();
            assert!(violation.what.contains(what), "{fault:?}: {violation}");
            assert_eq!(violation.seed, seed);
            assert_eq!(violation.failure.is_some(), matches!(fault, Fault::Fails));
        }
    }
}

/// On its own link a discipline may miscount in a way that does not show on a shared link.
#[test]
fn a_queue_that_is_only_wrong_at_a_link_is_caught() {
    struct Forgets;
    impl Admission for Forgets {
        fn admit(
            &mut self,
            _now: Instant,
            line: &mut Line<'_>,
            arrival: Arrival,
        ) -> Result<Verdict, DropReason> {
            let has_room = line.has_room_for(arrival.size, Room::from(Limit::Packets(9)));
            // A link that was not idle since time zero.
            let is_late = line.idle_since().is_some_and(|since| since > Instant::ZERO);
            if has_room && !is_late {
                Ok(Verdict::Keep)
            } else {
                Err(DropReason::Full)
            }
        }
    }
    impl QueueKind<Parcel> for Forgets {
        fn conduct(&self) -> Conduct {
            Conduct::fifo(Limit::Packets(9))
        }

        fn build(&self, _head: &Head<'_>) -> AnyQueue<Parcel> {
            AnyQueue::admission(Forgets)
        }
    }
    let violation = contract::check(&Forgets, 1).unwrap_err();
    assert!(
        violation.what.contains("although it would fit"),
        "{violation}"
    );
}

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

fn link(spec: &str) -> Link<Parcel> {
    let spec: QueueSpec = serde_json::from_str(spec).unwrap();
    let stream = |_: &str| rand::SeedableRng::seed_from_u64(1);
    let (rate, delay) = (Rate::from_bps(8_000_000), Duration::from_millis(10));
    let head = Head::new("a->b", rate, delay, &stream);
    let queue = spec.read(&queues()).unwrap().build(&head);
    Link::new(queue, rate, delay)
}

/// The fate of each packet on a link under steady overload, and the queue's internal values at the
/// end. If `looks`, they are read in every step, otherwise never.
fn course(spec: &str, looks: bool) -> (Vec<bool>, Vec<(String, f64)>) {
    let (mut link, mut course, mut values) = (link(spec), Vec::new(), Vec::new());
    for ms in 0..3000 {
        for id in 0..2 {
            course.push(link.enqueue(at(ms), Parcel::new(id, 1000)).is_ok());
        }
        while link.deadline().is_some_and(|deadline| deadline <= at(ms)) {
            link.dequeue(at(ms));
        }
        while let Some(dropped) = link.dropped() {
            course.push(dropped.packet.id == 0);
        }
        if looks {
            values.clear();
            link.inner_values(&mut |name, value| values.push((name.to_owned(), value)));
        }
    }
    (course, values)
}

/// One test per discipline: it publishes values with these names, not all zero, and reading them
/// has no effect.
macro_rules! inner_values {
    ($($test:ident: $spec:expr, $names:expr;)*) => {
        $(#[test]
        fn $test() {
            let (seen, values) = course($spec, true);
            assert_eq!(seen, course($spec, false).0);
            let names: Vec<_> = values.iter().map(|(name, _)| name.as_str()).collect();
            assert_eq!(names, $names);
            assert!(values.iter().any(|&(_, value)| value > 0.0), "{values:?}");
        })*
    };
}

inner_values! {
    values_of_red: r#"{ "red": { "packets": 50, "weight": 0.3 } }"#, ["average_packets", "max_p"];
    values_of_codel: r#"{ "codel": { "packets": 50 } }"#, ["count", "dropping"];
    values_of_fq_codel: r#"{ "fq-codel": {} }"#, ["new_queues", "old_queues"];
    values_of_pie: r#"{ "pie": { "packets": 50 } }"#, ["drop_probability", "delay_s"];
    values_of_dualpi2: r#"{ "dualpi2": { "packets": 50 } }"#, [
        "base_probability", "p_c", "p_cl", "p_l",
        "l4s_delay_s", "l4s_packets", "l4s_bytes",
        "classic_delay_s", "classic_packets", "classic_bytes",
    ];
    values_of_weighted: r#"{ "weighted": { "queues": [
        { "weight": 1, "queue": { "red": { "packets": 9 } } }, { "weight": 1 } ] } }"#,
        ["queues[0].average_packets", "queues[0].max_p"];
}

#[test]
fn a_discipline_need_not_publish_values() {
    assert_eq!(course(r#"{ "halves": 9 }"#, true).1, []);
}

/// A discipline that decides on arrival may do so too, on its own link and on a shared one.
#[test]
fn a_discipline_of_a_user_may_publish_values() {
    struct Counts(u32);
    impl Admission for Counts {
        fn admit(
            &mut self,
            _now: Instant,
            _line: &mut Line<'_>,
            _arrival: Arrival,
        ) -> Result<Verdict, DropReason> {
            self.0 += 1;
            Ok(Verdict::Keep)
        }

        fn inner_values(&self, record: &mut dyn FnMut(&str, f64)) {
            record("arrivals", f64::from(self.0));
        }
    }
    let mut link = Link::new(
        AnyQueue::admission(Counts(0)),
        Rate::from_bps(8_000_000),
        Duration::ZERO,
    );
    let mut kept = AnyQueue::admission(Counts(0)).into_keeps();
    for id in 0..3 {
        link.enqueue(at(0), Parcel::new(id, 100)).unwrap();
        kept.enqueue(at(0), Parcel::new(id, 100)).unwrap();
    }
    let mut values = Vec::new();
    link.inner_values(&mut |name, value| values.push((name.to_owned(), value)));
    kept.inner_values(&mut |name, value| values.push((name.to_owned(), value)));
    assert_eq!(
        values,
        [("arrivals".to_owned(), 3.0), ("arrivals".to_owned(), 3.0)]
    );
}

/// The draws of one sub-queue do not depend on the others.
#[test]
fn sub_queues_draw_from_streams_of_their_own() {
    let drawn = std::cell::RefCell::new(Vec::new());
    let stream = |name: &str| {
        drawn.borrow_mut().push(name.to_owned());
        rand::SeedableRng::seed_from_u64(1)
    };
    let head = Head::new("a->b", Rate::from_bps(8_000_000), Duration::ZERO, &stream);
    let spec = r#"{ "weighted": { "queues": [
        { "weight": 1, "queue": { "red": { "packets": 9 } } },
        { "weight": 1, "queue": { "pie": { "packets": 9 } } } ] } }"#;
    let spec: QueueSpec = serde_json::from_str(spec).unwrap();
    spec.read(&queues()).unwrap().build(&head);
    assert_eq!(*drawn.borrow(), ["a->b/queue0", "a->b/queue1"]);
}

/// A sub-queue knows how long it has been idle, although the times of its transmissions are
/// unknown.
#[test]
fn a_kept_line_is_idle_from_when_its_last_packet_leaves() {
    struct Watch(Option<Instant>);
    impl Admission for Watch {
        fn admit(
            &mut self,
            _now: Instant,
            line: &mut Line<'_>,
            _arrival: Arrival,
        ) -> Result<Verdict, DropReason> {
            self.0 = line.idle_since();
            Ok(Verdict::Keep)
        }
    }
    let mut queue = Kept::new(Watch(None));
    queue.enqueue(at(1), Parcel::new(1, 100)).unwrap();
    assert_eq!(queue.admission().0, Some(Instant::ZERO));
    queue.enqueue(at(2), Parcel::new(2, 100)).unwrap();
    assert_eq!(queue.admission().0, None);
    for ms in [3, 4, 5] {
        queue.dequeue(at(ms));
    }
    queue.enqueue(at(6), Parcel::new(3, 100)).unwrap();
    assert_eq!(queue.admission().0, Some(at(4)));
}
