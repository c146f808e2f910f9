//! Attacks of strangers on a listener.

use skywave_fuzz::listener::{Act, Input, PORTS, packet, replay};
use skywave_wire::Ecn;
use skywave_wire::dccp::{FeatureNumber, Kind, OptionList, SeqNo, ServiceCode};

use super::{Attack, PACKETS, UNKNOWN, change, full_of};

pub(super) const ALL: &[Attack] = &[
    ("requests", || requests(&OptionList::new())),
    ("requests-with-changes-of-an-unknown-feature", || {
        requests(&full_of(&change(UNKNOWN, &[])));
    }),
    ("requests-with-changes-of-the-ccid", || {
        requests(&full_of(&change(FeatureNumber::CCID, &[3, 2])));
    }),
    ("cookies-returned", || {
        attacked(|port| vec![request(port, &OptionList::new()), complete(port, None)]);
    }),
    ("cookies-forged", || {
        attacked(|port| vec![request(port, &OptionList::new()), complete(port, Some(9))]);
    }),
    ("data-of-strangers", || {
        attacked(|port| vec![say(port, Kind::Data, &OptionList::new())]);
    }),
    ("acks-of-strangers-with-unknown-features", || {
        let ack = Kind::Ack { ack: SeqNo::ZERO };
        attacked(|port| vec![say(port, ack, &full_of(&change(UNKNOWN, &[])))]);
    }),
];

/// Each source port does the same, after as many handshakes as are stored.
fn attacked(acts: impl Fn(u16) -> Vec<Act>) {
    let known = (1..=3).map(|port| request(port, &OptionList::new()));
    let hostile = (1_000..).take(PACKETS).flat_map(acts);
    replay(Input {
        half_open: 3,
        acts: known.chain(hostile).collect(),
    });
}

fn requests(options: &OptionList) {
    attacked(|port| vec![request(port, options)]);
}

fn request(port: u16, options: &OptionList) -> Act {
    let service = ServiceCode(0);
    say(port, Kind::Request { service }, options)
}

fn say(port: u16, kind: Kind, options: &OptionList) -> Act {
    Act::Say {
        ends: (1, port, PORTS[0]),
        ecn: Ecn::NotEct,
        seq: 0,
        ack: 0,
        packet: Box::new(packet(kind, options.clone(), 0)),
    }
}

fn complete(port: u16, damage: Option<u8>) -> Act {
    Act::Complete {
        ends: (1, port, PORTS[0]),
        damage,
    }
}
