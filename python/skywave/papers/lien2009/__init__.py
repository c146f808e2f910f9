"""Lien and Ding 2009: voice over DCCP and over UDP, beside five versions of TCP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from skywave.papers.lien2009 import (
    beyond,
    canonical,
    cells,
    claims,
    figures,
    further,
    matrix,
    measures,
    oracle,
    seeds,
    sentences,
    setting,
    tried,
)
from skywave.papers.lien2009.measures import over_runs
from skywave.papers.protocol import Paper, Ran
from skywave.papers.reproduction import Citation, Finding, Ns2Source
from skywave.papers.stages import run_plans, stage
from skywave.quantities import Duration, Rate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skywave.papers.cells import Cell
    from skywave.papers.figures import Drawn
    from skywave.papers.lien2009.cells import Runs
    from skywave.papers.lien2009.further import Further
    from skywave.papers.lien2009.oracle import Periods
    from skywave.papers.lien2009.setting import Conditions, Transport
    from skywave.papers.protocol import Options
    from skywave.results import Results


@dataclass(frozen=True)
class Measured:
    """Both scenarios, ns-2's results for them, and our own sections."""

    ours: Runs
    ns2: Mapping[str, Periods]
    beyond: Mapping[beyond.Case, beyond.Outcome]
    canonical: Mapping[tuple[str, int], Results]
    further: Further


def _run(options: Options) -> Ran[Measured]:
    """Run both scenarios and our own sections.

    ns-2's results are always the stored ones, since its many runs take minutes.
    """
    plan = {
        (conditions, seed): setting.scenario(conditions, seed)
        for conditions in setting.ALL_CONDITIONS
        for seed in setting.SEEDS
    }
    other, panels = beyond.plan(), canonical.plan()
    results, others, drawn = run_plans(
        plan, other, panels, progress=stage(options.progress, "Skywave")
    )
    ours: Runs = {
        conditions: [
            measures.from_results(conditions, results[conditions, seed]) for seed in setting.SEEDS
        ]
        for conditions in setting.ALL_CONDITIONS
    }
    first = min(setting.SEEDS)
    return Ran(
        measured=Measured(ours, oracle.periods(), beyond.outcomes(others), drawn, further.read()),
        # One run of each setting. The others differ only in their seed.
        scenarios={
            conditions.name: plan[conditions, first] for conditions in setting.ALL_CONDITIONS
        },
        results={
            conditions.name: results[conditions, first] for conditions in setting.ALL_CONDITIONS
        },
        ns2=Ns2Source("stored", oracle.remark()),
    )


def _figures(measured: Measured) -> list[Drawn]:
    """Draw the paper's figures and those of our own sections."""
    ours, ns2 = measured.ours, measured.ns2
    return [
        figures.draw_finding(ours, ns2),
        *figures.draw(ours, ns2, oracle.seconds()),
        *figures.draw_ours(ours, ns2, measured.beyond, measured.canonical),
    ]


def _claims(measured: Measured) -> list[Cell]:
    """Judge what the paper says elsewhere than in its tables and figures."""
    return claims.further_claims(measured.ours, measured.ns2, measured.further)


def _finding(measured: Measured) -> Finding:
    """Say what a call loses beside one TCP flow, over each transport."""

    def beside_one(transport: Transport, what: str) -> str:
        runs = measured.ours[setting.Conditions("NewReno", transport)]
        return f"{over_runs(runs, what).mean[1]:.0f}"

    return Finding(
        "On a slow link, one file transfer over TCP is enough to ruin a phone call over DCCP, as "
        f"the paper says: {beside_one('dccp', 'loss_percent')} % of its packets do not arrive "
        f"(published: {cells.LOSS['NewReno'][1]:.0f} %). But the same call over UDP, which keeps "
        f"{beside_one('udp', 'ratio_percent')} % of its rate, is no answer: "
        f"{beside_one('udp', 'late_percent')} % of its packets arrive later than the "
        f"{setting.DEADLINE_S * 1e3:.0f} ms that the paper allows at its strictest.",
        "finding",
        "On a slow link, one TCP flow does ruin a phone call over DCCP: "
        f"{beside_one('dccp', 'loss_percent')} % of its packets do not arrive (published: "
        f"{cells.LOSS['NewReno'][1]:.0f} %). But UDP is no answer: "
        f"{beside_one('udp', 'late_percent')} % of its packets arrive too late.",
    )


def _readings(measured: Measured) -> list[dict[str, Any]]:
    """Return the call for each reading of what the paper leaves open."""
    return [
        _reading(label, conditions, measured.ours)
        for label, conditions in (
            ("0.25 Mbps, s = 80 B (the reading used)", setting.Conditions("NewReno")),
            ("0.25 Mbps, s = 1460 B (Table 2 literally)", setting.LITERAL_S),
            ("0.25 Mbps, the sender reports the round-trip time (RFC 6323)", setting.TELLS_RTT),
            *((f"{other.rate}, s = 80 B", other) for other in setting.OTHER_RATES),
            ("0.25 Mbps, no jitter", setting.Conditions("NewReno", jitter=False)),
        )
    ]


def _sections(measured: Measured) -> dict[str, Any]:
    """Return the values of this report's own sections."""
    ours, ns2 = measured.ours, measured.ns2
    return {
        "periods": cells.PERIODS,
        "seeds": len(setting.SEEDS),
        "ns2_runs": oracle.runs(),
        "beside_vegas": _beside_vegas(ours),
        "by_seeds": seeds.of_blocks(ours, ns2),
        "other_seeds": seeds.TABLE.read(),
        "ratio_beside_one": {
            conditions.rules: float(over_runs(ours[conditions], "ratio_percent").mean[1])
            for conditions in (setting.Conditions("NewReno"), setting.RFC_3448)
        },
        "deadline_ms": setting.DEADLINE_S * 1e3,
        "jitter": setting.JITTER,
        "adaptive_frames": setting.ADAPTIVE_FRAMES,
        "tables": [
            _tables(conditions, ours, ns2[conditions.name]) for conditions in setting.TABLES
        ],
        "misses": [
            _miss(name, chosen, ours)
            for name, chosen in (
                ("with jitter", setting.TABLES),
                ("without jitter", setting.NO_JITTER),
            )
        ],
        "tcp_first": [_tcp_first(conditions, ours) for conditions in setting.TCP_FIRST],
        "where": [
            _where(label, conditions, ours)
            for tcp in setting.FLAVOURS
            for label, conditions in (
                ("UDP", setting.Conditions(tcp, "udp")),
                ("DCCP", setting.Conditions(tcp)),
                ("DCCP, adaptive", setting.Conditions(tcp, adapt=True)),
            )
        ],
        "beyond": beyond.tables(measured.beyond),
        "sentences": sentences.SENTENCES,
        "held": sentences.held([*cells.published_cells(ours, ns2), *_claims(measured)]),
        "varied": [
            row
            for tcp in setting.FLAVOURS
            for row in sorted(
                (
                    further.varied(setting.Conditions(tcp), ours[setting.Conditions(tcp)]),
                    *(other for other in measured.further.varied if other.tcp == tcp),
                ),
                key=lambda row: (Rate(row.rate).bps, Duration(row.latency).seconds),
            )
        ],
        "by_latency": [
            next(row for row in measured.further.of_latency("NewReno") if row.latency == latency)
            for latency in (setting.LATENCIES[0], setting.LATENCIES[-1])
        ],
        "all_tcp_first": measured.further.tcp_first,
        "shares": [
            _share(setting.Conditions(tcp, transport), ours)
            for tcp in setting.FLAVOURS
            for transport in setting.TRANSPORTS
        ],
        "tried": tried.TABLE.read(),
        "tried_rules": {reading.label: reading.sentence for reading in tried.READINGS},
        "distances": tried.distances(ours, ns2),
        "least_inverted_ratio": tried.least_inverted_ratio(),
        "longest_ms": setting.LONGEST_MS,
    }


def _beside_vegas(ours: Runs) -> dict[str, float]:
    """Return the widest gap between the delays of UDP's calls beside one Vegas, and what is above.

    They are the means of single runs from 10 to 20 s.
    """
    delays = np.sort([run.delay_ms[1] for run in ours[setting.Conditions("Vegas", "udp")]])
    above = int(np.argmax(np.diff(delays))) + 1
    return {
        "short_ms": float(delays[above - 1]),
        "long_ms": float(delays[above]),
        "long_runs": delays.size - above,
    }


def _share(conditions: Conditions, ours: Runs) -> dict[str, Any]:
    """Return the call's share relative to that of the first TCP flow, in bytes and packets.

    It is that beside one flow, and beside five.
    """
    runs = ours[conditions]
    on_wire_b = setting.ON_WIRE_B[conditions.transport]
    percent = [
        further.of_tcp_percent(runs, slice(begin_s, begin_s + setting.GAP_S))
        for begin_s in (setting.GAP_S, setting.STREAMS * setting.GAP_S)
    ]
    return {
        "label": f"{conditions.transport.upper()} beside {conditions.tcp}",
        "bytes": percent,
        "packets": [share * setting.SEGMENT_ON_WIRE_B / on_wire_b for share in percent],
    }


def _row(spread: measures.Spread) -> list[str]:
    return [f"{mean:.0f} ± {sd:.0f}" for mean, sd in zip(spread.mean, spread.sd, strict=True)]


def _tables(conditions: Conditions, ours: Runs, ns2: Periods) -> dict[str, Any]:
    """Return Tables 3 and 4 for one TCP as text: published, ours and ns-2's, with spread."""
    runs, tcp = ours[conditions], conditions.tcp
    return {
        "tcp": tcp,
        "rows": [
            {
                "quantity": quantity,
                "published": published,
                "ours": _row(over_runs(runs, measure)),
                "ns2": _row(getattr(ns2, measure)),
            }
            for quantity, published, measure in (
                ("Throughput ratio (%)", (100, *cells.RATIO[tcp]), "ratio_percent"),
                ("Delay (ms)", cells.DELAY_MS[tcp], "delay_ms"),
                ("Loss rate (%)", cells.LOSS[tcp], "loss_percent"),
            )
        ],
    }


def _miss(name: str, chosen: tuple[Conditions, ...], ours: Runs) -> dict[str, Any]:
    """Return the root-mean-square distances of our means to Tables 3 and 4."""

    def distance(measure: str, published: Mapping[str, tuple[float, ...]], first: int) -> float:
        differences = [
            over_runs(ours[conditions], measure).mean[first:]
            - np.array(published[conditions.tcp][-5:])
            for conditions in chosen
        ]
        return float(np.sqrt(np.mean(np.square(differences))))

    return {
        "name": name,
        "ratio": distance("ratio_percent", cells.RATIO, 1),
        "delay": distance("delay_ms", cells.DELAY_MS, 1),
        "loss": distance("loss_percent", cells.LOSS, 1),
    }


def _reading(label: str, conditions: Conditions, ours: Runs) -> dict[str, Any]:
    runs = ours[conditions]
    return {
        "label": label,
        "first_loss": float(over_runs(runs, "loss_percent").mean[0]),
        "idle_delay": float(over_runs(runs, "delay_ms").mean[0]),
        "ratio": _row(over_runs(runs, "ratio_percent"))[1:],
        "delay": _row(over_runs(runs, "delay_ms"))[1:],
    }


def _tcp_first(conditions: Conditions, ours: Runs) -> dict[str, Any]:
    runs = ours[conditions]
    return {
        "label": f"{conditions.transport.upper()} beside {conditions.tcp}",
        "received": _row(over_runs(runs, "received")),
        "delay": _row(over_runs(runs, "delay_ms")),
        "loss": _row(over_runs(runs, "loss_percent")),
    }


def _where(label: str, conditions: Conditions, ours: Runs) -> dict[str, Any]:
    """Return the fate of the frames made from 10 to 60 s."""
    runs = ours[conditions]

    def mean(measure: str) -> float:
        return float(over_runs(runs, measure).mean[1:].mean())

    return {
        "tcp": conditions.tcp,
        "label": label,
        "waiting": mean("waiting_percent"),
        "network": mean("network_loss_percent"),
        "late": mean("late_percent"),
        "played": mean("played_percent"),
    }


PAPER = Paper(
    protocol=1,
    package=__name__,
    citation=Citation(
        key="lien2009",
        title="Can DCCP Replace UDP in Changing Network Conditions?",
        authors="Y.-N. Lien, Y.-C. Ding",
        year=2009,
    ),
    parameters=setting.PARAMETERS,
    run=_run,
    cells=lambda measured: cells.published_cells(measured.ours, measured.ns2),
    claims=_claims,
    finding=_finding,
    comparisons=lambda measured: cells.ns2_comparisons(measured.ours, measured.ns2),
    figures=_figures,
    readings=_readings,
    sections=_sections,
    golden=oracle.renew,
    stored=(seeds.TABLE, further.VARIED, further.TCP_FIRST, further.RIVALS, tried.TABLE),
    network=matrix.NETWORK,
)
