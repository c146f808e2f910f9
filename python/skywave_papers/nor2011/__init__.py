"""Nor et al. 2011: the effect of CCID 2's initial slow-start threshold on a long-delay link."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skywave._printing import number
from skywave.papers.citation import Citation
from skywave.papers.protocol import Paper, Ran
from skywave.papers.reproduction import Finding
from skywave.papers.stages import run_plans, stage
from skywave.results.fairness import jain
from skywave_papers.nor2011 import (
    cells,
    claims,
    figures,
    further,
    matrix,
    measures,
    oracle,
    setting,
    tried,
)
from skywave_papers.nor2011.sentences import SENTENCES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skywave.papers.cells import Cell
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
    ns2, source = oracle.ORACLE.consult(
        live=options.live_ns2, progress=stage(options.progress, "ns-2")
    )
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


def _cells(measured: Measured) -> list[Cell]:
    return cells.published_cells(measured.ours, measured.ns2)


def _claims(measured: Measured) -> list[Cell]:
    return claims.further_claims(measured.ours, measured.ns2, measured.further)


def _finding(measured: Measured) -> Finding:
    """Return how much sooner a larger threshold fills the link: the published gain, and ours."""
    judged = {cell.id: cell for cell in _cells(measured)}
    gain = judged["fig3/200-sooner-than-20"]
    slow, fast = (
        measured.ours[setting.Conditions(ssthresh, send_queue=setting.SHORT_SEND_QUEUE)].full_s()
        for ssthresh in (setting.PUBLISHED_SSTHRESH[0], setting.PUBLISHED_SSTHRESH[-1])
    )
    without_backlog = None if slow is None or fast is None else slow - fast
    return Finding(
        "Starting up more boldly (with a slow-start threshold of "
        f"{setting.PUBLISHED_SSTHRESH[-1]} packets instead of {setting.PUBLISHED_SSTHRESH[0]}) "
        f"fills a satellite link {number(gain.ours)} s sooner here and {number(gain.ns2)} s sooner "
        f"in ns-2, not {number(gain.published)} s, the difference of the published times: the "
        "first burst overflows the short queue in front of the link, and the sender must slow down "
        f"again. With a short send queue the gain is {number(without_backlog)} s, but then fewer "
        "packets are lost than published.",
        "figure3",
        f"Starting up with a slow-start threshold of {setting.PUBLISHED_SSTHRESH[-1]} packets "
        f"instead of {setting.PUBLISHED_SSTHRESH[0]} does fill a satellite link sooner, but by "
        f"{number(gain.ours)} s here and {number(gain.ns2)} s in ns-2, not by "
        f"{number(gain.published)} s.",
    )


def _sections(measured: Measured) -> dict[str, Any]:
    """Return the values of this report's own sections."""
    ours, both = measured.ours, _both(measured)
    wide = _sharing(setting.WIDE_WINDOW, "Skywave", ours[setting.WIDE_WINDOW])
    wide_mbps = {"DCCP": wide["dccp_mbps"], "TCP": wide["tcp_mbps"]}
    return {
        **tried.sections(measured.scanned),
        "published_ssthresh": setting.PUBLISHED_SSTHRESH,
        "table_1": cells.TABLE_1,
        "published_full_s": cells.FIGURE_3_S,
        "sentences": SENTENCES,
        "verdicts": {cell.id: cell.verdict for cell in (*_cells(measured), *_claims(measured))},
        "send_queue": [
            {
                "ssthresh": conditions.ssthresh,
                "send_queue": conditions.send_queue,
                "simulator": simulator,
                "published": cells.TABLE_1[conditions.ssthresh],
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
        "table_1_rule": cells.TABLE_1_RULE.text,
    }


def _reading(conditions: Conditions, simulator: str, series: Series) -> dict[str, Any]:
    """Return a row of Table 1 for each way to count."""
    return {
        "ssthresh": conditions.ssthresh,
        "simulator": simulator,
        "published": cells.TABLE_1[conditions.ssthresh],
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
    citation=Citation(
        key="nor2011",
        title="The Performance of DCCP TCP-like with Initial Slow-start Threshold Manipulation",
        authors="S. A. Nor, S. Hassan, O. Ghazali, M. H. Omar",
        year=2011,
    ),
    parameters=setting.PARAMETERS,
    run=_run,
    cells=_cells,
    printed=(cells.LOSSES,),
    comparisons=lambda measured: cells.ns2_comparisons(measured.ours, measured.ns2),
    claims=_claims,
    finding=_finding,
    figures=lambda measured: figures.draw(measured.ours, measured.ns2),
    readings=_readings,
    sections=_sections,
    stored=(tried.SCAN, tried.TABLE),
    golden=tried.renew_ns2,
    network=matrix.NETWORK,
    controls=matrix.CONTROLS,
)
