use skywave_wire::Ecn;

use super::*;
use crate::testing::{context, linux, loss, mark};
use crate::{AckedPacket, Control};

/// A connection on a path that delivers a packet every 10 ms after a round-trip time.
struct Path {
    control: Governed<Westwood>,
    now: Instant,
}

impl Path {
    fn new(context: &ControlContext) -> Self {
        let parameters = WestwoodParameters {
            tick: Some(Duration::ZERO),
            ..WestwoodParameters::default()
        };
        Self {
            control: Governed::new(context, Westwood::new(parameters, context)),
            now: Instant::ZERO,
        }
    }

    fn packet(&mut self) {
        self.now += Duration::from_millis(10);
        let packet = AckedPacket::new(0, self.now, 1, Ecn::NotEct);
        self.control.on_packet_acked(&packet);
    }

    /// `packets` acknowledgements with a round-trip time.
    fn run(&mut self, packets: u32, rtt_ms: u64) {
        for _ in 0..packets {
            self.packet();
            let mut ack = Ack::new(self.now, 1, 10);
            ack.rtt = Some(Duration::from_millis(rtt_ms));
            self.control.on_ack(&ack);
        }
    }

    fn bandwidth(&self) -> f64 {
        self.control.law.filtered.map_or(0.0, |[_, twice]| twice)
    }
}

/// 100 packets per second and a minimum of 80 ms: eight packets fill the path.
#[test]
fn a_loss_leaves_the_bandwidth_times_the_minimum_round_trip_time() {
    let mut path = Path::new(&context(20.0, 20.0));
    path.run(100, 80);
    path.run(100, 200);
    assert!(
        (path.bandwidth() - 100.0).abs() < 1e-9,
        "{}",
        path.bandwidth()
    );
    path.control.on_loss(&loss(path.now, 20));
    let left = path.control.cwnd();
    assert!((left - 8.0).abs() < 1e-9, "{left}");
    assert_eq!(path.control.ssthresh(), left);
}

#[test]
fn a_window_that_is_smaller_than_the_path_keeps_its_size() {
    let mut path = Path::new(&context(20.0, 20.0));
    path.run(100, 80);
    path.control.limit_cwnd(5.0);
    path.control.on_loss(&loss(path.now, 5));
    assert_eq!(path.control.cwnd(), 5.0);
    let ssthresh = path.control.ssthresh();
    assert!(
        (ssthresh - 8.0).abs() < 1e-9,
        "slow start goes on to {ssthresh}"
    );
}

#[test]
fn a_timeout_leaves_it_as_ssthresh_and_a_packet_as_cwnd() {
    let mut path = Path::new(&context(20.0, 20.0));
    path.run(100, 80);
    path.control.on_timeout(path.now, 20);
    assert_eq!(path.control.cwnd(), 1.0);
    let ssthresh = path.control.ssthresh();
    assert!((ssthresh - 8.0).abs() < 1e-9, "{ssthresh}");
}

#[test]
fn without_a_sample_two_packets_are_left() {
    for context in [context(20.0, 20.0), linux(20.0, 20.0)] {
        let mut path = Path::new(&context);
        path.run(1, 80);
        path.control.on_loss(&loss(path.now, 20));
        path.run(1, 80);
        // Linux is in congestion avoidance by now.
        assert_eq!(path.control.cwnd().floor(), 2.0);
    }
}

/// A sample takes more than a round trip and more than 50 ms. The first fills the filters; later
/// ones pass through both.
#[test]
fn the_bandwidth_is_filtered_twice() {
    let mut path = Path::new(&context(20.0, 20.0));
    // It begins with the first acknowledgement, and ends with the seventh, 60 ms later.
    path.run(6, 20);
    assert_eq!(path.bandwidth(), 0.0);
    path.run(1, 20);
    assert_eq!(path.bandwidth(), 100.0);
    // Three packets in 90 ms, since the seventh belongs to the second sample.
    path.packet();
    path.now += Duration::from_millis(70);
    path.run(1, 20);
    let sample = 2.0 / 0.09;
    let once = 0.875 * 100.0 + 0.125 * sample;
    let twice = 0.875 * 100.0 + 0.125 * once;
    assert!(
        (path.bandwidth() - twice).abs() < 1e-9,
        "{}",
        path.bandwidth()
    );
}

/// What a recovery acknowledges is bandwidth too.
#[test]
fn packets_of_a_recovery_count() {
    let mut path = Path::new(&context(20.0, 20.0));
    path.run(100, 80);
    path.control.on_loss(&loss(path.now, 20));
    for _ in 0..30 {
        path.packet();
    }
    path.run(10, 80);
    assert!(
        (path.bandwidth() - 100.0).abs() < 10.0,
        "{}",
        path.bandwidth()
    );
}

/// In Linux a recovery aims at half the window. What the path carries applies at its end, even if
/// that is more.
#[test]
fn in_linux_the_window_is_set_when_the_recovery_ends() {
    for (window, half) in [(31.0, 15.0), (11.0, 5.0)] {
        let mut path = Path::new(&linux(window, 8.0));
        path.control.window = Window::new(&linux(window, window));
        path.run(100, 80);
        path.control.law.filtered = Some([100.0; 2]);
        path.control.window = Window::new(&linux(window, window));
        path.control.on_loss(&loss(path.now, 20));
        assert_eq!((path.control.cwnd(), path.control.ssthresh()), (half, half));
        path.run(1, 80);
        assert_eq!((path.control.cwnd(), path.control.ssthresh()), (8.0, 8.0));
        // A mark is answered when a packet sent after it is acknowledged.
        path.control.on_mark(&mark(path.now, 3));
        path.run(3, 80);
        assert_eq!(path.control.cwnd(), 4.0);
        path.run(1, 80);
        assert_eq!(path.control.cwnd(), 8.0);
    }
}

/// After a timeout the path may be another one, with a longer round-trip time.
#[test]
fn a_timeout_forgets_the_minimum_round_trip_time() {
    let mut path = Path::new(&context(20.0, 20.0));
    path.run(100, 80);
    path.control.on_timeout(path.now, 20);
    path.run(1, 200);
    path.run(1, 300);
    assert_eq!(path.control.law.min_rtt, Some(Duration::from_millis(200)));
}

/// The kernel's clock has ticks: a round-trip time of 81 ms counts as 90 ms.
#[test]
fn in_linux_times_are_in_ticks() {
    let context = linux(20.0, 20.0);
    let parameters = WestwoodParameters::default();
    let mut law = Westwood::new(parameters, &context);
    let mut ack = Ack::new(Instant::ZERO, 1, 10);
    ack.rtt = Some(Duration::from_millis(81));
    law.on_ack(&mut Window::new(&context), &ack, Phase::Open);
    assert_eq!(law.min_rtt, Some(Duration::from_millis(90)));
}

/// The first sample begins with the connection, a round trip before the first acknowledgement, which
/// does not count.
#[test]
fn in_linux_the_first_sample_begins_with_the_connection() {
    let mut path = Path::new(&linux(20.0, 20.0));
    path.now += Duration::from_millis(70);
    path.run(1, 80);
    assert_eq!(path.control.law.began, Some(Instant::ZERO));
    path.now += Duration::from_millis(70);
    path.run(1, 80);
    assert_eq!(path.control.law.began, Some(path.now));
    assert_eq!(path.bandwidth(), 0.0, "nothing in 160 ms");
    path.run(9, 80);
    assert!(
        (path.bandwidth() - 100.0).abs() < 1e-9,
        "{}",
        path.bandwidth()
    );
}

/// Each duplicate acknowledgement of a recovery is a packet, which the one that covers it leaves out.
#[test]
fn in_linux_samples_end_in_a_recovery() {
    let mut path = Path::new(&linux(20.0, 20.0));
    path.run(100, 80);
    path.control.law.filtered = Some([100.0; 2]);
    path.control.on_loss(&loss(path.now, 20));
    let mut samples = 0;
    for _ in 0..30 {
        path.now += Duration::from_millis(10);
        let mut duplicate = Ack::new(path.now, 0, 10);
        duplicate.rtt = Some(Duration::from_millis(80));
        path.control.on_ack(&duplicate);
        samples += u32::from(path.control.law.began == Some(path.now));
    }
    assert_eq!(samples, 3);
    for _ in 0..30 {
        let packet = AckedPacket::new(0, path.now, 1, Ecn::NotEct);
        path.control.on_packet_acked(&packet);
    }
    path.run(21, 80);
    assert_eq!(path.bandwidth(), 100.0);
}
