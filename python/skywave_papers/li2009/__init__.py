"""Li and Yousefi'zadeh 2009: MPCP, a load factor encoded in a chain of packets, beside VCP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skywave.papers.measures import Measure
from skywave.papers.ns2 import Ns2Source
from skywave.papers.protocol import Paper, RunOutput
from skywave.papers.stages import run_plans, stage
from skywave.stats import average
from skywave_papers.li2009 import (
    experiments,
    figures,
    further,
    judge,
    loads,
    lossy,
    matrix,
    parking,
    readings,
    setting,
    variants,
)
from skywave_papers.li2009.experiments import PUBLISHED_LOTS, Measurements, Ours
from skywave_papers.li2009.ledger import LEDGER
from skywave_papers.li2009.setting import (
    AGGREGATES,
    DEFAULT,
    DPCP,
    DPCP_DCCP,
    DPCP_TCP,
    DUMBBELL_SEEDS,
    LOSS_PERCENT,
    LOSS_SEEDS,
    READINGS,
    VCP,
)

if TYPE_CHECKING:
    from skywave.papers.protocol import Options
    from skywave.results import Results
    from skywave.scenario import Scenario

NO_NS2 = Ns2Source("stored", "has neither VCP nor MPCP, so it has no results")
READ_IN_TWO_WAYS = tuple(
    test for test in LEDGER.values if test.startswith(("fig2", "fig4")) and test != "fig4/gap"
)
"""Values that can be read in two ways: an aggregate is one sender, or DPCP is over DCCP."""
SHOWN_LOSS_PERCENT = 30
"""The loss rate of the transfers whose series are written; of DPCP over TCP, packets too."""


def _run(options: Options) -> RunOutput[Measurements]:
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
    ours = Ours(
        lots={
            (scheme, reading): variants.lots(scheme, reading)
            for scheme in setting.SCHEMES
            for reading in READINGS
        },
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
    return RunOutput(
        measured=Measurements(
            ours,
            {key: experiments.shown_links(run) for key, run in lot_results.items()},
            vcp_shares,
            loads={key: loads.loads(run) for key, run in look_results.items()},
            single=further.measure(single_results),
        ),
        scenarios={name: scenario for name, (scenario, _) in shown.items()},
        results={name: results for name, (_, results) in shown.items()},
        ns2=NO_NS2,
    )


FEW_FLOWS = 2
"""The most flows on a dumbbell that the report counts as few."""


def _sections(measured: Measurements) -> dict[str, Any]:
    """Return what else the report needs."""
    other = judge.published(measured.ours, AGGREGATES, DPCP_DCCP)
    quicker = variants.ratios(VCP, DPCP, "transition_s")
    return {
        "further": further,
        "judge": judge,
        "parking": parking,
        "setting": setting,
        "variants": variants,
        "labels": {reading.name: reading.label for reading in READINGS},
        "published_lots": PUBLISHED_LOTS,
        "quicker_few": [one for network, one in quicker.items() if network.flows <= FEW_FLOWS],
        "quicker_many": [one for network, one in quicker.items() if network.flows > FEW_FLOWS],
        "queue_ratios": list(variants.ratios(DPCP, VCP, "queue").values()),
        "unjudged": {test: Measure.of(other[test]) for test in READ_IN_TWO_WAYS},
        "would_match": LEDGER.met(other),
    }


PAPER = Paper(
    protocol=2,
    package=__name__,
    ledger=LEDGER,
    run=_run,
    measures=judge.measure,
    figures=lambda measured: figures.draw(measured.ours, measured.series, measured.vcp_shares),
    readings=lambda _: readings.TABLE.read(),
    sections=_sections,
    stored=(
        variants.DUMBBELLS,
        variants.LOTS,
        further.SWEEP,
        further.SHORT,
        readings.TABLE,
    ),
    network=matrix.NETWORK,
)
