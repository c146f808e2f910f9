"""Sweeps: what their values say, and what they do not."""

from __future__ import annotations

import csv
import json
import math
import re
from typing import TYPE_CHECKING

import pytest
from attrs import evolve

import skywave
from conftest import ROOT, assert_bad_input, run_cli
from skywave import Dccp, DropTail, Red, Scenario, ScenarioError, Tcp, Udp, Voice, dumbbell, sweep
from skywave.results import emodel
from skywave.scenario.labels import label_of, without_common
from skywave.stats import Target

if TYPE_CHECKING:
    from pathlib import Path

    from skywave import Progress


def test_seeds_are_added_until_the_mean_is_precise(base: Scenario, tmp_path: Path) -> None:
    over = {"flows[*].transport.tcp.control": ["reno", "cubic"]}
    found = sweep(base, over, out=tmp_path, until="ci(goodput[file]) < 8 %", max_seeds=500)
    rows = found.summary().to_pylist()
    assert {row["measure"] for row in rows} == set(found.measures)
    values = found.table.group_by("control", use_threads=False).aggregate([("seed", "count")])
    counts = dict(zip(*(column.to_pylist() for column in values.columns), strict=True))
    assert all(10 <= count < 500 for count in counts.values())
    assert max(counts.values()) > 10
    again = skywave.Sweep.load(tmp_path, ["goodput[file]"])
    for row in again.summary().to_pylist():
        assert row["seeds"] == counts[row["control"]]
        assert row["margin"] < 0.08 * row["mean"]
    assert not any("not met" in warning for warning in again.warnings())
    # The same again runs nothing; a stricter target adds seeds to what there is.
    steps: list[Progress] = []
    strict = sweep(
        base,
        over,
        out=tmp_path,
        until=Target.parse("ci(goodput[file]) < 1 %"),
        max_seeds=30,
        progress=steps.append,
    )
    assert steps[0].done == 20
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
    with pytest.raises(ValueError, match="5 are too few: a target needs 10"):
        sweep(base, out=tmp_path / "out", until="ci(goodput) < 2 %", seeds=5)
    with pytest.raises(ValueError, match="40 are more than the 30 at which a target ends"):
        sweep(base, out=tmp_path / "out", until="ci(goodput) < 2 %", seeds=40, max_seeds=30)
    assert not (tmp_path / "out").exists()


def test_a_warm_up_longer_than_the_run_is_refused(base: Scenario, tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="a warm-up of 2 s: the run ends at 2 s"):
        sweep(base, out=tmp_path / "out", warm_up_s=2)
    over = {"duration": ["5 s", "1 s"]}
    with pytest.raises(ScenarioError, match="with duration=1 s: a warm-up of 2 s"):
        sweep(base, over, out=tmp_path / "out", warm_up_s=2)
    assert not (tmp_path / "out").exists()


def test_a_measure_of_a_flow_that_is_not_there_is_refused(base: Scenario, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="there is no flow fil: use file, stream"):
        sweep(base, out=tmp_path / "out", measures=["goodput[fil]"])
    assert not (tmp_path / "out").exists()
    sweep(base, out=tmp_path / "out")
    with pytest.raises(ValueError, match="there is no link x: use d1->r2"):
        skywave.Sweep.load(tmp_path / "out", ["utilisation[x]"])


def test_calls_are_rated(tmp_path: Path) -> None:
    """From what was played after the warm-up; a call whose codec nobody says is not rated."""
    calls = dumbbell("calls", duration="12 s", rate="1 Mbps", delay="20 ms", queue=40)
    voice = Voice(frame="20 B", interval="20 ms", deadline="150 ms", codec="g711")
    calls.add_flow("file", "s1", "d1", Tcp())
    calls.add_flow("rated", "s1", "d1", Udp(), voice)
    calls.add_flow("later", "s1", "d1", Udp(), evolve(voice, codec="g729a"), start="4 s")
    calls.add_flow("not rated", "s1", "d1", Udp(), evolve(voice, codec=None))
    over = {"dumbbell.queue.drop-tail.packets": [5, 40]}
    measures = ["played[*]", "mos[*]", "mos"]
    found = sweep(calls, over, out=tmp_path, measures=measures, warm_up_s=2)
    names = ["rated", "later", "not rated"]
    assert list(found.measures) == [
        *(f"{measure}[{name}]" for measure in ("played", "mos") for name in names),
        "mos",
    ]
    short, long = found.table.to_pylist()
    for row in (short, long):
        for name, codec in (("rated", emodel.G711), ("later", emodel.G729A)):
            r = emodel.rating(codec, 0.17, 100 * (1 - row[f"played[{name}]"]))
            assert row[f"mos[{name}]"] == pytest.approx(emodel.mean_opinion_score(r))
        assert math.isnan(row["mos[not rated]"])
        assert row["mos"] == pytest.approx((row["mos[rated]"] + row["mos[later]"]) / 2)
    assert short["mos[rated]"] > 3.5
    assert long["mos[rated]"] < 2
    ran = run_cli(
        "plot", "sweep", tmp_path, "--measure", "mos[rated]", "--output", tmp_path / "mos.pdf"
    )
    assert ran.returncode == 0, ran.stderr


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
    slow = dumbbell("slow", duration="120 s", rate="5 Mbps", delay="100 ms", queue=500)
    slow.add_flow("file", "s1", "d1", Tcp(initial_ssthresh=2))
    found = sweep(slow, out=tmp_path)
    [said] = [warning for warning in found.warnings() if "warm-up" in warning]
    assert said.startswith("the warm-up is inside the mean goodput of file: leave it out by a")
    end = re.search(r'\(--warm-up "(.+) s"\)$', said)
    assert end, "as the command takes it"
    found = sweep(slow, out=tmp_path, warm_up_s=float(end[1]))
    assert not any("warm-up" in warning for warning in found.warnings())


def test_a_sweep_is_drawn(base: Scenario, tmp_path: Path) -> None:
    over = {"dumbbell.queue.drop-tail.packets": [5, 10, 20]}
    found = sweep(base, over, seeds=2, out=tmp_path / "out")
    figure = found.plot(measure="delay_mean", out=[tmp_path / "delay.svg"])
    assert "delay" in figure.axes[0].get_ylabel()
    assert (tmp_path / "delay.svg").stat().st_size > 1000
    ran = run_cli("plot", "sweep", tmp_path / "out", "--output", tmp_path / "goodput.pdf", "--json")
    assert ran.returncode == 0, ran.stderr
    assert (tmp_path / "goodput.pdf").stat().st_size > 1000


TABLES = [
    {"control": "cubic", "recovery": "sack"},
    {"control": "reno", "recovery": "sack"},
    {"control": "reno", "recovery": "sack", "initial_ssthresh": 2},
]


def test_values_that_are_tables_are_told_by_their_fields(base: Scenario, tmp_path: Path) -> None:
    found = sweep(base, {"flows[file].transport.tcp": TABLES}, out=tmp_path / "out")
    labels = [
        "control=cubic, recovery=sack",
        "control=reno, recovery=sack",
        "control=reno, recovery=sack, initial_ssthresh=2",
    ]
    assert found.table["tcp"].to_pylist() == labels
    # What all have is not told.
    shown = ["control=cubic", "control=reno", "control=reno, initial_ssthresh=2"]
    assert [found.label("tcp", label) for label in labels] == shown
    figure = found.plot()
    assert [tick.get_text().replace("\n", " ") for tick in figure.axes[0].get_xticklabels()] == [
        "cubic",
        "reno",
        "reno, initial ssthresh 2",
    ]
    chosen = found.plot("box", where={"tcp": "control=cubic"})
    assert [tick.get_text() for tick in chosen.axes[0].get_xticklabels()] == ["all"]


def test_values_are_named_as_they_are_shown(base: Scenario, tmp_path: Path) -> None:
    over = {"dumbbell.queue": [DropTail(packets=10), Red(packets=10)]}
    found = sweep(base, over, seeds=2, out=tmp_path / "out")
    labels = ["drop-tail packets=10", "red packets=10"]
    assert list(dict.fromkeys(found.table["queue"].to_pylist())) == labels
    assert [found.label("queue", label) for label in labels] == ["drop-tail", "red"]
    [row] = found.compare("goodput", "queue", baseline="drop-tail").to_pylist()
    assert row["other"] == "drop-tail packets=10"


@pytest.mark.parametrize(
    ("labels", "short"),
    [
        (["red packets=5"], ["red packets=5"]),
        (["red packets=5", "pie packets=5"], ["red", "pie"]),
        (["red packets=5", "pie packets=6"], ["red packets=5", "pie packets=6"]),
        (["tcp a=1, b=2", "tcp a=1, b=3"], ["tcp b=2", "tcp b=3"]),
        # Nothing would be left of one.
        (["a=1", "a=1, b=2"], ["a=1", "a=1, b=2"]),
        (["red packets=5", "Aimd(x=5)"], ["red packets=5", "Aimd(x=5)"]),
        (["10", "20"], ["10", "20"]),
    ],
)
def test_labels_without_what_they_have_in_common(labels: list[str], short: list[str]) -> None:
    assert list(without_common(labels).values()) == short


def test_fields_within_fields_have_one_notation() -> None:
    feedback: dict[str, object] = {"feedback": {"dynamic": {}}}
    tfrcs = [feedback, {**feedback, "receiver_rtt": "option"}, {"feedback": {"dynamic": {"x": 1}}}]
    assert [label_of({"dccp": {"ccid": 3, "tfrc": tfrc}}) for tfrc in tfrcs] == [
        "dccp ccid=3, tfrc.feedback=dynamic",
        "dccp ccid=3, tfrc.feedback=dynamic, tfrc.receiver_rtt=option",
        "dccp ccid=3, tfrc.feedback.dynamic.x=1",
    ]
    assert label_of({"dccp": {"tfrc": {}}}) == "dccp tfrc={}"


def test_labels_differ_wherever_values_do() -> None:
    assert label_of({"a": "x, b=y"}) != label_of({"a": "x", "b": "y"})
    assert label_of({"a": 1, "b": {"c": 2, "d": 3}}) == "a=1, b.c=2, b.d=3"
    assert label_of({"control": "mine:Binomial"}) == "control=mine:Binomial"


def test_the_folder_has_the_table_as_csv(base: Scenario, tmp_path: Path) -> None:
    over = {"dumbbell.delay": ["10 ms", "20 ms"]}
    out = tmp_path / "out"
    found = sweep(base, over, seeds=2, out=out, measures=["goodput", "warm_up"])
    with (out / "table.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == found.table.column_names
    assert [(row["delay_s"], row["seed"]) for row in rows] == [
        ("0.01", "1"),
        ("0.01", "2"),
        ("0.02", "1"),
        ("0.02", "2"),
    ]
    assert [float(row["goodput_bps"]) for row in rows] == found.table["goodput_bps"].to_pylist()
    # The warm-up is computed for the first seed only.
    assert {row["warm_up_s"] for row in rows if row["seed"] == "2"} == {""}


def test_an_interrupted_sweep_has_a_table_and_says_what_is_missing(
    base: Scenario, tmp_path: Path
) -> None:
    sweep(base, seeds=1, out=tmp_path)

    def stop(step: Progress) -> None:
        if step.done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sweep(base, seeds=200, out=tmp_path, progress=stop)
    with (tmp_path / "table.csv").open() as file:
        done = len(list(csv.DictReader(file)))
    assert 3 <= done < 200
    found = skywave.Sweep.load(tmp_path)
    assert found.table.num_rows == done
    assert found.warnings()[0] == f"{200 - done} of 200 runs are not done yet"


def test_a_table_of_another_sweep_does_not_stay(base: Scenario, tmp_path: Path) -> None:
    sweep(base, seeds=2, out=tmp_path)

    def fail(_: Progress) -> None:
        assert not (tmp_path / "table.csv").exists()
        raise OSError("stopped as if killed")

    with pytest.raises(OSError, match="as if killed"):
        sweep(base, {"dumbbell.delay": ["10 ms"]}, out=tmp_path, progress=fail)
