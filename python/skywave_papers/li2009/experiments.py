"""The runs behind Figures 2 to 5 and the claims, and what is measured in them.

The parking lots of the other seeds are stored, since they take minutes. So are the results of
readings: combinations of rules that the paper leaves open.

- After a decrease: wait for a round-trip time, or for t_rho as the published codes of VCP do.
- On a loss under a chain: leave cwnd to the load factor, or halve it as VCP does.
- Routers average means of their queue in intervals, or samples.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

from skywave.papers import readings
from skywave.papers.protocol import RunOutput
from skywave.papers.reproduction import Ns2Source
from skywave.papers.stages import run_plans, stage
from skywave_papers.li2009 import judge, measures, setting, single, stored
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
    from collections.abc import Mapping, Sequence

    from skywave.papers import sentences
    from skywave.papers.protocol import Options
    from skywave.results import Results
    from skywave.scenario import Scenario
    from skywave_papers.li2009.setting import Carrier, Choices, Reading, Scheme

    Lots = Mapping[tuple[Scheme, Reading], Sequence[stored.Lot]]
    Key = tuple[Scheme, Reading] | tuple[Scheme, int] | tuple[Carrier, int, int]
    """A parking lot, a dumbbell with a seed, or a transfer at a loss rate with a seed."""

SHOWN_LOSS_PERCENT = 30
"""The loss rate of the transfers whose series are written; of DPCP over TCP, packets too."""


@dataclass(frozen=True)
class Ours:
    """What Figures 2 to 5 are measured in: of the parking lots one outcome for each seed."""

    lots: Lots
    dumbbells: Mapping[Scheme, Sequence[measures.Course]]
    transfers: measures.Transfers

    @classmethod
    def of(cls, lots: Lots, runs: Mapping[Key, Results]) -> Self:
        """Measure the runs of Figures 3 to 5."""
        return cls(
            lots,
            {
                scheme: [measures.course(runs[scheme, seed].links) for seed in DUMBBELL_SEEDS]
                for scheme in SCHEMES
            },
            {
                carrier: {
                    percent: measures.transfer_times(
                        [runs[carrier, percent, seed] for seed in LOSS_SEEDS]
                    )
                    for percent in LOSS_PERCENT
                }
                for carrier in CARRIERS
            },
        )


@dataclass(frozen=True)
class Measurements:
    """Figures 2 to 5, additional measurements of their runs, and flows of one kind each.

    ``series`` has the parking lots of one seed, which the figures show. ``single`` is by test.
    """

    ours: Ours
    series: Mapping[tuple[Scheme, Reading], Mapping[str, measures.LinkSeries]]
    loads: Mapping[tuple[Scheme, Reading], measures.Loads]
    single: Mapping[str, float]


def plans(choices: Choices) -> dict[Key, Scenario]:
    """Return the runs of Figures 3 to 5, with the packets of DPCP over TCP: they show its mode."""
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


def run(options: Options) -> RunOutput[Measurements]:
    """Run the experiments of Figures 2 to 5, the parking lots with one seed, and single flows."""
    lots, looks = (
        {
            (scheme, reading): of(scheme, reading)
            for reading in READINGS
            for scheme in PUBLISHED_LOTS
        }
        for of in (setting.lot, setting.lot_by_intervals)
    )
    every = lots | plans(DEFAULT)
    runs, look_runs, single_runs = run_plans(
        every, looks, single.scenarios(), progress=stage(options.progress, "Skywave")
    )
    stored_lots = {
        (scheme, reading): stored.lots(scheme, reading)
        for scheme in SCHEMES
        for reading in READINGS
    }
    # Of each kind, write the runs of one seed and loss rate.
    seed, percent = DUMBBELL_SEEDS[0], SHOWN_LOSS_PERCENT
    shown: dict[str, Key] = {
        **{f"lot-{scheme.name}-{reading.name}": (scheme, reading) for scheme, reading in lots},
        **{f"dumbbell-{scheme.name}": (scheme, seed) for scheme in SCHEMES},
        **{f"loss{percent}-{carrier.name}": (carrier, percent, seed) for carrier in CARRIERS},
    }
    return RunOutput(
        measured=Measurements(
            Ours.of(stored_lots, runs),
            series={lot: measures.series(runs[lot]) for lot in lots},
            loads={lot: measures.loads(results) for lot, results in look_runs.items()},
            single=single.measure(single_runs),
        ),
        scenarios={name: every[key] for name, key in shown.items()},
        results={name: runs[key] for name, key in shown.items()},
        ns2=Ns2Source("stored", "has neither VCP nor MPCP, so it has no results"),
    )


def measure(reading: sentences.Reading) -> list[judge.Values]:
    """Run everything under a reading; return the values with the parking lots of each seed."""
    choices = replace(DEFAULT, **reading.changes)
    lots = [(scheme, FLOWS, choices, seed) for seed in LOT_SEEDS for scheme in PUBLISHED_LOTS]
    lot_runs, runs = run_plans({lot: setting.lot(*lot) for lot in lots}, plans(choices))
    rows = {lot: stored.lot_outcome(lot, measures.series(lot_runs[lot])) for lot in lots}
    ours = Ours.of({}, runs)
    by_seed = [
        {(scheme, FLOWS): [rows[scheme, FLOWS, choices, seed]] for scheme in PUBLISHED_LOTS}
        for seed in LOT_SEEDS
    ]
    return [judge.published(replace(ours, lots=found)) for found in by_seed]


TABLE = readings.table(LEDGER, Path(__file__).with_name("readings.csv"), measure)
