//! Paths that drop or mark ECN-capable packets (RFC 4340 section 12, RFC 9000 section 13.4.2).

use super::*;

/// A pair on a real path, which does this to ECN-capable packets.
fn pair_with(config: &Config, network: impl FnMut(&Sent) -> Fate + 'static) -> Pair {
    let mut pair = Pair::new(config.clone(), config.clone());
    for side in [Client, Server] {
        pair.apply(side, |end| end.set_path(Instant::ZERO, 1_500, 28));
    }
    pair.network = Box::new(network);
    pair
}

fn capable(pair: &Pair) -> [bool; 2] {
    [Client, Server].map(|side| pair.get(side).is_ecn_capable())
}

fn drops_ect(sent: &Sent) -> Fate {
    match sent.ecn {
        Ecn::NotEct => Fate::Deliver,
        _ => Fate::Drop,
    }
}

fn exchange(pair: &mut Pair) {
    for _ in 0..50 {
        pair.send(Client, 100);
        pair.send(Server, 100);
        pair.run_for(millis(20));
    }
    pair.run_for(secs(30));
    assert_eq!(
        (pair.received(Server).len(), pair.received(Client).len()),
        (50, 50)
    );
}

/// D12-1: where the path carries ECT, it stays; also under congestion, and where it clears ECT.
#[test]
fn d12_1_ecn_stays_where_it_works() {
    let mut count = 0;
    let mut pair = pair_with(&Config::default(), move |_| {
        count += 1;
        if count % 2 == 0 {
            Fate::Mark
        } else {
            Fate::Deliver
        }
    });
    pair.run_for(secs(1));
    exchange(&mut pair);
    assert_eq!(capable(&pair), [true, true]);
    assert!(pair.log.iter().all(|sent| sent.ecn == Ecn::Ect0));
}

/// D12-1: packets with ECT vanish, in one direction or both: the second Request connects.
#[test]
fn d12_1_a_path_that_drops_ect() {
    for both in [false, true] {
        for dropping in [Client, Server] {
            let mut pair = pair_with(&Config::default(), move |sent| {
                if both || sent.from == dropping {
                    drops_ect(sent)
                } else {
                    Fate::Deliver
                }
            });
            pair.run_for(millis(1_300));
            assert_eq!(pair.states(), (State::Open, State::Open), "{dropping:?}");
            let from = pair.log.len();
            exchange(&mut pair);
            assert_eq!(capable(&pair), [false, false], "{dropping:?}");
            assert!(pair.log[from..].iter().all(|sent| sent.ecn == Ecn::NotEct));
        }
    }
}

/// D12-1: packets with ECT are all marked: with CCID 2, marks count as meaningless after ten.
#[test]
fn d12_1_a_path_that_marks_everything() {
    let mark = |sent: &Sent| match sent.ecn {
        Ecn::NotEct => Fate::Deliver,
        _ => Fate::Mark,
    };
    let mut pair = pair_with(&Config::default(), mark);
    pair.run_for(secs(1));
    for _ in 0..300 {
        pair.send(Client, 100);
        pair.run_for(millis(20));
    }
    assert!(!pair.get(Client).is_ecn_capable());
    let last = pair.sent_by(Client, 0).into_iter().next_back();
    assert_eq!(last.unwrap().ecn, Ecn::NotEct);
    let window = pair.window(Client);
    assert!((10..20).contains(&window.marked), "{window:?}");

    // Another path may be better.
    let now = pair.now;
    pair.apply(Client, |client| client.on_path_change(now, 1_500));
    assert!(pair.get(Client).is_ecn_capable());
}

/// A simulated path is as it is: nothing is given up.
#[test]
fn simulated_paths_are_not_validated() {
    for ecn_validation in [true, false] {
        let config = Config {
            ecn_validation,
            ..Config::default()
        };
        let mut pair = Pair::new(config.clone(), config.clone());
        if !ecn_validation {
            pair = pair_with(&config, |_| Fate::Deliver);
        }
        pair.network = Box::new(drops_ect);
        pair.run_for(secs(100));
        assert_eq!(pair.states(), (State::Request, State::Listen));
        assert!(pair.log.len() > 4 && pair.log.iter().all(|sent| sent.ecn == Ecn::Ect0));
    }
}
