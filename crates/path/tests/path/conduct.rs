//! The behaviour that a queue's declaration permits.

use skywave_path::{Conduct, Dialect, Limit, Writes};
use skywave_wire::Ecn;

const CODES: [Ecn; 4] = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce];

/// RFC 3168 section 5: a Not-ECT packet stays Not-ECT, and no other packet becomes Not-ECT.
#[test]
fn each_declaration_allows_its_changes_of_the_ecn_field() {
    let all = [
        Writes::Nothing,
        Writes::Marks,
        Writes::LargerCodes,
        Writes::AnyCode,
    ];
    for before in CODES {
        for after in CODES {
            // How many of the declarations, counted from the last one, allow this change.
            let allowing = match (before, after) {
                _ if before == after => 4,
                (Ecn::NotEct, _) | (_, Ecn::NotEct) => 0,
                (Ecn::Ect0 | Ecn::Ect1, Ecn::Ce) => 3,
                (Ecn::Ect1, Ecn::Ect0) => 2,
                _ => 1,
            };
            let found = all.map(|writes| writes.allows(before, after));
            let wanted = [0, 1, 2, 3].map(|index| index + allowing >= 4);
            assert_eq!(found, wanted, "{before:?} to {after:?}");
        }
    }
}

const DIALECT: Dialect = Dialect {
    name: "loud",
    variant: 1,
};

/// Returns the conduct of a queue that does everything that a queue may do.
fn wild(packets: u32) -> Conduct {
    Conduct {
        drops_early: true,
        drops_inside: true,
        writes: Writes::LargerCodes,
        dialect: Some(DIALECT),
        ..Conduct::fifo(Limit::Packets(packets))
    }
}

#[test]
fn a_single_sub_queue_behaves_as_it_does_alone() {
    for part in [
        wild(7),
        Conduct::fifo(Limit::Bytes(9)),
        Conduct {
            fifo: false,
            one_limit: false,
            ..Conduct::fifo(Limit::Unlimited)
        },
    ] {
        assert_eq!(Conduct::of_sub_queues(&[part]), part);
    }
}

#[test]
fn several_sub_queues_may_do_together_what_one_of_them_may() {
    let tame = Conduct::fifo(Limit::Packets(5));
    let both = Conduct {
        one_limit: false,
        fifo: false,
        dialect: None,
        has_classes: true,
        ..wild(12)
    };
    assert_eq!(Conduct::of_sub_queues(&[wild(7), tame]), both);
    assert_eq!(Conduct::of_sub_queues(&[tame, wild(7)]), both);
    // Flows understand the codes of both if both use the same codes.
    let same = Conduct::of_sub_queues(&[wild(7), wild(5)]);
    assert_eq!(same.dialect, Some(DIALECT));
    // What one sub-queue does not limit, the whole does not limit.
    let open = Conduct::of_sub_queues(&[tame, Conduct::fifo(Limit::Unlimited)]);
    assert_eq!((open.most_packets, open.most_bytes), (None, None));
}

#[test]
fn a_packet_fits_up_to_the_limit() {
    let packets = Conduct::fifo(Limit::Packets(3));
    assert!(packets.has_room_for(1500, 2, 3000));
    assert!(!packets.has_room_for(1500, 3, 4500));
    let bytes = Conduct::fifo(Limit::Bytes(1000));
    for (size, waiting, fits) in [
        (1000, 0, true),
        (1001, 0, false),
        (40, 960, true),
        (41, 960, false),
    ] {
        assert_eq!(
            bytes.has_room_for(size, 1, waiting),
            fits,
            "{size} B behind {waiting} B"
        );
    }
    assert!(Conduct::fifo(Limit::Unlimited).has_room_for(1500, 1 << 40, 1 << 50));
}
