"""Chen, Yang and Hong 2010: VCP and RED for TCP and DCCP, with 200 flows and web traffic."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from skywave.papers.ns2 import Ns2Source
from skywave.papers.protocol import Paper, RunOutput, Seeds, TimedRun
from skywave.papers.stages import measure_each, run_plans, stage
from skywave.stats import average
from skywave_papers.chen2010 import (
    ccid2,
    figures,
    fit,
    further,
    judge,
    matrix,
    measures,
    oracle,
    readings,
    setting,
    sweep,
    sweep_figures,
)
from skywave_papers.chen2010.analysis import Model
from skywave_papers.chen2010.ledger import LEDGER

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from skywave._progress import Progress
    from skywave.papers.measures import Measures
    from skywave.papers.protocol import Options
    from skywave.report.figures import RenderedFigure
    from skywave.results import Results
    from skywave_papers.chen2010.judge import Ns2, Runs
    from skywave_papers.chen2010.measures import Floats, Run
    from skywave_papers.chen2010.setting import Scheme

NEAREST_CCID2 = 10
"""Number of readings of CCID 2 that the report shows outside the full table."""


@dataclass(frozen=True)
class Measurements:
    """Runs of all schemes, ns-2's results, and the data of figures that the paper does not have.

    ``as_ns2`` has runs of the schemes that ns-2 has, with its senders and as many as it has.
    """

    ours: Runs
    ns2: Ns2
    as_ns2: Runs
    sums: Mapping[Scheme, tuple[Floats, Floats]]
    demand: Mapping[sweep.Router, tuple[Floats, Floats, Floats]]

    @property
    def longest_of_shortest(self) -> float:
        """Goodput of TCP/VCP with the longest round-trip time over that with the shortest."""
        by_subnet = np.mean([run.kbps_by_subnet for run in self.ours[setting.TCP_VCP]], axis=0)
        return float(by_subnet[-1] / by_subnet[0])


def _run(options: Options) -> RunOutput[Measurements]:
    """Run every scheme with ``options.seeds`` seeds.

    ns-2's results are always the stored ones, since its runs take minutes.
    """
    first = min(setting.SEEDS)
    scenarios = {
        (scheme, seed): setting.scenario(scheme, seed)
        for scheme in setting.SCHEMES
        for seed in range(first, first + options.seeds)
    }
    compared = {
        (scheme, seed): setting.scenario(scheme, seed, senders=setting.CODES)
        for scheme in oracle.KNOWN
        for seed in oracle.SEEDS
    }
    shown: dict[Scheme, Results] = {}

    def measure(key: tuple[Scheme, int], results: Results) -> Run:
        # Keep the results of one run per scheme.
        shown.setdefault(key[0], results)
        return measures.from_results(results)

    runs = measure_each(scenarios, measure, stage(options.progress, "Skywave"))
    ours: Runs = {
        scheme: [run for (of, _), run in runs.items() if of == scheme] for scheme in setting.SCHEMES
    }
    ns2 = {scheme: oracle.averages(scheme) for scheme in oracle.KNOWN}
    of_compared = measure_each(
        compared,
        lambda _, results: measures.from_results(results),
        stage(options.progress, "As ns-2"),
    )
    as_ns2: Runs = {
        scheme: [of_compared[scheme, seed] for seed in oracle.SEEDS] for scheme in oracle.KNOWN
    }
    return RunOutput(
        measured=Measurements(
            ours,
            ns2,
            as_ns2,
            *_beside(options.progress),
        ),
        scenarios={scheme.name: scenarios[scheme, first] for scheme in setting.SCHEMES},
        results={scheme.name: results for scheme, results in shown.items()},
        ns2=Ns2Source("stored", oracle.REMARK),
    )


def _beside(
    progress: Callable[[Progress], None] | None,
) -> tuple[dict[Scheme, tuple[Floats, Floats]], dict[sweep.Router, tuple[Floats, Floats, Floats]]]:
    """Run what additional figures show: sums of windows, and a change of demand.

    The schemes of equation 6 run again with all flows sampled; the demand runs with each router.
    """
    modelled, demand = run_plans(
        {
            scheme: setting.scenario(scheme, min(setting.SEEDS), probes=setting.ALL_WINDOWS)
            for scheme in setting.MODELLED
        },
        {router: sweep.demand_scenario(router) for router in sweep.ROUTERS},
        progress=stage(progress, "Figures"),
    )
    return (
        {scheme: measures.sum_of_windows(results) for scheme, results in modelled.items()},
        {router: sweep.demand_series(results) for router, results in demand.items()},
    )


def _measures(measured: Measurements) -> Measures:
    return judge.measure(measured.ours, measured.ns2)


def _figures(measured: Measurements) -> list[RenderedFigure]:
    """Draw the paper's figures, and additional ones."""
    shown = {scheme: runs[0].series for scheme, runs in measured.ours.items()}
    seconds = {scheme: oracle.seconds(scheme) for scheme in measured.ns2}
    return [
        figures.draw_finding(measured.ours, measured.ns2),
        *figures.draw(shown, seconds, measured.sums),
        *sweep_figures.draw(sweep.TABLE.read(), measured.demand),
    ]


def _sections(_: Measurements) -> dict[str, Any]:
    """Return what else the report needs."""
    trials = sorted(fit.TABLE.read(), key=lambda trial: trial.miss)
    long_buffer = max(trial.unpublished.buffer for trial in trials)
    return {
        "NEAREST_CCID2": NEAREST_CCID2,
        "answers": ccid2.TABLE.read(),
        "average": average,
        "beyond_red": next(
            trial
            for trial in trials
            if trial.unpublished == replace(setting.UNPUBLISHED, buffer=long_buffer)
        ),
        "ccid2": ccid2,
        "fit": fit,
        "further": further,
        "mean_rtt_ms": np.mean([setting.rtt_ms(subnet) for subnet in range(setting.SUBNETS)]),
        "model": Model(),
        "published": judge.published_value,
        "setting": setting,
        "sweep": sweep,
        "trials": trials,
    }


def _timed(scheme: Scheme, seed: int) -> TimedRun:
    """Return a scheme's run to be timed, with that of ns-2 if ns-2 has the scheme.

    Senders are as in ns-2, so that both do the same work.
    """
    theirs = partial(oracle.command, scheme, seed) if scheme in oracle.KNOWN else None
    return TimedRun(scheme.label, setting.scenario(scheme, seed, senders=setting.CODES), theirs)


PAPER = Paper(
    protocol=2,
    package=__name__,
    ledger=LEDGER,
    run=_run,
    measures=_measures,
    comparisons=lambda measured: judge.compare(measured.as_ns2, measured.ns2),
    figures=_figures,
    readings=lambda _: readings.TABLE.read(),
    sections=_sections,
    # All of these seeds would take as long as all other papers together.
    seeds=Seeds(own=len(setting.SEEDS), brief=5),
    stored=(
        fit.TABLE,
        ccid2.TABLE,
        sweep.TABLE,
        readings.TABLE,
        further.SETTLED,
        further.CHANGED,
        further.BALANCE,
    ),
    golden=oracle.renew,
    timed=[_timed(scheme, min(oracle.SEEDS)) for scheme in setting.SCHEMES],
    network=matrix.NETWORK,
)
