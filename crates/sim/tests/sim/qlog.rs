//! qlog files of flows, read back by the library that defines the format.

use std::collections::BTreeSet;
use std::io::{self, Cursor, Write};

use qlog::events::quic::{AckedRanges, PacketType, QuicFrame};
use qlog::events::{Event as Logged, EventData};
use qlog::reader::{Event as Read, QlogSeqReader};
use skywave_sim::{
    EndStats, Event, HostView, Observer, PacketView, Registry, RunError, RunOptions, Scenario,
    run_observed,
};
use skywave_units::{Duration, Instant};

use crate::support::SharedFile;

/// A scenario in which two DCCP flows and one of TCP lose packets; `dccp` is what one of them adds.
fn scenario(dccp: &str) -> Scenario {
    let text = format!(
        r#"
        name = "logged"
        duration = "20 s"
        dumbbell = {{ pairs = 1, rate = "1 Mbps", delay = "20 ms", queue = {{ drop-tail = {{ packets = 5 }} }}, loss = {{ bernoulli = {{ probability = 0.1 }} }}, access_rate = "10 Mbps", access_delays = ["1 ms"] }}
        flows = [
            {{ name = "dccp", from = "s1", to = "d1", transport = {{ dccp = {{ {dccp} }} }}, source = {{ ftp = {{ datagram = "500 B" }} }} }},
            {{ name = "tcp", from = "s1", to = "d1", transport = {{ tcp = {{}} }}, source = {{ ftp = {{}} }} }},
        ]
        "#
    );
    Scenario::from_toml(&text, &Registry::default()).unwrap()
}

/// What the sender of a flow did and saw, by the simulator itself.
#[derive(Default)]
struct Witness {
    flow: usize,
    /// The time, number and size of each packet that it sent.
    sent: Vec<(Instant, u64, u32)>,
    dropped: BTreeSet<u64>,
    received: usize,
    /// Every state of its congestion control.
    states: Vec<(Instant, EndStats)>,
}

impl Observer for Witness {
    fn packet(&mut self, now: Instant, event: Event, packet: PacketView<'_>) {
        if packet.flow().index() != self.flow {
            return;
        }
        match event {
            Event::Send if packet.is_forward() => {
                self.sent.push((now, packet.seq(), packet.data()));
            }
            Event::Drop { .. } if packet.is_forward() => {
                self.dropped.insert(packet.seq());
            }
            Event::Receive if !packet.is_forward() => self.received += 1,
            _ => {}
        }
    }

    fn settled(&mut self, now: Instant, host: HostView<'_>) {
        if host.id().is_sender() && host.id().flow().index() == self.flow {
            self.states.push((now, host.stats()));
        }
    }
}

/// Runs a scenario and returns the log of a flow, and what really happened.
fn logged(scenario: &Scenario, flow: &str) -> (Vec<Logged>, Witness) {
    let file = SharedFile::default();
    let options = RunOptions {
        qlogs: vec![(flow.to_owned(), Box::new(file.clone()))],
        ..RunOptions::default()
    };
    let index = scenario.flows.iter().position(|known| known.name == flow);
    let mut witness = Witness {
        flow: index.unwrap(),
        ..Witness::default()
    };
    run_observed(
        scenario,
        &Registry::default(),
        options,
        &mut witness,
        |_| true,
    )
    .unwrap();
    let bytes = file.bytes();
    let records = bytes.iter().filter(|&&byte| byte == 0x1e).count();
    let mut reader = QlogSeqReader::new(Box::new(Cursor::new(with_end(bytes)))).unwrap();
    assert_eq!(reader.qlog.qlog_version, "0.3", "the one that qvis reads");
    assert_eq!(reader.qlog.trace.title.as_deref(), Some(flow));
    let events: Vec<_> = reader
        .by_ref()
        .map(|event| match event {
            Read::Qlog(event) => event,
            Read::Json(event) => panic!("not of qlog: {event:?}"),
        })
        .collect();
    assert_eq!(events.len() + 1, records, "every record is read");
    (events, witness)
}

/// The reader takes a record for complete when the next one begins.
fn with_end(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.push(0x1e);
    bytes
}

/// In milliseconds. The reader keeps fewer digits than the file has.
fn is_at(event: &Logged, at: Instant) -> bool {
    (f64::from(event.time) - at.as_secs_f64() * 1e3).abs() < 0.01
}

fn extension<'a>(event: &'a Logged, name: &str) -> &'a str {
    event.ex_data["skywave"][name].as_str().unwrap()
}

#[test]
fn every_packet_that_a_sender_sends_is_logged_once() {
    let (events, witness) = logged(&scenario(""), "dccp");
    let mut sent = witness.sent.iter();
    let mut before = None;
    let mut acked = BTreeSet::new();
    let mut received = 0;
    for event in &events {
        match &event.data {
            EventData::PacketSent(packet) => {
                let &(at, number, data) = sent.next().expect("it was sent");
                assert!(is_at(event, at), "{event:?} at {at}");
                assert_eq!(packet.header.packet_type, PacketType::OneRtt);
                assert_eq!(packet.header.packet_number, Some(number));
                assert!(before < Some(number), "numbers increase");
                before = Some(number);
                let raw = packet.raw.as_ref().unwrap();
                assert_eq!(raw.payload_length, Some(u64::from(data)));
                assert!(raw.length > raw.payload_length);
                assert!(extension(event, "type").starts_with("DCCP-"));
            }
            EventData::PacketReceived(packet) => {
                received += 1;
                for frame in packet.frames.iter().flatten() {
                    if let QuicFrame::Ack { acked_ranges, .. } = frame {
                        acked.extend(numbers(acked_ranges.as_ref().unwrap()));
                    }
                }
            }
            _ => {}
        }
    }
    assert_eq!(sent.next(), None, "no packet is missing");
    assert_eq!(received, witness.received);
    let types: BTreeSet<_> = events
        .iter()
        .filter(|event| event.ex_data.contains_key("skywave"))
        .map(|event| extension(event, "type"))
        .collect();
    assert!(
        types.contains("DCCP-Request") && types.contains("DCCP-Data"),
        "{types:?}"
    );
    assert!(
        types.contains("DCCP-Response") && types.contains("DCCP-Ack"),
        "{types:?}"
    );
    // Ack Vectors report the packets that have arrived, and no others.
    let numbers: BTreeSet<u64> = witness.sent.iter().map(|&(_, number, _)| number).collect();
    assert!(acked.is_subset(&numbers) && acked.is_disjoint(&witness.dropped));
    let late = witness.sent.last().unwrap().0 - Duration::from_secs(2);
    for &(at, number, _) in witness.sent.iter().filter(|(at, ..)| *at < late) {
        let is_known = acked.contains(&number) || witness.dropped.contains(&number);
        assert!(is_known, "{number}, sent at {at}");
    }
    assert!(!witness.dropped.is_empty());
}

fn numbers(ranges: &AckedRanges) -> BTreeSet<u64> {
    match ranges {
        AckedRanges::Double(ranges) => ranges
            .iter()
            .flat_map(|&(first, last)| first..=last)
            .collect(),
        AckedRanges::Single(ranges) => ranges
            .iter()
            .flat_map(|range| range[0]..=range[1])
            .collect(),
    }
}

#[test]
fn metrics_are_those_of_congestion_control() {
    for (flow, dccp) in [("dccp", ""), ("tcp", "")] {
        let (events, witness) = logged(&scenario(dccp), flow);
        let mut changes: Vec<(Instant, EndStats)> = Vec::new();
        for (at, stats) in witness.states {
            let state = |stats: &EndStats| {
                let EndStats {
                    cwnd,
                    ssthresh,
                    pipe,
                    srtt,
                    timeouts,
                    ..
                } = *stats;
                (cwnd, ssthresh, pipe, srtt, timeouts)
            };
            if changes
                .last()
                .is_none_or(|(_, last)| state(last) != state(&stats))
            {
                changes.push((at, stats));
            }
        }
        let mut changes = changes.into_iter();
        let size = witness.sent.iter().map(|&(_, _, data)| data).max();
        let size = f64::from(size.unwrap());
        let (mut timeouts, mut latest) = (0, 0);
        for event in &events {
            match &event.data {
                EventData::MetricsUpdated(metrics) => {
                    let (at, stats) = changes.next().expect("it changed");
                    assert!(is_at(event, at));
                    latest = stats.timeouts;
                    let cwnd = metrics.ex_data["cwnd_packets"].as_f64().unwrap();
                    // The reader of numbers may be off by one bit.
                    assert!((cwnd - stats.cwnd).abs() < 1e-9);
                    assert_eq!(metrics.packets_in_flight, Some(u64::from(stats.pipe)));
                    if stats.bytes_sent > 0 {
                        let bytes = (stats.cwnd * size).round() as u64;
                        assert_eq!(metrics.congestion_window, Some(bytes));
                    }
                    assert_eq!(
                        metrics.ssthresh.is_some(),
                        stats.ssthresh.is_finite() && stats.bytes_sent > 0
                    );
                    let srtt = stats.srtt.map(|srtt| (srtt.as_secs_f64() * 1e3) as f32);
                    assert_eq!(metrics.smoothed_rtt, srtt);
                }
                EventData::LossTimerUpdated(_) => timeouts += 1,
                _ => {}
            }
        }
        assert!(changes.next().is_none(), "no change is missing");
        assert!(timeouts > 0, "it loses much");
        assert_eq!(timeouts, latest);
    }
}

#[test]
fn a_rate_is_logged_in_bits_per_second() {
    let (events, witness) = logged(&scenario("ccid = 3"), "dccp");
    let rates: Vec<u64> = witness
        .states
        .iter()
        .filter_map(|(_, stats)| Some(stats.rate?.rate.as_bps()))
        .collect();
    let mut count = 0;
    for event in &events {
        // Before CCIDs are agreed, there is a window.
        if let EventData::MetricsUpdated(metrics) = &event.data
            && let Some(rate) = metrics.pacing_rate
        {
            assert_eq!(metrics.congestion_window, None);
            assert!(rates.contains(&rate));
            count += 1;
        }
    }
    assert!(count > 10);
}

// RFC 4340 section 7.6: the log has the whole numbers of packets that state 24 bits.
#[test]
fn short_numbers_are_extended() {
    let (events, _) = logged(&scenario("short_seqnos = true"), "dccp");
    let mut latest = None;
    for event in &events {
        if let EventData::PacketSent(packet) = &event.data {
            let number = packet.header.packet_number.unwrap();
            if let Some(latest) = latest {
                assert_eq!(number, latest + 1);
            }
            latest = Some(number);
        }
    }
    assert!(
        latest.unwrap() >= 1 << 24,
        "a number that 24 bits cannot hold"
    );
}

#[test]
fn a_log_of_an_unknown_flow_is_refused() {
    let options = RunOptions {
        qlogs: vec![("udp".to_owned(), Box::new(io::sink()))],
        ..RunOptions::default()
    };
    let refused = run_observed(
        &scenario(""),
        &Registry::default(),
        options,
        &mut (),
        |_| true,
    );
    let message = refused.err().unwrap().to_string();
    assert_eq!(
        message,
        r#"there is no flow "udp" to log; flows are dccp, tcp"#
    );
}

/// A disk with room for so many bytes.
struct Full(usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(self.0);
        self.0 -= taken;
        match taken {
            0 => Err(io::ErrorKind::StorageFull.into()),
            taken => Ok(taken),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_log_that_cannot_be_written_is_an_error() {
    for room in [0, 10_000] {
        let options = RunOptions {
            qlogs: vec![("dccp".to_owned(), Box::new(Full(room)))],
            ..RunOptions::default()
        };
        let run = run_observed(
            &scenario(""),
            &Registry::default(),
            options,
            &mut (),
            |_| true,
        );
        assert!(matches!(run, Err(RunError::Qlog { flow, .. }) if flow == "dccp"));
    }
}
