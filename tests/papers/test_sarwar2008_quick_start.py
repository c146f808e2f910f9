"""Quick-Start on the link of Sarwar et al., with and without."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from attrs import evolve

from skywave import Results, ScenarioError, run
from skywave.papers.stages import run_each
from skywave.results.samples import Samples
from skywave.scenario import Dccp
from skywave_papers.sarwar2008 import further
from skywave_papers.sarwar2008.measures import RECOVERED_BPS
from skywave_papers.sarwar2008.setting import SATELLITE

if TYPE_CHECKING:
    from collections.abc import Mapping

IDLE, TOGETHER = (further.BESIDE_IT.index(case) for case in ((0, 0), (0, 2)))


@pytest.fixture(scope="module")
def results() -> Mapping[str, Results]:
    return run_each({one.name.removeprefix("sarwar2008-"): one for one in further.quick_starts()})


def test_an_idle_link_is_reached_sooner(results: Mapping[str, Results]) -> None:
    reached_s = []
    for kind in ("with", "without"):
        of_flow = results[f"quick-start-{IDLE}-{kind}"].flows_at(SATELLITE, "dccp")
        samples = Samples(of_flow)
        reached_s.append(samples["time_s"][samples["throughput_bps"] >= RECOVERED_BPS][0])
    assert reached_s[0] < reached_s[1] / 2


def test_who_asks_first_gains_and_the_others_lose(results: Mapping[str, Results]) -> None:
    assert further.gains_percent(results)[TOGETHER] > 0
    others = [
        sum(
            further.delivered(results[f"quick-start-{TOGETHER}-{kind}"], f"other-{number}")
            for number in range(2)
        )
        for kind in ("with", "without")
    ]
    assert 0 < others[0] < others[1]


def test_runs_obey_the_laws_of_physics() -> None:
    for described in further.quick_starts()[1::2]:
        described.verify_wire = True
        assert run(described, verify_physics=True).violations == []


def test_only_tfrc_asks() -> None:
    described = further.quick_start(IDLE, asks=False)
    for transport, message in (
        (Dccp(ccid=2, quick_start="1 Mbps"), "CCID 2 does not use Quick-Start"),
        (Dccp(ccid=3, quick_start="79 kbps"), "below 80 kbps"),
    ):
        described.flows = [evolve(described.flows[0], transport=transport)]
        with pytest.raises(ScenarioError, match=message):
            run(described)


def test_a_share_is_a_share() -> None:
    described = further.quick_start(IDLE, asks=True)
    for share in (0.0, 1.1, -1.0):
        described.links = [evolve(link, quick_start=share) for link in described.links]
        with pytest.raises(ScenarioError, match="quick_start"):
            run(described)
