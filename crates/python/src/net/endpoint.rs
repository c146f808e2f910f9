//! Endpoints and listeners for Python.

use std::net::SocketAddr;
use std::sync::Arc;

use pyo3::exceptions::{PyBlockingIOError, PyTimeoutError};
use pyo3::prelude::*;
use pyo3::types::PyType;
use skywave_net::{ConnectionError, Peer};
use skywave_transport::dccp;
use tokio::net::lookup_host;

use super::arguments::{
    Host, Leaving, TimeLimit, dccp_port, host_of, most, own_udp_port, peer_udp_port,
};
use super::config;
use super::connection::Connection;
use super::error::{NetError, connecting, ended, listening, opening};
use super::log;
use super::process::OfProcess;
use super::runtime::{awaitable, block_on, block_within, in_background, timed};
use super::stats::{self, Object, Snapshot};
use crate::control::callback::wait_for_others;

/// A UDP or raw socket and the DCCP connections on it.
#[pyclass(module = "skywave.net", frozen)]
pub(crate) struct Endpoint {
    endpoint: OfProcess<skywave_net::Endpoint>,
    is_raw: bool,
}

impl Endpoint {
    /// Returns the endpoint, unless a callback of a control keeps one of its connections locked.
    fn get(&self, py: Python<'_>) -> PyResult<&skywave_net::Endpoint> {
        let endpoint = self.endpoint.get()?;
        wait_for_others(py, || endpoint.is_busy())?;
        Ok(endpoint)
    }
}

#[pymethods]
impl Endpoint {
    /// Open a UDP socket for DCCP over UDP (RFC 6773). This needs no privileges.
    ///
    /// Without a host, it is at all addresses of IPv4 and IPv6, or of IPv4 where the system has no
    /// IPv6. With ``udp_port=0`` the system chooses a port, as a client wants.
    ///
    /// Raises:
    ///     AddressInUseError: If another socket has the address.
    ///     NetError: If it cannot be opened for another reason.
    ///     ValueError: If the port is out of range.
    #[staticmethod]
    #[pyo3(signature = (host=Host(String::new()), udp_port=6511, *, config=None), text_signature = "(host='', udp_port=6511, *, config=None)")]
    fn udp(
        py: Python<'_>,
        host: Host,
        #[pyo3(from_py_with = own_udp_port)] udp_port: u16,
        config: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let config = config::read_endpoint(config)?;
        log::watch(py)?;
        block_on(py, async {
            let endpoint = if host.0.is_empty() {
                skywave_net::Endpoint::udp_any(udp_port, config)
            } else {
                skywave_net::Endpoint::udp(resolve(&host.0, udp_port).await?[0], config)
            };
            Ok(Self {
                endpoint: OfProcess::new(endpoint.map_err(opening)?),
                is_raw: false,
            })
        })
    }

    /// Open a raw socket for IP protocol 33, for the IP version of the host.
    ///
    /// Raises:
    ///     NoPermissionError: If the process lacks CAP_NET_RAW.
    ///     NetError: If it cannot be opened for another reason.
    #[staticmethod]
    #[pyo3(signature = (host=Host("0.0.0.0".to_owned()), *, config=None), text_signature = "(host='0.0.0.0', *, config=None)")]
    fn raw(py: Python<'_>, host: Host, config: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let config = config::read_endpoint(config)?;
        log::watch(py)?;
        block_on(py, async {
            let address = resolve(&host.0, 0).await?[0];
            let endpoint = skywave_net::Endpoint::raw(address, config);
            Ok(Self {
                endpoint: OfProcess::new(endpoint.map_err(opening)?),
                is_raw: true,
            })
        })
    }

    /// The host and the UDP port of the socket; the port is 0 over IP.
    #[getter]
    fn local_address(&self) -> PyResult<(String, u16)> {
        let address = self.endpoint.look()?.local_address();
        let port = if self.is_raw { 0 } else { address.port() };
        Ok((host_of(&address), port))
    }

    /// Accept connections on a DCCP port from 1 to 65535, for as long as the listener is kept.
    ///
    /// Raises:
    ///     EndpointClosedError: If the endpoint has been closed.
    ///     NetError: If the port has a listener already.
    ///     ValueError: If the port is out of range.
    #[pyo3(signature = (port, *, config=None))]
    fn listen(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = dccp_port)] port: u16,
        config: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Listener> {
        let (endpoint, config) = (self.get(py)?, config::read(config)?);
        log::watch(py)?;
        let listener = py.detach(|| endpoint.listen(port, config));
        let listener = Arc::new(listener.map_err(listening)?);
        Ok(Listener(OfProcess::new(listener)))
    }

    /// Connect to DCCP port ``port`` of a host, given by name or address.
    ///
    /// If a name has several addresses, an attempt at the next one begins every 250 ms, IPv6 and
    /// IPv4 in turn, and the first that succeeds wins (Happy Eyeballs, RFC 8305). The endpoint
    /// should then be one for both IP versions, as without a host.
    ///
    /// Raises:
    ///     RefusedError: If nothing listens there.
    ///     BadServiceCodeError: If the port does not offer the service.
    ///     ConnectTimeoutError: If there is no answer within ``Config.connect_timeout``.
    ///     UnreachableError: If there is no route to the host, or nothing listens on its UDP port
    ///         and it says so.
    ///     NetError: If anything else fails.
    ///     ValueError: If a port is out of range.
    #[pyo3(signature = (host, port, *, udp_port=6511, config=None))]
    fn connect(
        &self,
        py: Python<'_>,
        host: Host,
        #[pyo3(from_py_with = dccp_port)] port: u16,
        #[pyo3(from_py_with = peer_udp_port)] udp_port: u16,
        config: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Connection> {
        let (endpoint, config) = (self.get(py)?, config::read(config)?);
        log::watch(py)?;
        block_on(py, async {
            connect(endpoint, &host.0, port, udp_port, config).await
        })
    }

    /// Do the same as ``connect``, as an awaitable.
    #[pyo3(name = "_connect_async", signature = (host, port, *, udp_port=6511, config=None))]
    fn connect_async<'py>(
        &self,
        py: Python<'py>,
        host: Host,
        #[pyo3(from_py_with = dccp_port)] port: u16,
        #[pyo3(from_py_with = peer_udp_port)] udp_port: u16,
        config: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (endpoint, config) = (self.get(py)?.clone(), config::read(config)?);
        log::watch(py)?;
        awaitable(py, async move {
            connect(&endpoint, &host.0, port, udp_port, config).await
        })
    }

    /// Return the endpoint's own counters.
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let endpoint = self.get(py)?;
        stats::of_endpoint(py, &py.detach(|| endpoint.stats()))
    }

    /// Return what the connections are doing: the ``most`` oldest one by one, and all in sums.
    ///
    /// Traffic continues meanwhile, however many there are.
    ///
    /// Raises:
    ///     ValueError: If ``most`` is negative.
    #[pyo3(signature = (most=1000))]
    fn snapshot(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = most)] most: usize,
    ) -> PyResult<Object<Snapshot>> {
        let endpoint = self.get(py)?;
        let snapshot = py.detach(|| Snapshot::new(endpoint.connections(), most));
        Ok(Object(snapshot))
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
        let endpoint = self.get(py)?.clone();
        in_background(py, async move { endpoint.shutdown().await })
    }

    fn __repr__(&self) -> String {
        let over = if self.is_raw { "IP" } else { "UDP" };
        let Ok(endpoint) = self.endpoint.look() else {
            return format!("<skywave.net.Endpoint of another process over {over}>");
        };
        let address = endpoint.local_address();
        if self.is_raw {
            format!("<skywave.net.Endpoint of {} over IP>", host_of(&address))
        } else {
            format!("<skywave.net.Endpoint of {address} over UDP>")
        }
    }

    /// Close all connections and wait until they have ended.
    ///
    /// The system has the socket back, and its port, when nothing refers to the endpoint, its
    /// listeners and its connections any more.
    ///
    /// Raises:
    ///     TimeoutError: If some have not ended within ``timeout_s`` seconds; these have then been
    ///         aborted.
    #[pyo3(signature = (timeout_s=None))]
    fn close(&self, py: Python<'_>, timeout_s: Option<TimeLimit>) -> PyResult<()> {
        block_on(py, close(self.get(py)?, timeout_s))
    }

    /// Do the same as ``close()``, as an awaitable. If cancelled, closing continues.
    #[pyo3(name = "_close_async")]
    fn close_async<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let endpoint = self.get(py)?.clone();
        awaitable(py, async move { close(&endpoint, None).await })
    }

    /// End all connections at once with Resets. Queued datagrams are discarded.
    fn abort(&self, py: Python<'_>) -> PyResult<()> {
        let endpoint = self.get(py)?;
        py.detach(|| endpoint.abort());
        Ok(())
    }
}

/// Closes an endpoint, and aborts the connections for which that takes longer than `timeout_s`.
async fn close(endpoint: &skywave_net::Endpoint, timeout_s: Option<TimeLimit>) -> PyResult<()> {
    if timed(timeout_s, endpoint.shutdown()).await.is_some() {
        return Ok(());
    }
    let left = endpoint.stats().connections;
    endpoint.abort();
    Err(PyTimeoutError::new_err(format!(
        "not all connections were closed within {} s; aborted: {left}",
        timeout_s.map_or(0.0, |limit| limit.seconds)
    )))
}

/// Accepts connections on one DCCP port, until it is closed or nothing refers to it.
///
/// Then later clients are refused, and connections that nobody has accepted are reset. ``with``
/// closes it. ``for`` gives one connection after another.
#[pyclass(module = "skywave.net", frozen)]
pub(crate) struct Listener(OfProcess<Arc<skywave_net::Listener>>);

#[pymethods]
impl Listener {
    /// The DCCP port.
    #[getter]
    fn port(&self) -> PyResult<u16> {
        Ok(self.0.look()?.port())
    }

    /// Iterate over connections whose handshake is complete, until the endpoint is closed.
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    /// The next connection; the end once the endpoint is closed.
    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Connection>> {
        let listener = self.0.get()?;
        block_on(py, async {
            match listener.accept().await {
                Ok(connection) => Ok(Some(Connection(OfProcess::new(connection)))),
                Err(ConnectionError::EndpointClosed | ConnectionError::ListenerClosed) => Ok(None),
                Err(error) => Err(ended(error)),
            }
        })
    }

    /// Stop accepting connections. Those that have been accepted stay open.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let listener = self.0.get()?;
        py.detach(|| listener.close());
        Ok(())
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    /// Stop accepting connections.
    #[pyo3(signature = (_kind, _error, _trace))]
    fn __exit__(
        &self,
        py: Python<'_>,
        _kind: Option<&Bound<'_, PyAny>>,
        _error: Option<&Bound<'_, PyAny>>,
        _trace: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        self.close(py)
    }

    fn __repr__(&self) -> String {
        match self.0.look() {
            Ok(listener) => format!("<skywave.net.Listener on DCCP port {}>", listener.port()),
            Err(_) => "<skywave.net.Listener of another process>".to_owned(),
        }
    }

    /// Wait for the next connection whose handshake is complete.
    ///
    /// Raises:
    ///     TimeoutError: If there is none within ``timeout_s`` seconds.
    ///     EndpointClosedError: If the endpoint has been closed.
    ///     ClosedError: If the listener has been closed.
    #[pyo3(signature = (timeout_s=None))]
    fn accept(&self, py: Python<'_>, timeout_s: Option<TimeLimit>) -> PyResult<Connection> {
        let listener = self.0.get()?;
        let accept = async { accepted(listener).await };
        block_within(py, timeout_s, "connection", accept)
    }

    /// Return the next connection whose handshake is complete.
    ///
    /// Raises:
    ///     BlockingIOError: If there is none yet.
    ///     EndpointClosedError: If the endpoint has been closed.
    ///     ClosedError: If the listener has been closed.
    fn try_accept(&self, py: Python<'_>) -> PyResult<Connection> {
        let listener = self.0.get()?;
        let accepted = py.detach(|| listener.try_accept().map_err(ended))?;
        accepted.map_or_else(
            || Err(PyBlockingIOError::new_err("there is no connection yet")),
            |connection| Ok(Connection(OfProcess::new(connection))),
        )
    }

    /// Wait until ``try_accept`` has an answer. Cancelling it loses nothing.
    #[pyo3(name = "_acceptable_async")]
    fn acceptable_async<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let listener = Arc::clone(self.0.get()?);
        awaitable(py, async move {
            listener.acceptable().await;
            Ok(())
        })
    }
}

async fn accepted(listener: &skywave_net::Listener) -> PyResult<Connection> {
    let connection = listener.accept().await.map_err(ended)?;
    Ok(Connection(OfProcess::new(connection)))
}

async fn connect(
    endpoint: &skywave_net::Endpoint,
    host: &str,
    port: u16,
    udp_port: u16,
    config: Arc<dccp::Config>,
) -> PyResult<Connection> {
    let addresses = resolve(host, udp_port).await?;
    let peers = addresses.into_iter().map(|address| Peer { address, port });
    let connection = endpoint.connect_any(peers, config).await;
    Ok(Connection(OfProcess::new(connection.map_err(connecting)?)))
}

/// Returns the addresses of a host, at least one.
async fn resolve(host: &str, port: u16) -> PyResult<Vec<SocketAddr>> {
    let error = |reason| {
        let advice = if host.contains([':', '[']) {
            "give a name or an address, without a port or brackets"
        } else {
            "check the name, or give an address"
        };
        NetError::new_err(format!("cannot resolve \"{host}\": {reason}; {advice}"))
    };
    let found = lookup_host((host, port)).await;
    let addresses: Vec<_> = found.map_err(|reason| error(reason.to_string()))?.collect();
    if addresses.is_empty() {
        return Err(error("it has no address".to_owned()));
    }
    Ok(addresses)
}
