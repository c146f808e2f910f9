//! CCID 248, by its description in `ccid248`.

use skywave_congestion::load::Zone;

use super::*;
use crate::dccp::{Ccid, Ccid2Config};

/// Windows large enough that Ack Ratio 2 holds up nothing.
fn under_vcp() -> Config {
    let base = Config::default();
    Config {
        ccid2: Ccid2Config {
            initial_cwnd: Some(50.0),
            ..base.ccid2
        },
        sender_ccids: vec![Ccid::Vcp],
        receiver_ccids: vec![Ccid::Vcp],
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
    let mut pair = Pair::open(under_vcp(), under_vcp());
    pair.network = Box::new(move |sent| Fate::Write(zone.raise(sent.ecn)));
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
    let load_vector = 200;
    for sent in &pair.log {
        assert_eq!(sent.ecn.is_capable(), is_data(sent), "{sent:?}");
        assert!(sent.option(38).is_none() && sent.option(39).is_none());
        if is_data(sent) {
            assert_eq!(sent.ecn, Zone::Low.code());
        }
        if sent.from == Server && sent.kind() == PacketType::Ack {
            assert!(sent.option(load_vector).is_some(), "{sent:?}");
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
    assert!(error.to_string().contains("CCID 248"), "{error}");
}
