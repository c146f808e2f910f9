use proptest::collection::vec;
use proptest::prelude::*;
use skywave_congestion::Ect;
use skywave_wire::Ecn;
use skywave_wire::tcp::{AccurateEcn, AccurateEcnOrder, Flags};

use super::{ECE_CWR, Echo, EcnUse, ReceiverEcn, SenderEcn, Sending};

const SMSS: u64 = 1460;
const L4S: EcnUse = EcnUse::Accurate(Ect::One);

/// Flags from the bits AE, CWR and ECE.
fn ace(bits: u16) -> Flags {
    Flags::from_bits(bits << 6)
}

/// Two ends whose SYN and SYN-ACK arrive unchanged.
fn connect(usage: EcnUse, peer: EcnUse) -> (SenderEcn, ReceiverEcn) {
    let mut sender = SenderEcn::new(usage);
    let mut receiver = ReceiverEcn::accept(peer, sender.syn_flags(), Ecn::NotEct);
    let (flags, option) = receiver.on_syn_ack();
    sender.on_first_syn_ack(flags, Ecn::NotEct, option.as_deref());
    (sender, receiver)
}

fn echo_in(sender: &mut SenderEcn, flags: Flags) -> bool {
    sender.on_ack(flags, None, SMSS, || 1).is_some()
}

/// RFC 3168 section 6.1: the receiver echoes a mark until CWR arrives; the sender responds once per
/// window.
#[test]
fn a_mark_is_echoed_until_it_is_answered() {
    let (mut sender, mut receiver) = connect(EcnUse::Rfc3168, EcnUse::Rfc3168);
    assert_eq!(sender.on_data(Sending::New), (Ecn::Ect0, Flags::default()));
    receiver.on_data(Ecn::Ce, Flags::ACK, 1000, None);
    for _ in 0..2 {
        assert_eq!(receiver.ack_flags(), Flags::ECE);
        receiver.on_data(Ecn::Ect0, Flags::ACK, 1000, None);
    }
    assert!(echo_in(&mut sender, Flags::ECE) && sender.is_unanswered(11));
    sender.on_reduced(101);
    assert!(!sender.is_unanswered(21));
    assert_eq!(
        sender.on_data(Sending::Again),
        (Ecn::NotEct, Flags::default())
    );
    let (ecn, cwr) = sender.on_data(Sending::New);
    assert_eq!((ecn, cwr), (Ecn::Ect0, Flags::CWR));
    receiver.on_data(ecn, cwr, 1000, None);
    assert_eq!(receiver.ack_flags(), Flags::default());
    assert!(sender.is_unanswered(102), "an echo in the next window");
}

/// RFC 3168 section 6.1.2: CWR reports every reduction, including one for a loss.
#[test]
fn cwr_reports_a_reduction_for_a_loss_too() {
    let (mut sender, _) = connect(EcnUse::Rfc3168, EcnUse::Rfc3168);
    sender.on_reduced(101);
    assert!(!sender.is_unanswered(101));
    assert_eq!(sender.on_data(Sending::Again).1, Flags::default());
    assert_eq!(sender.on_data(Sending::New).1, Flags::CWR);
    assert_eq!(sender.on_data(Sending::New).1, Flags::default());
}

/// RFC 3168 section 6.1.6: a window probe carries neither ECT nor CWR; the next new segment does.
#[test]
fn a_window_probe_says_nothing() {
    let (mut sender, _) = connect(EcnUse::Rfc3168, EcnUse::Rfc3168);
    sender.on_reduced(101);
    assert_eq!(
        sender.on_data(Sending::Probe),
        (Ecn::NotEct, Flags::default())
    );
    assert_eq!(sender.on_data(Sending::New), (Ecn::Ect0, Flags::CWR));
}

/// RFC 3168 section 6.1.1: ECN is used only if both ends agree.
#[test]
fn ecn_needs_both_ends() {
    let (mut sender, _) = connect(EcnUse::Rfc3168, EcnUse::Off);
    assert_eq!(sender.on_data(Sending::New).0, Ecn::NotEct);
    // A SYN-ACK that returns both flags comes from a host that reflects unknown bits.
    let mut sender = SenderEcn::new(EcnUse::Rfc3168);
    sender.on_first_syn_ack(ECE_CWR, Ecn::NotEct, None);
    assert_eq!(sender.on_data(Sending::New).0, Ecn::NotEct);
    let (_, mut receiver) = connect(EcnUse::Off, EcnUse::Rfc3168);
    receiver.on_data(Ecn::Ce, Flags::ACK, 1000, None);
    assert_eq!(receiver.ack_flags(), Flags::default());
}

/// RFC 8257 section 3.2, figure 1: the echo is in the acknowledgements of marked packets, and a
/// change is acknowledged at once. What arrived before it is acknowledged first.
#[test]
fn the_echo_of_dctcp_follows_the_marks() {
    let (mut sender, mut receiver) = connect(EcnUse::Dctcp, EcnUse::Dctcp);
    assert_eq!(sender.on_data(Sending::New).0, Ecn::Ect0);
    assert!(!receiver.on_data(Ecn::Ect0, Flags::ACK, 1000, None));
    assert!(receiver.on_data(Ecn::Ce, Flags::ACK, 1000, Some(1001)));
    assert_eq!(receiver.take_earlier(), Some((1001, Flags::default())));
    assert_eq!(receiver.take_earlier(), None);
    assert_eq!(receiver.ack_flags(), Flags::ECE);
    assert!(!receiver.on_data(Ecn::Ce, Flags::CWR, 1000, None));
    assert_eq!(receiver.ack_flags(), Flags::ECE);
    assert!(receiver.on_data(Ecn::Ect0, Flags::ACK, 1000, Some(3001)));
    assert_eq!(receiver.take_earlier(), Some((3001, Flags::ECE)));
    assert_eq!(receiver.ack_flags(), Flags::default());
}

/// Draft-34 table 2: what a client that asks for Accurate ECN uses after each SYN-ACK.
#[test]
fn a_client_uses_what_the_server_answers() {
    let accurate = |code, flags| {
        let mut sender = SenderEcn::new(EcnUse::Accurate(code));
        assert_eq!(sender.syn_flags(), ace(0b111));
        sender.on_first_syn_ack(flags, Ecn::NotEct, None);
        let (ecn, _) = sender.on_data(Sending::New);
        (matches!(sender, SenderEcn::Accurate(_)), ecn)
    };
    for (bits, is_accurate, ect0, ect1) in [
        (0b010, true, Ecn::Ect0, Ecn::Ect1),
        // Reserved; section 3.1.3.
        (0b101, true, Ecn::Ect0, Ecn::Ect1),
        // Section 3.2.2.3: the SYN was not ECN-capable, but arrived with another code point.
        (0b011, true, Ecn::NotEct, Ecn::NotEct),
        (0b100, true, Ecn::NotEct, Ecn::NotEct),
        (0b110, true, Ecn::NotEct, Ecn::NotEct),
        (0b001, false, Ecn::Ect0, Ecn::NotEct),
        (0b000, false, Ecn::NotEct, Ecn::NotEct),
        (0b111, false, Ecn::NotEct, Ecn::NotEct),
    ] {
        let flags = ace(bits);
        assert_eq!(
            accurate(Ect::Zero, flags),
            (is_accurate, ect0),
            "{bits:03b}"
        );
        assert_eq!(accurate(Ect::One, flags), (is_accurate, ect1), "{bits:03b}");
    }
}

/// Draft-34 table 2 and section 3.1.3: what a server answers to each SYN.
#[test]
fn a_server_answers_what_the_client_asks_for() {
    for (bits, answers) in [
        (0b000, [0b000; 4]),
        (0b011, [0b001; 4]),
        (0b111, [0b010, 0b011, 0b100, 0b110]),
        (0b001, [0b010, 0b011, 0b100, 0b110]),
        (0b100, [0b010, 0b011, 0b100, 0b110]),
    ] {
        let codes = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce];
        for (ecn, answer) in codes.into_iter().zip(answers) {
            let mut receiver = ReceiverEcn::accept(L4S, ace(bits), ecn);
            assert_eq!(receiver.on_syn_ack().0, ace(answer), "{bits:03b} {ecn:?}");
        }
    }
    // A server that only knows RFC 3168.
    let mut receiver = ReceiverEcn::accept(EcnUse::Rfc3168, ace(0b111), Ecn::NotEct);
    assert_eq!(receiver.on_syn_ack(), (ace(0b001), None));
}

/// Sections 3.1.4.1 and 3.2.3.2.2: packets that are lost again and again lose their flags and
/// options, which something on the path may not let pass.
#[test]
fn a_handshake_falls_back() {
    let mut sender = SenderEcn::new(L4S);
    let syns = [(); 4].map(|()| sender.syn_flags());
    assert_eq!(syns, [ace(0b111), ace(0b111), ace(0), ace(0)]);
    let mut receiver = ReceiverEcn::accept(L4S, ace(0b111), Ecn::NotEct);
    assert!(receiver.on_syn_ack().1.is_some());
    receiver.on_syn_again(Ecn::Ce);
    assert_eq!(receiver.on_syn_ack(), (ace(0b110), None), "of the last SYN");
    assert_eq!(receiver.on_syn_ack(), (ace(0), None));
    // It counts nevertheless.
    receiver.on_data(Ecn::Ce, Flags::ACK, 1000, None);
    assert_eq!(receiver.ack_flags(), ace(6));
}

/// Section 3.2.2.1, table 3: the first acknowledgement reports the code point of the SYN-ACK, and
/// is sent without data.
#[test]
fn the_first_acknowledgement_reports_the_syn_ack() {
    for (ecn, report, count) in [
        (Ecn::NotEct, 0b010, 5),
        (Ecn::Ect1, 0b011, 5),
        (Ecn::Ect0, 0b100, 5),
        (Ecn::Ce, 0b110, 6),
    ] {
        let mut sender = SenderEcn::new(L4S);
        sender.on_first_syn_ack(ace(0b010), ecn, None);
        assert!(sender.owes_pure_ack());
        let (flags, options) = sender.on_pure_ack();
        assert_eq!(flags, ace(report), "{ecn:?}");
        assert!(options.accurate_ecn.is_some());
        assert!(!sender.owes_pure_ack());
        assert_eq!(sender.on_data(Sending::New), (Ecn::Ect1, ace(count)));
        assert_eq!(sender.on_data(Sending::Again), (Ecn::NotEct, ace(count)));
        sender.on_syn_ack_again(ace(0b010), Ecn::Ce);
        assert_eq!(sender.on_pure_ack().0, ace(0b110));
        assert_eq!(sender.on_pure_ack().0, ace(6), "counted once");
    }
}

/// Section 3.2.2.5.1: the first marked packet, and every second one, is acknowledged at once.
#[test]
fn marks_are_acknowledged_at_once() {
    let (_, mut receiver) = connect(L4S, L4S);
    let mut arrive = |ecn| {
        let is_urgent = receiver.on_data(ecn, Flags::ACK, 1000, None);
        if is_urgent {
            receiver.on_ack();
        }
        is_urgent
    };
    assert!(!arrive(Ecn::Ect1));
    assert!(arrive(Ecn::Ce), "a change");
    assert!(!arrive(Ecn::Ce));
    assert!(arrive(Ecn::Ce), "the second since the acknowledgement");
    assert!(!arrive(Ecn::Ect1));
    assert!(arrive(Ecn::Ce));
}

/// Section 3.2.3.4: the option has the counters that have ever changed, if one has changed.
#[test]
fn the_option_has_what_has_changed() {
    let counters = |codes: &[(Ecn, u32)]| {
        let (_, mut receiver) = connect(L4S, L4S);
        for &(ecn, bytes) in codes {
            receiver.on_data(ecn, Flags::ACK, bytes, None);
        }
        let option = receiver.on_ack();
        assert_eq!(receiver.on_ack(), None, "nothing more has changed");
        option.map(|option| (option.order, option.counters.to_vec()))
    };
    use AccurateEcnOrder::{Ect0First, Ect1First};
    let (ect0, ect1, ce) = ((Ecn::Ect0, 10), (Ecn::Ect1, 100), (Ecn::Ce, 1000));
    assert_eq!(counters(&[(Ecn::NotEct, 10)]), None);
    assert_eq!(counters(&[ect0]), Some((Ect0First, vec![11])));
    assert_eq!(counters(&[ect1]), Some((Ect1First, vec![101])));
    assert_eq!(counters(&[ect1, ce]), Some((Ect1First, vec![101, 1000])));
    assert_eq!(counters(&[ce]), Some((Ect0First, vec![1, 1000])));
    assert_eq!(counters(&[ect0, ect1]), Some((Ect0First, vec![11, 0, 101])));
}

/// A sender that has read the counts 5 and `ceb`.
fn reading(ceb: u32) -> SenderEcn {
    let mut sender = SenderEcn::new(L4S);
    let initial = AccurateEcn {
        order: AccurateEcnOrder::Ect1First,
        counters: [1, ceb % AccurateEcn::MODULUS].into_iter().collect(),
    };
    sender.on_first_syn_ack(ace(0b010), Ecn::NotEct, None);
    if ceb > 0 {
        sender.on_ack(ace(5), Some(&initial), SMSS, || 2);
    }
    sender
}

fn read(sender: &mut SenderEcn, count: u32, ceb: Option<u32>, packets: u64) -> Option<Echo> {
    let option = ceb.map(|ceb| AccurateEcn {
        order: AccurateEcnOrder::Ect1First,
        counters: [1, ceb].into_iter().collect(),
    });
    let flags = ace((5 + count) as u16 % 8);
    sender.on_ack(flags, option.as_ref(), SMSS, || 2 + packets * SMSS)
}

/// Appendix A.2.1: without options, the count may have cycled if enough is acknowledged.
#[test]
fn a_count_without_options_is_the_largest_possible() {
    for (packets, marked, expected) in [(9, 2, 2), (10, 2, 10), (3, 5, 5), (20, 0, 16)] {
        let echo = read(&mut reading(0), marked, None, packets);
        let count = echo.unwrap().packets;
        assert_eq!(count, Some(expected), "{packets} packets, {marked}");
    }
    assert_eq!(read(&mut reading(0), 0, None, 7), None);
}

/// Appendix A.2.2: the three examples, each after an acknowledgement of enough packets for a cycle.
#[test]
fn a_count_with_options_is_the_plausible_one() {
    for (marked, bytes, packets, expected) in
        [(0, 1460, 8, 8), (2, 1460, 10, 2), (7, 10_200, 15, 7)]
    {
        let mut sender = reading(AccurateEcn::MODULUS - 1);
        let ceb = (AccurateEcn::MODULUS - 1 + bytes) % AccurateEcn::MODULUS;
        let echo = read(&mut sender, marked, Some(ceb), packets).unwrap();
        assert_eq!(
            (echo.packets, echo.bytes),
            (Some(expected), Some(u64::from(bytes))),
            "{marked}"
        );
    }
}

/// Appendix A.1: a byte counter beyond 2^24.
#[test]
fn a_byte_counter_wraps() {
    let mut sender = reading(33_554_433);
    let echo = read(&mut sender, 1, Some(1461), 1).unwrap();
    assert_eq!((echo.packets, echo.bytes), (Some(1), Some(1460)));
}

/// Section 3.2.2.5.2: an acknowledgement that reports nothing new may be an old one.
#[test]
fn a_superseded_acknowledgement_is_ignored() {
    let mut sender = reading(0);
    assert!(read(&mut sender, 2, None, 4).is_some());
    assert_eq!(read(&mut sender, 1, None, 3), None);
    assert_eq!(read(&mut sender, 2, None, 5), None, "no new marks");
}

/// Section 3.2.3.2.4: counters that begin at zero were cleared on the path.
#[test]
fn options_that_begin_at_zero_are_ignored() {
    let mut sender = SenderEcn::new(L4S);
    let zeroed = AccurateEcn {
        order: AccurateEcnOrder::Ect0First,
        counters: [0, 0, 0].into_iter().collect(),
    };
    sender.on_first_syn_ack(ace(0b010), Ecn::NotEct, Some(&zeroed));
    let echo = read(&mut sender, 2, Some(0), 10).unwrap();
    assert_eq!((echo.packets, echo.bytes), (Some(10), None));
}

/// Section 3.2.2.5.2: the acknowledgement of a retransmission has no option, and counts the marks of the
/// duplicates before it. The option that follows is consistent with it.
#[test]
fn an_option_may_follow_the_count() {
    let mut sender = reading(0);
    read(&mut sender, 0, Some(0), 1);
    assert_eq!(read(&mut sender, 3, None, 6).unwrap().packets, Some(3));
    let next = read(&mut sender, 3, Some(3 * 1460), 7);
    assert_eq!(next, None, "no more packets");
    assert_eq!(sender.on_data(Sending::New).0, Ecn::Ect1);
    // So much was acknowledged that the field may have cycled.
    assert_eq!(read(&mut sender, 3, None, 16).unwrap().packets, Some(8));
}

/// A response to marks that was undone with a spurious timeout leaves them unanswered.
#[test]
fn an_undone_reduction_answers_nothing() {
    for usage in [EcnUse::Rfc3168, L4S] {
        let (mut sender, _) = connect(usage, usage);
        sender.on_reduced(101);
        assert!(!sender.is_unanswered(50));
        sender.on_undone();
        assert!(sender.is_unanswered(50));
        let (_, flags) = sender.on_data(Sending::New);
        assert!(usage != EcnUse::Rfc3168 || !flags.contains(Flags::CWR));
    }
}

/// Section 3.2.3.3: marked bytes without a marked packet show that the path changes one of the two.
#[test]
fn inconsistent_counters_end_the_use_of_ecn() {
    let mut sender = reading(0);
    assert_eq!(sender.on_data(Sending::New).0, Ecn::Ect1);
    read(&mut sender, 0, Some(1460), 1);
    assert_eq!(sender.on_data(Sending::New).0, Ecn::NotEct);
}

proptest! {
    /// Whatever is marked, and whichever acknowledgements are lost, the sender's counts are the
    /// receiver's after the next acknowledgement that arrives.
    #[test]
    fn lost_acknowledgements_lose_no_marks(
        packets in vec((any::<bool>(), any::<bool>(), 700..=1460_u32), 1..200),
    ) {
        let (mut sender, mut receiver) = connect(L4S, L4S);
        let (mut marked, mut marked_bytes, mut delivered) = (0, 0, 1);
        let (mut counted, mut counted_bytes) = (0, 0);
        let last = packets.len() - 1;
        for (index, (is_marked, is_lost, bytes)) in packets.into_iter().enumerate() {
            let ecn = if is_marked { Ecn::Ce } else { Ecn::Ect1 };
            receiver.on_data(ecn, Flags::ACK, bytes, None);
            delivered += u64::from(bytes);
            marked += u32::from(is_marked);
            marked_bytes += if is_marked { u64::from(bytes) } else { 0 };
            let (flags, option) = (receiver.ack_flags(), receiver.on_ack());
            // A cycle of the count of packets may be missed; the bytes never are.
            if is_lost && index % 7 != 0 && index != last {
                continue;
            }
            if let Some(echo) = sender.on_ack(flags, option.as_deref(), SMSS, || delivered) {
                counted += echo.packets.unwrap();
                counted_bytes += echo.bytes.unwrap();
            }
        }
        prop_assert_eq!(counted, marked);
        prop_assert_eq!(counted_bytes, marked_bytes);
    }
}
