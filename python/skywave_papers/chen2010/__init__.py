"""Chen, Yang and Hong 2010: VCP and RED for TCP and DCCP, with 200 flows and web traffic."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from skywave.papers.protocol import Paper, Ran, Seeds
from skywave.papers.reproduction import Ns2Source
from skywave.papers.stages import measure_each, run_plans, stage
from skywave.papers.timed import Timed
from skywave.stats import average
from skywave_papers.chen2010 import (
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
    tried,
)
from skywave_papers.chen2010.analysis import Model
from skywave_papers.chen2010.judge import published_value
from skywave_papers.chen2010.ledger import LEDGER

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from skywave._progress import Progress
    from skywave.papers.measures import Measures
    from skywave.papers.protocol import Options
    from skywave.report.figures import Drawn
    from skywave.results import Results
    from skywave_papers.chen2010.further import Further
    from skywave_papers.chen2010.judge import Ns2, Runs
    from skywave_papers.chen2010.measures import Floats, Run
    from skywave_papers.chen2010.readings import Answer
    from skywave_papers.chen2010.setting import Scheme

NEAREST_READINGS = 10
"""Number of readings of CCID 2 that the report shows outside the full table."""


@dataclass(frozen=True)
class Measured:
    """Runs of all schemes, ns-2's results, and the data of figures that the paper does not have.

    ``as_ns2`` has runs of the schemes that ns-2 has, with its senders and as many as it has.
    ``answers`` are the stored results of the readings of CCID 2.
    """

    ours: Runs
    ns2: Ns2
    as_ns2: Runs
    further: Further
    answers: Sequence[Answer]
    sums: Mapping[Scheme, tuple[Floats, Floats]]
    demand: Mapping[sweep.Router, tuple[Floats, Floats, Floats]]


def _run(options: Options) -> Ran[Measured]:
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
    return Ran(
        measured=Measured(
            ours,
            ns2,
            as_ns2,
            further.read(),
            readings.TABLE.read(),
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


def _measures(measured: Measured) -> Measures:
    nearest = readings.nearest(measured.answers)[0]
    return judge.measure(measured.ours, measured.ns2, measured.further, nearest)


def _figures(measured: Measured) -> list[Drawn]:
    """Draw the paper's figures, and additional ones."""
    shown = {scheme: runs[0].series for scheme, runs in measured.ours.items()}
    seconds = {scheme: oracle.seconds(scheme) for scheme in measured.ns2}
    return [
        figures.draw_finding(measured.ours, measured.ns2),
        *figures.draw(shown, seconds, measured.sums),
        *sweep_figures.draw(sweep.TABLE.read(), measured.demand),
    ]


def _readings(measured: Measured) -> dict[str, Any]:
    """Return the results of the readings of CCID 2."""
    answers = readings.nearest(measured.answers)
    return {
        "tried": len(answers),
        "seeds": len(readings.SEEDS),
        "buffers": readings.BUFFERS,
        "published": [answer for answer in answers if answer.is_published],
        "nearest": answers[:NEAREST_READINGS],
        "all": measured.answers,
        "row": _published(setting.DCCP_RED),
    }


def _sections(measured: Measured) -> dict[str, Any]:
    """Return the values of this report's own sections."""
    ours, ns2 = measured.ours, measured.ns2
    trials = sorted(fit.TABLE.read(), key=lambda trial: trial.miss)
    return {
        "averages": [_averages(scheme, runs, ns2) for scheme, runs in ours.items()],
        "fairness": [_fairness(scheme, runs) for scheme, runs in ours.items()],
        "rtts_ms": [setting.rtt_ms(subnet) for subnet in range(setting.SUBNETS)],
        "model": Model(),
        "search": {
            "tried": len(trials),
            "seeds": len(fit.SEEDS),
            "taken": fit.best(trials),
            "nearest": trials[0],
            "equals": len(fit.equals(trials)),
            "tie_points": 100 * fit.TIE,
            "trials": trials,
            "fitting": sum(trial.fits for trial in trials),
            "beyond_red": next(
                trial
                for trial in trials
                if trial.unpublished
                == replace(
                    setting.UNPUBLISHED, buffer=max(one.unpublished.buffer for one in trials)
                )
            ),
        },
        "sweeps": _sweeps(),
        "tried": tried.TABLE.read(),
        "tried_rules": {reading.label: reading.sentence for reading in tried.READINGS},
        "tried_seeds": len(setting.SEEDS),
        "further_seeds": len(further.SEEDS),
        "changed": _changed(measured.further),
        "balance": _balance(measured),
    }


def _changed(found: Further) -> list[dict[str, Any]]:
    """Return the network of section 4 with each change, as means over seeds."""

    def mean(rows: Sequence[further.Changed], name: str) -> float | None:
        values = [getattr(row, name) for row in rows]
        return None if None in values else float(np.mean(values))

    changes = dict.fromkeys((row.change, row.scheme) for row in found.changed)
    labels = {scheme.name: scheme.label for scheme in setting.SCHEMES}
    grouped = [
        [row for row in found.changed if (row.change, row.scheme) == change] for change in changes
    ]
    return [
        {
            "change": rows[0].change,
            "scheme": labels[rows[0].scheme],
            **{
                name: mean(rows, name)
                for name in ("queue_packets", "late_drop_percent", "utilisation", "of_tcp_percent")
            },
        }
        for rows in grouped
    ]


def _balance(measured: Measured) -> dict[str, Any]:
    """Return the limits for an increase for each packet and for two, and the runs around them."""
    found = measured.further
    labels = {scheme.name: scheme.label for scheme in setting.SCHEMES}
    names = ("queue_packets", "drops", "utilisation")
    rows = []
    for key in dict.fromkeys((row.scheme, row.growth, row.rtt_ms) for row in found.balance):
        same = [row for row in found.balance if (row.scheme, row.growth, row.rtt_ms) == key]
        means = {name: float(np.mean([getattr(row, name) for row in same])) for name in names}
        rows.append({"scheme": labels[key[0]], "growth": key[1], "rtt_ms": key[2], **means})
    model = Model()
    by_subnet = np.mean(
        [run.goodput_kbps.mean(axis=1) for run in measured.ours[setting.TCP_VCP]], axis=0
    )
    return {
        "rows": rows,
        "longest_of_shortest": float(by_subnet[-1] / by_subnet[0]),
        "limits_ms": [1e3 * model.increase_outweighs_from_s(packets) for packets in (1, 2)],
        "mean_rtt_ms": float(
            np.mean([setting.rtt_ms(subnet) for subnet in range(setting.SUBNETS)])
        ),
        "buffer": further.BALANCE_BUFFER,
        "from_s": further.SETTLED_S,
        "until_s": further.EQUAL_S,
    }


LARGE_MBPS = 10.0
"""Capacity, in Mbps, from which on a flow's share in the base case is a large window."""


def _sweeps() -> dict[str, Any]:
    """Return the table of the sweeps, and the numbers in the text about it."""
    stored = sweep.TABLE.read()
    used = {(one.sweep, one.x, one.router): one.utilisation for one in stored}
    large = [
        one
        for one in stored
        if (one.sweep, one.router) == ("capacity", "vcp") and one.x >= LARGE_MBPS
    ]

    def percent(name: str, x: float, router: sweep.Router) -> str:
        return f"{100 * used[name, x, router]:.0f}"

    return {
        "points": len(sweep.POINTS),
        "small": sweep.small(stored),
        "routers": sweep.ROUTER_LABELS,
        "rows": [
            (point, {one.router: one for one in outcomes})
            for point, outcomes in sweep.by_point(stored)
        ],
        "labels": {name: one.label for name, one in sweep.SWEEPS.items()},
        "percent": percent,
        "large": {
            "least_percent": 100 * min(one.utilisation for one in large),
            "queue_ms": max(one.queue_ms for one in large),
            "jain": min(one.jain for one in large),
        },
    }


def _published(scheme: Scheme) -> dict[str, float | None]:
    """Return the published row of a scheme."""
    return {
        "queue_packets": published_value("fig6", scheme),
        "drop_percent": published_value("fig7", scheme),
        "peak_percent": published_value("fig7-peak", scheme),
        "rate_kbps": published_value("fig5", scheme),
    }


def _averages(scheme: Scheme, runs: Sequence[Run], ns2: Ns2) -> dict[str, Any]:
    def over_seeds(name: str) -> str:
        return average([getattr(run.series, name) for run in runs]).text

    return {
        "scheme": scheme,
        "published": _published(scheme),
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


def _timed(scheme: Scheme, seed: int) -> Timed:
    """Return a scheme's run to be timed, with that of ns-2 if ns-2 has the scheme.

    Senders are as in ns-2, so that both do the same work.
    """
    theirs = partial(oracle.command, scheme, seed) if scheme in oracle.KNOWN else None
    return Timed(scheme.label, setting.scenario(scheme, seed, senders=setting.CODES), theirs)


PAPER = Paper(
    protocol=2,
    package=__name__,
    ledger=LEDGER,
    run=_run,
    measures=_measures,
    comparisons=lambda measured: judge.compare(measured.as_ns2, measured.ns2),
    figures=_figures,
    readings=_readings,
    sections=_sections,
    # All of these seeds would take as long as all other papers together.
    seeds=Seeds(own=len(setting.SEEDS), brief=5),
    stored=(
        fit.TABLE,
        readings.TABLE,
        sweep.TABLE,
        tried.TABLE,
        further.SETTLED,
        further.CHANGED,
        further.BALANCE,
    ),
    golden=oracle.renew,
    timed=[_timed(scheme, min(oracle.SEEDS)) for scheme in setting.SCHEMES],
    network=matrix.NETWORK,
)
