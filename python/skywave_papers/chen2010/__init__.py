"""Chen, Yang and Hong 2010: VCP and RED for TCP and DCCP, with 200 flows and web traffic."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from skywave.papers.protocol import Paper, RunOutput, Seeds
from skywave.papers.reproduction import Ns2Source
from skywave.papers.stages import measure_each, run_plans, stage
from skywave.papers.timed import TimedRun
from skywave.stats import average
from skywave_papers.chen2010 import figures, further, judge, oracle, searches, setting, sweep
from skywave_papers.chen2010.analysis import Model
from skywave_papers.chen2010.measures import from_results, sum_of_windows

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from skywave.papers.protocol import Options
    from skywave.results import Results
    from skywave_papers.chen2010.judge import Ns2, Runs
    from skywave_papers.chen2010.measures import Floats, Run
    from skywave_papers.chen2010.setting import Scheme, Senders


@dataclass(frozen=True)
class Measurements:
    """Runs of all schemes, ns-2's results, and the data of figures that the paper does not have."""

    ours: Runs
    as_ns2: Runs
    """Runs of the schemes that ns-2 has, with its senders and as many as it has."""
    ns2: Ns2
    windows: tuple[Floats, Floats]
    """Times, and sums of windows of DCCP/VCP, which section 3 models."""
    demand: Mapping[str, tuple[Floats, Floats, Floats]]
    """``demand_series`` by router."""


def _run(options: Options) -> RunOutput[Measurements]:
    """Run every scheme with ``options.seeds`` seeds.

    ns-2's results are always the stored ones, since its runs take minutes.
    """
    first = min(setting.SEEDS)
    shown: dict[str, Results] = {}

    def measure(key: tuple[Scheme, int], results: Results) -> Run:
        # Keep the results of one run per scheme.
        shown.setdefault(key[0].name, results)
        return from_results(results)

    def runs(name: str, schemes: Iterable[Scheme], seeds: range, senders: Senders) -> Runs:
        scenarios = {
            (scheme, seed): setting.scenario(scheme, seed, senders=senders)
            for scheme, seed in product(schemes, seeds)
        }
        found = measure_each(scenarios, measure, stage(options.progress, name))
        return {scheme: [found[scheme, seed] for seed in seeds] for scheme in schemes}

    ours = runs("Skywave", setting.SCHEMES, range(first, first + options.seeds), setting.WORDS)
    as_ns2 = runs("As ns-2", oracle.KNOWN, oracle.SEEDS, setting.CODES)
    modelled, demand = run_plans(
        {None: setting.scenario(setting.DCCP_VCP, first, probes=setting.ALL_WINDOWS)},
        {router: sweep.demand_scenario(router) for router in sweep.ROUTERS},
        progress=stage(options.progress, "Figures"),
    )
    return RunOutput(
        measured=Measurements(
            ours,
            as_ns2,
            {scheme: oracle.averages(scheme) for scheme in oracle.KNOWN},
            sum_of_windows(modelled[None]),
            {router: sweep.demand_series(results) for router, results in demand.items()},
        ),
        scenarios={scheme.name: setting.scenario(scheme, first) for scheme in setting.SCHEMES},
        results=shown,
        ns2=Ns2Source("stored", oracle.REMARK),
    )


def _sections(measured: Measurements) -> dict[str, Any]:
    """Return what else the report needs."""
    trials = sorted(searches.FIT.read(), key=lambda trial: trial.miss)
    long_buffer = replace(setting.UNPUBLISHED, buffer=searches.GRID[-1].buffer)
    by_subnet = np.mean([run.kbps_by_subnet for run in measured.ours[setting.TCP_VCP]], axis=0)
    return {
        "answers": searches.CCID2.read(),
        "average": average,
        "beyond_red": searches.FIT.row(unpublished=long_buffer),
        "further": further,
        "longest_of_shortest": by_subnet[-1] / by_subnet[0],
        "mean_rtt_ms": np.mean([setting.rtt_ms(subnet) for subnet in range(setting.SUBNETS)]),
        "model": Model(),
        "published": judge.published_value,
        "searches": searches,
        "setting": setting,
        "sweep": sweep,
        "trials": trials,
    }


PAPER = Paper(
    protocol=2,
    package=__name__,
    ledger=setting.LEDGER,
    run=_run,
    measures=lambda measured: judge.measure(measured.ours, measured.ns2),
    comparisons=lambda measured: judge.compare(measured.as_ns2, measured.ns2),
    figures=lambda measured: figures.draw(
        measured.ours, measured.ns2, measured.windows, measured.demand
    ),
    readings=lambda _: judge.READINGS.read(),
    sections=_sections,
    # All of these seeds would take as long as all other papers together.
    seeds=Seeds(own=len(setting.SEEDS), brief=5),
    stored=(
        searches.FIT,
        searches.CCID2,
        sweep.TABLE,
        judge.READINGS,
        further.EQUAL,
        further.CHANGED,
    ),
    golden=oracle.renew,
    timed=[
        TimedRun(
            scheme.label,
            # Senders are as in ns-2, so that both do the same work.
            setting.scenario(scheme, min(oracle.SEEDS), senders=setting.CODES),
            partial(oracle.command, scheme, min(oracle.SEEDS)) if scheme in oracle.KNOWN else None,
        )
        for scheme in setting.SCHEMES
    ],
    network=setting.NETWORK,
)
