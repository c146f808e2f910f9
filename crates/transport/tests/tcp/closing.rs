//! The application, and the end of a connection.

use skywave_transport::tcp::{Event, Sender};
use skywave_wire::tcp::{Flags, TcpOptions};

use crate::script::{
    Script, Sent, config, duplicates, full, secs, ten_in_flight, window, without_limited_transmit,
};

#[test]
fn a_file_is_reported_when_its_last_byte_is_acknowledged() {
    let mut script = Script::closed(config(), window(4.0));
    script.apply(|sender| sender.write(2500)).unwrap();
    script.accept();
    assert_eq!(
        script.sent(),
        [
            full(1),
            full(1001),
            Sent {
                offset: 2001,
                length: 500
            }
        ]
    );
    script.ack(2001);
    assert_eq!(script.events(), [Event::Connected]);
    script.ack(2501);
    assert_eq!(script.events(), [Event::AllAcknowledged]);
    assert_eq!(script.stats().bytes_acked, 2500);
    script.apply(|sender| sender.write(10)).unwrap();
    script.ack(2511);
    assert_eq!(script.events(), [Event::AllAcknowledged]);
}

#[test]
fn rfc9293_3_6_a_fin_follows_the_data_and_is_sent_again_when_lost() {
    let mut script = Script::closed(config(), window(4.0));
    script.apply(|sender| {
        sender.write(1500).unwrap();
        sender.close();
        assert!(sender.write(1).is_err());
    });
    script.accept();
    assert!(!script.segments[0].flags.contains(Flags::FIN));
    assert!(script.segments[1].flags.contains(Flags::FIN));
    script.sent();
    script.ack(1501);
    assert_eq!(script.events(), [Event::Connected, Event::AllAcknowledged]);
    assert_eq!(
        script.wait_for_segment(),
        (
            secs(1),
            vec![Sent {
                offset: 1501,
                length: 0
            }]
        )
    );
    script.ack(1502);
    assert_eq!(script.events(), [Event::Closed]);
    assert_eq!(script.stats().bytes_acked, 1500);
    assert!(script.wait(secs(100)).is_empty());
}

#[test]
fn rfc9293_3_4_a_fin_takes_room_in_the_window_and_probes_a_closed_one() {
    let mut script = Script::closed(config(), window(4.0));
    script.window = 1000;
    script.apply(|sender| {
        sender.write(1000).unwrap();
        sender.close();
    });
    script.accept();
    assert!(!script.segments[0].flags.contains(Flags::FIN));
    assert_eq!(script.sent(), [full(1)]);
    script.window = 0;
    let fin = vec![Sent {
        offset: 1001,
        length: 0,
    }];
    assert_eq!(script.ack(1001), fin);
    assert_eq!(script.wait_for_segment(), (secs(1), fin.clone()));
    assert_eq!(script.wait_for_segment(), (secs(2), fin));
    script.ack(1002);
    assert!(script.events().contains(&Event::Closed));
}

#[test]
fn rfc9293_3_6_a_connection_that_is_idle_closes_with_a_fin_alone() {
    let mut script = Script::closed(config(), window(4.0));
    script.apply(|sender| sender.write(1000)).unwrap();
    script.accept();
    script.ack(1001);
    script.sent();
    script.apply(Sender::close);
    assert!(script.segments[0].flags.contains(Flags::FIN));
    assert_eq!(
        script.sent(),
        [Sent {
            offset: 1001,
            length: 0
        }]
    );
    script.ack(1002);
    assert!(script.events().contains(&Event::Closed));
}

#[test]
fn rfc9293_3_10_7_4_a_reset_ends_the_connection_and_a_forged_one_does_not() {
    let mut script = ten_in_flight(config());
    script.receive(77, 1, Flags::RST, TcpOptions::default());
    assert_eq!(script.events(), [Event::Connected]);
    script.receive(1, 1, Flags::RST, TcpOptions::default());
    assert_eq!(script.events(), [Event::Reset]);
    assert!(script.wait(secs(100)).is_empty());
}

#[test]
fn rfc9293_3_10_7_4_an_acknowledgement_of_unsent_data_is_answered_and_ignored() {
    let mut script = ten_in_flight(config());
    assert_eq!(
        script.ack(10_002),
        [Sent {
            offset: 10_001,
            length: 0
        }]
    );
    assert_eq!(script.stats().bytes_acked, 0);
}

/// RFC 9293 section 3.4: a FIN takes a sequence number, so it waits for the window, also later in the
/// connection.
#[test]
fn rfc9293_3_4_a_fin_beyond_a_full_window_waits() {
    let closed_late = |window_now| {
        let mut script = Script::closed(config(), window(4.0));
        script.apply(|sender| sender.write(1000)).unwrap();
        script.accept();
        script.sent();
        script.window = window_now;
        script.ack(1001);
        script.apply(|sender| sender.write(1000)).unwrap();
        assert_eq!(script.sent(), [full(1001)]);
        script.apply(Sender::close);
        script.sent().len()
    };
    assert_eq!((closed_late(1000), closed_late(1001)), (0, 1));

    // The same with the data of the last segment.
    for (window_now, is_alone) in [(1000, true), (1001, false)] {
        let mut script = Script::closed(config(), window(4.0));
        script.apply(|sender| sender.write(1000)).unwrap();
        script.accept();
        script.sent();
        script.window = window_now;
        script.ack(1001);
        script.apply(|sender| {
            sender.write(1000).unwrap();
            sender.close();
        });
        assert_eq!(script.segments.len(), 1);
        let has_fin = script.segments[0].flags.contains(Flags::FIN);
        assert_eq!(has_fin, !is_alone, "{window_now}");
    }
}

/// The FIN of a last segment that is retransmitted is not counted as data.
#[test]
fn rfc6582_3_2_step_3_a_last_segment_is_retransmitted_with_its_fin() {
    let mut script = Script::closed(without_limited_transmit(), window(10.0));
    script.apply(|sender| {
        sender.write(4500).unwrap();
        sender.close();
    });
    script.accept();
    script.sent();
    // The first and the last segment are lost.
    assert_eq!(duplicates(&mut script, 1, 3), [full(1)]);
    script.receive(1, 4001, Flags::ACK, TcpOptions::default());
    assert!(script.segments[0].flags.contains(Flags::FIN));
    assert_eq!(
        script.sent(),
        [Sent {
            offset: 4001,
            length: 500
        }]
    );
}

/// RFC 9293 section 3.9.1.2: PSH goes with the last data that there is to send.
#[test]
fn rfc9293_3_9_1_2_the_last_segment_is_pushed() {
    let mut script = Script::closed(config(), window(4.0));
    script.apply(|sender| sender.write(2500)).unwrap();
    script.accept();
    let pushed: Vec<bool> = script
        .segments
        .iter()
        .map(|segment| segment.flags.contains(Flags::PSH))
        .collect();
    assert_eq!(pushed, [false, false, true]);
}

#[test]
fn a_connection_is_over_when_its_fin_is_acknowledged_or_it_is_reset() {
    let mut script = Script::closed(config(), window(4.0));
    assert!(!script.sender.get().is_over());
    script.apply(|sender| {
        sender.write(1000).unwrap();
        sender.close();
    });
    script.accept();
    script.ack(1001);
    assert!(!script.sender.get().is_over());
    script.ack(1002);
    assert!(script.sender.get().is_over());

    let mut script = ten_in_flight(config());
    script.receive(1, 1, Flags::RST, TcpOptions::default());
    assert!(script.sender.get().is_over());
}

#[test]
fn the_segment_size_is_what_the_ends_agree_on() {
    let mut script = Script::closed(config(), window(4.0));
    assert_eq!(script.sender.get().segment_size(), 1000);
    script.apply(Sender::connect);
    script.accept_with(TcpOptions {
        mss: Some(700),
        ..TcpOptions::default()
    });
    assert_eq!(script.sender.get().segment_size(), 700);
}
