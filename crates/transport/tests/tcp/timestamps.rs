//! The sender's timestamps (RFC 7323). The receiver's are in `receiver`.

use skywave_transport::tcp::{RecoveryAlgorithm, Sender, SenderConfig};
use skywave_units::Duration;
use skywave_wire::tcp::{Flags, SackBlock, TcpOptions, Timestamps};

use crate::script::{RTT, Script, Sent, config, full, secs, window};

const PEER: u32 = 7000;

/// What a sender with timestamps sent, and the clock that its SYN showed.
struct Stamped {
    script: Script,
    syn: u32,
}

impl Stamped {
    /// A sender with an endless stream, whose SYN has just been acknowledged.
    fn streaming(config: SenderConfig, initial: f64) -> Self {
        let config = SenderConfig {
            timestamps: true,
            ..config
        };
        let mut script = Script::closed(config, window(initial));
        script.apply(|sender| sender.write_unlimited().unwrap());
        let Timestamps { value, echo } = script.segments[0].options.timestamps.unwrap();
        assert_eq!(echo, 0);
        script.accept_with(TcpOptions {
            mss: Some(1460),
            window_scale: Some(7),
            sack_permitted: true,
            timestamps: Some(Timestamps {
                value: PEER,
                echo: value,
            }),
            ..TcpOptions::default()
        });
        Self { script, syn: value }
    }

    /// Acknowledges everything before `offset`, and `blocks`. The echo is of what was sent `sent`
    /// milliseconds after the SYN.
    fn ack(&mut self, offset: u32, blocks: &[SackBlock], sent: u32) -> Vec<Sent> {
        let options = TcpOptions {
            sack: blocks.iter().copied().collect(),
            timestamps: Some(Timestamps {
                value: PEER + 1,
                echo: self.syn.wrapping_add(sent),
            }),
            ..TcpOptions::default()
        };
        self.script.receive(1, offset, Flags::ACK, options);
        self.script.sent()
    }

    fn srtt(&self) -> Option<Duration> {
        self.script.stats().srtt
    }
}

/// A sender that times every acknowledgement, as in Linux.
fn linux() -> SenderConfig {
    SenderConfig {
        samples_every_ack: true,
        ..SenderConfig {
            segment_size: 1000,
            ..SenderConfig::rfc(RecoveryAlgorithm::Rack)
        }
    }
}

const fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

#[test]
fn rfc7323_3_2_every_segment_has_the_clock_and_the_echo() {
    let mut stamped = Stamped::streaming(config(), 2.0);
    let segments = &stamped.script.segments;
    assert_eq!(segments.len(), 2);
    for segment in segments {
        let expected = Timestamps {
            value: stamped.syn.wrapping_add(RTT.as_nanos() as u32 / 1_000_000),
            echo: PEER,
        };
        assert_eq!(segment.options.timestamps, Some(expected));
    }
    stamped.script.segments.clear();
    stamped.script.now += millis(30);
    stamped
        .script
        .receive(1, 1001, Flags::ACK, TcpOptions::default());
    assert!(stamped.script.sent().is_empty(), "no timestamps: dropped");
    assert!(!stamped.ack(1001, &[], 100).is_empty());
}

/// RFC 9293 section 3.7.1: the MSS counts no options, so data has 12 bytes less.
#[test]
fn rfc7323_a_timestamps_shorten_segments() {
    let mut script = Script::closed(
        SenderConfig {
            timestamps: true,
            segment_size: 1448,
            ..config()
        },
        window(1.0),
    );
    script.apply(|sender| sender.write_unlimited().unwrap());
    let syn = script.segments[0].options.clone();
    assert_eq!(syn.mss, Some(1460));
    script.accept_with(TcpOptions {
        mss: Some(1400),
        timestamps: Some(Timestamps { value: 1, echo: 1 }),
        ..TcpOptions::default()
    });
    assert_eq!(
        script.sent(),
        [Sent {
            offset: 1,
            length: 1388
        }]
    );
}

#[test]
fn rfc7323_3_2_a_peer_that_refuses_timestamps_gets_none() {
    let mut script = Script::closed(
        SenderConfig {
            timestamps: true,
            ..config()
        },
        window(1.0),
    );
    script.apply(|sender| sender.write_unlimited().unwrap());
    script.accept();
    assert_eq!(script.segments[0].options.timestamps, None);
    assert_eq!(script.sent(), [full(1)]);
    assert_eq!(script.ack(1001), [full(1001), full(2001)]);
}

#[test]
fn rfc7323_3_2_a_pure_acknowledgement_has_timestamps() {
    let config = SenderConfig {
        timestamps: true,
        ..config()
    };
    let mut script = Script::closed(config, window(1.0));
    script.apply(Sender::connect);
    script.accept_with(TcpOptions {
        timestamps: Some(Timestamps { value: 5, echo: 6 }),
        ..TcpOptions::default()
    });
    let stamps = script.segments[0].options.timestamps.unwrap();
    assert_eq!(stamps.echo, 5);
}

/// RFC 7323 section 4.1: the echo tells which transmission arrived. Without it Karn's rule forbids the
/// sample, and the back-off stays.
#[test]
fn rfc7323_4_1_a_retransmission_is_timed() {
    let mut stamped = Stamped::streaming(config(), 1.0);
    stamped.script.sent();
    stamped.script.wait(secs(1));
    assert_eq!(stamped.script.stats().rto, secs(2));
    stamped.script.now += millis(180);
    stamped.ack(1001, &[], 1100);
    assert_eq!(stamped.srtt(), Some(millis(110)));
    assert_eq!(stamped.script.stats().rto, secs(1));
}

/// Less than a tick of the clock counts as one, and an echo from the future as none.
#[test]
fn rfc7323_4_1_odd_echoes() {
    for (sent, expected) in [(1280, Duration::from_nanos(87_625_000)), (9999, RTT)] {
        let mut stamped = Stamped::streaming(config(), 1.0);
        stamped.script.sent();
        stamped.script.wait(secs(1));
        stamped.script.now += millis(180);
        stamped.ack(1001, &[], sent);
        assert_eq!(stamped.srtt(), Some(expected), "{sent}");
    }
}

/// Linux times the first segment that an acknowledgement covers, so that a delay of the acknowledgement
/// counts, or the first that it SACKs.
#[test]
fn the_first_segment_of_an_acknowledgement_is_timed() {
    let mut stamped = Stamped::streaming(linux(), 2.0);
    stamped.script.sent();
    stamped.script.now += RTT;
    assert_eq!(stamped.ack(1001, &[], 100).len(), 2);
    stamped.script.now += millis(20);
    assert_eq!(stamped.ack(2001, &[], 100).len(), 2);
    let mut expected = RTT;
    for rtt in [millis(100), millis(120)] {
        expected = expected - expected / 8 + rtt / 8;
    }
    assert_eq!(stamped.srtt(), Some(expected));
    // The third segment left 20 ms before the fifth.
    stamped.script.now += millis(120);
    stamped.ack(5001, &[], 220);
    expected = expected - expected / 8 + millis(140) / 8;
    assert_eq!(stamped.srtt(), Some(expected));
}

#[test]
fn a_sacked_segment_is_timed() {
    let mut stamped = Stamped::streaming(linux(), 4.0);
    let initial = stamped.script.segments[0].seq.wrapping_sub(1);
    stamped.script.sent();
    stamped.script.now += millis(180);
    let block = SackBlock {
        left: initial.wrapping_add(1001),
        right: initial.wrapping_add(2001),
    };
    stamped.ack(1, &[block], 100);
    assert_eq!(stamped.srtt(), Some(millis(110)));
    // Only for the first time.
    stamped.script.now += millis(20);
    stamped.ack(1, &[block], 100);
    assert_eq!(stamped.srtt(), Some(millis(110)));
}
