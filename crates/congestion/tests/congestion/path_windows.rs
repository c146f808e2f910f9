//! Each control alone on a path, round by round, compared with `path_windows.txt`: 2000 packets per
//! second, a drop-tail buffer, every packet acknowledged, and a loss detected when its packet would
//! have been acknowledged.
//!
//! A change of behaviour shows as a difference from that table. To accept it, replace the file with
//! the output of the failing test.

use std::collections::VecDeque;

use serde_json::json;
use skywave_congestion::{
    Ack, AckedPacket, Aimd, AimdConfig, AnyControl, Control, ControlContext, Cubic, CubicConfig,
    Mark, MarkedPackets, Vegas, VegasConfig, built_in_controls,
};
use skywave_units::{Duration, Instant};
use skywave_wire::Ecn;

use crate::support::{loss, sent};

const SERVICE: Duration = Duration::from_micros(500);
/// The number of rounds (of the path's own round-trip time) between two columns, and the number of
/// columns.
const STEP: u64 = 4;
const COLUMNS: u64 = 20;
/// A threshold that no buffer reaches.
const NO_MARKS: u64 = 1_000_000;

/// Round-trip times in milliseconds, and buffers in packets.
const PATHS: [(u64, u64); 5] = [(20, 10), (20, 40), (100, 50), (100, 200), (500, 500)];

#[derive(Clone, Copy)]
struct Packet {
    number: u64,
    sent_at: Instant,
    acked_at: Instant,
    is_lost: bool,
    is_marked: bool,
}

type NewWindow = fn() -> AnyControl;

/// Returns a built-in control with its default parameters, in TCP's profile `linux` or not.
fn built_in(name: &str, linux: bool) -> AnyControl {
    let read = built_in_controls().read(name, &json!({}));
    read.unwrap().member.build(&ControlContext {
        packet_size: 1000,
        initial_cwnd: 4.0,
        initial_ssthresh: f64::INFINITY,
        ns2: false,
        linux,
    })
}

/// cwnd at the start and after every [`STEP`] rounds. Packets that more than `threshold` others
/// precede in the buffer are marked.
fn windows(mut window: AnyControl, rtt: Duration, buffer: u64, threshold: u64) -> Vec<f64> {
    let mut now = Instant::ZERO;
    let mut free_at = now;
    let mut flight = VecDeque::<Packet>::new();
    let mut next = 0;
    let mut reduced_before = 0;
    let mut list = vec![];
    loop {
        while now >= Instant::ZERO + rtt * (STEP * list.len() as u64) {
            list.push(window.cwnd());
            if list.len() as u64 > COLUMNS {
                return list;
            }
        }
        while (flight.len() as f64) < window.cwnd().floor() {
            let wait = free_at.max(now) - now;
            let is_lost = wait > SERVICE * buffer;
            if !is_lost {
                free_at = free_at.max(now) + SERVICE;
            }
            flight.push_back(Packet {
                number: next,
                sent_at: now,
                acked_at: free_at.max(now) + rtt,
                is_lost,
                is_marked: wait > SERVICE * threshold,
            });
            next += 1;
            window.on_sent(&sent(now, flight.len() as u32));
        }
        let Some(packet) = flight.pop_front() else {
            return list;
        };
        now = now.max(packet.acked_at);
        if packet.is_lost {
            if packet.number >= reduced_before {
                window.on_loss(&loss(now, flight.len() as u32 + 1));
                reduced_before = next;
            }
            continue;
        }
        let ecn = if packet.is_marked {
            Ecn::Ce
        } else {
            Ecn::NotEct
        };
        window.on_packet_acked(&AckedPacket::new(packet.number, packet.sent_at, 1, ecn));
        if packet.is_marked {
            window.on_packets_marked(&MarkedPackets::new(now, 1, None));
        }
        let mut ack = Ack::new(now, 1, flight.len() as u32);
        ack.rtt = Some(now - packet.sent_at);
        ack.ecn_echo = packet.is_marked;
        window.on_ack(&ack);
        if packet.is_marked && packet.number >= reduced_before {
            window.on_mark(&Mark::new(now, flight.len() as u32, 1));
            reduced_before = next;
        }
    }
}

/// A line of the table.
fn row(window: AnyControl, rtt_ms: u64, buffer: u64, threshold: u64) -> String {
    let rtt = Duration::from_millis(rtt_ms);
    windows(window, rtt, buffer, threshold)
        .iter()
        .map(|cwnd| format!(" {cwnd:6.1}"))
        .collect()
}

fn table() -> String {
    let controls: [(&str, NewWindow); 3] = [
        ("Reno, RFC 5681", || {
            Aimd::new(AimdConfig::rfc5681(1000)).into()
        }),
        ("CUBIC, RFC 9438", || {
            AnyControl::new(Cubic::new(CubicConfig::rfc9438(1000)))
        }),
        ("Vegas", || {
            AnyControl::new(Vegas::new(VegasConfig::new(4.0)))
        }),
    ];
    let mut text = format!("cwnd in packets, at the start and after each {STEP} rounds\n");
    for (name, new_window) in controls {
        text += &format!("\n{name}\n");
        for (rtt_ms, buffer) in PATHS {
            let row = row(new_window(), rtt_ms, buffer, NO_MARKS);
            text += &format!("  {rtt_ms:>3} ms, buffer {buffer:>3}{row}\n");
        }
    }
    for name in ["htcp", "hybla", "illinois", "westwood"] {
        for linux in [false, true] {
            let profile = if linux { ", Linux" } else { "" };
            text += &format!("\n{name}{profile}\n");
            for (rtt_ms, buffer) in PATHS {
                let row = row(built_in(name, linux), rtt_ms, buffer, NO_MARKS);
                text += &format!("  {rtt_ms:>3} ms, buffer {buffer:>3}{row}\n");
            }
        }
    }
    for linux in [false, true] {
        let profile = if linux { ", Linux" } else { "" };
        text += &format!("\ndctcp{profile}\n");
        for (rtt_ms, threshold) in [(1, 5), (1, 20), (20, 10), (20, 40), (100, 50)] {
            let row = row(built_in("dctcp", linux), rtt_ms, 1000, threshold);
            text += &format!("  {rtt_ms:>3} ms, marks  {threshold:>3}{row}\n");
        }
    }
    text
}

#[test]
fn windows_are_those_of_the_table() {
    let actual = table();
    assert!(
        actual == include_str!("path_windows.txt"),
        "path_windows.txt should be:\n{actual}"
    );
}
