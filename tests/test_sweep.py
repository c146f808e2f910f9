"""Sweeps: what is varied, what is kept, and what interruptions and faults leave."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from attrs import evolve

import skywave
from conftest import ROOT, assert_bad_input, load_example, run_cli, small_scenario
from skywave import (
    Ack,
    Cbr,
    Control,
    Dccp,
    DropTail,
    Loss,
    Probes,
    Progress,
    Red,
    Results,
    Scenario,
    ScenarioError,
    Sweep,
    Tcp,
    Timeout,
    Udp,
    _core,
    dumbbell,
    run,
    sweep,
)
from skywave.results.fairness import jain
from skywave.results.samples import Groups, Samples
from skywave.scenario.labels import Named
from skywave.scenario.paths import FieldPath, parse_values, with_field
from skywave.sweeps.points import Quantities, dimensions
from skywave.sweeps.store import METADATA
from skywave.sweeps.values import Start

if TYPE_CHECKING:
    from pathlib import Path

RUNS = int(os.environ.get("SKYWAVE_SWEEP_RUNS", "300"))
"""Runs of the sweep that is interrupted."""
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
PATIENCE_S = 120 + 0.1 * RUNS
INTERRUPTIONS = (
    (0.2, signal.SIGINT, 130),
    (0.4, signal.SIGKILL, -signal.SIGKILL),
    (0.6, signal.SIGTERM, 143),
)
"""Its interruptions: the share of runs that are done by then, the signal, and the status."""


def kept(found: Sweep) -> list[dict[str, object]]:
    """Every column but how long the runs took."""
    rows: list[dict[str, object]] = found.table.drop_columns(["wall_s"]).to_pylist()
    return rows


# What is varied.


def test_a_path_sets_the_fields_that_it_names(base: Scenario) -> None:
    cubic = with_field(base, "flows[*].transport.tcp.control", "cubic")
    assert [flow.transport for flow in cubic.flows] == [Tcp(control="cubic"), Dccp()]
    later = with_field(base, "flows[*].start", "1 s")
    assert [str(flow.start) for flow in later.flows] == ["1 s", "1 s"]
    one = with_field(base, "flows[stream].start", "3 s")
    assert [str(flow.start) for flow in one.flows] == ["0 s", "3 s"]
    assert with_field(base, "flows[1].start", "3 s") == one
    # No flow has a `stop` yet.
    stopped = with_field(base, "flows[*].stop", "1 s")
    assert [str(flow.stop) for flow in stopped.flows] == ["1 s", "1 s"]
    whole = with_field(base, "dumbbell.queue", {"red": {"packets": 30}})
    assert "red" in whole.to_dict()["dumbbell"]["queue"]
    assert base == small_scenario(), "the scenario itself does not change"


def test_a_link_is_named_by_its_ends() -> None:
    scenario = Scenario.from_text(
        """
        name = "two"
        duration = "1 s"
        nodes = ["a", "b", "c"]
        links = [
            { from = "a", to = "b", rate = "1 Mbps", delay = "1 ms" },
            { from = "b", to = "c", rate = "1 Mbps", delay = "1 ms" },
        ]
        [[flows]]
        name = "f"
        from = "a"
        to = "c"
        transport = { tcp = {} }
        source = { ftp = {} }
        """,
        "toml",
    )
    changed = with_field(scenario, "links[b->c].rate", "2 Mbps")
    assert [str(link.rate) for link in changed.links] == ["1 Mbps", "2 Mbps"]


@pytest.mark.parametrize(
    ("path", "complaint"),
    [
        ("dumbbell.quee.packets", "no such field: dumbbell has pairs, rate"),
        ("flows[voice].start", "no such field: flows has file, stream"),
        ("flows[7].start", "no such field: flows has file, stream"),
        ("links[r1->r2].delay", "describes the bottleneck r1->r2: use dumbbell.delay"),
        ("links[r1->r2].queue.red.packets", "r1->r2: use dumbbell.queue.red.packets"),
        ("links[s1->r1].rate", "use dumbbell.rate for the bottleneck, dumbbell.access_rate and"),
        ("flows[*].transport.udp.size", r"flows\[0\].transport has tcp"),
        ("duration.seconds", 'duration is "2 s"'),
        ("flows[0].transport.tcp.contol", "contol"),
    ],
)
def test_a_path_that_leads_nowhere_is_an_error(base: Scenario, path: str, complaint: str) -> None:
    with pytest.raises(ScenarioError, match=complaint):
        with_field(base, path, 1)


@pytest.mark.parametrize("path", ["", ".", "a..b", "a.", ".a", "flows[0]", "a]b", "flows[].x"])
def test_what_is_no_path_is_an_error(path: str) -> None:
    with pytest.raises(ValueError, match=r"flows|list"):
        FieldPath.parse(path)


def test_values_are_toml_or_text() -> None:
    assert parse_values("10, 2.5,true") == (10, 2.5, True)
    assert parse_values("cubic,10 ms") == ("cubic", "10 ms")
    assert parse_values('"a,b",[1,2],{ red = { packets = 5 } }') == (
        "a,b",
        [1, 2],
        {"red": {"packets": 5}},
    )
    # JSON has no dates and no infinities.
    assert parse_values("2020-01-01,inf") == ("2020-01-01", "inf")
    for wrong in ("", "1,", ",1", "1,,2"):
        with pytest.raises(ValueError, match="lacks a value"):
            parse_values(wrong)


def test_values_may_have_names() -> None:
    assert parse_values('10 ms as near , { red = {} } as "RED, 50",reno') == (
        Named("near", "10 ms"),
        Named("RED, 50", {"red": {}}),
        "reno",
    )
    for text in ('"a as b"', '["a as b"]', '{ x = "a as b" }', "as b"):
        assert not isinstance(parse_values(text)[0], Named), text
    named = {"one": DropTail(packets=20), "two": DropTail(packets=50)}
    assert dimensions({"dumbbell.queue": named})[0].labels == ["one", "two"]
    with pytest.raises(ValueError, match="drop-tail packets=20 is given twice"):
        dimensions({"dumbbell.queue": {"one": DropTail(packets=20), "two": DropTail(packets=20)}})
    with pytest.raises(ValueError, match="reno is given twice"):
        dimensions({"control": ["reno", Named("reno", "cubic")]})


def test_names_of_values_are_shown_and_do_not_identify_runs(base: Scenario, tmp_path: Path) -> None:
    path, out = "dumbbell.queue", tmp_path / "out"
    queues = [DropTail(packets=10), Red(packets=10)]
    before = sweep(base, {path: queues}, seeds=2, out=out)
    names = ("tcp", "RED, $n$")
    steps: list[Progress] = []
    found = sweep(
        base, {path: dict(zip(names, queues, strict=True))}, seeds=2, out=out, progress=steps.append
    )
    assert steps == [Progress("runs", 4, 4)], "they are the same runs"
    assert found.table["run"].to_pylist() == before.table["run"].to_pylist()
    assert found.table["queue"].unique().to_pylist() == list(names)
    assert [found.label("queue", name) for name in names] == list(names)
    [row] = found.compare("goodput", "queue", baseline="tcp").to_pylist()
    assert (row["one"], row["other"]) == ("RED, $n$", "tcp")
    [axes] = found.plot(measure="goodput", x="queue").axes
    assert [text.get_text() for text in axes.get_xticklabels()] == list(names)
    values = '{ drop-tail = { packets = 10 } } as tcp,{ red = { packets = 10 } } as "RED, $n$"'
    setting = f"dumbbell.queue={values}"
    done = run_cli("sweep", "examples/tcp.toml", "--out", tmp_path / "cli", "--set", setting)
    assert done.returncode == 0, done.stderr
    assert "RED, $n$" in done.stdout


def test_dimensions_have_short_names_that_differ() -> None:
    over: dict[str, list[object]] = {
        "dumbbell.queue.drop-tail.packets": [10, 50],
        "flows[a].start": ["0 s"],
        "flows[b].start": ["0 s"],
        "dumbbell.loss": [None, {"bernoulli": {"probability": 0.1}}],
    }
    names = [each.name for each in dimensions(over, taken=["loss", "seed"])]
    assert names == ["packets", "flows[a].start", "flows[b].start", "dumbbell.loss"]


@pytest.mark.parametrize(
    ("over", "complaint"),
    [
        ({"duration": []}, "no values"),
        ({"duration": "1 s"}, "give a list"),
        ({"duration": ["1 s", "1 s"]}, "twice"),
        ({"seed": [1, 2]}, "seeds"),
        ({"duration": ["1 s", "-1 s"]}, "with duration=-1 s: duration"),
    ],
)
def test_wrong_dimensions(
    base: Scenario, over: dict[str, list[object]], complaint: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=complaint):
        sweep(base, over, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


# What is kept.


def test_the_table_has_what_the_runs_give(base: Scenario, tmp_path: Path) -> None:
    over: dict[str, list[object]] = {
        "dumbbell.rate": ["1 Mbps", "2 Mbps"],
        "flows[file].transport.tcp.ecn": [True, False],
    }
    found = sweep(
        base, over, seeds=[3, 5], out=tmp_path, measures=["goodput", "goodput[*]", "jain", "events"]
    )
    assert found.dimensions == ("rate_bps", "ecn")
    assert found.measures == (
        "goodput_bps",
        "goodput_bps[file]",
        "goodput_bps[stream]",
        "jain",
        "events",
    )
    rows = found.table.to_pylist()
    assert [(row["rate_bps"], row["ecn"], row["seed"]) for row in rows] == [
        (rate, ecn, seed) for rate in (1e6, 2e6) for ecn in (True, False) for seed in (3, 5)
    ]
    for row in rows:
        rate = found.label("rate_bps", row["rate_bps"])
        scenario = evolve(with_field(base, "dumbbell.rate", rate), seed=row["seed"])
        results = run(with_field(scenario, "flows[file].transport.tcp.ecn", row["ecn"]))
        goodputs = [flow["goodput_bps"] for flow in results.totals["flows"]]
        assert row["fingerprint"] == results.fingerprint
        assert [row["goodput_bps[file]"], row["goodput_bps[stream]"]] == goodputs
        assert row["goodput_bps"] == sum(goodputs)
        assert row["jain"] == jain(goodputs)
        assert row["events"] == results.totals["events"]


DELAYS = ["100 ms", "5 ms", "0.02 s"]


@pytest.fixture
def by_delay(base: Scenario, tmp_path: Path) -> Sweep:
    """A sweep over quantities and names."""
    over = {"dumbbell.delay": DELAYS, "flows[file].transport.tcp.control": ["reno", "cubic"]}
    return sweep(base, over, seeds=2, out=tmp_path, measures=["goodput"])


def test_quantities_are_numbers_in_tables(by_delay: Sweep) -> None:
    assert by_delay.dimensions == ("delay_s", "control")
    assert by_delay.paths["delay_s"] == "dumbbell.delay"
    assert by_delay.short_name("delay_s") == "delay"
    assert [by_delay.label("delay_s", value) for value in (0.1, 0.005, 0.02)] == DELAYS
    frame = by_delay.to_pandas()
    assert list(frame.groupby("delay_s")["goodput_bps"].mean().index) == [0.005, 0.02, 0.1]
    assert by_delay.summary().schema.field("delay_s").type == pa.float64()
    data = by_delay.to_xarray()
    assert list(data["delay_s"].values) == [0.005, 0.02, 0.1], "as an axis has them"
    assert list(data["control"].values) == ["reno", "cubic"]
    assert data["delay_s"].attrs == {"units": "s"}
    assert data["goodput_bps"].attrs["units"] == "bps"
    run = frame[(frame.delay_s == 0.02) & (frame.control == "cubic") & (frame.seed == 2)]
    there = data["goodput_bps"].sel(delay_s=0.02, control="cubic", seed=2)
    assert float(there) == run["goodput_bps"].item()


def test_quantities_are_named_as_they_were_given(by_delay: Sweep) -> None:
    for by, baseline in (("delay", "5 ms"), ("delay_s", "0.005"), ("delay_s", "0.005 s")):
        rows = by_delay.compare("goodput_bps", by, baseline=baseline).to_pylist()
        assert [(row["one"], row["other"]) for row in rows[:2]] == [
            ("100 ms", "5 ms"),
            ("0.02 s", "5 ms"),
        ]
    [first, *_] = by_delay.compare("goodput_bps", "control").to_pylist()
    assert first["delay_s"] == 0.1
    for x, where in (("delay", {"delay": "20 ms"}), ("delay_s", {"delay_s": "0.02"})):
        [axes] = by_delay.plot(x=x, by="control").axes
        assert axes.get_xlabel() == "delay (ms)"
        [axes] = by_delay.plot(where=where).axes
        assert axes.get_xlabel() == "control"
    with pytest.raises(ValueError, match="delay is never 7 ms: use one of 100 ms, 5 ms"):
        by_delay.plot(where={"delay": "7 ms"})


def test_the_plan_has_values_as_they_were_given(by_delay: Sweep) -> None:
    """So plans of versions whose tables had text are read, and gone on with, as well."""
    plan = pq.read_table(by_delay.directory / "plan.parquet")
    assert plan["delay"].unique().to_pylist() == DELAYS


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        (["5 ms", "auto"], ()),
        (["5 ms", "1 Mbps"], ()),
        (["5 ms", "0.005 s"], ()),
        ([5, 10], ()),
        (["cubic"], ()),
        (["5 ms"], ("delay_s",)),
    ],
)
def test_other_values_stay_as_they_were_given(given: list[object], taken: tuple[str]) -> None:
    assert Quantities.of("delay", given, taken) is None


@pytest.mark.parametrize(
    ("dimension", "value", "column"),
    [
        ("rate", "1 Mbps", "rate_bps"),
        ("bytes", "64 kB", "bytes"),
        ("frame_s", "20 ms", "frame_s"),
        ("limit", "10 packets", "limit_packets"),
    ],
)
def test_a_column_of_quantities_has_its_unit_once(dimension: str, value: str, column: str) -> None:
    found = Quantities.of(dimension, [value], (dimension,))
    assert found is not None
    assert found.column == column


def test_measures_without_the_warm_up(base: Scenario, tmp_path: Path) -> None:
    names = ["goodput[file]", "delay_mean[file]", "utilisation[r1->r2]", "link_loss[r1->r2]"]
    found = sweep(base, out=tmp_path, measures=names, warm_up_s=1)
    [row] = found.table.to_pylist()
    results = run(base.replace(seed=1))
    flows = results.flows.to_pandas().query("flow == 'file' and time_s > 1")
    link = results.links.to_pandas().query("link == 'r1->r2' and time_s > 1")
    assert row["goodput_bps[file]"] == pytest.approx(flows["delivered_bytes"].sum() * 8 / 1.0)
    weights = flows["delivered_packets"].where(flows["delay_mean_s"].notna(), 0)
    delay = (flows["delay_mean_s"].fillna(0) * weights).sum() / weights.sum()
    assert row["delay_mean_s[file]"] == pytest.approx(delay)
    used = link["delivered_bytes"].sum() * 8 / 2e6
    assert row["utilisation[r1->r2]"] == pytest.approx(used)
    assert row["link_loss[r1->r2]"] == pytest.approx(link["drops"].sum() / link["arrivals"].sum())


@pytest.mark.parametrize("warm_up_s", [0.5, 1.0, 1.03])
def test_goodput_after_a_warm_up_is_over_the_active_time_after_it(
    warm_up_s: float, tmp_path: Path
) -> None:
    """Whenever flows start and end, and whenever samples are taken."""
    source = Cbr(rate="400 kbps", datagram="500 B")
    scenario = dumbbell(
        "late and early",
        duration="3.02 s",
        rate="4 Mbps",
        delay="10 ms",
        queue=20,
        probes=Probes(interval="50 ms"),
    )
    for name, start, stop in (
        ("always", "0 s", None),
        ("late", "2 s", None),
        ("early", "100 ms", "1.5 s"),
        ("over", "0 s", "300 ms"),
        ("inside", "700 ms", "2.5 s"),
    ):
        scenario.add_flow(name, "s1", "d1", Udp(), source=source, start=start, stop=stop)
    scenario.add_flow("jittery", "s1", "d1", Udp(), source=source, start_jitter="900 ms")
    found = sweep(scenario, out=tmp_path, measures=["goodput[*]"], warm_up_s=warm_up_s)
    [row] = found.table.to_pylist()
    results = run(scenario.replace(seed=1))
    begin_s = 1.0 if warm_up_s == 1.03 else warm_up_s
    samples = results.flows.to_pandas().query(f"time_s <= {begin_s + 1e-9}")
    before = samples.groupby("flow")["delivered_bytes"].sum()
    starts = {flow.name: flow.start.seconds for flow in scenario.flows if not flow.start_jitter}
    for flow in results.totals["flows"]:
        name, active_s = flow["name"], flow["active_s"]
        start_s = starts.get(name, 3.02 - active_s)
        later_s = max(0.0, start_s + active_s - max(start_s, begin_s))
        bits = 8 * (flow["delivered_bytes"] - before[name])
        expected = bits / later_s if later_s else 0.0
        assert row[f"goodput_bps[{name}]"] == pytest.approx(expected), name
    assert row["goodput_bps[over]"] == 0
    # What a constant rate is, but for a packet more or less.
    for name in ("always", "late", "inside", "jittery"):
        assert row[f"goodput_bps[{name}]"] == pytest.approx(4e5, rel=0.05), name


def test_an_early_end_after_jitter_is_known_within_the_jitter() -> None:
    start = Start(1.0, 1.5)
    assert start.active_after(2.0, 3.7, 5.0) == pytest.approx(3.0), "until the end, from 1.3 on"
    assert start.active_after(2.0, 1.0, 5.0) == pytest.approx(0.5), "from 1.5 on at the latest"
    assert start.active_after(0.5, 1.0, 5.0) == 1.0
    assert start.active_after(2.0, 0.0, 5.0) == 0.0


@pytest.mark.parametrize(
    ("duration", "weights"),
    [("700 ms", [0.7]), ("3 s", [1.0, 1.0, 1.0]), ("3.25 s", [1.0, 1.0, 1.0, 0.25])],
)
def test_means_are_over_the_whole_time(
    base: Scenario, tmp_path: Path, duration: str, weights: list[float]
) -> None:
    timed = base.replace(duration=duration, seed=1)
    names = ["queue_mean[r1->r2]", "cwnd_mean[file]", "delay_mean[file]"]
    found = sweep(timed, measures=names, out=tmp_path).table.to_pylist()[0]
    results = run(timed)
    queue = results.at_link("r1->r2")["queue_packets"].to_numpy()
    assert found["queue_mean_packets[r1->r2]"] == pytest.approx(np.average(queue, weights=weights))
    flows = results.flows.to_pandas().query("flow == 'file'")
    cwnd = np.average(flows["cwnd_packets"], weights=weights)
    assert found["cwnd_mean_packets[file]"] == pytest.approx(cwnd)
    delay = np.average(flows["delay_mean_s"], weights=flows["delivered_packets"])
    assert found["delay_mean_s[file]"] == pytest.approx(delay)


def test_a_warm_up_may_end_in_the_last_interval(base: Scenario, tmp_path: Path) -> None:
    timed = base.replace(duration="3.25 s", seed=1)
    [row] = sweep(timed, measures=["goodput[file]"], warm_up_s=3.1, out=tmp_path).table.to_pylist()
    rates = run(timed).flows.to_pandas().query("flow == 'file'")["goodput_bps"]
    assert row["goodput_bps[file]"] == pytest.approx(rates.iloc[-1])


def test_state_is_that_of_senders_that_have_it_and_send(base: Scenario, tmp_path: Path) -> None:
    """Before it starts, CCID 3 shows the window of CCID 2; TCP shows its first one."""
    late = base.replace(duration="10 s", seed=1)
    late.flows = []
    late.add_flow("f1", "s1", "d1", Tcp(), start="5 s")
    late.add_flow("f2", "s1", "d1", Dccp(ccid=3), start="5 s")
    names = ["cwnd_mean[*]", "srtt_mean[*]", "cwnd_mean"]
    [row] = sweep(late, measures=names, out=tmp_path).table.to_pylist()
    assert math.isnan(row["cwnd_mean_packets[f2]"])
    cwnd = run(late).flows.to_pandas().query("flow == 'f1' and time_s >= 5")["cwnd_packets"]
    assert row["cwnd_mean_packets[f1]"] == pytest.approx(cwnd.mean())
    assert row["cwnd_mean_packets"] == row["cwnd_mean_packets[f1]"]
    assert row["srtt_mean_s[f2]"] > 0


def test_other_measures_need_no_new_run(base: Scenario, tmp_path: Path) -> None:
    sweep(base, seeds=2, out=tmp_path)
    found = skywave.Sweep.load(tmp_path, ["cwnd_mean[file]", "timeouts"])
    assert found.measures == ("cwnd_mean_packets[file]", "timeouts")
    assert found.table.num_rows == 2
    with pytest.raises(ValueError, match="godput is not a known measure: use one of goodput"):
        skywave.Sweep.load(tmp_path, ["godput"])
    with pytest.raises(FileNotFoundError, match="not the folder of a sweep"):
        skywave.Sweep.load(tmp_path / "runs")


def longest_queue(results: Results) -> float:
    return float(max(link["queue_max_packets"] for link in results.totals["links"]))


def test_a_measure_of_ones_own(base: Scenario, tmp_path: Path) -> None:
    found = sweep(base, out=tmp_path, measures=[longest_queue, "queue_max"])
    [row] = found.table.to_pylist()
    assert row["longest_queue"] == row["queue_max_packets"] > 0
    with pytest.raises(ValueError, match="define a function with a name"):
        sweep(base, out=tmp_path, measures=[lambda _: 1.0])


def test_a_function_may_make_the_scenarios(base: Scenario, tmp_path: Path) -> None:
    def made(buffer: int) -> Scenario:
        return with_field(base, "dumbbell.queue.drop-tail.packets", buffer)

    found = sweep(made, {"buffer": [5, 10]}, out=tmp_path / "one")
    same = sweep(base, {"dumbbell.queue.drop-tail.packets": [5, 10]}, out=tmp_path / "two")
    assert found.dimensions == ("buffer",)
    assert found.table["fingerprint"] == same.table["fingerprint"]
    with pytest.raises(TypeError, match="does not take what is swept"):
        sweep(made, {"rate": ["1 Mbps"]}, out=tmp_path / "three")


def test_every_form_of_the_table(base: Scenario, tmp_path: Path) -> None:
    found = sweep(base, {"dumbbell.queue.drop-tail.packets": [5, 10, 20]}, seeds=2, out=tmp_path)
    assert list(found.to_pandas().columns) == found.to_polars().columns == found.table.column_names
    cube = found.to_xarray()["goodput_bps"]
    assert cube.dims == ("packets", "seed")
    assert cube.sel(packets=10, seed=2) == found.table["goodput_bps"][3].as_py()
    assert "rate over the flow's active time" in cube.attrs["meaning"]


class Aimd(Control):
    """One packet more per window, half of them after a loss."""

    def __init__(self, decrease: float = 0.5) -> None:
        self.decrease = decrease

    def on_ack(self, ack: Ack) -> None:
        self.cwnd += ack.newly_acked / self.cwnd

    def on_loss(self, loss: Loss) -> None:
        self.cwnd = max(self.cwnd * self.decrease, 2)

    def on_timeout(self, timeout: Timeout) -> None:
        self.cwnd = 1


def test_controls_in_python_are_values(base: Scenario, tmp_path: Path) -> None:
    over = {"flows[file].transport.tcp.control": ["reno", Aimd(), Aimd(decrease=0.9)]}
    found = sweep(base, over, out=tmp_path)
    labels = found.table["control"].to_pylist()
    assert labels == ["reno", "Aimd(decrease=0.5)", "Aimd(decrease=0.9)"]
    assert len(set(found.table["fingerprint"].to_pylist())) == 3


# What is run again, and what is not.


def test_only_what_is_new_is_run(base: Scenario, tmp_path: Path) -> None:
    def files() -> dict[str, int]:
        return {file.name: file.stat().st_mtime_ns for file in (tmp_path / "runs").iterdir()}

    over: dict[str, list[object]] = {"dumbbell.queue.drop-tail.packets": [5, 10]}
    first = sweep(base, over, seeds=2, out=tmp_path)
    before = files()
    assert len(before) == 4
    again = sweep(base, over, seeds=2, out=tmp_path)
    assert again.table.equals(first.table)
    assert files() == before
    more = sweep(base, {"dumbbell.queue.drop-tail.packets": [5, 10, 15]}, seeds=3, out=tmp_path)
    assert more.table.num_rows == 9
    after = files()
    assert {name: after[name] for name in before} == before
    fewer = sweep(base, over, seeds=2, out=tmp_path)
    assert fewer.table.equals(first.table), "what is not asked for is not in the table"
    other = sweep(base.replace(duration="1 s"), over, seeds=2, out=tmp_path)
    assert set(other.table["run"].to_pylist()).isdisjoint(more.table["run"].to_pylist())


def test_another_version_of_the_simulator_is_told_apart(
    base: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, before = sweep(base, out=tmp_path), _core.ENGINE
    monkeypatch.setattr("skywave._core.ENGINE", "0.0.0+other")
    second = sweep(base, out=tmp_path)
    assert (first.engine, second.engine) == (before, "0.0.0+other")
    assert first.table["run"] != second.table["run"]
    assert len(list((tmp_path / "runs").iterdir())) == 2


def test_a_file_that_is_not_whole_is_run_again(base: Scenario, tmp_path: Path) -> None:
    first = sweep(base, seeds=3, out=tmp_path)
    one, two, _ = sorted((tmp_path / "runs").iterdir())
    one.write_bytes(one.read_bytes()[:100])
    two.write_bytes(b"")
    assert skywave.Sweep.load(tmp_path).missing == 2
    assert kept(sweep(base, seeds=3, out=tmp_path)) == kept(first)


def test_a_plan_from_before_values_had_names_is_read(base: Scenario, tmp_path: Path) -> None:
    first = sweep(base, {"dumbbell.queue.drop-tail.packets": [10, 20]}, out=tmp_path)
    plan = pq.read_table(tmp_path / "plan.parquet")
    about = json.loads(plan.schema.metadata[METADATA])
    for dimension in about["dimensions"]:
        del dimension["names"]
    pq.write_table(
        plan.replace_schema_metadata({METADATA: json.dumps(about)}), tmp_path / "plan.parquet"
    )
    assert skywave.Sweep.load(tmp_path).table.equals(first.table)


def test_a_damaged_plan_is_written_anew(base: Scenario, base_file: Path, tmp_path: Path) -> None:
    first = sweep(base, seeds=3, out=tmp_path / "out")
    (tmp_path / "out" / "sweep.json").write_text("junk")
    assert skywave.Sweep.load(tmp_path / "out").table.equals(first.table)
    (tmp_path / "out" / "plan.parquet").write_text("junk")
    assert_bad_input(
        run_cli("plot", "sweep", tmp_path / "out"), "plan.parquet is damaged: run the sweep"
    )
    ran = run_cli("sweep", base_file, "--seeds", 3, "--out", tmp_path / "out", "--json")
    assert json.loads(ran.stdout)["resumed"] == 3
    assert skywave.Sweep.load(tmp_path / "out").table.equals(first.table)


class Moody(Aimd):
    """Fails, unless the environment says otherwise."""

    def on_loss(self, loss: Loss) -> None:
        if "SKYWAVE_TEST_GOOD_MOOD" not in os.environ:
            raise RuntimeError("not in the mood")
        super().on_loss(loss)


def test_runs_that_fail_are_listed_and_tried_again(
    base: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    over = {"flows[file].transport.tcp.control": ["reno", Moody()]}
    with pytest.warns(UserWarning, match=r"2 of 4 runs failed: see .failures, or .*d;"):
        found = sweep(base, over, seeds=2, out=tmp_path)
    assert (found.table.num_rows, found.missing) == (2, 2)
    assert len(found.failures) == 2
    assert "2 of 4 runs, 2 failed" in repr(found)
    assert str(found.failures[0]).startswith("control=Moody(decrease=0.5), seed=1: RuntimeError: n")
    assert "Traceback" not in repr(found.failures)
    assert 'RuntimeError: not in the mood: in flow "file"' in found.failures[0].reason
    assert "on_loss" in found.failures[0].trace
    assert [failure.where for failure in found.failures] == [
        f"control=Moody(decrease=0.5), seed={seed}" for seed in (1, 2)
    ]
    monkeypatch.setenv("SKYWAVE_TEST_GOOD_MOOD", "yes")
    found = sweep(base, over, seeds=2, out=tmp_path)
    assert (found.table.num_rows, found.failures) == (4, [])


def test_the_command_lists_runs_that_fail(base_file: Path, tmp_path: Path) -> None:
    ran = run_cli(
        *("sweep", base_file, "--out", tmp_path / "out", "--seeds", 2),
        *("--set", "flows[file].transport.tcp.control=reno,test_sweep:Moody"),
    )
    assert ran.returncode == 1
    shown = " ".join(ran.stdout.split())
    assert (
        "2 runs failed; run the same command again to retry them: control=test_sweep:Moody" in shown
    )
    assert ".failures" not in ran.stderr, "which is for Python"


def test_progress_counts_what_was_done_before(base: Scenario, tmp_path: Path) -> None:
    steps: list[Progress] = []
    sweep(base, seeds=2, out=tmp_path)
    sweep(
        base,
        seeds=4,
        out=tmp_path,
        progress=steps.append,
    )
    assert steps == [Progress("runs", done, 4) for done in (2, 3, 4)]


# Interruptions.


def command(base_file: Path, out: Path, runs: int) -> list[str]:
    return [
        *(sys.executable, "-m", "skywave", "sweep", str(base_file)),
        *("--set", "dumbbell.queue.drop-tail.packets=5,10", "--seeds", str(runs // 2)),
        *("--out", str(out)),
    ]


def finished(out: Path) -> int:
    return len(list((out / "runs").glob("*.parquet"))) if out.exists() else 0


def wait_for(out: Path, runs: int, process: subprocess.Popen[str]) -> None:
    ends = time.monotonic() + PATIENCE_S
    while finished(out) < runs:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < ends
        time.sleep(0.005)


def test_a_sweep_that_is_interrupted_three_times_ends_as_one_that_is_not(
    base: Scenario, base_file: Path, tmp_path: Path
) -> None:
    over = {"dumbbell.queue.drop-tail.packets": [5, 10]}
    whole = sweep(base, over, seeds=RUNS // 2, out=tmp_path / "whole")
    out = tmp_path / "interrupted"
    for share, how, status in INTERRUPTIONS:
        with subprocess.Popen(
            command(base_file, out, RUNS), stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as process:
            wait_for(out, max(int(share * RUNS), finished(out) + 1), process)
            process.send_signal(how)
            _, told = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == status
        if how != signal.SIGKILL:
            done = finished(out)
            assert f"{done} of {RUNS} runs are done and kept in {out}" in told
        assert skywave.Sweep.load(out).table.num_rows == finished(out) < RUNS
    ran = run_cli(*command(base_file, out, RUNS)[3:], "--json")
    assert ran.returncode == 0, ran.stderr
    answer = json.loads(ran.stdout)
    assert answer["done"] == RUNS
    assert answer["resumed"] >= int(0.6 * RUNS)
    assert kept(skywave.Sweep.load(out)) == kept(whole)


def run_on_small_disk(disk: Path, script: str) -> subprocess.CompletedProcess[str]:
    """Run a script where ``disk`` has room for 64 kB; skip the test if that cannot be had."""
    disk.mkdir()
    mount = f"mount -t tmpfs -o size=64k none {disk}"
    alone = ["unshare", "--map-root-user", "--mount", "sh", "-c"]
    if not shutil.which("unshare") or subprocess.run([*alone, mount], check=False).returncode:
        pytest.skip("needs a mount namespace of its own")
    return subprocess.run(
        [*alone, f"{mount}\n{script}"], capture_output=True, text=True, check=True, timeout=300
    )


def test_a_full_disk_is_told_with_the_path(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    line = f"{sys.executable} -m skywave run {ROOT}/examples/tcp.toml --out {disk}/out"
    ran = run_on_small_disk(disk, f"{line} || true")
    assert ran.stderr.splitlines()[-1] == f"error: {disk}/out: No space left on device"


def test_a_full_disk_loses_nothing(base_file: Path, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    line = " ".join(f"'{part}'" for part in command(base_file, disk / "out", 100))
    script = f"""
        {line}; echo status $?
        ls {disk}/out/runs | wc -l
        mount -o remount,size=10m {disk}
        {line} --json
    """
    ran = run_on_small_disk(disk, script)
    status, before, answer = ran.stdout.split("\n", 2)
    # Progress is reported if it takes long.
    said, why, *_ = [line for line in ran.stderr.splitlines() if not line.startswith("runs: ")]
    assert f"{before} of 100 runs are done and kept in {disk}/out; make room and run the" in said
    assert re.fullmatch(rf"error: {disk}/out/runs/\w+\.parquet: No space left on device", why)
    assert "Traceback" not in ran.stderr
    assert status == "status 1"
    told = json.loads(answer)
    assert 0 < int(before) < 100
    assert told["resumed"] == int(before)
    assert told["done"] == 100


def test_tables_that_nobody_reads_change_nothing() -> None:
    """Nor does reading a table column by column."""
    scenario = evolve(
        Scenario.from_file(ROOT / "examples" / "named-drops.toml"),
        duration="3 s",
        probes=Probes(windows=True, packets=True),
    )
    text, members = scenario.to_core()
    whole = _core.run(text, members=members)
    part = _core.run(text, members=members, tables=["links", "flows", "voice"])
    assert (part.fingerprint, part.summary) == (whole.fingerprint, whole.summary)
    assert list(part.tables) == ["flows", "links"]
    assert part.table("voice") is part.table("packets") is None
    for name, key in (("flows", "flow"), ("links", "link")):
        table, batch = part.table(name), whole.tables[name]
        assert table is not None
        assert table.to_arrow() == batch
        assert table.column_names == batch.schema.names
        here, arrow = Samples(table), Samples(pa.Table.from_batches([batch]))
        assert here.groups(key).names == arrow.groups(key).names
        assert np.array_equal(here.groups(key).numbers, arrow.groups(key).numbers)
        for column in set(table.column_names) - {key}:
            assert np.array_equal(here[column], arrow[column], equal_nan=True)
        with pytest.raises(KeyError, match="mean"):
            table.numbers("mean")


def test_aggregates_by_group() -> None:
    groups = Groups(["a", "none", "b"], np.array([0, 2, 0, 2, 2], np.int32))
    values = np.array([1.0, np.nan, 4.0, 5.0, 3.0])
    assert groups.sums(np.nan_to_num(values)) == {"a": 5.0, "none": 0.0, "b": 8.0}
    largest, means = groups.largest(values), groups.means(values)
    weighted = groups.means(values, np.array([1.0, 1.0, 2.0, 0.0, 0.0]))
    assert (largest["a"], largest["b"]) == (4.0, 5.0)
    assert (means["a"], means["b"]) == (2.5, 4.0)
    assert weighted["a"] == 3.0
    # The weight of a value that is not known does not count.
    assert all(map(math.isnan, (largest["none"], means["none"], weighted["none"], weighted["b"])))
    marked = np.array([False, True, True, True, False])
    assert groups.spanned(marked).tolist() == [False, True, True, True, False]


# What it costs.


def test_the_overhead_of_runs_is_measured() -> None:
    rows = load_example("sweep_overhead").overhead(runs=3)
    assert len(rows) == 3
    assert all(min(times) > 0 for _, *times in rows)


def test_a_sweep_does_not_import_pandas(base_file: Path, tmp_path: Path) -> None:
    """That would take longer than hundreds of runs."""
    script = """
import sys, skywave
skywave.sweep(sys.argv[1], {"dumbbell.delay": ["1 ms", "2 ms"]}, out=sys.argv[2])
sys.exit("pandas" in sys.modules)
"""
    arguments = [sys.executable, "-c", script, str(base_file), str(tmp_path / "out")]
    subprocess.run(arguments, env=ENVIRONMENT, check=True, timeout=PATIENCE_S)
