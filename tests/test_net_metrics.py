"""Prometheus metrics of endpoints, scraped over HTTP."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import pytest
from prometheus_client.parser import text_string_to_metric_families

from conftest import run_cli, serving
from patience import PATIENCE_S
from skywave.net import Endpoint, metrics

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prometheus_client.core import Metric

    from skywave.net import Connection


def scrape(port: int) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=PATIENCE_S) as answer:
        assert answer.headers.get_content_type() == "text/plain"
        text: str = answer.read().decode()
        return text


def parsed(text: str) -> dict[str, Metric]:
    return {family.name: family for family in text_string_to_metric_families(text)}


def value(families: dict[str, Metric], name: str, **labels: str) -> float:
    """The value of the only series of this name and these labels."""
    [sample] = [
        sample
        for sample in families[name.removesuffix("_total")].samples
        if labels.items() <= sample.labels.items()
    ]
    assert sample.name == name
    return float(sample.value)


@contextmanager
def connected(count: int = 1) -> Iterator[tuple[Endpoint, list[Connection], list[Connection]]]:
    """A server and its connections from one client: theirs first."""
    with Endpoint.udp("127.0.0.1", 0) as server, Endpoint.udp("127.0.0.1", 0) as client:
        port = server.local_address[1]
        listener = server.listen(5001)
        pairs = [
            (client.connect("127.0.0.1", 5001, udp_port=port), listener.accept(PATIENCE_S))
            for _ in range(count)
        ]
        yield server, [here for here, _ in pairs], [there for _, there in pairs]


def test_a_scrape_during_a_transfer_has_what_the_endpoint_says() -> None:
    with connected() as (server, [here], [there]), metrics.serving(server, "127.0.0.1", 0) as port:
        for _ in range(50):
            here.send(bytes(1000))
        for _ in range(50):
            assert there.recv(PATIENCE_S) is not None
        there.send(bytes(300))
        assert here.recv(PATIENCE_S) is not None
        # Once the client has acknowledged it.
        end_s = time.monotonic() + PATIENCE_S
        while there.stats().srtt_s is None and time.monotonic() < end_s:
            time.sleep(0.01)
        families = parsed(scrape(port))
        address = "{}:{}".format(*server.local_address)
        assert value(families, "skywave_endpoint_connections", endpoint=address) == 1
        assert value(families, "skywave_endpoint_state_connections", state="OPEN") == 1
        assert value(families, "skywave_endpoint_data_received_bytes_total") == 50_000
        assert value(families, "skywave_endpoint_data_sent_bytes_total") == 300
        assert value(families, "skywave_endpoint_unlisted_connections") == 0
        name = "skywave_connection_data_received_bytes_total"
        assert value(families, name, local_port="5001", local="127.0.0.1", ccid="2") == 50_000
        [connection] = server.snapshot().connections
        assert json.loads(json.dumps(connection.to_dict()))["ccids"] == [2, 2]
        stats = connection.stats
        assert value(families, "skywave_connection_cwnd_packets") == stats.cwnd
        assert 0 < value(families, "skywave_connection_srtt_seconds") < PATIENCE_S
        peer = f"127.0.0.1:{connection.peer_udp_port}"
        ports = {"peer": peer, "peer_port": str(connection.peer_port)}
        assert value(families, "skywave_connection_queued_datagrams", **ports) == 0
        # TFRC's, of which this connection has none.
        assert families["skywave_connection_loss_event_rate"].samples == []


def test_what_has_ended_stays_in_the_totals() -> None:
    with ExitStack() as stack:
        server, here, there = stack.enter_context(connected(3))
        port = stack.enter_context(metrics.serving(server, "127.0.0.1", 0))
        for end, other in zip(here, there, strict=True):
            end.send(bytes(100))
            assert other.recv(PATIENCE_S) is not None
        before = parsed(scrape(port))
        here[0].close(PATIENCE_S)
        end_s = time.monotonic() + PATIENCE_S
        while server.stats().connections == 3 and time.monotonic() < end_s:
            time.sleep(0.01)
        after = parsed(scrape(port))
        assert value(after, "skywave_endpoint_connections") == 2
        assert value(after, "skywave_endpoint_connections_begun_total") == 3
        assert value(after, "skywave_endpoint_data_received_bytes_total") == 300
        for name, family in before.items():
            if family.type == "counter" and name.startswith("skywave_endpoint"):
                assert value(after, f"{name}_total") >= value(before, f"{name}_total"), name


def test_the_number_of_series_is_bounded() -> None:
    with (
        connected(5) as (server, _, _),
        metrics.serving(server, "127.0.0.1", 0, most_listed=2) as port,
    ):
        families = parsed(scrape(port))
        assert len(families["skywave_connection_cwnd_packets"].samples) == 2
        assert value(families, "skywave_endpoint_unlisted_connections") == 3
        assert value(families, "skywave_endpoint_connections") == 5
        # The oldest, so that the next scrape lists the same.
        listed = [connection.id for connection in server.snapshot(2).connections]
        assert listed == [connection.id for connection in server.snapshot().connections][:2]


def test_the_port_is_free_again_in_the_end() -> None:
    with Endpoint.udp("127.0.0.1", 0) as endpoint:
        with metrics.serving(endpoint, "127.0.0.1", 0) as port:
            scrape(port)
        with pytest.raises(urllib.error.URLError):
            scrape(port)
        with metrics.serving(endpoint, "127.0.0.1", port):
            scrape(port)


# Prometheus' own opinion of names, units and help.
@pytest.mark.skipif(shutil.which("promtool") is None, reason="needs promtool (Debian: prometheus)")
@pytest.mark.parametrize("count", [0, 1, 3])
def test_promtool_finds_nothing_wrong(count: int) -> None:
    with (
        connected(count) as (server, _, _),
        metrics.serving(server, "127.0.0.1", 0) as port,
    ):
        check = ["promtool", "check", "metrics"]
        checked = subprocess.run(
            check, input=scrape(port), capture_output=True, text=True, check=False
        )
        assert (checked.returncode, checked.stdout + checked.stderr) == (0, "")


def free_port(kind: socket.SocketKind) -> int:
    with socket.socket(socket.AF_INET, kind) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def test_the_commands_serve_metrics() -> None:
    udp_port = str(free_port(socket.SOCK_DGRAM))
    port = free_port(socket.SOCK_STREAM)
    place = f"127.0.0.1:{port}"
    command = ("listen", "127.0.0.1:5001", "--echo", "--udp-port", udp_port, "--metrics", place)
    with serving(*command, says="listening on 127.0.0.1:5001"):
        here = f"127.0.0.1:{free_port(socket.SOCK_STREAM)}"
        pinged = run_cli(
            "ping", "127.0.0.1:5001", "--count", "2", "--udp-port", udp_port, "--metrics", here
        )
        assert pinged.returncode == 0, pinged.stderr
        families = parsed(scrape(port))
        assert value(families, "skywave_endpoint_data_received_bytes_total") == 200
        taken = run_cli("send", "127.0.0.1:5001", "--udp-port", udp_port, "--metrics", place)
        assert taken.returncode != 0
        assert "--metrics" in taken.stderr
        assert place in taken.stderr
