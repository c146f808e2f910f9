//! DCCP connections for Python.

use bytes::Bytes;
use pyo3::exceptions::PyBlockingIOError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use pyo3_async_runtimes::tokio::future_into_py;
use skywave_net::ConnectionError;
use skywave_wire::dccp::ResetCode;

use super::error::{ended, sending};
use super::{Handle, block_on, within};

/// A DCCP connection: unreliable datagrams under congestion control.
#[pyclass(module = "skywave.net", frozen)]
pub(crate) struct Connection(pub(super) Handle<skywave_net::Connection>);

#[pymethods]
impl Connection {
    /// Queue a datagram, once there is room for it.
    #[pyo3(signature = (data, timeout_s=None))]
    fn send(&self, py: Python<'_>, data: &[u8], timeout_s: Option<f64>) -> PyResult<()> {
        let data = Bytes::copy_from_slice(data);
        // Most of the time there is room, and no need to wait for anything.
        match py.detach(|| self.0.try_send(data.clone())) {
            Ok(()) => return Ok(()),
            Err(skywave_net::TrySendError::Failed(error)) => return Err(sending(error)),
            Err(_) => {}
        }
        let send = async { self.0.send(data).await.map_err(sending) };
        block_on(py, within(timeout_s, "room in the send queue", send))
    }

    /// As `send`, awaitable.
    fn send_async<'py>(&self, py: Python<'py>, data: &[u8]) -> PyResult<Bound<'py, PyAny>> {
        let (connection, data) = (self.0.shared(), Bytes::copy_from_slice(data));
        future_into_py(
            py,
            async move { connection.send(data).await.map_err(sending) },
        )
    }

    /// The next datagram, or `None` once the connection has been closed.
    #[pyo3(signature = (timeout_s=None))]
    fn recv<'py>(
        &self,
        py: Python<'py>,
        timeout_s: Option<f64>,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let datagram = match py.detach(|| self.0.try_recv()) {
            Some(datagram) => Some(datagram),
            None => {
                let recv = async { self.0.recv().await.map_err(ended) };
                block_on(py, within(timeout_s, "datagram", recv))?
            }
        };
        Ok(datagram.map(|datagram| PyBytes::new(py, &datagram.data)))
    }

    /// The next datagram, without waiting; `BlockingIOError` if there is none yet.
    fn try_recv<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let (end, datagram) = py.detach(|| {
            // Asked first, so that what arrived before the end is read before it.
            let end = self.0.end();
            (end, self.0.try_recv())
        });
        match (datagram, end) {
            (Some(datagram), _) => Ok(Some(PyBytes::new(py, &datagram.data))),
            (None, Some(ConnectionError::Closed)) => Ok(None),
            (None, Some(error)) => Err(ended(error)),
            (None, None) => Err(PyBlockingIOError::new_err("there is no datagram yet")),
        }
    }

    /// Wait until `try_recv` has an answer. Awaitable; cancelling it loses nothing.
    fn readable_async<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let connection = self.0.shared();
        future_into_py(py, async move {
            connection.readable().await;
            Ok(())
        })
    }

    /// Wait until everything queued has left.
    #[pyo3(signature = (timeout_s=None))]
    fn flush(&self, py: Python<'_>, timeout_s: Option<f64>) -> PyResult<()> {
        let flush = async { self.0.flush().await.map_err(ended) };
        block_on(py, within(timeout_s, "end of the send queue", flush))
    }

    /// Send everything queued, close, and wait until the peer has agreed.
    #[pyo3(signature = (timeout_s=None))]
    fn close(&self, py: Python<'_>, timeout_s: Option<f64>) -> PyResult<()> {
        let close = async { self.0.close().await.map_err(ended) };
        block_on(py, within(timeout_s, "answer to the close", close))
    }

    /// As `close`, awaitable.
    fn close_async<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let connection = self.0.shared();
        future_into_py(py, async move { connection.close().await.map_err(ended) })
    }

    /// End the connection at once with a Reset, discarding everything queued.
    fn abort(&self, py: Python<'_>) {
        py.detach(|| self.0.abort());
    }

    /// The maximum number of bytes in a datagram (RFC 4340 section 14).
    #[getter]
    fn max_datagram_size(&self, py: Python<'_>) -> usize {
        py.detach(|| self.0.max_datagram_size())
    }

    /// The peer's address and DCCP port.
    #[getter]
    fn peer(&self) -> String {
        let (address, port) = (self.0.peer_address(), self.0.peer_port());
        if address.port() == 0 {
            format!("{} DCCP port {port}", address.ip())
        } else {
            format!("{address} DCCP port {port}")
        }
    }

    /// The Service Code.
    #[getter]
    fn service_code(&self, py: Python<'_>) -> String {
        py.detach(|| self.0.service_code()).to_string()
    }

    /// Counters and the state of congestion control.
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let stats = py.detach(|| self.0.stats());
        let counters = &stats.counters;
        let answer = PyDict::new(py);
        for (name, count) in [
            ("datagrams_sent", counters.data_packets_sent),
            ("bytes_sent", counters.bytes_sent),
            ("datagrams_received", counters.datagrams_delivered),
            ("bytes_received", counters.bytes_received),
            ("datagrams_dropped", counters.datagrams_dropped),
            ("datagrams_discarded", counters.datagrams_discarded),
            ("packets_sent", counters.packets_sent),
            ("packets_received", counters.packets_received),
            ("marks_received", counters.ce_received),
            ("duplicates", counters.duplicates),
            ("mtu_probes_sent", counters.mtu_probes_sent),
            ("timeouts", stats.timeouts),
        ] {
            answer.set_item(name, count)?;
        }
        answer.set_item("queued", stats.queued)?;
        answer.set_item("srtt_s", stats.srtt.map(|srtt| srtt.as_secs_f64()))?;
        let window = stats.congestion.window();
        answer.set_item("cwnd", window.map(|window| window.cwnd))?;
        answer.set_item("ssthresh", window.map(|window| window.ssthresh))?;
        answer.set_item("pipe", window.map(|window| window.pipe))?;
        answer.set_item("lost", window.map(|window| window.lost))?;
        answer.set_item("marked", window.map(|window| window.marked))?;
        let rate = stats.congestion.rate();
        answer.set_item("rate_bps", rate.map(|rate| rate.rate.as_bps()))?;
        answer.set_item(
            "receive_rate_bps",
            rate.map(|rate| rate.receive_rate.as_bps()),
        )?;
        answer.set_item("loss_event_rate", rate.map(|rate| rate.loss_event_rate))?;
        answer.set_item("loss_events", rate.map(|rate| rate.loss_events))?;
        Ok(answer)
    }

    /// The CCIDs of the data that this end sends and of the data that it receives.
    #[getter]
    fn ccids(&self, py: Python<'_>) -> (u8, u8) {
        let [sender, receiver] = py.detach(|| self.0.ccids());
        (sender.0, receiver.0)
    }

    /// How the connection ended; `None` while it is open.
    #[getter]
    fn closed<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(end) = py.detach(|| self.0.end()) else {
            return Ok(None);
        };
        let code = match end {
            ConnectionError::Closed => ResetCode::CLOSED,
            ConnectionError::Refused => ResetCode::CONNECTION_REFUSED,
            ConnectionError::BadServiceCode => ResetCode::BAD_SERVICE_CODE,
            ConnectionError::TooBusy => ResetCode::TOO_BUSY,
            ConnectionError::Reset { code } | ConnectionError::Violation { code } => code,
            _ => ResetCode::ABORTED,
        };
        let closed = PyDict::new(py);
        closed.set_item("code", code.0)?;
        closed.set_item("name", code.to_string())?;
        Ok(Some(closed))
    }
}
