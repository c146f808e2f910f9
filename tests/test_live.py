"""Scenarios on the real clock, between sockets in namespaces."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from conftest import ROOT, run_process
from skywave import Cbr, Dccp, Ftp, KernelTcp, Link, Nat, Scenario, ScenarioError, Tcp, Udp
from skywave.live import Verdict, run_both, run_live
from test_emulate import needs_namespaces

if TYPE_CHECKING:
    from pathlib import Path

    from skywave.scenario import Source, Transport

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="in one process: needs root")


def described(transport: Transport, source: Source, duration: str = "3 s") -> Scenario:
    scenario = Scenario.dumbbell(
        "live", duration=duration, rate="4 Mbps", delay="20 ms", queue=30, access_rate="100 Mbps"
    )
    return scenario.add_flow("f", "s1", "d1", transport, source)


@needs_root
@pytest.mark.parametrize(
    ("transport", "source"),
    [
        (Tcp(control="cubic"), Ftp()),
        (Dccp(ccid=2), Ftp()),
        (Dccp(ccid=3), Ftp()),
        (Udp(), Cbr(rate="1 Mbps", datagram="500 B")),
    ],
    ids=lambda part: type(part).__name__ + str(getattr(part, "ccid", "")),
)
def test_both_clocks_have_about_the_same_results(transport: Transport, source: Source) -> None:
    # On a machine that is busy for a while, a run is late, and says so.
    for _ in range(4):
        both = run_both(described(transport, source))
        rows = {(row.what, row.measure): row for row in both.rows()}
        ratio = rows["f", "goodput_bps"].ratio or 0.0
        if 0.8 < ratio < 1.2:
            break
    assert 0.8 < ratio < 1.2, both.rows()
    report = both.lived[0].verdict.report
    assert [report[name] for name in ("unsent", "undelivered", "malformed")] == [0, 0, 0]


@needs_root
def test_dccp_may_travel_in_udp(tmp_path: Path) -> None:
    capture = tmp_path / "r1-r2.pcapng"
    lived = run_live(
        described(Dccp(ccid=2), Ftp()), captures={"r1->r2": str(capture)}, dccp_over_udp=True
    )
    (flow,) = lived.results.summary["flows"]
    assert flow["goodput_bps"] > 2e6
    assert capture.stat().st_size > 10_000


@needs_root
def test_the_kernels_tcp_is_sampled_and_simulated_by_ours() -> None:
    both = run_both(described(KernelTcp(control="reno"), Ftp()))
    assert both.lived[0].results.summary["flows"][0]["transport"] == "kernel-tcp"
    rows = {(row.what, row.measure): row for row in both.rows()}
    for measure in ("goodput_bps", "cwnd_packets", "sent_packets"):
        row = rows["f", measure]
        assert row.lived.mean > 0
        assert row.simulated.mean > 0


@needs_root
def test_a_control_that_the_kernel_lacks_is_named() -> None:
    with pytest.raises(ScenarioError, match=r'flow "f": .* no congestion control "vegas"; it has '):
        run_live(described(KernelTcp(control="vegas"), Ftp()))


def test_what_can_only_be_simulated_is_refused() -> None:
    scenario = Scenario(name="nat", duration="1 s", nodes=["a", "b"])
    scenario.links.append(Link(from_="a", to="b", rate="1 Mbps", delay="1 ms", nat=Nat()))
    scenario.add_flow("f", "a", "b", Tcp(), Ftp())
    with pytest.raises(ScenarioError, match=r"links\[0\]\.nat: a NAT cannot run on the real"):
        run_live(scenario)


def test_a_simulation_says_that_it_runs_our_tcp_for_the_kernels() -> None:
    (warning,) = described(KernelTcp(), Ftp()).inspect().warnings
    assert str(warning).startswith("flows[0].transport.kernel-tcp: ")


def in_file(directory: Path, duration: str) -> str:
    file = directory / "scenario.json"
    file.write_text(described(Tcp(), Ftp(), duration).to_json(), encoding="utf-8")
    return str(file)


@needs_namespaces
def test_the_command_has_tables_and_says_how_late_packets_were(tmp_path: Path) -> None:
    file = in_file(tmp_path, "1 s")
    done = run_process("run", "--live", file, "--strict", "--strict-ms", "5000")
    assert done.returncode == 0, done.stderr
    assert "1 s in real time" in done.stdout
    assert "packets left late by" in done.stdout


@needs_namespaces
def test_no_privileges_are_needed(tmp_path: Path) -> None:
    # A user who is not root there, and so has no privileges here.
    user = ("unshare", "--user", "--map-user=1000", "--map-group=1000", "--")
    if subprocess.run([*user, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("the system has no user namespaces")
    command = (sys.executable, "-m", "skywave", "run", "--live", in_file(tmp_path, "1 s"))
    done = subprocess.run(
        [*user, *command, "--json"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if "does not let users create namespaces" in done.stderr:
        pytest.skip(done.stderr)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["flows"][0]["delivered_bytes"] > 0


@needs_namespaces
def test_ctrl_c_keeps_what_was_measured(tmp_path: Path) -> None:
    command = (sys.executable, "-m", "skywave", "run", "--live", in_file(tmp_path, "60 s"))
    with subprocess.Popen(
        [*command, "--json"], cwd=ROOT, text=True, stdout=subprocess.PIPE
    ) as process:
        time.sleep(8)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=20)
    summary = json.loads(out)
    assert 0 < summary["duration_s"] < 30
    assert summary["flows"][0]["delivered_bytes"] > 0


@needs_namespaces
def test_the_page_has_both_clocks(tmp_path: Path) -> None:
    file = in_file(tmp_path, "1 s")
    done = run_process("run", "--both", file, "--out", tmp_path / "both")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "both" / "both.html").read_text(encoding="utf-8")
    assert "simulated and lived" in page
    found = json.loads((tmp_path / "both" / "both.json").read_text(encoding="utf-8"))
    assert {row["measure"] for row in found["rows"]} >= {"goodput_bps", "cwnd_packets"}


def test_a_verdict_is_broken_by_lateness_and_by_lost_packets() -> None:
    counts = dict.fromkeys(("overflows", "undelivered", "unsent", "unknown", "malformed"), 0)
    lateness = {"packets": 10, "median_s": 1e-5, "p99_s": 2e-3, "max_s": 3e-3, "beyond_1_ms": 0.1}
    late = Verdict({"elapsed_s": 1.0, "lateness": lateness, **counts})
    assert late.broken(1.0) == "packets left late by 2 ms (99th percentile), and 1 ms is allowed"
    assert late.broken(3.0) is None
    lossy = Verdict({"elapsed_s": 1.0, "lateness": None, **counts, "overflows": 3})
    assert (
        lossy.broken(1.0) == "3 packets were lost because this machine is too slow for the scenario"
    )
