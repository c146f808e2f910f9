//! Congestion controls written in Python.
//!
//! - `callback`: calls Python, and guards connections against what that may do.
//! - `class`: a subclass of `skywave.Control` with parameters, which builds controls.
//! - `object`: the control of one connection. It calls a Python object and stores its decisions.
//! - `values`: the arguments of these calls. `round_trip` sums them up for controls that are called
//!   once per round-trip time.
//! - `contract`: runs the contract tests on a control in Python.
//!
//! The Python module `skywave.control` looks up classes by name and checks their parameters.

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

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};
use skywave_congestion::{ControlFailure, ControlKind, Controls};
use skywave_registry::{Found, ParameterError, Value};

use self::class::Class;
pub(crate) use self::class::Place;

/// Adds the functions and classes for controls in Python to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(contract::check_control, module)?)?;
    values::register(module)
}

/// Classes by the names of their controls. They need not be importable.
pub(crate) type Live<'py> = Option<Bound<'py, PyDict>>;

/// Makes `controls` find controls in Python too, by `module:Class`: the classes in `live`, and
/// others by importing their modules. They run at `place`.
pub(crate) fn look_in_python(controls: &mut Controls, live: Live<'_>, place: Place) {
    let live = live.map(Bound::unbind);
    controls.look_elsewhere(
        |name| name.contains(':'),
        move |name, parameters| {
            Python::attach(|py| {
                let live = live.as_ref().map(|live| live.bind(py));
                find(py, name, parameters, live, place).map_err(|error| unusable(py, &error))
            })
        },
    );
}

/// Asks `skywave.control` for a class, and for its parameters with all defaults.
fn find(
    py: Python<'_>,
    name: &str,
    parameters: &Value,
    live: Option<&Bound<'_, PyDict>>,
    place: Place,
) -> PyResult<Found<dyn ControlKind>> {
    let module = py.import("skywave.control")?;
    let base: Bound<'_, PyType> = module.getattr("Control")?.cast_into()?;
    let given = (name, parameters.to_string(), live);
    let (class, complete): (Bound<'_, PyType>, String) =
        module.getattr("find")?.call1(given)?.extract()?;
    let json = py.import("json")?;
    let values: Bound<'_, PyDict> = json.call_method1("loads", (&complete,))?.cast_into()?;
    Ok(Found {
        member: Arc::new(Class::new(&base, &class, &values, place)?),
        parameters: complete.parse().unwrap_or_default(),
    })
}

/// Converts the exception for an unusable name or parameter to an error.
fn unusable(py: Python<'_>, error: &PyErr) -> ParameterError {
    let value = error.value(py);
    let text = |name: &str| {
        value
            .getattr(name)
            .and_then(|text| text.extract::<String>())
    };
    match (text("field"), text("message")) {
        (Ok(field), Ok(message)) => ParameterError::new(field, message),
        _ => ParameterError::new("", error.to_string()),
    }
}

/// Returns the exception with which a control failed, as it was raised. `place` is added as a note.
pub(crate) fn raised_by(failure: &ControlFailure, place: Option<String>) -> PyErr {
    let Some(error) = failure.downcast_ref::<PyErr>() else {
        return PyRuntimeError::new_err(failure.to_string());
    };
    Python::attach(|py| {
        if let Some(place) = place {
            // A failure to add the note must not hide the exception.
            let _noted = error.value(py).call_method1("add_note", (place,));
        }
        error.clone_ref(py)
    })
}
