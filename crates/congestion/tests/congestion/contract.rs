//! Every built-in control satisfies the contract, and violations are detected.

use proptest::prelude::*;
use serde_json::json;
use skywave_congestion::contract::{Call, calls, check, verify};
use skywave_congestion::{
    Ack, AnyControl, Control, ControlContext, Loss, Pacing, built_in_controls,
};
use skywave_units::{Duration, Instant};

/// Every registered control, with the window of a new connection and with a large one.
fn controls() -> Vec<(String, AnyControl)> {
    let set = built_in_controls();
    let contexts = [
        (4.0, f64::INFINITY, false, false),
        (1.0, 2.0, false, false),
        (500.0, 64.0, true, false),
        (10.0, f64::INFINITY, false, true),
    ];
    let mut controls = Vec::new();
    for name in set.names() {
        for (initial_cwnd, initial_ssthresh, ns2, linux) in contexts {
            let control = set
                .read(name, &json!({}))
                .unwrap()
                .member
                .build(&ControlContext {
                    packet_size: 1000,
                    initial_cwnd,
                    initial_ssthresh,
                    ns2,
                    linux,
                });
            controls.push((name.to_owned(), control));
        }
    }
    controls
}

proptest! {
    #[test]
    fn every_built_in_control_keeps_the_contract(calls in calls()) {
        for (name, control) in controls() {
            let kept = verify(control, &calls);
            prop_assert!(kept.is_ok(), "{}: {:?}", name, kept);
        }
    }
}

/// Each variant but the first breaks one rule.
#[derive(Clone, Copy)]
enum Wrong {
    Nothing,
    GrowsWithoutAcks,
    ReducesTheFlight,
    IsNoNumber,
    IsZero,
    StandsStill,
    TellsInfinity,
    IgnoresLimits,
    ValidatesUpwards,
}

struct Breaks(Wrong, f64);

impl Control for Breaks {
    fn on_ack(&mut self, _ack: &Ack) {}

    fn on_loss(&mut self, loss: &Loss) {
        match self.0 {
            Wrong::GrowsWithoutAcks => self.1 += 1.0,
            Wrong::ReducesTheFlight => self.1 = 0.7 * f64::from(loss.in_flight),
            Wrong::IsNoNumber => self.1 = f64::NAN,
            Wrong::IsZero => self.1 = 0.0,
            Wrong::Nothing
            | Wrong::StandsStill
            | Wrong::TellsInfinity
            | Wrong::IgnoresLimits
            | Wrong::ValidatesUpwards => {}
        }
    }

    fn on_timeout(&mut self, _now: Instant, _in_flight: u32) {}
    fn limit_cwnd(&mut self, limit: f64) {
        if !matches!(self.0, Wrong::IgnoresLimits) {
            self.1 = self.1.min(limit.max(1.0));
        }
    }

    fn on_validation(&mut self, cwnd: f64, _ssthresh: f64) {
        if matches!(self.0, Wrong::ValidatesUpwards) {
            self.1 = cwnd;
        } else {
            self.limit_cwnd(cwnd);
        }
    }

    fn cwnd(&self) -> f64 {
        self.1
    }

    fn pacing(&self) -> Option<Pacing> {
        matches!(self.0, Wrong::StandsStill).then_some(Pacing {
            interval: Duration::MAX,
            quantum: 1,
        })
    }

    fn inner_values(&self, record: &mut dyn FnMut(&'static str, f64)) {
        if matches!(self.0, Wrong::TellsInfinity) {
            record("bandwidth_bps", f64::INFINITY);
        }
    }
}

#[test]
fn a_control_that_breaks_it_is_caught() {
    let loss = Call::Loss {
        packets: 1,
        is_repeated: false,
    };
    let send = Call::Send {
        packets: 10,
        application_limited: false,
    };
    let calls = [send, loss, Call::Validation(9.0), Call::LimitCwnd(2.0)];
    for (wrong, complaint) in [
        (Wrong::GrowsWithoutAcks, "from 4 to 5"),
        (Wrong::ReducesTheFlight, "from 4 to 7 packets, more than 4"),
        (Wrong::IsNoNumber, "cwnd is NaN"),
        (Wrong::IsZero, "cwnd is 0"),
        (Wrong::StandsStill, "the pacing interval is"),
        (Wrong::TellsInfinity, "bandwidth_bps"),
        (Wrong::IgnoresLimits, "from 4 to 4 packets, more than 2"),
        (Wrong::ValidatesUpwards, "from 4 to 9 packets, more than 4"),
    ] {
        let error = verify(AnyControl::new(Breaks(wrong, 4.0)), &calls);
        let error = error.unwrap_err().to_string();
        assert!(error.contains(complaint), "{error}");
    }
}

#[test]
fn a_violation_is_shown_by_the_shortest_calls() {
    let violation = check(|| AnyControl::new(Breaks(Wrong::IgnoresLimits, 4.0)), 256);
    let violation = violation.unwrap_err();
    assert!(
        matches!(
            violation.calls[..],
            [Call::LimitCwnd(_) | Call::Validation(_)]
        ),
        "{violation:?}"
    );
    assert!(violation.clause.contains("took cwnd from 4 to 4 packets"));
    assert_eq!(violation.failure, None);
    let kept = check(|| AnyControl::new(Breaks(Wrong::Nothing, 4.0)), 256);
    assert!(kept.is_ok(), "{kept:?}");
}
