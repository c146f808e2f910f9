//! However a network is divided into elements, and however long their rounds are, the results are
//! those of the whole network as one element, to the last bit.
//!
//! `DRAWS` is how many scenarios are drawn, `SEED` the first of their seeds.

use std::fmt::Write;

use rand::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_path::{Loss, LossKind};
use skywave_scenario::Probes;
use skywave_traffic::{SendingEnd, Setup, Source, SourceKind};
use skywave_units::{Duration, Instant, Random};
use skywave_wire::Payload;

use super::*;

/// What a scenario is drawn with.
struct Draw(Random);

impl Draw {
    fn one_of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all.choose(&mut self.0).expect("there are some")
    }

    fn chance(&mut self, probability: f64) -> bool {
        self.0.random_bool(probability)
    }

    fn maybe(&mut self, probability: f64, text: String) -> String {
        if self.chance(probability) {
            text
        } else {
            String::new()
        }
    }

    fn whole(&mut self, least: u64, most: u64) -> u64 {
        self.0.random_range(least..=most)
    }

    fn queue(&mut self) -> &'static str {
        self.one_of(&[
            "{ drop-tail = { packets = 20 } }",
            "{ drop-tail = { packets = 5 } }",
            "{ drop-tail = { bytes = '30 kB' } }",
            "'unlimited'",
            "{ red = { packets = 50, min_threshold = 5.0, max_threshold = 15.0 } }",
            "{ red = { packets = 50, min_threshold = 5.0, max_threshold = 15.0, ecn = true } }",
            "{ pie = { packets = 100 } }",
            "{ dualpi2 = { packets = 100 } }",
            "{ step = { packets = 100, threshold = 9 } }",
            "{ codel = { packets = 100 } }",
            "'fq-codel'",
            "{ fq-codel = { ecn = true, flows = 4 } }",
            "{ weighted = { queues = [{ weight = 1, queue = 'unlimited' }, { weight = 2, queue = { codel = { packets = 9 } } }] } }",
        ])
    }

    /// Returns the fields of a link or a dumbbell after its rate, delay and queue.
    fn conduct(&mut self) -> String {
        let mut fields = String::new();
        let losses = [
            "{ bernoulli = { probability = 0.01 } }",
            "{ bernoulli = { probability = 1e-6, per = 'bit' } }",
            "{ gilbert-elliott = { good_to_bad = 0.01, bad_to_good = 0.3, in_bad = 0.5 } }",
            "{ packets = [3, 4, 50] }",
        ];
        let traces = [
            "{ outages = { up = '500 ms', down = '100 ms' } }",
            "{ wifi = { contention = '7 ms' } }",
            "{ leo = { interval = '700 ms' } }",
            "{ steps = [{ at = '300 ms', rate = '700 kbps' }, { at = '900 ms', delay = '1 ms' }, { at = '1500 ms', rate = '5 Mbps', delay = '70 ms' }] }",
        ];
        let loss = self.one_of(&losses);
        fields += &self.maybe(0.2, format!("loss = {loss}\n"));
        let trace = self.one_of(&traces);
        fields += &self.maybe(0.15, format!("trace = {trace}\n"));
        let jitter = self.one_of(&["1 ms", "30 ms", "1 ns"]);
        fields += &self.maybe(0.15, format!("jitter = '{jitter}'\n"));
        fields += &self.maybe(0.1, "overtaking = true\n".to_owned());
        fields += &self.maybe(0.1, "nat = { tracking = true }\n".to_owned());
        fields += &self.maybe(0.1, "quick_start = 0.9\n".to_owned());
        let queue = self.queue();
        fields += &self.maybe(
            0.15,
            format!("back = {{ delay = '7 ms', queue = {queue} }}\n"),
        );
        fields
    }

    /// Returns a transport and a source for it.
    fn ends(&mut self) -> (String, &'static str) {
        let tcp = [
            "",
            "profile = 'ns2'",
            "control = 'cubic'",
            "control = 'vegas'",
            "ecn = true",
            "recovery = 'sack'",
            "send_jitter = '1 ms'",
            "delayed_ack = '100 ms'",
            "tick = '10 ms'",
            "recovery = 'tahoe', initial_cwnd = 10",
        ];
        let dccp = [
            "ccid = 2",
            "ccid = 3",
            "ccid = 4",
            "ccid = 2, profile = 'ns2'",
            "ccid = 2, ecn = false, ack_ratio = 4",
            "ccid = 3, quick_start = '2 Mbps'",
            "ccid = 3, tfrc = { feedback = { per-round-trip = { reports = 4 } } }",
            "ccid = 251, control = 'cubic'",
            "ccid = 2, detect_optimistic_acks = true",
        ];
        let bulk = ["'ftp'", "'ftp'", "{ ftp = { size = '40 kB' } }", "'web'"];
        let paced = [
            "{ cbr = { rate = '1 Mbps', datagram = '500 B' } }",
            "{ poisson = { rate = '800 kbps', datagram = '1000 B' } }",
            "{ on-off = { rate = '2 Mbps', datagram = '700 B', on = { exponential = { mean = '100 ms' } }, off = { pareto = { mean = '200 ms' } } } }",
            "{ replay = { times = ['0 s', '100 ms', '101 ms'], sizes = ['1000 B', '1 B', '300 B'], repeat = true } }",
            "{ voice = { frame = '20 B', interval = '20 ms', talkspurts = {} } }",
        ];
        let is_bulk = self.chance(0.6);
        match self.whole(0, 4) {
            0 | 1 => {
                let source = if is_bulk {
                    self.one_of(&bulk)
                } else {
                    self.one_of(&paced[..4])
                };
                (format!("{{ tcp = {{ {} }} }}", self.one_of(&tcp)), source)
            }
            2 | 3 => {
                let source = self.one_of(if is_bulk { &bulk } else { &paced });
                (format!("{{ dccp = {{ {} }} }}", self.one_of(&dccp)), source)
            }
            _ => ("{ udp = {} }".to_owned(), self.one_of(&paced)),
        }
    }

    fn rate(&mut self) -> &'static str {
        self.one_of(&["300 kbps", "1 Mbps", "2 Mbps", "10 Mbps", "1 Gbps"])
    }

    /// Returns a delay. Equal ones make events coincide.
    fn delay(&mut self) -> &'static str {
        let rarely = if self.chance(0.03) { "3 s" } else { "100 ms" };
        self.one_of(&["0 ms", "1 us", "1 ms", "5 ms", "5 ms", "20 ms", rarely])
    }

    fn dumbbell(&mut self, toml: &mut String) -> Vec<(String, String)> {
        let pairs = self.whole(1, 4);
        let delays: Vec<_> = (0..pairs).map(|_| format!("'{}'", self.delay())).collect();
        let (rate, delay, access) = (self.rate(), self.delay(), self.rate());
        let (queue, conduct) = (self.queue(), self.conduct());
        let delays = delays.join(", ");
        write!(
            toml,
            "[dumbbell]\npairs = {pairs}\nrate = '{rate}'\ndelay = '{delay}'\nqueue = {queue}\n\
             access_rate = '{access}'\naccess_delays = [{delays}]\n{conduct}"
        )
        .unwrap();
        (1..=pairs)
            .map(|pair| (format!("s{pair}"), format!("d{pair}")))
            .collect()
    }

    /// Adds a connected graph, and sometimes a link apart from it. Returns pairs of connected nodes.
    fn graph(&mut self, toml: &mut String) -> Vec<(String, String)> {
        let nodes = self.whole(2, 6);
        let is_apart = self.chance(0.1);
        let mut names: Vec<_> = (0..nodes).map(|node| format!("'n{node}'")).collect();
        names.extend(is_apart.then(|| "'x', 'y'".to_owned()));
        // Top-level fields come before tables.
        *toml = format!("nodes = [{}]\n{toml}", names.join(", "));
        let chords = self.whole(0, 2);
        let mut linked = Vec::new();
        for link in 0..nodes - 1 + chords {
            let to = if link < nodes - 1 {
                link + 1
            } else {
                self.whole(1, nodes - 1)
            };
            let from = self.whole(0, to - 1);
            if linked.contains(&(from, to)) {
                continue;
            }
            linked.push((from, to));
            let (rate, delay) = (self.rate(), self.delay());
            let (queue, conduct) = (self.queue(), self.conduct());
            write!(
                toml,
                "[[links]]\nfrom = 'n{from}'\nto = 'n{to}'\nrate = '{rate}'\ndelay = '{delay}'\n\
                 queue = {queue}\n{conduct}"
            )
            .unwrap();
        }
        let mut pairs: Vec<_> = (0..nodes)
            .flat_map(|from| (0..nodes).map(move |to| (from, to)))
            .filter(|(from, to)| from != to)
            .map(|(from, to)| (format!("n{from}"), format!("n{to}")))
            .collect();
        pairs.shuffle(&mut self.0);
        if is_apart {
            let (rate, delay) = (self.rate(), self.delay());
            write!(
                toml,
                "[[links]]\nfrom = 'x'\nto = 'y'\nrate = '{rate}'\ndelay = '{delay}'\n"
            )
            .unwrap();
            pairs.insert(0, ("x".to_owned(), "y".to_owned()));
        }
        pairs
    }

    /// Returns a duration: long ones rarely, because they take long.
    fn duration_ms(&mut self) -> u64 {
        if self.chance(0.02) {
            self.whole(5_000, 25_000)
        } else {
            self.whole(300, 3_000)
        }
    }

    fn scenario(&mut self) -> String {
        let seed = self.whole(0, 1000);
        let mut toml = format!(
            "name = 'drawn'\nduration = '{} ms'\nseed = {seed}\n",
            self.duration_ms()
        );
        let pairs = if self.chance(0.4) {
            self.dumbbell(&mut toml)
        } else {
            self.graph(&mut toml)
        };
        let interval = self.one_of(&["1 s", "100 ms", "7 ms", "20 s"]);
        // With the last ones, the whole network is one element.
        let probes = self.one_of(&[
            "",
            "",
            "tables = ['queues', 'controls', 'link_flows']\n",
            "tables = ['drops', 'transfers', 'voice']\n",
            "tables = ['queues', 'drops']\n",
            "tables = ['link_flows', 'drops', 'controls']\n",
            "tables = ['windows', 'rates', 'drops']\n",
            "packets = true\n",
        ]);
        write!(toml, "[probes]\ninterval = '{interval}'\n{probes}").unwrap();
        for flow in 0..self.whole(1, 6) {
            let (from, to) = &pairs[flow as usize % pairs.len()];
            let (from, to) = if self.chance(0.2) {
                (to, from)
            } else {
                (from, to)
            };
            let (transport, source) = self.ends();
            let start = self.whole(0, 200);
            let stop = self.maybe(0.2, format!("stop = '{} ms'\n", start + 150));
            let jitter = self.maybe(0.3, "start_jitter = '50 ms'\n".to_owned());
            let class = self.maybe(0.2, "class = 1\n".to_owned());
            write!(
                toml,
                "[[flows]]\nname = 'f{flow}'\nfrom = '{from}'\nto = '{to}'\nstart = '{start} ms'\n\
                 transport = {transport}\nsource = {source}\n{stop}{jitter}{class}"
            )
            .unwrap();
        }
        toml
    }

    fn division(&mut self) -> Division {
        let least = self
            .one_of(&["0 ns", "0 ns", "1 ms", "5 ms"])
            .parse()
            .unwrap();
        let stride = self.one_of(&["1 us", "100 us", "3 ms", "50 ms", "2 s", "2 s"]);
        Division::AtLinks {
            least,
            stride: stride.parse::<Duration>().unwrap(),
            adapts: self.chance(0.5),
        }
    }
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |value| value.parse().expect("a number"))
}

fn run_divided(scenario: &Scenario, registry: &Registry, division: Division) -> Results {
    run_on(scenario, registry, division, 1)
}

fn run_on(scenario: &Scenario, registry: &Registry, division: Division, threads: usize) -> Results {
    let options = on_threads(threads);
    run_watched(scenario, registry, options, (), division, |_| true).unwrap()
}

fn on_threads(threads: usize) -> RunOptions {
    RunOptions {
        threads: NonZero::new(threads),
        ..RunOptions::default()
    }
}

#[test]
fn results_do_not_depend_on_the_division() {
    let registry = Registry::default();
    let (draws, first) = (number("DRAWS", 200), number("SEED", 1));
    for seed in first..first + draws {
        let mut draw = Draw(Random::seed_from_u64(seed));
        let toml = draw.scenario();
        let division = draw.division();
        let threads = draw.whole(1, 4) as usize;
        let context = format!("SEED={seed} {division:?} {threads} threads\n{toml}");
        let scenario = Scenario::from_toml(&toml, &registry)
            .unwrap_or_else(|error| panic!("{error}: {context}"));
        let whole = run_divided(&scenario, &registry, Division::Whole);
        let divided = run_on(&scenario, &registry, division, threads);
        assert_eq!(divided.fingerprint, whole.fingerprint, "{context}");
        assert_eq!(divided.summary, whole.summary, "{context}");
        assert_eq!(divided.tables, whole.tables, "{context}");
    }
}

/// Losses of every tenth packet, whichever link it is on.
#[derive(Debug, JsonSchema, Serialize, Deserialize)]
struct EveryTenth {}

#[derive(Debug)]
struct Tenth(Arc<AtomicUsize>);

struct Kind(Arc<AtomicUsize>);

impl Loss for Tenth {
    fn loses(&mut self, _: Instant, _: u32) -> bool {
        self.0.fetch_add(1, Ordering::Relaxed) % 10 == 9
    }
}

impl LossKind for Kind {
    fn build(&self, _: Random) -> Box<dyn Loss + Send> {
        Box::new(Tenth(Arc::clone(&self.0)))
    }

    fn shares_state(&self) -> bool {
        true
    }
}

/// What shares state is called in order of time, wherever it is in the network.
#[test]
fn what_shares_state_sees_everything_in_order() {
    let toml = "
        name = 'shared'
        duration = '3 s'
        nodes = ['a', 'b', 'c']
        links = [
            { from = 'a', to = 'b', rate = '2 Mbps', delay = '10 ms', loss = { every-tenth = {} } },
            { from = 'b', to = 'c', rate = '2 Mbps', delay = '10 ms', loss = { every-tenth = {} } },
        ]
        flows = [
            { name = 'one', from = 'a', to = 'c', transport = { tcp = {} }, source = 'ftp' },
            { name = 'other', from = 'b', to = 'a', transport = { dccp = { ccid = 2 } }, source = 'ftp' },
        ]
    ";
    let run_with = |division| {
        let mut registry = Registry::default();
        let count = Arc::new(AtomicUsize::new(0));
        registry.losses.register(
            "every-tenth",
            "Every tenth packet.",
            move |_: EveryTenth| Ok(Arc::new(Kind(Arc::clone(&count)))),
        );
        let scenario = Scenario::from_toml(toml, &registry).unwrap();
        [1, 2].map(|threads| run_on(&scenario, &registry, division, threads).fingerprint)
    };
    assert_eq!(run_with(Division::default()), run_with(Division::Whole));
}

/// More happens at one instant than a turn is allowed, and elements are joined in the middle of it.
#[test]
fn bursts_at_one_instant_lose_nothing() {
    let registry = Registry::default();
    for interval_us in (5_000..20_000).step_by(700) {
        let mut toml = "
            name = 'bursts'
            duration = '1 s'
            nodes = ['a', 'b', 'c']
            links = [
                { from = 'a', to = 'b', rate = '1 Gbps', delay = '10 ms' },
                { from = 'b', to = 'c', rate = '10 Mbps', delay = '10 ms', queue = { drop-tail = { packets = 20 } } },
                { from = 'a', to = 'd', rate = '10000 Gbps', delay = '0 ms' },
            ]
        "
        .replace("'c']", "'c', 'd']");
        let rate = 8 * 100 * 1_000_000 / interval_us;
        for flow in 0..150 {
            let to = if flow % 3 == 0 { 'd' } else { 'c' };
            write!(
                toml,
                "[[flows]]\nname = 'f{flow}'\nfrom = 'a'\nto = '{to}'\ntransport = {{ udp = {{}} }}\n\
                 source = {{ cbr = {{ rate = '{rate} bps', datagram = '100 B' }} }}\n"
            )
            .unwrap();
        }
        let scenario = Scenario::from_toml(&toml, &registry).unwrap();
        let whole = run_divided(&scenario, &registry, Division::Whole);
        for threads in [1, 2, 3] {
            let divided = run_on(&scenario, &registry, Division::default(), threads);
            let context = format!("{interval_us} us, {threads} threads");
            assert_eq!(divided.fingerprint, whole.fingerprint, "{context}");
            assert_eq!(divided.tables, whole.tables, "{context}");
        }
    }
}

/// Nothing binds the progress of regions to each other, if no packets go from one to the other or take
/// long: the log would have times that do not fit it.
#[test]
fn regions_without_news_from_each_other_do_not_run_far_ahead() {
    let registry = Registry::default();
    for (delay, far) in [("10 ms", "d"), ("9 s", "b")] {
        let toml = format!(
            "
            name = 'far'
            duration = '30 s'
            nodes = ['a', 'b', 'c', 'd']
            links = [
                {{ from = 'a', to = 'b', rate = '2 Mbps', delay = '{delay}', loss = {{ bernoulli = {{ probability = 0.1 }} }} }},
                {{ from = 'c', to = '{far}', rate = '2 Mbps', delay = '{delay}' }},
            ]
            flows = [
                {{ name = 'one', from = 'a', to = 'b', transport = {{ udp = {{}} }}, source = {{ cbr = {{ rate = '3 kbps', datagram = '100 B' }} }} }},
                {{ name = 'other', from = 'c', to = '{far}', transport = {{ udp = {{}} }}, source = {{ cbr = {{ rate = '2 kbps', datagram = '100 B' }} }} }},
            ]
            [probes]
            interval = '20 s'
            "
        );
        let scenario = Scenario::from_toml(&toml, &registry).unwrap();
        let whole = run_divided(&scenario, &registry, Division::Whole);
        for threads in [1, 2] {
            let divided = run_on(&scenario, &registry, Division::default(), threads);
            let context = format!("{delay}, {threads} threads");
            assert_eq!(divided.threads.used, threads, "{context}");
            assert_eq!(divided.fingerprint, whole.fingerprint, "{context}");
            assert_eq!(divided.tables, whole.tables, "{context}");
        }
    }
}

/// Whatever the division and the samples, a run reports times up to its end, and can be interrupted.
#[test]
fn a_run_reports_its_progress_and_can_be_interrupted() {
    let registry = Registry::default();
    let drawn = Draw(Random::seed_from_u64(3)).scenario();
    let mut scenario = Scenario::from_toml(&drawn, &registry).unwrap();
    for (tables, interval) in [
        (&["queues"][..], 10),
        (&["queues", "windows"], 10),
        (&["queues", "windows"], 1000),
        (&[], 1000),
    ] {
        scenario.probes = Probes {
            tables: tables.iter().map(ToString::to_string).collect(),
            interval: Duration::from_millis(interval),
            ..Probes::default()
        };
        let run_until = |until: f64, threads| {
            let mut most = 0.0_f64;
            let ended = run(&scenario, &registry, on_threads(threads), |fraction| {
                most = most.max(fraction);
                fraction < until
            });
            (ended.err(), most)
        };
        for threads in [1, 2] {
            let context = format!("{tables:?}, {threads} threads");
            let (error, most) = run_until(2.0, threads);
            assert!(error.is_none(), "{context}: {error:?}");
            assert!(most > 0.5 && most <= 1.0, "{context}: {most}");
            let (error, most) = run_until(0.3, threads);
            assert!(matches!(error, Some(RunError::Interrupted)), "{context}");
            assert!(most < 0.9, "{context}: {most}");
        }
    }
}

/// Datagrams at one instant, without end.
#[derive(Debug, JsonSchema, Serialize, Deserialize)]
struct Endless {}

impl SourceKind for Endless {
    fn datagram(&self) -> u64 {
        100
    }

    fn build(&self, _: &Setup<'_>) -> Box<dyn Source> {
        Box::new(Self {})
    }
}

impl Source for Endless {
    fn begins(&self) -> Instant {
        Instant::ZERO + Duration::from_millis(500)
    }

    fn act(&mut self, now: Instant, transport: &mut dyn SendingEnd) -> Option<Instant> {
        transport.send(Payload::Synthetic(100));
        Some(now)
    }
}

/// Time stands still in one element, and others are ahead of it.
#[test]
fn a_source_without_end_can_be_interrupted() {
    let mut registry = Registry::default();
    let build = |endless: Endless| Ok(Arc::new(endless) as Arc<dyn SourceKind>);
    registry.sources.register("endless", "", build);
    let toml = "
        name = 'endless'
        duration = '1000 s'
        nodes = ['a', 'b', 'c', 'd']
        links = [
            { from = 'a', to = 'b', rate = '2 Mbps', delay = '10 ms', queue = { drop-tail = { packets = 9 } } },
            { from = 'c', to = 'd', rate = '2 Mbps', delay = '10 ms' },
        ]
        flows = [
            { name = 'one', from = 'c', to = 'd', transport = { udp = {} }, source = { cbr = { rate = '1 Mbps', datagram = '100 B' } } },
            { name = 'other', from = 'a', to = 'b', transport = { udp = {} }, source = { endless = {} } },
        ]
    ";
    let scenario = Scenario::from_toml(toml, &registry).unwrap();
    for (division, threads) in [
        (Division::default(), 1),
        (Division::default(), 2),
        (Division::Whole, 1),
    ] {
        let mut reports = 0;
        let progress = |_| {
            reports += 1;
            reports < 1_000
        };
        let options = on_threads(threads);
        let ended = run_watched(&scenario, &registry, options, (), division, progress);
        assert!(
            matches!(ended, Err(RunError::Interrupted)),
            "{division:?}, {threads} threads"
        );
    }
}

/// A run says how it used threads, and why they did not help.
#[test]
fn a_run_says_how_it_used_threads() {
    let registry = Registry::default();
    let run_with = |delay: &str, tables: &str, threads| {
        let toml = format!(
            "
            name = 'threads'
            duration = '5 s'
            nodes = ['a', 'b']
            links = [{{ from = 'a', to = 'b', rate = '20 Mbps', delay = '{delay}' }}]
            flows = [{{ name = 'f', from = 'a', to = 'b', transport = {{ tcp = {{}} }}, source = 'ftp' }}]
            [probes]
            tables = [{tables}]
            "
        );
        let scenario = Scenario::from_toml(&toml, &registry).unwrap();
        run(&scenario, &registry, on_threads(threads), |_| true)
            .unwrap()
            .threads
    };
    let one = run_with("10 ms", "", 1);
    assert_eq!((one.used, one.shared, one.obstacle), (1, 0.0, None));
    // There are no more elements than two.
    let two = run_with("10 ms", "", 8);
    assert_eq!((two.used, two.obstacle), (2, None));
    assert!(two.shared > 0.5, "{two:?}");
    for (delay, tables, expected) in [
        ("10 ms", "'windows'", "in order of time"),
        ("0 ms", "", "links without delay"),
        ("1 ns", "", "too few"),
    ] {
        let obstacle = run_with(delay, tables, 2).obstacle.unwrap();
        assert!(obstacle.contains(expected), "{obstacle}");
    }
}
