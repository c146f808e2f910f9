"""Prometheus metrics of endpoints and their connections.

::

    from skywave.net import Endpoint, metrics

    with Endpoint.udp() as endpoint, metrics.serving(endpoint, "127.0.0.1", 9633):
        ...

``http://127.0.0.1:9633/metrics`` then serves the metrics in Prometheus' text format. A program that
serves its own metrics registers an :class:`EndpointCollector` instead.

Metrics of the endpoint include all its connections, even ended ones, so its counters never
decrease. Only the oldest connections have their own metrics, so that the number of time series is
bounded; ``skywave_endpoint_unlisted_connections`` counts the others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from inspect import getdoc
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from skywave.net import ConnectionSnapshot, Endpoint, Snapshot, Stats, aio
from skywave.net.protocol import address

if TYPE_CHECKING:
    from skywave.net.stats import Statistics

LARGEST_PORT = 65_535
MOST_LISTED = 100
"""The most connections that have time series of their own, by default."""

CONNECTION_LABELS = ("endpoint", "local", "local_port", "peer", "peer_port", "ccid")


def _family(
    name: str, kind: type[Statistics], key: str, labels: Sequence[str]
) -> CounterMetricFamily | GaugeMetricFamily:
    """Return a metric without samples. Its meaning is that of a field of statistics."""
    family = CounterMetricFamily if name.endswith("_total") else GaugeMetricFamily
    found = re.search(rf"^    {key}: (.*(?:\n        .*)*)", getdoc(kind) or "", re.MULTILINE)
    meaning = " ".join(found[1].split()).replace("`None`", "absent") if found else ""
    if key.endswith("_bps"):
        meaning = meaning.replace("bits", "bytes")
    return family(f"skywave_{name}", meaning, labels=labels)


def _value(statistics: Statistics, key: str) -> float | None:
    value: float | None = getattr(statistics, key)
    return value / 8 if value is not None and key.endswith("_bps") else value


# From `Endpoint.stats()`.
SOCKET = {
    "endpoint_connections": "connections",
    "endpoint_closing_connections": "closing",
    "endpoint_time_waits": "time_waits",
    "endpoint_queued_bytes": "queued_bytes",
    "endpoint_packets_sent_total": "packets_sent",
    "endpoint_send_calls_total": "send_calls",
    "endpoint_packets_received_total": "packets_received",
    "endpoint_malformed_packets_total": "malformed",
    "endpoint_stray_packets_total": "strays",
    "endpoint_refused_requests_total": "too_busy",
    "endpoint_cookies_sent_total": "cookies_sent",
    "endpoint_half_open_dropped_total": "half_open_dropped",
    "endpoint_closing_dropped_total": "closing_dropped",
    "endpoint_send_errors_total": "send_errors",
    "endpoint_network_errors_total": "network_errors",
    "endpoint_qlog_dropped_total": "qlog_dropped",
}

# From the totals of `Endpoint.snapshot()`.
TOTALS = {
    "endpoint_connections_begun_total": "connections",
    "endpoint_datagrams_sent_total": "datagrams_sent",
    "endpoint_data_sent_bytes_total": "bytes_sent",
    "endpoint_datagrams_received_total": "datagrams_received",
    "endpoint_data_received_bytes_total": "bytes_received",
    "endpoint_datagrams_dropped_total": "datagrams_dropped",
    "endpoint_datagrams_discarded_total": "datagrams_discarded",
    "endpoint_lost_packets_total": "lost",
    "endpoint_marked_packets_total": "marked",
    "endpoint_marks_received_total": "marks_received",
    "endpoint_timeouts_total": "timeouts",
    "endpoint_duplicates_total": "duplicates",
    "endpoint_invalid_packets_total": "invalid_packets",
    "endpoint_mtu_probes_sent_total": "mtu_probes_sent",
    "endpoint_resets_sent_total": "resets_sent",
    "endpoint_resets_received_total": "resets_received",
}

# From the statistics of a connection.
CONNECTION = {
    "connection_cwnd_packets": "cwnd",
    "connection_ssthresh_packets": "ssthresh",
    "connection_in_flight_packets": "pipe",
    "connection_srtt_seconds": "srtt_s",
    "connection_allowed_rate_bytes_per_second": "rate_bps",
    "connection_receive_rate_bytes_per_second": "receive_rate_bps",
    "connection_loss_event_rate": "loss_event_rate",
    "connection_queued_datagrams": "queued",
    "connection_packets_sent_total": "packets_sent",
    "connection_packets_received_total": "packets_received",
    "connection_data_sent_bytes_total": "bytes_sent",
    "connection_data_received_bytes_total": "bytes_received",
    "connection_lost_packets_total": "lost",
    "connection_marked_packets_total": "marked",
    "connection_dropped_by_peer_packets_total": "dropped_by_peer",
    "connection_timeouts_total": "timeouts",
}


class EndpointCollector(Collector):
    """Collects the metrics of an endpoint, whenever Prometheus asks."""

    def __init__(
        self, endpoint: Endpoint | aio.Endpoint, *, most_listed: int = MOST_LISTED
    ) -> None:
        self._endpoint = endpoint
        self._most_listed = most_listed

    def describe(self) -> Iterable[Metric]:
        """Return nothing: the names are known, and several endpoints have the same."""
        return ()

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics."""
        at = _label(*self._endpoint.local_address)
        stats = self._endpoint.stats()
        snapshot = self._endpoint.snapshot(self._most_listed)
        for names, statistics in ((SOCKET, stats), (TOTALS, snapshot.totals)):
            for name, key in names.items():
                family = _family(name, type(statistics), key, ("endpoint",))
                family.add_metric((at,), _value(statistics, key) or 0.0)
                yield family
        yield from _states(at, snapshot)
        for name, key in CONNECTION.items():
            family = _family(name, Stats, key, CONNECTION_LABELS)
            for connection in snapshot.connections:
                value = _value(connection.stats, key)
                if value is not None:
                    family.add_metric((at, *_labels(connection)), value)
            yield family


def _states(endpoint: str, snapshot: Snapshot) -> Iterator[Metric]:
    states = GaugeMetricFamily(
        "skywave_endpoint_state_connections",
        "Connections in each state of RFC 4340 section 4.3.",
        labels=("endpoint", "state"),
    )
    for state, count in snapshot.states.items():
        states.add_metric((endpoint, state), count)
    yield states
    unlisted = GaugeMetricFamily(
        "skywave_endpoint_unlisted_connections",
        "Connections without metrics of their own, since there are many.",
        labels=("endpoint",),
    )
    count = sum(snapshot.states.values()) - len(snapshot.connections)
    unlisted.add_metric((endpoint,), count)
    yield unlisted


def _label(host: str, udp_port: int | None) -> str:
    """Return the address of a socket; over IP it has no port."""
    return address(host, udp_port) if udp_port else host


def _labels(connection: ConnectionSnapshot) -> tuple[str, ...]:
    peer = _label(connection.peer_ip, connection.peer_udp_port)
    port, peer_port, ccid = connection.local_port, connection.peer_port, connection.ccids[0]
    return connection.local_ip, str(port), peer, str(peer_port), str(ccid)


@contextmanager
def serving(
    endpoint: Endpoint | aio.Endpoint, host: str, port: int, *, most_listed: int = MOST_LISTED
) -> Iterator[int]:
    """Serve the metrics of an endpoint at a TCP port until the block ends.

    Yields the port, which the system chooses if it is 0. There is no access control: choose an
    address that only Prometheus can reach.

    Raises:
        OSError: If the address cannot be used.
        TypeError: If ``endpoint`` is not an endpoint.
        ValueError: If the port is out of range.
    """
    if not isinstance(endpoint, Endpoint | aio.Endpoint):
        raise TypeError(f"{endpoint!r} is not an endpoint: give an Endpoint of skywave.net")
    if port not in range(LARGEST_PORT + 1):
        raise ValueError(f"port is {port!r}: give 1 to {LARGEST_PORT}, or 0 for any")
    registry = CollectorRegistry(auto_describe=False)
    registry.register(EndpointCollector(endpoint, most_listed=most_listed))
    try:
        server, thread = start_http_server(port, addr=host, registry=registry)
    except OSError as error:
        error.strerror = f"metrics cannot be served at {host}, port {port}: {error.strerror}"
        raise
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
