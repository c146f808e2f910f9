"""Quick-Start on the link of Sarwar et al., with and without."""

from __future__ import annotations

import pytest
from attrs import evolve

from skywave import ScenarioError, run
from skywave.papers.sarwar2008 import quick_start
from skywave.papers.sarwar2008.quick_start import CASES, Case, Outcome
from skywave.scenario import Dccp


@pytest.fixture(scope="module")
def outcomes() -> list[tuple[Case, Outcome, Outcome]]:
    return quick_start.run()


def test_an_idle_link_is_reached_sooner(
    outcomes: list[tuple[Case, Outcome, Outcome]],
) -> None:
    case, without, with_it = outcomes[0]
    assert case.older == case.together == 0
    assert without.reached_s is not None
    assert with_it.reached_s is not None
    assert with_it.reached_s < without.reached_s / 2


def test_the_sentence_does_not_hold_here(
    outcomes: list[tuple[Case, Outcome, Outcome]],
) -> None:
    """The flow that asks gains in each condition; flows that ask after it may lose."""
    claim = quick_start.claim(outcomes)
    assert claim.quote == quick_start.QUOTE
    assert claim.verdict == "mismatch"
    _, without, with_it = outcomes[-1]
    assert with_it.others < without.others
    assert len(quick_start.table(outcomes).splitlines()) == len(CASES)


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
