"""Lien and Ding 2009: voice over DCCP and over UDP, beside five versions of TCP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skywave.papers.protocol import Paper, Ran
from skywave.papers.reproduction import Ns2Source
from skywave.papers.stages import run_plans, stage
from skywave.scenario.quantities import Duration, Rate
from skywave_papers.lien2009 import (
    agreement,
    beyond,
    canonical,
    figures,
    further,
    judge,
    matrix,
    measures,
    oracle,
    published,
    seeds,
    send_queue,
    setting,
    tried,
)
from skywave_papers.lien2009.judge import PERIODS
from skywave_papers.lien2009.ledger import LEDGER
from skywave_papers.lien2009.measures import over_runs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skywave.papers.protocol import Options
    from skywave.report.figures import Drawn
    from skywave.results import Results
    from skywave_papers.lien2009.further import Further
    from skywave_papers.lien2009.judge import Runs
    from skywave_papers.lien2009.oracle import Periods
    from skywave_papers.lien2009.setting import Conditions


SHOWN_QUEUES = (1, 50, 80, setting.SEND_QUEUE, setting.SEND_QUEUE + 1, 95, 200)
"""The send queues in the report's table."""


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


def _readings(measured: Measured) -> list[dict[str, Any]]:
    """Return the call for each reading of what the paper leaves open."""
    jittered, table_1 = (
        next(one for one in chosen if one.tcp == "NewReno")
        for chosen in (setting.JITTERED, setting.TABLE_1)
    )
    return [
        _reading(label, conditions, measured.ours)
        for label, conditions in (
            ("as for the verdicts", setting.Conditions("NewReno")),
            ("30 ms (Table 1), ns-2's send queue, jitter", table_1),
            ("s = 1460 B (Table 2)", setting.LITERAL_S),
            ("the sender reports the round-trip time (RFC 6323)", setting.TELLS_RTT),
            *((f"a bottleneck of {other.rate}", other) for other in setting.OTHER_RATES),
            ("jitter of TCP senders", jittered),
        )
    ]


def _sections(measured: Measured) -> dict[str, Any]:
    """Return the values of this report's own sections."""
    ours, ns2 = measured.ours, measured.ns2
    return {
        "periods": PERIODS,
        "seeds": len(setting.SEEDS),
        "ns2_runs": oracle.runs(),
        "call": {
            "sent": setting.SENT,
            "received": published.RECEIVED,
            "interval_ms": 1e3 * setting.INTERVAL_S,
            "by_table_1": setting.GAP_S / setting.TABLE_1_INTERVAL_S,
            "kbps": 8e-3 * setting.ON_WIRE_B["dccp"] / setting.INTERVAL_S,
            "send_queue": setting.SEND_QUEUE,
        },
        "by_seeds": seeds.of_blocks(ours),
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
        "agreements": agreement.agreements(ours, ns2),
        "starts": [one for one in send_queue.TABLE.read() if one.send_queue in SHOWN_QUEUES],
        "fitted": _without_fitted(ours),
        "floor": _matches(setting.OTHER_RATES[-1].rate),
        "of_first": [
            one.matches for one in tried.TABLE.read() if one.reading in tried.OF_FIRST_PERIOD
        ],
        "counts": [_counts(conditions, ours) for conditions in setting.TABLES],
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
        "by_latency": measured.further.of_latency("NewReno"),
        "all_tcp_first": measured.further.tcp_first,
        "shares": [
            _share(setting.Conditions(tcp, transport), ours)
            for tcp in setting.FLAVOURS
            for transport in setting.TRANSPORTS
        ],
        "tried": tried.TABLE.read(),
        "tried_rules": {reading.label: reading.sentence for reading in tried.READINGS},
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
                ("Throughput ratio (%)", (100, *published.RATIO[tcp]), "ratio_percent"),
                ("Delay (ms)", published.DELAY_MS[tcp], "delay_ms"),
                ("Loss rate (%)", published.LOSS[tcp], "loss_percent"),
            )
        ],
    }


def _matches(rate: str) -> int:
    """Return how many values are met with another rate of the bottleneck."""
    label = f"a bottleneck of {rate}"
    return next(one.matches for one in tried.TABLE.read() if one.reading == label)


def _without_fitted(ours: Runs) -> dict[str, int]:
    """Return the count without the losses of the period to which the send queue was fitted."""
    fitted = {f"table4/loss/{tcp.lower()}/{PERIODS[0]}" for tcp in setting.FLAVOURS}
    values = judge.published(judge.of_runs(ours))
    judged = {name: value for name, value in values.items() if name not in fitted}
    return {"matches": len(LEDGER.met(judged)), "judged": len(judged)}


def _counts(conditions: Conditions, ours: Runs) -> dict[str, Any]:
    """Return the packets that arrive by period: decoded from both tables, and ours as text."""
    tcp = conditions.tcp
    return {
        "tcp": tcp,
        "table3": (published.RECEIVED, *published.arrived(tcp)),
        "table4": (setting.SENT, *published.kept(tcp)),
        "ours": _row(over_runs(ours[conditions], "received")),
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
    protocol=2,
    package=__name__,
    ledger=LEDGER,
    run=_run,
    measures=lambda measured: judge.measure(measured.ours, measured.ns2, measured.further),
    comparisons=lambda measured: judge.compare(measured.ours, measured.ns2),
    figures=_figures,
    readings=_readings,
    sections=_sections,
    golden=oracle.renew,
    stored=(
        send_queue.TABLE,
        seeds.TABLE,
        further.VARIED,
        further.TCP_FIRST,
        further.RIVALS,
        tried.TABLE,
    ),
    network=matrix.NETWORK,
)
