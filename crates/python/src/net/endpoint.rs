//! Endpoints and listeners for Python.

use std::net::SocketAddr;
use std::sync::Arc;

use pyo3::exceptions::{PyBlockingIOError, PyTimeoutError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use skywave_net::{ConnectionError, Peer};
use skywave_transport::dccp;
use tokio::net::lookup_host;

use super::connection::Connection;
use super::error::{NetError, connecting, ended, listening, opening};
use super::process::OfProcess;
use super::runtime::{awaitable, block_on, timed, within};
use super::{config, stats};

/// One UDP or raw socket, and the DCCP connections over it.
#[pyclass(module = "skywave.net", frozen)]
pub(crate) struct Endpoint {
    endpoint: OfProcess<skywave_net::Endpoint>,
    is_raw: bool,
}

#[pymethods]
impl Endpoint {
    /// Open a UDP socket for DCCP over UDP (RFC 6773); it needs no privilege.
    #[staticmethod]
    #[pyo3(signature = (address=":6511", *, config=None))]
    fn udp(py: Python<'_>, address: &str, config: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let config = config::read_endpoint(config)?;
        block_on(py, async {
            let endpoint = match address.strip_prefix(':') {
                Some(port) => skywave_net::Endpoint::udp_any(udp_port(port, address)?, config),
                None => skywave_net::Endpoint::udp(resolve(address).await?, config),
            };
            Ok(Self {
                endpoint: OfProcess::new(endpoint.map_err(opening)?),
                is_raw: false,
            })
        })
    }

    /// Open a raw socket for IP protocol 33; it needs CAP_NET_RAW.
    #[staticmethod]
    #[pyo3(signature = (address="0.0.0.0", *, config=None))]
    fn raw(py: Python<'_>, address: &str, config: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let config = config::read_endpoint(config)?;
        block_on(py, async {
            let address = resolve_host(address, 0).await?[0].ip();
            let endpoint = skywave_net::Endpoint::raw(address, config);
            Ok(Self {
                endpoint: OfProcess::new(endpoint.map_err(opening)?),
                is_raw: true,
            })
        })
    }

    /// The address of the socket.
    #[getter]
    fn local_address(&self) -> PyResult<String> {
        let address = self.endpoint.get()?.local_address();
        Ok(if self.is_raw {
            address.ip().to_string()
        } else {
            address.to_string()
        })
    }

    /// Accept connections on a DCCP port.
    #[pyo3(signature = (port, *, config=None))]
    fn listen(
        &self,
        py: Python<'_>,
        port: u16,
        config: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Listener> {
        let (endpoint, config) = (self.endpoint.get()?, config::read(config)?);
        let listener = py.detach(|| endpoint.listen(port, config));
        let listener = Arc::new(listener.map_err(listening)?);
        Ok(Listener(OfProcess::new(listener)))
    }

    /// Connect to a DCCP port of a host.
    #[pyo3(signature = (host, port, *, udp_port=6511, config=None))]
    fn connect(
        &self,
        py: Python<'_>,
        host: &str,
        port: u16,
        udp_port: u16,
        config: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Connection> {
        let (endpoint, config) = (self.endpoint.get()?, config::read(config)?);
        block_on(py, async {
            connect(endpoint, host, port, udp_port, config).await
        })
    }

    /// As `connect`, awaitable.
    #[pyo3(signature = (host, port, *, udp_port=6511, config=None))]
    fn connect_async<'py>(
        &self,
        py: Python<'py>,
        host: String,
        port: u16,
        udp_port: u16,
        config: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (endpoint, config) = (self.endpoint.get()?.clone(), config::read(config)?);
        awaitable(py, async move {
            connect(&endpoint, &host, port, udp_port, config).await
        })
    }

    /// The endpoint's own counters.
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let endpoint = self.endpoint.get()?;
        stats::of_endpoint(py, &py.detach(|| endpoint.stats()))
    }

    /// The connections at present, of which the `most` oldest one by one, and totals of all.
    #[pyo3(signature = (most=1000))]
    fn snapshot<'py>(&self, py: Python<'py>, most: usize) -> PyResult<Bound<'py, PyDict>> {
        let endpoint = self.endpoint.get()?;
        py.detach(|| stats::Snapshot::new(endpoint.connections(), most))
            .to_dict(py)
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    /// Close, or abort after an exception.
    #[pyo3(signature = (kind, _error, _trace))]
    fn __exit__(
        &self,
        py: Python<'_>,
        kind: Option<&Bound<'_, PyAny>>,
        _error: Option<&Bound<'_, PyAny>>,
        _trace: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        match kind {
            None => self.close(py, None),
            Some(_) => self.abort(py),
        }
    }

    fn __repr__(&self) -> String {
        let over = if self.is_raw { "IP" } else { "UDP" };
        let address = self.local_address();
        let address = address.unwrap_or_else(|_| "another process".to_owned());
        format!("<skywave.net.Endpoint of {address} over {over}>")
    }

    /// Close all connections and wait until they have ended; after `timeout_s`, abort the rest.
    #[pyo3(signature = (timeout_s=None))]
    fn close(&self, py: Python<'_>, timeout_s: Option<f64>) -> PyResult<()> {
        block_on(py, close(self.endpoint.get()?, timeout_s))
    }

    /// As `close`, awaitable.
    #[pyo3(signature = (timeout_s=None))]
    fn close_async<'py>(
        &self,
        py: Python<'py>,
        timeout_s: Option<f64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let endpoint = self.endpoint.get()?.clone();
        awaitable(py, async move { close(&endpoint, timeout_s).await })
    }

    /// End all connections at once with Resets.
    fn abort(&self, py: Python<'_>) -> PyResult<()> {
        let endpoint = self.endpoint.get()?;
        py.detach(|| endpoint.abort());
        Ok(())
    }
}

/// Closes an endpoint, and aborts the connections for which that takes longer than `timeout_s`.
async fn close(endpoint: &skywave_net::Endpoint, timeout_s: Option<f64>) -> PyResult<()> {
    if timed(timeout_s, endpoint.shutdown()).await.is_some() {
        return Ok(());
    }
    let left = endpoint.stats().connections;
    endpoint.abort();
    Err(PyTimeoutError::new_err(format!(
        "not all connections were closed within {} s; aborted: {left}",
        timeout_s.unwrap_or_default()
    )))
}

/// Accepts connections on one DCCP port.
#[pyclass(module = "skywave.net", frozen)]
pub(crate) struct Listener(OfProcess<Arc<skywave_net::Listener>>);

#[pymethods]
impl Listener {
    /// The DCCP port.
    #[getter]
    fn port(&self) -> PyResult<u16> {
        Ok(self.0.get()?.port())
    }

    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    /// The next connection; the end once the endpoint is closed.
    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Connection>> {
        let listener = self.0.get()?;
        block_on(py, async {
            match listener.accept().await {
                Ok(connection) => Ok(Some(Connection(OfProcess::new(connection)))),
                Err(ConnectionError::EndpointClosed) => Ok(None),
                Err(error) => Err(ended(error)),
            }
        })
    }

    fn __repr__(&self) -> String {
        match self.0.get() {
            Ok(listener) => format!("<skywave.net.Listener on DCCP port {}>", listener.port()),
            Err(_) => "<skywave.net.Listener of another process>".to_owned(),
        }
    }

    /// The next connection whose handshake is complete.
    #[pyo3(signature = (timeout_s=None))]
    fn accept(&self, py: Python<'_>, timeout_s: Option<f64>) -> PyResult<Connection> {
        let listener = self.0.get()?;
        let accept = async { accepted(listener).await };
        block_on(py, within(timeout_s, "connection", accept))
    }

    /// The next connection, without waiting; `BlockingIOError` if there is none yet.
    fn try_accept(&self, py: Python<'_>) -> PyResult<Connection> {
        let listener = self.0.get()?;
        let accepted = py.detach(|| listener.try_accept().map_err(ended))?;
        accepted.map_or_else(
            || Err(PyBlockingIOError::new_err("there is no connection yet")),
            |connection| Ok(Connection(OfProcess::new(connection))),
        )
    }

    /// Wait until `try_accept` has an answer. Awaitable; cancelling it loses nothing.
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

fn udp_port(text: &str, address: &str) -> PyResult<u16> {
    text.parse().map_err(|_| {
        let form = format!("\"{address}\" is not an address with a UDP port, as \":6511\" is");
        PyValueError::new_err(form)
    })
}

async fn connect(
    endpoint: &skywave_net::Endpoint,
    host: &str,
    port: u16,
    udp_port: u16,
    config: Arc<dccp::Config>,
) -> PyResult<Connection> {
    let addresses = resolve_host(host, udp_port).await?;
    let peers = addresses.into_iter().map(|address| Peer { address, port });
    let connection = endpoint.connect_any(peers, config).await;
    Ok(Connection(OfProcess::new(connection.map_err(connecting)?)))
}

async fn resolve(address: &str) -> PyResult<SocketAddr> {
    Ok(found(lookup_host(address).await, address)?[0])
}

/// Returns the addresses of a host, of which there is at least one.
async fn resolve_host(host: &str, port: u16) -> PyResult<Vec<SocketAddr>> {
    found(lookup_host((host, port)).await, host)
}

fn found(
    looked_up: std::io::Result<impl Iterator<Item = SocketAddr>>,
    name: &str,
) -> PyResult<Vec<SocketAddr>> {
    let error = |reason| {
        NetError::new_err(format!(
            "cannot resolve \"{name}\": {reason}; check the name, or give an address"
        ))
    };
    let addresses: Vec<_> = looked_up
        .map_err(|reason| error(reason.to_string()))?
        .collect();
    if addresses.is_empty() {
        return Err(error("it has no address".to_owned()));
    }
    Ok(addresses)
}
