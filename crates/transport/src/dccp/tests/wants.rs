//! What a control asks of the connection ([`Wants`]).

use std::sync::Arc;

use skywave_congestion::{Ack, AnyControl, Control, ControlContext, ControlKind, Ect, Loss, Wants};

use super::*;
use crate::dccp::SendersChoice;

const CWND: f64 = 8.0;

/// A constant window that names no pacing.
#[derive(Clone, Copy, Debug)]
struct Asks(Wants);

impl ControlKind for Asks {
    fn wants(&self) -> Wants {
        self.0
    }

    fn build(&self, _context: &ControlContext) -> AnyControl {
        AnyControl::new(*self)
    }
}

impl Control for Asks {
    fn on_ack(&mut self, _ack: &Ack) {}
    fn on_loss(&mut self, _loss: &Loss) {}
    fn on_timeout(&mut self, _now: Instant, _in_flight: u32) {}
    fn limit_cwnd(&mut self, _limit: f64) {}
    fn cwnd(&self) -> f64 {
        CWND
    }
}

/// Sends eight packets, a window, after some that give a round-trip time. Returns the pair and
/// where the eight begin in its log.
fn window_of(wants: Wants) -> (Pair, usize) {
    let config = Config {
        ecn_nonces: true,
        ..Config::default()
    };
    let asks = SendersChoice::new(Arc::new(Asks(wants)));
    let mut pair = Pair::open(
        config.clone().with_ccid(asks),
        config.with_ccid(SendersChoice::default()),
    );
    for _ in 0..20 {
        pair.send(Client, 500);
        pair.run_for(secs(1));
    }
    let before = pair.log.len();
    for _ in 0..8 {
        pair.send(Client, 500);
    }
    pair.run_for(secs(1));
    (pair, before)
}

#[test]
fn data_carries_the_code_point_that_the_control_asks_for() {
    for (code, expected) in [(Ect::Zero, Ecn::Ect0), (Ect::One, Ecn::Ect1)] {
        let (pair, before) = window_of(Wants::default().with_ecn(code));
        let sent = pair.sent_by(Client, before);
        assert!(sent.len() >= 8 && sent.iter().all(|sent| sent.ecn == expected));
    }
}

/// Pacing spreads a window over four fifths of a round trip; without it, the window leaves at once.
#[test]
fn a_window_is_spread_if_its_control_asks_for_that() {
    for (wants, is_spread) in [
        (Wants::default(), false),
        (Wants::default().with_pacing(), true),
    ] {
        let (pair, before) = window_of(wants);
        let times: Vec<_> = pair
            .sent_by(Client, before)
            .iter()
            .map(|sent| sent.at)
            .collect();
        let srtt = pair.get(Client).stats().srtt.unwrap();
        let gap = if is_spread {
            srtt * 4 / 5 / 8
        } else {
            Duration::ZERO
        };
        for pair in times[..8].windows(2) {
            let error = (pair[1] - pair[0]).as_secs_f64() - gap.as_secs_f64();
            assert!(error.abs() < 1e-4, "{times:?}, SRTT {srtt}");
        }
    }
}
