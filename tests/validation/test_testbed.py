"""The papers on both clocks: a short form of ``make testbed``."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from conftest import ROOT
from patience import PATIENCE_S
from test_emulate import needs_namespaces
from test_realtime import has_carried
from validation.testbed import calls, load_factor, satellite, schemes, thresholds
from validation.testbed.experiment import Experiment
from validation.testbed.report import write
from validation.testbed.running import run_all

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="in one process: needs root")
SEEDS = range(1, 2)
WORKERS = 3


def everything() -> list[Experiment]:
    return [
        *load_factor.experiments(SEEDS),
        *satellite.experiments(SEEDS),
        *calls.experiments(SEEDS),
        *thresholds.experiments(),
        *schemes.experiments(SEEDS),
    ]


def shortened(experiment: Experiment, seconds: int) -> Experiment:
    scenarios = [scenario.replace(duration=f"{seconds} s") for scenario in experiment.scenarios]
    return Experiment(
        experiment.paper,
        experiment.section,
        experiment.label,
        scenarios[:1],
        experiment.find,
        experiment.measures,
    )


def test_every_experiment_can_be_checked() -> None:
    for experiment in everything():
        for scenario in experiment.scenarios:
            scenario.inspect()
    papers = {experiment.paper for experiment in everything()}
    assert papers == {"li2009", "sarwar2008", "lien2009", "nor2011", "chen2010"}


@pytest.mark.deep
@needs_root
def test_both_clocks_agree_on_a_paper_and_the_page_says_so(tmp_path: Path) -> None:
    chosen = [one for one in everything() if one.paper == "chen2010"]
    done = list(run_all([shortened(one, 8) for one in chosen], workers=4))
    assert len(done) == len(chosen)
    differences = [
        abs(one.simulated("utilisation").value - one.sockets("utilisation").value) for one in done
    ]
    # One of them may fall into a time at which the machine is busy.
    assert sorted(differences)[-2] < 15, differences
    write(done, 8.0, tmp_path / "out")
    page = (tmp_path / "out" / "testbed.html").read_text(encoding="utf-8")
    assert all(one.label in page for one in chosen)
    found = json.loads((tmp_path / "out" / "testbed.json").read_text(encoding="utf-8"))
    assert len(found["experiments"]) == len(chosen)


@pytest.mark.deep
@needs_namespaces
def test_a_signal_ends_all_processes(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "validation.testbed", "--out", str(tmp_path / "out")]
    options = ["--paper", "nor2011", "--workers", str(WORKERS)]
    with subprocess.Popen([*command, *options], cwd=ROOT, start_new_session=True) as process:
        try:
            until = time.monotonic() + PATIENCE_S
            # Until runs have started.
            while not has_carried(process.pid, 1000):
                assert time.monotonic() < until
                time.sleep(0.1)
            process.send_signal(signal.SIGTERM)
            assert process.wait(timeout=PATIENCE_S) == 143
            assert is_empty(process.pid)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (
            ["validation.testbed", "--out", "out", "--paper", "xia2005"],
            "xia2005 is not a known paper",
        ),
        (["validation.clocks", "tcp"], "tcp is not a known table: use examples, kernel_tcp"),
    ],
)
def test_a_wrong_name_is_one_line(command: list[str], message: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode in {1, 2}
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def is_empty(group: int) -> bool:
    """Return whether nothing is left of a process group, or soon will be."""
    for _ in range(50):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False
