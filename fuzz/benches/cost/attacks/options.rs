//! Packets whose options fill the header.

use skywave_fuzz::options::{Input, fuzz};

use super::{Attack, ROOM};

pub(super) const ALL: &[Attack] = &[
    ("of-one-byte", || fill(&[2])),
    ("of-two-bytes", || fill(&[100, 2])),
    ("paddings", || fill(&[0])),
    ("changes", || fill(&[34, 3, 100])),
    ("the-longest", || {
        let mut option = [0; 255];
        option[..2].copy_from_slice(&[38, 255]);
        fill(&option);
    }),
    ("of-a-length-that-cannot-be", || fill(&[100, 1])),
];

fn fill(option: &[u8]) {
    fuzz(Input::Raw(
        option.iter().copied().cycle().take(ROOM).collect(),
    ));
}
