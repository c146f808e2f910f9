//! Statistics as dictionaries, typed in `skywave/net/stats.py`.

use std::collections::BTreeMap;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Map, Value};
use skywave_net::{ConnectionSnapshot, Connections, EndpointStats, Totals};
use skywave_transport::dccp::{Counters, Stats};

/// Returns a connection's statistics.
pub(super) fn of_connection<'py>(py: Python<'py>, stats: &Stats) -> PyResult<Bound<'py, PyDict>> {
    let answer = counted(py, &stats.counters)?;
    answer.set_item("timeouts", stats.timeouts)?;
    answer.set_item("queued", stats.queued)?;
    answer.set_item("srtt_s", stats.srtt.map(|srtt| srtt.as_secs_f64()))?;
    let window = stats.congestion.window();
    answer.set_item("cwnd", window.map(|window| window.cwnd))?;
    // It is infinite until the first loss, which JSON cannot express.
    let ssthresh = window.map(|window| window.ssthresh);
    answer.set_item("ssthresh", ssthresh.filter(|packets| packets.is_finite()))?;
    answer.set_item("pipe", window.map(|window| window.pipe))?;
    answer.set_item("acknowledged", window.map(|window| window.acked))?;
    answer.set_item("lost", window.map(|window| window.lost))?;
    answer.set_item("marked", window.map(|window| window.marked))?;
    answer.set_item("dropped_by_peer", stats.congestion.dropped_by_peer())?;
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

/// Returns an endpoint's counters, under the names that they have in Rust.
pub(super) fn of_endpoint<'py>(
    py: Python<'py>,
    stats: &EndpointStats,
) -> PyResult<Bound<'py, PyDict>> {
    let counters = serde_json::to_value(stats).and_then(serde_json::from_value);
    let counters: Map<String, Value> =
        counters.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    let answer = PyDict::new(py);
    for (name, count) in &counters {
        answer.set_item(name, count.as_u64())?;
    }
    Ok(answer)
}

/// An endpoint's connections at one time.
pub(super) struct Snapshot {
    /// Of all connections, those that have ended included.
    totals: Totals,
    /// The number of connections in each state.
    states: BTreeMap<&'static str, u64>,
    /// The oldest connections.
    oldest: BTreeMap<u64, ConnectionSnapshot>,
}

impl Snapshot {
    /// Visits all connections, and keeps the `most` oldest, which are the same from one call to the
    /// next.
    pub(super) fn new(connections: Connections, most: usize) -> Self {
        let mut snapshot = Self {
            totals: *connections.ended(),
            states: BTreeMap::new(),
            oldest: BTreeMap::new(),
        };
        for connection in connections {
            snapshot.totals.add(&connection.stats);
            *snapshot.states.entry(connection.state.name()).or_default() += 1;
            snapshot.oldest.insert(connection.id, connection);
            if snapshot.oldest.len() > most {
                snapshot.oldest.pop_last();
            }
        }
        snapshot
    }

    pub(super) fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let connections = self.oldest.values();
        let connections: PyResult<Vec<_>> = connections
            .map(|connection| identified(py, connection))
            .collect();
        let answer = PyDict::new(py);
        answer.set_item("totals", of_totals(py, &self.totals)?)?;
        answer.set_item("states", &self.states)?;
        answer.set_item("connections", connections?)?;
        Ok(answer)
    }
}

fn of_totals<'py>(py: Python<'py>, totals: &Totals) -> PyResult<Bound<'py, PyDict>> {
    let answer = counted(py, &totals.counters)?;
    answer.set_item("connections", totals.connections)?;
    answer.set_item("timeouts", totals.timeouts)?;
    answer.set_item("lost", totals.lost)?;
    answer.set_item("marked", totals.marked)?;
    Ok(answer)
}

fn counted<'py>(py: Python<'py>, counters: &Counters) -> PyResult<Bound<'py, PyDict>> {
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
        ("invalid_packets", counters.invalid_packets),
        ("mtu_probes_sent", counters.mtu_probes_sent),
        ("resets_sent", counters.resets_sent),
        ("resets_received", counters.resets_received),
    ] {
        answer.set_item(name, count)?;
    }
    Ok(answer)
}

fn identified<'py>(
    py: Python<'py>,
    connection: &ConnectionSnapshot,
) -> PyResult<Bound<'py, PyDict>> {
    let answer = PyDict::new(py);
    let peer = connection.peer_address;
    // A socket for both IP versions sees IPv4 as a part of IPv6.
    let [peer_ip, local_ip] = [peer.ip(), connection.local_ip].map(|ip| ip.to_canonical());
    answer.set_item("id", connection.id)?;
    answer.set_item("peer_ip", peer_ip.to_string())?;
    answer.set_item("peer_udp_port", (peer.port() > 0).then_some(peer.port()))?;
    answer.set_item("peer_port", connection.peer_port)?;
    answer.set_item("local_ip", local_ip.to_string())?;
    answer.set_item("local_port", connection.local_port)?;
    answer.set_item("service_code", connection.service_code.to_string())?;
    answer.set_item("state", connection.state.name())?;
    // Not as `u8`, which would become bytes.
    let ccids = connection.ccids.map(|ccid| u32::from(ccid.0));
    answer.set_item("ccids", ccids.to_vec())?;
    answer.set_item("max_datagram_size", connection.max_datagram_size)?;
    answer.set_item("stats", of_connection(py, &connection.stats)?)?;
    Ok(answer)
}
