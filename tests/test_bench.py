"""``skywave bench`` beside other simulators, and what others did meanwhile."""

from __future__ import annotations

import json
import os
import statistics
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from conftest import assert_bad_input, needs_checkout, needs_ns2, run_cli
from skywave import _machine
from skywave.bench import rows as bench
from skywave.papers import installed, ns2

if TYPE_CHECKING:
    from collections.abc import Callable

SMALL = ["--flows", "5", "--rate", "5.5 Mbps", "--buffer", "50", "--duration", "1.5 s"]
PRINTED = "events 1234 delivered 600 drops 7"
VARIANTS = ["htsim full", "htsim light"]


@pytest.fixture
def program(tmp_path: Path) -> Callable[[str], Path]:
    """Write a shell script that stands for htsim and lists its arguments in `calls`."""

    def write(body: str) -> Path:
        path = tmp_path / "a program"
        path.write_text(f'#!/bin/sh\necho "$@" >>"{tmp_path}/calls"\n{body}\n')
        path.chmod(0o755)
        return path

    return write


BURN = "i=0; while [ $i -lt 5000 ]; do i=$((i + 1)); done\n"


def assert_compared(row: dict[str, Any], names: list[str]) -> None:
    """Assert that a row has the medians and the rounds of these simulators."""
    assert [other["name"] for other in row["beside"]] == names
    for other in row["beside"]:
        rounds = other["rounds"]
        assert len(rounds) == bench.ROUNDS > 1
        assert rounds == sorted(rounds)
        assert 0 < rounds[0] <= other["cpu_over_simulation"] == statistics.median(rounds)
        assert 0 < other["cpu_over_skywave"] < other["cpu_over_simulation"]
        assert other["process_cpu_s"] > 0
        assert other["peak_memory_bytes"] > 0
        assert other["memory_over_skywave"] > 0


def test_a_row_runs_in_turn_with_both_variants_of_htsim(
    program: Callable[[str], Path], tmp_path: Path
) -> None:
    path = program(f"{BURN}echo 'At 1550 RTO 250'\necho '{PRINTED}' >&2")
    done = run_cli("bench", "dumbbell", *SMALL, "--htsim", path, "--json")
    assert done.returncode == 0, done.stderr
    row = json.loads(done.stdout)
    assert_compared(row, VARIANTS)
    for other in row["beside"]:
        counts = {"events": 1234, "packets_delivered": 600, "bottleneck_drops": 7}
        assert other["counts"] == counts
        assert other["arrivals_difference_percent"] is None
    turn = [f"5 5.5 50 1.5 100.0 {full}" for full in (1, 0)]
    assert (tmp_path / "calls").read_text().splitlines() == turn * bench.ROUNDS


def test_the_table_shows_the_ratios(program: Callable[[str], Path]) -> None:
    path = program(f"{BURN}echo '{PRINTED}'")
    shown = run_cli("bench", "dumbbell", *SMALL, "--htsim", path).stdout
    for variant in VARIANTS:
        for label in (
            f"{variant} CPU (s)",
            f"{variant} packets delivered",
            f"CPU of {variant} / our simulation alone",
        ):
            assert label in shown
    assert shown.count("the same, lowest and highest round") == 2
    assert "ns-2" not in shown


def test_a_program_may_leave_out_the_packets_delivered(program: Callable[[str], Path]) -> None:
    path = program(f"{BURN}echo 'events 9 drops 4'")
    row = json.loads(run_cli("bench", "dumbbell", *SMALL, "--htsim", path, "--json").stdout)
    assert row["beside"][0]["counts"] == {"events": 9, "bottleneck_drops": 4}


def test_standard_rows_run_in_turn_with_htsim(
    program: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where ns-2 is not installed."""

    def missing() -> Path:
        raise ns2.Ns2Error("it is not installed")

    works = tuple(bench.Work(n, "5 Mbps", 50, "1 s") for n in (2, 3))
    monkeypatch.setattr(ns2, "find", missing)
    monkeypatch.setattr(bench, "STANDARD", works)
    monkeypatch.setattr(installed, "every", lambda: ([], {}))
    path = program(f"{BURN}echo '{PRINTED}'")
    done = run_cli("bench", "standard", "--htsim", path, "--json")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["rows"]
    assert [row["work"]["flows"] for row in rows] == [2, 3]
    for row in rows:
        assert_compared(row, VARIANTS)
    assert len((tmp_path / "calls").read_text().splitlines()) == 2 * 2 * bench.ROUNDS
    alone = json.loads(run_cli("bench", "standard", "--json").stdout)["rows"]
    assert [row["beside"] for row in alone] == [[], []]
    assert_bad_input(run_cli("bench", "dumbbell", *SMALL, "--ns2"), "not installed")


def test_threads_run_in_turn_with_one() -> None:
    row = bench.measure_threads(bench.Work(20, "5 Mbps", 50, "1 s", threads=2))
    assert row["work"]["threads"] == 2
    assert len(row["rounds"]) == bench.ROUNDS
    assert row["rounds"] == sorted(row["rounds"])
    assert row["speedup"] == statistics.median(row["rounds"]) > 0
    assert row["elapsed_s"] > 0


def test_a_path_that_is_no_program_is_refused(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text(PRINTED)
    remedy = "build it as validation/htsim/README.md says"
    for path, problem in (
        (tmp_path / "missing", "no such file"),
        (plain, "not an executable file"),
        (tmp_path, "not an executable file"),
    ):
        done = run_cli("bench", "dumbbell", *SMALL, "--htsim", path)
        assert_bad_input(done, f"--htsim {path}", problem, remedy)
    plain.chmod(0o755)
    done = run_cli("bench", "dumbbell", *SMALL, "--htsim", plain)
    assert_bad_input(done, "cannot be started", "Exec format error", remedy)


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("echo 'usage: bench FLOWS' >&2; exit 3", "ended with 3: usage: bench FLOWS"),
        ("kill -SEGV $$", "ended with -11: no output"),
        ("echo hello", "no line with the counts"),
        ("echo events many drops few", "no line with the counts"),
        ("echo events 12", "no line with the counts"),
    ],
)
def test_a_program_that_fails_or_is_another_is_named(
    program: Callable[[str], Path], body: str, problem: str
) -> None:
    done = run_cli("bench", "dumbbell", *SMALL, "--htsim", program(body))
    assert_bad_input(done, "htsim full", problem, "build it as validation/htsim/README.md says")


def test_what_others_took_meanwhile_is_told(
    program: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While it runs, the program has a million ticks pass; ours are few among them."""
    stat = tmp_path / "stat"
    stat.write_text("cpu  0 0 0 0 0 0 0 0 0 0\n")
    monkeypatch.setattr(_machine, "STAT", stat)
    path = program(
        f"{BURN}echo 'cpu  100000 0 100000 650000 50000 0 0 100000 0 0' >'{stat}'\necho '{PRINTED}'"
    )
    row = json.loads(run_cli("bench", "dumbbell", *SMALL, "--htsim", path, "--json").stdout)
    assert row["stolen"] == 0.1
    assert row["used_by_others"] == pytest.approx(0.2, abs=0.01)
    assert row["used_by_others"] < 0.2, "our own ticks are not those of others"


LABELS = [
    "other guests of the host (% of processors)",
    "other processes (% of processors)",
]


def test_the_table_has_a_dash_where_the_system_does_not_tell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def values() -> list[str]:
        lines = run_cli("bench", "dumbbell", *SMALL).stdout.splitlines()
        return [line.split("│")[2].strip() for label in LABELS for line in lines if label in line]

    if Path("/proc/stat").exists():
        told = [float(value) for value in values()]
        assert len(told) == 2
        assert all(0 <= value <= 100 for value in told)
    monkeypatch.setattr(_machine, "STAT", tmp_path / "missing")
    assert values() == ["-", "-"]
    row = json.loads(run_cli("bench", "dumbbell", *SMALL, "--json").stdout)
    assert row["stolen"] is None
    assert row["used_by_others"] is None


@needs_checkout
@needs_ns2
def test_ns2_runs_in_turn_and_carries_about_as_many_packets() -> None:
    row = json.loads(run_cli("bench", "dumbbell", *SMALL, "--ns2", "--json").stdout)
    assert_compared(row, ["ns-2"])
    theirs = row["beside"][0]
    arrivals = theirs["counts"]["bottleneck_arrivals"]
    difference = 100 * (row["counts"]["bottleneck_arrivals"] / arrivals - 1)
    assert theirs["arrivals_difference_percent"] == pytest.approx(difference)
    assert abs(difference) < 10


@pytest.mark.skipif(
    "SKYWAVE_HTSIM" not in os.environ,
    reason="SKYWAVE_HTSIM does not name a program built as validation/htsim/README.md says",
)
def test_htsim_itself_fills_the_bottleneck_too() -> None:
    # Long enough to fill the bottleneck: about as many packets pass it, whatever TCP does.
    work = ["--flows", "20", "--rate", "10 Mbps", "--buffer", "200", "--duration", "30 s"]
    path = os.environ["SKYWAVE_HTSIM"]
    done = run_cli("bench", "dumbbell", *work, "--htsim", path, "--json")
    assert done.returncode == 0, done.stderr
    row = json.loads(done.stdout)
    assert_compared(row, VARIANTS)
    full, light = (other["counts"] for other in row["beside"])
    # A queue and a pipe on each of six hops make twelve events, one queue and two pipes three.
    assert full["events"] > 2 * light["events"]
    for counts in (full, light):
        assert counts["bottleneck_drops"] > 0
        if "packets_delivered" in counts:
            ours = row["counts"]["bottleneck_departures"]
            assert counts["packets_delivered"] == pytest.approx(ours, rel=0.05)
