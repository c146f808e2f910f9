//! The handshake (RFC 9293 section 3.5).

use skywave_congestion::{AimdConfig, AnyControl, ControlContext, ControlKind, HyblaParameters};
use skywave_transport::tcp::{Event, RecoveryAlgorithm, Sender, SenderConfig};
use skywave_wire::tcp::{Flags, TcpOptions};

use crate::script::{Script, Sent, config, full, secs, window};

#[test]
fn rfc9293_3_5_the_syn_announces_and_the_first_data_complete_the_handshake() {
    let mut script = Script::closed(config(), window(4.0));
    script.apply(|sender| sender.write(500)).unwrap();
    let syn = script.segments[0].clone();
    assert_eq!((syn.flags, syn.payload.len()), (Flags::SYN, 0));
    assert_eq!(
        (syn.options.mss, syn.options.window_scale),
        (Some(1000), Some(10)),
        "the scale of the largest window that this end could announce"
    );
    script.accept();
    assert_eq!(script.segments.len(), 1);
    assert!(script.segments[0].flags.contains(Flags::ACK));
    assert_eq!(script.segments[0].ack, 4_000_000_001);
    assert_eq!(
        script.sent(),
        [Sent {
            offset: 1,
            length: 500
        }]
    );
    assert_eq!(script.events(), [Event::Connected]);
}

#[test]
fn rfc9293_3_5_with_nothing_to_send_the_handshake_ends_with_an_acknowledgement() {
    let mut script = Script::closed(config(), window(4.0));
    script.apply(Sender::connect);
    script.accept();
    assert_eq!(
        script.sent(),
        [Sent {
            offset: 1,
            length: 0
        }]
    );
    assert!(script.wait(secs(100)).is_empty());
    // The SYN-ACK again, because our acknowledgement was lost.
    script.receive(0, 1, Flags::SYN.union(Flags::ACK), TcpOptions::default());
    assert_eq!(
        script.sent(),
        [Sent {
            offset: 1,
            length: 0
        }]
    );
}

#[test]
fn rfc9293_3_7_1_the_peers_mss_is_kept_and_536_where_it_sends_none() {
    for (mss, expected) in [(Some(200), 200), (Some(1460), 1000), (None, 536)] {
        let mut script = Script::closed(config(), window(1.0));
        script.apply(|sender| sender.write_unlimited()).unwrap();
        script.accept_with(TcpOptions {
            mss,
            ..TcpOptions::default()
        });
        assert_eq!(
            script.sent(),
            [Sent {
                offset: 1,
                length: expected
            }]
        );
    }
}

#[test]
fn without_options_the_syn_is_bare_and_the_segment_size_stands() {
    let mut script = Script::closed(
        SenderConfig::ns2(RecoveryAlgorithm::NewReno),
        AimdConfig::ns2_tcp(20),
    );
    script.apply(|sender| sender.write_unlimited()).unwrap();
    assert_eq!(script.segments[0].options, TcpOptions::default());
    script.accept_with(TcpOptions::default());
    assert_eq!(script.sent(), [full(1), full(1001)]);
}

#[test]
fn rfc6298_5_5_and_5_7_a_lost_syn_backs_off_and_resets_the_rto_to_three_seconds() {
    let mut script = Script::closed(config(), window(4.0));
    script.apply(|sender| sender.write_unlimited()).unwrap();
    script.sent();
    assert_eq!(script.wait_for_segment().0, secs(1));
    assert_eq!(script.wait_for_segment().0, secs(2));
    let (waited, _) = script.wait_for_segment();
    assert_eq!(waited, secs(4));
    script.receive(
        0,
        1,
        Flags::SYN.union(Flags::ACK),
        TcpOptions {
            mss: Some(1460),
            ..TcpOptions::default()
        },
    );
    // RFC 5681 section 3.1: the initial window is then one segment. Karn: no sample.
    assert_eq!(script.sent(), [full(1)]);
    assert_eq!((script.stats().srtt, script.stats().rto), (None, secs(3)));
    assert_eq!(script.stats().timeouts, 3);
    assert_eq!(script.wait_for_segment(), (secs(3), vec![full(1)]));
}

/// The control of a connection over 100 ms: rho is 4, and so is the initial window.
fn hybla() -> AnyControl {
    HyblaParameters::default().build(&ControlContext {
        packet_size: 1000,
        initial_cwnd: 10.0,
        initial_ssthresh: f64::INFINITY,
        ns2: false,
        linux: true,
    })
}

#[test]
fn a_control_is_told_the_round_trip_time_of_the_handshake() {
    let mut script = Script::with_control(config(), hybla());
    script.apply(Sender::write_unlimited).unwrap();
    script.accept();
    assert_eq!(script.sent().len(), 4);
}

/// Karn's rule (RFC 6298 section 3): the time from a SYN that was sent twice says nothing.
#[test]
fn rfc6298_3_a_control_is_not_told_that_of_a_handshake_with_two_syns() {
    let mut script = Script::with_control(config(), hybla());
    script.apply(Sender::write_unlimited).unwrap();
    script.wait_for_segment();
    script.receive(0, 1, Flags::SYN.union(Flags::ACK), TcpOptions::default());
    assert_eq!(script.sent().len(), 1);
}

/// RFC 9293 section 3.10.7.3: an acknowledgement of something else than our SYN does not complete the
/// handshake, nor does a SYN without one.
#[test]
fn rfc9293_3_10_7_3_only_an_acknowledgement_of_our_syn_completes_the_handshake() {
    let syn_ack = Flags::SYN.union(Flags::ACK);
    for (ack, flags, connects) in [
        (1, syn_ack, true),
        (0, syn_ack, false),
        (2, syn_ack, false),
        (1, Flags::SYN, false),
        (1, Flags::ACK, false),
    ] {
        let mut script = Script::closed(config(), window(4.0));
        script.apply(|sender| sender.write(500)).unwrap();
        script.sent();
        script.receive(0, ack, flags, TcpOptions::default());
        let expected = if connects {
            vec![Event::Connected]
        } else {
            vec![]
        };
        assert_eq!(script.events(), expected, "{ack} {flags:?}");
    }
}
