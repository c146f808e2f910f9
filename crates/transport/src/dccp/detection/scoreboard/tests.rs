use std::collections::BTreeMap;

use proptest::prelude::*;
use skywave_wire::dccp::DccpOption;

use super::*;
use crate::dccp::ackvec::AckVectorBuffer;

fn seq(number: u64) -> SeqNo {
    SeqNo::new(number)
}

fn send(board: &mut Scoreboard, number: u64, is_data: bool, ecn: Ecn) {
    board.on_sent(
        Instant::from_nanos(number),
        &SentPacket {
            seq: seq(number),
            data: is_data.then_some(1000),
            ack: None,
            ecn,
            is_last: false,
        },
    );
}

/// A board with data packets `from..to` outstanding.
fn board(from: u64, to: u64) -> Scoreboard {
    let mut board = Scoreboard::new(VectorKind::Ack);
    for number in from..to {
        send(&mut board, number, true, Ecn::Ect0);
    }
    board
}

/// Processes an acknowledgement of `ack` with these cells.
fn take_in(board: &mut Scoreboard, ack: u64, nonce: bool, cells: &[u8]) -> News {
    let option = DccpOption::AckVector {
        nonce,
        cells: cells.into(),
    };
    let news = board.take_in(seq(ack), &OptionList::from_iter([option]), |_| {});
    board.forget_decided();
    news
}

// C2-3: true duplicates change nothing, nor does the arrival of a packet inferred lost.
#[test]
fn a_packet_leaves_pipe_once() {
    let mut board = board(100, 110);
    assert_eq!(board.pipe(), 10);
    let news = take_in(&mut board, 101, false, &[1]);
    assert_eq!((news.newly_acked, news.lost, board.pipe()), (2, 0, 8));
    let news = take_in(&mut board, 101, false, &[1]);
    assert_eq!((news, board.pipe()), (News::default(), 8));
    let news = take_in(&mut board, 105, false, &[2, 0xc0, 1]);
    assert_eq!((news.newly_acked, news.lost, board.pipe()), (3, 1, 4));
    assert_eq!(news.newest_congested, Some(seq(102)));
    let news = take_in(&mut board, 105, false, &[5]);
    assert_eq!((news, board.pipe()), (News::default(), 4));
}

// C2-4: exactly three later packets are needed, with or without data.
#[test]
fn three_later_arrivals_make_a_loss() {
    let mut board = Scoreboard::new(VectorKind::Ack);
    for number in 100..106 {
        send(
            &mut board,
            number,
            !(102..=104).contains(&number),
            Ecn::Ect0,
        );
    }
    assert_eq!(board.pipe(), 3);
    assert_eq!(take_in(&mut board, 103, false, &[1, 0xc1]).lost, 0);
    let news = take_in(&mut board, 104, false, &[2, 0xc1]);
    assert_eq!((news.newly_acked, news.lost, board.pipe()), (0, 2, 1));
    assert_eq!(news.sample, None, "no data, no sample");
}

#[test]
fn the_order_of_acknowledgements_makes_no_difference() {
    let mut board = board(100, 110);
    let news = take_in(&mut board, 103, false, &[0, 0x40, 0xc0, 0]);
    assert_eq!((news.newly_acked, news.marked, board.pipe()), (3, 1, 7));
    let news = take_in(&mut board, 101, false, &[1]);
    assert_eq!((news.newly_acked, news.marked, board.pipe()), (1, 0, 6));
    // D11.4-4: a packet reported unmarked is reported marked later.
    let news = take_in(&mut board, 103, false, &[0x40, 2]);
    assert_eq!((news.newly_acked, news.marked, board.pipe()), (0, 1, 6));
    assert_eq!(news.newest_congested, Some(seq(103)));
}

// C2-4
#[test]
fn a_timeout_empties_pipe() {
    let mut board = board(100, 105);
    board.on_timeout();
    assert_eq!(board.pipe(), 0);
    send(&mut board, 105, true, Ecn::Ect0);
    let news = take_in(&mut board, 104, false, &[4]);
    assert_eq!((news.newly_acked, board.pipe()), (5, 1));
    assert_eq!(take_in(&mut board, 105, false, &[5]).newly_acked, 1);
    assert_eq!(board.pipe(), 0);
}

// D11.4-3: packets never sent, before the first or after the last, and state 2.
#[test]
fn reports_that_make_no_sense_are_ignored() {
    let mut board = board(100, 103);
    let news = take_in(&mut board, 101, false, &[63, 63, 63]);
    assert_eq!((news.newly_acked, board.pipe()), (2, 1));
    assert_eq!(take_in(&mut board, 5000, false, &[63; 20]), News::default());
    assert_eq!(take_in(&mut board, 102, false, &[0x80]), News::default());
    assert_eq!(board.pipe(), 1);
}

#[test]
fn an_acknowledgement_without_a_vector_names_one_packet() {
    let mut board = board(100, 103);
    let news = board.take_in(seq(102), &OptionList::new(), |_| {});
    assert_eq!((news.newly_acked, board.pipe()), (1, 2));
    assert_eq!(news.sample, Some(Instant::from_nanos(102)));
}

// C2-14
#[test]
fn nonce_echoes_are_checked_while_nonces_are_in_use() {
    let mut plain = board(100, 103);
    assert!(!take_in(&mut plain, 102, true, &[2]).bad_nonce);
    let mut board = Scoreboard::new(VectorKind::Ack);
    for number in 100..200 {
        let ecn = if number % 3 == 0 {
            Ecn::Ect1
        } else {
            Ecn::Ect0
        };
        send(&mut board, number, number % 5 != 1, ecn);
    }
    // 102 and 105 have nonces; 105 is reported marked.
    assert!(!take_in(&mut board, 103, true, &[3]).bad_nonce);
    assert!(!take_in(&mut board, 106, true, &[0, 0x40, 4]).bad_nonce);
    assert!(take_in(&mut board, 106, false, &[0, 0x40, 4]).bad_nonce);
    // A vector that conceals the mark of 105 has to guess that packet's nonce.
    assert!(take_in(&mut board, 110, false, &[10]).bad_nonce);
    // The peer has forgotten packets before 108, then an old acknowledgement arrives, which cannot
    // be checked.
    assert!(!take_in(&mut board, 112, false, &[4]).bad_nonce);
    assert!(!take_in(&mut board, 106, false, &[6]).bad_nonce);
    assert!(!take_in(&mut board, 106, true, &[6]).bad_nonce);
}

#[test]
fn what_is_decided_is_forgotten() {
    let mut board = Scoreboard::new(VectorKind::Ack);
    for number in 1..100_000 {
        send(&mut board, number, true, Ecn::Ect0);
        if number % 2 == 0 {
            take_in(&mut board, number, false, &[63, 63]);
        }
        assert!(board.fates.len() <= 5);
    }
    assert_eq!(board.pipe(), 1);
}

#[test]
fn a_sender_of_acknowledgements_remembers_nothing() {
    let mut board = board(1, 3);
    take_in(&mut board, 2, false, &[1]);
    for number in 3..1000 {
        send(&mut board, number, false, Ecn::Ect0);
    }
    assert_eq!((board.fates.len(), board.next()), (0, seq(1000)));
    send(&mut board, 1000, true, Ecn::Ect0);
    assert_eq!(take_in(&mut board, 1000, false, &[63]).newly_acked, 1);
}

#[test]
fn history_is_bounded() {
    let mut board = board(1, 2 * HISTORY_MAX as u64);
    assert_eq!(board.fates.len(), HISTORY_MAX);
    assert_eq!(board.pipe(), HISTORY_MAX as u32);
    assert_eq!(
        take_in(&mut board, 2 * HISTORY_MAX as u64 - 1, false, &[63]).newly_acked,
        64
    );
}

#[test]
fn numbers_that_the_connection_used_itself_are_filled_in() {
    let mut board = board(100, 102);
    send(&mut board, 105, true, Ecn::Ect0);
    assert_eq!(board.pipe(), 3);
    let news = take_in(&mut board, 105, false, &[5]);
    assert_eq!((news.newly_acked, board.pipe()), (3, 0));
}

/// A reference implementation of RFC 4341 section 5 with a table.
#[derive(Default)]
struct Model {
    /// Whether each data packet is still undecided, and whether it counts in pipe.
    data: BTreeMap<u64, (bool, bool)>,
    arrivals: Vec<u64>,
    acked: u64,
    lost: u64,
}

impl Model {
    fn receive(&mut self, number: u64) {
        let state = self
            .data
            .get_mut(&number)
            .map(|state| core::mem::take(&mut state.0));
        // A packet inferred lost stays lost.
        if state != Some(false) && !self.arrivals.contains(&number) {
            self.arrivals.push(number);
            self.acked += u64::from(state == Some(true));
        }
    }

    fn later_arrivals(&self, number: u64) -> usize {
        self.arrivals
            .iter()
            .filter(|arrival| **arrival > number)
            .count()
    }

    fn infer_losses(&mut self) {
        let lost: Vec<u64> = self
            .data
            .iter()
            .filter(|(number, state)| state.0 && self.later_arrivals(**number) >= NUMDUPACK)
            .map(|(number, _)| *number)
            .collect();
        for number in lost {
            self.lost += 1;
            self.data.entry(number).and_modify(|state| state.0 = false);
        }
    }

    fn pipe(&self) -> usize {
        self.data
            .values()
            .filter(|state| state.0 && state.1)
            .count()
    }
}

#[derive(Clone, Debug)]
enum Step {
    Send {
        is_data: bool,
        nonce: bool,
        arrives: bool,
    },
    /// The peer acknowledges; the acknowledgement arrives, is lost, or arrives later.
    Ack(u8),
    Late(usize),
    Timeout,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (any::<bool>(), any::<bool>(), 0..6u8).prop_map(|(nonce, is_data, fate)| {
            Step::Send { is_data: is_data || fate > 2, nonce, arrives: fate > 0 }
        }),
        4 => (0..4u8).prop_map(Step::Ack),
        1 => (0..8usize).prop_map(Step::Late),
        1 => Just(Step::Timeout),
    ]
}

/// Load factor codes are passed to the control and are not congestion events.
#[test]
fn codes_of_a_load_vector_are_not_marks() {
    let mut board = Scoreboard::new(VectorKind::Load);
    for number in 1..=3 {
        send(&mut board, number, true, Ecn::Ect1);
    }
    // 3 overload, 2 high, 1 low.
    let cells = [0b1100_0000, 0b1000_0000, 0b0100_0000];
    let vector = DccpOption::LoadVector(cells.as_slice().into());
    let mut codes = vec![];
    let options = OptionList::from_iter([vector]);
    let news = board.take_in(seq(3), &options, |report| match report {
        Report::Acked(acked) => codes.push(acked.ecn),
        Report::Lost { .. } => {}
    });
    assert_eq!(codes, [Ecn::Ce, Ecn::Ect0, Ecn::Ect1]);
    assert_eq!((news.newly_acked, news.marked), (3, 0));
    assert_eq!(news.newest_congested, None);
}

proptest! {
    // C2-2, C2-3, C2-4, C2-14: pipe, losses and nonces over a path that loses, delays and
    // duplicates acknowledgements.
    #[test]
    fn agrees_with_a_table(
        steps in proptest::collection::vec(step(), 1..300),
        with_nonces in any::<bool>(),
    ) {
        let (mut board, mut model) = (Scoreboard::new(VectorKind::Ack), Model::default());
        let mut peer = AckVectorBuffer::new();
        let mut held: Vec<(SeqNo, OptionList)> = vec![];
        let (mut next, mut acked, mut lost) = (5000, 0, 0);
        for step in steps {
            let arriving = match step {
                Step::Send { is_data, nonce, arrives } => {
                    let ecn = if nonce && with_nonces { Ecn::Ect1 } else { Ecn::Ect0 };
                    send(&mut board, next, is_data, ecn);
                    if is_data {
                        model.data.insert(next, (true, true));
                    }
                    if arrives {
                        peer.record(seq(next), ecn);
                    }
                    next += 1;
                    None
                }
                Step::Ack(fate) => {
                    let Some(ack) = peer.ack_number() else { continue };
                    let mut options = OptionList::new();
                    peer.options(&mut options);
                    match fate {
                        0 => None,
                        1 => { held.push((ack, options)); None }
                        _ => Some((ack, options)),
                    }
                }
                Step::Late(index) => held.get(index).cloned(),
                Step::Timeout => {
                    board.on_timeout();
                    model.data.values_mut().for_each(|state| state.1 = false);
                    None
                }
            };
            if let Some((ack, options)) = arriving {
                let (mut reported, mut reported_lost) = (0, Vec::new());
                let news = board.take_in(ack, &options, |report| match report {
                    Report::Acked(_) => reported += 1,
                    Report::Lost { seq, .. } => reported_lost.push(seq),
                });
                board.forget_decided();
                prop_assert_eq!(reported, news.newly_acked);
                prop_assert_eq!(reported_lost.len(), news.lost as usize);
                prop_assert!(reported_lost.is_sorted_by(|a, b| a.is_before(*b)));
                prop_assert!(!news.bad_nonce);
                acked += u64::from(news.newly_acked);
                lost += u64::from(news.lost);
                for vector in vectors(VectorKind::Ack, ack, &options) {
                    for run in vector.runs() {
                        if run.code.is_some() {
                            (0..run.len).for_each(|age| model.receive(run.newest.get() - age));
                        }
                    }
                }
                model.infer_losses();
            }
            prop_assert_eq!(board.pipe() as usize, model.pipe());
            prop_assert_eq!((acked, lost), (model.acked, model.lost));
        }
    }

    #[test]
    fn any_acknowledgement_is_survived(
        acks in proptest::collection::vec(
            (90..130u64, proptest::collection::vec(any::<u8>(), 0..20), any::<bool>()),
            0..20,
        ),
    ) {
        let mut board = Scoreboard::new(VectorKind::Ack);
        for number in 100..120 {
            send(&mut board, number, true, Ecn::Ect1);
        }
        let mut out = 20;
        for (ack, cells, nonce) in acks {
            let news = take_in(&mut board, ack, nonce, &cells);
            out -= news.newly_acked + news.lost;
            prop_assert_eq!(board.pipe(), out);
        }
    }
}
