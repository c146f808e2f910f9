//! Invariants for any network: every byte arrives once and in order, and transfers end.

use proptest::prelude::*;
use rand_xoshiro::SplitMix64;
use skywave_congestion::{
    Aimd, AimdConfig, AnyControl, Cubic, CubicConfig, Vegas, VegasConfig, VegasRules,
};
use skywave_transport::tcp::{
    Event, LimitedTransmit, Ports, ReceiveWindow, Receiver, ReceiverConfig, RecoveryAlgorithm,
    Sender, SenderConfig, SenderControl,
};
use skywave_units::rand_core::{Rng, SeedableRng};
use skywave_units::{Duration, Instant};
use skywave_wire::tcp::{Flags, Segment};

use crate::network::{Direction, Fate, Link, Network, Seen};

/// How a network mistreats segments: chances out of 256.
#[derive(Clone, Copy, Debug)]
struct Mistreatment {
    loss: u8,
    duplication: u8,
    delay: u8,
}

impl Mistreatment {
    fn fate(self, random: &mut SplitMix64) -> Fate {
        let mut chance = |of: u8| (random.next_u32() >> 24) < u32::from(of);
        if chance(self.loss) {
            return Fate::Drop;
        }
        let copies = if chance(self.duplication) { 2 } else { 1 };
        let late = chance(self.delay);
        let mut delay = || {
            let spread = u64::from(random.next_u32() % 60_000);
            if late {
                Duration::from_micros(spread)
            } else {
                Duration::ZERO
            }
        };
        Fate::Copies((0..copies).map(|_| delay()).collect())
    }
}

/// What the receiver must have delivered, derived from the segments that reached it.
#[derive(Default)]
struct Oracle {
    initial: u32,
    /// One flag per offset of the sequence space, including SYN and FIN.
    arrived: Vec<bool>,
    /// The highest acknowledgement that has left the receiver, plus its window.
    allowed: u32,
    /// The scale shift of the receiver's windows.
    window_shift: u8,
    /// The highest acknowledgement that has reached the sender.
    acked: u32,
    /// One flag per offset that the sender knows from SACK to have arrived; cleared at a timeout.
    sacked: Vec<bool>,
    /// What the sender has sent since the last check, and its timeouts then.
    sent: Vec<(usize, usize)>,
    timeouts: u32,
}

impl Oracle {
    fn offset(&self, segment: &Segment) -> usize {
        segment.seq.wrapping_sub(self.initial) as usize
    }

    fn received(&mut self, segment: &Segment) {
        let flags = segment.flags;
        let extra =
            usize::from(flags.contains(Flags::SYN)) + usize::from(flags.contains(Flags::FIN));
        let start = self.offset(segment);
        let stop = start + segment.payload.len() + extra;
        if self.arrived.len() < stop {
            self.arrived.resize(stop, false);
        }
        self.arrived[start..stop].fill(true);
    }

    /// An acknowledgement has arrived at the sender. One that is older than the last says nothing
    /// (RFC 9293 section 3.10.7.4).
    fn acknowledged(&mut self, segment: &Segment) {
        let acked = segment.ack.wrapping_sub(self.initial);
        if acked < self.acked {
            return;
        }
        self.acked = acked;
        for block in &segment.options.sack {
            let offset = |number: u32| number.wrapping_sub(self.initial) as usize;
            let (left, right) = (offset(block.left), offset(block.right));
            assert!(self.arrived[left..right].iter().all(|&arrived| arrived));
            if self.sacked.len() < right {
                self.sacked.resize(right, false);
            }
            self.sacked[left..right].fill(true);
        }
    }

    /// RFC 6675 section 4: what has been SACKed is not sent again.
    fn check_retransmissions(&mut self, timeouts: u32) {
        if timeouts > self.timeouts {
            self.sacked.clear();
        }
        self.timeouts = timeouts;
        for (start, stop) in self.sent.drain(..) {
            let stop = stop.min(self.sacked.len());
            let sent = self.sacked.get(start..stop).unwrap_or_default();
            assert!(!sent.contains(&true), "{start}..{stop} was SACKed");
        }
    }

    fn next(&self) -> usize {
        self.arrived
            .iter()
            .position(|arrived| !arrived)
            .unwrap_or(self.arrived.len())
    }
}

/// Sends `bytes` over a mistreating network. Returns the time until the sender knew that everything
/// had arrived.
fn transfer(
    bytes: u64,
    seed: u64,
    mistreatment: Mistreatment,
    (sender_recovery, sender): (RecoveryAlgorithm, Sender),
    receiver_config: ReceiverConfig,
) -> Duration {
    let receiver = Receiver::new(
        receiver_config,
        Ports {
            local: 2,
            remote: 1,
        },
        seed ^ 1,
    );
    let mut random = SplitMix64::seed_from_u64(seed);
    let fate = |_: Direction, _, _: &_| mistreatment.fate(&mut random);
    let link = |rate| Link::new(rate, "10 ms");
    let mut network = Network::new(sender, receiver, link("10 Mbps"), link("2 Mbps"), fate);
    let mut oracle = Oracle::default();
    let mut completed = None;
    let minds_sacks = sender_recovery == RecoveryAlgorithm::Sack;
    // ns-2's Vegas can reach zero.
    let is_ns2_vegas = matches!(sender_recovery, RecoveryAlgorithm::Ns2Vegas { .. });
    let least_cwnd = if is_ns2_vegas { 0.0 } else { 1.0 };
    let mut see = |now: Instant, seen: Seen<'_>| match seen {
        Seen::Sent(segment) => {
            if segment.flags.contains(Flags::SYN) {
                oracle.initial = segment.seq;
            } else if segment.payload.len() > 1 {
                // A single byte may be a probe of a closed window.
                let start = oracle.offset(segment);
                let stop = start + segment.payload.len();
                if minds_sacks {
                    oracle.sent.push((start, stop));
                }
                assert!(
                    stop <= oracle.allowed as usize,
                    "beyond the receiver's window"
                );
            }
        }
        Seen::Received(segment) => oracle.received(segment),
        Seen::Answered(segment) => {
            let acked = segment.ack.wrapping_sub(oracle.initial);
            assert_eq!(
                acked as usize,
                oracle.next(),
                "an acknowledgement is cumulative"
            );
            let is_syn = segment.flags.contains(Flags::SYN);
            if is_syn {
                oracle.window_shift = segment.options.window_scale.unwrap_or(0);
            }
            let shift = if is_syn { 0 } else { oracle.window_shift };
            let edge = acked + (u32::from(segment.window) << shift);
            assert!(edge >= oracle.allowed, "the right edge never moves back");
            oracle.allowed = edge;
        }
        Seen::Acknowledged(segment) => oracle.acknowledged(segment),
        Seen::Settled(sender, receiver) => {
            let delivered = oracle.next().saturating_sub(1).min(bytes as usize);
            assert_eq!(receiver.get().stats().bytes_delivered, delivered as u64);
            let stats = sender.get().stats();
            oracle.check_retransmissions(stats.timeouts);
            assert!(stats.bytes_acked <= delivered as u64);
            assert!(stats.cwnd >= least_cwnd && stats.ssthresh >= 2.0);
            let (events, _) = sender.apply(
                now,
                |sender| std::iter::from_fn(|| sender.event()).collect::<Vec<_>>(),
                |drain| drain.finish(),
            );
            if events.contains(&Event::AllAcknowledged) {
                assert!(completed.is_none());
                completed = Some(now - Instant::ZERO);
            }
        }
    };
    network.apply(&mut see, |sender| {
        sender.write(bytes).unwrap();
        sender.close();
    });
    network.run(Instant::ZERO + Duration::from_secs(1_000_000), &mut see);
    assert!(network.receiver.get().is_finished());
    assert_eq!(network.receiver.get().stats().bytes_delivered, bytes);
    assert_eq!(network.sender.get().stats().bytes_acked, bytes);
    completed.expect("the transfer completes")
}

fn sender(
    config: SenderConfig,
    window: impl Into<SenderControl>,
    seed: u64,
) -> (RecoveryAlgorithm, Sender) {
    let ports = Ports {
        local: 1,
        remote: 2,
    };
    (config.recovery, Sender::new(config, window, ports, seed))
}

fn aimd(config: &SenderConfig) -> Aimd {
    Aimd::new(AimdConfig::rfc5681(u32::from(config.segment_size)))
}

/// A seed whose sequence numbers wrap within 200 kB.
fn wrapping_seed() -> u64 {
    let first_number = |seed| {
        let mut random = SplitMix64::seed_from_u64(seed);
        random.next_u32()
    };
    (0..)
        .find(|&seed| first_number(seed) > u32::MAX - 200_000)
        .unwrap()
}

const UNTOUCHED: Mistreatment = Mistreatment {
    loss: 0,
    duplication: 0,
    delay: 0,
};

#[test]
fn sequence_numbers_wrap_in_the_middle_of_a_transfer() {
    let mistreatment = Mistreatment {
        loss: 8,
        duplication: 8,
        delay: 8,
    };
    for seed in 0..20 {
        let config = SenderConfig::default();
        let sender = sender(config, aimd(&config), wrapping_seed());
        transfer(
            400_000,
            seed,
            mistreatment,
            sender,
            ReceiverConfig::default(),
        );
    }
}

#[test]
fn a_clean_path_is_filled_and_nothing_is_sent_twice() {
    let config = SenderConfig::default();
    let receiver = ReceiverConfig {
        window: ReceiveWindow::Fixed(100_000),
        ..ReceiverConfig::default()
    };
    // 1 MB at 2 Mbps take 4.1 s with headers.
    let sender = sender(config, aimd(&config), 5);
    let taken = transfer(1_000_000, 0, UNTOUCHED, sender, receiver).as_secs_f64();
    assert!((4.1..4.6).contains(&taken), "{taken}");
}

const RECOVERIES: [RecoveryAlgorithm; 9] = [
    RecoveryAlgorithm::Tahoe,
    RecoveryAlgorithm::Reno {
        once_per_window: false,
    },
    RecoveryAlgorithm::Reno {
        once_per_window: true,
    },
    RecoveryAlgorithm::NewReno,
    RecoveryAlgorithm::Sack,
    RecoveryAlgorithm::Rack,
    RecoveryAlgorithm::Sack1,
    RecoveryAlgorithm::Vegas,
    RecoveryAlgorithm::Ns2Vegas { table: 20 },
];

const LIMITED_TRANSMIT: [LimitedTransmit; 3] = [
    LimitedTransmit::Off,
    LimitedTransmit::NewData,
    LimitedTransmit::Any,
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// With every recovery and every control.
    #[test]
    fn every_byte_arrives_once_and_in_order(
        bytes in 1_u64..120_000,
        seed: u64,
        (loss, duplication, delay) in (0_u8..80, 0_u8..60, 0_u8..120),
        limited_transmit in prop::sample::select(&LIMITED_TRANSMIT[..]),
        send_jitter in prop_oneof![Just(0_u64), 0_u64..100],
        (ns2, wraps) in (any::<bool>(), any::<bool>()),
        recovery in prop::sample::select(&RECOVERIES[..]),
        control in 0..4,
        window in prop_oneof![300_u32..3000, 3000_u32..200_000],
        autotunes: bool,
        delayed_ack in prop::option::of(0_u64..600),
    ) {
        let base = if ns2 {
            SenderConfig::ns2(recovery)
        } else {
            SenderConfig { segment_size: 900, ..SenderConfig::rfc(recovery) }
        };
        let send_jitter = Duration::from_millis(send_jitter);
        let config = SenderConfig { limited_transmit, send_jitter, ..base };
        let segment = u32::from(config.segment_size);
        let policy: SenderControl = match control {
            0 => aimd(&config).into(),
            1 => AnyControl::new(Cubic::new(CubicConfig::rfc9438(segment))).into(),
            2 => AnyControl::new(Vegas::new(VegasConfig::new(2.0))).into(),
            _ => {
                let rules = VegasRules::Ns2;
                let vegas = Vegas::new(VegasConfig { rules, ..VegasConfig::new(2.0) });
                SenderControl::Ns2Vegas(Box::new(vegas))
            }
        };
        let sender = sender(config, policy, if wraps { wrapping_seed() } else { seed });
        let receiver_config = ReceiverConfig {
            window: if autotunes {
                ReceiveWindow::Autotuned { max: window }
            } else {
                ReceiveWindow::Fixed(window)
            },
            syn_options: config.syn_options,
            delayed_ack: delayed_ack.map(Duration::from_millis),
            ..ReceiverConfig::default()
        };
        transfer(bytes, seed, Mistreatment { loss, duplication, delay }, sender, receiver_config);
    }
}

/// An acknowledgement with SACK blocks is overtaken by a later one.
#[test]
fn an_overtaken_acknowledgement_is_ignored_with_its_sacks() {
    let recovery = RecoveryAlgorithm::Sack;
    let config = SenderConfig {
        limited_transmit: LimitedTransmit::Off,
        ..SenderConfig::ns2(recovery)
    };
    let seed = 10_770_657_543_278_455_549;
    let control = AnyControl::new(Cubic::new(CubicConfig::rfc9438(1000)));
    let mistreatment = Mistreatment {
        loss: 35,
        duplication: 27,
        delay: 55,
    };
    let receiver = ReceiverConfig {
        window: ReceiveWindow::Fixed(65_001),
        syn_options: false,
        delayed_ack: Some(Duration::from_millis(5)),
        ..ReceiverConfig::default()
    };
    transfer(
        69_001,
        seed,
        mistreatment,
        sender(config, control, seed),
        receiver,
    );
}
