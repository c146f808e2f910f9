"""The runs behind Figures 2 to 5 and the claims.

The parking lots of the other seeds are stored, since they take minutes. So are the results of
readings: combinations of rules that the paper leaves open.

- After a decrease: wait for a round-trip time, or for t_rho as the published codes of VCP do.
- On a loss under a chain: leave cwnd to the load factor, or halve it as VCP does.
- Routers average means of their queue in intervals, or samples.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from skywave.papers import readings
from skywave.papers.ns2 import Ns2Source
from skywave.papers.protocol import RunOutput
from skywave.papers.stages import run_plans, stage
from skywave_papers.li2009 import judge, measures, setting, single, stored, today
from skywave_papers.li2009.ledger import LEDGER
from skywave_papers.li2009.setting import (
    CARRIERS,
    DEFAULT,
    DPCP_TCP,
    DUMBBELL_SEEDS,
    FLOWS,
    LOSS_PERCENT,
    LOSS_SEEDS,
    LOT_SEEDS,
    PUBLISHED_LOTS,
    READINGS,
    SCHEMES,
)

if TYPE_CHECKING:
    from skywave.papers import entries
    from skywave.papers.protocol import Options
    from skywave.scenario import Scenario
    from skywave_papers.li2009.setting import Choices

SHOWN_LOSS_PERCENT = 30
"""The loss rate of the transfers whose series are written; DPCP over TCP also has its packets."""


def plans(choices: Choices) -> dict[judge.Key, Scenario]:
    """Return the runs of Figures 3 to 5. DPCP over TCP records packets, which show its mode."""
    return {
        **{
            (scheme, seed): setting.dumbbell(scheme, choices=choices, seed=seed)
            for scheme in SCHEMES
            for seed in DUMBBELL_SEEDS
        },
        **{
            (carrier, percent, seed): setting.transfer(
                carrier, percent, seed, choices, packets=carrier == DPCP_TCP
            )
            for carrier in CARRIERS
            for percent in LOSS_PERCENT
            for seed in LOSS_SEEDS
        },
    }


def run(options: Options) -> RunOutput[judge.Measurements]:
    """Run the experiments of Figures 2 to 5, the parking lots with one seed, and single flows."""
    lots, sampled_lots = (
        {
            (scheme, reading): build(scheme, reading)
            for reading in READINGS
            for scheme in PUBLISHED_LOTS
        }
        for build in (setting.lot, setting.lot_by_intervals)
    )
    every = lots | plans(DEFAULT) | today.plan()
    runs, sampled_runs, single_runs = run_plans(
        every, sampled_lots, single.scenarios(), progress=stage(options.progress, "Skywave")
    )
    stored_lots = {
        (scheme, reading): stored.lots(scheme, reading)
        for scheme in SCHEMES
        for reading in READINGS
    }
    # Of each kind, write the runs of one seed and loss rate.
    seed, percent = DUMBBELL_SEEDS[0], SHOWN_LOSS_PERCENT
    shown: dict[str, judge.Key] = {
        **{f"lot-{scheme.name}-{reading.name}": (scheme, reading) for scheme, reading in lots},
        **{f"dumbbell-{scheme.name}": (scheme, seed) for scheme in SCHEMES},
        **{f"loss{percent}-{carrier.name}": (carrier, percent, seed) for carrier in CARRIERS},
        **{f"dumbbell-{control}": (control, seed) for control in today.CONTROLS},
        **{f"loss{percent}-{control}": (control, percent, seed) for control in today.TRANSFERS},
    }
    return RunOutput(
        measured=judge.Measurements(
            judge.Ours.of(stored_lots, runs),
            series={lot: measures.series(runs[lot]) for lot in lots},
            loads={lot: measures.loads(results) for lot, results in sampled_runs.items()},
            single=single.measure(single_runs),
            courses=measures.courses_of(runs, today.CONTROLS),
            transfers=measures.transfers_of(runs, today.TRANSFERS),
        ),
        scenarios={name: every[key] for name, key in shown.items()},
        results={name: runs[key] for name, key in shown.items()},
        ns2=Ns2Source("stored", "has neither VCP nor MPCP, so it has no results"),
    )


def measure(reading: entries.Reading) -> list[judge.Values]:
    """Run everything under a reading; return the values with the parking lots of each seed."""
    choices = replace(DEFAULT, **reading.changes)
    lots = [(scheme, FLOWS, choices, seed) for seed in LOT_SEEDS for scheme in PUBLISHED_LOTS]
    lot_runs, runs = run_plans({lot: setting.lot(*lot) for lot in lots}, plans(choices))
    rows = {lot: stored.lot_outcome(lot, measures.series(lot_runs[lot])) for lot in lots}
    ours = judge.Ours.of({}, runs)
    by_seed = [
        {(scheme, FLOWS): [rows[scheme, FLOWS, choices, seed]] for scheme in PUBLISHED_LOTS}
        for seed in LOT_SEEDS
    ]
    return [judge.published(replace(ours, lots=found)) for found in by_seed]


TABLE = readings.table(LEDGER, Path(__file__).with_name("readings.csv"), measure)
