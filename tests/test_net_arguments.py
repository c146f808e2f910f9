"""Options and arguments of sockets: what is wrong is named at once, and by the right error."""

from __future__ import annotations

import asyncio
import copy
import itertools
import json
import math
import pydoc
import re
import socket
from typing import TYPE_CHECKING, Any
from unittest import mock

import attrs
import pytest

import counted
from patience import PATIENCE_S
from skywave import _core
from skywave.cli.net import report
from skywave.cli.net.exchange import Ending, Exchange
from skywave.net import (
    Closed,
    Config,
    DatagramTooLargeError,
    Endpoint,
    EndpointConfig,
    NetError,
    UnreachableError,
    aio,
    metrics,
)
from skywave.net.load import Load
from skywave.scenario.quantities import Bytes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from skywave.net import Connection

PORTS = itertools.count(5001)


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with Endpoint.udp("127.0.0.1", 0) as opened:
        yield opened


def pair(endpoint: Endpoint) -> tuple[Connection, Connection]:
    listener = endpoint.listen(next(PORTS))
    udp_port = endpoint.local_address[1]
    client = endpoint.connect("127.0.0.1", listener.port, udp_port=udp_port)
    return client, listener.accept(timeout_s=PATIENCE_S)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"ccid": 1}, "ccid: 1 is not a known CCID: use 2"),
        ({"ccid": "2"}, "ccid: .* expected a whole number"),
        ({"control": "nope"}, 'control: "nope" is not a known control'),
        ({"service_codes": ("TOOLONG",)}, r"service_codes\[0\]: .* four ASCII characters"),
        ({"service_codes": ()}, "service_codes is empty; give at least one"),
        ({"checksum_coverage": 16}, "checksum_coverage is 16"),
        ({"send_queue": -1}, "send_queue: .* expected 0 or more"),
        ({"send_queue": 0}, "send_queue is 0; give room for at least 1"),
        ({"receive_queue": 0}, "receive_queue is 0; give room for at least 1"),
        ({"service_codes": (-1,)}, r"service_codes\[0\]: give four ASCII characters, or a number"),
        ({"connect_timeout": "0 s"}, "connect_timeout: it is 0 s"),
        ({"linger": "soon"}, 'linger: "soon" is not a duration'),
        ({"send_queue_bytes": "4"}, "send_queue_bytes: "),
    ],
)
def test_an_option_of_a_connection_that_is_wrong(options: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        Config(**options)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"backlog": 0}, "backlog is 0; give at least 1"),
        ({"max_connections": 0}, "max_connections is 0"),
        ({"max_per_address": 0}, "max_per_address is 0"),
        ({"max_per_prefix": 0}, "max_per_prefix is 0"),
        ({"backlog": -1}, "backlog: .* expected 0 or more"),
        ({"backlog": None}, "backlog: .*null"),
        ({"backlog": "x"}, "backlog: .* expected a whole number"),
        ({"shards": 1000}, "1000 shards are too many"),
        ({"send_buffer": "4"}, "send_buffer: "),
        ({"receive_buffer": "-4 MB"}, "receive_buffer: "),
        ({"max_queued_bytes": "4 s"}, "max_queued_bytes: "),
    ],
)
def test_an_option_of_an_endpoint_that_is_wrong(options: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        EndpointConfig(**options)


def test_what_is_no_value_of_an_option() -> None:
    with pytest.raises(TypeError, match=r"^linger: 3 is not a Duration: give text with a unit"):
        Config(linger=3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^send_buffer: 4096 is not a Bytes: give text"):
        EndpointConfig(send_buffer=4096)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^max_queued_bytes: None is not a Bytes"):
        EndpointConfig(max_queued_bytes=None)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^control: .*object"):
        Config(control=object())  # type: ignore[arg-type]


@pytest.mark.parametrize("size", ["0 B", "1 B", "100 GB"])
def test_buffers_of_any_size_work(size: str) -> None:
    config = EndpointConfig(
        send_buffer=Bytes(size), receive_buffer=Bytes(size), max_queued_bytes=Bytes(size)
    )
    with Endpoint.udp("127.0.0.1", 0, config=config) as endpoint:
        client, server = pair(endpoint)
        client.send(b"hello")
        assert server.recv(timeout_s=PATIENCE_S) == b"hello"


@pytest.mark.parametrize("most", [-1, 2**80])
def test_a_number_of_connections_that_is_out_of_range(endpoint: Endpoint, most: int) -> None:
    with pytest.raises(ValueError, match=f"most is {most}: give 0 or more"):
        endpoint.snapshot(most)
    with pytest.raises(TypeError, match="most is '1': give 0 or more"):
        endpoint.snapshot("1")  # type: ignore[arg-type]


def test_statistics_are_values(endpoint: Endpoint) -> None:
    client, _server = pair(endpoint)
    stats, snapshot = client.stats(), endpoint.snapshot()
    with pytest.raises(AttributeError):
        stats.queued = 1  # type: ignore[misc]
    assert copy.deepcopy(stats) == stats
    assert json.loads(json.dumps(stats.to_dict())) == stats.to_dict()
    assert json.loads(json.dumps(snapshot.to_dict()))["connections"][0]["stats"].keys() == (
        stats.to_dict().keys()
    )
    assert len(endpoint.snapshot(0).connections) == 0
    client.abort()
    endpoint.close()
    # They are there after the end, too.
    assert client.closed == Closed(code=2, name="aborted")
    assert client.stats().queued == 0
    assert client.peer == ("127.0.0.1", client.peer[1])
    assert client.peer_udp_port == endpoint.local_address[1]
    assert endpoint.stats().connections == 0


def test_a_path_is_a_directory_for_qlog(tmp_path: Path) -> None:
    with Endpoint.udp("127.0.0.1", 0, config=EndpointConfig(qlog=tmp_path)) as endpoint:
        pair(endpoint)
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("port", [-1, 0, 65_536, 2**80])
def test_a_port_out_of_range(endpoint: Endpoint, port: int) -> None:
    for call in (
        lambda: endpoint.listen(port),
        lambda: endpoint.connect("127.0.0.1", port),
        lambda: endpoint.connect("127.0.0.1", 5001, udp_port=port),
    ):
        with pytest.raises(ValueError, match=f"{port}.* (1 to 65535|6511 by default)"):
            call()
    if port:
        with (
            pytest.raises(ValueError, match=f"port is {port}: give 1 to 65535"),
            metrics.serving(endpoint, "127.0.0.1", port),
        ):
            pass


@pytest.mark.parametrize("port", [-1, 65_536, 2**80])
def test_a_udp_port_of_an_endpoint_that_is_out_of_range(port: int) -> None:
    with pytest.raises(ValueError, match=f"udp_port is {port}: give 0 to 65535"):
        Endpoint.udp("127.0.0.1", port)


@pytest.mark.parametrize("port", ["6511", 6511.0, None])
def test_a_port_that_is_no_number(endpoint: Endpoint, port: Any) -> None:
    for call in (
        lambda: endpoint.listen(port),
        lambda: endpoint.connect("127.0.0.1", port),
        lambda: endpoint.connect("127.0.0.1", 5001, udp_port=port),
        lambda: Endpoint.udp("127.0.0.1", port),
        lambda: aio.Endpoint.udp("127.0.0.1", port),
    ):
        with pytest.raises(TypeError, match=f"port is {re.escape(repr(port))}: give [01] to"):
            call()


@pytest.mark.parametrize("host", [("127.0.0.1", 6511), b"127.0.0.1", None, 1])
def test_a_host_that_is_no_text(endpoint: Endpoint, host: Any) -> None:
    for call in (
        lambda: Endpoint.udp(host),
        lambda: Endpoint.raw(host),
        lambda: endpoint.connect(host, 5001),
        lambda: asyncio.run(aio.Endpoint.udp("127.0.0.1", 0).connect(host, 5001)),
    ):
        with pytest.raises(TypeError, match=f"host is {re.escape(repr(host))}: give a name or an"):
            call()


def test_a_host_that_is_no_name(endpoint: Endpoint) -> None:
    for host in ("127.0.0.1:6511", "[::1]", "a\0b", "", "x" * 300):
        for call in (Endpoint.raw, lambda host: endpoint.connect(host, 5001)):
            with pytest.raises(NetError, match="cannot resolve"):
                call(host)
    with pytest.raises(UnicodeEncodeError):
        endpoint.connect("\ud800", 5001)


def test_a_name_without_an_address() -> None:
    with pytest.raises(NetError, match=r'cannot resolve "host\.invalid"'):
        Endpoint.udp("host.invalid", 6511)


@pytest.mark.parametrize("seconds", [-1, -math.inf, math.nan])
def test_a_time_limit_that_is_none(endpoint: Endpoint, seconds: float) -> None:
    client, server = pair(endpoint)
    for call in (server.recv, client.flush, client.close, endpoint.close):
        with pytest.raises(ValueError, match=r"timeout_s is .*: give 0 or more seconds"):
            call(seconds)
    with pytest.raises(ValueError, match="timeout_s"):
        client.send(b"in time", timeout_s=seconds)


def test_a_time_limit_that_is_no_number(endpoint: Endpoint) -> None:
    client, _server = pair(endpoint)
    with pytest.raises(TypeError, match="timeout_s is '1 s': give seconds"):
        client.recv("1 s")  # type: ignore[arg-type]


def test_no_time_and_all_time(endpoint: Endpoint) -> None:
    client, server = pair(endpoint)
    with pytest.raises(TimeoutError):
        server.recv(timeout_s=0)
    client.send(b"data", timeout_s=math.inf)
    assert server.recv(timeout_s=math.inf) == b"data"


@pytest.mark.parametrize("data", [b"ace", bytearray(b"ace"), memoryview(b"abcdef")[::2]])
def test_a_datagram_is_anything_with_bytes(
    endpoint: Endpoint, data: bytes | bytearray | memoryview
) -> None:
    client, server = pair(endpoint)
    client.send(data)
    assert server.recv(timeout_s=PATIENCE_S) == b"ace"


@pytest.mark.parametrize("data", ["text", [1, 2], 5, None])
def test_what_has_no_bytes_is_no_datagram(endpoint: Endpoint, data: Any) -> None:
    client, _server = pair(endpoint)
    with pytest.raises(TypeError, match=f"data is {type(data).__name__}: give bytes"):
        client.send(data)


@pytest.mark.parametrize("host", ["224.0.0.1", "0.0.0.0", "255.255.255.255"])  # noqa: S104
def test_an_address_that_is_not_that_of_one_host(endpoint: Endpoint, host: str) -> None:
    with pytest.raises(ValueError, match="give the address of one host"):
        endpoint.connect(host, 5001)


@pytest.mark.parametrize("host", ["127.0.0.1:5001", "[::1]", "example.invalid:1"])
def test_a_host_with_a_port_or_brackets(endpoint: Endpoint, host: str) -> None:
    with pytest.raises(NetError, match="without a port or brackets"):
        endpoint.connect(host, 5001)


def test_metrics_of_what_is_no_endpoint(endpoint: Endpoint) -> None:
    client, _server = pair(endpoint)
    with pytest.raises(TypeError, match="is not an endpoint"), metrics.serving(client, "::1", 0):  # type: ignore[arg-type]
        pass
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with (
            pytest.raises(OSError, match=rf"at 127\.0\.0\.1, port {port}: Address already in use"),
            metrics.serving(endpoint, "127.0.0.1", port),
        ):
            pass


@pytest.mark.parametrize("kind", [aio.Endpoint, aio.Listener, aio.Connection])
def test_what_asyncio_cannot_wrap(kind: type) -> None:
    with pytest.raises(TypeError, match=r"'127\.0\.0\.1' is no"):
        kind("127.0.0.1")


def test_no_way_out_of_loopback(endpoint: Endpoint) -> None:
    with pytest.raises(UnreachableError, match=r"from 127\.0\.0\.1 .* bound to loopback"):
        endpoint.connect("192.0.2.1", 5001)
    with pytest.raises(UnreachableError, match="IP version"):
        endpoint.connect("2001:db8::1", 5001)


def test_a_link_local_address_needs_its_interface() -> None:
    try:
        endpoint = Endpoint.udp("::", 0)
    except NetError as error:
        pytest.skip(f"this host has no IPv6: {error}")
    with endpoint, pytest.raises(UnreachableError, match="name the interface"):
        endpoint.connect("fe80::1", 5001)


def test_what_is_too_large_for_the_path_back_is_not_echoed() -> None:
    connection = mock.Mock(
        peer=("192.0.2.1", 5001), peer_udp_port=6511, service_code="SC=0", ccids=(2, 2)
    )
    connection.recv.side_effect = [b"small", b"large", b"small", None]
    connection.send.side_effect = [None, DatagramTooLargeError("too large"), None]
    connection.closed = Closed(code=1, name="closed")
    exchange = Exchange(connection, Load(1), Ending.AWAIT, close_s=1.0, count=0, echo=True)
    connection.stats.return_value = counted.stats(
        datagrams_sent=2, bytes_sent=10, acknowledged=2, rate_bps=None, cwnd=3.0
    )
    document = exchange.run()
    assert document["ok"], document["error"]
    assert document["received"]["datagrams"] == 3
    assert document["sent"]["datagrams"] == 2
    assert document["sent"]["too_large"] == 1
    cells = report.table("report", document).columns[0].cells
    assert any("not echoed" in str(cell) for cell in cells)


@pytest.mark.parametrize("kind", [Config, EndpointConfig])
def test_help_describes_every_option(kind: type) -> None:
    text = pydoc.plain(pydoc.render_doc(kind))
    for field in attrs.fields(kind):
        assert re.search(rf"^ \|      {field.name}: \w", text, flags=re.MULTILINE), field.name


@pytest.mark.parametrize("kind", [_core.Connection, _core.Endpoint, _core.Listener])
def test_help_describes_every_call_and_its_errors(kind: type) -> None:
    calls = [name for name in vars(kind) if not name.startswith("_")]
    assert all(getattr(kind, name).__doc__ for name in calls)
    text = pydoc.plain(pydoc.render_doc(kind))
    assert "Raises:" in text
