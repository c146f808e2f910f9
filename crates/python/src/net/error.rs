//! Network errors as Python exceptions.

use std::io::ErrorKind;

use pyo3::exceptions::PyValueError;
use pyo3::import_exception;
use pyo3::prelude::*;
use skywave_net::blocking::Forked;
use skywave_net::{ConnectError, ConnectionError, ListenError, OpenError, SendError};

use crate::member::raised_by;

import_exception!(skywave.net.errors, AbortedError);
import_exception!(skywave.net.errors, AddressInUseError);
import_exception!(skywave.net.errors, BadServiceCodeError);
import_exception!(skywave.net.errors, ClosedError);
import_exception!(skywave.net.errors, ConnectTimeoutError);
import_exception!(skywave.net.errors, DatagramTooLargeError);
import_exception!(skywave.net.errors, DiscardedError);
import_exception!(skywave.net.errors, EndpointClosedError);
import_exception!(skywave.net.errors, ForkedError);
import_exception!(skywave.net.errors, IdleTimeoutError);
import_exception!(skywave.net.errors, NetError);
import_exception!(skywave.net.errors, NoPermissionError);
import_exception!(skywave.net.errors, PeerGoneError);
import_exception!(skywave.net.errors, RefusedError);
import_exception!(skywave.net.errors, ResetError);
import_exception!(skywave.net.errors, UnreachableError);

pub(super) fn forked(error: Forked) -> PyErr {
    ForkedError::new_err(error.to_string())
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
        | ConnectError::NotUnicast { .. }
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
        ConnectionError::PeerGone => PeerGoneError::new_err(text),
        ConnectionError::Idle => IdleTimeoutError::new_err(text),
        ConnectionError::Aborted => AbortedError::new_err(text),
        ConnectionError::Closed | ConnectionError::ListenerClosed => ClosedError::new_err(text),
        ConnectionError::Discarded { .. } => DiscardedError::new_err(text),
        ConnectionError::Unreachable => UnreachableError::new_err(text),
        ConnectionError::Reset { .. } | ConnectionError::Violation { .. } => {
            ResetError::new_err(text)
        }
        _ => NetError::new_err(text),
    }
}
