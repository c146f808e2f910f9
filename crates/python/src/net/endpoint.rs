//! Endpoints and listeners for Python.

use std::net::SocketAddr;

use pyo3::exceptions::PyBlockingIOError;
use pyo3::prelude::*;
use pyo3_async_runtimes::tokio::{future_into_py, get_runtime};
use skywave_net::{EndpointConfig, Peer};
use tokio::net::lookup_host;

use super::config;
use super::connection::Connection;
use super::error::{NetError, connecting, ended, listening, opening};
use super::{Handle, block_on, within};

/// One UDP or raw socket, and the DCCP connections over it.
#[pyclass(module = "skywave.net", frozen)]
pub(crate) struct Endpoint {
    endpoint: skywave_net::Endpoint,
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
                endpoint: endpoint.map_err(opening)?,
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
                endpoint: endpoint.map_err(opening)?,
                is_raw: true,
            })
        })
    }

    /// The address of the socket.
    #[getter]
    fn local_address(&self) -> String {
        let address = self.endpoint.local_address();
        if self.is_raw {
            address.ip().to_string()
        } else {
            address.to_string()
        }
    }

    /// Accept connections on a DCCP port.
    #[pyo3(signature = (port, *, config=None))]
    fn listen(&self, port: u16, config: Option<&Bound<'_, PyAny>>) -> PyResult<Listener> {
        let _runtime = get_runtime().enter();
        let listener = self.endpoint.listen(port, config::read(config)?);
        let listener = std::sync::Arc::new(listener.map_err(listening)?);
        Ok(Listener(Handle::new(listener)))
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
        let config = config::read(config)?;
        block_on(py, async {
            let address = resolve_host(host, udp_port).await?;
            let peer = Peer { address, port };
            let connection = self.endpoint.connect(peer, config).await;
            Ok(Connection(Handle::new(connection.map_err(connecting)?)))
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
        let config = config::read(config)?;
        let endpoint = self.endpoint.clone();
        future_into_py(py, async move {
            let address = resolve_host(&host, udp_port).await?;
            let connection = endpoint.connect(Peer { address, port }, config).await;
            Ok(Connection(Handle::new(connection.map_err(connecting)?)))
        })
    }

    /// Close all connections, wait until they have ended, and close the socket.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        block_on(py, async {
            self.endpoint.shutdown().await;
            Ok(())
        })
    }

    /// As `close`, awaitable.
    fn close_async<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let endpoint = self.endpoint.clone();
        future_into_py(py, async move {
            endpoint.shutdown().await;
            Ok(())
        })
    }
}

/// Accepts connections on one DCCP port.
#[pyclass(module = "skywave.net", frozen)]
pub(crate) struct Listener(Handle<std::sync::Arc<skywave_net::Listener>>);

#[pymethods]
impl Listener {
    /// The DCCP port.
    #[getter]
    fn port(&self) -> u16 {
        self.0.port()
    }

    /// The next connection whose handshake is complete.
    #[pyo3(signature = (timeout_s=None))]
    fn accept(&self, py: Python<'_>, timeout_s: Option<f64>) -> PyResult<Connection> {
        let accept = async { accepted(&self.0).await };
        block_on(py, within(timeout_s, "connection", accept))
    }

    /// The next connection, without waiting; `BlockingIOError` if there is none yet.
    fn try_accept(&self, py: Python<'_>) -> PyResult<Connection> {
        let accepted = py.detach(|| self.0.try_accept().map_err(ended))?;
        accepted.map_or_else(
            || Err(PyBlockingIOError::new_err("there is no connection yet")),
            |connection| Ok(Connection(Handle::new(connection))),
        )
    }

    /// Wait until `try_accept` has an answer. Awaitable; cancelling it loses nothing.
    fn acceptable_async<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let listener = self.0.shared();
        future_into_py(py, async move {
            listener.acceptable().await;
            Ok(())
        })
    }
}

async fn accepted(listener: &skywave_net::Listener) -> PyResult<Connection> {
    let connection = listener.accept().await.map_err(ended)?;
    Ok(Connection(Handle::new(connection)))
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
