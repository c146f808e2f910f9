"""Endpoints from Python: their addresses, options and counters."""

from __future__ import annotations

import platform
import socket
import struct
import subprocess
import sys
import time

import pytest

from conftest import ROOT
from patience import PATIENCE_S
from skywave.net import AddressInUseError, Config, Endpoint, EndpointConfig, EndpointStats

PORT = 5001


def has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


needs_ipv6 = pytest.mark.skipif(not has_ipv6(), reason="this host has no IPv6")


@needs_ipv6
def test_without_a_host_an_endpoint_is_at_all_addresses_of_both_ip_versions() -> None:
    with Endpoint.udp(udp_port=0) as server, Endpoint.udp(udp_port=0) as client:
        listener = server.listen(PORT)
        for host in ("127.0.0.1", "::1"):
            connection = client.connect(host, PORT, udp_port=server.local_address[1])
            accepted = listener.accept(timeout_s=PATIENCE_S)
            assert connection.peer == (host, PORT)
            assert connection.peer_udp_port == server.local_address[1]
            assert accepted.peer[0] == host
            assert accepted.peer_udp_port == client.local_address[1]
            connection.abort()
            accepted.abort()


@needs_ipv6
def test_a_name_with_both_ip_versions_is_reached_over_the_one_that_answers() -> None:
    """`localhost` is ::1 and 127.0.0.1; nothing answers at one of them."""
    found = {info[4][0] for info in socket.getaddrinfo("localhost", None, type=socket.SOCK_DGRAM)}
    if found != {"::1", "127.0.0.1"}:
        pytest.skip(f"here, localhost is {found}")
    for family, silent, live in (
        (socket.AF_INET6, "::1", "127.0.0.1"),
        (socket.AF_INET, "127.0.0.1", "::1"),
    ):
        with (
            socket.socket(family, socket.SOCK_DGRAM) as nobody,
            Endpoint.udp(udp_port=0) as client,
        ):
            nobody.bind((silent, 0))
            port = nobody.getsockname()[1]
            with Endpoint.udp(live, port) as server:
                listener = server.listen(PORT)
                connection = client.connect("localhost", PORT, udp_port=port)
                accepted = listener.accept(timeout_s=PATIENCE_S)
                connection.send(b"hello")
                assert accepted.recv(timeout_s=PATIENCE_S) == b"hello"
                assert connection.peer == (live, PORT)
                connection.close(timeout_s=PATIENCE_S)


# Has the kernel refuse IPv6 sockets, as one without IPv6 does: a filter of system calls (seccomp)
# that fails socket(AF_INET6, ..).
WITHOUT_IPV6 = """
import ctypes, errno, struct, sys
LOAD, JUMP_IF, RETURN, ALLOW, FAIL = 0x20, 0x15, 0x06, 0x7FFF0000, 0x00050000
SOCKET, AF_INET6 = int(sys.argv[1]), 10
program = b"".join(
    struct.pack("HBBI", *step)
    for step in (
        (LOAD, 0, 0, 0), (JUMP_IF, 0, 3, SOCKET), (LOAD, 0, 0, 16), (JUMP_IF, 0, 1, AF_INET6),
        (RETURN, 0, 0, FAIL | errno.EAFNOSUPPORT), (RETURN, 0, 0, ALLOW),
    )
)
buffer = ctypes.create_string_buffer(program)
filter_ = struct.pack("HxxxxxxP", 6, ctypes.addressof(buffer))
libc = ctypes.CDLL(None, use_errno=True)
NO_NEW_PRIVILEGES, SECCOMP, FILTER = 38, 22, 2
if libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0) or libc.prctl(SECCOMP, FILTER, filter_, 0, 0):
    sys.exit("skipped: no filter of system calls")
import socket
try:
    socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
except OSError:
    pass
else:
    sys.exit("skipped: the filter does nothing")
from skywave.net import Endpoint
print(Endpoint.udp(udp_port=0).local_address[0])
"""
SOCKET_CALL = {"x86_64": 41, "aarch64": 198}


@pytest.mark.skipif(
    platform.machine() not in SOCKET_CALL or struct.calcsize("P") != 8,
    reason="the number of a system call is known for two machines",
)
def test_without_ipv6_an_endpoint_is_at_all_addresses_of_ipv4() -> None:
    number = str(SOCKET_CALL[platform.machine()])
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_IPV6, number],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    if done.stderr.startswith("skipped"):
        pytest.skip(done.stderr)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "0.0.0.0\n"


def test_an_address_that_another_socket_has() -> None:
    with Endpoint.udp("127.0.0.1", 0) as first, pytest.raises(AddressInUseError, match="in use"):
        Endpoint.udp(*first.local_address)


def test_options_of_an_endpoint_are_in_force() -> None:
    config = EndpointConfig(backlog=1, send_buffer=None)
    with Endpoint.udp("127.0.0.1", 0, config=config) as server, Endpoint.udp(udp_port=0) as client:
        listener = server.listen(PORT)
        first = client.connect("127.0.0.1", PORT, udp_port=server.local_address[1])
        with pytest.raises(OSError, match="too busy"):
            client.connect("127.0.0.1", PORT, udp_port=server.local_address[1])
        assert server.stats().too_busy > 0
        first.abort()
        del listener


def test_the_options_of_a_connection_are_not_those_of_an_endpoint() -> None:
    with pytest.raises(TypeError, match=r"give a skywave\.net\.EndpointConfig"):
        Endpoint.udp("127.0.0.1", 0, config=Config())  # type: ignore[arg-type]


def test_counters_of_an_endpoint() -> None:
    with Endpoint.udp("127.0.0.1", 0) as server, Endpoint.udp("127.0.0.1", 0) as client:
        stats = server.stats()
        assert isinstance(stats, EndpointStats)
        assert set(stats.to_dict().values()) == {0}
        with socket.socket(type=socket.SOCK_DGRAM) as stranger:
            stranger.sendto(b"no packet of DCCP", ("127.0.0.1", server.local_address[1]))
        listener = server.listen(PORT)
        connection = client.connect("127.0.0.1", PORT, udp_port=server.local_address[1])
        stats = server.stats()
        assert stats.connections == 1
        assert stats.malformed == 1
        # Packets are counted after they have been handled.
        end = time.monotonic() + PATIENCE_S
        while server.stats().packets_received < 3 and time.monotonic() < end:
            time.sleep(0.01)
        assert server.stats().packets_received >= 3
        connection.close(timeout_s=PATIENCE_S)
        del listener


def test_what_things_are_called() -> None:
    with Endpoint.udp("127.0.0.1", 0) as endpoint:
        listener = endpoint.listen(PORT)
        connection = endpoint.connect("127.0.0.1", PORT, udp_port=endpoint.local_address[1])
        address = "{}:{}".format(*endpoint.local_address)
        assert repr(endpoint) == f"<skywave.net.Endpoint of {address} over UDP>"
        assert repr(listener) == f"<skywave.net.Listener on DCCP port {PORT}>"
        name = f"<skywave.net.Connection to {address} DCCP port {PORT}, "
        assert repr(connection) == f"{name}open>"
        connection.abort()
        assert repr(connection) == f"{name}aborted>"


def test_loops_over_connections_and_datagrams_end_with_them() -> None:
    with Endpoint.udp("127.0.0.1", 0) as server, Endpoint.udp("127.0.0.1", 0) as client:
        listener = server.listen(PORT)
        for number in range(2):
            connection = client.connect("127.0.0.1", PORT, udp_port=server.local_address[1])
            connection.send(bytes([number]))
            connection.close(timeout_s=PATIENCE_S)
        arrived = []
        for accepted in listener:
            arrived += list(accepted)
            if len(arrived) == 2:
                server.close(timeout_s=PATIENCE_S)
        assert arrived == [b"\x00", b"\x01"]
