//! The windows of the Reno family, round by round, compared with `aimd_windows.txt`.
//!
//! A change of behaviour shows as a difference from that table. To accept it, replace the file with
//! the output of the failing test.

use skywave_congestion::{Ack, AckedPacket, Aimd, AimdConfig, Control, DecreaseLaw, GrowthLaw};
use skywave_units::{Duration, Instant};
use skywave_wire::Ecn;

use crate::support::loss;

const ROUNDS: usize = 20;
const NS2_WINDOW: u32 = 20;

/// Events, and the rounds in which they happen.
enum Trouble {
    Loss(&'static [usize]),
    Timeout(&'static [usize]),
    /// The round's acknowledgements report half of the packets as marked.
    Marks(&'static [usize]),
    /// The application sends 5 packets per round from the fifth round on.
    Idle,
}

/// cwnd after each round of one window of packets, acknowledged `ack_ratio` at a time.
fn windows(config: AimdConfig, ack_ratio: u32, trouble: &Trouble) -> Vec<f64> {
    let mut window = Aimd::new(config);
    let mut now = Instant::ZERO;
    let mut list = vec![window.cwnd()];
    for round in 1..=ROUNDS {
        now += Duration::from_millis(100);
        let room = window.cwnd().floor() as u32;
        let application_limited = matches!(trouble, Trouble::Idle) && round >= 5 && room > 5;
        let flight = if application_limited { 5 } else { room };
        // What ns-2 halves is limited by the receiver's window, not by the flight.
        let borne = match config.decrease {
            DecreaseLaw::Ns2Tcp => NS2_WINDOW,
            _ => flight,
        };
        if matches!(trouble, Trouble::Timeout(rounds) if rounds.contains(&round)) {
            window.on_timeout(now, borne);
            list.push(window.cwnd());
            continue;
        }
        let is_marked = matches!(trouble, Trouble::Marks(rounds) if rounds.contains(&round));
        let is_lossy = matches!(trouble, Trouble::Loss(rounds) if rounds.contains(&round));
        let mut left = flight;
        while left > 0 {
            let newly_acked = left.min(ack_ratio);
            for index in 0..newly_acked {
                let ecn = if is_marked && index % 2 == 0 {
                    Ecn::Ce
                } else {
                    Ecn::Ect0
                };
                window.on_packet_acked(&AckedPacket::new(0, now, 1, ecn));
            }
            let mut ack = Ack::new(now, newly_acked, left - newly_acked);
            ack.ack_ratio = ack_ratio;
            ack.application_limited = application_limited;
            window.on_ack(&ack);
            if left == flight && (is_lossy || is_marked) {
                window.on_loss(&loss(now, borne));
            }
            left -= newly_acked;
        }
        list.push(window.cwnd());
    }
    list
}

fn table() -> String {
    let profiles: [(&str, AimdConfig, u32); 6] = [
        (
            "RFC 5681, each segment acknowledged",
            AimdConfig::rfc5681(1000),
            1,
        ),
        (
            "RFC 5681, delayed acknowledgements",
            AimdConfig::rfc5681(1000),
            2,
        ),
        (
            "RFC 3465 (L = 2), delayed acknowledgements",
            AimdConfig {
                growth: GrowthLaw::PerPacket { limit: 2 },
                decrease: DecreaseLaw::Rfc5681,
                ..AimdConfig::rfc5681(1000)
            },
            2,
        ),
        ("ns-2 TCP, window 20", AimdConfig::ns2_tcp(NS2_WINDOW), 1),
        ("RFC 4341, Ack Ratio 2", AimdConfig::rfc4341(1000), 2),
        (
            "ns-2 TCP-like DCCP, Ack Ratio 2",
            AimdConfig::ns2_tcplike(),
            2,
        ),
    ];
    let troubles = [
        ("none, ssthresh 16", Some(16.0), Trouble::Loss(&[])),
        ("loss in round 5", None, Trouble::Loss(&[5])),
        (
            "loss in rounds 3 4 5 6 7",
            None,
            Trouble::Loss(&[3, 4, 5, 6, 7]),
        ),
        ("marks in rounds 4 and 12", None, Trouble::Marks(&[4, 12])),
        ("timeout in rounds 5 and 6", None, Trouble::Timeout(&[5, 6])),
        ("5 packets a round from round 5", None, Trouble::Idle),
    ];
    let mut text = String::from("cwnd in packets, at the start and after each round\n");
    for (name, config, ack_ratio) in profiles {
        text += &format!("\n{name}\n");
        for (what, ssthresh, trouble) in &troubles {
            let initial_ssthresh = ssthresh.unwrap_or(config.initial_ssthresh);
            let config = AimdConfig {
                initial_ssthresh,
                ..config
            };
            let row: String = windows(config, ack_ratio, trouble)
                .iter()
                .map(|cwnd| {
                    // The table is about small windows; slow start without limit soon exceeds three
                    // digits.
                    if *cwnd < 1000.0 {
                        format!(" {cwnd:5.1}")
                    } else {
                        "   ...".to_owned()
                    }
                })
                .collect();
            text += &format!("  {what:<31}{row}\n");
        }
    }
    text
}

#[test]
fn windows_are_those_of_the_table() {
    let actual = table();
    let expected = include_str!("aimd_windows.txt");
    let differs = actual
        .lines()
        .zip(expected.lines())
        .find(|(actual, expected)| actual != expected);
    if let Some((actual, expected)) = differs {
        println!("expected {expected}\nactual   {actual}");
    }
    assert!(actual == expected, "aimd_windows.txt should be:\n{actual}");
}
