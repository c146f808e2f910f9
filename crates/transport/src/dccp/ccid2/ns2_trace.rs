//! Compares CCID 2 with ns-2's options against traces of ns-2.35 (`validation/ns2`): one flow over
//! 8 Mbit/s, 0.1 ms and then 0.8 Mbit/s, 100 ms; packets dropped by number.

use std::collections::{BTreeMap, BTreeSet};

use skywave_units::{Duration, Instant, Rate};
use skywave_wire::Ecn;
use skywave_wire::dccp::{DccpOption, OptionList, SeqNo};

use super::{Config, Receiver, Sender};
use crate::dccp::ackvec::AckVectorBuffer;
use crate::dccp::ccid::{HcReceiver, HcSender, Permit, ReceivedPacket, SentPacket};

const ACCESS: (Rate, Duration) = (Rate::from_bps(8_000_000), Duration::from_micros(100));
const BOTTLENECK: (Rate, Duration) = (Rate::from_bps(800_000), Duration::from_millis(100));
const END: Instant = Instant::from_nanos(8_000_100_000);

/// A packet in flight.
struct Packet {
    seq: SeqNo,
    ack: Option<SeqNo>,
    /// The ordinal number of a data packet.
    data: Option<u64>,
    bytes: u64,
    options: OptionList,
}

impl Packet {
    fn seen(&self) -> ReceivedPacket<'_> {
        ReceivedPacket {
            seq: self.seq,
            is_new: true,
            ack: self.ack,
            data: self.data.map(|_| 1000),
            is_corrupted: false,
            ccval: 0,
            ecn: Ecn::NotEct,
            ndp_count: None,
            options: &self.options,
        }
    }
}

/// Two links in series. Nothing else uses them and their queues never overflow, so a packet's
/// arrival is known when it is sent.
struct Path {
    links: [(Rate, Duration); 2],
    free: [Instant; 2],
}

impl Path {
    const fn new(links: [(Rate, Duration); 2]) -> Self {
        Self {
            links,
            free: [Instant::ZERO; 2],
        }
    }

    fn arrival(&mut self, now: Instant, bytes: u64, is_lost_between: bool) -> Option<Instant> {
        let mut at = now;
        for (index, (rate, delay)) in self.links.into_iter().enumerate() {
            if index == 1 && is_lost_between {
                return None;
            }
            let done = at.max(self.free[index]) + rate.transmission_time(bytes);
            self.free[index] = done;
            at = done + delay;
        }
        Some(at)
    }
}

/// What the traces record: kind, time in microseconds, value, bytes.
type Line = (char, u64, u64, u64);

struct Run {
    sender: Sender,
    receiver: Receiver,
    vector: AckVectorBuffer,
    forward: Path,
    reverse: Path,
    drops: BTreeSet<u64>,
    /// Packets ordered by arrival; the flag says whether they go to the data receiver.
    under_way: BTreeMap<(Instant, u64), (bool, Packet)>,
    events: u64,
    next: SeqNo,
    peer_next: SeqNo,
    peer_newest: Option<SeqNo>,
    sent: u64,
    acks: u64,
    lines: Vec<Line>,
}

impl Run {
    fn new(drops: &[u64]) -> Self {
        let config = Config {
            initial_ssthresh: 20.0,
            ..Config::ns2()
        };
        Self {
            sender: Sender::new(&config, 1000, 2),
            receiver: Receiver::new(&config, 2),
            vector: AckVectorBuffer::new(),
            forward: Path::new([ACCESS, BOTTLENECK]),
            reverse: Path::new([BOTTLENECK, ACCESS]),
            drops: drops.iter().copied().collect(),
            under_way: BTreeMap::new(),
            events: 0,
            next: SeqNo::new(1000),
            peer_next: SeqNo::new(7_000_000),
            peer_newest: None,
            sent: 0,
            acks: 0,
            lines: vec![],
        }
    }

    fn log(&mut self, kind: char, now: Instant, value: u64, bytes: u64) {
        let micros = (now.as_nanos() + 500) / 1000;
        self.lines.push((kind, micros, value, bytes));
    }

    /// Sends a packet to the data receiver.
    fn send(&mut self, now: Instant, is_data: bool, ack: Option<SeqNo>, bytes: u64) {
        self.sent += u64::from(is_data);
        let packet = Packet {
            seq: self.next,
            ack,
            data: is_data.then_some(self.sent),
            bytes,
            options: OptionList::new(),
        };
        self.next = self.next.next();
        self.sender.on_sent(
            now,
            &SentPacket {
                seq: packet.seq,
                data: is_data.then_some(1000),
                ack,
                ecn: Ecn::NotEct,
                is_last: false,
            },
        );
        if is_data {
            self.log('S', now, self.sent, bytes);
        }
        let is_lost = is_data && self.drops.contains(&self.sent);
        if let Some(at) = self.forward.arrival(now, bytes, is_lost) {
            self.events += 1;
            self.under_way.insert((at, self.events), (true, packet));
        }
    }

    /// Sends an acknowledgement back.
    fn acknowledge(&mut self, now: Instant, bytes_of_header: u64, ack: SeqNo) {
        let mut options = OptionList::new();
        self.vector.options(&mut options);
        self.receiver.ack_options(now, &mut options);
        let option_bytes: u64 = options
            .iter()
            .map(|option| match option {
                DccpOption::AckVector { cells, .. } => 2 + cells.len() as u64,
                _ => 4,
            })
            .sum();
        let bytes = bytes_of_header + option_bytes.next_multiple_of(4);
        let seq = self.peer_next;
        self.peer_next = seq.next();
        self.vector.sent(seq);
        self.receiver.on_ack_sent(now);
        if let Some(at) = self.reverse.arrival(now, bytes, false) {
            let packet = Packet {
                seq,
                ack: Some(ack),
                data: None,
                bytes,
                options,
            };
            self.events += 1;
            self.under_way.insert((at, self.events), (false, packet));
        }
    }

    fn transmit(&mut self, now: Instant) {
        while self.acks > 0 && self.sender.may_send(now, 1000) == Permit::Now {
            if self.sender.ack_of_ack_due() {
                self.send(now, true, self.peer_newest, 1040);
            } else {
                self.send(now, true, None, 1032);
            }
        }
    }

    fn arrive(&mut self, now: Instant, is_forward: bool, packet: Packet) {
        if is_forward {
            self.vector.record(packet.seq, Ecn::NotEct);
            self.receiver.on_received(now, &packet.seen());
            if let Some(ack) = packet.ack {
                self.vector.acked(ack);
            }
            if let Some(ordinal) = packet.data {
                self.log('R', now, ordinal, 0);
            } else if packet.ack.is_none() {
                // The Request: answer it with a Response of the same size.
                self.acknowledge(now, 84, packet.seq);
            }
            if self.receiver.ack_due() {
                self.acknowledge(now, 36, self.vector.ack_number().unwrap());
            }
            return;
        }
        self.acks += 1;
        self.log('A', now, self.acks, packet.bytes);
        self.peer_newest = Some(packet.seq);
        self.sender.on_received(now, &packet.seen());
        if self.acks == 1 {
            self.send(now, false, self.peer_newest, 36);
        }
        self.transmit(now);
        let stats = self.sender.stats();
        self.log('C', now, stats.cwnd as u64, 0);
        self.log('H', now, stats.ssthresh as u64, 0);
    }

    fn run(mut self) -> Self {
        self.send(Instant::ZERO, false, None, 88);
        loop {
            let arrival = self.under_way.first_key_value().map(|(&(at, _), _)| at);
            let timers = [self.receiver.deadline(), self.sender.deadline()];
            let Some(now) = timers.into_iter().flatten().chain(arrival).min() else {
                break;
            };
            if now > END {
                break;
            }
            self.receiver.expire(now);
            if self.receiver.ack_due() {
                self.acknowledge(now, 36, self.vector.ack_number().unwrap());
            }
            self.sender.expire(now);
            if arrival == Some(now)
                && let Some((_, (is_forward, packet))) = self.under_way.pop_first()
            {
                self.arrive(now, is_forward, packet);
            }
            self.transmit(now);
        }
        self
    }

    fn of_kind(&self, kind: char) -> Vec<Line> {
        self.lines
            .iter()
            .copied()
            .filter(|line| line.0 == kind)
            .collect()
    }
}

fn parse(text: &str) -> Vec<Line> {
    let micros = |text: &str| (text.parse::<f64>().unwrap() * 1e6).round() as u64;
    text.lines()
        .skip(1)
        .map(|line| {
            let fields: Vec<_> = line.split(',').collect();
            let bytes = fields.get(3).map_or(0, |bytes| bytes.parse().unwrap());
            let kind = fields[0].chars().next().unwrap();
            (kind, micros(fields[1]), fields[2].parse().unwrap(), bytes)
        })
        .collect()
}

/// Keeps the last line of each time, if the value has changed.
fn changes(lines: &[Line], initial: u64) -> Vec<Line> {
    let mut list: Vec<Line> = vec![];
    for &line in lines {
        if list.last().is_some_and(|last| last.1 == line.1) {
            list.pop();
        }
        if list.last().map_or(initial, |last| last.2) != line.2 {
            list.push(line);
        }
    }
    list
}

fn assert_agree(name: char, ours: &[Line], theirs: &[Line]) {
    for (ours, theirs) in ours.iter().zip(theirs) {
        let is_same = (ours.2, ours.3) == (theirs.2, theirs.3) && ours.1.abs_diff(theirs.1) <= 1;
        assert!(is_same, "{name}: ns-2 has {theirs:?}, this has {ours:?}");
    }
    assert_eq!(ours.len(), theirs.len(), "{name}: number of lines");
}

fn check(drops: &[u64], trace: &str) {
    let run = Run::new(drops).run();
    let trace = parse(trace);
    let of_kind = |kind| -> Vec<Line> {
        trace
            .iter()
            .copied()
            .filter(|line| line.0 == kind)
            .collect()
    };
    for kind in ['S', 'A', 'R'] {
        assert_agree(kind, &run.of_kind(kind), &of_kind(kind));
    }
    assert_agree(
        'C',
        &changes(&run.of_kind('C'), 3),
        &changes(&of_kind('C'), 3),
    );
    assert_agree(
        'H',
        &changes(&run.of_kind('H'), 20),
        &changes(&of_kind('H'), 20),
    );
    assert_eq!(run.sender.stats().counts.lost, drops.len() as u64);
    assert_eq!(run.sender.stats().counts.timeouts, 0);
}

macro_rules! traces {
    ($($name:ident: $drops:expr, $file:literal;)*) => {
        $(
            #[test]
            fn $name() {
                check(&$drops, include_str!(concat!(
                    "../../../../../validation/ns2/canonical/",
                    $file,
                )));
            }
        )*
    };
}

// C2-5, C2-6 in ns-2's variant, and C2-4: which packets leave on which acknowledgement.
traces! {
    agrees_without_loss: [], "dccp2_drop0.csv";
    agrees_with_one_loss: [14], "dccp2_drop1.csv";
    agrees_with_two_losses: [14, 28], "dccp2_drop2.csv";
    agrees_with_three_losses: [14, 26, 28], "dccp2_drop3.csv";
    agrees_with_four_losses: [14, 24, 26, 28], "dccp2_drop4.csv";
}
