//! Members of scenarios written in Python: congestion controls, queue disciplines, loss models and
//! sources.
//!
//! A scenario names one as `module:Class`. The Python module `skywave._members` looks up the class
//! and checks its parameters when the scenario is read; a run then creates an object for each link or
//! flow that has the member, and calls its methods.
//!
//! Each call takes the interpreter and returns it (about 0.1 µs if nobody else wants it). Holding
//! it for the whole run instead would save that, but then no other thread of Python could go on:
//! neither the ones that `run_many` starts, nor those of a program that emulates a link or serves a
//! page. What a call costs beyond that is the method itself. So there are fewer calls where possible:
//! a FIFO that decides on arrival is called once for each packet, and keeps none.
//!
//! An exception, or a wrong answer, makes the object fail. It is not called again, whoever drives
//! the run looks at `failure` regularly, and until then the object answers as one that does nothing.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

use pyo3::exceptions::{PyAssertionError, PyException, PyRuntimeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyType};
use skywave_registry::{Found, MemberFailure, OpenSet, ParameterError, Value};
use skywave_units::Random;
use skywave_units::rand_core::Rng;

/// Classes by the names of their members. They need not be importable.
pub(crate) type Live<'py> = Option<Bound<'py, PyDict>>;

/// A class that a scenario names, with its parameters.
pub(crate) struct Given<'py> {
    /// The class of `skywave` that it is derived from.
    pub(crate) base: Bound<'py, PyType>,
    pub(crate) class: Bound<'py, PyType>,
    pub(crate) parameters: Bound<'py, PyDict>,
    /// An object with these parameters, which decides nothing.
    pub(crate) sample: Bound<'py, PyAny>,
}

/// Makes `set` find the classes of Python that are derived from `base` in `skywave.{module}`.
pub(crate) fn look_for<T: ?Sized + 'static>(
    set: &mut OpenSet<T>,
    live: Live<'_>,
    module: &'static str,
    base: &'static str,
    build: impl Fn(&Given<'_>) -> PyResult<Arc<T>> + Send + Sync + 'static,
) {
    let live = live.map(Bound::unbind);
    set.look_elsewhere(
        |name| name.contains(':'),
        move |name, parameters| {
            Python::attach(|py| {
                let live = live.as_ref().map(|live| live.bind(py));
                let module = py.import(format!("skywave.{module}"));
                let base = module.and_then(|module| module.getattr(base));
                let found = base.and_then(|base| find(base.cast_into()?, name, parameters, live));
                let built = found.and_then(|(given, parameters)| {
                    let member = build(&given)?;
                    Ok(Found { member, parameters })
                });
                built.map_err(|error| unusable(py, &error))
            })
        },
    );
}

/// Asks `skywave._members` for a class, and for its parameters with all defaults.
fn find<'py>(
    base: Bound<'py, PyType>,
    name: &str,
    parameters: &Value,
    live: Option<&Bound<'py, PyDict>>,
) -> PyResult<(Given<'py>, Value)> {
    let py = base.py();
    let members = py.import("skywave._members")?;
    let asked = (&base, name, parameters.to_string(), live);
    let (class, complete, sample): (_, String, _) =
        members.call_method1("find", asked)?.extract()?;
    let json = py.import("json")?;
    let given = Given {
        base,
        class,
        parameters: json.call_method1("loads", (&complete,))?.cast_into()?,
        sample,
    };
    Ok((given, complete.parse().unwrap_or_default()))
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

/// Returns the exception with which a member failed, as it was raised. `place` is added as a note.
pub(crate) fn raised_by(failure: &MemberFailure, place: Option<String>) -> PyErr {
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

/// Returns what Python raises for a violated contract. What ends a program, such as Ctrl-C while an
/// object decides, violates none.
pub(crate) fn violation(py: Python<'_>, message: String, failure: Option<MemberFailure>) -> PyErr {
    let cause = failure.map(|failure| raised_by(&failure, None));
    match cause {
        Some(error) if !error.is_instance_of::<PyException>(py) => error,
        cause => {
            let error = PyAssertionError::new_err(message);
            error.set_cause(py, cause);
            error
        }
    }
}

/// A class with parameters, which creates objects. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Class {
    name: Arc<str>,
    class: Arc<Py<PyType>>,
    parameters: Arc<Py<PyDict>>,
    has_inner_values: bool,
}

impl Class {
    pub(crate) fn new(given: &Given<'_>) -> PyResult<Self> {
        Ok(Self {
            name: given.class.name()?.to_string_lossy().into(),
            class: Arc::new(given.class.clone().unbind()),
            parameters: Arc::new(given.parameters.clone().unbind()),
            has_inner_values: given.base.hasattr("inner_values")?
                && given.overrides("inner_values")?,
        })
    }

    /// Creates an object that draws from `random`, and passes it to `start`.
    pub(crate) fn make(
        &self,
        mut random: Random,
        start: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<()>,
    ) -> Object {
        let mut made = Object {
            class: self.clone(),
            object: None,
            failure: OnceLock::new(),
        };
        let seed = random.next_u64();
        let object = Python::try_attach(|py| {
            without_panic(&self.name, "__init__", || {
                let object = self
                    .class
                    .bind(py)
                    .call((), Some(self.parameters.bind(py)))?;
                let generator = py.import("random")?.call_method1("Random", (seed,))?;
                object.setattr(intern!(py, "random"), generator)?;
                start(&object)?;
                Ok(object.unbind())
            })
        });
        match object {
            Some(Ok(object)) => made.object = Some(object),
            Some(Err(error)) => made.fail(error),
            None => made.fail(PyRuntimeError::new_err("the interpreter is about to end")),
        }
        made
    }
}

impl Given<'_> {
    /// Returns whether the class defines a method that its base class has too.
    pub(crate) fn overrides(&self, method: &str) -> PyResult<bool> {
        Ok(!self.class.getattr(method)?.is(&self.base.getattr(method)?))
    }
}

/// A Python object that decides for a member, until it fails.
pub(crate) struct Object {
    class: Class,
    /// Absent if it could not be created.
    object: Option<Py<PyAny>>,
    failure: OnceLock<MemberFailure>,
}

impl Object {
    /// Does `act`, which calls `method`. Returns `None` if that fails, has failed before, or the
    /// program is about to end.
    pub(crate) fn call<T>(
        &self,
        method: &'static str,
        act: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Option<T> {
        let object = self.object.as_ref()?;
        if self.failure.get().is_some() {
            return None;
        }
        let done = Python::try_attach(|py| {
            without_panic(&self.class.name, method, || act(object.bind(py)))
        });
        match done? {
            Ok(value) => Some(value),
            Err(error) => {
                self.fail(error);
                None
            }
        }
    }

    fn fail(&self, error: PyErr) {
        let _first = self.failure.set(MemberFailure::new(error));
    }

    pub(crate) fn failure(&self) -> Option<MemberFailure> {
        self.failure.get().cloned()
    }

    pub(crate) fn inner_values(&self, record: &mut dyn FnMut(&str, f64)) {
        if !self.class.has_inner_values {
            return;
        }
        self.call("inner_values", |object| {
            read_inner_values(object, &self.class.name, |name, value| {
                record(name, value);
                Ok(())
            })
        });
    }
}

impl std::fmt::Debug for Object {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Object")
            .field("class", &self.class.name)
            .field("failure", &self.failure)
            .finish_non_exhaustive()
    }
}

/// Calls `act`, the method `method` of a class, and returns a panic as an error: it must not end a
/// run, or a thread that drives connections. A class of Python can cause one through another library.
pub(crate) fn without_panic<T>(
    class: &str,
    method: &str,
    act: impl FnOnce() -> PyResult<T>,
) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(act)).unwrap_or_else(|panic| {
        let reason = said(&*panic);
        Err(PyRuntimeError::new_err(format!(
            "{class}.{method} panicked: {reason}"
        )))
    })
}

fn said(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no reason given")
}

/// Passes what an object's `inner_values` returns to `record`, by name.
pub(crate) fn read_inner_values(
    object: &Bound<'_, PyAny>,
    class: &str,
    mut record: impl FnMut(&str, f64) -> PyResult<()>,
) -> PyResult<()> {
    let py = object.py();
    let values = object.call_method0(intern!(py, "inner_values"))?;
    for item in values.call_method0(intern!(py, "items"))?.try_iter()? {
        let item = item?;
        let (name, value): (String, f64) = item.extract().map_err(|_| {
            PyValueError::new_err(format!(
                "{class}.inner_values has {}: give numbers by name, as in \
                 {{\"queueing_delay_s\": 0.01}}",
                shown(&item),
            ))
        })?;
        record(&name, value)?;
    }
    Ok(())
}

/// Returns the error of an object whose method did what it must not, with the place of the method.
pub(crate) fn wrong(object: &Bound<'_, PyAny>, method: &str, what: &str) -> PyErr {
    let place = || -> PyResult<String> {
        let code = object.getattr(method)?.getattr("__code__")?;
        let (file, line) = (
            code.getattr("co_filename")?,
            code.getattr("co_firstlineno")?,
        );
        Ok(format!(" ({file}, line {line})"))
    };
    let place = place().unwrap_or_default();
    let class = object.get_type();
    let name = class.name();
    let name = name.map_or_else(|_| "?".into(), |name| name.to_string_lossy().into_owned());
    PyValueError::new_err(format!("{name}.{method}{place} {what}"))
}

/// Returns the value as Python writes it.
pub(crate) fn shown(value: &Bound<'_, PyAny>) -> String {
    value.repr().map_or_else(
        |_| value.get_type().to_string(),
        |text: Bound<'_, PyString>| text.to_string_lossy().into_owned(),
    )
}
