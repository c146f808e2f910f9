//! Congestion controls written in Python.
//!
//! - `callback`: calls Python, and guards connections against what that may do.
//! - `class`: a subclass of `skywave.Control` with parameters, which builds controls.
//! - `object`: the control of one connection. It calls a Python object and stores its decisions.
//! - `values`: the arguments of these calls. `round_trip` sums them up for controls that are called
//!   once per round-trip time.
//! - `contract`: runs the contract tests on a control in Python.
//!
//! The Python module `skywave.control` checks the classes.

#[cfg_attr(
    not(feature = "sockets"),
    expect(dead_code, reason = "most of it guards connections")
)]
pub(crate) mod callback;
mod class;
mod contract;
mod object;
mod round_trip;
mod values;

use std::sync::Arc;

use pyo3::prelude::*;
use skywave_congestion::Controls;

use self::class::Class;
pub(crate) use self::class::Place;
use crate::member::{self, Live};

/// Adds the functions and classes for controls in Python to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(contract::check_control, module)?)?;
    values::register(module)
}

/// Makes `controls` find controls in Python too, which run at `place`.
pub(crate) fn look_for_controls(controls: &mut Controls, live: Live<'_>, place: Place) {
    member::look_for(controls, live, "control", "Control", move |given| {
        let class = Class::new(&given.base, &given.class, &given.parameters, place)?;
        Ok(Arc::new(class))
    });
}
