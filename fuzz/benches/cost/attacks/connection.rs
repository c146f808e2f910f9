//! Attacks of a peer on a connection.

use skywave_fuzz::connection::{Act, Driver, Input, Side, replay};
use skywave_fuzz::listener::packet;
use skywave_transport::dccp::{Ccid, Config};
use skywave_units::{Duration, Instant};
use skywave_wire::Ecn;
use skywave_wire::dccp::{
    DccpOption, FeatureNumber, Kind, OptionBytes, OptionList, OptionType, Packet, SeqNo,
};

use super::{Attack, PACKETS, UNKNOWN, change, full_of};

pub(super) const ALL: &[Attack] = &[
    ("nothing", || on_server(|_| ack(OptionList::new()))),
    ("changes-of-an-unknown-feature", || {
        on_server(|_| ack(full_of(&change(UNKNOWN, &[]))));
    }),
    ("changes-of-many-unknown-features", || {
        on_server(|number| {
            let features = (0..250).map(|feature| change(FeatureNumber(feature), &[]));
            ack(features.cycle().skip(number).take(320).collect())
        });
    }),
    ("changes-of-the-ccid-back-and-forth", || {
        on_server(|number| {
            let ccid = [2, 3][number % 2];
            ack([change(FeatureNumber::CCID, &[ccid])].into_iter().collect())
        });
    }),
    ("changes-of-the-ack-ratio", || {
        on_server(|_| ack(full_of(&change(FeatureNumber::ACK_RATIO, &[0, 2]))));
    }),
    ("unknown-options", || {
        on_server(|_| ack(full_of(&other(100))));
    }),
    ("unknown-options-of-the-ccid", || {
        on_server(|_| ack(full_of(&other(200))));
    }),
    ("timestamps", || {
        on_server(|_| ack(full_of(&DccpOption::Timestamp(1))));
    }),
    ("slow-receivers", || {
        on_server(|_| ack(full_of(&DccpOption::SlowReceiver)));
    }),
    ("data-without-end", || {
        on_server(|_| packet(Kind::Data, OptionList::new(), 1));
    }),
    ("data-with-gaps", || {
        let gaps = |number| packet(Kind::Data, OptionList::new(), (number % 2) as u8);
        replay(input(Config::default(), attacked(Side::Server, 2, gaps)));
    }),
    ("syncs", || {
        on_server(|_| packet(Kind::Sync { ack: SeqNo::ZERO }, OptionList::new(), 0));
    }),
    ("data-out-of-the-window", || {
        let forge = |_| packet(Kind::Data, OptionList::new(), 1);
        let mut acts = attacked(Side::Server, 0, forge);
        for act in &mut acts {
            if let Act::Forge { seq, .. } = act {
                *seq = 1 << 40;
            }
        }
        replay(input(Config::default(), acts));
    }),
    ("ack-vectors-of-long-runs", || on_sender(&vectors(0x3f))),
    ("ack-vectors-of-losses", || on_sender(&vectors(0xff))),
    ("ack-vectors-of-marks", || on_sender(&vectors(0x7f))),
    ("ack-vectors-of-single-packets", || on_sender(&vectors(0))),
    ("data-dropped-of-long-runs", || on_sender(&dropped(0x0f))),
    ("data-dropped-of-drops-in-the-receive-buffer", || {
        on_sender(&dropped(0xaf));
    }),
    ("loss-intervals", || {
        let data = [&[0][..], &[0, 0, 9, 0x80, 0, 1, 0, 0, 10].repeat(28)].concat();
        let option = DccpOption::parse(OptionType::LOSS_INTERVALS, &data);
        on_sender_of(Ccid::TFRC, &full_of(&option));
    }),
];

fn ack(options: OptionList) -> Packet {
    packet(Kind::Ack { ack: SeqNo::ZERO }, options, 0)
}

/// An option of an unknown type, without data.
fn other(kind: u8) -> DccpOption {
    DccpOption::parse(OptionType(kind), &[])
}

fn vectors(cell: u8) -> OptionList {
    full_of(&DccpOption::AckVector {
        nonce: false,
        cells: OptionBytes::from_elem(cell, 247),
    })
}

fn dropped(block: u8) -> OptionList {
    full_of(&DccpOption::DataDropped(OptionBytes::from_elem(block, 247)))
}

fn input(config: Config, acts: Vec<Act>) -> Input {
    Input {
        start: Instant::ZERO + Duration::from_secs(1),
        configs: [config.clone(), config],
        opened: true,
        driver: Driver::Singly,
        acts,
    }
}

/// Forges one packet after the other, each of whose numbers is larger than the last one's by one
/// and `gap`.
fn attacked(to: Side, gap: i64, packet: impl Fn(usize) -> Packet) -> Vec<Act> {
    let forge = |number: usize| {
        let forged = Act::Forge {
            to,
            ecn: Ecn::Ect0,
            ports: true,
            seq: gap * number as i64,
            ack: 0,
            packet: Box::new(packet(number)),
        };
        [Act::Wait(Duration::from_millis(1)), forged]
    };
    (0..PACKETS).flat_map(forge).collect()
}

/// The server only receives.
fn on_server(packet: impl Fn(usize) -> Packet) {
    replay(input(Config::default(), attacked(Side::Server, 0, packet)));
}

/// The client sends all the time, with CCID 2, and receives acknowledgements.
fn on_sender(options: &OptionList) {
    on_sender_of(Ccid::TCP_LIKE, options);
}

fn on_sender_of(ccid: Ccid, options: &OptionList) {
    let config = Config {
        sender_ccids: vec![ccid],
        receiver_ccids: vec![ccid],
        // Otherwise acknowledgements of everything end the connection, and cost little.
        detect_optimistic_acks: false,
        ..Config::default()
    };
    let mut acts = Vec::new();
    for act in attacked(Side::Client, 0, |_| ack(options.clone())) {
        let send = |_| Act::Send {
            by: Side::Client,
            size: 100,
        };
        acts.extend((0..10).map(send));
        acts.push(act);
    }
    replay(input(config, acts));
}
