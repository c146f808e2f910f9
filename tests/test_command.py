"""The rest of the command line: help, version, decode, bench."""

from __future__ import annotations

import json

import pytest

from conftest import CAPTURES, run_cli, run_process

COMMANDS = [
    "run",
    "check",
    "reproduce",
    "matrix",
    "bench",
    "listen",
    "send",
    "ping",
    "perf",
    "decode",
    "version",
]


@pytest.mark.parametrize(
    ("arguments", "status", "begins"),
    [
        (["version"], 0, ""),
        (["ping", "127.0.0.1:5001", "--udp-port", "1"], 1, "error: "),
        (["nonsense"], 2, "error: "),
    ],
)
def test_a_process_ends_with_the_status(arguments: list[str], status: int, begins: str) -> None:
    """Interrupts, whose status is 130, are beside what they interrupt."""
    done = run_process(*arguments)
    assert done.returncode == status, done.stderr
    assert done.stdout.startswith("skywave ") == (status == 0)
    assert done.stderr.startswith(begins)
    assert done.stderr.count("\n") == bool(begins)


def test_help_names_every_command() -> None:
    for arguments in ([], ["--help"]):
        done = run_cli(*arguments)
        assert done.returncode == 0
        for command in COMMANDS:
            assert command in done.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_and_json(command: str) -> None:
    done = run_cli(command, "--help")
    assert done.returncode == 0
    assert "--json" in done.stdout


def test_version() -> None:
    assert run_cli("version").stdout.startswith("skywave ")
    assert set(json.loads(run_cli("version", "--json").stdout)) == {"skywave", "python"}


def test_decode_prints_a_line_a_frame() -> None:
    path = CAPTURES / "ccid2.pcapng"
    frames = json.loads(run_cli("decode", path, "--json").stdout)["frames"]
    assert any("Request" in frame["text"] for frame in frames)
    lines = run_cli("decode", path).stdout.splitlines()
    assert len(lines) == len(frames) > 60
    assert lines[0].split()[:3] == ["1", f"{frames[0]['time_s']:.6f}", "s"]


def test_bench_counts_what_it_did() -> None:
    work = ["--flows", "5", "--rate", "5 Mbps", "--buffer", "50", "--duration", "10 s"]
    done = run_cli("bench", *work, "--json")
    assert done.returncode == 0, done.stderr
    row = json.loads(done.stdout)
    counts = row["counts"]
    assert row["work"]["flows"] == 5
    assert (counts["rate_bps"], counts["duration_s"]) == (5_000_000, 10.0)
    # 10 s at 5 Mbps are 6103 packets of 1024 B.
    assert 5000 < counts["bottleneck_departures"] <= 6104
    assert counts["bottleneck_arrivals"] >= counts["bottleneck_departures"]
    assert counts["events_per_s"] > 0
    assert counts["packet_hops_per_s"] > 0
    assert 0 < counts["cpu_s"] <= row["process_cpu_s"]
    assert row["peak_memory_bytes"] > 1_000_000
    assert row["beside"] == []
    shown = run_cli("bench", *work)
    for label in ("CPU (s)", "packets x hops (1/s)", "events (1/s)", "peak memory (MB)"):
        assert label in shown.stdout
