//! Runs the contract tests of congestion controls on a control in Python.

use pyo3::prelude::*;
use skywave_congestion::contract::{Violation, check};
use skywave_congestion::{ControlContext, no_controls};

use super::{Place, look_for_controls};
use crate::ScenarioError;
use crate::member::{self, Live};

/// Tests the contract of the control of this name with random sequences of calls.
///
/// Raises an `AssertionError` with the violation and the calls that show it. Its cause is the
/// control's exception, if that is the violation.
#[pyfunction]
pub(super) fn check_control(
    py: Python<'_>,
    name: &str,
    parameters: &str,
    controls: Live<'_>,
    cases: u32,
) -> PyResult<()> {
    let mut set = no_controls();
    look_for_controls(&mut set, controls, Place::Simulator);
    let found = set.read(name, &parameters.parse().unwrap_or_default());
    let kind = found.map_err(|error| ScenarioError::new_err(error.to_string()))?;
    let make = || kind.member.build(&NEW_CONNECTION);
    let Err(violation) = py.detach(|| check(make, cases)) else {
        return Ok(());
    };
    let Violation {
        clause,
        calls,
        failure,
        ..
    } = violation;
    let listed: Vec<_> = calls.iter().map(|call| format!("  {call:?}")).collect();
    let message = format!("{clause}; the calls:\n{}", listed.join("\n"));
    Err(member::violation(py, message, failure))
}

/// A connection that begins, with packets as large as those of the contract.
const NEW_CONNECTION: ControlContext = ControlContext {
    packet_size: 1000,
    initial_cwnd: 4.0,
    initial_ssthresh: f64::INFINITY,
    ns2: false,
    linux: false,
};
