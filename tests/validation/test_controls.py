"""Each control beside its reference: the stored curves and figures of validation/controls."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from PIL import Image

from book import FIGURES, assert_drawn
from conftest import ROOT
from skywave import run
from validation.controls import figure, prague, tables
from validation.controls.cases import CASES, DURATION_S
from validation.controls.curves import SAMPLE_S, Curve

if TYPE_CHECKING:
    from pathlib import Path

HOW = "run `python -m validation.controls --simulated`"


def test_the_page_has_the_stored_table() -> None:
    assert tables.table() in (ROOT / "docs/controls.md").read_text(encoding="utf-8"), HOW


@pytest.mark.parametrize("control", CASES)
def test_ours_is_what_is_stored(control: str) -> None:
    ours = Curve.of(run(CASES[control].scenario()))
    stored = tables.stored(tables.OURS)[control]
    assert tables.lines(control, ours) == tables.lines(control, stored), HOW


@pytest.mark.parametrize("name", [tables.OURS, tables.REFERENCE])
def test_each_curve_is_stored_whole(name: str) -> None:
    curves = tables.stored(name)
    assert list(curves) == list(CASES)
    for control, curve in curves.items():
        assert curve.times_s[-1] == pytest.approx(DURATION_S), control
        assert curve.cwnd_packets.min() > 0, control


def test_no_reference_is_a_copy_of_ours() -> None:
    ours = tables.stored(tables.OURS)
    for control, curve in tables.stored(tables.REFERENCE).items():
        assert not np.array_equal(curve.cwnd_packets, ours[control].cwnd_packets), control


def test_each_control_is_in_a_figure() -> None:
    assert sorted(control for shown in figure.FIGURES.values() for control in shown) == sorted(
        CASES
    )


@pytest.mark.parametrize("name", figure.FIGURES)
def test_a_figure_shows_what_is_stored(name: str, tmp_path: Path) -> None:
    drawn = figure.write(figure.draw(name), tmp_path / "drawn.png")
    assert_drawn(drawn, FIGURES / f"{name}.png")
    with Image.open(FIGURES / f"{name}.png") as image:
        assert image.info[figure.SOURCE] == tables.digest(), HOW


def test_the_log_of_a_sender_becomes_a_curve() -> None:
    """Two full packets leave in each tenth of a second, and are acknowledged in the next one."""
    log = ["s: time, timestamp, echoed_timestamp, time_diff, seqnr, size,,,,, r, w, b, i, i, n"]
    for tenth in range(round(DURATION_S / SAMPLE_S)):
        now = 100_000 * tenth + 50_000
        log.append(f"NORMAL_ACK_r: {now}, 0, 0, 0, 0, 40, {2 * tenth}, 0, 0, 0,,,,, 2, 0, 0")
        window = 11 if tenth < 200 else 21
        log += [f"s: {now}, 0, 0, 0, 0, 1400,,,,, 9, {window}, 1, 0, 0, 0"] * 2
    log.append("s: 40050000, 0, 0, 0, 0, 14")
    curve = prague.curve(log)
    np.testing.assert_allclose(curve.cwnd_packets[[0, 199, 200]], [10.19, 10.19, 19.9], rtol=1e-3)
    np.testing.assert_allclose(curve.goodput_mbps, [0.0] + [0.224] * 399)
