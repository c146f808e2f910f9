"""Reproducing Nor et al. 2011: every value judged by its rule, ns-2 beside it, a whole report."""

from __future__ import annotations

import html
import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet
import pytest

from conftest import (
    Reproduced,
    assert_bad_input,
    needs_ns2,
    run_cli,
    run_process,
)
from skywave import Scenario, run
from skywave.papers.ns2 import Ns2Error, Ns2Source
from skywave.papers.rules import Expectation, Rule
from skywave.report.tables import read, write
from skywave.scenario.quantities import Duration
from skywave_papers.nor2011 import further, judge, measures, oracle, readings, setting
from skywave_papers.nor2011.ledger import LEDGER

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


@pytest.mark.parametrize("value", ["ssthresh=200", "200-sooner-than-20"])
def test_a_known_mismatch_stays_visible_with_its_reason(nor2011: Reproduced, value: str) -> None:
    """A gain of some seconds is not the published minute."""
    cell = nor2011.cells[f"fig3/{value}"]
    assert cell["rule"] == "within 10 %"
    assert cell["verdict"] == "mismatch"
    assert "send queue" in cell["why"]
    page = html.unescape(nor2011.page)
    assert cell["why"] in page


SCAN = {row.send_queue: row for row in readings.SCAN.read()}
NS2_SCAN = {row.send_queue: row for row in readings.NS2_SCAN.read()}


@pytest.mark.parametrize("send_queue", [2, 16, 34])
def test_stored_send_queues_are_repeated(send_queue: int, tmp_path: Path) -> None:
    path = tmp_path / "again.csv"
    write(path, readings.SendQueue, [readings.scan(send_queue)], total=1)
    assert read(path, readings.SendQueue) == [SCAN[send_queue]]


@pytest.mark.parametrize(
    ("scanned", "send_queues"),
    [(SCAN, readings.SEND_QUEUES), (NS2_SCAN, readings.NS2_SEND_QUEUES)],
    ids=["Skywave", "ns-2"],
)
def test_no_send_queue_gives_table_1_and_100_s(
    scanned: dict[int, readings.SendQueue], send_queues: tuple[int, ...]
) -> None:
    """The reason of the mismatches. ns-2's default meets as many values as any."""
    assert tuple(scanned) == send_queues
    assert {15, 18, 20, 25, 30, 40, 50, 75, 100, 200, 1000} <= set(scanned)
    table_1_from, early_up_to = readings.conflict(list(scanned.values()))
    for send_queue, row in scanned.items():
        table_1 = all(f"table1/ssthresh={ssthresh}" in row.met for ssthresh in TABLE_1)
        assert table_1 == (send_queue >= table_1_from)
        assert ("fig3/ssthresh=200" in row.met) == (send_queue <= early_up_to)
        assert row.matches <= scanned[setting.PAPER_SEND_QUEUE].matches == 10
    assert 15 <= early_up_to < table_1_from <= 40


def test_stored_queues_are_not_renewed_from_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda _: None)
    with pytest.raises(Ns2Error):
        readings.NS2_SCAN.make(16)


def test_a_send_queue_that_meets_both_is_no_conflict() -> None:
    rows = list(SCAN.values())
    both = replace(rows[-1], cells=f"{rows[-1].cells} {readings.FULL_EARLY}")
    with pytest.raises(ValueError, match="two separate ends"):
        readings.conflict([*rows[:-1], both])


def test_a_sender_without_a_backlog_is_as_the_reasons_say() -> None:
    short = SCAN[setting.SHORT_SEND_QUEUE]
    assert "fig3/ssthresh=200" in short.met
    assert (short.full_20_s, short.full_100_s, short.full_200_s) == (152, 104, 104)


def test_bands_are_the_whole_scan() -> None:
    bands = readings.bands(list(SCAN.values()))
    assert [row for band in reversed(bands) for row in band] == list(SCAN.values())
    assert all(len({row.cells for row in band}) == 1 for band in bands)
    assert bands[0][-1].send_queue == setting.PAPER_SEND_QUEUE


def test_no_other_reading_meets_as_many_values() -> None:
    for one in readings.TABLE.read():
        assert one.matches < SCAN[setting.PAPER_SEND_QUEUE].matches


def test_ns2_changes_at_the_same_send_queues() -> None:
    """Where the scan's results change, ns-2's do."""
    for send_queue, row in NS2_SCAN.items():
        assert row.full_200_s == pytest.approx(SCAN[send_queue].full_200_s, rel=0.05)
        assert row.met == SCAN[send_queue].met


@needs_ns2
def test_the_stored_send_queues_are_what_ns2_says() -> None:
    asked = [setting.Conditions(200, send_queue=one) for one in (16, 34)]
    for conditions, series in oracle.ORACLE.run(asked).items():
        stored = NS2_SCAN[conditions.send_queue]
        assert series.full_s() == stored.full_200_s
        assert series.loss_percent_of_trace_lines() == pytest.approx(stored.loss_200, rel=1e-6)


def test_the_finding_has_the_gain_of_each_simulator(nor2011: Reproduced) -> None:
    sentence = nor2011.document["finding"]
    gain = nor2011.cells["fig3/200-sooner-than-20"]
    for key in ("published", "ours", "ns2"):
        assert f"{gain[key]:g} s" in sentence
    assert "the gain is 48 s" in sentence


def test_reasons_of_claims_are_what_runs_show() -> None:
    ramp = measures.from_results(run(setting.scenario(judge.NORMAL)))
    samples = judge.avoidance_bps(ramp)
    means = samples[: samples.size // 3 * 3].reshape(-1, 3).mean(axis=1)
    linear, _ = LEDGER.claims["claim/linear"]
    assert not Expectation.parse(linear.expect).is_met_by(judge.straightness(samples))
    assert judge.straightness(means) > 0.99
    wide = measures.from_results(run(setting.scenario(setting.WIDE_WINDOW)))
    dccp, tcp = (one.drops.sum() / one.arrivals.sum() for one in (wide.dccp, wide.tcp))
    assert dccp > 10 * tcp
    assert round(measures.LINK_BPS * 0.604 / 8 / 532) == 284


def test_the_boldest_start_falls_behind() -> None:
    """Two halvings, as the reason says: ten seconds after the start the window is the smaller."""
    windows = {}
    for ssthresh in (50, 100, 200):
        flows = run(setting.scenario(setting.Conditions(ssthresh))).flows
        at = pc.and_(pc.equal(flows["flow"], "dccp"), pc.equal(flows["time_s"], 20.0))
        (windows[ssthresh],) = flows.filter(at).to_pylist()
    cwnd = {ssthresh: row["cwnd_packets"] for ssthresh, row in windows.items()}
    assert cwnd[200] < min(cwnd[50], cwnd[100])
    # Half of half of what the burst came to, which is less than the threshold.
    assert 200 / 8 < windows[200]["ssthresh_packets"] < 200 / 4


def test_a_timeout_forgets_the_initial_ssthresh() -> None:
    windows = run(further.scenarios()["outage"]).flows.filter(pc.field("flow") == "cbr")
    at_s = {row["time_s"]: row for row in windows.to_pylist()}
    before, after = at_s[further.OUTAGE_S[0] + 1], at_s[further.OUTAGE_S[1]]
    assert after["cwnd_packets"] == 1
    assert after["ssthresh_packets"] == before["cwnd_packets"] // 2
    assert at_s[further.AFTER_TIMEOUT_S]["ssthresh_packets"] < after["ssthresh_packets"]


def test_a_link_that_is_never_full_counts_as_full_at_the_end() -> None:
    """TFRC takes long, but does fill the link."""
    scenarios = further.scenarios()
    scenarios["tfrc"].duration = Duration("50 s")
    assert further.full_after_s(run(scenarios["tfrc"])) == 50 - setting.DCCP_START_S


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
    sources = re.findall(r'(?:src|srcset|href)="([^"]+)"', page)
    assert sources
    for source in sources:
        local = source.startswith(("data:image/svg+xml;base64,", "figures/", "#"))
        assert local, source[:80]
        if source.startswith("figures/"):
            assert (nor2011.directory / source).is_file()
        if source.startswith("#"):
            assert page.count(f'id="{unquote(source[1:])}"') == 1
    assert "<script" not in page
    assert 'name="viewport"' in page
    assert page.count('class="badge') > len(nor2011.document["cells"])


def test_percentages_say_so(nor2011: Reproduced) -> None:
    headings = re.findall(r"<th[^>]*>([^<]*)</th>", nor2011.page)
    assert "Published (%)" in headings
    assert "Published %" not in headings
    shares = [heading for heading in headings if heading.startswith("Drops /")]
    assert len(shares) == 4
    assert all(heading.endswith("(%)") for heading in shares)
    units = {cell["unit"] for cell in nor2011.cells.values()}
    claims = {claim["unit"] for claim in nor2011.document["claims"]}
    assert not (units | claims) & {"index", "R squared"}, "which are no units"


def test_the_terminal_has_the_finding_and_each_reason_once(
    nor2011: Reproduced, tmp_path: Path
) -> None:
    why = nor2011.cells["fig3/ssthresh=200"]["why"]
    assert nor2011.cells["fig3/200-sooner-than-20"]["why"].startswith(why)
    done = run_cli("reproduce", "nor2011", "--stored-ns2", "--why", "--out", tmp_path / "again")
    told = " ".join(done.stdout.split())
    assert told.startswith(nor2011.document["finding"])
    assert told.count(why) == 1
    assert "As above. Even without a backlog the gain is 48 s" in told


def test_every_series_is_written_twice_and_alike(nor2011: Reproduced) -> None:
    series = nor2011.directory / "series"
    for conditions in setting.ALL_CONDITIONS:
        for table in ("flows", "links", "link_flows"):
            stem = f"{conditions.name}-{table}"
            parquet = pyarrow.parquet.read_table(series / f"{stem}.parquet")
            text = pyarrow.csv.read_csv(series / f"{stem}.csv")
            assert parquet.num_rows == text.num_rows > 0
            assert parquet.column_names == text.column_names


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


def test_stored_answers_say_that_they_are_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    """And why, unless that was asked for."""
    asked, without = "stored results of ns-2.35", "stored results of ns-2.35, because ns-2 is not"
    assert oracle.ORACLE.consult([], live=False)[1] == Ns2Source("stored", asked)
    monkeypatch.setattr("shutil.which", lambda _: None)
    source = oracle.ORACLE.consult([])[1]
    assert source.kind == "stored"
    assert source.remark.startswith(without)


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
        ("exact to 4 decimals", 0.0277, 0.02774, True),
        ("exact to 4 decimals", 0.0277, 0.0278, False),
        ("within 10 %", 160, 145, True),
        ("within 10 %", 160, 143, False),
        ("within 10 %", -10, -10.5, True),
        ("same order, by more than 1 s", 60, 7, True),
        ("same order, by more than 1 s", 60, 1, False),
        ("same order, by more than 1 s", 0, 1, True),
        ("same order, by more than 1 s", 0, -20, True),
        ("same order, by more than 1 s", 0, 2, False),
        ("within 10 percentage points", 50, 40, True),
        ("within 10 percentage points", 0, 10.5, False),
        ("at most that", 4, 4, True),
        ("at most that", 4, 4.1, False),
        ("less than that", 4, 4, False),
        ("less than that", 4, 3.9, True),
        ("more than that", 0, 0, False),
        ("more than that", 0, 0.1, True),
    ],
)
def test_a_rule_holds_where_it_says(rule: str, published: float, ours: float, holds: bool) -> None:
    assert Rule(rule).holds(published, ours) is holds


def test_a_wide_tcp_window_never_limits_as_in_ns2() -> None:
    """The section on fair sharing rests on a TCP that its window does not hold back."""
    ours = measures.from_results(run(setting.scenario(setting.WIDE_WINDOW)))
    stored, _ = oracle.ORACLE.consult(live=False)
    theirs = stored[setting.WIDE_WINDOW]
    tcp_bps, ns2_tcp_bps = (
        series.mean_bps(series.tcp, measures.ZIGZAG_FROM_S, 1000) for series in (ours, theirs)
    )
    assert tcp_bps == pytest.approx(ns2_tcp_bps, rel=0.05)


@pytest.mark.parametrize(
    ("there", "asked", "has"),
    [
        ({"papers": []}, ["nor2011"], "the report of all papers"),
        ({"paper": "nor2011"}, ["--all"], "the report of a paper"),
    ],
)
def test_the_report_of_a_paper_and_that_of_all_do_not_replace_each_other(
    there: dict[str, object], asked: list[str], has: str, tmp_path: Path
) -> None:
    report = tmp_path / "report.json"
    report.write_text(json.dumps(there))
    done = run_cli("reproduce", *asked, "--out", tmp_path)
    assert_bad_input(done, f"{tmp_path} has {has}, and stays as it is")
    assert json.loads(report.read_text()) == there


@pytest.mark.parametrize("scenario", [*map(setting.scenario, setting.ALL_CONDITIONS)])
def test_a_scenario_survives_being_written_and_read(scenario: Scenario) -> None:
    again = Scenario.from_text(scenario.to_json(), "json")
    assert again.normalised() == scenario.normalised()
