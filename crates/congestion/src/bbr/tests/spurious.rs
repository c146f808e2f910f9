//! Cases of losses that were none. The transport detects them; here the path does so at once.

use skywave_units::Duration;

use super::{BbrPath, RTT, State, is, path};
use crate::Control;

/// Reaches ProbeBW_UP with a finite BBR.inflight_longterm.
fn probing() -> BbrPath {
    let mut path = path(10.0, RTT, 2.0);
    path.reach(is(State::ProbeBwRefill));
    path.flow.control.inflight_longterm = 3.0 * path.link.bdp();
    path.reach(is(State::ProbeBwUp));
    path.run_for(RTT);
    assert_eq!(path.flow.control.state, State::ProbeBwUp);
    path
}

/// Checks the values saved and restored around a recovery that `path` has entered.
fn assert_undone(mut path: BbrPath, longterm: f64, cwnd: f64) {
    let undo = path.flow.control.undo;
    assert_eq!(path.flow.control.state, State::ProbeBwDown);
    assert_eq!(undo.state, Some(State::ProbeBwUp));
    assert!(undo.bw_shortterm.is_infinite() && undo.inflight_shortterm.is_infinite());
    assert_eq!(undo.inflight_longterm, longterm);
    assert!(path.flow.control.inflight_longterm < longterm);
    path.link.lose_every = None;
    let now = path.now;
    path.flow.control.on_spurious_loss(now);
    let bbr = &path.flow.control;
    assert_eq!(bbr.inflight_longterm, longterm);
    assert!(bbr.short_term.bw.is_infinite() && bbr.short_term.inflight.is_infinite());
    assert_eq!(bbr.state, State::ProbeBwRefill);
    assert_eq!(bbr.undo.state, None);
    // Probing for bandwidth goes on, with the cwnd of before.
    let back = path.run_until(Duration::from_secs(1), is(State::ProbeBwUp));
    assert!(back);
    assert!(
        path.flow.control.cwnd > 0.8 * cwnd,
        "{} {cwnd}",
        path.flow.control.cwnd
    );
}

/// "Handling Spurious Fast Recovery".
#[test]
fn handling_spurious_fast_recovery() {
    let mut path = probing();
    let (longterm, cwnd) = (path.flow.control.inflight_longterm, path.flow.control.cwnd);
    path.link.lose_every = Some(4);
    path.reach(|bbr| bbr.undo.state.is_some());
    assert_undone(path, longterm, cwnd);
}

/// "Handling Spurious RTO Recovery".
#[test]
fn handling_spurious_rto_recovery() {
    let mut path = probing();
    let (longterm, cwnd) = (path.flow.control.inflight_longterm, path.flow.control.cwnd);
    path.link.lose_every = Some(1);
    path.reach(|bbr| bbr.cwnd() == 1.0);
    assert_undone(path, longterm, cwnd);
}
