"""The paper's question with today's TCP: CUBIC as Linux has it and BBR, without load factors.

The runs are the paper's with these controls, and with drop-tail queues as long as its routers'.
Transfers are also DPCP's with the loss recovery of Linux's TCP, which finds lost retransmissions.
Parking lots take a minute, so they are stored: ``python -m skywave.papers stored li2009/today``.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from skywave import run
from skywave.report.tables import Table
from skywave.stats import average
from skywave_papers.li2009 import measures, setting
from skywave_papers.li2009.setting import DPCP_TCP, FLOWS, VCP, VCP_TCP
from skywave_papers.vcp_scripts import TCP

if TYPE_CHECKING:
    from collections.abc import Iterable

    from skywave.scenario import Scenario
    from skywave.stats import Estimate
    from skywave_papers.li2009.stored import Lot

CONTROLS = ("cubic", "bbr")
DPCP_LINUX = "dpcp-linux"
"""DPCP over TCP with Linux's other mechanisms, behind the paper's router."""
TRANSFERS = (*CONTROLS, DPCP_LINUX)


def plan() -> dict[measures.Key[str], Scenario]:
    """Return the runs of Figures 3 to 5."""
    return {
        **{
            (control, seed): _of(control, setting.dumbbell(VCP, seed=seed))
            for control in CONTROLS
            for seed in setting.DUMBBELL_SEEDS
        },
        **{
            (control, percent, seed): _transfer(control, percent, seed)
            for control in TRANSFERS
            for percent in setting.LOSS_PERCENT
            for seed in setting.LOSS_SEEDS
        },
    }


def lot(control: str, seed: int) -> Scenario:
    """Return the parking lot of Figure 2, with 30 and 10 senders."""
    return _of(control, setting.lot(VCP, FLOWS, seed=seed))


def _transfer(control: str, percent: int, seed: int) -> Scenario:
    if control != DPCP_LINUX:
        return _of(control, setting.transfer(VCP_TCP, percent, seed))
    scenario = setting.transfer(DPCP_TCP, percent, seed)
    (flow,) = scenario.flows
    tcp = flow.transport.replace(profile="linux", recovery=None)
    name = scenario.name.replace(DPCP_TCP.name, control)
    return scenario.replace(name=name, flows=[flow.replace(transport=tcp)])


def _of(control: str, scenario: Scenario) -> Scenario:
    """Return VCP's scenario with a control of today and queues that do not signal load."""
    bottleneck = scenario.dumbbell
    tcp = TCP.replace(profile="linux", control=control, recovery=None)
    return scenario.replace(
        name=scenario.name.replace(VCP.name, control),
        dumbbell=bottleneck and bottleneck.replace(queue=setting.plain(bottleneck.queue)),
        links=[link.replace(queue=setting.plain(link.queue)) for link in scenario.links],
        flows=[flow.replace(transport=tcp) for flow in scenario.flows],
    )


@dataclass(frozen=True)
class TodaysLot:
    """The outcome of a parking lot: Long's share of L0's traffic, in percent."""

    control: str
    seed: int
    l0_long_before: float
    l0_long_after: float


def _outcome(key: tuple[str, int]) -> TodaysLot:
    link = measures.series(run(lot(*key)))["L0"]
    return TodaysLot(*key, *(link.split(period).long_percent for period in measures.PERIODS))


LOTS = Table(
    Path(__file__).with_suffix(".csv"),
    TodaysLot,
    tuple((control, seed) for control in CONTROLS for seed in setting.LOT_SEEDS),
    _outcome,
)


def long_percent(lots: Iterable[TodaysLot | Lot], period: str) -> Estimate:
    """Return Long's mean share of L0's traffic "before" or "after" L2's Local starts."""
    return average([getattr(row, f"l0_long_{period}") for row in lots])


def outcome(courses: Iterable[measures.Course], name: str) -> Estimate:
    """Return the mean of a measure over dumbbells."""
    return average([getattr(course.outcome, name) for course in courses])
