"""Li and Yousefi'zadeh 2009: MPCP, a load factor encoded in a chain of packets, beside VCP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from skywave.papers.citation import Citation
from skywave.papers.protocol import Paper, Ran
from skywave.papers.reproduction import Finding, Ns2Source
from skywave.papers.stages import run_plans, stage
from skywave.stats import average
from skywave_papers.li2009 import (
    cells,
    claims,
    experiments,
    figures,
    further,
    loads,
    lossy,
    matrix,
    parking,
    published,
    reasons,
    said,
    sentences,
    setting,
    tried,
    variants,
)
from skywave_papers.li2009.cells import Ours
from skywave_papers.li2009.experiments import PUBLISHED_LOTS
from skywave_papers.li2009.setting import (
    CARRIERS,
    DEFAULT,
    DPCP,
    DPCP_TCP,
    DUMBBELL_SEEDS,
    FLOWS,
    LOSS_PERCENT,
    LOSS_SEEDS,
    LOT_SEEDS,
    READINGS,
    VCP,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skywave.papers.cells import Cell
    from skywave.papers.protocol import Options
    from skywave.results import Results
    from skywave.scenario import Scenario
    from skywave.stats import Average
    from skywave_papers.li2009.further import Further
    from skywave_papers.li2009.parking import LinkSeries
    from skywave_papers.li2009.setting import Reading, Scheme

NO_NS2 = Ns2Source("stored", "has neither VCP nor MPCP, so it has no results")
SHOWN_LOSS_PERCENT = 30
"""The loss rate of the transfers whose series are written; of DPCP over TCP, packets too."""


@dataclass(frozen=True)
class Measured:
    """Figures 2 to 5, additional measurements of their runs, and the stored variants.

    ``series`` has the parking lots of one seed, which the figures show.
    """

    ours: Ours
    series: Mapping[tuple[Scheme, Reading], Mapping[str, LinkSeries]]
    vcp_shares: Mapping[int, Average]
    loads: Mapping[tuple[Scheme, Reading], loads.Loads]
    lots: Sequence[variants.Lot]
    dumbbells: Sequence[variants.Dumbbell]
    further: Further


def _run(options: Options) -> Ran[Measured]:
    """Run the experiments of Figures 2 to 5, the parking lots with one seed, and single flows.

    The parking lots of the other seeds are stored, since they take minutes.
    """
    lots, looks = (
        {
            (scheme, reading): of(scheme, reading)
            for reading in READINGS
            for scheme in PUBLISHED_LOTS
        }
        for of in (setting.lot, setting.lot_by_intervals)
    )
    dumbbells, transfers = experiments.dumbbells(DEFAULT), experiments.transfers(DEFAULT)
    singles = further.scenarios()
    lot_results, look_results, dumbbell_results, transfer_results, single_results = run_plans(
        lots, looks, dumbbells, transfers, singles, progress=stage(options.progress, "Skywave")
    )
    stored_lots = variants.LOTS.read()
    ours = Ours(
        lots=variants.by_protocol(stored_lots),
        dumbbells=experiments.courses(dumbbell_results),
        transfers=experiments.times(transfer_results),
    )
    # Of each kind, write the runs of one seed and loss rate.
    shown: dict[str, tuple[Scenario, Results]] = {
        **{
            f"lot-{scheme.name}-{reading.name}": (scenario, lot_results[scheme, reading])
            for (scheme, reading), scenario in lots.items()
        },
        **{
            f"dumbbell-{scheme.name}": (scenario, dumbbell_results[scheme, seed])
            for (scheme, seed), scenario in dumbbells.items()
            if seed == min(DUMBBELL_SEEDS)
        },
        **{
            f"loss{SHOWN_LOSS_PERCENT}-{carrier.name}": (
                scenario,
                transfer_results[carrier, percent, seed],
            )
            for (carrier, percent, seed), scenario in transfers.items()
            if (percent, seed) == (SHOWN_LOSS_PERCENT, min(LOSS_SEEDS))
        },
    }
    vcp_shares = {
        percent: average(
            [
                lossy.vcp_share(transfer_results[DPCP_TCP, percent, seed].packets)
                for seed in LOSS_SEEDS
            ]
        )
        for percent in LOSS_PERCENT
    }
    return Ran(
        measured=Measured(
            ours,
            {key: experiments.shown_links(run) for key, run in lot_results.items()},
            vcp_shares,
            loads={key: loads.loads(run) for key, run in look_results.items()},
            lots=stored_lots,
            dumbbells=variants.DUMBBELLS.read(),
            further=further.read(further.measure(single_results)),
        ),
        scenarios={name: scenario for name, (scenario, _) in shown.items()},
        results={name: results for name, (_, results) in shown.items()},
        ns2=NO_NS2,
    )


def _cells(measured: Measured) -> list[Cell]:
    return cells.published_cells(measured.ours, measured.lots, measured.dumbbells)


def _claims(measured: Measured) -> list[Cell]:
    """Judge what the paper says elsewhere than in its figures."""
    return claims.further_claims(
        measured.ours,
        measured.lots,
        measured.loads,
        measured.vcp_shares,
        measured.dumbbells,
        measured.further,
    )


def _finding(measured: Measured) -> Finding:
    """Say what the finer signal changes where it should help most, and where it does not."""
    courses = measured.ours.dumbbells

    def percent(scheme: Scheme) -> float:
        return said.lot_means(measured.lots, scheme, FLOWS)[0]

    def used(scheme: Scheme) -> float:
        return float(np.mean([course.steady_utilisation_percent for course in courses[scheme]]))

    fills_s = [said.transition_s(courses[scheme]) for scheme in (VCP, DPCP)]
    return Finding(
        "When routers report congestion in nine steps instead of three and senders speed up "
        "without fixed limits, transfers over four slow, distant links get "
        f"{percent(DPCP):.0f} % of a link that they share with nearby ones, "
        f"where they got {percent(VCP):.0f} % (the paper expects "
        f"{published.DPCP_L0_PERCENT[0]:.0f} % and has {published.VCP_L0_PERCENT:.0f} %). A new "
        "transfer gets up to speed "
        f"{fills_s[0] / fills_s[1]:.1f} times as fast (published: "
        f"{published.VCP_TRANSITION_S / published.DPCP_TRANSITION_S:.0f} times), but alone it then "
        f"uses {used(DPCP):.0f} % of the link, where the old protocol uses {used(VCP):.0f} %; the "
        "paper reports the opposite.",
        "finding",
        "Routers that signal nine levels of load (DPCP) instead of three (VCP) do give flows over "
        f"four slow links their part: {percent(DPCP):.0f} % of a shared link instead of "
        f"{percent(VCP):.0f} % (the paper expects {published.DPCP_L0_PERCENT[0]:.0f} % "
        f"and has {published.VCP_L0_PERCENT:.0f} %). But a single flow uses {used(DPCP):.0f} % of "
        f"its link under DPCP and {used(VCP):.0f} % under VCP, where the paper has DPCP higher.",
    )


def _readings(measured: Measured) -> list[dict[str, Any]]:
    """Return the parking lot's rows for each reading of its traffic."""
    return [
        said.lot_row(scheme, reading, link, measured.series[scheme, reading])
        for reading in READINGS
        for scheme in PUBLISHED_LOTS
        for link in setting.SHOWN_LINKS
    ]


def _sections(measured: Measured) -> dict[str, Any]:
    """Return the values of this report's own sections."""
    lots, dumbbells = measured.lots, measured.dumbbells
    return {
        "warm_s": parking.WARM_S,
        "looked_at_s": setting.LOOKED_AT_S,
        "looked_at_from_s": setting.LOOKED_AT_FROM_S,
        "loads": measured.loads,
        "seeds": len(LOSS_SEEDS),
        "file_kb": setting.FILE_B // 1000,
        "carriers": CARRIERS,
        "transfers": [
            {
                "percent": percent,
                "times": [measured.ours.transfers[carrier][percent] for carrier in CARRIERS],
                "vcp_share": measured.vcp_shares[percent],
            }
            for percent in LOSS_PERCENT
        ],
        "lots": lots,
        "dumbbells": dumbbells,
        "said": said.of_lots(lots),
        "said_of_dumbbells": said.of_dumbbells(dumbbells),
        "said_of_seeds": said.of_seeds(lots),
        "said_of_vcp_split": said.of_vcp_split(lots),
        "tried": tried.TABLE.read(),
        "tried_rules": tried.RULES,
        "lot_seeds": len(LOT_SEEDS),
        "law": [
            {
                "reading": reading,
                "percent": [
                    reasons.law_percent(reading, joined=joined) for joined in (False, True)
                ],
                "found": [said.lot_means(lots, scheme, reading) for scheme in setting.SCHEMES],
            }
            for reading in READINGS
        ],
        "schemes": setting.SCHEMES,
        "swept": measured.further.swept,
        "sweep_seeds": len(further.SWEEP_SEEDS),
        "sentences": sentences.SENTENCES,
        "held": sentences.held([*_cells(measured), *_claims(measured)]),
        "labels": {reading.name: reading.label for reading in READINGS},
        "unjudged_cells": {
            cell.id: cell for cell in cells.unjudged_cells(measured.ours, measured.lots)
        },
        "thirty_flows": sentences.THIRTY_FLOWS,
        "completion_time": sentences.COMPLETION_TIME,
    }


PAPER = Paper(
    protocol=2,
    package=__name__,
    citation=Citation(
        key="li2009",
        title="MPCP: Multi Packet Congestion-control Protocol",
        authors="X. Li, H. Yousefi'zadeh",
        year=2009,
        venue="ACM SIGCOMM Computer Communication Review 39(5)",
        url="https://escholarship.org/uc/item/9s77r6zc",
    ),
    parameters=setting.PARAMETERS,
    run=_run,
    cells=_cells,
    claims=_claims,
    finding=_finding,
    figures=lambda measured: figures.draw(
        measured.ours, measured.series, measured.vcp_shares, measured.lots
    ),
    readings=_readings,
    sections=_sections,
    stored=(
        variants.DUMBBELLS,
        variants.LOTS,
        further.SWEEP,
        further.SHORT,
        tried.TABLE,
    ),
    network=matrix.NETWORK,
)
