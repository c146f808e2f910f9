//! A subclass of `skywave.Control` with parameters, which builds controls.

use std::fmt;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyType};
use skywave_congestion::{Ect, Wants};

/// A class with parameters. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Class {
    class: Arc<Py<PyType>>,
    parameters: Arc<Py<PyDict>>,
    /// The class's own name, for errors.
    pub(super) name: Arc<str>,
    pub(super) calls: Calls,
    pub(super) wants: Wants,
    pub(super) place: Place,
}

/// Where a control runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Simulator,
    /// On a socket, whose connections wait for it.
    #[cfg_attr(not(feature = "sockets"), expect(dead_code, reason = "there are none"))]
    Socket,
}

/// The calls that a class of controls asks for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Calls {
    /// Once per round-trip time, instead of for each acknowledgement.
    pub(super) by_round_trip: bool,
    pub(super) delivery_rate: bool,
    pub(super) sent: bool,
    pub(super) acked_packets: bool,
    pub(super) lost_packets: bool,
    pub(super) marked_packets: bool,
    pub(super) inner_values: bool,
}

impl Class {
    /// Reads the settings and methods of the class. `base` is `skywave.Control`.
    pub(super) fn new(
        base: &Bound<'_, PyType>,
        class: &Bound<'_, PyType>,
        parameters: &Bound<'_, PyDict>,
        place: Place,
    ) -> PyResult<Self> {
        let overrides = |method: &str| -> PyResult<bool> {
            Ok(!class.getattr(method)?.is(&base.getattr(method)?))
        };
        let every: Bound<'_, PyString> = class.getattr("every")?.cast_into()?;
        Ok(Self {
            name: class.name()?.to_string_lossy().into(),
            calls: Calls {
                by_round_trip: every.to_string_lossy() == "round-trip",
                delivery_rate: class.getattr("delivery_rate")?.is_truthy()?,
                sent: overrides("on_sent")?,
                acked_packets: overrides("on_packet_acked")?,
                lost_packets: overrides("on_packet_lost")?,
                marked_packets: overrides("on_packets_marked")?,
                inner_values: overrides("inner_values")?,
            },
            wants: wants(class)?,
            place,
            class: Arc::new(class.clone().unbind()),
            parameters: Arc::new(parameters.clone().unbind()),
        })
    }

    /// Creates an object of the class.
    pub(super) fn make<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.class.bind(py).call((), Some(self.parameters.bind(py)))
    }
}

/// Reads what the class asks of the transport.
fn wants(class: &Bound<'_, PyType>) -> PyResult<Wants> {
    let mut wants = Wants::default();
    if class.getattr("sack")?.is_truthy()? {
        wants = wants.with_sack();
    }
    if class.getattr("paced")?.is_truthy()? {
        wants = wants.with_pacing();
    }
    let ecn = class.getattr("ecn")?;
    if ecn.is_none() {
        return Ok(wants);
    }
    let code = match ecn.str()?.to_str()? {
        "ect0" => Ect::Zero,
        "ect1" => Ect::One,
        _ => {
            return Err(PyValueError::new_err(format!(
                "{}.ecn is {}: give \"ect0\", \"ect1\" or None",
                class.name()?,
                ecn.repr()?,
            )));
        }
    };
    Ok(wants.with_ecn(code))
}

impl fmt::Debug for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Class")
            .field("name", &self.name)
            .field("calls", &self.calls)
            .field("wants", &self.wants)
            .field("place", &self.place)
            .finish_non_exhaustive()
    }
}
