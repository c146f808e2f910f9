//! The pseudocode of RFC 9332 Appendix A, held against the implementation.
//!
//! Figures 3, 4 (`recur`), 5, 7, 8 and 10 (`scheduler`) are written down line by line, with a timer
//! that fires every Tupdate. What the figures leave open is read as the module of the implementation
//! says.

use rand::{RngExt, SeedableRng};
use skywave_units::Random;

use super::*;
use crate::contract::Parcel;

#[derive(Default)]
struct PacketQueue {
    packets: VecDeque<(Instant, Parcel)>,
    count: f64,
}

impl PacketQueue {
    fn byt(&self) -> u64 {
        let sizes = self.packets.iter().map(|(_, pkt)| u64::from(pkt.size()));
        sizes.sum()
    }

    fn time(&self, now: Instant) -> Duration {
        let head = self.packets.front();
        head.map_or(Duration::ZERO, |&(timestamp, _)| now - timestamp)
    }
}

fn recur(q: &mut PacketQueue, likelihood: f64) -> bool {
    q.count += likelihood;
    if q.count > 1.0 {
        q.count -= 1.0;
        return true;
    }
    false
}

struct Pseudocode {
    lq: PacketQueue,
    cq: PacketQueue,
    limit: u64,
    params: DualPi2Config,
    p: f64,
    p_cl: f64,
    p_c: f64,
    prevq: f64,
    timer: Instant,
    /// Of WRR: bytes sent by L4S, and weighted bytes sent by Classic, while both had packets.
    sent: [u64; 2],
    drops: Vec<Parcel>,
}

impl Pseudocode {
    fn new(limit: u64, params: DualPi2Config) -> Self {
        Self {
            lq: PacketQueue::default(),
            cq: PacketQueue::default(),
            limit,
            params,
            p: 0.0,
            p_cl: 0.0,
            p_c: 0.0,
            prevq: 0.0,
            timer: Instant::ZERO + params.t_update,
            sent: [0; 2],
            drops: Vec::new(),
        }
    }

    fn fire_timers(&mut self, now: Instant) {
        while self.timer <= now {
            self.update(self.timer);
            self.timer += self.params.t_update;
        }
    }

    fn enqueue(&mut self, now: Instant, pkt: Parcel) -> bool {
        self.fire_timers(now);
        if self.lq.byt() + self.cq.byt() + u64::from(self.params.mtu) > self.limit {
            return false;
        }
        if pkt.ecn().bits() % 2 == 1 {
            self.lq.packets.push_back((now, pkt));
        } else {
            self.cq.packets.push_back((now, pkt));
        }
        true
    }

    fn dequeue(&mut self, now: Instant) -> Option<Parcel> {
        self.fire_timers(now);
        let p_cmax = match self.params.p_c_max {
            Some(p_cmax) => p_cmax,
            None => f64::min(1.0 / (self.params.k * self.params.k), 1.0),
        };
        let p_lmax = 1.0;
        while self.lq.byt() + self.cq.byt() > 0 {
            let both = self.lq.byt() > 0 && self.cq.byt() > 0;
            let is_lq = self.schedules_lq(now);
            let mut pkt;
            if is_lq {
                let (lq_len, lq_time) = (self.lq.packets.len(), self.lq.time(now));
                pkt = self.lq.packets.pop_front().unwrap().1;
                if self.p_cl < p_lmax {
                    let p_l_native = if lq_len > self.params.th_len as usize {
                        self.laqm(lq_time)
                    } else {
                        0.0
                    };
                    let p_l = f64::max(p_l_native, self.p_cl);
                    if recur(&mut self.lq, p_l) {
                        pkt.set_ecn(Ecn::Ce);
                    }
                } else {
                    if recur(&mut self.lq, self.p_c) {
                        self.drops.push(pkt);
                        continue;
                    }
                    if recur(&mut self.lq, self.p_cl) {
                        pkt.set_ecn(Ecn::Ce);
                    }
                }
            } else {
                pkt = self.cq.packets.pop_front().unwrap().1;
                if recur(&mut self.cq, self.p_c) {
                    if pkt.ecn().bits() == 0 || self.p_c >= p_cmax {
                        self.drops.push(pkt);
                        continue;
                    }
                    pkt.set_ecn(Ecn::Ce);
                }
            }
            if let (true, DualPi2Scheduler::Wrr { weight }) = (both, self.params.scheduler) {
                let factor = if is_lq { 1 } else { u64::from(weight) };
                self.sent[usize::from(!is_lq)] += factor * u64::from(pkt.size());
            }
            return Some(pkt);
        }
        self.sent = [0; 2];
        None
    }

    fn laqm(&self, qdelay: Duration) -> f64 {
        let (min_th, range) = (self.params.min_th, self.params.range);
        let max_th = min_th + range;
        if qdelay >= max_th {
            1.0
        } else if qdelay > min_th {
            (qdelay - min_th).as_secs_f64() / range.as_secs_f64()
        } else {
            0.0
        }
    }

    fn update(&mut self, now: Instant) {
        let DualPi2Config {
            alpha,
            beta,
            k,
            target,
            ..
        } = self.params;
        let curq = Duration::max(self.cq.time(now), self.lq.time(now)).as_secs_f64();
        self.p = self.p + alpha * (curq - target.as_secs_f64()) + beta * (curq - self.prevq);
        self.p = self.p.clamp(0.0, 1.0);
        self.p_cl = f64::min(self.p * k, 1.0);
        self.p_c = self.p * self.p;
        self.prevq = curq;
    }

    fn schedules_lq(&self, now: Instant) -> bool {
        if self.lq.byt() == 0 || self.cq.byt() == 0 {
            return self.lq.byt() > 0;
        }
        match self.params.scheduler {
            DualPi2Scheduler::TsFifo { tshift } => self.lq.time(now) + tshift >= self.cq.time(now),
            DualPi2Scheduler::Wrr { weight } => {
                let round = u64::from(weight) * u64::from(self.params.mtu);
                self.sent[0] < round + self.sent[1]
            }
        }
    }
}

fn draw_params(random: &mut Random) -> DualPi2Config {
    let micros = |random: &mut Random, most| Duration::from_micros(random.random_range(0..=most));
    let scheduler = if random.random() {
        let weight = random.random_range(1..20);
        DualPi2Scheduler::Wrr { weight }
    } else {
        let tshift = micros(random, 50_000);
        DualPi2Scheduler::TsFifo { tshift }
    };
    DualPi2Config {
        k: random.random_range(0.3..4.0),
        target: Duration::from_micros(random.random_range(1..15_000)),
        t_update: Duration::from_micros(random.random_range(500..16_000)),
        alpha: random.random_range(0.1..3.0),
        beta: random.random_range(0.1..10.0),
        p_c_max: random
            .random_bool(0.3)
            .then(|| random.random_range(0.01..=1.0)),
        min_th: micros(random, 2000),
        range: micros(random, 1000) * random.random_range(0..2),
        th_len: random.random_range(0..3),
        mtu: 1500,
        scheduler,
    }
}

/// How often each decision was taken.
#[derive(Debug, Default)]
struct Decisions {
    full: u32,
    l4s_marks: u32,
    l4s_drops: u32,
    classic_marks: u32,
    classic_drops: u32,
    ect0_drops: u32,
}

fn compare(seed: u64, decisions: &mut Decisions) {
    let mut random = Random::seed_from_u64(seed);
    let params = draw_params(&mut random);
    let limit = random.random_range(5_000..60_000);
    let mut ours = DualPi2::new(Limit::Bytes(limit), params);
    let mut theirs = Pseudocode::new(limit, params);
    let load = random.random_range(0.4..0.75);
    let l4s_share = random.random_range(0.0..=1.0);
    let mut now = Instant::ZERO;
    for id in 0..200 {
        now += Duration::from_micros(match random.random_range(0..100) {
            0..40 => 0,
            40..99 => random.random_range(0..2500),
            _ => random.random_range(0..300_000),
        });
        if random.random_bool(load) {
            let high = random.random_bool(0.5);
            let ecn = match (random.random_bool(l4s_share), high) {
                (true, true) => Ecn::Ect1,
                (true, false) => Ecn::Ce,
                (false, true) => Ecn::Ect0,
                (false, false) => Ecn::NotEct,
            };
            let pkt = Parcel::new(id, random.random_range(40..=1500)).with_ecn(ecn);
            let accepted = ours.enqueue(now, pkt).is_ok();
            assert_eq!(accepted, theirs.enqueue(now, pkt), "seed {seed}, call {id}");
            decisions.full += u32::from(!accepted);
        } else {
            let before: Vec<Parcel> = [&theirs.lq, &theirs.cq]
                .into_iter()
                .flat_map(|queue| queue.packets.iter().map(|&(_, pkt)| pkt))
                .collect();
            let left = ours.dequeue(now);
            assert_eq!(left, theirs.dequeue(now), "seed {seed}, call {id}");
            let marked = left.filter(|pkt| !before.contains(pkt));
            if let Some(pkt) = marked {
                let old = before.iter().find(|old| old.id == pkt.id).unwrap();
                decisions.l4s_marks += u32::from(old.ecn() == Ecn::Ect1);
                decisions.classic_marks += u32::from(old.ecn() == Ecn::Ect0);
            }
        }
        let dropped: Vec<Parcel> = std::iter::from_fn(|| ours.dropped())
            .map(|dropped| dropped.packet)
            .collect();
        assert_eq!(dropped, theirs.drops, "seed {seed}, call {id}");
        for pkt in theirs.drops.drain(..) {
            decisions.l4s_drops += u32::from(is_l4s(pkt.ecn()));
            decisions.classic_drops += u32::from(!is_l4s(pkt.ecn()));
            decisions.ect0_drops += u32::from(pkt.ecn() == Ecn::Ect0);
        }
        let found = (ours.base_probability(), ours.p_c(), ours.p_cl());
        assert_eq!(found, (theirs.p, theirs.p_c, theirs.p_cl), "seed {seed}");
    }
}

/// RFC 9332 Appendix A: the same decision about every packet, for 10,000 random configurations and
/// sequences of arrivals.
#[test]
fn every_decision_is_that_of_the_pseudocode() {
    let mut decisions = Decisions::default();
    for seed in 0..10_000 {
        compare(seed, &mut decisions);
    }
    let Decisions {
        full,
        l4s_marks,
        l4s_drops,
        classic_marks,
        classic_drops,
        ect0_drops,
    } = decisions;
    let counts = [
        full,
        l4s_marks,
        l4s_drops,
        classic_marks,
        classic_drops,
        ect0_drops,
    ];
    assert!(counts.iter().all(|&count| count > 1000), "{counts:?}");
}
