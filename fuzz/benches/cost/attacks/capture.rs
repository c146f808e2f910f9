//! Captures of many small blocks.

use skywave_fuzz::capture::fuzz;

use super::Attack;

pub(super) const ALL: &[Attack] = &[
    ("interfaces", || {
        fuzz(&capture(&interface(&[]).repeat(MANY)))
    }),
    ("sections", || fuzz(&capture(&section().repeat(MANY)))),
    ("unknown-blocks", || {
        fuzz(&capture(&block(99, &[]).repeat(MANY)))
    }),
    ("an-interface-with-options", || {
        let options = [2_u16, 0].map(u16::to_le_bytes).concat().repeat(MANY);
        fuzz(&capture(&interface(&options)));
    }),
];

const MANY: usize = 1_000;

fn block(kind: u32, body: &[u8]) -> Vec<u8> {
    let length = (12 + body.len() as u32).to_le_bytes();
    [&kind.to_le_bytes()[..], &length, body, &length].concat()
}

fn section() -> Vec<u8> {
    let magic = 0x1a2b_3c4d_u32.to_le_bytes();
    block(
        0x0a0d_0d0a,
        &[&magic[..], &[1, 0, 0, 0], &[0xff; 8]].concat(),
    )
}

/// An interface of raw IP packets.
fn interface(options: &[u8]) -> Vec<u8> {
    block(1, &[&[101, 0, 0, 0, 0, 0, 0, 0], options].concat())
}

/// A section with these blocks, and then a packet of an interface.
fn capture(blocks: &[u8]) -> Vec<u8> {
    let packet = block(6, &[[0; 4], [0; 4], [0; 4], [0; 4], [0; 4]].concat());
    [&section()[..], blocks, &interface(&[]), &packet].concat()
}
