//! The autotuned receive window between a sender and a receiver.

use skywave_congestion::{Aimd, AimdConfig};
use skywave_transport::tcp::{
    Ports, ReceiveWindow, Receiver, ReceiverConfig, Sender, SenderConfig,
};
use skywave_units::{Duration, Instant};
use skywave_wire::tcp::Flags;

use crate::network::{Fate, Link, Network, Seen};

const MAX: u32 = 32 << 20;

/// What a capture of a transfer without losses shows.
#[derive(Debug, Default)]
struct Shown {
    /// The windows of acknowledgements, in bytes.
    windows: Vec<u32>,
    /// The most bytes in flight.
    flight: u64,
    /// The scale shifts of the SYN and the SYN-ACK.
    shifts: Vec<u8>,
}

/// Transfers `bytes` over a round trip of 600 ms.
fn transfer(bytes: u64, rate: &str, window: ReceiveWindow, initial_cwnd: f64) -> Shown {
    let ports = |local, remote| Ports { local, remote };
    let control = AimdConfig {
        initial_cwnd,
        ..AimdConfig::rfc5681(1460)
    };
    let config = SenderConfig {
        window,
        ..SenderConfig::default()
    };
    let sender = Sender::new(config, Aimd::new(control), ports(1, 2), 1);
    let config = ReceiverConfig {
        window,
        // So that cwnd doubles in each round trip of slow start.
        delayed_ack: None,
        ..ReceiverConfig::default()
    };
    let receiver = Receiver::new(config, ports(2, 1), 2);
    let (access, bottleneck) = (Link::new("10 Gbps", "1 us"), Link::new(rate, "300 ms"));
    let mut network = Network::new(sender, receiver, access, bottleneck, |_, _, _: &_| {
        Fate::Pass
    });
    let mut shown = Shown::default();
    let mut see = |_: Instant, seen: Seen<'_>| match seen {
        Seen::Sent(segment) if segment.flags.contains(Flags::SYN) => {
            shown.shifts.extend(segment.options.window_scale);
        }
        Seen::Answered(segment) if segment.flags.contains(Flags::SYN) => {
            shown.shifts.extend(segment.options.window_scale);
            shown.windows.push(u32::from(segment.window));
        }
        Seen::Answered(segment) => {
            let shift = shown.shifts.last().copied().unwrap_or(0);
            shown.windows.push(u32::from(segment.window) << shift);
        }
        Seen::Settled(sender, _) => {
            shown.flight = shown.flight.max(sender.get().stats().flight);
        }
        _ => {}
    };
    network.apply(&mut see, |sender| {
        sender.write(bytes).unwrap();
        sender.close();
    });
    network.run(Instant::ZERO + Duration::from_secs(100_000), &mut see);
    assert!(network.receiver.get().is_finished());
    shown
}

/// The flight of slow start doubles in each round trip. A window of twice what the last one
/// delivered would only just do; this must not cost a hundredth of the flight.
#[test]
fn an_autotuned_window_does_not_slow_slow_start_down() {
    for initial_cwnd in [2.0, 10.0] {
        let transfer = |window| transfer(20_000_000, "1 Gbps", window, initial_cwnd);
        let ideal = transfer(ReceiveWindow::Fixed(1 << 30));
        let autotuned = transfer(ReceiveWindow::Autotuned { max: 1 << 30 });
        assert!(ideal.flight > 5_000_000, "{}", ideal.flight);
        let reached = autotuned.flight as f64 / ideal.flight as f64;
        assert!(reached > 0.99, "{reached}");
    }
}

#[test]
fn an_autotuned_window_starts_at_64_kib_follows_the_rate_and_stays_below_its_maximum() {
    let shown = transfer(
        30_000_000,
        "100 Mbps",
        ReceiveWindow::Autotuned { max: MAX },
        2.0,
    );
    assert_eq!(shown.shifts, [10, 10], "32 MiB need a shift of 10");
    // The SYN-ACK and the first acknowledgement promise the same: nothing is taken back.
    assert_eq!(shown.windows[..2], [64_512, 64_512]);
    assert!(shown.windows.is_sorted());
    let last = *shown.windows.last().unwrap();
    assert!(
        u64::from(last) >= shown.flight && last <= MAX,
        "{last} {}",
        shown.flight
    );
    assert!(shown.flight > 7_500_000, "the bandwidth-delay product");

    let small = transfer(
        30_000_000,
        "100 Mbps",
        ReceiveWindow::Autotuned { max: 100_000 },
        2.0,
    );
    assert_eq!(small.shifts, [1, 1]);
    assert_eq!(small.windows.last(), Some(&100_000));
    assert_eq!(small.flight, 99_280, "68 segments fit");
}

/// The rate of a sender that the queue, not the window, should limit: a queue of 10 s, and a
/// handshake of 600 ms.
#[test]
fn an_autotuned_window_follows_a_round_trip_time_that_grows_with_the_queue() {
    let autotuned = transfer(3_000_000, "1 Mbps", ReceiveWindow::default(), 2.0);
    let ideal = transfer(3_000_000, "1 Mbps", ReceiveWindow::Fixed(1 << 30), 2.0);
    assert!(ideal.flight > 1_000_000, "{}", ideal.flight);
    assert_eq!(autotuned.flight, ideal.flight);
}

/// A slow flow needs no more than it is given first.
#[test]
fn an_autotuned_window_stays_where_the_rate_needs_no_more() {
    let shown = transfer(60_000, "100 kbps", ReceiveWindow::default(), 2.0);
    assert_eq!(shown.windows.last(), Some(&64_512));
}

#[test]
fn a_fixed_window_is_announced_from_the_syn_on() {
    let shown = transfer(3_000_000, "10 Mbps", ReceiveWindow::Fixed(1_000_000), 2.0);
    assert_eq!(shown.shifts, [4, 4]);
    assert_eq!(shown.windows[0], 65_535, "a SYN-ACK's window is not scaled");
    assert!(shown.windows[1..].iter().all(|&window| window == 1_000_000));
}
