"""The network's commands, used wrongly or on a system that fails: one clear line, and a status."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from typing import TYPE_CHECKING
from unittest import mock

import pytest

from conftest import ROOT, assert_bad_input, run_cli
from patience import PATIENCE_S
from skywave.cli.net import options
from test_net_command import free_udp_port, listening

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Done

TARGET = ("send", "127.0.0.1:5001", "--count", "1")


def assert_failed(done: Done, *names: str) -> None:
    """Assert that the network failed: status 1, one line on stderr that names these."""
    assert done.returncode == 1, done.stderr
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1, done.stderr
    for name in names:
        assert name in done.stderr


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ([*TARGET, "--ccid", "9"], ["--ccid", "9 is not a known CCID", "2, 3, 4"]),
        ([*TARGET, "--log", "loud"], ["--log", "'loud'", "'warn'"]),
        ([*TARGET, "--interval", "0"], ["--interval", "the unit is missing"]),
        ([*TARGET, "--duration", "soon"], ["--duration", '"soon"', "300 ms"]),
        ([*TARGET, "--close-timeout", "never"], ["--close-timeout", '"never"']),
        ([*TARGET, "--rate", "fast"], ["--rate", '"fast"', "2 Mbps"]),
        ([*TARGET, "--idle-timeout", "soon"], ["--idle-timeout", '"soon"']),
        (["ping", "127.0.0.1:5001", "--keepalive=-1s"], ["--keepalive", '"-1s"']),
        (["listen", "5001", "--metrics", "nonsense"], ["--metrics", "HOST:PORT"]),
        (["perf", "loopback", "--raw"], ["--raw"]),
    ],
)
def test_a_wrong_option_is_named(arguments: list[str], names: list[str]) -> None:
    assert_bad_input(run_cli(*arguments), *names)


@pytest.mark.parametrize("where", ["127.0.0.1:{taken}", "host.invalid:9100", "192.0.2.1:9100"])
def test_an_address_for_metrics_that_cannot_be_used(where: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        where = where.format(taken=taken.getsockname()[1])
        options = ("--udp-port", free_udp_port(), "--metrics", where)
        done = run_cli("listen", "127.0.0.1:5001", *options)
    assert_bad_input(done, "--metrics", where, "cannot be used")
    assert "Errno" not in done.stderr


def test_a_directory_for_qlog_that_cannot_be_made(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    assert_bad_input(run_cli(*TARGET, "--qlog", file), "--qlog", str(file), "File exists")


@pytest.mark.parametrize("option", ["--qlog={}", "--endpoint-option=qlog={}"])
def test_a_directory_for_qlog_that_takes_no_files(option: str) -> None:
    done = run_cli(
        "listen", "127.0.0.1:5001", "--udp-port", free_udp_port(), option.format("/proc")
    )
    assert_bad_input(done, option.partition("=")[0], "/proc cannot be used")


def test_events_that_are_missing_are_told_after_an_interrupt_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    opened = mock.Mock()
    opened.stats.return_value = mock.Mock(qlog_dropped=1234)
    monkeypatch.setattr(options, "Endpoint", mock.Mock(**{"udp.return_value": opened}))

    def interrupted() -> None:
        with options.endpoint("", options.SocketOptions(qlog=tmp_path), udp_port=0):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert f"--qlog: 1,234 events are missing in {tmp_path}: " in capsys.readouterr().err


def test_a_disk_that_fills_is_told() -> None:
    """Traffic goes on, and the events that are missing in the files are counted."""
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        pytest.skip("a file system of its own needs root and unshare")
    script = """
        mount -t tmpfs -o size=64k none /mnt || exit 77
        head -c 40000 /dev/zero >/mnt/fill
        exec "$@" --qlog /mnt
    """
    with listening("--once", "--json") as (listener, port):
        command = [sys.executable, "-m", "skywave", "send", "127.0.0.1:5001", "--count", "200"]
        sent = subprocess.run(
            ["unshare", "--mount", "sh", "-c", script, "sh", *command, "--udp-port", port],
            capture_output=True,
            text=True,
            cwd=ROOT,
            check=False,
        )
        if sent.returncode == 77:
            pytest.skip(f"no file system can be mounted here: {sent.stderr}")
        output, _ = listener.communicate(timeout=PATIENCE_S)
    assert sent.returncode == 0, sent.stderr
    assert "warning: --qlog: " in sent.stderr
    assert "events are missing in /mnt" in sent.stderr
    assert json.loads(output)["received"]["datagrams"] == 200


def test_a_listener_that_is_killed() -> None:
    """What its sender still has is discarded in time, and counted."""
    with listening() as (listener, port):
        command = [sys.executable, "-m", "skywave", "send", "127.0.0.1:5001", "--udp-port", port]
        options = ("--duration", "3 s", "--rate", "1 Mbps", "--close-timeout", "1 s")
        with subprocess.Popen(
            [*command, *options, "--interval", "0.2 s", "--log", "info"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        ) as sender:
            assert sender.stdout is not None
            # The first report of an interval: data flows.
            sender.stdout.readline()
            listener.send_signal(signal.SIGKILL)
            output, _ = sender.communicate(timeout=PATIENCE_S)
    assert sender.returncode == 1
    assert "discarded unsent" in output
    assert "error" in output


def test_ipv6() -> None:
    port = str(free_udp_port())
    listener = [sys.executable, "-m", "skywave", "listen", "[::1]:5001", "--once", "--json"]
    with subprocess.Popen(
        [*listener, "--udp-port", port],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    ) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        if "listening on [::1]:5001" not in line:
            pytest.skip(f"this host has no IPv6: {line}")
        sent = run_cli("send", "[::1]:5001", "--udp-port", port, "--count", "3", "--json")
        output, _ = process.communicate(timeout=PATIENCE_S)
    assert sent.returncode == 0, sent.stderr
    assert json.loads(sent.stdout)["peer"].startswith("[::1]:")
    assert json.loads(output)["received"]["datagrams"] == 3


def test_nobody_there_over_ipv6() -> None:
    done = run_cli("send", "[::1]:5001", "--udp-port", free_udp_port(), "--count", "1")
    assert_failed(done)


def test_an_idle_connection_ends() -> None:
    with listening("--once", "--json", "--keepalive", "15 s") as (listener, port):
        wait = ("--count", "1", "--close", "await", "--idle-timeout", "0.2 s")
        done = run_cli("send", "127.0.0.1:5001", "--udp-port", port, *wait, "--json")
        output, _ = listener.communicate(timeout=PATIENCE_S)
    assert done.returncode == 1
    document = json.loads(done.stdout)
    assert "idle timeout" in document["error"]
    assert document["end"]["origin"] == "local"
    assert json.loads(output)["end"]["origin"] == "remote"
