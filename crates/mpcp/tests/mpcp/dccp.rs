//! CCIDs 248 to 250 between two connections, through a router.

use std::collections::VecDeque;
use std::sync::Arc;

use skywave_mpcp::load::{Marker, Zone};
use skywave_mpcp::{LoadFactor, SenderParameters};
use skywave_transport::dccp::{Ccid, Ccid2Config, Config, Connection};
use skywave_transport::{Drain, Drained, Driven, Transmit};
use skywave_units::rand_core::SeedableRng;
use skywave_units::{Duration, Instant, Random};
use skywave_wire::dccp::{OptionType, Packet, PacketType};
use skywave_wire::{Ecn, Payload};

/// One-way delay.
const LATENCY: Duration = Duration::from_millis(50);
const CLIENT: usize = 0;
const SERVER: usize = 1;

/// Windows large enough that Ack Ratio 2 delays nothing.
fn under(ccid: Ccid) -> Config {
    let base = Config::default();
    let parameters = SenderParameters {
        fallback: true,
        ..SenderParameters::default()
    };
    Config {
        ccid2: Ccid2Config {
            initial_cwnd: Some(50.0),
            ..base.ccid2
        },
        send_queue: 100_000,
        send_queue_bytes: usize::MAX,
        receive_queue_bytes: usize::MAX,
        receive_queue: 100_000,
        ..base
    }
    .with_ccid(LoadFactor::new(ccid, &parameters).unwrap())
}

/// A packet sent by an end.
struct Sent {
    from: usize,
    ecn: Ecn,
    packet: Packet,
}

impl Sent {
    fn is_data(&self) -> bool {
        matches!(
            self.packet.kind.packet_type(),
            PacketType::Data | PacketType::DataAck
        )
    }

    fn has_option(&self, kind: OptionType) -> bool {
        let mut options = self.packet.options.iter();
        options.any(|option| option.option_type() == kind)
    }
}

/// The ECN bits with which a packet arrives; `None` if it is lost.
type Network = Box<dyn FnMut(&Sent) -> Option<Ecn>>;

/// A client and a server with their own clock.
struct Pair {
    ends: [Driven<Connection>; 2],
    now: Instant,
    /// In the order of arrival.
    flights: VecDeque<(Instant, usize, Ecn, Packet)>,
    network: Network,
    log: Vec<Sent>,
}

impl Pair {
    fn open(ccid: Ccid, network: Network) -> Self {
        let (client, server) = (Arc::new(under(ccid)), Arc::new(under(ccid)));
        let rng = Random::seed_from_u64;
        let mut pair = Self {
            ends: [
                Driven::new(Connection::client(
                    client,
                    40_000,
                    5001,
                    Instant::ZERO,
                    rng(1),
                )),
                Driven::new(Connection::listen(server, 5001, rng(2))),
            ],
            now: Instant::ZERO,
            flights: VecDeque::new(),
            network,
            log: Vec::new(),
        };
        pair.apply(CLIENT, |_| ());
        pair.run_for(Duration::from_secs(1));
        pair.log.clear();
        pair
    }

    /// Sends an end's packets.
    fn put_on_its_way(&mut self, from: usize, sent: Vec<Transmit<Packet>>) {
        for Transmit { ecn, packet } in sent {
            let sent = Sent { from, ecn, packet };
            if let Some(ecn) = (self.network)(&sent) {
                let packet = sent.packet.clone();
                self.flights
                    .push_back((self.now + LATENCY, 1 - from, ecn, packet));
            }
            self.log.push(sent);
        }
    }

    fn apply(&mut self, end: usize, action: impl FnOnce(&mut Connection)) {
        let ((), sent) = self.ends[end].apply(self.now, action, all);
        self.put_on_its_way(end, sent);
    }

    fn run_for(&mut self, time: Duration) {
        let until = self.now + time;
        loop {
            let timers =
                [CLIENT, SERVER].map(|end| self.ends[end].drain(self.now, |drain| drain.finish()));
            let arrival = self.flights.front().map(|&(at, ..)| at);
            let next = timers.into_iter().flatten().chain(arrival).min();
            let Some(at) = next.filter(|&at| at <= until) else {
                break;
            };
            self.now = self.now.max(at);
            if let Some((_, to, ecn, packet)) =
                self.flights.pop_front_if(|(at, ..)| *at <= self.now)
            {
                let sent = self.ends[to].receive(self.now, ecn, packet, all);
                self.put_on_its_way(to, sent);
            } else {
                for end in [CLIENT, SERVER] {
                    let sent = self.ends[end].expire(self.now, all);
                    self.put_on_its_way(end, sent);
                }
            }
        }
        self.now = until;
    }

    fn cwnd(&self) -> f64 {
        let congestion = self.ends[CLIENT].get().stats().congestion;
        congestion.window().unwrap().cwnd
    }
}

fn all(mut drain: Drain<'_, Connection>) -> Drained<Vec<Transmit<Packet>>> {
    let sent = std::iter::from_fn(|| drain.transmit()).collect();
    drain.finish().map(|_deadline| sent)
}

/// A pair whose client sends for some time through a router with this load factor.
fn send_past(ccid: Ccid, load: f64, time: Duration) -> Pair {
    let mechanism = LoadFactor::new(ccid, &SenderParameters::default()).unwrap();
    let mut router = Marker::new(mechanism.packets(), 16);
    let network = Box::new(move |sent: &Sent| {
        let place = mechanism.place(sent.packet.seq);
        Some(router.mark(7, place, load, sent.ecn))
    });
    let mut pair = Pair::open(ccid, network);
    send_much(&mut pair);
    pair.run_for(time);
    pair
}

fn send_much(pair: &mut Pair) {
    pair.apply(CLIENT, |client| {
        for _ in 0..50_000 {
            client.send(Payload::Synthetic(1000)).unwrap();
        }
    });
}

fn send_through(zone: Zone, seconds: u64) -> Pair {
    let load = [0.5, 0.9, 1.2][zone as usize];
    send_past(LoadFactor::VCP, load, Duration::from_secs(seconds))
}

#[test]
fn data_carry_a_code_and_acknowledgements_bring_it_back() {
    let pair = send_through(Zone::High, 2);
    for sent in &pair.log {
        assert_eq!(sent.ecn.is_capable(), sent.is_data());
        assert!(!sent.has_option(OptionType::ACK_VECTOR_0));
        if sent.is_data() {
            assert_eq!(sent.ecn, Zone::Low.code());
        }
        if sent.from == SERVER && sent.packet.kind.packet_type() == PacketType::Ack {
            assert!(sent.has_option(OptionType::LOAD_VECTOR), "{}", sent.packet);
        }
    }
    assert!(pair.log.iter().filter(|sent| sent.is_data()).count() > 100);
}

/// With a round-trip time of 100 ms, cwnd grows by 6.25 % per 200 ms under low load, and by a
/// quarter of a packet per round trip under high load. Under overload it shrinks by beta about
/// every 300 ms, to one packet at least.
#[test]
fn the_window_obeys_the_routers() {
    let cwnd = |zone, seconds| send_through(zone, seconds).cwnd();
    let ratio = cwnd(Zone::Low, 8) / cwnd(Zone::Low, 4);
    let expected = 1.0625_f64.powf(4.0 / 0.2);
    assert!((ratio / expected - 1.0).abs() < 0.1, "{ratio}");
    let gained = cwnd(Zone::High, 8) - cwnd(Zone::High, 4);
    assert!((gained - 10.0).abs() < 1.0, "{gained}");
    let left = cwnd(Zone::Over, 20);
    assert!((1.0..1.5).contains(&left), "{left}");
}

/// If packets are lost under low load and no code ever rises, there is no VCP router, so the sender
/// halves cwnd.
#[test]
fn without_vcp_routers_losses_are_obeyed() {
    let mut count = 0u32;
    let network = Box::new(move |sent: &Sent| {
        count += u32::from(sent.is_data());
        let is_lost = sent.is_data() && count.is_multiple_of(100);
        (!is_lost).then_some(sent.ecn)
    });
    let mut pair = Pair::open(LoadFactor::VCP, network);
    send_much(&mut pair);
    pair.run_for(Duration::from_secs(60));
    // One halving per 100 packets: sqrt(3/2 / p) is 12.2 packets on average.
    let cwnd = pair.cwnd();
    assert!((6.0..20.0).contains(&cwnd), "{cwnd}");
}

#[test]
fn the_codes_need_the_ecn_field() {
    let config = Config {
        ecn_incapable: true,
        ..under(LoadFactor::VCP)
    };
    let error = config.check().unwrap_err().to_string();
    assert!(
        error.contains("CCID 248") && error.contains("ECN field"),
        "{error}"
    );
}

/// With a round-trip time of 100 ms, t_rho is two round trips. At 20 to 40 % load a complete chain
/// lets cwnd grow by a factor of 1.375^(1/2) per round trip, the first packet of a chain only by
/// 1.0625^(1/2), because it gives no more than the zone.
#[test]
fn the_window_obeys_a_level_that_two_packets_tell() {
    let cwnd = |millis| send_past(LoadFactor::DPCP, 0.3, Duration::from_millis(millis)).cwnd();
    let rounds = 10;
    let growth = (cwnd(1500) / cwnd(500)).powf(1.0 / f64::from(rounds));
    let (first, both) = (1.0625_f64.sqrt() - 1.0, 1.375_f64.sqrt() - 1.0);
    let expected = 1.0 + (first + both) / 2.0;
    assert!((growth - expected).abs() < 0.03, "{growth}, {expected}");
}
