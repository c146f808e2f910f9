//! Path MTU discovery without ICMP (RFC 4340 section 14.1, RFC 8899).

use std::cell::Cell;
use std::rc::Rc;

use super::*;
use crate::dccp::Ccid;

/// IPv4 and UDP.
const LOWER: u32 = 28;
/// The MTU of both ends' links.
const LINK: u32 = 1_500;

fn config(ccid: u8) -> Config {
    Config {
        sender_ccids: vec![Ccid(ccid)],
        receiver_ccids: vec![Ccid(ccid)],
        ..Config::default()
    }
}

const fn mps(mtu: u32) -> u32 {
    mtu - LOWER - 24 - 62
}

/// A pair on a path that drops, without a word, what is larger than its MTU.
struct Lab {
    pair: Pair,
    mtu: Rc<Cell<u32>>,
    accepted: u64,
    /// The longest datagram received.
    longest: usize,
}

impl Lab {
    fn new(config: &Config) -> Self {
        let mut pair = Pair::new(config.clone(), config.clone());
        for side in [Client, Server] {
            pair.apply(side, |end| end.set_path(Instant::ZERO, LINK, LOWER));
        }
        let mtu = Rc::new(Cell::new(LINK));
        let limit = Rc::clone(&mtu);
        pair.network = Box::new(move |sent| {
            let size = sent.packet.encoded_len() as u32 + LOWER;
            if size > limit.get() {
                Fate::Drop
            } else {
                Fate::Deliver
            }
        });
        pair.run_for(secs(1));
        assert_eq!(pair.states(), (State::Open, State::Open));
        Self {
            pair,
            mtu,
            accepted: 0,
            longest: 0,
        }
    }

    /// The client sends the largest datagram that it may every 20 ms, and the server reads, until
    /// `done`. Returns the time that takes.
    fn send_until(&mut self, mut done: impl FnMut(&Pair, &[usize]) -> bool) -> Duration {
        let start = self.pair.now;
        loop {
            let received = self.pair.received(Server);
            self.longest = received.iter().copied().fold(self.longest, usize::max);
            if done(&self.pair, &received) {
                return self.pair.now - start;
            }
            let largest = self.pair.get(Client).mps();
            let send = |client: &mut Connection| client.send(Payload::Synthetic(largest));
            self.accepted += u64::from(self.pair.apply(Client, send).is_ok());
            self.pair.run_for(millis(20));
            assert!(self.pair.now - start < secs(2_000), "it takes too long");
        }
    }

    /// Returns the number of datagrams received.
    fn send_for(&mut self, time: Duration) -> usize {
        let (end, mut count) = (self.pair.now + time, 0);
        self.send_until(|pair, received| {
            count += received.len();
            pair.now >= end
        });
        count
    }

    fn client_mtu(&self) -> u32 {
        self.pair.get(Client).path_mtu()
    }

    fn probes(&self) -> u64 {
        self.pair.get(Client).stats().counters.mtu_probes_sent
    }
}

/// D14-2, P-5: where the data itself shows that the path carries it, there are no probes.
#[test]
fn d14_2_no_probes_where_data_arrive() {
    for ccid in [2, 3, 4] {
        let mut lab = Lab::new(&config(ccid));
        assert!(lab.send_for(secs(60)) > 500);
        assert_eq!((lab.probes(), lab.client_mtu()), (0, LINK), "CCID {ccid}");
    }
}

/// P-5: nor where both ends send, their acknowledgements ride on data, and some packets are lost.
#[test]
fn p_5_few_probes_where_both_ends_send() {
    for ccid in [2, 3] {
        let mut lab = Lab::new(&config(ccid));
        let mut count = 0;
        lab.pair.network = Box::new(move |_| {
            count += 1;
            if count % 31 == 0 {
                Fate::Drop
            } else {
                Fate::Deliver
            }
        });
        for _ in 0..3_000 {
            for side in [Client, Server] {
                let _ = lab
                    .pair
                    .apply(side, |end| end.send(Payload::Synthetic(mps(LINK))));
                lab.pair.received(side);
            }
            lab.pair.run_for(millis(20));
        }
        for side in [Client, Server] {
            let stats = lab.pair.get(side).stats();
            assert!(stats.counters.data_packets_sent > 600, "CCID {ccid}");
            assert!(stats.counters.mtu_probes_sent < 10, "CCID {ccid}");
            assert_eq!(lab.pair.get(side).path_mtu(), LINK, "CCID {ccid}");
        }
    }
}

/// D14-2, P-4: the path's MTU falls, no router says so, and data flow again within seconds. What was
/// queued and is too large now is counted.
#[test]
fn d14_2_a_black_hole_ends_within_seconds() {
    for (ccid, mtu) in [(2, 1_280), (3, 1_280), (4, 1_280), (2, 1_000), (3, 600)] {
        let mut lab = Lab::new(&config(ccid));
        lab.send_for(secs(5));
        lab.mtu.set(mtu);
        lab.send_for(millis(100));
        let time = lab.send_until(|_, received| !received.is_empty());
        assert!(time < secs(8), "CCID {ccid}, MTU {mtu}: {time}");
        lab.send_for(secs(15));
        let client = lab.pair.get(Client);
        assert!(
            (mtu * 3 / 4..=mtu).contains(&client.path_mtu()),
            "{mtu}: {}",
            client.path_mtu()
        );
        let stats = client.stats();
        let counters = stats.counters;
        assert!(counters.mtu_probes_sent < 30, "{counters:?}");
        assert!(counters.datagrams_discarded > 0);
        let accounted = counters.data_packets_sent + counters.datagrams_discarded;
        assert_eq!(accounted + stats.queued as u64, lab.accepted);
    }
}

/// Without discovery, and without ICMP, the hole is permanent.
#[test]
fn without_discovery_a_black_hole_stays() {
    let config = Config {
        path_mtu_discovery: false,
        ..config(2)
    };
    let mut lab = Lab::new(&config);
    lab.mtu.set(1_280);
    assert_eq!(lab.send_for(secs(200)), 0);
    assert_eq!(lab.pair.get(Client).mps(), mps(LINK));
}

/// D14-2, P-5, P-6: the MTU rises again once the path carries more, without losing a datagram, and
/// cwnd does not rise with it in bytes.
#[test]
fn d14_2_the_mtu_rises_with_the_path() {
    let mut lab = Lab::new(&config(2));
    lab.mtu.set(1_280);
    lab.send_until(|pair, _| pair.get(Client).path_mtu() == 1_280);
    lab.send_for(secs(60));
    let before = lab.pair.window(Client);
    lab.mtu.set(LINK);
    let time = lab.send_until(|pair, _| pair.get(Client).path_mtu() == LINK);
    assert!(time < secs(610), "{time}");
    let after = lab.pair.window(Client);
    let bytes = before.cwnd * 1_280.0 + 1.0;
    assert!(
        after.cwnd * 1_500.0 <= bytes && before.cwnd > 4.0,
        "{before:?} {after:?}"
    );
    lab.send_for(secs(1));
    assert_eq!(lab.pair.window(Client).lost, before.lost);
    let wants = lab.pair.apply(Client, |client| {
        [client.wants_local_mtu(), client.wants_local_mtu()]
    });
    assert_eq!(wants, [true, false]);
}

/// D14-2, P-2: discovery follows the local link both ways.
#[test]
fn d14_2_the_local_link_bounds_the_search() {
    let mut lab = Lab::new(&config(2));
    lab.mtu.set(9_000);
    let now = lab.pair.now;
    lab.pair
        .apply(Client, |client| client.on_local_mtu(now, 4_000));
    lab.send_for(secs(20));
    assert_eq!(lab.client_mtu(), 4_000);
    let now = lab.pair.now;
    lab.pair
        .apply(Client, |client| client.on_local_mtu(now, 1_400));
    assert_eq!(lab.client_mtu(), 1_400);
}

/// D14-2, P-1, P-3, P-6: a probe is a Sync of exactly the probed size, whose data the peer ignores;
/// its loss is not taken for congestion.
#[test]
fn d14_2_probes_are_padded_syncs() {
    for ccid in [2, 3] {
        let mut lab = Lab::new(&config(ccid));
        lab.mtu.set(1_400);
        lab.send_until(|pair, _| pair.get(Client).path_mtu() == 1_400);
        let before = lab.pair.get(Client).stats();
        // The search goes on; data that fit flow.
        lab.send_for(secs(10));
        let sizes: Vec<_> = lab
            .pair
            .sent_by(Client, 0)
            .into_iter()
            .filter(|sent| sent.kind() == PacketType::Sync)
            .map(|sent| sent.packet.encoded_len() as u32 + LOWER)
            .filter(|&size| size > 1_400)
            .collect();
        assert_eq!(sizes[sizes.len() - 3..], [1_420; 3], "{sizes:?}");
        let after = lab.pair.get(Client).stats();
        let congestion = |stats: &Stats| match stats.congestion {
            crate::dccp::Congestion::Window(window) => window.lost,
            crate::dccp::Congestion::Rate(rate) => rate.loss_events,
        };
        assert_eq!(congestion(&after), congestion(&before), "CCID {ccid}");
        assert_eq!(lab.longest, mps(1_400) as usize);
        assert_eq!(lab.pair.get(Server).stats().counters.invalid_packets, 0);
    }
}

/// P-3: an outage, in which nothing passes, is not a black hole.
#[test]
fn an_outage_does_not_lower_the_mtu() {
    for outage in [2, 4, 6, 10, 20] {
        let mut lab = Lab::new(&config(2));
        lab.send_for(secs(2));
        lab.mtu.set(0);
        lab.send_for(secs(outage));
        lab.mtu.set(LINK);
        lab.send_for(secs(60));
        assert_eq!(lab.client_mtu(), LINK, "{outage} s");
        assert!(lab.probes() < 20, "{outage} s: {}", lab.probes());
        assert_eq!(lab.pair.get(Client).stats().counters.datagrams_discarded, 0);
    }
}

/// Applications whose datagrams all have different sizes, large ones among them being rare, cause
/// few probes.
#[test]
fn mixed_sizes_cause_few_probes() {
    for ccid in [2, 3] {
        let mut lab = Lab::new(&config(ccid));
        let mut size = 1u32;
        for _ in 0..10_000 {
            size = size.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let length = 100 + (size >> 16) % 1_280;
            let _ = lab
                .pair
                .apply(Client, |client| client.send(Payload::Synthetic(length)));
            lab.pair.run_for(millis(10));
        }
        assert!(lab.probes() < 50, "CCID {ccid}: {}", lab.probes());
        assert_eq!(lab.client_mtu(), LINK);
    }
}

/// An Ack Vector that fitted before a path change is shortened to fit afterwards.
#[test]
fn d14_2_ack_vectors_fit_the_path_that_was_found() {
    let mut lab = Lab::new(&config(2));
    let now = lab.pair.now;
    lab.pair
        .apply(Server, |server| server.on_local_mtu(now, 600));
    let first = lab.pair.gss(Client);
    let mut longest = 0;
    for step in 1..=900 {
        let sent = lab
            .pair
            .inject(Server, packet(Client, first + 2 * step, Kind::Data));
        longest = sent
            .iter()
            .map(Packet::encoded_len)
            .max()
            .unwrap_or(0)
            .max(longest);
    }
    assert!((500..=600 - LOWER as usize).contains(&longest), "{longest}");
}

/// P-4: a hole at the beginning, before any packet of the server has shown that the handshake is
/// complete. Linux, unlike Skywave, sends none until data arrive.
#[test]
fn p_4_a_black_hole_during_the_handshake() {
    let config = config(2);
    let mut pair = Pair::new(config.clone(), config);
    for side in [Client, Server] {
        pair.apply(side, |end| end.set_path(Instant::ZERO, LINK, LOWER));
    }
    let mut has_probed = false;
    pair.network = Box::new(move |sent| {
        has_probed |= sent.kind() == PacketType::Sync;
        let is_silent = sent.from == Server && sent.kind() == PacketType::Ack && !has_probed;
        let size = sent.packet.encoded_len() as u32 + LOWER;
        if is_silent || size > 1_280 {
            Fate::Drop
        } else {
            Fate::Deliver
        }
    });
    pair.run_for(millis(500));
    assert_eq!(pair.states(), (State::PartOpen, State::Open));
    for _ in 0..500 {
        let mps = pair.get(Client).mps();
        let _ = pair.apply(Client, |client| client.send(Payload::Synthetic(mps)));
        pair.run_for(millis(20));
    }
    assert_eq!(pair.states(), (State::Open, State::Open));
    assert_eq!(pair.get(Client).path_mtu(), 1_280);
    assert!(!pair.received(Server).is_empty());
}
