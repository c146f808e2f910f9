//! The kinds of hostile packets.

use rand::{Rng, RngExt};
use skywave_wire::dccp::{
    DccpOption, FeatureNumber, FeatureSide, Kind as PacketKind, OptionBytes, OptionList,
    OptionType, SeqNo,
};

use crate::attacker::Attacker;
use crate::{ECHO, UNACCEPTED, UNREAD};

pub(crate) struct Kind {
    pub(crate) name: &'static str,
    pub(crate) send: fn(&mut Attacker),
}

/// Data of a Request, close to the maximum that the length field allows.
const LARGE: usize = 30_000;

pub(crate) const ALL: &[Kind] = &[
    Kind {
        name: "garbage",
        send: Attacker::garbage,
    },
    Kind {
        name: "Requests",
        send: |attacker| attacker.request(ECHO, 0),
    },
    Kind {
        name: "Requests with 30 kB of data",
        send: |attacker| attacker.request(UNACCEPTED, LARGE),
    },
    Kind {
        name: "Requests from sockets that are gone (ICMP)",
        send: |attacker| attacker.vanishing_request(ECHO),
    },
    Kind {
        name: "forged Init Cookies",
        send: |attacker| {
            let mut cookie = vec![0; 250];
            attacker.rng.fill_bytes(&mut cookie);
            let options = [DccpOption::InitCookie(OptionBytes::from_vec(cookie))];
            attacker.stray(ECHO, ack(SeqNo::ZERO), options.into_iter().collect());
        },
    },
    Kind {
        name: "connections reset before anyone accepts them",
        send: |attacker| attacker.cycle(UNACCEPTED, 0),
    },
    Kind {
        name: "the same with 30 kB of data",
        send: |attacker| attacker.cycle(UNACCEPTED, LARGE),
    },
    Kind {
        name: "connections reset, and never read",
        send: |attacker| attacker.cycle(UNREAD, 1_000),
    },
    Kind {
        name: "data of 10 kB that nobody reads",
        send: |attacker| {
            attacker.within(
                UNREAD,
                |ack| PacketKind::DataAck { ack },
                OptionList::new(),
                10_000,
            );
        },
    },
    Kind {
        name: "data of one byte that nobody reads",
        send: |attacker| {
            attacker.within(
                UNREAD,
                |ack| PacketKind::DataAck { ack },
                OptionList::new(),
                1,
            );
        },
    },
    Kind {
        name: "Syncs",
        send: |attacker| {
            attacker.within(UNREAD, |ack| PacketKind::Sync { ack }, OptionList::new(), 0);
        },
    },
    Kind {
        name: "Syncs of strangers",
        send: |attacker| {
            let ack = SeqNo::new(attacker.rng.next_u64());
            attacker.stray(UNREAD, PacketKind::Sync { ack }, OptionList::new());
        },
    },
    Kind {
        name: "options of any kind",
        send: |attacker| {
            let options = any_options(attacker);
            attacker.within(UNREAD, ack, options, 0);
        },
    },
    Kind {
        name: "changes of unknown features",
        send: |attacker| {
            let change = DccpOption::Change {
                side: FeatureSide::Remote,
                feature: FeatureNumber(attacker.rng.random()),
                value: OptionBytes::new(),
            };
            attacker.within(UNREAD, ack, vec![change; 320].into(), 0);
        },
    },
];

const fn ack(ack: SeqNo) -> PacketKind {
    PacketKind::Ack { ack }
}

/// Options of random types with random values, up to a kilobyte.
fn any_options(attacker: &mut Attacker) -> OptionList {
    let rng = &mut attacker.rng;
    let mut options = OptionList::new();
    let mut room: usize = 990;
    loop {
        let mut value = vec![0; rng.random_range(0..=40)];
        rng.fill_bytes(&mut value);
        // Mandatory would end the connection.
        let kind = OptionType(rng.random_range(2..=255));
        let option = DccpOption::parse(kind, &value);
        match room.checked_sub(option.encoded_len()) {
            Some(left) => room = left,
            None => return options,
        }
        options.push(option);
    }
}
