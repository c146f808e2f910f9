//! Endpoints and listeners for Python.

use std::net::SocketAddr;
use std::sync::Arc;

use pyo3::exceptions::{PyBlockingIOError, PyTimeoutError};
use pyo3::prelude::*;
use skywave_net::{EndpointConfig, Peer};
use tokio::net::lookup_host;

use super::config;
use super::connection::Connection;
use super::error::{NetError, connecting, ended, listening, opening};
use super::process::OfProcess;
use super::runtime::{awaitable, block_on, timed, within};

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
    #[pyo3(signature = (address="0.0.0.0:6511"))]
    fn udp(py: Python<'_>, address: &str) -> PyResult<Self> {
        block_on(py, async {
            let address = resolve(address).await?;
            let endpoint = skywave_net::Endpoint::udp(address, EndpointConfig::default());
            Ok(Self {
                endpoint: OfProcess::new(endpoint.map_err(opening)?),
                is_raw: false,
            })
        })
    }

    /// Open a raw socket for IP protocol 33; it needs CAP_NET_RAW.
    #[staticmethod]
    #[pyo3(signature = (address="0.0.0.0"))]
    fn raw(py: Python<'_>, address: &str) -> PyResult<Self> {
        block_on(py, async {
            let address = resolve_host(address, 0).await?;
            let endpoint = skywave_net::Endpoint::raw(address.ip(), EndpointConfig::default());
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
            let address = resolve_host(host, udp_port).await?;
            let peer = Peer { address, port };
            let connection = endpoint.connect(peer, config).await;
            Ok(Connection(OfProcess::new(connection.map_err(connecting)?)))
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
            let address = resolve_host(&host, udp_port).await?;
            let connection = endpoint.connect(Peer { address, port }, config).await;
            Ok(Connection(OfProcess::new(connection.map_err(connecting)?)))
        })
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

async fn resolve(address: &str) -> PyResult<SocketAddr> {
    first(lookup_host(address).await, address)
}

async fn resolve_host(host: &str, port: u16) -> PyResult<SocketAddr> {
    first(lookup_host((host, port)).await, host)
}

fn first(
    found: std::io::Result<impl Iterator<Item = SocketAddr>>,
    name: &str,
) -> PyResult<SocketAddr> {
    let error = |reason| {
        NetError::new_err(format!(
            "cannot resolve \"{name}\": {reason}; check the name, or give an address"
        ))
    };
    found
        .map_err(|reason| error(reason.to_string()))?
        .next()
        .ok_or_else(|| error("it has no address".to_owned()))
}
