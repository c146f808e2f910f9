//! Arguments of calls, checked as they are read.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyException, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString, PyType};

/// The data of a datagram: bytes, or anything that shows its bytes as a buffer.
pub(super) struct Data(pub(super) Bytes);

impl FromPyObject<'_, '_> for Data {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        if let Ok(bytes) = given.cast::<PyBytes>() {
            return Ok(Self(Bytes::copy_from_slice(bytes.as_bytes())));
        }
        let Ok(buffer) = PyBuffer::<u8>::get(&given) else {
            let class = given.get_type().name()?;
            let message = format!("data is {class}: give bytes, a bytearray or a memoryview");
            return Err(PyTypeError::new_err(message));
        };
        Ok(Self(buffer.to_vec(given.py())?.into()))
    }
}

/// How long a call may take, in seconds.
#[derive(Clone, Copy)]
pub(super) struct TimeLimit {
    pub(super) seconds: f64,
    pub(super) duration: Duration,
}

impl FromPyObject<'_, '_> for TimeLimit {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        let seconds: f64 = given.extract().map_err(|_| {
            let message = format!(
                "timeout_s is {}: give seconds, or None for no limit",
                repr(&given)
            );
            PyTypeError::new_err(message)
        })?;
        if seconds.is_nan() || seconds < 0.0 {
            let message =
                format!("timeout_s is {seconds}: give 0 or more seconds, or None for no limit");
            return Err(PyValueError::new_err(message));
        }
        let duration = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        Ok(Self { seconds, duration })
    }
}

/// How a `with` block ends.
pub(super) enum Leaving {
    /// After its last statement.
    Done,
    /// By an exception of the program.
    Failed,
    /// Because the program, or a task of it, is asked to stop: by `KeyboardInterrupt` or a
    /// cancellation.
    Stopped,
}

impl Leaving {
    /// Reads the class of the exception that leaves the block, if one does.
    pub(super) fn of(kind: Option<&Bound<'_, PyType>>) -> PyResult<Self> {
        Ok(match kind {
            None => Self::Done,
            Some(kind) if kind.is_subclass_of::<PyException>()? => Self::Failed,
            Some(_) => Self::Stopped,
        })
    }
}

/// Returns the host of an address as `connect` takes it: with the interface of a link-local one.
pub(super) fn host_of(address: &SocketAddr) -> String {
    match address {
        SocketAddr::V6(v6) if v6.scope_id() != 0 => format!("{}%{}", v6.ip(), v6.scope_id()),
        // A socket for both IP versions sees IPv4 as a part of IPv6.
        _ => address.ip().to_canonical().to_string(),
    }
}

/// The name or address of a host, without a port.
pub(super) struct Host(pub(super) String);

impl FromPyObject<'_, '_> for Host {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        let Ok(text) = given.cast::<PyString>() else {
            let message = format!(
                "host is {}: give a name or an address as text, and ports as arguments of their own",
                repr(&given)
            );
            return Err(PyTypeError::new_err(message));
        };
        Ok(Self(text.to_str()?.to_owned()))
    }
}

/// Reads a DCCP port. The protocol refuses 0.
pub(super) fn dccp_port(given: &Bound<'_, PyAny>) -> PyResult<u16> {
    port(given, "port", 1)
}

/// Reads a peer's UDP port. The protocol refuses 0.
pub(super) fn peer_udp_port(given: &Bound<'_, PyAny>) -> PyResult<u16> {
    port(given, "udp_port", 1)
}

/// Reads the UDP port of an endpoint; 0 leaves the choice to the system.
pub(super) fn own_udp_port(given: &Bound<'_, PyAny>) -> PyResult<u16> {
    port(given, "udp_port", 0)
}

/// Reads a port. The caller refuses what is below `least`.
fn port(given: &Bound<'_, PyAny>, argument: &str, least: u16) -> PyResult<u16> {
    whole(given, argument, &format!("{least} to 65535"))
}

/// Reads how many connections are wanted.
pub(super) fn most(given: &Bound<'_, PyAny>) -> PyResult<usize> {
    whole(given, "most", "0 or more")
}

fn whole<'py, T>(given: &Bound<'py, PyAny>, argument: &str, allowed: &str) -> PyResult<T>
where
    T: FromPyObjectOwned<'py, Error = PyErr>,
{
    given.extract().map_err(|error: PyErr| {
        let message = format!("{argument} is {}: give {allowed}", repr(given));
        if error.is_instance_of::<PyTypeError>(given.py()) {
            return PyTypeError::new_err(message);
        }
        PyValueError::new_err(message)
    })
}

/// Returns what Python shows of a value.
fn repr(given: &Bound<'_, PyAny>) -> String {
    given.repr().map_or_else(
        |_| "something".to_owned(),
        |shown| shown.to_string_lossy().into_owned(),
    )
}
