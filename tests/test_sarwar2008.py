"""Sarwar et al. 2008: the published equations, and Figure 2."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from conftest import run_cli
from skywave.papers.sarwar2008 import cells, growth, oracle, setting

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    directory = tmp_path_factory.mktemp("reproduce") / "sarwar2008"
    done = run_cli("reproduce", "sarwar2008", "--json", "--stored-ns2", "--out", directory)
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document, directory


def test_reports_per_round_trip_time() -> None:
    """Equation 2: RTT over 100 ms, but no more reports than packets."""
    assert growth.reports_per_rtt(1.2, 50_000, 1000) == 12
    assert growth.reports_per_rtt(1.2, 5_000, 1000) == 6
    assert growth.reports_per_rtt(0.04, 1e6, 1000) == 1
    assert growth.reports_per_rtt(0.25, 1e6, 1000) == 3
    assert growth.reports_per_rtt(0.5, 1_000, 1000) == 0.5


def test_delay_until_feedback() -> None:
    """Equations 3 and 4: 2 RTT with one report, 13/12 RTT with twelve."""
    assert growth.least_delay_s(1.2) == 2.4
    assert growth.least_delay_s(1.2, 12) == pytest.approx(1.3)
    assert growth.least_delay_s(1.2, 12, receiver_delay_s=0.01) == pytest.approx(1.31)


def test_rates() -> None:
    """Equations 5 and 6: each doubling takes D_min."""
    assert growth.standard_rate(0, 1.0, 1000) == 1000
    assert growth.standard_rate(2.0, 1.0, 1000) == 2000
    assert growth.dynamic_rate(13.0, 1.2, 1000, 12) == pytest.approx(1000 * 2**10)
    assert growth.dynamic_rate(7.0, 1.0, 1000, 1) == growth.standard_rate(7.0, 1.0, 1000)


def test_time_until_the_link_is_full() -> None:
    """1 Mbps in packets of 1000 B over 1 s: 6 s between the curves, not the 14 of figure 2."""
    standard = growth.time_to_rate_s(125_000, 1.0, 1000)
    dynamic = growth.time_to_rate_s(125_000, 1.0, 1000, 10)
    assert growth.standard_rate(standard, 1.0, 1000) == pytest.approx(125_000)
    assert growth.dynamic_rate(dynamic, 1.0, 1000, 10) == pytest.approx(125_000)
    assert standard - dynamic == pytest.approx(6.27, abs=0.01)


def test_dynamic_feedback_ends_slow_start_sooner(report: tuple[dict[str, Any], Path]) -> None:
    """Less than the paper has, and with the reason beside it."""
    judged = {cell["id"]: cell for cell in report[0]["cells"]}
    assert judged["fig2/exit-order"]["verdict"] == "match"
    assert judged["fig2/exit"]["verdict"] == "mismatch"
    assert judged["fig2/exit"]["why"] == cells.EXIT_REASON
    assert judged["fig2/exit"]["ours"] > 3
    for feedback, row in cells.TABLE_1.items():
        for quantity in row:
            cell = judged[f"table1/{feedback}/{quantity.split()[0]}"]
            assert cell["ours"] is None, "an emulated link is needed first"
            assert cell["why"]


def test_standard_feedback_is_like_ns2s(report: tuple[dict[str, Any], Path]) -> None:
    """Slow start lasts as long as in ns-2's DCCP module, the mean rate is that of its TFRC."""
    for row in report[0]["comparison"]:
        alike = (row["quantity"], row["conditions"]["ns-2 agent"]) in (
            ("slow start", "DCCP"),
            ("mean throughput", "TFRC"),
        )
        assert row["verdict"] == ("match" if alike else "mismatch"), row


def test_the_report_says_what_is_missing(report: tuple[dict[str, Any], Path]) -> None:
    page = (report[1] / "report.html").read_text()
    assert "Not complete" in page
    for parameter in setting.PARAMETERS:
        assert parameter.name in page
    for name in ("figure2", "growth"):
        assert (report[1] / "figures" / f"{name}.png").is_file()


def test_only_what_is_named_varies() -> None:
    """The runs differ in feedback and in the one reading that their name gives."""
    names = [conditions.name for conditions in setting.ALL_CONDITIONS]
    assert len(set(names)) == len(names)
    for conditions in setting.ALL_CONDITIONS:
        document = setting.scenario(conditions).normalised()
        assert document["duration"] == "200 s"
        tfrc = document["flows"][0]["transport"]["dccp"]["tfrc"]
        assert tfrc["rules"] == conditions.rules
        assert ("dynamic" in tfrc["feedback"]) == (conditions.feedback == "dynamic")


def test_the_stored_answers_are_what_ns2_says() -> None:
    answers = oracle.consult(live=shutil.which("ns") is not None)
    stored = oracle.consult(live=False)
    for run, series in answers.series.items():
        golden = stored.series[run]
        for name in ("rate_bps", "throughput_bps", "drops", "reports"):
            assert np.array_equal(getattr(series, name), getattr(golden, name)), (run, name)
