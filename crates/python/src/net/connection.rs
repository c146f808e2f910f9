//! DCCP connections for Python.

use pyo3::exceptions::{PyBlockingIOError, PyTimeoutError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};
use skywave_net::ConnectionError;
use skywave_wire::dccp::ResetCode;

use super::arguments::{Data, Leaving, TimeLimit, host_of};
use super::error::{ended, sending};
use super::process::OfProcess;
use super::runtime::{awaitable, block_on, block_within, in_background, timed};
use super::stats::{Closed, Object, Stats};
use crate::control::callback::wait_for_others;

/// A DCCP connection: unreliable datagrams under congestion control.
///
/// It can be used from several threads. It is closed when the last reference to it is dropped.
/// Where a call may wait, ``timeout_s`` is the most it waits, in seconds; None is no limit.
#[pyclass(module = "skywave.net", frozen)]
pub(crate) struct Connection(pub(super) OfProcess<skywave_net::Connection>);

impl Connection {
    /// Returns the connection, unless a callback of its control keeps it locked.
    fn get(&self, py: Python<'_>) -> PyResult<&skywave_net::Connection> {
        let connection = self.0.get()?;
        wait_for_others(py, || connection.is_busy())?;
        Ok(connection)
    }
}

#[pymethods]
impl Connection {
    /// Queue a datagram (bytes, a bytearray or a memoryview), waiting for room if necessary.
    ///
    /// It leaves when congestion control allows, and may be lost on the way.
    ///
    /// Raises:
    ///     DatagramTooLargeError: If it is larger than ``max_datagram_size``.
    ///     ClosedError: If the connection has been closed, by either end.
    ///     ResetError: If the peer or this end aborted it.
    ///     PeerGoneError: If the peer stopped answering.
    ///     NetError: If it has ended in another way.
    ///     TimeoutError: If there is no room within ``timeout_s`` seconds.
    #[pyo3(signature = (data, timeout_s=None))]
    fn send(&self, py: Python<'_>, data: Data, timeout_s: Option<TimeLimit>) -> PyResult<()> {
        let (connection, data) = (self.get(py)?, data.0);
        // Most of the time there is room, and no need to wait for anything.
        match py.detach(|| connection.try_send(data.clone())) {
            Ok(()) => return Ok(()),
            Err(skywave_net::TrySendError::Failed(error)) => return Err(sending(error)),
            Err(_) => {}
        }
        let send = async { connection.send(data).await.map_err(sending) };
        block_within(py, timeout_s, "room in the send queue", send)
    }

    /// Do the same as ``send``, as an awaitable.
    #[pyo3(name = "_send_async")]
    fn send_async<'py>(&self, py: Python<'py>, data: Data) -> PyResult<Bound<'py, PyAny>> {
        let (connection, data) = (self.get(py)?.clone(), data.0);
        awaitable(
            py,
            async move { connection.send(data).await.map_err(sending) },
        )
    }

    /// Return the next datagram, or ``None`` if the connection has been closed.
    ///
    /// Raises:
    ///     ResetError: If the peer or this end aborted the connection.
    ///     PeerGoneError: If the peer stopped answering.
    ///     NetError: If the connection ended in another way.
    ///     TimeoutError: If no datagram arrives within ``timeout_s`` seconds.
    #[pyo3(signature = (timeout_s=None))]
    fn recv<'py>(
        &self,
        py: Python<'py>,
        timeout_s: Option<TimeLimit>,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let connection = self.get(py)?;
        let datagram = match py.detach(|| connection.try_recv()) {
            Some(datagram) => Some(datagram),
            None => {
                let recv = async { connection.recv().await.map_err(ended) };
                block_within(py, timeout_s, "datagram", recv)?
            }
        };
        Ok(datagram.map(|datagram| PyBytes::new(py, &datagram.data)))
    }

    /// Return the next datagram, or ``None`` if the connection has been closed.
    ///
    /// Raises:
    ///     BlockingIOError: If there is no datagram yet.
    ///     NetError: If the connection ended in another way.
    fn try_recv<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let connection = self.get(py)?;
        let (end, datagram) = py.detach(|| {
            // Asked first, so that what arrived before the end is read before it.
            let end = connection.end();
            (end, connection.try_recv())
        });
        match (datagram, end) {
            (Some(datagram), _) => Ok(Some(PyBytes::new(py, &datagram.data))),
            (None, Some(ConnectionError::Closed)) => Ok(None),
            (None, Some(error)) => Err(ended(error)),
            (None, None) => Err(PyBlockingIOError::new_err("there is no datagram yet")),
        }
    }

    /// Wait until ``try_recv`` has an answer. Cancelling it loses nothing.
    #[pyo3(name = "_readable_async")]
    fn readable_async<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let connection = self.get(py)?.clone();
        awaitable(py, async move {
            connection.readable().await;
            Ok(())
        })
    }

    /// Wait until all queued datagrams have left.
    ///
    /// Raises:
    ///     NetError: If the connection ends first.
    ///     TimeoutError: If some are left after ``timeout_s`` seconds.
    #[pyo3(signature = (timeout_s=None))]
    fn flush(&self, py: Python<'_>, timeout_s: Option<TimeLimit>) -> PyResult<()> {
        let connection = self.get(py)?;
        let flush = async { connection.flush().await.map_err(ended) };
        block_within(py, timeout_s, "empty send queue", flush)
    }

    /// Do the same as ``flush``, as an awaitable.
    #[pyo3(name = "_flush_async")]
    fn flush_async<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let connection = self.get(py)?.clone();
        awaitable(py, async move { connection.flush().await.map_err(ended) })
    }

    /// Send queued datagrams, close the connection, and wait until the peer confirms.
    ///
    /// Without ``timeout_s``, queued datagrams have the time ``Config.linger`` to leave, and the
    /// peer then has ``Config.silence_timeout`` to confirm.
    ///
    /// Raises:
    ///     DiscardedError: If not all that was queued has been sent, since ``Config.linger`` was
    ///         over or the peer closed first.
    ///     PeerGoneError: If the peer does not confirm.
    ///     NetError: If the connection ends, or has ended, in another way.
    ///     TimeoutError: If that is not done within ``timeout_s`` seconds. The connection has then
    ///         been aborted; the message says how many queued datagrams were discarded.
    #[pyo3(signature = (timeout_s=None))]
    fn close(&self, py: Python<'_>, timeout_s: Option<TimeLimit>) -> PyResult<()> {
        block_on(py, close(self.get(py)?, timeout_s))
    }

    /// Do the same as ``close()``, as an awaitable. If cancelled, closing continues.
    #[pyo3(name = "_close_async")]
    fn close_async<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let connection = self.get(py)?.clone();
        awaitable(py, async move { close(&connection, None).await })
    }

    /// End the connection at once with a Reset. Queued datagrams are discarded.
    fn abort(&self, py: Python<'_>) -> PyResult<()> {
        let connection = self.get(py)?;
        py.detach(|| connection.abort());
        Ok(())
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    /// Close; abort after an exception; close in the background if asked to stop.
    #[pyo3(signature = (kind, _error, _trace))]
    fn __exit__(
        &self,
        py: Python<'_>,
        kind: Option<&Bound<'_, PyType>>,
        _error: Option<&Bound<'_, PyAny>>,
        _trace: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        match Leaving::of(kind)? {
            Leaving::Done => self.close(py, None),
            Leaving::Failed => self.abort(py),
            Leaving::Stopped => self.close_in_background(py),
        }
    }

    /// Close without waiting for the end.
    fn close_in_background(&self, py: Python<'_>) -> PyResult<()> {
        let connection = self.get(py)?.clone();
        in_background(py, async move {
            // There is nobody to report it to.
            let _ended = connection.close().await;
        })
    }

    /// Iterate over the datagrams that arrive, until the connection has been closed.
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    /// The next datagram; the end once the connection has been closed.
    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        self.recv(py, None)
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let Ok(held) = self.0.look() else {
            return "<skywave.net.Connection of another process>".to_owned();
        };
        let (mut address, port) = (held.peer_address(), held.peer_port());
        address.set_ip(address.ip().to_canonical());
        let peer = if address.port() == 0 {
            format!("{} DCCP port {port}", host_of(&address))
        } else {
            format!("{address} DCCP port {port}")
        };
        let Ok(connection) = self.get(py) else {
            return format!("<skywave.net.Connection to {peer}>");
        };
        let end = py.detach(|| connection.end());
        let state = end.map_or_else(|| "open".to_owned(), |end| reset_code(&end).to_string());
        format!("<skywave.net.Connection to {peer}, {state}>")
    }

    /// The largest size of a datagram, in bytes (RFC 4340 section 14).
    #[getter]
    fn max_datagram_size(&self, py: Python<'_>) -> PyResult<usize> {
        let connection = self.get(py)?;
        Ok(py.detach(|| connection.max_datagram_size()))
    }

    /// The peer's host and DCCP port.
    #[getter]
    fn peer(&self) -> PyResult<(String, u16)> {
        let connection = self.0.look()?;
        Ok((host_of(&connection.peer_address()), connection.peer_port()))
    }

    /// The peer's UDP port; None over IP.
    #[getter]
    fn peer_udp_port(&self) -> PyResult<Option<u16>> {
        let port = self.0.look()?.peer_address().port();
        Ok((port > 0).then_some(port))
    }

    /// The Service Code, e.g. "SC:VOIP" or "SC=42".
    #[getter]
    fn service_code(&self, py: Python<'_>) -> PyResult<String> {
        let connection = self.get(py)?;
        Ok(py.detach(|| connection.service_code()).to_string())
    }

    /// Return counters and the state of congestion control.
    fn stats(&self, py: Python<'_>) -> PyResult<Object<Stats>> {
        let connection = self.get(py)?;
        Ok(Object(Stats::new(&py.detach(|| connection.stats()))))
    }

    /// The CCIDs of what this end sends and of what it receives, two integers.
    #[getter]
    fn ccids(&self, py: Python<'_>) -> PyResult<(u8, u8)> {
        let connection = self.get(py)?;
        let [sender, receiver] = py.detach(|| connection.ccids());
        Ok((sender.0, receiver.0))
    }

    /// How the connection ended; None while it is open.
    #[getter]
    fn closed(&self, py: Python<'_>) -> PyResult<Option<Object<Closed>>> {
        let connection = self.get(py)?;
        let end = py.detach(|| connection.end());
        Ok(end.map(|end| Object(Closed::new(reset_code(&end)))))
    }
}

/// Closes a connection, and aborts it if that takes longer than `timeout_s`.
/// One that this end has aborted is closed already.
async fn close(connection: &skywave_net::Connection, timeout_s: Option<TimeLimit>) -> PyResult<()> {
    if connection.end() == Some(ConnectionError::Aborted) {
        return Ok(());
    }
    if let Some(closed) = timed(timeout_s, connection.close()).await {
        return closed.map_err(ended);
    }
    let queued = connection.stats().queued;
    connection.abort();
    Err(PyTimeoutError::new_err(format!(
        "the connection was not closed within {} s and has been aborted; datagrams discarded: \
         {queued}",
        timeout_s.map_or(0.0, |limit| limit.seconds)
    )))
}

/// Returns the Reset Code that tells how a connection ended.
fn reset_code(end: &ConnectionError) -> ResetCode {
    match end {
        ConnectionError::Closed => ResetCode::CLOSED,
        ConnectionError::Refused => ResetCode::CONNECTION_REFUSED,
        ConnectionError::BadServiceCode => ResetCode::BAD_SERVICE_CODE,
        ConnectionError::TooBusy => ResetCode::TOO_BUSY,
        ConnectionError::Reset { code } | ConnectionError::Violation { code } => *code,
        _ => ResetCode::ABORTED,
    }
}
