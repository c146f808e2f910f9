"""Nor et al. 2011: the effect of CCID 2's initial slow-start threshold on a long-delay link."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skywave.papers.protocol import Paper, Ran
from skywave.papers.stages import run_plans, stage
from skywave.results.fairness import jain
from skywave_papers.nor2011 import (
    figures,
    further,
    judge,
    matrix,
    measures,
    oracle,
    setting,
    tried,
)
from skywave_papers.nor2011.ledger import LEDGER

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skywave.papers.protocol import Options
    from skywave_papers.nor2011.further import Further
    from skywave_papers.nor2011.measures import Series
    from skywave_papers.nor2011.setting import Conditions
    from skywave_papers.nor2011.tried import Scanned


@dataclass(frozen=True)
class Measured:
    """Both experiments and the runs of our own sections, ns-2's results for the same, and more."""

    ours: Mapping[Conditions, Series]
    ns2: Mapping[Conditions, Series]
    further: Further
    """Our runs for claims that neither experiment tests."""
    scanned: Sequence[Scanned]
    """The stored scan of send queues."""


def _run(options: Options) -> Ran[Measured]:
    """Run both experiments, our own sections and further claims, and get ns-2's results."""
    scenarios = {conditions: setting.scenario(conditions) for conditions in setting.ALL_CONDITIONS}
    others = further.scenarios()
    results, other_results = run_plans(
        scenarios, others, progress=stage(options.progress, "Skywave")
    )
    ours = {conditions: measures.from_results(run) for conditions, run in results.items()}
    ns2, source = oracle.ORACLE.consult(live=options.live_ns2, progress=options.progress)
    return Ran(
        measured=Measured(ours, ns2, further.measure(other_results), tried.SCAN.read()),
        scenarios={
            **{conditions.name: scenario for conditions, scenario in scenarios.items()},
            **others,
        },
        results={
            **{conditions.name: run for conditions, run in results.items()},
            **other_results,
        },
        ns2=source,
    )


_EXPERIMENT_2 = [setting.Conditions(ssthresh) for ssthresh in setting.PUBLISHED_SSTHRESH]


def _both(measured: Measured) -> tuple[tuple[str, Mapping[Conditions, Series]], ...]:
    """Return the runs of each simulator, with its name."""
    return (("Skywave", measured.ours), ("ns-2", measured.ns2))


def _readings(measured: Measured) -> list[dict[str, Any]]:
    """Return Table 1 for each way to count."""
    return [
        _reading(conditions, simulator, series[conditions])
        for conditions in _EXPERIMENT_2
        for simulator, series in _both(measured)
    ]


def _sections(measured: Measured) -> dict[str, Any]:
    """Return the values of this report's own sections."""
    ours, both = measured.ours, _both(measured)
    wide = _sharing(setting.WIDE_WINDOW, "Skywave", ours[setting.WIDE_WINDOW])
    wide_mbps = {"DCCP": wide["dccp_mbps"], "TCP": wide["tcp_mbps"]}
    return {
        **tried.sections(measured.scanned),
        "published_ssthresh": setting.PUBLISHED_SSTHRESH,
        "table_1": {one: _published_loss(one) for one in setting.PUBLISHED_SSTHRESH},
        "published_full_s": {one: LEDGER.published(f"fig3/ssthresh={one}") for one in (20, 200)},
        "send_queue": [
            {
                "ssthresh": conditions.ssthresh,
                "send_queue": conditions.send_queue,
                "simulator": simulator,
                "published": _published_loss(conditions.ssthresh),
                "loss": series[conditions].loss_percent_of_trace_lines(),
                "arrivals_loss": series[conditions].loss_percent(),
                "full_s": series[conditions].full_s(),
            }
            for conditions in (*_EXPERIMENT_2, *setting.SHORT_QUEUE)
            for simulator, series in both
        ],
        "sharing": [
            _sharing(conditions, simulator, series[conditions])
            for conditions in (setting.EXPERIMENT_1, setting.WIDE_WINDOW)
            for simulator, series in both
        ],
        "short_send_queue": setting.SHORT_SEND_QUEUE,
        "paper_send_queue": setting.PAPER_SEND_QUEUE,
        "paper_window": setting.PAPER_TCP_WINDOW,
        "wide_window": setting.WIDE_TCP_WINDOW,
        "wide_winner": max(wide_mbps, key=lambda flow: wide_mbps[flow]),
        "wide_ratio": max(wide_mbps.values()) / min(wide_mbps.values()),
        "sharing_from_s": measures.ZIGZAG_FROM_S,
    }


def _published_loss(ssthresh: int) -> float:
    """Return a value of Table 1, in %."""
    return LEDGER.published(f"table1/ssthresh={ssthresh}")


def _reading(conditions: Conditions, simulator: str, series: Series) -> dict[str, Any]:
    """Return a row of Table 1 for each way to count."""
    return {
        "ssthresh": conditions.ssthresh,
        "simulator": simulator,
        "published": _published_loss(conditions.ssthresh),
        "drops": int(series.dccp.drops.sum()),
        "arrivals": int(series.dccp.arrivals.sum()),
        "receive_events": series.receive_events,
        "trace_lines": series.loss_percent_of_trace_lines(),
        "whole_run": series.loss_percent(),
        "window": series.loss_percent(*measures.LOSS_WINDOW_S),
    }


def _sharing(conditions: Conditions, simulator: str, series: Series) -> dict[str, Any]:
    """Return the throughput of both flows, and Jain's index."""
    period = (measures.ZIGZAG_FROM_S, float(conditions.duration_s))
    dccp, tcp = (series.mean_bps(flow, *period) for flow in (series.dccp, series.tcp))
    return {
        "window": conditions.tcp_window,
        "simulator": simulator,
        "dccp_mbps": dccp / 1e6,
        "tcp_mbps": tcp / 1e6,
        "jain": jain([dccp, tcp]),
    }


PAPER = Paper(
    protocol=2,
    package=__name__,
    ledger=LEDGER,
    run=_run,
    measures=lambda measured: judge.measure(measured.ours, measured.ns2, measured.further),
    comparisons=lambda measured: judge.compare(measured.ours, measured.ns2),
    figures=lambda measured: figures.draw(measured.ours, measured.ns2),
    readings=_readings,
    sections=_sections,
    stored=(tried.SCAN, tried.TABLE),
    golden=tried.renew_ns2,
    network=matrix.NETWORK,
    controls=matrix.CONTROLS,
)
