//! The state machine of section 6.6, option by option.

use skywave_wire::dccp::{DccpOption, FeatureSide, OptionList, SeqNo};

use super::preferences::preferences;
use super::received::Refusal;
use super::{CONFIRMS_MAX, Changed, Context, Feature, Features, Location};
use crate::dccp::tests::{change, confirm};
use crate::dccp::{Ccid, Config, Role};

const L: FeatureSide = FeatureSide::Local;
const R: FeatureSide = FeatureSide::Remote;

/// One endpoint's features, which receive options in packets 1, 2, 3, ...
struct Endpoint {
    config: Config,
    role: Role,
    features: Features,
    next_seq: u64,
}

impl Endpoint {
    fn new(role: Role, config: Config) -> Self {
        let features = Features::new(&config, SeqNo::new(100));
        Self {
            config,
            role,
            features,
            next_seq: 1,
        }
    }

    /// An endpoint that knows CCID 2 only, with default preferences otherwise, and has sent its first
    /// Changes.
    fn quiet(role: Role) -> Self {
        let config = Config {
            sender_ccids: vec![Ccid::TCP_LIKE],
            receiver_ccids: vec![Ccid::TCP_LIKE],
            ..Config::default()
        };
        let mut endpoint = Self::new(role, config);
        endpoint.features.negotiations.clear();
        endpoint
    }

    fn receive_at(
        &mut self,
        seq: u64,
        ack: Option<u64>,
        mandatory: bool,
        option: &DccpOption,
    ) -> Result<Option<Changed>, Refusal> {
        let seq = SeqNo::new(seq);
        let context = Context {
            seq,
            ack: ack.map(SeqNo::new),
            mandatory,
        };
        let answer = self
            .features
            .on_option(&self.config, self.role, context, option);
        self.features.packet_processed(seq);
        answer
    }

    fn receive(&mut self, option: &DccpOption) -> Result<Option<Changed>, Refusal> {
        let seq = self.next_seq;
        self.next_seq += 1;
        self.receive_at(seq, Some(1_000), false, option)
    }

    /// The options of the next packet, an Ack with number `seq`.
    fn emit(&mut self, seq: u64) -> Vec<DccpOption> {
        let mut options = OptionList::new();
        self.features.emit(SeqNo::new(seq), true, &mut options);
        options.into_vec()
    }
}

/// The examples of section 6.5, as answered by the receiver.
#[test]
fn answers_the_examples_of_section_6_5() {
    // Ack Ratio: Change L(Ack Ratio, 3) -> Confirm R(Ack Ratio, 3).
    let mut client = Endpoint::quiet(Role::Client);
    let changed = client.receive(&change(L, 5, &[0, 3]));
    assert_eq!(
        changed,
        Ok(Some(Changed {
            feature: Feature::AckRatio,
            location: Location::Peer
        }))
    );
    assert_eq!(client.emit(200), [confirm(R, 5, &[0, 3])]);
    assert_eq!(client.features.peer.ack_ratio, 3);
    assert_eq!(
        client.features.here.ack_ratio, 2,
        "the other half has its own"
    );
    // Sequence Window 1024.
    assert!(client.receive(&change(L, 3, &[0, 0, 0, 0, 4, 0])).is_ok());
    assert_eq!(client.emit(201), [confirm(R, 3, &[0, 0, 0, 0, 4, 0])]);
    assert_eq!(client.features.peer.sequence_window, 1024);
    // An unknown feature: Empty Confirm L(126), Empty Confirm R(126).
    assert_eq!(client.receive(&change(R, 126, &[1])), Ok(None));
    assert_eq!(client.receive(&change(L, 126, &[1])), Ok(None));
    assert_eq!(
        client.emit(202),
        [confirm(L, 126, &[]), confirm(R, 126, &[])]
    );
    // CCID: if the peer only wants unsupported ones, CCID 2 remains.
    assert_eq!(client.receive(&change(R, 1, &[3, 4])), Ok(None));
    assert_eq!(client.emit(203), [confirm(L, 1, &[2, 2])]);
    assert_eq!(client.receive(&change(L, 1, &[3, 2])), Ok(None));
    assert_eq!(client.emit(204), [confirm(R, 1, &[2, 2])]);
}

/// D6-3: which value a Confirm selects, in both roles.
#[test]
fn reconciliation_table() {
    let wants = || Config {
        allow_short_seqnos: true,
        ..Config::default()
    };
    for (role, theirs, selected) in [
        (Role::Server, &[0, 1][..], 1),
        (Role::Client, &[0, 1][..], 0),
        (Role::Client, &[1, 0][..], 1),
        (Role::Server, &[7, 0][..], 0),
        (Role::Server, &[7][..], 0), // nothing shared: the value stays
    ] {
        let mut endpoint = Endpoint::new(role, wants());
        endpoint.features.negotiations.clear();
        assert!(endpoint.receive(&change(L, 2, theirs)).is_ok());
        assert_eq!(
            endpoint.emit(200),
            [confirm(R, 2, &[selected, 1, 0])],
            "{role:?} {theirs:?}"
        );
        assert_eq!(endpoint.features.peer.allow_short_seqnos, selected == 1);
    }
}

/// D6-4, D6-14, D7.5-2, D11.3-1: invalid Changes get an empty Confirm, regardless of the state.
#[test]
fn invalid_changes_are_refused() {
    for (side, number, value) in [
        (L, 5, &[0, 0][..]),                // Ack Ratio zero
        (L, 5, &[3][..]),                   // wrong length
        (L, 3, &[0, 0, 0, 0, 0, 31][..]),   // below Wmin
        (L, 3, &[0x40, 0, 0, 0, 0, 0][..]), // 2^46
        (R, 3, &[0, 0, 0, 0, 4, 0][..]),    // Change R of a non-negotiable feature
        (R, 5, &[0, 2][..]),
        (L, 2, &[][..]), // no value
    ] {
        let mut endpoint = Endpoint::quiet(Role::Server);
        assert_eq!(endpoint.receive(&change(side, number, value)), Ok(None));
        let answer = if side == L { R } else { L };
        assert_eq!(
            endpoint.emit(200),
            [confirm(answer, number, &[])],
            "{number} {value:?}"
        );
        assert_eq!(endpoint.features.peer, Default::default());
        // D6-15: with Mandatory, the connection is reset.
        let mut endpoint = Endpoint::quiet(Role::Server);
        let answer = endpoint.receive_at(1, None, true, &change(side, number, value));
        assert_eq!(answer, Err(Refusal::MandatoryError), "{number} {value:?}");
    }
}

/// D6-13, D6-15: Mandatory with an unknown feature, or without a shared value.
#[test]
fn mandatory_changes() {
    let mut endpoint = Endpoint::quiet(Role::Server);
    for (seq, option) in [(1, change(L, 126, &[1])), (2, change(R, 1, &[3]))] {
        let answer = endpoint.receive_at(seq, None, true, &option);
        assert_eq!(answer, Err(Refusal::MandatoryError), "{option:?}");
    }
    let mut endpoint = Endpoint::quiet(Role::Server);
    assert_eq!(
        endpoint.receive_at(1, None, true, &change(R, 1, &[3, 2])),
        Ok(None)
    );
    // Reordering protection comes first (section 6.6.9).
    assert_eq!(
        endpoint.receive_at(1, None, true, &change(R, 1, &[3])),
        Ok(None)
    );
}

/// D6-6, D6-8: CHANGING until the Confirm arrives, and only then a new value.
#[test]
fn a_change_takes_effect_with_its_confirm() {
    let mut endpoint = Endpoint::quiet(Role::Client);
    endpoint.features.declare(Feature::AckRatio, 4);
    assert!(endpoint.features.is_due());
    assert_eq!(endpoint.emit(150), [change(L, 5, &[0, 4])]);
    assert!(!endpoint.features.is_due() && endpoint.features.is_unanswered());
    assert_eq!(endpoint.features.here.ack_ratio, 2);
    let changed = endpoint.receive_at(1, Some(150), false, &confirm(R, 5, &[0, 4]));
    assert!(matches!(changed, Ok(Some(_))));
    assert_eq!(endpoint.features.here.ack_ratio, 4);
    assert!(!endpoint.features.is_unanswered());
    // STABLE ignores Confirms, even wrong ones.
    assert_eq!(
        endpoint.receive_at(2, Some(150), false, &confirm(R, 5, &[0, 9])),
        Ok(None)
    );
    assert_eq!(endpoint.features.here.ack_ratio, 4);
}

/// D6-9: a retransmitted Change is identical and does not change FGSS.
#[test]
fn retransmission() {
    let mut endpoint = Endpoint::quiet(Role::Client);
    endpoint.features.declare(Feature::AckRatio, 4);
    let first = endpoint.emit(150);
    endpoint.features.retransmit();
    assert_eq!(endpoint.emit(160), first);
    // The answer to the first one is valid.
    let answer = endpoint.receive_at(1, Some(150), false, &confirm(R, 5, &[0, 4]));
    assert!(matches!(answer, Ok(Some(_))));
    endpoint.features.retransmit();
    assert!(endpoint.emit(170).is_empty());
}

/// D6-10: the rules of section 6.6.4.
#[test]
fn reordered_options_are_ignored() {
    let mut endpoint = Endpoint::quiet(Role::Client);
    assert!(
        endpoint
            .receive_at(10, None, false, &change(L, 5, &[0, 5]))
            .is_ok()
    );
    for seq in [9, 10] {
        assert_eq!(
            endpoint.receive_at(seq, None, false, &change(L, 5, &[0, 6])),
            Ok(None)
        );
    }
    assert_eq!(endpoint.features.peer.ack_ratio, 5);
    endpoint.features.declare(Feature::AckRatio, 4);
    endpoint.emit(150);
    let good = confirm(R, 5, &[0, 4]);
    for (seq, ack) in [(10, Some(150)), (11, None), (12, Some(149))] {
        assert_eq!(
            endpoint.receive_at(seq, ack, false, &good),
            Ok(None),
            "{seq} {ack:?}"
        );
        assert_eq!(endpoint.features.here.ack_ratio, 2);
    }
    assert!(matches!(
        endpoint.receive_at(13, Some(150), false, &good),
        Ok(Some(_))
    ));
}

/// D6-11: preferences that change in CHANGING lead to UNSTABLE until the new Change is sent; only
/// the answer to that one counts.
#[test]
fn unstable() {
    let mut endpoint = Endpoint::quiet(Role::Client);
    endpoint.features.declare(Feature::AckRatio, 4);
    endpoint.emit(150);
    endpoint.features.declare(Feature::AckRatio, 8);
    let early = endpoint.receive_at(1, Some(150), false, &confirm(R, 5, &[0, 4]));
    assert_eq!(early, Ok(None), "ignored in UNSTABLE");
    assert_eq!(endpoint.emit(160), [change(L, 5, &[0, 8])]);
    let late = endpoint.receive_at(2, Some(159), false, &confirm(R, 5, &[0, 4]));
    assert_eq!(late, Ok(None), "it answers the old Change");
    assert_eq!(endpoint.features.here.ack_ratio, 2);
    let answer = endpoint.receive_at(3, Some(160), false, &confirm(R, 5, &[0, 8]));
    assert!(matches!(answer, Ok(Some(_))));
    assert_eq!(endpoint.features.here.ack_ratio, 8);
}

/// D6-12: both sides change the same feature at the same time; both end with the server's choice.
#[test]
fn simultaneous_negotiation() {
    let config = |list: &[u8]| {
        let value: skywave_wire::dccp::OptionBytes = list.into();
        move |endpoint: &mut Endpoint, location| {
            endpoint
                .features
                .open(Feature::AllowShortSeqnos, location, value, false);
        }
    };
    let mut client = Endpoint::quiet(Role::Client);
    let mut server = Endpoint::quiet(Role::Server);
    config(&[0, 1])(&mut client, Location::Peer);
    config(&[1, 0])(&mut server, Location::Here);
    let (from_client, from_server) = (client.emit(100), server.emit(100));
    assert_eq!(from_client, [change(R, 2, &[0, 1])]);
    assert_eq!(from_server, [change(L, 2, &[1, 0])]);
    client.receive(&from_server[0]).unwrap();
    server.receive(&from_client[0]).unwrap();
    let (from_client, from_server) = (client.emit(101), server.emit(101));
    assert_eq!(from_client, [confirm(R, 2, &[1, 0, 1])]);
    assert_eq!(from_server, [confirm(L, 2, &[1, 1, 0])]);
    client.receive(&from_server[0]).unwrap();
    server.receive(&from_client[0]).unwrap();
    assert!(client.features.peer.allow_short_seqnos);
    assert!(server.features.here.allow_short_seqnos);
    assert!(!client.features.is_unanswered() && !server.features.is_unanswered());
}

/// D6-13: an empty Confirm keeps the value; for a required feature it is an error.
#[test]
fn empty_confirms() {
    let mut endpoint = Endpoint::quiet(Role::Client);
    endpoint.features.declare(Feature::AckRatio, 4);
    endpoint.emit(150);
    assert_eq!(endpoint.receive(&confirm(R, 5, &[])), Ok(None));
    assert_eq!(endpoint.features.here.ack_ratio, 2);
    assert!(!endpoint.features.is_unanswered());
    endpoint.features.declare(Feature::SequenceWindow, 500);
    endpoint.emit(151);
    assert_eq!(
        endpoint.receive(&confirm(R, 3, &[])),
        Err(Refusal::OptionError)
    );
}

/// D6-14: Confirms that select a wrong value.
#[test]
fn invalid_confirms() {
    for (role, list, value, is_valid) in [
        (Role::Client, &[1, 0][..], &[1, 1][..], true),
        (Role::Client, &[1, 0][..], &[1, 0, 1][..], false), // the server prefers 0
        (Role::Server, &[1, 0][..], &[1, 0, 1][..], true),
        (Role::Client, &[1, 0][..], &[1][..], true), // the list is optional
        (Role::Client, &[1, 0][..], &[7][..], false),
        (Role::Client, &[1][..], &[0, 0][..], true), // nothing shared: the old value
        (Role::Client, &[1][..], &[1, 0][..], false),
    ] {
        let mut endpoint = Endpoint::quiet(role);
        let feature = Feature::AllowShortSeqnos;
        endpoint
            .features
            .open(feature, Location::Here, list.into(), false);
        endpoint.emit(150);
        let answer = endpoint.receive(&confirm(R, 2, value));
        assert_eq!(answer.is_ok(), is_valid, "{role:?} {list:?} {value:?}");
    }
    let mut endpoint = Endpoint::quiet(Role::Client);
    endpoint.features.declare(Feature::AckRatio, 4);
    endpoint.emit(150);
    assert_eq!(
        endpoint.receive(&confirm(R, 5, &[0, 5])),
        Err(Refusal::OptionError)
    );
}

/// A duplicated packet with an old Change overtakes a new Change, and is confirmed by a packet
/// whose acknowledgement number is after that of the new one. The rules of section 6.6.4 accept the
/// answer, but it is no reason to reset.
#[test]
fn a_confirm_of_the_value_in_force_answers_nothing() {
    let mut endpoint = Endpoint::quiet(Role::Server);
    endpoint.features.declare(Feature::AckRatio, 7);
    endpoint.emit(150);
    let confirmed = endpoint.receive_at(1, Some(150), false, &confirm(R, 5, &[0, 7]));
    assert!(matches!(confirmed, Ok(Some(_))));
    endpoint.features.declare(Feature::AckRatio, 2);
    endpoint.emit(155);
    let late = endpoint.receive_at(2, Some(161), false, &confirm(R, 5, &[0, 7]));
    assert_eq!(late, Ok(None));
    assert!(endpoint.features.is_unanswered());
    // The real answer still counts, and a wrong one is still an error.
    let mut other = endpoint.features.clone();
    let answered = endpoint.receive_at(3, Some(161), false, &confirm(R, 5, &[0, 2]));
    assert!(matches!(answered, Ok(Some(_))));
    core::mem::swap(&mut other, &mut endpoint.features);
    assert_eq!(
        endpoint.receive_at(3, Some(161), false, &confirm(R, 5, &[0, 3])),
        Err(Refusal::OptionError)
    );
}

/// D6-2: no Confirm without a Change; one answer to the latest of several.
#[test]
fn confirms_answer_changes() {
    let mut endpoint = Endpoint::quiet(Role::Server);
    assert!(endpoint.emit(100).is_empty());
    endpoint.receive(&change(L, 5, &[0, 3])).unwrap();
    endpoint.receive(&change(L, 5, &[0, 4])).unwrap();
    assert_eq!(endpoint.emit(101), [confirm(R, 5, &[0, 4])]);
    assert!(endpoint.emit(102).is_empty(), "Confirms are never repeated");
    // Not without an acknowledgement number.
    endpoint.receive(&change(L, 5, &[0, 5])).unwrap();
    let mut options = OptionList::new();
    endpoint.features.emit(SeqNo::new(103), false, &mut options);
    assert!(options.is_empty());
}

/// D15-1, D6-13: unknown features get empty Confirms, in as many packets as they need. Only so many wait at
/// a time, whatever one packet asks: the peer repeats the rest (section 6.6.3). So each of hundreds of
/// Changes is compared with a few answers.
#[test]
fn answers_are_spread_over_packets() {
    let mut endpoint = Endpoint::quiet(Role::Server);
    let mut asked: Vec<_> = [L, R]
        .into_iter()
        .flat_map(|side| (96..=255).map(move |number| (side, number)))
        .collect();
    let total = asked.len();
    let mut packets = 0;
    while !asked.is_empty() {
        for &(side, number) in asked.iter().chain(&asked) {
            endpoint.receive(&change(side, number, &[0])).unwrap();
            assert!(endpoint.features.confirms.len() <= CONFIRMS_MAX);
        }
        let answers = endpoint.emit(200 + packets);
        assert_eq!(answers.len(), CONFIRMS_MAX.min(asked.len()));
        let answered: Vec<_> = asked.drain(..answers.len()).collect();
        for (answer, (side, number)) in answers.iter().zip(answered) {
            let side = if side == L { R } else { L };
            assert_eq!(*answer, confirm(side, number, &[]));
        }
        assert!(!endpoint.features.is_due());
        packets += 1;
    }
    assert_eq!(packets, total.div_ceil(CONFIRMS_MAX) as u64);
}

/// A Change that is ignored for want of room changes nothing, unless it is Mandatory: then the
/// connection is reset (section 5.8.2). A feature whose answer waits may change its mind.
#[test]
fn changes_beyond_the_limit() {
    let mut endpoint = Endpoint::quiet(Role::Server);
    endpoint.receive(&change(L, 5, &[0, 3])).unwrap();
    for number in 100.. {
        endpoint.receive(&change(L, number, &[0])).unwrap();
        if endpoint.features.confirms.len() == CONFIRMS_MAX {
            break;
        }
    }
    assert_eq!(endpoint.receive(&change(L, 7, &[1])), Ok(None));
    assert!(!endpoint.features.peer.send_ndp_count);
    endpoint.receive(&change(L, 5, &[0, 4])).unwrap();
    assert_eq!(endpoint.features.peer.ack_ratio, 4);
    let refusal = endpoint.receive_at(1_000, None, true, &change(L, 7, &[1]));
    assert_eq!(refusal, Err(Refusal::MandatoryError));
}

/// The Changes that open a connection.
#[test]
fn opening_wishes() {
    let mandatory = DccpOption::Mandatory;
    let mut plain = Endpoint::new(Role::Client, Config::default());
    assert_eq!(plain.emit(100), [mandatory.clone(), change(R, 6, &[1])]);
    let wishes = Config {
        allow_short_seqnos: true,
        sequence_window: 1024,
        ecn_incapable: true,
        ack_ratio: 3,
        request_ndp_count: true,
        checksum_coverage: 2,
        minimum_checksum_coverage: 14,
        send_data_checksum: true,
        ..Config::default()
    };
    let mut endpoint = Endpoint::new(Role::Client, wishes);
    let coverages = [2, 1, 0, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
    assert_eq!(
        endpoint.emit(100),
        [
            change(L, 2, &[1, 0]),
            mandatory.clone(), // D12.1-1
            change(L, 4, &[1]),
            mandatory,
            change(R, 6, &[1]),
            change(R, 7, &[1, 0]),
            change(L, 8, &[14, 15, 0]),
            change(R, 8, &coverages),
            change(R, 9, &[1, 0]),
            change(L, 3, &[0, 0, 0, 0, 4, 0]),
            change(L, 5, &[0, 3]),
        ]
    );
}

/// NDP Counts are requested if a CCID's row says that it counts lost data; no code compares CCID
/// numbers.
#[test]
fn ndp_counts_are_asked_for_by_the_table() {
    let wanted = |ccid| {
        let config = Config {
            receiver_ccids: vec![ccid],
            ..Config::default()
        };
        preferences(&config, Feature::SendNdpCount, Location::Peer, ccid)[0]
    };
    let ccids = [
        Ccid::TCP_LIKE,
        Ccid::TFRC,
        Ccid::TFRC_SP,
        Ccid::SENDERS_CHOICE,
    ];
    assert_eq!(ccids.map(wanted), [0, 1, 1, 0]);
}

/// D6-10: numbers that have advanced by more than half of all since the last negotiation do not make
/// a new one look reordered (RFC 4340 erratum 974), also across the wrap at 2^48.
#[test]
fn d6_10_negotiation_after_the_numbers_wrap() {
    let mut endpoint = Endpoint::quiet(Role::Server);
    endpoint.features.fgss = SeqNo::ZERO.sub(7);
    let first = SeqNo::ZERO.sub(5);
    endpoint
        .receive_at(first.get(), None, false, &change(L, 7, &[1]))
        .unwrap();
    assert!(endpoint.features.peer.send_ndp_count);
    let mut moved = 0;
    while moved < (1 << 47) + 1_000 {
        // As far as one valid packet may move GSR.
        moved += 3 << 44;
        let now = first.add(moved);
        endpoint.features.follow(now, now.sub(3));
        let fgsr = endpoint.features.fgsr.unwrap();
        assert!(!fgsr.is_after(now) && !endpoint.features.fgss.is_after(now.sub(3)));
    }
    // A copy of the first packet would be outside the sequence window by now. A new one is valid.
    let next = first.add(moved).next();
    endpoint
        .receive_at(next.get(), None, false, &change(L, 7, &[0]))
        .unwrap();
    assert!(!endpoint.features.peer.send_ndp_count);
}
