//! Long runs of CCID 3: the throughput equation, the limit by X_recv, and dynamic feedback, as
//! recorded by the table `rates`.

use rand::{RngExt, SeedableRng};
use skywave_congestion::tfrc::equation;
use skywave_sim::{Registry, Results, RunOptions, Scenario, run};
use skywave_units::Random;

use crate::support::{counts, floats, table, words};

/// The parameters of a run of one CCID 3 flow over `a->b`.
struct Path<'a> {
    seconds: u32,
    /// The link's rate, its delay each way, and its queue in packets.
    rate: &'a str,
    delay_ms: u32,
    queue: u32,
    /// Arrival ordinals of the packets that are lost.
    lost: Vec<u64>,
    /// The field `tfrc` of the transport.
    tfrc: &'a str,
    source: &'a str,
}

/// A path with a round-trip time of 100 ms that loses only the packets in `lost`.
const WIDE: Path<'_> = Path {
    seconds: 0,
    rate: "100 Mbps",
    delay_ms: 50,
    queue: 1_000,
    lost: Vec::new(),
    tfrc: "",
    source: r#"{ ftp = { datagram = "1000 B" } }"#,
};

impl Path<'_> {
    fn run(&self) -> Results {
        let Self {
            seconds,
            rate,
            delay_ms,
            queue,
            lost,
            tfrc,
            source,
        } = self;
        let scenario = format!(
            r#"
            name = "one flow"
            duration = "{seconds} s"
            nodes = ["a", "b"]
            probes = {{ rates = true }}

            [[links]]
            from = "a"
            to = "b"
            rate = "{rate}"
            delay = "{delay_ms} ms"
            queue = {{ drop-tail = {{ packets = {queue} }} }}
            loss = {{ packets = {lost:?} }}

            [[flows]]
            name = "flow"
            from = "a"
            to = "b"
            transport = {{ dccp = {{ ccid = 3, tfrc = {tfrc} }} }}
            source = {source}
            "#
        );
        let scenario = Scenario::from_toml(&scenario, &Registry::default()).unwrap();
        run(
            &scenario,
            &Registry::default(),
            RunOptions::default(),
            |_| true,
        )
        .unwrap()
    }
}

/// Arrivals at `link` of all flows, in the second that ends at each time.
fn arrivals(results: &Results, link: &str) -> Vec<(f64, u64)> {
    let batch = table(results, "link_flows");
    let rows = floats(batch, "time_s")
        .iter()
        .zip(counts(batch, "arrivals"));
    words(batch, "link")
        .into_iter()
        .zip(rows)
        .filter(|&(name, _)| name == link)
        .map(|(_, (&at, &count))| (at, count))
        .collect()
}

/// The mean arrival rate at `link` from `warm` seconds on, in packets per second.
fn mean_rate(results: &Results, link: &str, warm: f64) -> f64 {
    let rows = arrivals(results, link);
    let rows: Vec<_> = rows.iter().filter(|&&(at, _)| at > warm).collect();
    rows.iter().map(|&&(_, count)| count as f64).sum::<f64>() / rows.len() as f64
}

/// The throughput equation's rate at the sender's p and R, in packets per second, averaged over the
/// time from `warm` seconds on.
fn by_equation(results: &Results, warm: f64) -> f64 {
    let rates = table(results, "rates");
    let times = floats(rates, "time_s");
    let (mut sum, mut time) = (0.0, 0.0);
    let rows = floats(rates, "loss_event_rate")
        .iter()
        .zip(floats(rates, "rtt_s"));
    for (span, (&p, &rtt)) in times.windows(2).zip(rows) {
        if span[0] > warm {
            let lasts = span[1] - span[0];
            sum += lasts * equation::throughput(1.0, rtt, p);
            time += lasts;
        }
    }
    sum / time
}

const KINDS: [&str; 4] = [
    r#"{ rules = "rfc5348" }"#,
    r#"{ rules = "rfc3448" }"#,
    r#"{ rules = "rfc3448", feedback = { dynamic = { rtt_ref = "25 ms" } }, receiver_rtt = "option" }"#,
    r#"{ rules = "rfc5348", feedback = { dynamic = { rtt_ref = "25 ms", window = "round-trip" } }, smoothing = "per-round-trip" }"#,
];

/// T-1, T-11: if every n-th packet is lost, p is 1/n, and the rate is within 5 % of the equation's
/// for p from 0.1 % to 10 %.
#[test]
fn every_nth_packet_lost_gives_the_equations_rate() {
    for tfrc in KINDS {
        for n in [1_000, 300, 100, 30, 10] {
            let expected = equation::throughput(1.0, 0.1, 1.0 / n as f64);
            let warm = (20.0 * n as f64 / expected).max(30.0);
            let seconds = warm as u32 + 200;
            let packets = 2 * u64::from(seconds) * expected as u64;
            let results = Path {
                seconds,
                lost: (1..=packets / n).map(|index| index * n).collect(),
                tfrc,
                ..WIDE
            }
            .run();
            let ratio = mean_rate(&results, "a->b", warm) / expected;
            assert!((0.95..1.05).contains(&ratio), "{tfrc}, 1 of {n}: {ratio}");
        }
    }
}

/// T-1, T-11: with random losses, the mean rate is within 5 % of the mean of the equation over the
/// measured p. (The equation is convex and p averages few intervals, so this mean exceeds the rate
/// at the mean p, by up to two fifths for losses of 10 %.)
#[test]
fn random_losses_give_the_equations_rate() {
    for tfrc in KINDS {
        for (seed, loss) in [(1, 0.001), (2, 0.01), (3, 0.1)] {
            let mut random = Random::seed_from_u64(seed);
            let results = Path {
                seconds: 400,
                lost: (1..200_000)
                    .filter(|_| random.random::<f64>() < loss)
                    .collect(),
                tfrc,
                ..WIDE
            }
            .run();
            let ratio = mean_rate(&results, "a->b", 50.0) / by_equation(&results, 50.0);
            assert!((0.95..1.05).contains(&ratio), "{tfrc}, {loss}: {ratio}");
        }
    }
}

/// T-5, T-6: after the first loss, X at each report is at most twice X_recv: the greatest of two
/// round-trip times under RFC 5348, the latest under RFC 3448.
#[test]
fn x_keeps_to_twice_the_receive_rate_over_a_bottleneck() {
    for (index, tfrc) in KINDS.into_iter().enumerate() {
        let results = Path {
            seconds: 120,
            rate: "2 Mbps",
            queue: 20,
            tfrc,
            ..WIDE
        }
        .run();
        let rates = table(&results, "rates");
        let times = floats(rates, "time_s");
        let rtt = floats(rates, "rtt_s");
        let p = floats(rates, "loss_event_rate");
        let x = counts(rates, "allowed_rate_bps");
        let x_recv = counts(rates, "receive_rate_bps");
        let reports = counts(rates, "reports");
        let by_latest = tfrc.contains("rfc3448");
        let mut judged = 0;
        for row in 1..times.len() {
            if p[row] == 0.0 || reports[row] == reports[row - 1] {
                continue;
            }
            let oldest = if by_latest {
                times[row]
            } else {
                times[row] - 2.0 * rtt[row]
            };
            let limit = (0..=row)
                .filter(|&other| times[other] >= oldest)
                .map(|other| 2 * x_recv[other])
                .max()
                .unwrap();
            assert!(
                x[row] <= limit + 16,
                "{tfrc}: {} above {limit} at {}",
                x[row],
                times[row]
            );
            judged += 1;
        }
        assert!(judged > 500, "{index}: {judged}");
    }
}

/// The receiver reports once per round-trip time, or as often as dynamic feedback requires. In
/// steady state, more frequent reports do not change the rate.
#[test]
fn dynamic_feedback_has_its_price() {
    let run = |feedback: &str| {
        let results = Path {
            seconds: 300,
            rate: "100 Mbps",
            delay_ms: 500,
            lost: (1..1_000).map(|index| index * 200).collect(),
            tfrc: &format!(
                r#"{{ rules = "rfc3448", receiver_rtt = "option", feedback = {feedback} }}"#
            ),
            ..WIDE
        }
        .run();
        (
            mean_rate(&results, "b->a", 150.0),
            mean_rate(&results, "a->b", 150.0),
        )
    };
    let (reports, rate) = run(r#""window-counter""#);
    assert!((0.9..=1.15).contains(&reports), "{reports} per second");
    for (rtt_ref, wanted) in [("100 ms", 10.0), ("250 ms", 4.0), ("2 s", 1.0)] {
        let (reports, more) = run(&format!(r#"{{ dynamic = {{ rtt_ref = "{rtt_ref}" }} }}"#));
        assert!(
            (0.85..=1.15).contains(&(reports / wanted)),
            "{rtt_ref}: {reports} per second"
        );
        assert!(
            (0.95..=1.05).contains(&(more / rate)),
            "{rtt_ref}: {more}, not {rate}"
        );
    }
}

/// Voice sends 80 bytes every 30 ms. All of it leaves if s is the real segment size. If s is 500 or
/// 1460 bytes, the limit of twice X_recv, which counts real bytes, holds it down.
#[test]
fn a_nominal_segment_size_holds_small_packets_down() {
    let share = |size: &str| {
        let results = Path {
            seconds: 60,
            rate: "250 kbps",
            delay_ms: 70,
            queue: 20,
            tfrc: &format!(r#"{{ rules = "rfc3448"{size} }}"#),
            source: r#"{ cbr = { rate = "21.333 kbps", datagram = "80 B" } }"#,
            ..WIDE
        }
        .run();
        mean_rate(&results, "a->b", 10.0) * 0.03
    };
    assert!(share("") > 0.97, "{}", share(""));
    assert!(share(r#", segment_size = "80 B""#) > 0.97);
    for size in [500, 1_460] {
        let share = share(&format!(r#", segment_size = "{size} B""#));
        assert!(share < 0.3, "{size}: {share}");
    }
}
