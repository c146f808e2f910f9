"""Scenarios in real time, between sockets in namespaces."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from unittest import mock

import pyarrow.parquet as pq
import pytest
from attrs import evolve

from conftest import ROOT, Done, run_process, words
from lab import descends, network_namespaces
from patience import PATIENCE_S
from skywave import (
    Cbr,
    Dccp,
    Ftp,
    KernelDccp,
    KernelTcp,
    Link,
    Nat,
    Progress,
    Scenario,
    ScenarioError,
    Tcp,
    Udp,
    dumbbell,
    realtime,
    run,
)
from skywave._machine import Watch
from skywave.realtime import ClockComparison, RealTimeRun, RunAccuracy
from skywave.realtime.comparison import Row, measures
from skywave.realtime.report import write
from test_emulate import needs_namespaces

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from skywave.scenario import Source, Transport

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="in one process: needs root")


def described(transport: Transport, source: Source, duration: str = "1 s") -> Scenario:
    scenario = dumbbell(
        "dumbbell",
        duration=duration,
        rate="4 Mbps",
        delay="20 ms",
        queue=30,
        access_rate="100 Mbps",
    )
    scenario.add_flow("f", "s1", "d1", transport, source)
    return scenario


@needs_root
@pytest.mark.parametrize(
    ("transport", "source", "duration"),
    [
        (Tcp(control="cubic"), Ftp(), "3 s"),  # in the first second, a late loss is half of it
        (Dccp(ccid=2), Ftp(), "1 s"),
        (Dccp(ccid=3), Ftp(), "1 s"),
        (Udp(), Cbr(rate="1 Mbps", datagram="500 B"), "1 s"),
    ],
    ids=["tcp", "ccid2", "ccid3", "udp"],
)
def test_both_clocks_have_about_the_same_results(
    transport: Transport, source: Source, duration: str
) -> None:
    # On a machine that is busy for a while, a run is late, and says so.
    for _ in range(4):
        comparison = realtime.compare(described(transport, source, duration))
        rows = {(row.what, row.measure): row for row in comparison.rows()}
        ratio = rows["f", "goodput_bps"].ratio or 0.0
        if 0.8 < ratio < 1.2:
            break
    assert 0.8 < ratio < 1.2, comparison.rows()
    report = comparison.real_time[0].accuracy.report
    assert [report[name] for name in ("unsent", "undelivered", "malformed")] == [0, 0, 0]


@needs_root
def test_dccp_may_travel_in_udp(tmp_path: Path) -> None:
    capture = tmp_path / "r1-r2.pcapng"
    done = realtime.run(
        described(Dccp(ccid=2), Ftp()), captures={"r1->r2": str(capture)}, dccp_over_udp=True
    )
    (flow,) = done.results.totals["flows"]
    assert flow["delivered_packets"] > 30
    assert capture.stat().st_size > 10_000


@needs_root
def test_the_kernels_tcp_is_sampled_and_simulated_by_ours() -> None:
    comparison = realtime.compare(described(KernelTcp(control="reno"), Ftp()))
    assert comparison.real_time[0].results.totals["flows"][0]["transport"] == "kernel-tcp"
    rows = {(row.what, row.measure): row for row in comparison.rows()}
    for measure in ("goodput_bps", "cwnd_packets", "sent_packets"):
        row = rows["f", measure]
        assert row.real_time.value > 0
        assert row.simulated.value > 0


@needs_root
def test_it_is_told_what_a_run_does() -> None:
    told: list[Progress] = []
    realtime.run(
        described(Udp(), Cbr(rate="1 Mbps", datagram="500 B"), "300 ms"),
        progress=told.append,
    )
    stages = [step.stage for step in told]
    assert list(dict.fromkeys(stages)) == ["set-up", "in real time"]
    assert stages.count("set-up") == 2, "a step for each end of the flow"
    assert all(0 <= step.fraction <= 1 for step in told)


@needs_root
def test_a_control_that_the_kernel_lacks_is_named() -> None:
    with pytest.raises(ScenarioError, match=r'flow "f": .* no congestion control "vegas"; it has '):
        realtime.run(described(KernelTcp(control="vegas"), Ftp()))


def test_what_can_only_be_simulated_is_refused() -> None:
    scenario = Scenario(name="nat", duration="1 s", nodes=["a", "b"])
    scenario.links.append(Link(from_="a", to="b", rate="1 Mbps", delay="1 ms", nat=Nat()))
    scenario.add_flow("f", "a", "b", Tcp(), Ftp())
    with pytest.raises(ScenarioError, match=r"links\[0\]\.nat: a NAT cannot run in real time"):
        realtime.run(scenario)


def test_a_simulation_says_that_it_runs_our_tcp_for_the_kernels() -> None:
    found = described(KernelTcp(), Ftp()).inspect()
    (warning,) = found.warnings
    assert warning.startswith("flows[0].transport.kernel-tcp: ")
    assert found.simulation_warnings == (warning,)


def test_a_control_that_only_the_kernel_has_is_refused_before_time_has_passed() -> None:
    scenario = described(KernelTcp(control="yeah"), Ftp())
    scenario.inspect()
    field = r"^flows\[0\]\.transport\.kernel-tcp\.control"
    with pytest.raises(ScenarioError, match=field + ': "yeah" is not a known control'):
        realtime.compare(scenario)


def in_file(directory: Path, duration: str) -> str:
    file = directory / "scenario.json"
    file.write_text(described(Tcp(), Ftp(), duration).to_json(), encoding="utf-8")
    return str(file)


def has_carried(process: int, least_bytes: int) -> bool:
    """Whether one network namespace of a process has received so much, on all its interfaces."""
    here = Path("/proc/self/ns/net").readlink()

    def received(thread: Path) -> int:
        if (thread / "ns" / "net").readlink() == here or not descends(
            int(thread.parts[2]), process
        ):
            return 0
        rows = (thread / "net" / "dev").read_text().splitlines()[2:]
        return sum(int(row.partition(":")[2].split()[0]) for row in rows)

    for other in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended meanwhile
            if any(received(thread) >= least_bytes for thread in (other / "task").iterdir()):
                return True
    return False


def interrupted(number: signal.Signals, *arguments: str, is_due: Callable[[int], bool]) -> Done:
    """Run the command, and send it a signal once that is due, as its process tells."""
    with subprocess.Popen(
        [sys.executable, "-m", "skywave", *arguments],
        cwd=ROOT,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        while process.poll() is None and not is_due(process.pid):
            time.sleep(0.02)
        process.send_signal(number)
        out, err = process.communicate(timeout=PATIENCE_S)
    return Done(process.returncode, out, err)


@needs_namespaces
def test_the_command_has_tables_and_says_how_late_packets_were(tmp_path: Path) -> None:
    file = in_file(tmp_path, "300 ms")
    done = run_process("realtime", "run", file, "--strict", "5 s")
    assert done.returncode == 0, done.stderr
    assert "0.3 s in real time" in done.stdout
    assert "packets left late by" in done.stdout


@needs_namespaces
def test_no_privileges_are_needed() -> None:
    # A user who is not root there, and so has no privileges here.
    user = ("unshare", "--user", "--map-user=1000", "--map-group=1000", "--")
    if subprocess.run([*user, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("the system has no user namespaces")
    command = (sys.executable, "-m", "skywave", "realtime", "run", "-", "--json")
    # What a run without privileges does first, it does before it reads the scenario.
    scenario = described(Tcp(), Ftp(), "300 ms").to_json()
    done = subprocess.run(
        [*user, *command], cwd=ROOT, input=scenario, capture_output=True, text=True, check=False
    )
    if "does not let users create namespaces" in done.stderr:
        pytest.skip(done.stderr)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["flows"][0]["delivered_bytes"] > 0


@needs_namespaces
def test_an_interrupt_keeps_what_was_measured(tmp_path: Path) -> None:
    file, out = in_file(tmp_path, "60 s"), tmp_path / "out"
    arguments = ("realtime", "run", file, "--json", "--out", str(out))
    is_due = partial(has_carried, least_bytes=100_000)
    done = interrupted(signal.SIGINT, *arguments, is_due=is_due)
    assert done.returncode == 130
    assert done.stderr == "interrupted\n"
    summary = json.loads(done.stdout)
    assert 0 < summary["duration_s"] < 30
    assert summary["flows"][0]["delivered_bytes"] > 0
    assert summary["accuracy"]["interrupted"]
    written = json.loads((out / "totals.json").read_text(encoding="utf-8"))
    assert written["duration_s"] == summary["duration_s"]


class SecondRun:
    """Whether a process is in its second run in real time, by its network namespaces."""

    def __init__(self) -> None:
        self.seen: set[str] = set()

    def __call__(self, process: int) -> bool:
        now = network_namespaces(process)
        are_others = bool(self.seen - now) and bool(now - self.seen)
        self.seen |= now
        return are_others


@needs_namespaces
def test_a_termination_keeps_the_runs_that_are_whole(tmp_path: Path) -> None:
    file, out = in_file(tmp_path, "300 ms"), tmp_path / "out"
    arguments = ("realtime", "compare", "--seeds", "500", file, "--json", "--out", str(out))
    done = interrupted(signal.SIGTERM, *arguments, is_due=SecondRun())
    assert done.returncode == 143
    *others, last = done.stderr.splitlines()
    assert last == "terminated"
    # The second tells how far a comparison is that takes long.
    known = re.compile("gave the same values|^run [0-9]+ of 500, ")
    assert all(known.search(other) for other in others), done.stderr
    found = json.loads(done.stdout)
    assert found["planned"] == 500
    assert 0 < found["runs"] < 500
    assert {run["elapsed_s"] for run in found["accuracy"]} == {0.3}
    assert all(run["whole"] for run in found["accuracy"])
    assert f"{found['planned']} were planned" in words((out / "comparison.html").read_text())


@needs_root
@pytest.mark.parametrize(("run", "at"), [(1, 0.3), (1, 1.0), (2, 0.3)])
def test_runs_of_unequal_time_are_not_compared(run: int, at: float) -> None:
    """An interrupt ends the comparison; the run counts if its time is over by then."""

    def interrupt(step: Progress) -> None:
        if step.stage == f"run {run} of 3, in real time" and step.fraction >= at:
            raise KeyboardInterrupt

    scenario = described(Tcp(), Ftp(), "300 ms")
    if (run, at) == (1, 0.3):
        with pytest.raises(KeyboardInterrupt):
            realtime.compare(scenario, runs=3, progress=interrupt)
        return
    comparison = realtime.compare(scenario, runs=3, progress=interrupt)
    assert comparison.is_interrupted
    assert [len(comparison.simulated), len(comparison.real_time), comparison.planned] == [1, 1, 3]
    assert comparison.real_time[0].results.totals["duration_s"] == 0.3


def runs_of(scenario: Scenario, count: int) -> ClockComparison:
    """Return a comparison without sockets, in which simulations stand for runs in real time."""
    runs = [run(scenario.replace(seed=seed)) for seed in range(count)]
    accuracy = RunAccuracy({"interrupted": False, "virtual_time": False}, Watch().shares())
    real_time = [RealTimeRun(results, accuracy) for results in runs]
    return ClockComparison(scenario, count, runs, real_time)


def three_runs(transport: Transport) -> ClockComparison:
    return runs_of(described(transport, Ftp()), 3)


def test_a_sender_without_a_window_has_none_on_both_clocks() -> None:
    scenario = described(Dccp(ccid=3), Ftp())
    scenario.flows[0] = evolve(scenario.flows[0], start="1 s")
    names = {measure for (what, measure), _ in measures(run(scenario)) if what == "f"}
    assert "goodput_bps" in names
    assert "cwnd_packets" not in names


@pytest.mark.parametrize(
    ("one", "other", "is_marked"),
    [
        ([608.0] * 3, [35.0, 20.0, 50.0], True),
        ([9.0, 10.0, 11.0], [9.5, 10.5, 11.5], False),
        ([9.0], [20.0], False),
        # What does not vary differs if the table shows it.
        ([9.0] * 2, [10.0] * 2, True),
        ([9.0] * 2, [9.001] * 2, False),
        ([0.0] * 2, [1.0] * 2, True),
        ([0.0] * 2, [0.0] * 2, False),
    ],
)
def test_a_row_is_marked_if_the_clocks_differ(
    one: list[float], other: list[float], is_marked: bool
) -> None:
    row = Row.of("linux", "resent_packets", one, other)
    assert row.differs is is_marked
    assert row.cells()["differs"] == ("differs" if is_marked else "")


def test_runs_that_do_not_vary_have_no_interval() -> None:
    row = Row.of("linux", "resent_packets", [608.0] * 3, [35.0, 20.0, 50.0])
    assert row.cells()["simulated"] == "608"
    assert row.cells()["real_time"].startswith("35 ± ")


def test_it_warns_as_a_plain_run_does_and_of_equal_seeds() -> None:
    kernels, same = three_runs(KernelTcp(control="cubic")).warnings()
    assert kernels.startswith("flows[0].transport.kernel-tcp: ")
    assert same.startswith("in the simulation, 3 seeds gave the same values")
    _, simulated, real_time = three_runs(Tcp(receive_window=2)).warnings()
    assert simulated.startswith("in the simulation, f was limited by its receive window for ")
    assert real_time.startswith("in real time, f was limited by its receive window for ")


def test_known_causes_are_named_if_something_differs() -> None:
    comparison = three_runs(KernelTcp(control="cubic"))
    assert comparison.causes() == []
    found = [Row.of("f", "resent_packets", [608.0] * 3, [35.0, 20.0, 50.0])]
    with mock.patch.object(ClockComparison, "rows", return_value=found):
        hystart, profile, _ = comparison.causes()
        assert "HyStart" in hystart
        assert "profile linux" in profile
        assert len(three_runs(Tcp()).causes()) == 1
        ticks, _ = three_runs(KernelDccp(ccid=3)).causes()
        assert "ticks" in ticks


@pytest.fixture
def without_lateness() -> Iterator[None]:
    """Runs that have measured no lateness: simulations that stand for runs in real time."""
    with (
        mock.patch.object(RunAccuracy, "lines", return_value=[]),
        mock.patch.object(RunAccuracy, "document", return_value={}),
    ):
        yield


@pytest.mark.usefixtures("without_lateness")
def test_nothing_of_an_earlier_run_stays_but_what_is_not_ours(tmp_path: Path) -> None:
    comparison, out = runs_of(described(Tcp(), Ftp()), 2), tmp_path / "out"
    comparison.simulated[0].write(out)
    assert (out / "flows.csv").exists()
    write(comparison, out)
    assert not (out / "flows.csv").exists()
    page = words((out / "comparison.html").read_text())
    assert re.search(r"[.)]Of links", page) is None
    (figure,) = (out / "figures").glob("*.svg")
    for key in ("simulated", "in real time"):
        assert f"<!-- {key} -->" in figure.read_text()
    (out / "simulated-2" / "notes.txt").write_text("mine")
    (out / "real-time-2" / "flows.csv").write_text("mine now")
    write(runs_of(described(Tcp(), Ftp()), 1), out)
    left = {each.relative_to(out).as_posix() for each in out.rglob("*-2/*")}
    assert left == {"simulated-2/notes.txt", "real-time-2/flows.csv"}
    assert (out / "simulated-1" / "flows.csv").exists()


@pytest.mark.usefixtures("without_lateness")
def test_a_run_of_which_nothing_happened_has_a_page_without_a_figure(tmp_path: Path) -> None:
    late = described(Tcp(), Ftp(), "20 ms")
    late.flows = [evolve(late.flows[0], start="1 s")]
    write(runs_of(late, 1), tmp_path / "out")
    assert "Over time" not in (tmp_path / "out" / "comparison.html").read_text(encoding="utf-8")
    assert not (tmp_path / "out" / "figures").exists()


@needs_namespaces
def test_a_run_shorter_than_an_interval_has_a_page_with_both_clocks(tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = run_process("realtime", "compare", in_file(tmp_path, "200 ms"), "--out", out)
    assert done.returncode == 0, done.stderr
    page = (out / "comparison.html").read_text(encoding="utf-8")
    assert "simulated and in real time" in page
    assert "Over time" in page
    assert any((out / "figures").iterdir())
    found = json.loads((out / "comparison.json").read_text(encoding="utf-8"))
    assert {row["measure"] for row in found["rows"]} >= {"goodput_bps", "cwnd_packets"}
    for clock in ("simulated", "real-time"):
        rows = pq.read_table(out / f"{clock}-1" / "flows.parquet")
        assert rows["time_s"].to_pylist() == [0.2]


def test_strict_fails_for_lateness_and_for_lost_packets() -> None:
    counts = dict.fromkeys(("overflows", "undelivered", "unsent", "unknown", "malformed"), 0)
    lateness = {"packets": 10, "median_s": 1e-5, "p99_s": 2e-3, "max_s": 3e-3, "beyond_1_ms": 0.1}
    late = RunAccuracy({"elapsed_s": 1.0, "lateness": lateness, **counts})
    assert late.failure(1.0) == "packets left late by 2 ms (99th percentile), and 1 ms is allowed"
    assert late.failure(3.0) is None
    lossy = RunAccuracy({"elapsed_s": 1.0, "lateness": None, **counts, "overflows": 3})
    assert (
        lossy.failure(1.0)
        == "3 packets were lost because this machine is too slow for the scenario"
    )


@needs_namespaces
def test_warnings_come_in_real_time_too(tmp_path: Path) -> None:
    late = described(KernelTcp(), Ftp(), "100 ms")
    late.flows = [late.flows[0].replace(start="1 s")]
    file = tmp_path / "scenario.json"
    file.write_text(late.to_json(), encoding="utf-8")
    done = run_process("realtime", "run", file)
    assert done.returncode == 0, done.stderr
    assert "warning: flows[0].start: 1 s is not before the end of the run" in done.stderr
    assert "a simulation runs" not in done.stderr
