//! Statistics as dictionaries, typed in `skywave/net/stats.py`.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Map, Value};
use skywave_net::EndpointStats;
use skywave_transport::dccp::Stats;

/// Returns a connection's statistics.
pub(super) fn of_connection<'py>(py: Python<'py>, stats: &Stats) -> PyResult<Bound<'py, PyDict>> {
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
    // It is infinite until the first loss, which JSON cannot say.
    let ssthresh = window.map(|window| window.ssthresh);
    answer.set_item("ssthresh", ssthresh.filter(|packets| packets.is_finite()))?;
    answer.set_item("pipe", window.map(|window| window.pipe))?;
    answer.set_item("acknowledged", window.map(|window| window.acked))?;
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
