"""Running scenarios: tables, totals, files, determinism, interrupts."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from conftest import EXAMPLES, assert_bad_input, run_cli
from forks import in_a_fork
from patience import PATIENCE_S
from skywave import (
    Dccp,
    DynamicFeedback,
    Probes,
    Progress,
    Results,
    Scenario,
    ScenarioError,
    Tcp,
    Tfrc,
    dumbbell,
    run,
    run_many,
)
from skywave._parallel import processors
from skywave.results.samples import Samples
from skywave.scenario.quantities import Duration

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MIX = next(path for path in EXAMPLES if path.stem == "dumbbell-mix")
DCCP = next(path for path in EXAMPLES if path.stem == "dccp")


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    mix = Scenario.from_file(MIX)
    mix.duration = Duration("20 s")
    mix.probes = Probes(interval="1 s", windows=True, packets=True)
    return mix


@pytest.fixture(scope="module")
def results(scenario: Scenario) -> Results:
    return run(scenario)


def test_the_tables_and_the_totals_agree(results: Results) -> None:
    links = results.links.to_pandas()
    flows = results.flows.to_pandas()
    assert set(results.tables) == {"flows", "links", "link_flows", "windows", "drops", "packets"}
    for link in results.totals["links"]:
        rows = links[links["link"] == link["name"]]
        assert rows["arrivals"].sum() == link["arrivals"]
        assert rows["drops"].sum() == link["drops"]
        assert rows["delivered_bytes"].sum() == link["delivered_bytes"]
        assert rows["throughput_bps"].max() <= link["rate_bps"] * 1.01
    for flow in results.totals["flows"]:
        rows = flows[flows["flow"] == flow["name"]]
        assert list(rows["time_s"]) == [float(second) for second in range(1, 21)]
        assert rows["delivered_bytes"].sum() == flow["delivered_bytes"]
    assert results.drops.num_rows == sum(link["drops"] for link in results.totals["links"])


@pytest.mark.parametrize("duration", ["700 ms", "7 s", "7.3 s"])
def test_tables_end_with_the_run(duration: str, tmp_path: Path) -> None:
    mix = Scenario.from_file(MIX)
    mix.duration = Duration(duration)
    results = run(mix)
    for name in ("flows", "links", "link_flows"):
        assert max(results.tables[name]["time_s"].to_pylist()) == mix.duration.seconds, name
    flows = results.flows.to_pandas().groupby("flow", observed=True)
    delivered = flows["delivered_packets"].sum()
    for flow in results.totals["flows"]:
        assert delivered[flow["name"]] == flow["delivered_packets"]
    for table in (results.links, results.link_flows):
        by_link = table.to_pandas().groupby("link", observed=True)[["arrivals", "drops"]].sum()
        summed = {name: tuple(sums) for name, sums in by_link.iterrows()}
        totals = {
            link["name"]: (link["arrivals"], link["drops"]) for link in results.totals["links"]
        }
        assert summed == {name: totals[name] for name in mix.probes.links}
    results.plot(out=[tmp_path / "a.svg"])
    done = run_cli("plot", "run", results.write(tmp_path / "run"))
    assert done.returncode == 0, done.stderr


def test_what_flows_carry_is_what_links_carry(results: Results) -> None:
    by_flow = results.link_flows.to_pandas().groupby(["time_s", "link"], observed=True)
    by_link = results.links.to_pandas().set_index(["time_s", "link"])
    for column in ("arrivals", "drops", "delivered", "delivered_bytes"):
        summed = by_flow[column].sum()
        assert (summed == by_link.loc[summed.index, column]).all()


def test_samples_of_a_link_are_chosen_by_name(results: Results) -> None:
    link = results.at_link("r1->r2")
    assert set(link["link"].to_pylist()) == {"r1->r2"}
    everyone, one = results.flows_at("r1->r2"), results.flows_at("r1->r2", "tcp-near")
    assert sum(everyone["arrivals"].to_pylist()) == sum(link["arrivals"].to_pylist()) > 0
    assert set(one["flow"].to_pylist()) == {"tcp-near"}
    assert 0 < sum(one["arrivals"].to_pylist()) < sum(everyone["arrivals"].to_pylist())


def test_the_same_scenario_gives_the_same_results(scenario: Scenario, results: Results) -> None:
    again = run(scenario)
    assert again.fingerprint == results.fingerprint
    assert again.totals == results.totals
    for name, table in results.tables.items():
        assert table.equals(again.tables[name]), name


def test_many_runs_are_the_single_runs_in_order(scenario: Scenario, results: Results) -> None:
    short = Scenario.from_text(scenario.to_json(), "json")
    short.duration = Duration("5 s")
    steps: list[Progress] = []
    many = list(run_many([short, scenario, short], progress=steps.append))
    assert [one.totals["duration_s"] for one in many] == [5.0, 20.0, 5.0]
    assert many[1].fingerprint == results.fingerprint
    assert many[0].fingerprint == many[2].fingerprint != results.fingerprint
    assert steps == [Progress("runs", done, 3) for done in (1, 2, 3)]


def test_many_runs_are_begun_only_a_few_ahead(scenario: Scenario) -> None:
    taken = 0

    def endless() -> Iterator[Scenario]:
        nonlocal taken
        while True:
            taken += 1
            yield scenario.replace(duration="1 s", seed=taken)

    runs = run_many(endless())
    assert [next(runs).totals["seed"] for _ in range(20)] == list(range(1, 21))
    assert taken < 20 + 5 * processors()
    runs.close()
    before = taken
    assert list(runs) == []
    assert taken == before


def test_what_was_yielded_is_kept_when_a_run_fails_or_is_interrupted(scenario: Scenario) -> None:
    short = scenario.replace(duration="1 s")
    wrong = short.replace(name="")
    kept = []
    with pytest.raises(ScenarioError, match=r"^scenarios\[1\]: name"):  # noqa: PT012
        for results in run_many([short, wrong, short]):
            kept += [results.fingerprint]
    assert len(kept) == 1

    def interrupt(step: Progress) -> None:
        if step.done == 2:
            raise KeyboardInterrupt

    # The third run would take minutes.
    long = scenario.replace(duration="3 h")
    with pytest.raises(KeyboardInterrupt):  # noqa: PT012
        for results in run_many([short, short, long], progress=interrupt):
            kept += [results.fingerprint]
    assert len(kept) == 2


def test_pandas_and_polars_hold_what_arrow_holds(results: Results) -> None:
    pandas, polars = results.to_pandas(), results.to_polars()
    for name, table in results.tables.items():
        assert list(pandas[name].columns) == table.column_names == polars[name].columns
        assert len(pandas[name]) == table.num_rows == polars[name].height
        assert polars[name]["time_s"].to_list() == table["time_s"].to_pylist()
        assert pandas[name]["time_s"].tolist() == table["time_s"].to_pylist()


def test_a_probe_that_was_off_says_how_to_turn_it_on() -> None:
    scenario = dumbbell("x", duration="1 s", rate="1 Mbps", delay="1 ms")
    scenario.add_flow("f", "s1", "d1", Tcp())
    results = run(scenario)
    with pytest.raises(AttributeError, match="Probes\\(packets=True\\)"):
        _ = results.packets
    assert not hasattr(results, "windows")
    assert hasattr(results, "drops")


def test_what_a_run_has_written_is_loaded(results: Results, tmp_path: Path) -> None:
    results.violations.append("a packet left r1->r2 twice")
    loaded = Results.load(results.write(tmp_path / "out"))
    results.violations.clear()
    assert loaded.violations == ["a packet left r1->r2 twice"]
    assert (loaded.totals, loaded.fingerprint) == (results.totals, results.fingerprint)
    assert loaded.tables.keys() == results.tables.keys()
    for name, table in results.tables.items():
        assert loaded.tables[name].equals(table, check_metadata=True), name
    with pytest.raises(FileNotFoundError, match="has no results of a run"):
        Results.load(tmp_path)


def test_progress_rises_and_may_stop_the_run(scenario: Scenario) -> None:
    seen: list[Progress] = []
    run(scenario, progress=seen.append)
    assert [step.done for step in seen] == sorted(step.done for step in seen)
    assert all(0 <= step.fraction <= 1 for step in seen)
    assert {step.total for step in seen} == {scenario.duration.seconds}

    def stop(_: Progress) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        run(scenario, progress=stop)


def test_json_is_one_document_and_the_tables_are_written(tmp_path: Path) -> None:
    directory = tmp_path / "deep" / "mix"
    done = run_cli("run", MIX, "--json", "--out", directory)
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("warning: the warm-up is inside the mean goodput of tcp-near (")
    assert done.stderr.count("\n") == 1
    document = json.loads(done.stdout)
    assert {flow["name"] for flow in document["flows"]} == {
        "tcp-near",
        "tcp-far",
        "dccp-near",
        "dccp-far",
    }
    assert document["violations"] == []
    assert len(document["fingerprint"]) == 16
    written = json.loads((directory / "totals.json").read_text())
    assert written["fingerprint"] == document["fingerprint"]
    flows = pyarrow.parquet.read_table(directory / "flows.parquet")
    assert flows.num_rows == 4 * 120
    assert (directory / "flows.csv").read_text().startswith('"time_s","flow"')
    assert [path.name for path in directory.parent.iterdir()] == ["mix"]


def test_threads_change_no_result_and_a_run_says_whether_they_helped(
    tmp_path: Path, scenario: Scenario
) -> None:
    plain = scenario.replace(probes=Probes(interval="1 s"))
    alone, shared = run(plain), run(plain, threads=3)
    assert (alone.fingerprint, alone.totals) == (shared.fingerprint, shared.totals)
    assert alone.tables == shared.tables
    assert alone.threads == {"used": 1, "shared": 0.0, "obstacle": None}
    assert shared.threads is not None
    assert shared.threads["used"] == 3
    file = tmp_path / "plain.json"
    file.write_text(plain.to_json())
    document = json.loads(run_cli("run", file, "--threads", "3", "--json").stdout)
    assert document["threads"] == shared.threads
    assert "threads" not in json.loads(run_cli("run", file, "--json").stdout)


def test_threads_that_cannot_help_are_a_warning(scenario: Scenario, tmp_path: Path) -> None:
    file = tmp_path / "in-order.json"
    file.write_text(scenario.replace(duration="1 s").to_json())
    done = run_cli("run", file, "--threads", "2")
    assert done.returncode == 0, done.stderr
    assert "--threads 2 did not help: a table" in done.stderr
    assert_bad_input(run_cli("run", file, "--threads", "0"), "--threads")
    with pytest.raises(ValueError, match="threads: expected 1 to 256, not 0"):
        run(scenario, threads=0)


def test_a_table_without_rows_is_written_with_its_columns(tmp_path: Path) -> None:
    scenario = dumbbell("clean", duration="2 s", rate="2 Mbps", delay="10 ms")
    scenario.add_flow("call", "s1", "d1", Tcp())
    results = run(scenario)
    assert results.drops.num_rows == 0
    results.write(tmp_path / "out")
    for name, table in results.tables.items():
        stored = pyarrow.parquet.read_table(tmp_path / "out" / f"{name}.parquet")
        assert stored.equals(table), name
        header = (tmp_path / "out" / f"{name}.csv").read_text().partition("\n")[0]
        assert header == ",".join(f'"{column}"' for column in table.column_names), name
    assert (
        run_cli("plot", "run", tmp_path / "out", "--output", tmp_path / "run.svg").returncode == 0
    )


def test_writing_again_replaces_and_keeps_what_is_not_ours(
    results: Results, tmp_path: Path
) -> None:
    results.write(tmp_path)
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "totals.json").write_text("old")
    results.write(tmp_path)
    assert json.loads((tmp_path / "totals.json").read_text())["name"] == "dumbbell-mix"
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_tables_for_people_have_units(tmp_path: Path) -> None:
    done = run_cli("run", MIX, "--out", tmp_path / "mix")
    assert done.returncode == 0, done.stderr
    for label in ("(Mbps)", "(%)", "(s)", "counts are packets", "tcp-near", "r1->r2"):
        assert label in done.stdout


def test_an_interrupt_leaves_nothing_behind(tmp_path: Path) -> None:
    """The scenario comes through a pipe, so that we know when the command has begun."""
    text = MIX.read_text().replace('duration = "120 s"', 'duration = "1000000 s"')
    pipe = tmp_path / "scenario.toml"
    os.mkfifo(pipe)
    directory = tmp_path / "out"
    command = [sys.executable, "-m", "skywave", "run", str(pipe), "--out", str(directory)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        pipe.write_text(text)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130
    assert stderr == "interrupted\n"
    assert [path.name for path in tmp_path.iterdir()] == ["scenario.toml"]


@pytest.fixture
def full_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk with room for little more than a page."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=8k", "none", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("only root may mount a small disk")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_a_full_disk_loses_no_results(full_disk: Path) -> None:
    done = run_cli("run", MIX, "--out", full_disk / "mix")
    assert done.returncode == 1
    assert "tcp-near" in done.stdout
    assert done.stderr == f"error: {full_disk / 'mix'}: No space left on device\n"
    assert list(full_disk.iterdir()) == []
    (full_disk / "filling").write_bytes(bytes(8192))
    assert_bad_input(run_cli("run", MIX, "--out", full_disk / "mix"), "No space left on device")


def test_a_log_on_a_full_disk_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "video.sqlog").symlink_to("/dev/full")
    done = run_cli("run", DCCP, "--qlog", tmp_path)
    assert_bad_input(done, 'the qlog file of flow "video"', "No space left on device")


def test_a_run_that_is_refused_leaves_no_directory_of_logs(tmp_path: Path) -> None:
    logs = tmp_path / "of" / "flows"
    done = run_cli("run", DCCP, "--qlog", logs, "--capture", f"r1->r9={tmp_path / 'x.pcapng'}")
    assert_bad_input(done, "r1->r9")
    assert list(tmp_path.iterdir()) == []


def test_a_narrow_terminal_cuts_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    wide = run_cli("run", MIX).stdout
    rows = [line.split() for line in wide.splitlines() if line.startswith(("tcp-near", "r1->r2"))]
    assert [len(row) for row in rows] == [9, 7]
    monkeypatch.setenv("COLUMNS", "40")
    narrow = run_cli("run", MIX).stdout.splitlines()
    for name, *cells in rows:
        parts = [line.split() for line in narrow if line.split()[:1] == [name]]
        assert len(parts) > 1
        assert [cell for part in parts for cell in part[1:]] == cells
    assert all(len(line) <= 40 for line in narrow if line.startswith(("tcp-near", "r1->r2")))


def test_flows_are_logged_for_qvis(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    done = run_cli("run", DCCP, "--qlog", logs, "--json")
    assert done.returncode == 0, done.stderr
    flows = {flow["name"]: flow for flow in json.loads(done.stdout)["flows"]}
    assert {file.name for file in logs.iterdir()} == {f"{name}.sqlog" for name in flows}
    for name, flow in flows.items():
        text = (logs / f"{name}.sqlog").read_text()
        header, *events = map(json.loads, text.split("\x1e")[1:])
        assert (header["qlog_version"], header["qlog_format"]) == ("0.3", "JSON-SEQ")
        sent = [event for event in events if event["name"] == "transport:packet_sent"]
        data = [event for event in sent if event["data"]["raw"]["payload_length"]]
        assert len(data) == flow["packets_sent"]
        assert any(event["name"] == "recovery:metrics_updated" for event in events)


def test_a_captured_link_can_be_decoded(tmp_path: Path) -> None:
    file = tmp_path / "bottleneck.pcapng"
    done = run_cli("run", DCCP, "--capture", f"r1->r2={file}", "--json")
    assert done.returncode == 0, done.stderr
    link = next(link for link in json.loads(done.stdout)["links"] if link["name"] == "r1->r2")
    frames = json.loads(run_cli("decode", file, "--json").stdout)["frames"]
    assert len(frames) == link["delivered"]
    assert {frame["protocol"] for frame in frames} == {"DCCP"}


@pytest.mark.parametrize(
    ("capture", "message"),
    [("r1->r9={file}", 'there is no link "r1->r9"'), ("{file}", "is not LINK=FILE")],
)
def test_a_capture_that_cannot_be_made_is_one_line(
    capture: str, message: str, tmp_path: Path
) -> None:
    file = tmp_path / "capture.pcapng"
    done = run_cli("run", DCCP, "--capture", capture.format(file=file))
    assert_bad_input(done, message)
    assert not file.exists()


def test_a_run_that_fails_keeps_the_capture_that_was_there(tmp_path: Path) -> None:
    file = tmp_path / "capture.pcapng"
    file.write_text("mine")
    assert_bad_input(run_cli("run", DCCP, "--capture", f"r1->r9={file}"), "r1->r9")
    assert file.read_text() == "mine"
    assert list(tmp_path.iterdir()) == [file]


def test_two_links_do_not_share_a_capture(tmp_path: Path) -> None:
    file = tmp_path / "capture.pcapng"
    both = ["--capture", f"r1->r2={file}", "--capture", f"r2->r1={file}"]
    assert_bad_input(run_cli("run", DCCP, *both), "each link one file")
    assert not file.exists()


def test_rates_of_a_tfrc_flow_and_the_price_of_its_feedback() -> None:
    """X, X_recv, p and R at each report; what goes back is counted on the links there."""
    feedback = {"standard": Tfrc().feedback, "dynamic": DynamicFeedback()}
    reports = {}
    for name, schedule in feedback.items():
        scenario = dumbbell(
            name,
            duration="60 s",
            rate="1 Mbps",
            delay="490 ms",
            queue=50,
            access_delays=("5 ms",),
            probes=Probes(rates=True),
        )
        tfrc = Tfrc(rules="rfc3448", feedback=schedule, receiver_rtt="option")
        scenario.add_flow("satellite", "s1", "d1", Dccp(ccid=3, tfrc=tfrc))
        ran = run(scenario)
        rates = ran.rates.to_pandas()
        assert set(rates["flow"]) == {"satellite"}
        assert (rates["rate_bps"] > 0).all()
        assert (rates["rtt_s"].dropna() > 0.9).all()
        assert rates["loss_event_rate"].between(0, 1).all()
        assert rates["reports"].is_monotonic_increasing
        back = ran.link_flows.to_pandas().query("link == 'r2->r1' and flow == 'satellite'")
        reports[name] = int(rates["reports"].max())
        assert back["delivered"].sum() >= reports[name]
        assert back["delivered_bytes"].sum() > 40 * reports[name]
    assert reports["dynamic"] > 5 * reports["standard"]


def test_many_runs_in_a_fork_of_a_process_that_has_run_many(scenario: Scenario) -> None:
    [before, _] = run_many([scenario, scenario])

    def child() -> None:
        [here, _] = run_many([scenario, scenario])
        assert here.fingerprint == before.fingerprint

    in_a_fork(child)


def contents(directory: Path) -> dict[Path, bytes]:
    return {file: file.read_bytes() for file in directory.rglob("*") if file.is_file()}


@pytest.mark.parametrize("command", ["run", "sweep"])
@pytest.mark.parametrize(
    ("names", "says"),
    [
        (["flows.csv"], "other files (flows.csv)"),
        (["totals.json"], "other files (totals.json)"),
        (["a", "b", "c", "d"], "other files (a, b, c, and 1 more)"),
        (["report.json", "figures/one.pdf"], "the report of a paper"),
    ],
)
def test_results_never_land_among_the_files_of_others(
    base_file: Path, tmp_path: Path, command: str, names: list[str], says: str
) -> None:
    out = tmp_path / "out"
    for name in names:
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_text("mine")
    before = contents(out)
    done = run_cli(command, base_file, "--out", out)
    assert_bad_input(done, f"{out} has {says}", "an empty folder or a new one")
    assert contents(out) == before


def test_a_run_and_a_sweep_do_not_share_a_folder(base_file: Path, tmp_path: Path) -> None:
    for mine, other, says in (
        ("sweep", "run", "a sweep"),
        ("run", "sweep", "the results of a run"),
    ):
        out = tmp_path / mine
        assert run_cli(mine, base_file, "--out", out).returncode == 0
        before = contents(out)
        assert_bad_input(run_cli(other, base_file, "--out", out), f"{out} has {says}")
        assert contents(out) == before
        # Its own results are another matter.
        again = run_cli(mine, base_file, "--out", out)
        assert again.returncode == 0
        if mine == "run":
            assert f"{out} has the results of a run: replaced at the end" in again.stderr


def test_python_does_not_write_a_run_into_the_folder_of_others(
    results: Results, tmp_path: Path
) -> None:
    (tmp_path / "flows.csv").write_text("mine")
    with pytest.raises(FileExistsError, match="other files"):
        results.write(tmp_path)


@pytest.mark.parametrize(
    "column",
    [
        pa.array([1.5, None, 3.0]),
        pa.array([1, 2, 3]),
        pa.array([None, 5], pa.uint64()),
        pa.array([], pa.float64()),
        pa.array([1.0, None, 2.0, None])[1:3],
        pa.chunked_array([[1.0], [None, 4.0]]),
    ],
)
def test_samples_are_the_numbers_of_a_column_and_nan(column: pa.Array) -> None:
    found = Samples(pa.table({"value": column}))["value"]
    np.testing.assert_array_equal(found, np.array(column.to_pylist(), dtype=float))
