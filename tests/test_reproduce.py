"""Reproducing Nor et al. 2011: every value judged by its rule, ns-2 beside it, a whole report."""

from __future__ import annotations

import html
import json
import re
from typing import TYPE_CHECKING

import pyarrow.csv
import pyarrow.parquet
import pytest

from conftest import Reproduced, assert_figures_are_whole, needs_ns2, run_process
from skywave import Scenario, run
from skywave.papers.cells import Exact, SameOrder, Within
from skywave.papers.nor2011 import measures, oracle, setting

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CELL_KEYS = {"id", "conditions", "unit", "published", "ours", "ns2", "rule", "verdict", "why"}
TABLE_1 = {20: 0.0014, 50: 0.0015, 100: 0.0107, 200: 0.0277}


@pytest.fixture(scope="module")
def nor2011(reproduced: Callable[[str], Reproduced]) -> Reproduced:
    return reproduced("nor2011")


def test_every_cell_has_what_is_asked_for(nor2011: Reproduced) -> None:
    for cell in nor2011.document["cells"]:
        assert set(cell) >= CELL_KEYS
        assert cell["verdict"] in ("match", "mismatch")
        assert (cell["why"] is None) == (cell["verdict"] == "match")
        assert cell["rule"]
        assert cell["unit"]
    assert len(nor2011.cells) == len(nor2011.document["cells"])


@pytest.mark.parametrize("ssthresh", TABLE_1)
def test_table_1_is_reproduced(nor2011: Reproduced, ssthresh: int) -> None:
    cell = nor2011.cells[f"table1/ssthresh={ssthresh}"]
    assert cell["published"] == TABLE_1[ssthresh]
    assert cell["unit"] == "%"
    assert abs(cell["ours"] - cell["published"]) <= 0.15 * cell["published"]
    assert cell["verdict"] == "match"


def test_more_than_200_gives_nothing(nor2011: Reproduced) -> None:
    for beyond in (400, 65535):
        assert nor2011.cells[f"fig3/{beyond}-no-better"]["verdict"] == "match"


def test_the_known_mismatch_stays_visible_with_its_reason(nor2011: Reproduced) -> None:
    cell = nor2011.cells["fig3/ssthresh=200"]
    assert cell["verdict"] == "mismatch"
    assert "send queue" in cell["why"]
    page = html.unescape(nor2011.page)
    assert cell["why"] in page


def test_throughput_and_loss_are_within_5_percent_of_ns2(nor2011: Reproduced) -> None:
    rows = nor2011.document["comparison"]
    quantities = {(row["conditions"]["experiment"], row["quantity"]) for row in rows}
    for experiment in (1, 2):
        for quantity in ("DCCP throughput", "TCP throughput", "DCCP packet loss"):
            assert (experiment, quantity) in quantities
    for row in rows:
        assert row["limit_percent"] == 5
        assert abs(row["difference_percent"]) <= 5, row
        assert row["verdict"] == "match"


def test_nothing_is_tuned_per_cell() -> None:
    """Among the runs of the paper's values only ssthresh and the duration differ."""
    documents = []
    for conditions in (setting.EXPERIMENT_1, *setting.EXPERIMENT_2):
        document = setting.scenario(conditions).normalised()
        assert document.pop("duration") == (
            "1000 s" if "experiment1" in conditions.name else "200 s"
        )
        document.pop("name")
        dccp = document["flows"][0]["transport"]["dccp"]
        assert dccp.pop("initial_ssthresh") == conditions.ssthresh
        documents.append(document)
    assert all(document == documents[0] for document in documents)


def test_the_report_is_self_contained(nor2011: Reproduced) -> None:
    page = nor2011.page
    sources = re.findall(r'(?:src|href)="([^"]+)"', page)
    for source in sources:
        local = source.startswith(("data:image/svg+xml;base64,", "figures/"))
        assert local, source[:80]
        if source.startswith("figures/"):
            assert (nor2011.directory / source).is_file()
    assert "<script" not in page
    assert 'name="viewport"' in page
    for parameter in setting.PARAMETERS:
        assert parameter.name in page
    assert page.count('class="badge') > len(nor2011.document["cells"])


def test_every_series_is_written_twice_and_alike(nor2011: Reproduced) -> None:
    series = nor2011.directory / "series"
    for conditions in setting.ALL_CONDITIONS:
        for table in ("flows", "links", "link_flows"):
            stem = f"{conditions.name}-{table}"
            parquet = pyarrow.parquet.read_table(series / f"{stem}.parquet")
            text = pyarrow.csv.read_csv(series / f"{stem}.csv")
            assert parquet.num_rows == text.num_rows > 0
            assert parquet.column_names == text.column_names


def test_no_figure_is_cut_off(nor2011: Reproduced) -> None:
    assert_figures_are_whole(nor2011.directory)


def test_a_written_scenario_repeats_its_run(nor2011: Reproduced) -> None:
    conditions = setting.Conditions(200)
    scenario = Scenario.from_file(nor2011.directory / "scenarios" / f"{conditions.name}.json")
    again = measures.from_results(run(scenario))
    cell = nor2011.cells["table1/ssthresh=200"]
    assert again.loss_percent_of_trace_lines() == cell["ours"]


def test_the_command_repeats_the_reproduction(nor2011: Reproduced, tmp_path: Path) -> None:
    directory = tmp_path / "again"
    done = run_process("reproduce", "nor2011", "--json", "--stored-ns2", "--out", directory)
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    assert printed.pop("report") == str(directory / "report.html")
    assert printed == nor2011.document
    for name in ("report.json", "figures/figure3.png", "series/experiment1-flows.csv"):
        first = (nor2011.directory / name).read_bytes()
        assert (directory / name).read_bytes() == first, name


def test_the_stored_answers_are_those_of_the_reading() -> None:
    """The rows of the reading of Table 1, counted from ns-2's traces."""
    stored, _ = oracle.ORACLE.consult(live=False)
    drops = {20: 2, 50: 2, 100: 16, 200: 39, 400: 39, 65535: 39}
    full_s = {20: 152, 50: 134, 100: 134, 200: 145, 400: 145, 65535: 145}
    for conditions in setting.EXPERIMENT_2:
        series = stored[conditions]
        assert series.dccp.drops.sum() == drops[conditions.ssthresh]
        assert series.full_s() == full_s[conditions.ssthresh]


@needs_ns2
def test_the_stored_answers_are_what_ns2_says() -> None:
    """One row of Table 1: all twelve runs take ns-2 the better part of a minute."""
    asked = setting.Conditions(200)
    answers, source = oracle.ORACLE.consult([asked])
    assert source.kind == "live"
    assert list(answers) == [asked]
    series, golden = answers[asked], oracle.ORACLE.consult([asked], live=False)[0][asked]
    assert series.receive_events == golden.receive_events
    assert (series.dccp.throughput_bps == golden.dccp.throughput_bps).all()
    assert (series.tcp.throughput_bps == golden.tcp.throughput_bps).all()
    assert (series.dccp.drops == golden.dccp.drops).all()


@pytest.mark.parametrize(
    ("rule", "published", "ours", "holds"),
    [
        (Exact(4), 0.0277, 0.02774, True),
        (Exact(4), 0.0277, 0.0278, False),
        (Within(10), 160, 145, True),
        (Within(10), 160, 143, False),
        (Within(10), -10, -10.5, True),
        (SameOrder(1, "s"), 60, 7, True),
        (SameOrder(1, "s"), 60, 1, False),
        (SameOrder(1, "s"), 0, 1, True),
        (SameOrder(1, "s"), 0, -20, True),
        (SameOrder(1, "s"), 0, 2, False),
    ],
)
def test_a_rule_holds_where_it_says(
    rule: Exact | Within | SameOrder, published: float, ours: float, holds: bool
) -> None:
    assert rule.holds(published, ours) is holds


def test_a_wide_tcp_window_never_limits_as_in_ns2() -> None:
    """The section on fair sharing rests on a TCP that its window does not hold back."""
    ours = measures.from_results(run(setting.scenario(setting.WIDE_WINDOW)))
    stored, _ = oracle.ORACLE.consult(live=False)
    theirs = stored[setting.WIDE_WINDOW]
    tcp_bps, ns2_tcp_bps = (
        series.mean_bps(series.tcp, measures.ZIGZAG_FROM_S, 1000) for series in (ours, theirs)
    )
    assert tcp_bps == pytest.approx(ns2_tcp_bps, rel=0.05)
