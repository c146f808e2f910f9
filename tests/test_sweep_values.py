"""Sweeps: what their values say, and what they do not."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

import skywave
from conftest import ROOT, assert_bad_input, run_cli
from skywave import (
    Dccp,
    Scenario,
    ScenarioError,
    Tcp,
    sweep,
)

if TYPE_CHECKING:
    from pathlib import Path


def test_seeds_are_added_until_the_mean_is_precise(base: Scenario, tmp_path: Path) -> None:
    over = {"flows[*].transport.tcp.control": ["reno", "cubic"]}
    found = sweep(base, over, out=tmp_path, until="ci(goodput[file]) < 8 %", max_seeds=500)
    rows = found.summary().to_pylist()
    assert {row["measure"] for row in rows} == set(found.measures)
    values = found.table.group_by("control", use_threads=False).aggregate([("seed", "count")])
    counts = dict(zip(*(column.to_pylist() for column in values.columns), strict=True))
    assert all(10 <= count < 500 for count in counts.values())
    assert max(counts.values()) > 10
    again = skywave.load(tmp_path, ["goodput[file]"])
    for row in again.summary().to_pylist():
        assert row["seeds"] == counts[row["control"]]
        assert row["margin"] < 0.08 * row["mean"]
    assert not any("not met" in warning for warning in again.warnings())
    # The same again runs nothing; a stricter target adds seeds to what there is.
    steps: list[int] = []
    strict = sweep(
        base,
        over,
        out=tmp_path,
        until="ci(goodput[file]) < 1 %",
        max_seeds=30,
        progress=lambda step: steps.append(step.resumed),
    )
    assert steps[0] == 20
    assert strict.table.num_rows == 60
    said = [warning for warning in strict.warnings() if "is not met by 30 seeds" in warning]
    assert [sentence.split(",")[0] for sentence in said] == [
        "at control=reno",
        "at control=cubic",
    ]
    for sentence in said:
        assert re.search(r"seeds: goodput of file \([kM]bps\) is [\d.]+±[\d.]+$", sentence), (
            sentence
        )


@pytest.mark.parametrize(
    ("until", "complaint"),
    [
        ("goodput < 2 %", "write it as"),
        ("ci(godput) < 2 %", "not a known measure"),
        ("ci(goodput[*]) < 2 %", "name one"),
        ("ci(goodput) < 2 ms", "cannot be in s"),
    ],
)
def test_wrong_targets(base: Scenario, until: str, complaint: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=re.escape(complaint)):
        sweep(base, out=tmp_path / "out", until=until)
    with pytest.raises(ValueError, match="give their number"):
        sweep(base, out=tmp_path / "out", until="ci(goodput) < 2 %", seeds=[1, 2])
    with pytest.raises(ValueError, match="5 are too few to begin with: a target needs 10"):
        sweep(base, out=tmp_path / "out", until="ci(goodput) < 2 %", seeds=5)
    with pytest.raises(ValueError, match="40 are more than the 30 at which a target ends"):
        sweep(base, out=tmp_path / "out", until="ci(goodput) < 2 %", seeds=40, max_seeds=30)
    assert not (tmp_path / "out").exists()


def test_a_warm_up_longer_than_the_run_is_refused(base: Scenario, tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="a warm-up of 2 s: the run ends at 2 s"):
        sweep(base, out=tmp_path / "out", warm_up="2 s")
    over = {"duration": ["5 s", "1 s"]}
    with pytest.raises(ScenarioError, match="with duration=1 s: a warm-up of 2 s"):
        sweep(base, over, out=tmp_path / "out", warm_up="2 s")
    assert not (tmp_path / "out").exists()


def test_a_measure_of_a_flow_that_is_not_there_is_refused(base: Scenario, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="there is no flow fil: use file, stream"):
        sweep(base, out=tmp_path / "out", measures=["goodput[fil]"])
    assert not (tmp_path / "out").exists()
    sweep(base, out=tmp_path / "out")
    with pytest.raises(ValueError, match="there is no link x: use d1->r2"):
        skywave.load(tmp_path / "out", ["utilisation[x]"])


def test_points_are_compared(base: Scenario, tmp_path: Path) -> None:
    over = {"flows[file].transport": [Tcp(), Tcp(control="cubic"), Dccp(ccid=3)]}
    found = sweep(base, over, seeds=6, out=tmp_path / "out", measures=["goodput[file]"])
    labels = ["tcp", "tcp control=cubic", "dccp ccid=3"]
    assert list(dict.fromkeys(found.table["transport"].to_pylist())) == labels
    rows = found.compare("goodput[file]", "transport", baseline="tcp").to_pylist()
    assert [row["other"] for row in rows] == ["tcp"] * 2
    values = found.to_pandas().pivot_table("goodput_bps[file]", "seed", "transport")
    for row in rows:
        assert row["difference"] == pytest.approx((values[row["one"]] - values["tcp"]).mean())
        assert row["significant"] == (row["adjusted_p"] < 0.05)
    wide = found.compare("goodput[file]", "transport", baseline="tcp", confidence=1 - 1e-15)
    assert not any(wide["significant"].to_pylist())
    arguments = ("compare", tmp_path / "out", "--by", "transport", "--baseline", "tcp")
    ran = run_cli(*arguments, "--json")
    told = json.loads(ran.stdout)
    assert [row["p"] for row in told["comparisons"]] == [row["p"] for row in rows]
    ran = run_cli(*arguments)
    assert "goodput of file (kbps)" in ran.stdout
    assert "tcp control=cubic - tcp" in ran.stdout
    assert_bad_input(
        run_cli("compare", tmp_path / "out", "--by", "size"), "size is not a dimension"
    )
    assert_bad_input(run_cli("compare", tmp_path, "--by", "size"), "not the folder of a sweep")


def test_seeds_that_change_nothing_are_said(base: Scenario, tmp_path: Path) -> None:
    still = Scenario.from_text((ROOT / "examples" / "tcp.toml").read_text(), "toml")
    found = sweep(still, out=tmp_path / "still", seeds=3)
    [said] = [warning for warning in found.warnings() if "3 seeds gave the same values" in warning]
    assert "add jitter" in said
    found = sweep(base, out=tmp_path / "random", seeds=3)
    assert not any("same values" in warning for warning in found.warnings())


def test_a_warm_up_inside_the_mean_is_said(tmp_path: Path) -> None:
    slow = Scenario.dumbbell("slow", duration="120 s", rate="5 Mbps", delay="100 ms", queue=500)
    slow.add_flow("file", "s1", "d1", Tcp(initial_ssthresh=2))
    found = sweep(slow, out=tmp_path)
    [said] = [warning for warning in found.warnings() if "warm-up" in warning]
    assert said.startswith("the warm-up is inside the mean goodput of file: leave it out by a")
    end = re.search(r'\(--warm-up "(.+)"\)$', said)
    assert end, "as the command takes it"
    found = sweep(slow, out=tmp_path, warm_up=end[1])
    assert not any("warm-up" in warning for warning in found.warnings())


def test_a_sweep_is_drawn(base: Scenario, tmp_path: Path) -> None:
    over = {"dumbbell.queue.drop-tail.packets": [5, 10, 20]}
    found = sweep(base, over, seeds=2, out=tmp_path / "out")
    figure = found.plot(measure="delay_mean", out=[tmp_path / "delay.svg"])
    assert "delay" in figure.axes[0].get_ylabel()
    assert (tmp_path / "delay.svg").stat().st_size > 1000
    ran = run_cli("plot", tmp_path / "out", "--out", tmp_path / "goodput.pdf", "--json")
    assert ran.returncode == 0, ran.stderr
    assert (tmp_path / "goodput.pdf").stat().st_size > 1000
