//! Each control alone on a path, round by round, compared with `path_windows.txt`: 2000 packets per
//! second, a drop-tail buffer, every packet acknowledged, and a loss detected when its packet would
//! have been acknowledged.
//!
//! A change of behaviour shows as a difference from that table. To accept it, replace the file with
//! the output of the failing test.

use std::collections::VecDeque;

use skywave_congestion::{
    Ack, AckedPacket, Aimd, AimdConfig, AnyControl, Control, Cubic, CubicConfig, Vegas, VegasConfig,
};
use skywave_units::{Duration, Instant};
use skywave_wire::Ecn;

use crate::support::{loss, sent};

const SERVICE: Duration = Duration::from_micros(500);
/// The number of rounds (of the path's own round-trip time) between two columns, and the number of
/// columns.
const STEP: u64 = 4;
const COLUMNS: u64 = 20;

#[derive(Clone, Copy)]
struct Packet {
    number: u64,
    sent_at: Instant,
    acked_at: Instant,
    is_lost: bool,
}

type NewWindow = fn() -> AnyControl;

/// cwnd at the start and after every [`STEP`] rounds.
fn windows(mut window: AnyControl, rtt: Duration, buffer: u64) -> Vec<f64> {
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
        window.on_packet_acked(&AckedPacket::new(
            packet.number,
            packet.sent_at,
            1,
            Ecn::NotEct,
        ));
        let mut ack = Ack::new(now, 1, flight.len() as u32);
        ack.rtt = Some(now - packet.sent_at);
        window.on_ack(&ack);
    }
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
        for (rtt_ms, buffer) in [(20, 10), (20, 40), (100, 50), (100, 200), (500, 500)] {
            let row: String = windows(new_window(), Duration::from_millis(rtt_ms), buffer)
                .iter()
                .map(|cwnd| format!(" {cwnd:6.1}"))
                .collect();
            text += &format!("  {rtt_ms:>3} ms, buffer {buffer:>3}{row}\n");
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
