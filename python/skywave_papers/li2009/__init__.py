"""Li and Yousefi'zadeh 2009: MPCP, a load factor encoded in a chain of packets, beside VCP."""

from __future__ import annotations

from typing import Any

from skywave.papers.measures import Measure
from skywave.papers.protocol import Paper
from skywave_papers.li2009 import (
    experiments,
    figures,
    judge,
    matrix,
    measures,
    setting,
    stored,
    today,
)
from skywave_papers.li2009.ledger import LEDGER
from skywave_papers.li2009.setting import AGGREGATES, DPCP, DPCP_DCCP, READINGS, VCP

FEW_FLOWS = 2
"""The most flows on a dumbbell that the report counts as few."""


def _sections(measured: judge.Measurements) -> dict[str, Any]:
    """Return what else the report needs."""
    # An aggregate can also be one sender, and DPCP can be over DCCP.
    other = judge.published(measured.ours, AGGREGATES, DPCP_DCCP)
    quicker = stored.ratios(VCP, DPCP, "transition_s")
    return {
        "judge": judge,
        "measures": measures,
        "setting": setting,
        "stored": stored,
        "today": today,
        "labels": {reading.name: reading.label for reading in READINGS},
        "quicker_few": [one for network, one in quicker.items() if network.flows <= FEW_FLOWS],
        "quicker_many": [one for network, one in quicker.items() if network.flows > FEW_FLOWS],
        "queue_ratios": list(stored.ratios(DPCP, VCP, "queue").values()),
        "unjudged": {
            test: Measure.of(value)
            for test, value in other.items()
            if test.startswith(("fig2", "fig4")) and test != "fig4/gap"
        },
        "would_match": LEDGER.met(other),
    }


PAPER = Paper(
    protocol=2,
    package=__name__,
    ledger=LEDGER,
    run=experiments.run,
    measures=judge.measure,
    figures=figures.draw,
    readings=lambda _: experiments.TABLE.read(),
    sections=_sections,
    stored=(
        stored.DUMBBELLS,
        stored.LOTS,
        stored.SWEEP,
        stored.SHORT,
        today.LOTS,
        experiments.TABLE,
    ),
    network=matrix.NETWORK,
)
