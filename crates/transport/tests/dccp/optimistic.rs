//! Receivers that acknowledge what has not arrived, and honest ones, facing a sender that skips
//! numbers.

use std::iter;
use std::sync::Arc;

use skywave_transport::dccp::{Ccid, Config, Event, Origin, State};
use skywave_units::Duration;
use skywave_wire::Payload;
use skywave_wire::dccp::{
    DccpOption, FeatureNumber, FeatureSide, Kind, OptionBytes, Packet, ResetCode, SeqNo,
};

use crate::load_vectors::{LOAD_VECTORS, LoadVectors};
use crate::network::{Network, Side};
use crate::path::Path;
use crate::victim::{MILLISECOND, Victim, change, reset_code, tcp_like, window};

/// The round-trip time of an honest receiver.
const RTT: Duration = Duration::from_millis(100);

/// The packets that an Ack Vector reports here: three options of maximum length are far more.
const REPORTED: u64 = 600;

/// An Ack Vector that starts at `ack`, with the state of each number.
fn vector(ack: SeqNo, has_arrived: impl Fn(SeqNo) -> bool) -> DccpOption {
    let mut cells: Vec<u8> = Vec::new();
    for age in 0..REPORTED {
        let state = if has_arrived(ack.sub(age)) { 0 } else { 0xc0 };
        match cells.last_mut() {
            Some(cell) if *cell & 0xc0 == state && *cell & 0x3f < 0x3f => *cell += 1,
            _ => cells.push(state),
        }
    }
    DccpOption::AckVector {
        nonce: false,
        cells: OptionBytes::from_vec(cells),
    }
}

/// A sender with a peer that knows which numbers it has really sent.
struct Scene {
    victim: Victim,
    /// Numbers that were skipped.
    skipped: Vec<SeqNo>,
    last_seen: SeqNo,
}

impl Scene {
    fn new(seed: u64) -> Self {
        let victim = Victim::seeded(tcp_like(), seed);
        let last_seen = victim.gss;
        Self {
            victim,
            skipped: Vec::new(),
            last_seen,
        }
    }

    fn note(&mut self, sent: &[Packet]) {
        for packet in sent {
            let mut seq = self.last_seen.next();
            while seq != packet.seq {
                self.skipped.push(seq);
                seq = seq.next();
            }
            self.last_seen = packet.seq;
        }
    }

    /// Sends what congestion control permits, and waits.
    fn send(&mut self, wait: Duration) {
        assert!(self.is_open(), "the connection has ended");
        let sent = self.victim.send(64);
        self.note(&sent);
        let sent = self.victim.wait(wait);
        self.note(&sent);
    }

    fn is_open(&self) -> bool {
        self.victim.state() == State::Open
    }

    fn data_sent(&self) -> u64 {
        let stats = self.victim.end.get().stats();
        stats.counters.data_packets_sent
    }

    /// Acknowledges `ack`, and reports as received what `has_arrived` says.
    fn report(&mut self, ack: SeqNo, has_arrived: impl Fn(SeqNo) -> bool) -> Vec<Packet> {
        let sent = self
            .victim
            .say(Kind::Ack { ack }, &[vector(ack, has_arrived)]);
        self.note(&sent);
        sent
    }

    /// Acknowledges everything that was sent, and nothing else.
    fn honest(&mut self) -> Vec<Packet> {
        let skipped = self.skipped.clone();
        self.report(self.victim.gss, |seq| !skipped.contains(&seq))
    }

    /// Acknowledges everything up to the newest packet.
    fn optimistic(&mut self) -> Vec<Packet> {
        self.report(self.victim.gss, |_| true)
    }

    /// Checks that the sender has ended the connection, and that application and peer can tell why.
    fn assert_penalised(&mut self, last: &[Packet]) {
        assert_eq!(reset_code(last), Some(ResetCode::AGGRESSION_PENALTY));
        let closed = Event::Closed {
            code: ResetCode::AGGRESSION_PENALTY,
            origin: Origin::Local,
        };
        assert_eq!(self.victim.events().last(), Some(&closed));
        assert_eq!(self.victim.state(), State::Closed);
    }
}

/// A receiver that acknowledges what is still on its way is caught before the sender has sent 512
/// packets.
#[test]
fn acknowledgements_after_a_tenth_of_the_round_trip_are_caught() {
    for seed in 0..200 {
        let mut scene = Scene::new(seed);
        let mut last = Vec::new();
        while scene.is_open() {
            scene.send(RTT / 10);
            last = scene.optimistic();
            assert!(scene.data_sent() <= 512, "seed {seed}");
        }
        scene.assert_penalised(&last);
    }
}

/// Nor does it help to be honest for 5,000 packets.
#[test]
fn optimism_late_in_a_connection_is_caught() {
    for seed in 0..40 {
        let mut scene = Scene::new(seed);
        while scene.data_sent() < 5_000 {
            scene.send(RTT);
            scene.honest();
            assert!(
                scene.is_open(),
                "seed {seed}: an honest receiver is accused"
            );
        }
        let mut last = Vec::new();
        while scene.is_open() {
            scene.send(RTT / 10);
            last = scene.optimistic();
            assert!(scene.data_sent() < 25_000, "seed {seed}");
        }
        scene.assert_penalised(&last);
    }
}

/// Acknowledgement numbers alone give an optimist away, without an Ack Vector.
#[test]
fn an_acknowledgement_number_that_was_skipped_is_caught() {
    for seed in 0..50 {
        let mut scene = Scene::new(seed);
        let mut acked = scene.victim.gss;
        let mut last = Vec::new();
        while scene.is_open() {
            scene.send(MILLISECOND);
            while scene.is_open() && acked.is_before(scene.victim.gss) {
                acked = acked.next();
                last = scene.victim.say(Kind::Ack { ack: acked }, &[]);
                scene.note(&last);
            }
            assert!(scene.data_sent() <= 1_000, "seed {seed}");
        }
        scene.assert_penalised(&last);
    }
}

/// A receiver that first reports everything truthfully and then conceals the holes is caught.
#[test]
fn concealing_what_was_reported_missing_is_caught() {
    for seed in 0..50 {
        let mut scene = Scene::new(seed);
        let mut last = Vec::new();
        while scene.is_open() {
            scene.send(RTT);
            last = scene.honest();
            if scene.is_open() {
                last = scene.optimistic();
            }
            assert!(scene.data_sent() <= 1_000, "seed {seed}");
        }
        scene.assert_penalised(&last);
    }
}

/// D12.3-1: an attacker may inject a packet with the skipped number, which an honest receiver then reports.
/// That slows the sender down, but does not end the connection.
#[test]
fn one_false_report_counts_as_a_mark() {
    let mut scene = Scene::new(3);
    scene.send(RTT);
    while scene.skipped.is_empty() {
        scene.honest();
        scene.send(RTT);
    }
    let injected = scene.skipped[0];
    let cwnd = |scene: &Scene| window(&scene.victim.end.get().stats()).cwnd;
    let before = cwnd(&scene);
    for turn in 0..20 {
        // While the number is within reach, it is reported again and again.
        let skipped = scene.skipped.clone();
        scene.report(scene.victim.gss, |seq| {
            seq == injected || !skipped.contains(&seq)
        });
        if turn == 0 {
            assert!(cwnd(&scene) < before * 0.75, "{before}");
        }
        scene.send(RTT);
        assert!(scene.is_open());
    }
    assert!(cwnd(&scene) > before, "it recovers");
    while scene.data_sent() < 20_000 {
        scene.honest();
        scene.send(RTT);
    }
    assert!(scene.is_open());
}

/// To an honest receiver the numbers are packets without data: it is never accused, its sender
/// never slows down, and few numbers are skipped.
#[test]
fn honest_receivers_lose_nothing() {
    for seed in 0..4 {
        let mut scene = Scene::new(seed);
        let mut cwnd = 0.0;
        while scene.data_sent() < 50_000 {
            scene.send(RTT);
            scene.honest();
            let stats = scene.victim.end.get().stats();
            let now = window(&stats);
            assert_eq!((now.lost, now.marked, stats.timeouts), (0, 0, 0));
            assert!(now.cwnd >= cwnd, "seed {seed}: {now:?}");
            cwnd = now.cwnd;
        }
        assert!(scene.is_open());
        let count = scene.skipped.len();
        assert!((5..30).contains(&count), "{count} numbers skipped");
    }
}

/// D7.7-1: an NDP Count counts a skipped number as a packet without data, so that the peer misses no
/// data.
#[test]
fn ndp_counts_include_skipped_numbers() {
    let mut scene = Scene::new(1);
    let wanted = change(FeatureSide::Remote, FeatureNumber::SEND_NDP_COUNT.0, &[1]);
    let sent = scene.victim.acknowledge(&[wanted]);
    scene.note(&sent);
    while scene.skipped.len() < 3 {
        let mut last = scene.last_seen;
        let mut packets = scene.victim.send(64);
        packets.extend(scene.victim.wait(RTT));
        scene.note(&packets);
        packets.extend(scene.honest());
        for packet in packets {
            let missing = packet.seq.distance_from(last) - 1;
            let count = packet.options.iter().find_map(|option| match option {
                DccpOption::NdpCount { count, .. } => Some(*count),
                _ => None,
            });
            assert!(count.unwrap_or(0) >= missing as u64, "{packet}");
            last = packet.seq;
        }
    }
}

/// The gaps in the numbers of the client's packets, after `rounds` of four datagrams, which the
/// connection must survive.
fn gaps(config: &Config, path: &Path, rounds: u32, seed: u64) -> u64 {
    let config = Arc::new(config.clone());
    let paths = [path.clone(), path.clone()];
    let mut network = Network::new([config.clone(), config], paths, seed);
    network.log = Some(Vec::new());
    network.start();
    for _ in 0..rounds {
        network.run_for(MILLISECOND * 10);
        for _ in 0..4 {
            let _ = network.apply(Side::Client, |end, _| end.send(Payload::Synthetic(100)));
        }
        while network.apply(Side::Server, |end, _| end.recv()).is_some() {}
    }
    network.run_for(Duration::from_secs(20));
    for side in Side::BOTH {
        assert_eq!(network.get(side).state(), State::Open, "seed {seed}");
    }
    let log = network.log.take().unwrap();
    let numbers: Vec<_> = log
        .iter()
        .filter(|sent| sent.from == Side::Client)
        .map(|sent| sent.packet.seq)
        .collect();
    assert!(numbers.len() > 800, "{}", numbers.len());
    let steps = iter::zip(&numbers, &numbers[1..]);
    steps
        // Some packets carry 24 bits only.
        .map(|(one, next)| u64::from(next.short().wrapping_sub(one.short()) & 0xff_ffff) - 1)
        .sum()
}

/// Loss, repetition and reordering do not make an honest receiver a suspect.
#[test]
fn honest_receivers_on_bad_paths_are_not_accused() {
    let path = Path {
        jitter: MILLISECOND * 30,
        loss: 0.03,
        duplication: 0.1,
        reordering: 0.1,
        marking: 0.01,
        ..Path::clean(MILLISECOND * 5)
    };
    for seed in 0..20 {
        let config = Config {
            allow_short_seqnos: seed % 2 == 0,
            request_ndp_count: seed % 3 == 0,
            ..tcp_like()
        };
        assert!(gaps(&config, &path, 2_000, seed) >= 2, "seed {seed}");
    }
}

/// Nothing is skipped where acknowledgements name no packets, or where it is turned off.
#[test]
fn only_named_packets_are_skipped() {
    let path = Path::clean(MILLISECOND * 5);
    let gaps_under = |ccid, detect_optimistic_acks| {
        let mut config = Config {
            sender_ccids: vec![ccid],
            receiver_ccids: vec![ccid],
            detect_optimistic_acks,
            ..Config::default()
        };
        config.ccids.enter(LoadVectors);
        gaps(&config, &path, 300, 7)
    };
    for ccid in [Ccid::TCP_LIKE, Ccid::SENDERS_CHOICE, LOAD_VECTORS] {
        assert!((1..20).contains(&gaps_under(ccid, true)), "{ccid}");
    }
    for ccid in [Ccid::TFRC, Ccid::TFRC_SP] {
        assert_eq!(gaps_under(ccid, true), 0, "{ccid}");
    }
    assert_eq!(gaps_under(Ccid::TCP_LIKE, false), 0);
}
