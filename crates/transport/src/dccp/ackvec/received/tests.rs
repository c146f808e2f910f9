use proptest::prelude::*;
use skywave_wire::dccp::AckState;

use super::*;

fn runs(start: SeqNo, cells: &[u8]) -> impl Iterator<Item = Run> {
    Vector {
        kind: VectorKind::Ack,
        start,
        nonce: false,
        cells,
    }
    .runs()
}

// D11.4-1: section 11.4's example, 0,192,3,64,5 with acknowledgement number 100.
#[test]
fn reads_the_example_of_section_11_4() {
    let list: Vec<_> = runs(SeqNo::new(100), &[0, 192, 3, 64, 5]).collect();
    let expected = [
        (100, 1, AckState::Received),
        (99, 1, AckState::NotYetReceived),
        (98, 4, AckState::Received),
        (94, 1, AckState::ReceivedEcnMarked),
        (93, 6, AckState::Received),
    ];
    assert_eq!(
        list,
        expected.map(|(newest, len, state)| Run {
            newest: SeqNo::new(newest),
            len,
            code: VectorKind::Ack.read((state as u8) << 6)
        })
    );
    assert_eq!(list[2].oldest(), SeqNo::new(95));
}

proptest! {
    #[test]
    fn any_bytes_are_an_ack_vector(
        cells in proptest::collection::vec(any::<u8>(), 0..300),
        ack in any::<u64>(),
    ) {
        let mut next = SeqNo::new(ack);
        for run in runs(SeqNo::new(ack), &cells) {
            prop_assert_eq!(run.newest, next);
            prop_assert!((1..=64).contains(&run.len));
            next = run.oldest().previous();
        }
    }
}
