"""Quick-Start on the link of Sarwar et al., with and without."""

from __future__ import annotations

import pytest
from attrs import evolve

from skywave import ScenarioError, run
from skywave.papers.stages import run_each
from skywave.scenario import Dccp
from skywave_papers.sarwar2008 import quick_start
from skywave_papers.sarwar2008.quick_start import CASES, QuickStartGain


@pytest.fixture(scope="module")
def compared() -> list[QuickStartGain]:
    return quick_start.measure(run_each(quick_start.scenarios()))


def test_an_idle_link_is_reached_sooner(compared: list[QuickStartGain]) -> None:
    idle = compared[0]
    assert idle.case.older == idle.case.together == 0
    assert idle.without.reached_s is not None
    assert idle.with_it.reached_s is not None
    assert idle.with_it.reached_s < idle.without.reached_s / 2


def test_who_asks_first_gains_and_the_others_lose(compared: list[QuickStartGain]) -> None:
    together = compared[-1]
    assert together.case.together > 0
    assert together.gain_percent > 0
    assert together.with_it.others < together.without.others


def test_runs_obey_the_laws_of_physics() -> None:
    for case in CASES:
        described = quick_start.scenario(case, quick_start=True)
        described.verify_wire = True
        assert run(described, verify_physics=True).violations == []


def test_only_tfrc_asks() -> None:
    described = quick_start.scenario(CASES[0], quick_start=False)
    for transport, message in (
        (Dccp(ccid=2, quick_start="1 Mbps"), "CCID 2 does not use Quick-Start"),
        (Dccp(ccid=3, quick_start="79 kbps"), "below 80 kbps"),
    ):
        described.flows = [evolve(described.flows[0], transport=transport)]
        with pytest.raises(ScenarioError, match=message):
            run(described)


def test_a_share_is_a_share() -> None:
    described = quick_start.scenario(CASES[0], quick_start=True)
    for share in (0.0, 1.1, -1.0):
        described.links = [evolve(link, quick_start=share) for link in described.links]
        with pytest.raises(ScenarioError, match="quick_start"):
            run(described)
