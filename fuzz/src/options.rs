//! Any option space is a list of options, which are emitted as they came; any list of options that
//! fits a packet is read as it was written.

use arbitrary::{Arbitrary, Unstructured};
use bytes::Bytes;
use skywave_wire::dccp::{DccpOption, Kind, OptionList, Packet, SeqNo};
use skywave_wire::{Checksum, Payload};

use crate::handling::handle;
use crate::structured::options;

/// Bytes of an Ack's header with 48-bit numbers.
const HEADER: usize = 24;

/// An option space.
#[derive(Debug)]
pub enum Input {
    /// The option space as it comes.
    Raw(Vec<u8>),
    /// What is encoded in it.
    Typed(OptionList),
}

impl Arbitrary<'_> for Input {
    fn arbitrary(u: &mut Unstructured<'_>) -> arbitrary::Result<Self> {
        if u.arbitrary()? {
            return Ok(Self::Typed(options(u)?));
        }
        let mut space = u.bytes(u.len().min(1020 - HEADER))?.to_vec();
        space.truncate(space.len() / 4 * 4);
        Ok(Self::Raw(space))
    }
}

fn ack(options: OptionList) -> Packet {
    Packet {
        source_port: 1,
        destination_port: 2,
        ccval: 0,
        cscov: 0,
        extended: true,
        seq: SeqNo::new(3),
        kind: Kind::Ack { ack: SeqNo::new(4) },
        options,
        payload: Payload::EMPTY,
    }
}

fn bytes_of(packet: &Packet) -> Bytes {
    let bytes = packet.to_bytes(Checksum::Ignored).expect("it fits");
    assert_eq!(bytes.len(), packet.encoded_len());
    bytes
}

fn read(bytes: &Bytes) -> Packet {
    let packet = handle(1, || Packet::parse(bytes, Checksum::Ignored));
    let packet = packet.expect("an option never fails a packet");
    let _ = packet.to_string();
    assert_eq!(bytes_of(&packet), bytes, "emitted as it came");
    packet
}

/// Whether reading gives this very option back, wherever in a list it stands.
fn is_canonical(option: &DccpOption) -> bool {
    !matches!(
        option,
        DccpOption::Padding | DccpOption::Other { .. } | DccpOption::Malformed(_)
    )
}

/// Reads and writes the options.
pub fn fuzz(input: Input) {
    match input {
        Input::Raw(space) => {
            let mut bytes = bytes_of(&ack(OptionList::new())).to_vec();
            bytes[4] = ((HEADER + space.len()) / 4) as u8;
            bytes.extend_from_slice(&space);
            read(&bytes.into());
        }
        Input::Typed(options) => {
            let packet = ack(options);
            let again = read(&bytes_of(&packet));
            // What pads a list that ends with Mandatory is an option: "Mandatory, Padding".
            let ends_well = packet.options.last() != Some(&DccpOption::Mandatory);
            if ends_well && packet.options.iter().all(is_canonical) {
                assert_eq!(again, packet);
            }
        }
    }
}
