use std::collections::BTreeMap;

use proptest::prelude::*;
use skywave_wire::dccp::AckState;

use super::*;
use crate::dccp::ackvec::{Vector, vectors};

fn seq(number: u64) -> SeqNo {
    SeqNo::new(number)
}

/// A buffer that has recorded these packets.
fn buffer(packets: &[(u64, Ecn)]) -> AckVectorBuffer {
    let mut buffer = AckVectorBuffer::new();
    for &(number, ecn) in packets {
        buffer.record(seq(number), ecn);
    }
    buffer
}

/// The Nonce Echo and the cells of each option.
fn emitted(buffer: &AckVectorBuffer) -> Vec<(bool, Vec<u8>)> {
    let mut options = OptionList::new();
    buffer.options(&mut options);
    options
        .iter()
        .map(|option| match option {
            DccpOption::AckVector { nonce, cells } => (*nonce, cells.to_vec()),
            DccpOption::LoadVector(cells) => (false, cells.to_vec()),
            other => panic!("{other:?}"),
        })
        .collect()
}

/// The state of each packet in an Ack Vector, newest first.
fn states(buffer: &AckVectorBuffer) -> Vec<(SeqNo, AckState)> {
    let mut options = OptionList::new();
    buffer.options(&mut options);
    let Some(ack) = buffer.ack_number() else {
        return vec![];
    };
    vectors(VectorKind::Ack, ack, &options)
        .flat_map(Vector::runs)
        .flat_map(|run| (0..run.len).map(move |age| (run.newest.sub(age), state(run.code))))
        .collect()
}

/// The Ack Vector state for a recorded code.
fn state(code: Option<Ecn>) -> AckState {
    AckVectorCell::from_byte(VectorKind::Ack.byte(code, 1)).state()
}

/// RFC 4340 appendix A's example: 10 received; 9, 8, 7 not; 6 to 2 received; 1 marked; 0 received,
/// and the nonces sum to 1.
fn example() -> AckVectorBuffer {
    let mut packets = vec![(0, Ecn::Ect0), (1, Ecn::Ce)];
    packets.extend((2..=6).map(|number| (number, Ecn::Ect0)));
    packets.push((10, Ecn::Ect1));
    buffer(&packets)
}

// D11.4-1
#[test]
fn emits_the_example_of_appendix_a() {
    assert_eq!(example().ack_number(), Some(seq(10)));
    assert_eq!(emitted(&example()), [(true, vec![0, 0xc2, 4, 0x40, 0])]);
}

// Appendix A.1.1: packet 11 marked; packet 11 unmarked; packet 12 with nonce 1.
#[test]
fn new_packets_as_in_appendix_a() {
    let mut marked = example();
    assert!(marked.record(seq(11), Ecn::Ce));
    assert_eq!(emitted(&marked), [(true, vec![0x40, 0, 0xc2, 4, 0x40, 0])]);
    let mut in_order = example();
    assert!(in_order.record(seq(11), Ecn::Ect0));
    assert_eq!(emitted(&in_order), [(true, vec![1, 0xc2, 4, 0x40, 0])]);
    let mut with_hole = example();
    assert!(with_hole.record(seq(12), Ecn::Ect1));
    assert_eq!(
        emitted(&with_hole),
        [(false, vec![0, 0xc0, 0, 0xc2, 4, 0x40, 0])]
    );
}

// Appendix A.1.2: packet 8 arrives late.
#[test]
fn old_packets_as_in_appendix_a() {
    let mut late = example();
    assert!(late.record(seq(8), Ecn::Ect0));
    assert_eq!(emitted(&late), [(true, vec![0, 0xc0, 0, 0xc0, 4, 0x40, 0])]);
    assert!(late.record(seq(9), Ecn::Ect0));
    assert!(late.record(seq(7), Ecn::Ect0));
    assert_eq!(
        emitted(&late),
        [(true, vec![8, 0x40, 0])],
        "neighbours are joined"
    );
}

// D11.4-5, appendix A.3: an acknowledgement of acknowledgement 59, which covered up to packet 3.
#[test]
fn clearing_state_as_in_appendix_a() {
    let mut buffer = buffer(&[(0, Ecn::Ect1), (1, Ecn::Ce), (2, Ecn::Ect0), (3, Ecn::Ect0)]);
    buffer.sent(seq(59));
    for number in 4..=6 {
        buffer.record(seq(number), Ecn::Ect0);
    }
    buffer.record(seq(10), Ecn::Ect0);
    buffer.sent(seq(60));
    assert_eq!(emitted(&buffer), [(true, vec![0, 0xc2, 4, 0x40, 0])]);
    buffer.acked(seq(58));
    assert_eq!(buffer.len(), 5, "58 is not a packet with an Ack Vector");
    buffer.acked(seq(59));
    assert_eq!(emitted(&buffer), [(false, vec![0, 0xc2, 2])]);
    buffer.sent(seq(62));
    buffer.acked(seq(61));
    assert_eq!(buffer.len(), 3, "nor is 61, and 60 may have been lost");
    buffer.acked(seq(60));
    assert_eq!(
        emitted(&buffer),
        [(false, vec![0])],
        "the newest packet stays"
    );
}

// Appendix A.3: packet 9 arrives after acknowledgement 60, which reports it as missing.
#[test]
fn a_late_packet_is_kept_until_it_has_been_reported() {
    let mut buffer = example();
    buffer.sent(seq(60));
    assert!(buffer.record(seq(9), Ecn::Ect0));
    buffer.acked(seq(60));
    assert_eq!(states(&buffer).last(), Some(&(seq(9), AckState::Received)));
    buffer.sent(seq(61));
    buffer.acked(seq(61));
    assert_eq!(states(&buffer), [(seq(10), AckState::Received)]);
}

// D11.4-4: the receiver's table; a packet received both marked and unmarked counts as marked.
#[test]
fn merges_duplicates_by_the_table_of_section_11_4_1() {
    for (first, second, state) in [
        (Ecn::Ect1, Ecn::Ect1, AckState::Received),
        (Ecn::Ect1, Ecn::Ce, AckState::ReceivedEcnMarked),
        (Ecn::Ce, Ecn::Ect1, AckState::ReceivedEcnMarked),
        (Ecn::Ce, Ecn::Ce, AckState::ReceivedEcnMarked),
    ] {
        for newer in [false, true] {
            let mut buffer = buffer(&[(5, first)]);
            if newer {
                buffer.record(seq(6), Ecn::Ect0);
            }
            assert!(!buffer.record(seq(5), second), "a duplicate is not new");
            assert_eq!(states(&buffer).last(), Some(&(seq(5), state)));
            let nonce = state == AckState::Received;
            assert_eq!(
                emitted(&buffer)[0].0,
                nonce,
                "only unmarked packets' nonces count"
            );
        }
    }
}

// D11.4-4: reports of forgotten packets are ignored.
#[test]
fn packets_before_the_oldest_are_ignored() {
    let mut buffer = example();
    buffer.sent(seq(60));
    buffer.acked(seq(60));
    assert!(!buffer.record(seq(9), Ecn::Ect1));
    assert_eq!(emitted(&buffer), [(true, vec![0])]);
}

// D11.4-3: a vector never reaches below the first packet.
#[test]
fn the_first_packet_is_the_oldest() {
    let mut buffer = AckVectorBuffer::new();
    assert_eq!((buffer.ack_number(), buffer.len()), (None, 0));
    assert!(emitted(&buffer).is_empty());
    buffer.sent(seq(1));
    buffer.acked(seq(1));
    buffer.record(seq(70), Ecn::NotEct);
    assert!(!buffer.record(seq(69), Ecn::NotEct));
    assert_eq!(states(&buffer), [(seq(70), AckState::Received)]);
}

// D11.4-1: a long vector takes several options, each with its own Nonce Echo.
#[test]
fn long_vectors_take_several_options() {
    let mut buffer = AckVectorBuffer::new();
    for number in 0..300 {
        let ecn = if number % 2 == 0 { Ecn::Ce } else { Ecn::Ect1 };
        buffer.record(seq(number), ecn);
    }
    let options = emitted(&buffer);
    let shape: Vec<_> = options
        .iter()
        .map(|(nonce, cells)| (*nonce, cells.len()))
        .collect();
    // 253 cells from 299 down hold 127 odd numbers, the other 47 hold 23.
    assert_eq!(shape, [(true, 253), (true, 47)]);
    assert_eq!(states(&buffer).len(), 300);
}

#[test]
fn runs_are_at_most_64_packets() {
    let mut buffer = AckVectorBuffer::new();
    for number in 0..130 {
        buffer.record(seq(number), Ecn::Ect1);
    }
    assert_eq!(emitted(&buffer), [(false, vec![1, 63, 63])]);
    buffer.record(seq(230), Ecn::Ect1);
    assert_eq!(emitted(&buffer), [(true, vec![0, 0xe3, 0xff, 1, 63, 63])]);
}

#[test]
fn memory_is_bounded() {
    let mut buffer = AckVectorBuffer::new();
    for number in 0..200_000 {
        let ecn = if number % 2 == 0 { Ecn::Ce } else { Ecn::Ect0 };
        buffer.record(seq(number), ecn);
        buffer.sent(seq(number));
    }
    assert_eq!(buffer.len(), CELLS_MAX);
    assert_eq!(buffer.records.len(), RECORDS_MAX);
    assert_eq!(states(&buffer).len(), CELLS_MAX);
    buffer.record(seq(1 << 46), Ecn::Ect1);
    assert_eq!(states(&buffer), [(seq(1 << 46), AckState::Received)]);
}

/// A reference implementation with a table.
#[derive(Default)]
struct Model {
    /// State and nonce of each packet; packets not in the table were not received.
    packets: BTreeMap<u64, (AckState, bool)>,
    oldest: u64,
    newest: u64,
    records: Vec<(u64, u64)>,
}

impl Model {
    fn record(&mut self, number: u64, ecn: Ecn) -> bool {
        if self.packets.is_empty() {
            (self.oldest, self.newest) = (number, number);
        }
        if number < self.oldest {
            return false;
        }
        let is_late = number < self.newest;
        self.newest = self.newest.max(number);
        let before = self.packets.get(&number).map(|packet| packet.0);
        let after = match (before, ecn.is_ce()) {
            (None, false) => AckState::Received,
            (None | Some(AckState::Received), true) => AckState::ReceivedEcnMarked,
            (Some(state), _) => state,
        };
        if before == Some(after) {
            return false;
        }
        let nonce = after == AckState::Received && ecn == Ecn::Ect1;
        self.packets.insert(number, (after, nonce));
        if is_late || before.is_some() {
            for record in &mut self.records {
                record.1 = record.1.min(number - 1);
            }
        }
        before.is_none()
    }

    fn acked(&mut self, own: u64) {
        let Some(place) = self.records.iter().position(|record| record.0 == own) else {
            return;
        };
        let covers = self.records[place].1;
        self.records.drain(..=place);
        self.oldest = self.oldest.max((covers + 1).min(self.newest));
        self.packets = self.packets.split_off(&self.oldest);
    }

    fn states(&self) -> Vec<(SeqNo, AckState)> {
        (self.oldest..=self.newest)
            .rev()
            .map(|number| {
                let state = self
                    .packets
                    .get(&number)
                    .map_or(AckState::NotYetReceived, |packet| packet.0);
                (seq(number), state)
            })
            .collect()
    }

    fn nonce(&self) -> bool {
        self.packets.values().filter(|packet| packet.1).count() % 2 == 1
    }
}

#[derive(Clone, Debug)]
enum Step {
    /// Records a packet this far ahead of the newest, with these ECN bits.
    Record(i64, u8),
    Send,
    /// Acknowledges one of the sent packets, counting from the newest.
    Acked(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0..4u8).prop_map(|ecn| Step::Record(1, ecn)),
        3 => (-20..6i64, 0..4u8).prop_map(|(ahead, ecn)| Step::Record(ahead, ecn)),
        1 => (-200..150i64, 0..4u8).prop_map(|(ahead, ecn)| Step::Record(ahead, ecn)),
        4 => Just(Step::Send),
        1 => (0..20usize).prop_map(Step::Acked),
    ]
}

/// The same record as a Load Vector: the code of each packet, 00 for packets that have not arrived.
#[test]
fn a_load_vector_tells_each_packets_code() {
    let mut buffer = AckVectorBuffer::new();
    buffer.record(seq(1), Ecn::Ect0);
    buffer.set_kind(VectorKind::Load);
    for (number, code) in [(2, Ecn::Ect1), (3, Ecn::Ect0), (4, Ecn::Ect0), (7, Ecn::Ce)] {
        assert!(buffer.record(seq(number), code));
    }
    let mut options = OptionList::new();
    buffer.options(&mut options);
    // 7 overload, 6 and 5 missing, 4 and 3 high, 2 low, 1 from before codes were recorded: low.
    let cells = [
        0b1100_0000,
        0b0000_0001,
        0b1000_0001,
        0b0100_0000,
        0b0100_0000,
    ];
    let expected = DccpOption::LoadVector(OptionBytes::from_slice(&cells));
    assert_eq!(options.as_slice(), [expected]);
    let read: Vec<_> = vectors(VectorKind::Load, seq(7), &options)
        .flat_map(Vector::runs)
        .map(|run| (run.newest.get(), run.len, run.code))
        .collect();
    let expected = [
        (7, 1, Some(Ecn::Ce)),
        (6, 2, None),
        (4, 2, Some(Ecn::Ect0)),
        (2, 1, Some(Ecn::Ect1)),
        (1, 1, Some(Ecn::Ect1)),
    ];
    assert_eq!(read, expected);
    // Other CCIDs do not read it.
    assert_eq!(vectors(VectorKind::Ack, seq(7), &options).count(), 0);
}

/// A packet duplicated by the network counts with the larger of its codes.
#[test]
fn of_two_codes_the_larger_one_stays() {
    let mut buffer = AckVectorBuffer::new();
    buffer.set_kind(VectorKind::Load);
    for code in [Ecn::Ect0, Ecn::Ce, Ecn::Ect1] {
        buffer.record(seq(1), code);
    }
    let mut options = OptionList::new();
    buffer.options(&mut options);
    let expected = DccpOption::LoadVector(OptionBytes::from_slice(&[0b1100_0000]));
    assert_eq!(options.as_slice(), [expected]);
}

/// More cells than are kept.
#[test]
fn trains_push_out_the_oldest_cells_as_packets_do() {
    let [mut together, mut single] = [AckVectorBuffer::new(), AckVectorBuffer::new()];
    for number in 0..CELLS_MAX as u64 + 10 {
        let ecn = if number % 2 == 0 { Ecn::Ce } else { Ecn::Ect0 };
        let first = seq(3 * number);
        together.record_train(first, 3, ecn);
        for index in 0..3 {
            single.record(first.add(index), ecn);
        }
    }
    assert_eq!(together.len(), CELLS_MAX);
    assert_eq!(emitted(&together), emitted(&single));
}

proptest! {
    // D11.4-1, D11.4-4, D11.4-5
    #[test]
    fn agrees_with_a_table(
        steps in proptest::collection::vec(step(), 1..400),
        near_wrap in any::<bool>(),
    ) {
        let start = if near_wrap { SeqNo::MODULUS - 50 } else { 5000 };
        let (mut buffer, mut model) = (AckVectorBuffer::new(), Model::default());
        let (mut newest, mut sent) = (start, SeqNo::MODULUS - 20);
        for step in steps {
            match step {
                Step::Record(ahead, ecn) => {
                    let number = newest.saturating_add_signed(ahead).max(start - 300);
                    newest = newest.max(number);
                    let ecn = Ecn::from_bits(ecn);
                    prop_assert_eq!(buffer.record(seq(number), ecn), model.record(number, ecn));
                }
                Step::Send => {
                    sent += 1;
                    buffer.sent(seq(sent));
                    if !model.packets.is_empty() {
                        model.records.push((sent, model.newest));
                    }
                }
                Step::Acked(age) => {
                    let own = sent.saturating_sub(age as u64);
                    buffer.acked(seq(own));
                    model.acked(own);
                }
            }
            if !model.packets.is_empty() {
                prop_assert_eq!(buffer.ack_number(), Some(seq(model.newest)));
                prop_assert_eq!(states(&buffer), model.states());
                let nonce = emitted(&buffer).iter().fold(false, |sum, (nonce, _)| sum ^ nonce);
                prop_assert_eq!(nonce, model.nonce());
            }
        }
    }

    #[test]
    fn a_train_is_its_packets(
        kind in prop_oneof![Just(VectorKind::Ack), Just(VectorKind::Load)],
        trains in proptest::collection::vec((0u64..3, 1u64..150, 0u8..4), 1..12),
    ) {
        let [mut together, mut single] = [AckVectorBuffer::new(), AckVectorBuffer::new()];
        together.set_kind(kind);
        single.set_kind(kind);
        let mut next = SeqNo::MODULUS - 100;
        for (missing, count, ecn) in trains {
            let (first, ecn) = (seq(next + missing), Ecn::from_bits(ecn));
            together.record_train(first, count, ecn);
            for index in 0..count {
                prop_assert!(single.record(first.add(index), ecn));
            }
            next += missing + count;
            prop_assert_eq!(emitted(&together), emitted(&single));
            prop_assert_eq!(together.ack_number(), single.ack_number());
        }
    }
}

proptest! {
    /// A late arrival is withheld from every acknowledgement that reports it as missing, as if each
    /// record were changed when it arrives.
    #[test]
    fn late_arrivals_are_withheld_from_each_record(
        steps in prop::collection::vec((0u8..4, 0u64..40), 1..200),
    ) {
        let mut buffer = buffer(&[(1_000, Ecn::NotEct)]);
        let mut newest = 1_000;
        let mut own = 1;
        let mut model: Vec<(u64, u64)> = Vec::new();
        for (step, number) in steps {
            match step {
                0 => {
                    newest += 1 + number % 3;
                    buffer.record(seq(newest), Ecn::NotEct);
                }
                1 => {
                    let late = newest - number.min(newest - 1_000);
                    let missing = states(&buffer)
                        .iter()
                        .any(|&(at, state)| at == seq(late) && state == AckState::NotYetReceived);
                    buffer.record(seq(late), Ecn::NotEct);
                    if missing {
                        for (_, covers) in &mut model {
                            *covers = (*covers).min(late - 1);
                        }
                    }
                }
                2 => {
                    buffer.sent(seq(own));
                    model.push((own, newest));
                    own += 1;
                }
                _ => {
                    if let Some(&(acked, _)) = model.get(number as usize) {
                        buffer.acked(seq(acked));
                        model.retain(|&(own, _)| own > acked);
                    }
                }
            }
            let covers = buffer.records.iter().map(|&record| {
                (record.own_seq.get(), buffer.covered_by(record).get())
            });
            prop_assert_eq!(covers.collect::<Vec<_>>(), model.clone());
            prop_assert!(buffer.withheld.len() <= 200);
        }
    }
}

/// A late arrival costs the same, however many acknowledgements are unacknowledged.
#[test]
fn late_arrivals_leave_records_alone() {
    let mut buffer = buffer(&[(1, Ecn::NotEct)]);
    for number in 2..2_000 {
        buffer.record(seq(2 * number), Ecn::NotEct);
        buffer.sent(seq(number));
    }
    for number in (1_700..2_000).rev() {
        buffer.record(seq(2 * number - 1), Ecn::NotEct);
    }
    assert_eq!(buffer.withheld.len(), 1, "the oldest stands for all");
    assert_eq!(buffer.records.len(), 1_998);
}
