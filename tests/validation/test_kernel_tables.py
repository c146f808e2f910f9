"""The tables of ``make virtual-time``."""

from __future__ import annotations

import csv
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from conftest import ROOT
from skywave import run
from skywave.realtime.virtual import kernel
from validation.virtual_time import ccids, controls, examples, queues
from validation.virtual_time.__main__ import HERE, store
from validation.virtual_time.runs import Measured, measured

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

KINDS = {"ccids": ccids, "controls": controls, "examples": examples, "queues": queues}


@pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))
def test_each_row_has_a_name_of_its_own_and_a_scenario(kind: ModuleType) -> None:
    names = [case.name for case in kind.cases()]
    assert len({*names}) == len(names) >= 20
    for case in kind.cases():
        case.scenario(2).inspect()
    first = kind.cases()[0].scenario(2).replace(duration="12 s")
    assert {*kind.find(run(first))} == {*kind.MEASURES}


@pytest.mark.parametrize("name", KINDS)
def test_a_stored_table_has_every_row(name: str) -> None:
    with (HERE / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    stored = {(row["row"], row["of"]) for row in rows if row["clock"] == "virtual time"}
    assert stored == {case.name for case in KINDS[name].cases()}
    late = [float(row["late, 99th percentile (us)"]) for row in rows if row["clock"] != "simulated"]
    assert max(late) < 10


def test_a_table_has_means_with_margins(tmp_path: Path) -> None:
    done = Measured(("a", "b"), [{"x": 1.0}, {"x": 2.0}], [], 2.5e-6)
    store([done], {"x": "what (unit)"}, tmp_path / "t.csv")
    text = (tmp_path / "t.csv").read_text(encoding="utf-8")
    assert text.splitlines()[1] == "a,b,virtual time,1.5 ± 6.4,2.5"


def test_an_unknown_table_is_named() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "validation.virtual_time", "controlls"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 2
    assert "controls" in done.stderr


@pytest.mark.skipif(kernel.missing() is not None, reason=str(kernel.missing()))
def test_a_row_runs_on_both_clocks() -> None:
    [case] = [case for case in examples.cases() if case.name == ("network", "udp")]
    [done] = measured([case], examples.find, seeds=1)
    assert {**done.guest[0], "delay": 0.0} == {**done.simulated[0], "delay": 0.0}
