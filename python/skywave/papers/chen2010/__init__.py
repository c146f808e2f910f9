"""Chen, Yang and Hong 2010: VCP and RED for TCP and DCCP, 200 flows and web traffic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from skywave.averages import average
from skywave.papers.chen2010 import (
    cells,
    figures,
    fit,
    measures,
    oracle,
    readings,
    setting,
    sweep,
    sweep_figures,
)
from skywave.papers.chen2010.analysis import Model
from skywave.papers.chen2010.published import PUBLISHED
from skywave.papers.reproduction import Ns2Source, Paper, Reproduction
from skywave.simulate import run_many

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skywave.papers import Progress
    from skywave.papers.chen2010.cells import Ns2, Runs
    from skywave.papers.chen2010.measures import Floats, Run
    from skywave.papers.chen2010.setting import Scheme
    from skywave.results import Results

PAPER = Paper(
    key="chen2010",
    title="Performance Analysis of VCP Controller on DCCP Traffic",
    authors="H. Chen, O. W. W. Yang, Y. Hong",
    year=2010,
)
NEAREST_READINGS = 10
"""Readings of CCID 2 that the report shows in full."""


def reproduce(
    *, live_ns2: bool, progress: Progress | None, seeds: int = len(setting.SEEDS)
) -> Reproduction:
    """Run every scheme with so many seeds, and judge the published values.

    ns-2's answers are always the stored ones: its runs take minutes.
    """
    del live_ns2
    ours: dict[Scheme, list[Run]] = {}
    first: dict[Scheme, Results] = {}
    total = len(setting.SCHEMES) * seeds
    # One scheme at a time: all results together would take a gigabyte.
    for number, scheme in enumerate(setting.SCHEMES):
        begun = number * seeds

        def step(done: int, _of: int, begun: int = begun) -> None:
            if progress is not None:
                progress("Skywave", begun + done, total)

        results = run_many(
            (setting.scenario(scheme, seed) for seed in setting.SEEDS[:seeds]), progress=step
        )
        first[scheme] = results[0]
        ours[scheme] = [measures.from_results(run) for run in results]
    ns2 = {scheme: oracle.averages(scheme) for scheme in ours if scheme in oracle.KNOWN}
    seconds = {scheme: oracle.seconds(scheme) for scheme in ns2}
    return Reproduction(
        paper=PAPER,
        cells=cells.published_cells(ours, ns2),
        comparisons=cells.ns2_comparisons(ours, ns2),
        parameters=setting.PARAMETERS,
        ns2=Ns2Source("stored", oracle.REMARK),
        figures=figures.draw(
            {scheme: runs[0].series for scheme, runs in ours.items()}, seconds, _sums_of_windows()
        )
        + sweep_figures.draw(sweep.stored(), _demand()),
        # One run of each scheme; the others differ in their seed.
        scenarios={
            scheme.name: setting.scenario(scheme, min(setting.SEEDS)) for scheme in setting.SCHEMES
        },
        results={scheme.name: results for scheme, results in first.items()},
        sections=_sections(ours, ns2),
    )


def _sums_of_windows() -> dict[Scheme, tuple[Floats, Floats]]:
    """Run the schemes of equation 6 once more, every flow sampled."""
    seed = min(setting.SEEDS)
    scenarios = (
        setting.scenario(scheme, seed, probes=setting.ALL_WINDOWS) for scheme in setting.MODELLED
    )
    return dict(
        zip(setting.MODELLED, map(measures.sum_of_windows, run_many(scenarios)), strict=True)
    )


def _demand() -> dict[sweep.Router, tuple[Floats, Floats, Floats]]:
    """Run the change of demand behind each router."""
    runs = run_many(map(sweep.demand_scenario, sweep.ROUTERS))
    return dict(zip(sweep.ROUTERS, map(sweep.demand_series, runs), strict=True))


def _sections(ours: Runs, ns2: Ns2) -> dict[str, Any]:
    """Return the tables of the report's own sections."""
    trials = sorted(fit.stored(), key=lambda trial: trial.miss)
    answers = readings.nearest(readings.stored())
    return {
        "seeds": len(next(iter(ours.values()))),
        "averages": [_averages(scheme, runs, ns2) for scheme, runs in ours.items()],
        "fairness": [_fairness(scheme, runs) for scheme, runs in ours.items()],
        "rtts_ms": [setting.rtt_ms(subnet) for subnet in range(setting.SUBNETS)],
        "model": Model(),
        "search": {
            "tried": len(trials),
            "seeds": len(fit.SEEDS),
            "taken": fit.best(trials),
            "equal": fit.TIE,
            "trials": trials,
            "fitting": sum(trial.fits for trial in trials),
        },
        "readings": {
            "tried": len(answers),
            "seeds": len(readings.SEEDS),
            "buffers": readings.BUFFERS,
            "published": [answer for answer in answers if answer.is_published],
            "nearest": answers[:NEAREST_READINGS],
            "all": readings.stored(),
            "row": PUBLISHED[setting.DCCP_RED.name],
        },
        "sweeps": {
            "points": len(sweep.POINTS),
            "routers": sweep.ROUTER_LABELS,
            "rows": [
                (point, {one.router: one for one in outcomes})
                for point, outcomes in sweep.by_point(sweep.stored())
            ],
            "labels": {name: one.label for name, one in sweep.SWEEPS.items()},
        },
    }


def _averages(scheme: Scheme, runs: Sequence[Run], ns2: Ns2) -> dict[str, Any]:
    def over_seeds(name: str) -> str:
        return average([getattr(run.series, name) for run in runs]).text

    return {
        "scheme": scheme,
        "published": PUBLISHED[scheme.name],
        "queue": over_seeds("queue_mean"),
        "drops": over_seeds("drop_percent"),
        "interval_drops": over_seeds("interval_drop_percent"),
        "peak": over_seeds("peak_percent"),
        "rate": over_seeds("shown_mean_kbps"),
        "variation": over_seeds("shown_variation"),
        "utilisation": average([100 * run.utilisation for run in runs]).text,
        "web": average([run.web_kbps for run in runs]).text,
        "ns2": ns2.get(scheme),
    }


def _fairness(scheme: Scheme, runs: Sequence[Run]) -> dict[str, Any]:
    by_subnet = np.array([run.jain_by_subnet for run in runs])
    rates = np.array([run.goodput_kbps.mean(axis=1) for run in runs])
    return {
        "scheme": scheme,
        "jain": [average(list(column)).text for column in by_subnet.T],
        "rates": [average(list(column)).text for column in rates.T],
        "of_subnets": average([run.jain_of_subnets for run in runs]).text,
    }
