//! Cases of losses that were none. The transport detects them; here the path does so at once.

use skywave_units::Duration;

use super::path::Path;
use super::{RTT, State, is};
use crate::Control;

/// Reaches ProbeBW_UP with a finite BBR.inflight_longterm.
fn probing() -> Path {
    let mut path = Path::new(10.0, RTT, 2.0);
    path.reach(is(State::ProbeBwRefill));
    path.bbr.inflight_longterm = 3.0 * path.bdp();
    path.reach(is(State::ProbeBwUp));
    path.run_for(RTT);
    assert_eq!(path.bbr.state, State::ProbeBwUp);
    path
}

/// Checks the values saved and restored around a recovery that `path` has entered.
fn assert_undone(mut path: Path, longterm: f64, cwnd: f64) {
    let undo = path.bbr.undo;
    assert_eq!(path.bbr.state, State::ProbeBwDown);
    assert_eq!(undo.state, Some(State::ProbeBwUp));
    assert!(undo.bw_shortterm.is_infinite() && undo.inflight_shortterm.is_infinite());
    assert_eq!(undo.inflight_longterm, longterm);
    assert!(path.bbr.inflight_longterm < longterm);
    path.lose_every = None;
    let now = path.now;
    path.bbr.on_spurious_loss(now);
    let bbr = &path.bbr;
    assert_eq!(bbr.inflight_longterm, longterm);
    assert!(bbr.short_term.bw.is_infinite() && bbr.short_term.inflight.is_infinite());
    assert_eq!(bbr.state, State::ProbeBwRefill);
    assert_eq!(bbr.undo.state, None);
    // Probing for bandwidth goes on, with the cwnd of before.
    let back = path.run_until(Duration::from_secs(1), is(State::ProbeBwUp));
    assert!(back);
    assert!(path.bbr.cwnd > 0.8 * cwnd, "{} {cwnd}", path.bbr.cwnd);
}

/// "Handling Spurious Fast Recovery".
#[test]
fn handling_spurious_fast_recovery() {
    let mut path = probing();
    let (longterm, cwnd) = (path.bbr.inflight_longterm, path.bbr.cwnd);
    path.lose_every = Some(4);
    path.reach(|bbr| bbr.undo.state.is_some());
    assert_undone(path, longterm, cwnd);
}

/// "Handling Spurious RTO Recovery".
#[test]
fn handling_spurious_rto_recovery() {
    let mut path = probing();
    let (longterm, cwnd) = (path.bbr.inflight_longterm, path.bbr.cwnd);
    path.lose_every = Some(1);
    path.reach(|bbr| bbr.cwnd() == 1.0);
    assert_undone(path, longterm, cwnd);
}
