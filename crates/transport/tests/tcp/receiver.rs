//! The RFCs' requirements on a receiver.

use skywave_transport::tcp::{Ports, ReceiveWindow, Receiver, ReceiverConfig};
use skywave_transport::{Drain, Drained, Driven};
use skywave_units::{Duration, Instant};
use skywave_wire::tcp::{Flags, Segment, TcpOptions, Timestamps};
use skywave_wire::{Ecn, Payload};

const INITIAL: u32 = u32::MAX - 1500;

/// A receiver whose peer is played by the test.
struct Script {
    now: Instant,
    receiver: Driven<Receiver>,
    deadline: Option<Instant>,
    peer_ack: u32,
}

impl Script {
    fn new(config: ReceiverConfig) -> Self {
        let ports = Ports {
            local: 2,
            remote: 1,
        };
        Self {
            now: Instant::ZERO,
            receiver: Driven::new(Receiver::new(config, ports, 3)),
            deadline: None,
            peer_ack: 0,
        }
    }

    /// A receiver with an established connection.
    fn connected(config: ReceiverConfig) -> Self {
        let mut script = Self::new(config);
        let answer = script.syn(Some(0));
        assert_eq!(answer.len(), 1);
        script
    }

    fn syn(&mut self, window_scale: Option<u8>) -> Vec<Segment> {
        let options = TcpOptions {
            mss: Some(1000),
            window_scale,
            ..TcpOptions::default()
        };
        let answer = self.receive(0, 0, Flags::SYN, options);
        if let Some(syn_ack) = answer
            .first()
            .filter(|answer| answer.flags.contains(Flags::SYN))
        {
            self.peer_ack = syn_ack.seq.wrapping_add(1);
        }
        answer
    }

    fn receive(
        &mut self,
        offset: u32,
        length: u32,
        flags: Flags,
        options: TcpOptions,
    ) -> Vec<Segment> {
        let segment = Segment {
            source_port: 1,
            destination_port: 2,
            seq: INITIAL.wrapping_add(offset),
            ack: self.peer_ack,
            flags,
            window: u16::MAX,
            checksum_offset: 0,
            identification: 0,
            options,
            payload: Payload::Synthetic(length),
        };
        let (sent, deadline) = self
            .receiver
            .receive(self.now, Ecn::NotEct, segment, drained);
        self.deadline = deadline;
        sent
    }

    /// Delivers a segment with a TSval and a TSecr.
    fn stamped(
        &mut self,
        offset: u32,
        length: u32,
        flags: Flags,
        (value, echo): (u32, u32),
    ) -> Vec<Segment> {
        let options = TcpOptions {
            sack_permitted: flags.contains(Flags::SYN),
            window_scale: flags.contains(Flags::SYN).then_some(0),
            timestamps: Some(Timestamps { value, echo }),
            ..TcpOptions::default()
        };
        self.receive(offset, length, flags, options)
    }

    /// Delivers 1000 bytes from `offset`. Returns the acknowledged offsets.
    fn data(&mut self, offset: u32) -> Vec<u32> {
        self.segment(offset, 1000, Flags::ACK)
    }

    fn segment(&mut self, offset: u32, length: u32, flags: Flags) -> Vec<u32> {
        acked(&self.receive(offset, length, flags, TcpOptions::default()))
    }

    fn wait(&mut self, time: Duration) -> Vec<u32> {
        self.now += time;
        if self.deadline.is_none_or(|deadline| deadline > self.now) {
            return Vec::new();
        }
        let (sent, deadline) = self.receiver.expire(self.now, drained);
        self.deadline = deadline;
        acked(&sent)
    }

    fn delivered(&self) -> u64 {
        self.receiver.get().stats().bytes_delivered
    }
}

/// The segments sent by the receiver, and its next deadline.
fn drained(mut drain: Drain<'_, Receiver>) -> Drained<(Vec<Segment>, Option<Instant>)> {
    let sent = std::iter::from_fn(|| drain.transmit())
        .map(|transmit| transmit.packet)
        .collect();
    drain.finish().map(|deadline| (sent, deadline))
}

fn acked(segments: &[Segment]) -> Vec<u32> {
    segments
        .iter()
        .map(|segment| segment.ack.wrapping_sub(INITIAL))
        .collect()
}

const fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn every_segment() -> ReceiverConfig {
    ReceiverConfig {
        delayed_ack: None,
        ..ReceiverConfig::default()
    }
}

#[test]
fn rfc9293_3_5_a_syn_is_answered_and_answered_again() {
    let mut script = Script::new(every_segment());
    assert!(script.data(1).is_empty(), "no connection yet");
    for _ in 0..2 {
        let answer = script.syn(Some(0));
        assert_eq!(answer.len(), 1);
        assert_eq!(answer[0].flags, Flags::SYN.union(Flags::ACK));
        assert_eq!(acked(&answer), [1]);
        assert_eq!(answer[0].options.mss, Some(1460));
    }
    script.segment(1, 0, Flags::ACK);
    // The connection is now established: an old SYN gets a plain acknowledgement.
    assert_eq!(script.syn(Some(0))[0].flags, Flags::ACK);
}

#[test]
fn rfc7323_2_the_window_is_scaled_only_where_both_ends_agree() {
    let config = ReceiverConfig {
        window: ReceiveWindow::Fixed(1 << 20),
        ..every_segment()
    };
    for (offered, announced) in [(Some(0), 1 << 20), (None, 65_535)] {
        let mut script = Script::new(config);
        let syn_ack = script.syn(offered).remove(0);
        assert_eq!(syn_ack.window, u16::MAX);
        assert_eq!(syn_ack.options.window_scale.is_some(), offered.is_some());
        let ack = script
            .receive(1, 1000, Flags::ACK, TcpOptions::default())
            .remove(0);
        let shift = syn_ack.options.window_scale.unwrap_or(0);
        assert_eq!(u32::from(ack.window) << shift, announced);
    }
}

/// RFC 9293 section 3.10.7.2: only a SYN without ACK or RST opens a connection.
#[test]
fn rfc9293_3_10_7_2_a_listener_answers_only_a_syn() {
    for more in [Flags::default(), Flags::ACK, Flags::RST, Flags::FIN] {
        let mut script = Script::new(every_segment());
        assert!(script.segment(0, 0, more).is_empty(), "{more:?}");
        let answer = script.receive(0, 0, Flags::SYN.union(more), TcpOptions::default());
        let opens = more == Flags::default() || more == Flags::FIN;
        assert_eq!(!answer.is_empty(), opens, "SYN and {more:?}");
    }
}

#[test]
fn what_arrives_and_is_acknowledged_is_counted() {
    let mut script = Script::connected(every_segment());
    for offset in [1, 1001, 1, 5001, 3001, 5001] {
        script.data(offset);
    }
    script.segment(2001, 0, Flags::ACK);
    let stats = script.receiver.get().stats();
    assert_eq!((stats.segments_received, stats.bytes_delivered), (6, 2000));
    assert_eq!((stats.duplicates, stats.out_of_order), (2, 2));
    assert_eq!(stats.acks_sent, 7, "a SYN-ACK, and one for each segment");
}

/// An autotuned window is first adjusted a round trip after the handshake, which took 100 ms.
#[test]
fn the_handshake_tells_when_the_first_round_trip_is_over() {
    let mut script = Script::connected(ReceiverConfig {
        window: ReceiveWindow::Autotuned { max: 1 << 20 },
        ..every_segment()
    });
    script.now += millis(100);
    script.segment(1, 0, Flags::ACK);
    let mut announced = |offset, after| {
        script.now += millis(after);
        let answer = script.receive(offset, 1000, Flags::ACK, TcpOptions::default());
        answer[0].window
    };
    let first = announced(1, 0);
    for index in 1..=20 {
        assert_eq!(announced(1 + 1000 * index, 4), first, "{index}");
    }
    assert!(announced(21_001, 20) > first);
}

#[test]
fn rfc5681_3_2_every_segment_out_of_order_is_answered_with_a_duplicate_acknowledgement() {
    for config in [every_segment(), ReceiverConfig::default()] {
        let mut script = Script::connected(config);
        for offset in [1001, 3001, 2001, 6001] {
            assert_eq!(script.data(offset), [1]);
        }
        assert_eq!(script.delivered(), 0);
        assert_eq!(script.receiver.get().stats().out_of_order, 4);
    }
}

#[test]
fn rfc5681_4_2_filling_a_gap_is_acknowledged_at_once() {
    let mut script = Script::connected(ReceiverConfig::default());
    for offset in [1001, 2001, 5001] {
        script.data(offset);
    }
    assert_eq!(script.data(1), [3001]);
    assert_eq!(script.data(3001), [4001], "fills the first part of a gap");
    assert_eq!(script.data(4001), [6001]);
    assert_eq!(script.delivered(), 6000);
    // In order again, so acknowledgements are delayed again.
    assert!(script.data(6001).is_empty());
}

#[test]
fn rfc5681_4_2_in_order_every_second_segment_is_acknowledged() {
    let mut script = Script::connected(ReceiverConfig::default());
    let mut acks = Vec::new();
    for index in 0..100 {
        acks.extend(script.data(1 + 1000 * index));
    }
    let expected: Vec<u32> = (1..=50).map(|pair| 1 + 2000 * pair).collect();
    assert_eq!(acks, expected);
    assert!(
        script.wait(millis(10_000)).is_empty(),
        "nothing is left to acknowledge"
    );
}

/// Linux's quick acknowledgements. A duplicate begins them anew, and an acknowledgement of data out of
/// order is one of them.
#[test]
fn the_first_segments_and_those_from_a_duplicate_on_are_acknowledged_at_once() {
    let mut script = Script::connected(ReceiverConfig {
        quick_acks: 3,
        window: ReceiveWindow::Fixed(1 << 20),
        ..ReceiverConfig::default()
    });
    let mut data = |number: u32| script.data(1 + 1000 * number);
    assert_eq!([data(0), data(1), data(2)], [[1001], [2001], [3001]]);
    assert!(data(3).is_empty());
    assert_eq!(data(4), [5001]);

    assert_eq!(data(4), [5001], "a duplicate");
    assert_eq!([data(6), data(5)], [[5001], [7001]]);
    assert!(data(7).is_empty());
}

#[test]
fn rfc5681_4_2_a_single_segment_is_acknowledged_within_half_a_second() {
    for (configured, applied) in [(millis(200), 200), (millis(2000), 500)] {
        let config = ReceiverConfig {
            delayed_ack: Some(configured),
            ..ReceiverConfig::default()
        };
        let mut script = Script::connected(config);
        assert!(script.data(1).is_empty());
        assert!(script.wait(millis(applied - 1)).is_empty());
        assert_eq!(script.wait(millis(1)), [1001]);
        assert!(script.wait(millis(10_000)).is_empty());
    }
}

#[test]
fn rfc9293_3_10_7_4_what_is_not_acceptable_is_answered_with_the_present_state() {
    let mut script = Script::connected(ReceiverConfig {
        window: ReceiveWindow::Fixed(5000),
        ..every_segment()
    });
    assert_eq!(script.data(1), [1001]);
    assert_eq!(script.data(1), [1001], "a duplicate");
    assert_eq!(
        script.segment(1, 0, Flags::ACK),
        [1001],
        "an empty segment out of place"
    );
    assert!(
        script.segment(1001, 0, Flags::ACK).is_empty(),
        "and one in its place"
    );
    // The window ends at 6001: part of a segment is accepted, then nothing.
    assert_eq!(script.data(5501), [1001]);
    assert_eq!(script.data(6001), [1001]);
    for offset in [1001, 2001, 3001] {
        script.data(offset);
    }
    assert_eq!(script.data(4001), [5001]);
    assert_eq!(script.segment(5001, 500, Flags::ACK), [6001]);
    assert_eq!(script.delivered(), 6000);
    // Segments that acknowledge something never sent, or nothing.
    script.peer_ack = script.peer_ack.wrapping_add(1);
    assert!(script.data(6001).is_empty());
    assert!(script.segment(6001, 1000, Flags::default()).is_empty());
    assert_eq!(script.delivered(), 6000);
}

#[test]
fn rfc9293_3_6_a_fin_is_acknowledged_once_everything_before_it_has_come() {
    let mut script = Script::connected(ReceiverConfig::default());
    assert_eq!(
        script.segment(1001, 1000, Flags::ACK.union(Flags::FIN)),
        [1]
    );
    assert!(!script.receiver.get().is_finished());
    assert_eq!(script.data(1), [2002]);
    assert!(script.receiver.get().is_finished());
    assert_eq!(script.delivered(), 2000);
    assert_eq!(
        script.segment(2001, 0, Flags::ACK.union(Flags::FIN)),
        [2002],
        "again"
    );
    assert_eq!(script.delivered(), 2000);
}

#[test]
fn rfc9293_3_10_7_4_a_reset_in_its_place_ends_the_connection() {
    let mut script = Script::connected(every_segment());
    script.data(1);
    script.segment(5001, 0, Flags::RST);
    assert_eq!(script.data(1001), [2001]);
    script.segment(2001, 0, Flags::RST);
    assert!(script.data(2001).is_empty());
}

#[test]
fn reassembly_uses_the_heap_only_for_gaps_and_keeps_what_it_has() {
    let mut script = Script::connected(every_segment());
    let heap_size = |script: &Script| script.receiver.get().heap_size();
    script.data(1);
    let without_gaps = heap_size(&script);
    for gap in 1..100 {
        script.data(1001 + 2000 * gap);
    }
    let size = heap_size(&script) - without_gaps;
    assert!((1..=128 * 16).contains(&size), "{size}");
}

/// RFC 2018 section 4: segments of 500 bytes, the first with sequence number 5000 there and offset
/// 1 here. Returns an acknowledgement's number and its blocks.
fn sacks(script: &mut Script, rfc: u32) -> (u32, Vec<(u32, u32)>) {
    let answer = script.receive(rfc - 4999, 500, Flags::ACK, TcpOptions::default());
    let number = |seq: u32| seq.wrapping_sub(INITIAL) + 4999;
    let blocks = answer[0].options.sack.iter();
    (
        number(answer[0].ack),
        blocks
            .map(|block| (number(block.left), number(block.right)))
            .collect(),
    )
}

fn with_sack() -> Script {
    let mut script = Script::new(every_segment());
    let options = TcpOptions {
        sack_permitted: true,
        ..TcpOptions::default()
    };
    let answer = script.receive(0, 0, Flags::SYN, options);
    assert!(answer[0].options.sack_permitted);
    script.peer_ack = answer[0].seq.wrapping_add(1);
    script
}

#[test]
fn rfc2018_4_case_1_in_order_there_is_nothing_to_sack() {
    let mut script = with_sack();
    for segment in [5000, 5500, 6000, 6500] {
        assert_eq!(sacks(&mut script, segment), (segment + 500, vec![]));
    }
}

#[test]
fn rfc2018_4_case_2_one_block_that_grows() {
    let mut script = with_sack();
    for segment in [5500, 6000, 6500, 7000, 7500, 8000, 8500] {
        let blocks = vec![(5500, segment + 500)];
        assert_eq!(sacks(&mut script, segment), (5000, blocks));
    }
}

#[test]
fn rfc2018_4_case_3_the_most_recent_block_first() {
    let mut script = with_sack();
    assert_eq!(sacks(&mut script, 5000), (5500, vec![]));
    let mut blocks = vec![];
    for segment in [6000, 7000, 8000] {
        blocks.insert(0, (segment, segment + 500));
        assert_eq!(sacks(&mut script, segment), (5500, blocks.clone()));
    }
    let blocks = vec![(6000, 7500), (8000, 8500)];
    assert_eq!(sacks(&mut script, 6500), (5500, blocks));
    assert_eq!(sacks(&mut script, 5500), (7500, vec![(8000, 8500)]));
    // A duplicate of SACKed data moves its block to the front again.
    assert_eq!(sacks(&mut script, 9000).1, [(9000, 9500), (8000, 8500)]);
    assert_eq!(sacks(&mut script, 8000).1, [(8000, 8500), (9000, 9500)]);
}

#[test]
fn rfc2018_3_four_blocks_have_room_and_none_are_sent_unasked() {
    let mut script = with_sack();
    for gap in 0..6 {
        sacks(&mut script, 6000 + 1000 * gap);
    }
    let blocks = vec![
        (12_000, 12_500),
        (11_000, 11_500),
        (10_000, 10_500),
        (9000, 9500),
    ];
    assert_eq!(sacks(&mut script, 12_000), (5000, blocks));
    let mut script = Script::connected(every_segment());
    assert_eq!(sacks(&mut script, 6000), (5000, vec![]));
}

/// SACK is permitted by a receiver that can send blocks, to a sender that has permitted it.
#[test]
fn rfc2018_2_sack_is_permitted_by_both_ends_or_not_at_all() {
    for (sack_blocks, sack_permitted) in [(0, false), (0, true), (3, false), (3, true)] {
        let mut script = Script::new(ReceiverConfig {
            sack_blocks,
            ..every_segment()
        });
        let options = TcpOptions {
            sack_permitted,
            ..TcpOptions::default()
        };
        let answer = script.receive(0, 0, Flags::SYN, options).remove(0);
        let permits = sack_blocks > 0 && sack_permitted;
        assert_eq!(answer.options.sack_permitted, permits, "{sack_blocks}");
    }
}

/// Linux's `tcp_grow_window`: a window that grows with each segment has each one acknowledged, and
/// these acknowledgements take hardly any of the other quick ones.
#[test]
fn segments_that_make_the_window_grow_are_acknowledged_at_once() {
    let mut script = Script::connected(ReceiverConfig {
        quick_acks: 4,
        ..ReceiverConfig::default()
    });
    let acked = (0..20).map(|number| script.data(1 + 1000 * number).len());
    let acked: Vec<usize> = acked.collect();
    // From 64,512 to 80,384 bytes in steps of 2920: six segments. Then the other four.
    assert_eq!(acked[..10], [1; 10]);
    assert_eq!(acked[10..], [0, 1, 0, 1, 0, 1, 0, 1, 0, 1]);
}

/// As Linux does: a sender that has nothing more to send would wait for the timer.
#[test]
fn a_pushed_segment_is_acknowledged_at_once() {
    for (quick_acks, expected) in [(1, vec![2001]), (0, vec![])] {
        let mut script = Script::connected(ReceiverConfig {
            quick_acks,
            window: ReceiveWindow::Fixed(1 << 20),
            ..ReceiverConfig::default()
        });
        script.data(1);
        script.wait(millis(500));
        let acked = script.segment(1001, 1000, Flags::ACK.union(Flags::PSH));
        assert_eq!(acked, expected);
    }
}

/// A receiver with timestamps, a clock that starts at zero, and the peer's timestamp of the SYN.
fn with_timestamps(config: ReceiverConfig) -> (Script, u32) {
    let mut script = Script::new(ReceiverConfig {
        timestamps: true,
        ..config
    });
    let answer = script.stamped(0, 0, Flags::SYN, (500, 0));
    let syn_ack = answer.first().expect("a SYN-ACK");
    script.peer_ack = syn_ack.seq.wrapping_add(1);
    let Timestamps { value, echo } = syn_ack.options.timestamps.expect("timestamps");
    assert_eq!(echo, 500);
    (script, value)
}

#[test]
fn rfc7323_3_2_without_a_timestamp_a_segment_is_dropped() {
    let (mut script, _) = with_timestamps(ReceiverConfig::default());
    assert!(script.data(1).is_empty());
    assert_eq!(script.delivered(), 0);
    assert!(script.stamped(1, 1000, Flags::ACK, (501, 0)).is_empty());
    assert_eq!(script.delivered(), 1000);
}

/// Without the option in the SYN there is none in any segment.
#[test]
fn rfc7323_3_2_a_syn_without_timestamps_gets_none() {
    let mut script = Script::new(ReceiverConfig {
        timestamps: true,
        ..every_segment()
    });
    let answer = script.syn(Some(0));
    assert_eq!(answer[0].options.timestamps, None);
    assert_eq!(answer[0].options.mss, Some(1460));
    let answer = script.receive(1, 1000, Flags::ACK, TcpOptions::default());
    assert_eq!(answer[0].options.timestamps, None);
}

/// The three examples of the section.
#[test]
fn rfc7323_4_3_which_timestamp_is_echoed() {
    let echoes = |segments: &[Segment]| -> Vec<u32> {
        let stamps = segments.iter().filter_map(|it| it.options.timestamps);
        stamps.map(|stamps| stamps.echo).collect()
    };
    let (mut script, _) = with_timestamps(ReceiverConfig::default());
    let mut send = |offset, value| echoes(&script.stamped(offset, 1000, Flags::ACK, (value, 0)));
    // Delayed: that of the first unacknowledged segment.
    assert!(send(1, 501).is_empty());
    assert_eq!(send(1001, 502), [501]);
    // A gap: that of the last segment which advanced; then that of the one which fills the gap.
    assert_eq!(send(3001, 504), [501]);
    assert_eq!(send(2001, 503), [503]);
    // Two gaps, filled from the left.
    assert_eq!(send(5001, 506), [503]);
    assert_eq!(send(7001, 508), [503]);
    assert_eq!(send(4001, 509), [509]);
    assert_eq!(send(6001, 510), [510]);
}

#[test]
fn rfc7323_5_3_an_old_duplicate_is_dropped_and_answered() {
    let (mut script, _) = with_timestamps(every_segment());
    script.stamped(1, 1000, Flags::ACK, (600, 0));
    let answer = script.stamped(1001, 1000, Flags::ACK, (599, 0));
    assert_eq!(acked(&answer), [1001]);
    assert_eq!(script.delivered(), 1000);
    script.stamped(1001, 1000, Flags::ACK, (600, 0));
    assert_eq!(script.delivered(), 2000);
}

/// After a reset, another connection may begin with any timestamp.
#[test]
fn rfc7323_5_3_an_earlier_connection_makes_no_duplicates() {
    let (mut script, _) = with_timestamps(every_segment());
    script.stamped(1, 1000, Flags::ACK, (600, 0));
    script.receive(1001, 0, Flags::RST, TcpOptions::default());
    // One without timestamps, and one with.
    let syn_ack = script.syn(None).remove(0);
    assert_eq!(syn_ack.options.timestamps, None);
    script.receive(1, 0, Flags::RST, TcpOptions::default());
    let answer = script.stamped(0, 0, Flags::SYN, (10, 0));
    let syn_ack = answer.first().expect("a SYN-ACK");
    assert_eq!(syn_ack.options.timestamps.map(|it| it.echo), Some(10));
    script.peer_ack = syn_ack.seq.wrapping_add(1);
    assert_eq!(acked(&script.stamped(1, 1000, Flags::ACK, (11, 0))), [1001]);
}

/// A retransmission has overtaken the original, which is then reported as a duplicate (RFC 2883).
#[test]
fn an_old_duplicate_is_reported() {
    let (mut script, _) = with_timestamps(ReceiverConfig {
        dsack: true,
        ..every_segment()
    });
    script.stamped(1, 1000, Flags::ACK, (700, 0));
    let answer = script.stamped(1, 1000, Flags::ACK, (600, 0));
    assert_eq!(answer[0].options.sack.len(), 1);
}

/// 40 bytes of options hold timestamps and three SACK blocks (RFC 7323 appendix A).
#[test]
fn timestamps_leave_room_for_three_sack_blocks() {
    let (mut script, _) = with_timestamps(every_segment());
    let mut blocks = 0;
    for gap in 1..6 {
        let answer = script.stamped(1 + 2000 * gap, 1000, Flags::ACK, (600, 0));
        blocks = answer[0].options.sack.len();
        assert!(answer[0].options.encoded_len() <= 40);
    }
    assert_eq!(blocks, 3);
}

/// The receiver times round trips by its own timestamps: data that arrives in less than one does not
/// count as a round trip's.
#[test]
fn timestamps_time_the_round_trips_by_which_the_window_grows() {
    let window = |echoes: bool| {
        let (mut script, syn_ack) = with_timestamps(every_segment());
        let mut last = 0;
        for number in 1..=60 {
            script.now += millis(2);
            // Each segment answers an acknowledgement of 100 ms ago.
            let sent = syn_ack.wrapping_add(2 * number).wrapping_sub(100);
            let echo = if echoes { sent } else { syn_ack };
            let offset = 1 + 1000 * (number - 1);
            let answer = script.stamped(offset, 1000, Flags::ACK, (600, echo));
            last = u32::from(answer[0].window) << 10;
        }
        last
    };
    // The handshake took 2 ms.
    assert_eq!(window(false), 64_512);
    // 51,000 bytes after 14,600: 125,360, and twice 125,360 * 36,400 / 14,600, in whole KiB.
    assert_eq!(window(true), 732 << 10);
}
