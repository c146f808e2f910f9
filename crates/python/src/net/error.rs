//! Network errors as Python exceptions.

use std::io::ErrorKind;

use pyo3::create_exception;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use skywave_net::{ConnectError, ConnectionError, ListenError, OpenError, SendError};

use crate::control::raised_by;

create_exception!(
    skywave._core,
    NetError,
    PyOSError,
    "Something failed on the network. The text says what to do."
);
create_exception!(
    skywave._core,
    RefusedError,
    NetError,
    "Nobody listens on the peer's DCCP port, or the server is too busy."
);
create_exception!(
    skywave._core,
    BadServiceCodeError,
    NetError,
    "The peer's port does not offer the service."
);
create_exception!(
    skywave._core,
    ConnectTimeoutError,
    NetError,
    "The peer does not answer."
);
create_exception!(
    skywave._core,
    ResetError,
    NetError,
    "The connection was ended by a Reset other than a normal close."
);
create_exception!(
    skywave._core,
    AbortedError,
    ResetError,
    "This end aborted the connection."
);
create_exception!(
    skywave._core,
    DatagramTooLargeError,
    NetError,
    "The datagram is larger than the path takes."
);
create_exception!(
    skywave._core,
    NoPermissionError,
    NetError,
    "Raw sockets need a privilege that this process does not have."
);
create_exception!(
    skywave._core,
    ForkedError,
    NetError,
    "The socket belongs to the process of which this one is a fork; open one here."
);
create_exception!(
    skywave._core,
    AddressInUseError,
    NetError,
    "Another socket has the address."
);
create_exception!(
    skywave._core,
    ClosedError,
    NetError,
    "The connection has been closed normally, by either end."
);
create_exception!(
    skywave._core,
    UnreachableError,
    NetError,
    "There is no way to the peer, or the network reports that it cannot be reached."
);
create_exception!(
    skywave._core,
    EndpointClosedError,
    NetError,
    "The endpoint has been closed; open another one."
);

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("NetError", py.get_type::<NetError>())?;
    module.add("RefusedError", py.get_type::<RefusedError>())?;
    module.add("BadServiceCodeError", py.get_type::<BadServiceCodeError>())?;
    module.add("ConnectTimeoutError", py.get_type::<ConnectTimeoutError>())?;
    module.add("ResetError", py.get_type::<ResetError>())?;
    module.add("AbortedError", py.get_type::<AbortedError>())?;
    module.add(
        "DatagramTooLargeError",
        py.get_type::<DatagramTooLargeError>(),
    )?;
    module.add("NoPermissionError", py.get_type::<NoPermissionError>())?;
    module.add("AddressInUseError", py.get_type::<AddressInUseError>())?;
    module.add("ClosedError", py.get_type::<ClosedError>())?;
    module.add("UnreachableError", py.get_type::<UnreachableError>())?;
    module.add("EndpointClosedError", py.get_type::<EndpointClosedError>())?;
    module.add("ForkedError", py.get_type::<ForkedError>())
}

pub(super) fn opening(error: OpenError) -> PyErr {
    let text = error.to_string();
    match error {
        OpenError::Permission { .. } => NoPermissionError::new_err(text),
        OpenError::TooManyShards { .. } | OpenError::ZeroLimit(_) => PyValueError::new_err(text),
        OpenError::Bind { source, .. } if source.kind() == ErrorKind::AddrInUse => {
            AddressInUseError::new_err(text)
        }
        _ => NetError::new_err(text),
    }
}

pub(super) fn listening(error: ListenError) -> PyErr {
    let text = error.to_string();
    match error {
        ListenError::Config(_) | ListenError::PortZero | ListenError::QuickStart => {
            PyValueError::new_err(text)
        }
        ListenError::EndpointClosed => EndpointClosedError::new_err(text),
        _ => NetError::new_err(text),
    }
}

pub(super) fn connecting(error: ConnectError) -> PyErr {
    match error {
        ConnectError::Connection(error) => ended(error),
        ConnectError::Config(_)
        | ConnectError::QuickStart
        | ConnectError::PortZero
        | ConnectError::UdpPortZero => PyValueError::new_err(error.to_string()),
        ConnectError::NoRoute { .. } | ConnectError::AddressFamily { .. } => {
            UnreachableError::new_err(error.to_string())
        }
        error => NetError::new_err(error.to_string()),
    }
}

pub(super) fn sending(error: SendError) -> PyErr {
    match error {
        SendError::Connection(error) => ended(error),
        SendError::TooLarge { .. } => DatagramTooLargeError::new_err(error.to_string()),
        error => NetError::new_err(error.to_string()),
    }
}

pub(super) fn ended(error: ConnectionError) -> PyErr {
    if let ConnectionError::ControlFailed(failure) = &error {
        return raised_by(failure, None);
    }
    let text = error.to_string();
    match error {
        ConnectionError::Refused | ConnectionError::TooBusy => RefusedError::new_err(text),
        ConnectionError::EndpointClosed => EndpointClosedError::new_err(text),
        ConnectionError::BadServiceCode => BadServiceCodeError::new_err(text),
        ConnectionError::TimedOut => ConnectTimeoutError::new_err(text),
        ConnectionError::Aborted => AbortedError::new_err(text),
        ConnectionError::Closed => ClosedError::new_err(text),
        ConnectionError::Unreachable => UnreachableError::new_err(text),
        ConnectionError::Reset { .. } | ConnectionError::Violation { .. } => {
            ResetError::new_err(text)
        }
        _ => NetError::new_err(text),
    }
}
