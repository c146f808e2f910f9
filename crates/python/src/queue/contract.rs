//! Runs the contract tests of queue disciplines on a discipline in Python.

use pyo3::prelude::*;
use skywave_path::contract::{Parcel, check};
use skywave_path::{QueueChoice, Queues};
use skywave_registry::Choice;

use super::look_for_queues;
use crate::ScenarioError;
use crate::member::{self, Live};

/// Tests the contract of the discipline of this name with random packets, from this many seeds.
///
/// Raises an `AssertionError` with the violation. Its cause is the exception of the discipline, if
/// that is the violation.
#[pyfunction]
pub(super) fn check_queue(
    py: Python<'_>,
    name: &str,
    parameters: &str,
    members: Live<'_>,
    seeds: u64,
) -> PyResult<()> {
    let mut set: Queues<Parcel> = Queues::new(QueueChoice::KIND);
    look_for_queues(&mut set, members);
    let found = set.read(name, &parameters.parse().unwrap_or_default());
    let kind = found.map_err(|error| ScenarioError::new_err(error.to_string()))?;
    let checked =
        py.detach(|| (0..seeds).try_for_each(|seed| check(&*kind.member, seed).map(drop)));
    checked.map_err(|violation| {
        let message = violation.to_string();
        member::violation(py, message, violation.failure)
    })
}
