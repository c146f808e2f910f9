//! Statistics. Each type here is a class of `skywave/net/stats.py`, which is written from these types
//! and their documentation.

use std::borrow::Cow;
use std::collections::BTreeMap;

use pyo3::exceptions::PyRuntimeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyModule, PyTuple};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};
use skywave_net::{Connections, EndpointStats};
use skywave_transport::dccp;
use skywave_wire::dccp::ResetCode;

/// How a connection ended.
#[derive(JsonSchema, IntoPyObject)]
pub(super) struct Closed {
    /// The Reset Code (RFC 4340 section 5.6); 1 is a normal close.
    code: u8,
    /// The name of the code.
    name: String,
}

/// Counters of a connection, or sums of those of several.
#[derive(Clone, JsonSchema, IntoPyObject)]
struct Counters {
    /// Datagrams that have left this end.
    datagrams_sent: u64,
    /// Bytes of data that have left this end.
    bytes_sent: u64,
    /// Datagrams that have arrived and had room in the receive queue.
    datagrams_received: u64,
    /// Bytes of data that have arrived, those of dropped datagrams included.
    bytes_received: u64,
    /// Datagrams that have arrived, but were dropped for lack of room in the receive queue or a wrong
    /// checksum; the peer has been informed.
    datagrams_dropped: u64,
    /// Datagrams that were queued, but never sent: the path turned out not to carry packets of their
    /// size, or the connection ended first.
    datagrams_discarded: u64,
    /// Packets sent of every type, including acknowledgements.
    packets_sent: u64,
    /// Packets received of every type, including acknowledgements.
    packets_received: u64,
    /// Packets received that a router marked (ECN Congestion Experienced).
    marks_received: u64,
    /// Packets that arrived twice.
    duplicates: u64,
    /// Packets ignored because a check failed (RFC 4340 section 8.5, steps 1 to 7).
    invalid_packets: u64,
    /// Packets sent to find out which size the path carries (RFC 8899).
    mtu_probes_sent: u64,
    /// Resets sent.
    resets_sent: u64,
    /// Resets received.
    resets_received: u64,
    /// Transmit timeouts (RFC 4341 section 5), or expirations of the nofeedback timer that lowered
    /// the rate (RFC 5348 section 4.4).
    timeouts: u64,
}

/// The state of a connection's congestion control.
#[derive(Clone, JsonSchema, IntoPyObject)]
struct Congestion {
    /// Datagrams waiting to be sent.
    queued: usize,
    /// Smoothed round-trip time, in seconds; `None` before the first measurement.
    srtt_s: Option<f64>,
    /// Congestion window, in packets.
    cwnd: Option<f64>,
    /// Slow-start threshold, in packets; `None` while it is unbounded, as at first.
    ssthresh: Option<f64>,
    /// Data packets outstanding.
    pipe: Option<u32>,
    /// Data packets that the peer has acknowledged.
    acknowledged: Option<u64>,
    /// Data packets sent and known to be lost.
    lost: Option<u64>,
    /// Data packets sent and known to have been marked.
    marked: Option<u64>,
    /// Data packets that have arrived, but whose data the peer says it dropped, for example because
    /// its application does not keep up (Data Dropped, RFC 4340 section 11.7).
    dropped_by_peer: u64,
    /// X, the allowed sending rate of data, in bits per second.
    rate_bps: Option<u64>,
    /// X_recv, the receive rate by the peer's latest report, in bits per second.
    receive_rate_bps: Option<u64>,
    /// The loss event rate p.
    loss_event_rate: Option<f64>,
    /// Loss events in the peer's reports.
    loss_events: Option<u64>,
}

/// Counters of a connection, and the state of its congestion control.
///
/// CCID 3 and 4 have a rate, all others a window. Fields of the other kind are `None`.
#[derive(Clone, JsonSchema)]
pub(super) struct Stats {
    #[schemars(flatten)]
    counters: Counters,
    #[schemars(flatten)]
    congestion: Congestion,
}

/// Sums beside those of the counters.
#[derive(JsonSchema, IntoPyObject)]
struct Sums {
    /// Connections that the endpoint has had.
    connections: u64,
    /// Data packets sent and known to be lost, of connections with a window.
    lost: u64,
    /// Data packets sent and known to have been marked, of connections with a window.
    marked: u64,
}

/// Sums over all connections that an endpoint has had. They never decrease.
#[derive(JsonSchema)]
struct Totals {
    #[schemars(flatten)]
    counters: Counters,
    #[schemars(flatten)]
    sums: Sums,
}

/// A connection of an endpoint at one time.
#[derive(Clone, JsonSchema, IntoPyObject)]
struct ConnectionSnapshot {
    /// A number that no other connection of the endpoint has, earlier ones included.
    id: u64,
    /// The peer's IP address.
    peer_ip: String,
    /// The peer's UDP port; `None` over IP.
    peer_udp_port: Option<u16>,
    /// The peer's DCCP port.
    peer_port: u16,
    /// The IP address of this end.
    local_ip: String,
    /// The DCCP port of this end.
    local_port: u16,
    /// The Service Code, e.g. "SC:VOIP" or "SC=42".
    service_code: String,
    /// The state by its name in RFC 4340 section 4.3, such as `OPEN`.
    state: &'static str,
    /// The CCIDs of the data that this end sends, and of the data that it receives.
    ccids: (u8, u8),
    /// The largest size of a datagram, in bytes.
    max_datagram_size: u32,
    /// Counters and the state of congestion control.
    stats: Object<Stats>,
}

/// The connections of an endpoint at one time.
#[derive(JsonSchema, IntoPyObject)]
pub(super) struct Snapshot {
    /// Sums over all connections that the endpoint has had.
    totals: Object<Totals>,
    /// The number of connections in each state.
    states: BTreeMap<&'static str, u64>,
    /// The oldest connections, oldest first.
    #[pyo3(into_py_with = to_tuple)]
    connections: Vec<Object<ConnectionSnapshot>>,
}

/// Becomes an object of the Python class that has the name of the type.
#[derive(Clone)]
pub(super) struct Object<T>(pub(super) T);

impl<T: JsonSchema> JsonSchema for Object<T> {
    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

impl<'py, T> IntoPyObject<'py> for Object<T>
where
    T: JsonSchema + IntoPyObject<'py, Output = Bound<'py, PyDict>>,
    PyErr: From<T::Error>,
{
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        object(py, &T::schema_name(), &self.0.into_pyobject(py)?)
    }
}

fn object<'py>(
    py: Python<'py>,
    class: &str,
    fields: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let module =
        MODULE.get_or_try_init(py, || py.import("skywave.net.stats").map(Bound::unbind))?;
    let class = module.bind(py).getattr(class)?;
    // Its `__init__` would take several times as long, and fields in Rust are those in Python.
    let object = class.call_method1(intern!(py, "__new__"), (&class,))?;
    let values = object.getattr(intern!(py, "__dict__"))?;
    values.cast::<PyDict>()?.update(fields.as_mapping())?;
    Ok(object)
}

#[expect(clippy::owned_cow, reason = "PyO3 asks for it")]
fn to_tuple<'py, T: Clone + IntoPyObject<'py>>(
    items: Cow<'_, Vec<T>>,
    py: Python<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    PyTuple::new(py, items.into_owned()).map(Bound::into_any)
}

/// Returns the JSON Schema of the classes of `skywave.net.stats`.
#[pyfunction]
pub(super) fn stats_schema() -> String {
    let mut generator = SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator();
    generator.subschema_for::<Closed>();
    generator.subschema_for::<EndpointStats>();
    generator.subschema_for::<Snapshot>();
    json!({ "$defs": generator.take_definitions(true) }).to_string()
}

/// Returns an endpoint's counters, under the names that they have in Rust.
pub(super) fn of_endpoint<'py>(
    py: Python<'py>,
    stats: &EndpointStats,
) -> PyResult<Bound<'py, PyAny>> {
    let counters = serde_json::to_value(stats).and_then(serde_json::from_value);
    let counters: Map<String, Value> =
        counters.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    let fields = PyDict::new(py);
    for (name, count) in &counters {
        fields.set_item(name, count.as_u64())?;
    }
    object(py, "EndpointStats", &fields)
}

impl Closed {
    pub(super) fn new(code: ResetCode) -> Self {
        Self {
            code: code.0,
            name: code.to_string(),
        }
    }
}

impl Counters {
    fn new(counters: &dccp::Counters, timeouts: u64) -> Self {
        Self {
            datagrams_sent: counters.data_packets_sent,
            bytes_sent: counters.bytes_sent,
            datagrams_received: counters.datagrams_delivered,
            bytes_received: counters.bytes_received,
            datagrams_dropped: counters.datagrams_dropped,
            datagrams_discarded: counters.datagrams_discarded,
            packets_sent: counters.packets_sent,
            packets_received: counters.packets_received,
            marks_received: counters.ce_received,
            duplicates: counters.duplicates,
            invalid_packets: counters.invalid_packets,
            mtu_probes_sent: counters.mtu_probes_sent,
            resets_sent: counters.resets_sent,
            resets_received: counters.resets_received,
            timeouts,
        }
    }
}

impl Stats {
    pub(super) fn new(stats: &dccp::Stats) -> Self {
        let (window, rate) = (stats.congestion.window(), stats.congestion.rate());
        // It is infinite until the first loss, which JSON cannot express.
        let ssthresh = window.map(|window| window.ssthresh);
        Self {
            counters: Counters::new(&stats.counters, stats.timeouts),
            congestion: Congestion {
                queued: stats.queued,
                srtt_s: stats.srtt.map(|srtt| srtt.as_secs_f64()),
                cwnd: window.map(|window| window.cwnd),
                ssthresh: ssthresh.filter(|packets| packets.is_finite()),
                pipe: window.map(|window| window.pipe),
                acknowledged: window.map(|window| window.acked),
                lost: window.map(|window| window.lost),
                marked: window.map(|window| window.marked),
                dropped_by_peer: stats.congestion.dropped_by_peer(),
                rate_bps: rate.map(|rate| rate.rate.as_bps()),
                receive_rate_bps: rate.map(|rate| rate.receive_rate.as_bps()),
                loss_event_rate: rate.map(|rate| rate.loss_event_rate),
                loss_events: rate.map(|rate| rate.loss_events),
            },
        }
    }
}

impl<'py> IntoPyObject<'py> for Stats {
    type Target = PyDict;
    type Output = Bound<'py, PyDict>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let fields = self.counters.into_pyobject(py)?;
        fields.update(self.congestion.into_pyobject(py)?.as_mapping())?;
        Ok(fields)
    }
}

impl Totals {
    fn new(totals: &skywave_net::Totals) -> Self {
        Self {
            counters: Counters::new(&totals.counters, totals.timeouts),
            sums: Sums {
                connections: totals.connections,
                lost: totals.lost,
                marked: totals.marked,
            },
        }
    }
}

impl<'py> IntoPyObject<'py> for Totals {
    type Target = PyDict;
    type Output = Bound<'py, PyDict>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let fields = self.counters.into_pyobject(py)?;
        fields.update(self.sums.into_pyobject(py)?.as_mapping())?;
        Ok(fields)
    }
}

impl ConnectionSnapshot {
    fn new(connection: &skywave_net::ConnectionSnapshot) -> Self {
        let peer = connection.peer_address;
        // A socket for both IP versions sees IPv4 as a part of IPv6.
        let [peer_ip, local_ip] = [peer.ip(), connection.local_ip].map(|ip| ip.to_canonical());
        let [sends, receives] = connection.ccids.map(|ccid| ccid.0);
        Self {
            id: connection.id,
            peer_ip: peer_ip.to_string(),
            peer_udp_port: (peer.port() > 0).then_some(peer.port()),
            peer_port: connection.peer_port,
            local_ip: local_ip.to_string(),
            local_port: connection.local_port,
            service_code: connection.service_code.to_string(),
            state: connection.state.name(),
            ccids: (sends, receives),
            max_datagram_size: connection.max_datagram_size,
            stats: Object(Stats::new(&connection.stats)),
        }
    }
}

impl Snapshot {
    /// Visits all connections, and keeps the `most` oldest, which are the same from one call to the
    /// next.
    pub(super) fn new(connections: Connections, most: usize) -> Self {
        let mut totals = *connections.ended();
        let mut states = BTreeMap::new();
        let mut oldest = BTreeMap::new();
        for connection in connections {
            totals.add(&connection.stats);
            *states.entry(connection.state.name()).or_default() += 1;
            oldest.insert(connection.id, connection);
            if oldest.len() > most {
                oldest.pop_last();
            }
        }
        let connections = oldest.values().map(ConnectionSnapshot::new).map(Object);
        Self {
            totals: Object(Totals::new(&totals)),
            states,
            connections: connections.collect(),
        }
    }
}
