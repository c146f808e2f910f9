//! The plan for a connection of `chaos`, drawn from a seed in advance.

use rand::RngExt;
use rand::seq::IndexedRandom;
use skywave_transport::dccp::{Ccids, Config};
use skywave_units::{Duration, Instant, Random};

use crate::load_vectors::LoadVectors;
use crate::network::Side;
use crate::path::{Path, up_to};

use Side::{Client, Server};

/// When applications stop, at the latest.
const APPLICATIONS_END: Duration = Duration::from_secs(40);

/// An action of an application.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Act {
    /// Sends this many datagrams of up to this many bytes each.
    Burst {
        count: u32,
        size: usize,
    },
    /// Reads at most this many datagrams.
    Read(usize),
    Close,
    Abort,
    /// Not by the application: the machine is suspended for this long.
    Jump(Duration),
}

/// A connection before it begins.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) configs: [Config; 2],
    pub(crate) paths: [Path; 2],
    /// In order of time.
    pub(crate) acts: Vec<(Instant, Side, Act)>,
    /// Whether everything sent must arrive: nothing is lost, closed early or dropped.
    pub(crate) is_harmless: bool,
}

fn one_in(count: u32, rng: &mut Random) -> bool {
    rng.random_ratio(1, count)
}

fn millis(most: u64, rng: &mut Random) -> Duration {
    Duration::from_millis(rng.random_range(0..=most))
}

fn config(rng: &mut Random) -> Config {
    let mut ccids = Ccids::default();
    ccids.enter(LoadVectors);
    Config {
        ccids,
        allow_short_seqnos: one_in(2, rng),
        sequence_window: match rng.random_range(0..4) {
            0 => 100,
            1 => rng.random_range(32..100),
            2 => rng.random_range(100..5_000),
            _ => (1 << 46) - 1,
        },
        ecn_incapable: one_in(6, rng),
        ecn_nonces: one_in(4, rng),
        detect_optimistic_acks: !one_in(4, rng),
        ack_ratio: rng.random_range(1..=8),
        request_ndp_count: one_in(2, rng),
        checksum_coverage: if one_in(3, rng) {
            rng.random_range(0..=15)
        } else {
            0
        },
        minimum_checksum_coverage: if one_in(3, rng) {
            rng.random_range(0..=15)
        } else {
            0
        },
        send_data_checksum: one_in(3, rng),
        check_data_checksum: one_in(2, rng),
        deliver_corrupted: one_in(3, rng),
        mps: rng.random_range(64..=1_400),
        send_queue: rng.random_range(1..=64),
        receive_queue: rng.random_range(1..=64),
        server_holds_timewait: one_in(3, rng),
        partopen_retry: Duration::from_millis(rng.random_range(10..=400)),
        linger: Duration::from_millis(rng.random_range(0..=60_000)),
        syncs_per_second: rng.random_range(1..=16),
        ..Config::default()
    }
}

fn path(kind: u32, rng: &mut Random) -> Path {
    let mut path = Path::clean(match rng.random_range(0..4) {
        0 => Duration::ZERO,
        1 => millis(2, rng),
        2 => millis(60, rng),
        _ => millis(700, rng),
    });
    path.marking = if one_in(3, rng) {
        rng.random_range(0.0..0.2)
    } else {
        0.0
    };
    if kind == 0 {
        return path;
    }
    let mut some = |most: f64| {
        if one_in(2, rng) {
            rng.random_range(0.0..most)
        } else {
            0.0
        }
    };
    path.loss = some(0.3);
    path.duplication = some(0.3);
    path.reordering = some(0.3);
    path.corruption = some(0.2);
    path.forgery = if kind == 1 { some(0.05) } else { 0.0 };
    if one_in(2, rng) {
        path.jitter = millis(80, rng);
    }
    if one_in(5, rng) {
        let from = Instant::ZERO + millis(20_000, rng);
        path.blackouts.push((from, from + millis(30_000, rng)));
    }
    path
}

pub(crate) fn plan(rng: &mut Random) -> Plan {
    let kind = rng.random_range(0..6);
    let mut paths = [path(kind, rng), path(kind, rng)];
    if kind != 0 && one_in(12, rng) {
        let from = Instant::ZERO + millis(30_000, rng);
        for path in &mut paths {
            path.blackouts.push((from, Instant::MAX));
        }
    }
    let mut configs = [config(rng), config(rng)];
    for (from, to) in [(0, 1), (1, 0)] {
        let known: Vec<_> = configs[from].ccids.numbers().collect();
        if let Some(&ccid) = known.choose(rng) {
            configs[from].sender_ccids = vec![ccid];
            configs[to].receiver_ccids = vec![ccid];
        }
    }
    let is_harmless = kind == 0;
    if !is_harmless && one_in(40, rng) {
        // CCID 2 does not accept that: the handshake fails.
        configs[0].send_ack_vector = false;
    }
    let mut acts = Vec::new();
    for side in Side::BOTH {
        let mut at = Instant::ZERO;
        if is_harmless {
            let config = &mut configs[side as usize];
            config.receive_queue = 10_000;
            config.linger = Duration::from_secs(600);
            at += Duration::from_secs(8);
        }
        let talks = !one_in(4, rng);
        let slow_reader = one_in(4, rng);
        for _ in 0..rng.random_range(0..30) {
            at += if one_in(8, rng) {
                millis(5_000, rng)
            } else {
                millis(150, rng)
            };
            if talks {
                let count = rng.random_range(0..=20);
                let size = configs[side as usize].mps as usize + usize::from(one_in(20, rng));
                acts.push((at, side, Act::Burst { count, size }));
            }
            acts.push((at, side, Act::Read(if slow_reader { 1 } else { 1_000 })));
            if !is_harmless && one_in(200, rng) {
                acts.push((at, side, Act::Jump(up_to(Duration::from_secs(7_200), rng))));
            }
        }
        if !is_harmless && one_in(10, rng) {
            acts.push((at, side, Act::Abort));
        }
        if is_harmless {
            continue;
        }
        let closes_at = if one_in(2, rng) {
            at
        } else {
            Instant::ZERO + APPLICATIONS_END
        };
        acts.push((closes_at + millis(500, rng), side, Act::Close));
    }
    if is_harmless {
        // One end closes long after everything has arrived; the other follows.
        let at = Instant::ZERO + Duration::from_secs(1_000);
        let side = if one_in(2, rng) { Client } else { Server };
        acts.push((at, side, Act::Close));
    }
    acts.sort_by_key(|&(at, side, _)| (at, side));
    Plan {
        configs,
        paths,
        acts,
        is_harmless,
    }
}
