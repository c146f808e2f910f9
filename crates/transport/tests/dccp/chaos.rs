//! Thousands of connections, each with its own configuration, path and two applications, all drawn
//! from a seed.
//!
//! The invariants, for any path: a delivered datagram was sent, is delivered no more often than it
//! was sent, and is unaltered unless its checksums could not detect it; pipe never exceeds what was
//! sent; both ends terminate and leave no timer.
//!
//! `SKYWAVE_SEED=17` runs one connection again and prints its packets; `SKYWAVE_CONNECTIONS=100000`
//! runs more connections.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread;

use rand::RngExt;
use skywave_transport::dccp::{Config, Counters, Event, State};
use skywave_units::{Duration, Instant, Random};
use skywave_wire::Payload;
use skywave_wire::dccp::ResetCode;

use crate::network::{Network, Side, seeded};
use crate::plan::{Act, Plan, plan};

const CONNECTIONS: u64 = 10_000;

/// The MTU of the ends' links.
const LINK: u32 = 1_500;
/// IPv4.
const LOWER_HEADERS: u32 = 20;

/// Every connection is over by then: longer than TIMEWAIT, linger and the longest give-up time
/// together.
const OVER: Duration = Duration::from_secs(3_600);

/// How often each datagram may still be delivered.
type Ledger = BTreeMap<Vec<u8>, u32>;

/// Consumes one delivery; false if none is left.
fn take(ledger: &mut Ledger, data: &[u8]) -> bool {
    match ledger.get_mut(data) {
        Some(left) if *left > 0 => {
            *left -= 1;
            true
        }
        _ => false,
    }
}

struct Run {
    network: Network,
    configs: [Arc<Config>; 2],
    /// What each side's application sent.
    sent: [Ledger; 2],
    /// The number of datagrams that each side sent and received.
    counts: [(u32, u32); 2],
    /// Altered data passed to each side, because the checksum could not detect it.
    altered: [Ledger; 2],
    rng: Random,
    connects: [u32; 2],
    closed: [Option<ResetCode>; 2],
    /// How two correct ends may terminate while no altered packet gets through.
    expected: Vec<ResetCode>,
    is_harmless: bool,
}

impl Run {
    fn new(plan: &Plan, seed: u64, rng: Random) -> Self {
        let configs = plan.configs.clone().map(Arc::new);
        let mut expected = vec![
            ResetCode::CLOSED,
            ResetCode::ABORTED,
            // The server's application is gone.
            ResetCode::NO_CONNECTION,
            ResetCode::CONNECTION_REFUSED,
        ];
        if configs.iter().any(|config| !config.send_ack_vector) {
            expected.push(ResetCode::MANDATORY_ERROR);
        }
        let mut network = Network::new(configs.clone(), plan.paths.clone(), seed);
        // Every other path is a real one, which the ends explore.
        if seed % 2 == 1 {
            for end in &mut network.ends {
                end.apply(
                    Instant::ZERO,
                    |end| end.set_path(Instant::ZERO, LINK, LOWER_HEADERS),
                    |drain| drain.postpone(),
                );
            }
        }
        // Some paths carry less than their first link.
        if seed % 8 >= 6 && !plan.is_harmless {
            for path in &mut network.paths {
                path.longest = Some(500 + (seed % 1_000) as usize);
            }
        }
        Self {
            expected,
            network,
            configs,
            sent: Default::default(),
            counts: Default::default(),
            altered: Default::default(),
            rng,
            connects: [0; 2],
            closed: [None; 2],
            is_harmless: plan.is_harmless,
        }
    }

    fn act(&mut self, side: Side, act: Act) {
        match act {
            Act::Burst { count, size } => {
                for _ in 0..count {
                    self.send(side, size);
                }
            }
            Act::Read(count) => self.read(side, count),
            Act::Close => self.network.apply(side, |end, now| end.close(now)),
            Act::Abort => self.network.apply(side, |end, now| end.abort(now)),
            Act::Jump(time) => self.network.jump(side, time),
        }
    }

    /// Sends a unique datagram, unless it is very short.
    fn send(&mut self, side: Side, size: usize) {
        let (count, _) = &mut self.counts[side as usize];
        let mut data = vec![0; self.rng.random_range(0..=size)];
        self.rng.fill(&mut data[..]);
        for (byte, mark) in data.iter_mut().zip(count.to_be_bytes()) {
            *byte = mark;
        }
        let payload = Payload::from(data.clone());
        if self.network.apply(side, |end, _| end.send(payload)).is_ok() {
            *count += 1;
            *self.sent[side as usize].entry(data).or_default() += 1;
        }
    }

    fn read(&mut self, side: Side, most: usize) {
        self.note_altered(side);
        for _ in 0..most {
            let Some(datagram) = self.network.apply(side, |end, _| end.recv()) else {
                break;
            };
            self.counts[side as usize].1 += 1;
            let data = datagram.payload.to_bytes();
            if datagram.corrupted {
                assert!(self.configs[side as usize].deliver_corrupted);
            } else if take(&mut self.sent[side.other() as usize], &data) {
                continue;
            }
            assert!(
                take(&mut self.altered[side as usize], &data),
                "{side:?} received a datagram that was not sent, or received it too often: {data:?}"
            );
        }
        self.events(side);
    }

    /// Records altered data that the checksums could not detect, which may be delivered.
    fn note_altered(&mut self, side: Side) {
        let config = &self.configs[side as usize];
        for packet in self.network.altered[side as usize].drain(..) {
            let is_known_bad = packet.verify_data_checksum() == Some(false);
            if is_known_bad && config.check_data_checksum && !config.deliver_corrupted {
                continue;
            }
            let data = packet.payload.to_bytes().to_vec();
            *self.altered[side as usize].entry(data).or_default() += 1;
        }
    }

    fn events(&mut self, side: Side) {
        while let Some(event) = self.network.apply(side, |end, _| end.event()) {
            if event == Event::Connected {
                self.connects[side as usize] += 1;
                assert_eq!(self.connects[side as usize], 1, "{side:?} connects twice");
            }
            if let Event::Closed { code, .. } = event {
                assert!(
                    self.network.unseen > 0 || self.expected.contains(&code),
                    "{side:?} ends with {code}"
                );
                let before = self.closed[side as usize].replace(code);
                assert_eq!(before, None, "{side:?} ends twice");
            }
        }
    }

    fn check(&self) {
        for side in Side::BOTH {
            let stats = self.network.get(side).stats();
            if let Some(window) = stats.congestion.window() {
                assert!(
                    u64::from(window.pipe) <= stats.counters.data_packets_sent,
                    "{side:?} has a pipe of {} packets and has sent {:?}",
                    window.pipe,
                    stats.counters
                );
            }
            if let Some(rate) = stats.congestion.rate() {
                let p = rate.loss_event_rate;
                assert!((0.0..=1.0).contains(&p), "{side:?} has p = {p}");
            }
        }
    }

    fn run_until(&mut self, end: Instant) {
        while self.network.step(end) {
            self.check();
        }
        self.network.run_until(end);
    }

    /// Checks that everything is over.
    fn finish(&mut self) -> [Counters; 2] {
        for side in Side::BOTH {
            self.read(side, usize::MAX);
            let end = self.network.get(side);
            assert_eq!(end.state(), State::Closed, "{side:?} has not ended");
            assert_eq!(
                self.network.deadline(side),
                None,
                "{side:?} has a timer left"
            );
            let delivered = end.stats().counters.datagrams_delivered;
            assert_eq!(delivered, u64::from(self.counts[side as usize].1));
        }
        assert!(self.network.is_silent());
        if self.is_harmless {
            assert_eq!(self.closed, [Some(ResetCode::CLOSED); 2]);
            for side in Side::BOTH {
                let (sent, received) = (
                    self.counts[side as usize].0,
                    self.counts[side.other() as usize].1,
                );
                assert_eq!(received, sent, "{side:?}'s datagrams on a clean path");
            }
        }
        Side::BOTH.map(|side| self.network.get(side).stats().counters)
    }
}

/// On failure, prints how to run the connection again.
struct Seed(u64);

impl Drop for Seed {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("run it again with SKYWAVE_SEED={}", self.0);
        }
    }
}

/// Runs a connection from start to end.
fn run(seed: u64, verbose: bool) -> Totals {
    let seed = Seed(seed);
    let mut rng = seeded(seed.0);
    let plan = plan(&mut rng);
    let mut run = Run::new(&plan, seed.0, rng);
    if verbose {
        println!("{plan:#?}");
        run.network.is_verbose = true;
    }
    run.network.start();
    for &(at, side, act) in &plan.acts {
        run.run_until(at);
        run.act(side, act);
    }
    run.run_until(run.network.now + OVER);
    let counters = run.finish();
    Totals {
        connections: 1,
        connected: u64::from(run.connects == [1; 2]),
        sent: run.counts.iter().map(|&(sent, _)| u64::from(sent)).sum(),
        delivered: run.counts.iter().map(|&(_, read)| u64::from(read)).sum(),
        packets: counters.iter().map(|end| end.packets_sent).sum(),
        caught: run.network.caught,
        unseen: run
            .altered
            .iter()
            .flat_map(BTreeMap::values)
            .map(|&n| u64::from(n))
            .sum(),
    }
}

/// Totals over all connections.
#[derive(Debug, Default)]
struct Totals {
    connections: u64,
    connected: u64,
    sent: u64,
    delivered: u64,
    packets: u64,
    caught: u64,
    unseen: u64,
}

impl Totals {
    fn add(&mut self, other: &Self) {
        self.connections += other.connections;
        self.connected += other.connected;
        self.sent += other.sent;
        self.delivered += other.delivered;
        self.packets += other.packets;
        self.caught += other.caught;
        self.unseen += other.unseen;
    }
}

fn variable(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    match text.parse() {
        Ok(number) => Some(number),
        Err(_) => panic!("{name}={text} is not a number"),
    }
}

#[test]
fn invariants_hold_on_every_path() {
    if let Some(seed) = variable("SKYWAVE_SEED") {
        println!("{:?}", run(seed, true));
        return;
    }
    let connections = variable("SKYWAVE_CONNECTIONS").unwrap_or(CONNECTIONS);
    let threads = thread::available_parallelism().map_or(1, |count| count.get() as u64);
    let stripe = |first: u64| {
        let mut totals = Totals::default();
        for seed in (first..connections).step_by(threads as usize) {
            totals.add(&run(seed, false));
        }
        totals
    };
    let mut totals = Totals::default();
    thread::scope(|scope| {
        let stripe = &stripe;
        let running: Vec<_> = (0..threads)
            .map(|first| scope.spawn(move || stripe(first)))
            .collect();
        for thread in running {
            totals.add(&thread.join().expect("a connection failed, as said above"));
        }
    });
    println!("{totals:?}");
    // The paths let most connections succeed, and do alter packets, detectably and not.
    assert_eq!(totals.connections, connections);
    assert!(totals.connected > connections * 8 / 10, "{totals:?}");
    assert!(totals.delivered > totals.sent / 2, "{totals:?}");
    assert!(
        totals.caught > connections && totals.unseen > 0,
        "{totals:?}"
    );
}

/// The same seed gives the same connection, so that failures can be replayed.
#[test]
fn a_seed_replays() {
    for seed in 0..50 {
        let [one, other] = [run(seed, false), run(seed, false)].map(|totals| format!("{totals:?}"));
        assert_eq!(one, other);
    }
}
