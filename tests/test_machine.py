"""What others take of the processors' time, from two samples of /proc/stat."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skywave import _machine
from skywave._machine import Shares, Ticks, shares

if TYPE_CHECKING:
    from pathlib import Path

BEFORE = "cpu  10 0 20 30 0 0 5 5 7 0\ncpu0 1 2 3\n"
AFTER = "cpu  20 0 40 50 0 0 10 50 9 0\n"


def test_shares_are_of_all_processors_time() -> None:
    before, after = Ticks.read(BEFORE), Ticks.read(AFTER)
    assert before == Ticks(all=70, busy=35, stolen=5)
    assert after == Ticks(all=170, busy=70, stolen=50)
    assert shares(before, after, own=15) == Shares(stolen=0.45, others=0.2)


def test_idle_time_is_not_used_by_others() -> None:
    before, after = Ticks.read("cpu 1 1 1 10 20 1 1 0"), Ticks.read("cpu 1 1 1 90 40 1 1 0")
    assert shares(before, after, own=0) == Shares(stolen=0.0, others=0.0)


def test_shares_are_never_negative() -> None:
    """Ticks are coarse: what we used ourselves may be more than what was counted."""
    assert shares(Ticks.read(BEFORE), Ticks.read(AFTER), own=40).others == 0.0


def test_nothing_is_said_of_no_time() -> None:
    before = Ticks.read(BEFORE)
    assert shares(before, before, own=0) == Shares(stolen=None, others=None)


@pytest.mark.parametrize(
    "text", ["", "\n", "intr 1 2", "cpu  1 2 3", "cpu  1 2 3 4 5 6 7 x", "cpu0 1 2 3 4 5 6 7 8"]
)
def test_other_texts_have_no_ticks(text: str, tmp_path: Path) -> None:
    assert Ticks.read(text) is None
    stat = tmp_path / "stat"
    stat.write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_machine, "STAT", stat)
        assert _machine.Watch().shares() == Shares(stolen=None, others=None)
