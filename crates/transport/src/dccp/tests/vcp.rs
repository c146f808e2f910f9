//! CCIDs 248 to 250, by their description in `mpcp`.

use skywave_congestion::load::{Marker, Zone};

use super::*;
use crate::dccp::{Ccid, Ccid2Config};

/// Windows large enough that Ack Ratio 2 holds up nothing.
fn under_vcp() -> Config {
    under(Ccid::Vcp)
}

fn under(ccid: Ccid) -> Config {
    let base = Config::default();
    Config {
        ccid2: Ccid2Config {
            initial_cwnd: Some(50.0),
            ..base.ccid2
        },
        sender_ccids: vec![ccid],
        receiver_ccids: vec![ccid],
        send_queue: 100_000,
        receive_queue: 100_000,
        ..base
    }
}

fn is_data(sent: &Sent) -> bool {
    matches!(sent.kind(), PacketType::Data | PacketType::DataAck)
}

/// A pair whose client sends for `secs` over routers that write `zone`.
fn send_through(zone: Zone, seconds: u64) -> Pair {
    let load = [0.5, 0.9, 1.2][zone as usize];
    send_past(Ccid::Vcp, load, seconds)
}

/// The same under `ccid`, past a router with this load factor.
fn send_past(ccid: Ccid, load: f64, seconds: u64) -> Pair {
    let mut pair = Pair::open(under(ccid), under(ccid));
    let chain = ccid.chain().unwrap();
    let mut router = Marker::new(chain, 16);
    pair.network = Box::new(move |sent| {
        let place = crate::dccp::place(sent.packet.seq, chain);
        Fate::Write(router.mark(7, place, load, sent.ecn))
    });
    pair.log.clear();
    for _ in 0..50_000 {
        pair.send(Client, 1000);
    }
    pair.run_for(secs(seconds));
    pair
}

#[test]
fn data_carry_a_code_and_acknowledgements_bring_it_back() {
    let pair = send_through(Zone::High, 2);
    for sent in &pair.log {
        assert_eq!(sent.ecn.is_capable(), is_data(sent), "{sent:?}");
        assert!(
            sent.option(OptionType::ACK_VECTOR_0).is_none()
                && sent.option(OptionType::ACK_VECTOR_1).is_none()
        );
        if is_data(sent) {
            assert_eq!(sent.ecn, Zone::Low.code());
        }
        if sent.from == Server && sent.kind() == PacketType::Ack {
            assert!(sent.option(OptionType::LOAD_VECTOR).is_some(), "{sent:?}");
        }
    }
    assert!(pair.log.iter().filter(|sent| is_data(sent)).count() > 100);
}

/// The round trip takes 100 ms: 6.25 % in 200 ms under low load, a quarter of a packet in each round
/// trip under high load, beta once in about 300 ms under overload, and no more than a packet left.
#[test]
fn the_window_obeys_the_routers() {
    let cwnd = |zone, seconds| send_through(zone, seconds).window(Client).cwnd;
    let ratio = cwnd(Zone::Low, 8) / cwnd(Zone::Low, 4);
    let expected = 1.0625_f64.powf(4.0 / 0.2);
    assert!((ratio / expected - 1.0).abs() < 0.1, "{ratio}");
    let gained = cwnd(Zone::High, 8) - cwnd(Zone::High, 4);
    assert!((gained - 10.0).abs() < 1.0, "{gained}");
    let left = cwnd(Zone::Over, 20);
    assert!((1.0..1.5).contains(&left), "{left}");
}

/// Losses under low load, with the code never raised: no VCP router is there, and halving begins.
#[test]
fn without_vcp_routers_losses_are_obeyed() {
    let mut pair = Pair::open(under_vcp(), under_vcp());
    let mut count = 0u32;
    pair.network = Box::new(move |sent| {
        count += u32::from(is_data(sent));
        if is_data(sent) && count.is_multiple_of(100) {
            Fate::Drop
        } else {
            Fate::Deliver
        }
    });
    for _ in 0..50_000 {
        pair.send(Client, 1000);
    }
    pair.run_for(secs(60));
    // A halving for each 100 packets: sqrt(3/2 / p) is 12.2 packets on average.
    let cwnd = pair.window(Client).cwnd;
    assert!((6.0..20.0).contains(&cwnd), "{cwnd}");
}

#[test]
fn the_codes_need_the_ecn_field() {
    let config = Config {
        ecn_incapable: true,
        ..under_vcp()
    };
    let error = config.check().unwrap_err();
    assert!(error.to_string().contains("248 to 250"), "{error}");
}

/// A round trip takes 100 ms, so t_rho is two: under 20 to 40 % load a window grows by 1.375^(1/2) in
/// a round, by alpha / 4 more, and half as fast by what is sure after the first packet of each chain.
#[test]
fn the_window_obeys_a_level_that_two_packets_tell() {
    let cwnd = |millis| {
        let mut pair = send_past(Ccid::Dpcp, 0.3, 0);
        pair.run_for(skywave_units::Duration::from_millis(millis));
        pair.window(Client).cwnd
    };
    let rounds = 10;
    let growth = (cwnd(1500) / cwnd(500)).powf(1.0 / f64::from(rounds));
    let (first, both) = (1.0625_f64.sqrt() - 1.0, 1.375_f64.sqrt() - 1.0);
    let expected = 1.0 + (first + both) / 2.0;
    assert!((growth - expected).abs() < 0.03, "{growth}, {expected}");
}
