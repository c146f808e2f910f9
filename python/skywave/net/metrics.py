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

from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from skywave.net import Endpoint, aio
from skywave.net.protocol import address

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from prometheus_client.core import Metric

    from skywave.net import ConnectionSnapshot, Snapshot

LARGEST_PORT = 65_535
MOST_LISTED = 100
"""The most connections that have time series of their own, by default."""

CONNECTION_LABELS = ("endpoint", "local", "local_port", "peer", "peer_port", "ccid")


class _Described(NamedTuple):
    """A metric: its name, its meaning, and the key of its value among the statistics."""

    name: str
    help: str
    key: str
    scale: float = 1.0

    def family(self, labels: Sequence[str]) -> CounterMetricFamily | GaugeMetricFamily:
        kind = CounterMetricFamily if self.name.endswith("_total") else GaugeMetricFamily
        return kind(f"skywave_{self.name}", self.help, labels=labels)

    def value(self, statistics: Mapping[str, object]) -> float | None:
        value = statistics[self.key]
        return value * self.scale if isinstance(value, int | float) else None


# From `Endpoint.stats()`.
SOCKET = (
    _Described("endpoint_connections", "Connections, including handshakes.", "connections"),
    _Described(
        "endpoint_closing_connections",
        "Connections that are closed but whose peer has not confirmed it.",
        "closing",
    ),
    _Described(
        "endpoint_time_waits",
        "Ended connections whose ports may not be reused yet (TIMEWAIT).",
        "time_waits",
    ),
    _Described(
        "endpoint_queued_bytes", "Bytes of data in the queues of all connections.", "queued_bytes"
    ),
    _Described("endpoint_packets_sent_total", "Packets passed to the system.", "packets_sent"),
    _Described("endpoint_send_calls_total", "System calls that sent them.", "send_calls"),
    _Described(
        "endpoint_packets_received_total", "Packets received, valid or not.", "packets_received"
    ),
    _Described(
        "endpoint_malformed_packets_total",
        "Packets dropped because they are not valid DCCP packets.",
        "malformed",
    ),
    _Described("endpoint_stray_packets_total", "Packets that belong to no connection.", "strays"),
    _Described(
        "endpoint_refused_requests_total",
        "Requests refused because the backlog was full, or because of a limit on connections.",
        "too_busy",
    ),
    _Described(
        "endpoint_cookies_sent_total",
        "Requests answered with an Init Cookie, without storing anything.",
        "cookies_sent",
    ),
    _Described(
        "endpoint_half_open_dropped_total",
        "Half-open handshakes dropped to make room for others.",
        "half_open_dropped",
    ),
    _Described(
        "endpoint_closing_dropped_total",
        "Connections reset because too many were closing.",
        "closing_dropped",
    ),
    _Described(
        "endpoint_send_errors_total", "Packets that the system refused to send.", "send_errors"
    ),
    _Described(
        "endpoint_network_errors_total", "Errors reported by the network (ICMP).", "network_errors"
    ),
    _Described(
        "endpoint_qlog_dropped_total", "Events that are missing in qlog files.", "qlog_dropped"
    ),
)

# From the totals of `Endpoint.snapshot()`.
TOTALS = (
    _Described(
        "endpoint_connections_begun_total", "Connections begun here or by a peer.", "connections"
    ),
    _Described("endpoint_datagrams_sent_total", "Data packets sent.", "datagrams_sent"),
    _Described("endpoint_data_sent_bytes_total", "Bytes of data sent.", "bytes_sent"),
    _Described(
        "endpoint_datagrams_received_total",
        "Datagrams received and put into the application's queue.",
        "datagrams_received",
    ),
    _Described("endpoint_data_received_bytes_total", "Bytes of data received.", "bytes_received"),
    _Described(
        "endpoint_datagrams_dropped_total",
        "Datagrams received but dropped for lack of room or a wrong checksum.",
        "datagrams_dropped",
    ),
    _Described(
        "endpoint_datagrams_discarded_total",
        "Datagrams never sent because the path carries no packets of their size.",
        "datagrams_discarded",
    ),
    _Described("endpoint_lost_packets_total", "Data packets known to be lost.", "lost"),
    _Described(
        "endpoint_marked_packets_total",
        "Data packets sent and known to have been marked (ECN Congestion Experienced).",
        "marked",
    ),
    _Described(
        "endpoint_marks_received_total",
        "Packets received with ECN Congestion Experienced.",
        "marks_received",
    ),
    _Described("endpoint_timeouts_total", "Transmit timeouts of congestion controls.", "timeouts"),
    _Described("endpoint_duplicates_total", "Packets that arrived twice.", "duplicates"),
    _Described(
        "endpoint_invalid_packets_total",
        "Packets of connections ignored because a check failed.",
        "invalid_packets",
    ),
    _Described(
        "endpoint_mtu_probes_sent_total",
        "Packets sent to find out which size a path carries.",
        "mtu_probes_sent",
    ),
    _Described("endpoint_resets_sent_total", "Connections reset by this end.", "resets_sent"),
    _Described("endpoint_resets_received_total", "Resets from peers.", "resets_received"),
)

# From the statistics of a connection.
CONNECTION = (
    _Described("connection_cwnd_packets", "Congestion window in packets.", "cwnd"),
    _Described(
        "connection_ssthresh_packets",
        "Slow-start threshold in packets; absent while it is unbounded.",
        "ssthresh",
    ),
    _Described("connection_in_flight_packets", "Data packets outstanding.", "pipe"),
    _Described("connection_srtt_seconds", "Smoothed round-trip time in seconds.", "srtt_s"),
    _Described(
        "connection_allowed_rate_bytes_per_second",
        "Allowed sending rate of data (X of TFRC) in bytes per second.",
        "rate_bps",
        1 / 8,
    ),
    _Described(
        "connection_receive_rate_bytes_per_second",
        "Receive rate by the peer's latest report (X_recv of TFRC) in bytes per second.",
        "receive_rate_bps",
        1 / 8,
    ),
    _Described("connection_loss_event_rate", "Loss event rate (p of TFRC).", "loss_event_rate"),
    _Described("connection_queued_datagrams", "Datagrams waiting to be sent.", "queued"),
    _Described("connection_packets_sent_total", "Packets sent, of every type.", "packets_sent"),
    _Described(
        "connection_packets_received_total", "Packets received, of every type.", "packets_received"
    ),
    _Described("connection_data_sent_bytes_total", "Bytes of data sent.", "bytes_sent"),
    _Described("connection_data_received_bytes_total", "Bytes of data received.", "bytes_received"),
    _Described("connection_lost_packets_total", "Data packets known to be lost.", "lost"),
    _Described(
        "connection_marked_packets_total",
        "Data packets sent and known to have been marked (ECN Congestion Experienced).",
        "marked",
    ),
    _Described(
        "connection_dropped_by_peer_packets_total",
        "Data packets that have arrived, but whose data the peer says it dropped.",
        "dropped_by_peer",
    ),
    _Described("connection_timeouts_total", "Transmit timeouts of congestion control.", "timeouts"),
)


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
        for all_described, statistics in ((SOCKET, stats), (TOTALS, snapshot["totals"])):
            for described in all_described:
                family = described.family(("endpoint",))
                family.add_metric((at,), described.value(statistics) or 0.0)
                yield family
        yield from _states(at, snapshot)
        for described in CONNECTION:
            family = described.family(CONNECTION_LABELS)
            for connection in snapshot["connections"]:
                value = described.value(connection["stats"])
                if value is not None:
                    family.add_metric(_labels(at, connection), value)
            yield family


def _states(endpoint: str, snapshot: Snapshot) -> Iterator[Metric]:
    states = GaugeMetricFamily(
        "skywave_endpoint_state_connections",
        "Connections in each state of RFC 4340 section 4.3.",
        labels=("endpoint", "state"),
    )
    for state, count in snapshot["states"].items():
        states.add_metric((endpoint, state), count)
    yield states
    unlisted = GaugeMetricFamily(
        "skywave_endpoint_unlisted_connections",
        "Connections without metrics of their own, since there are many.",
        labels=("endpoint",),
    )
    count = sum(snapshot["states"].values()) - len(snapshot["connections"])
    unlisted.add_metric((endpoint,), count)
    yield unlisted


def _label(host: str, udp_port: int | None) -> str:
    """Return the address of a socket; over IP it has no port."""
    return address(host, udp_port) if udp_port else host


def _labels(endpoint: str, connection: ConnectionSnapshot) -> tuple[str, ...]:
    return (
        endpoint,
        connection["local_ip"],
        str(connection["local_port"]),
        _label(connection["peer_ip"], connection["peer_udp_port"]),
        str(connection["peer_port"]),
        str(connection["ccids"][0]),
    )


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
