"""The measurements for the tests of ``paper.toml``, and our means beside ns-2's."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from skywave.papers.cells import NS2_LIMIT_PERCENT, Comparison
from skywave.papers.measures import Measure, Measures, Value
from skywave.stats import average
from skywave_papers.lien2009 import further, setting
from skywave_papers.lien2009.ledger import DELAY_MS, LEDGER, LOSS, RATIO
from skywave_papers.lien2009.measures import Floats, Runs, Spreads, of_runs
from skywave_papers.lien2009.setting import FLAVOURS, GAP_S, Conditions, Transport

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Values: TypeAlias = dict[str, Value]

PERIODS = tuple(f"{start}-{start + GAP_S}" for start in range(0, setting.DURATION_S[1], GAP_S))
_ROWS = {
    "table3": ("ratio_percent", PERIODS[1:]),
    "table4/delay": ("delay_ms", PERIODS),
    "table4/loss": ("loss_percent", PERIODS),
}
"""Measure and periods of the rows of Tables 3 and 4."""
_MUCH_FASTER = ("NewReno", "SACK", "Tahoe")
"""The TCPs that have much more than DCCP, by the paper."""


def measure(ours: Runs, theirs: Spreads) -> Measures:
    """Measure everything. ns-2 repeats neither what is stored nor what needs its series."""
    mine = of_runs(ours)
    lost = {
        "lost": (Conditions("NewReno"), 1),
        "lost_beside_vegas": (Conditions("Vegas"), 1),
        "lost_over_udp": (Conditions("NewReno", "udp"), 1),
        "lost_over_udp_beside_five": (Conditions("NewReno", "udp"), setting.STREAMS),
    }
    return Measures(
        ours={**published(mine), **_claims(mine), **_claims_of_ours(mine, ours)},
        ns2={
            **{name: Measure.of(one).value for name, one in published(theirs).items()},
            **_claims(theirs),
        },
        words={
            name: f"{mine(conditions, 'loss_percent').mean[flows]:.0f}"
            for name, (conditions, flows) in lost.items()
        },
    )


def published(of: Spreads, allowing_for: Spreads | None = None) -> Values:
    """Measure the values of tables and figures.

    Rules allow for deviations of single runs: those of ``allowing_for``, or else of ``of``.
    """
    udp, vegas = Conditions("NewReno", "udp"), Conditions("Vegas")
    return {
        **tables(setting.TABLES, of, allowing_for),
        "text/udp-delay": _finite(of(udp, "delay_ms").mean.max()),
        "text/udp-loss": _finite(of(udp, "loss_percent").mean.max()),
        "text/vegas-delay": _finite(of(vegas, "delay_ms").mean[1]),
        "text/vegas-loss": _finite(of(vegas, "loss_percent").mean[1]),
    }


def tables(
    chosen: Sequence[Conditions], of: Spreads, allowing_for: Spreads | None = None
) -> Values:
    """Measure Tables 3 and 4 by one setting for each TCP."""
    values: Values = {}
    for conditions in chosen:
        for row, (what, periods) in _ROWS.items():
            means = of(conditions, what).mean[-len(periods) :]
            deviations = (allowing_for or of)(conditions, what).sd[-len(periods) :]
            for period, mean, sd in zip(periods, means, deviations, strict=True):
                name = f"{row}/{conditions.tcp.lower()}/{period}"
                values[name] = Measure(_finite(mean), sd=float(sd))
    return values


def _finite(value: float) -> float | None:
    """Return None if nothing was received, so that there is nothing to measure."""
    return float(value) if np.isfinite(value) else None


def _beside_each(of: Spreads, what: str, transport: Transport = "dccp") -> dict[str, Floats]:
    """Return the means of a measure by period, beside each TCP."""
    return {tcp: of(Conditions(tcp, transport), what).mean for tcp in FLAVOURS}


def _claims(of: Spreads) -> dict[str, float]:
    """Measure what both simulators run."""
    ratio, delay_ms, loss = (
        _beside_each(of, what) for what in ("ratio_percent", "delay_ms", "loss_percent")
    )
    ratio_of_udp, delay_of_udp_ms, loss_of_udp = (
        {tcp: means[1:] for tcp, means in _beside_each(of, what, "udp").items()}
        for what in ("ratio_percent", "delay_ms", "loss_percent")
    )
    values = {
        **{f"3.2/udp-keeps/{tcp.lower()}": one.min() for tcp, one in ratio_of_udp.items()},
        "3.2/one-tcp": ratio["NewReno"][1],
        "3.2/vegas-courtesy": ratio["Vegas"][1]
        - max(one[1] for tcp, one in ratio.items() if tcp != "Vegas"),
        "3.2/two-vegas": ratio["Vegas"][2],
        "3.2/three-vegas": ratio["Vegas"][3],
        "3.3/udp-delay": np.max([*delay_of_udp_ms.values()]),
        "3.3/udp-loss": np.max([*loss_of_udp.values()]),
        **{f"3.3/longer-delay/{tcp.lower()}": np.diff(one).min() for tcp, one in delay_ms.items()},
        **{f"3.3/higher-loss/{tcp.lower()}": np.diff(one).min() for tcp, one in loss.items()},
        "3.3/one-newreno": loss["NewReno"][1],
        "4/loss": min(one[1] for one in loss.values()),
        "4/delay": min(one[-1] for one in delay_ms.values()),
        "5/many-vegas": loss["Vegas"][2:].min(),
    }
    return {name: float(value) for name, value in values.items()}


def _claims_of_ours(mine: Spreads, ours: Runs) -> Values:
    """Measure what needs our series, sources that ns-2 does not have, or the stored runs."""
    delay_ms = _beside_each(mine, "delay_ms")

    def tcp_kbps(tcp: str, transport: Transport) -> Floats:
        """Return the throughput of the first TCP flow, by period from 10 s on."""
        by_second = mine(Conditions(tcp, transport), "tcp_kbps").mean[: setting.DURATION_S[1]]
        return np.asarray(by_second.reshape(-1, GAP_S).mean(axis=1)[1:])

    def gain(tcp: str) -> float:
        """Return by how much more is played if the source adapts."""
        adapts, does_not = (
            mine(Conditions(tcp, adapt=adapt), "played_percent").mean[1:].mean()
            for adapt in (True, False)
        )
        return float(adapts - does_not)

    beside_five_vegas = 100 - mine(Conditions("Vegas"), "loss_percent").mean[-1]
    beside_vegas_first = further.TCP_FIRST.row(tcp="Vegas", transport="dccp").arrived_percent
    values: Values = {
        "1/vegas-yields": further.RIVALS.row(pair=further.VEGAS_AND_NEWRENO).goodput_percent,
        "2.4/near-and-far": further.RIVALS.row(pair=further.NEAR_AND_FAR).goodput_percent,
        "3.2/vegas-first": float(100 * beside_vegas_first / beside_five_vegas),
        "3.3/vegas-sooner": float(
            delay_ms["Vegas"][1] - min(one[1] for tcp, one in delay_ms.items() if tcp != "Vegas")
        ),
        "4/friendlier": float(
            min(tcp_kbps(tcp, "dccp")[0] - tcp_kbps(tcp, "udp")[0] for tcp in FLAVOURS)
        ),
        "5/adapting": min(gain(tcp) for tcp in FLAVOURS),
    }
    for transport in setting.TRANSPORTS:
        change = np.diff(tcp_kbps("NewReno", transport)).max()
        values[f"3.2/tcp1-beside-{transport}"] = float(change)
    for tcp in _MUCH_FASTER:
        share = further.of_tcp_percent(ours[Conditions(tcp)], slice(GAP_S, setting.DURATION_S[1]))
        values[f"3.2/much-less/{tcp.lower()}"] = share
        share = further.TCP_FIRST.row(tcp=tcp, transport="dccp").of_tcp_percent
        values[f"3.2/much-less-tcp-first/{tcp.lower()}"] = share
    for tcp in FLAVOURS:
        name, usual = tcp.lower(), further.varied(Conditions(tcp), ours[Conditions(tcp)])
        over_udp = further.TCP_FIRST.row(tcp=tcp, transport="udp")
        values[f"3.2/udp-keeps-tcp-first/{name}"] = over_udp.least_percent
        for rate in ("1.5 Mbps", "10 Mbps"):
            loss = further.VARIED.row(tcp=tcp, rate=rate).loss_percent
            values[f"table1/{rate.lower().replace(' ', '')}/{name}"] = loss
        for what, unit in (("ratio", "percent"), ("queuing", "ms")):
            # The largest change from the paper's latency, and the latency that makes it.
            changes = {
                other.latency: getattr(other, f"{what}_{unit}") - getattr(usual, f"{what}_{unit}")
                for other in further.of_latency(tcp)
            }
            latency = max(changes, key=lambda one: abs(changes[one]))
            values[f"3.1/latency/{what}/{name}"] = Measure(
                changes[latency], {"latency": latency}, sd=getattr(usual, f"{what}_sd")
            )
    return values


_COMPARED = {
    "throughput ratio": ("ratio_percent", "%"),
    "delay": ("delay_ms", "ms"),
    "loss rate": ("loss_percent", "%"),
}
"""Measure and unit, by quantity."""
_COMPARED_PERIODS = {
    1: {"10-20 s": slice(1, 2), "10-60 s": slice(1, None)},
    2: {},
    3: {"10-60 s, one TCP": slice(1, 6), "100-200 s, one TCP": slice(10, None)},
}
"""The periods over which we compare with ns-2, by scenario and label."""


def compare(ours: Runs, theirs: Spreads) -> list[Comparison]:
    """Compare with ns-2: the first period beside each TCP, and all periods."""
    comparisons = []
    for conditions in setting.IN_NS2:
        for quantity, (what, unit) in _COMPARED.items():
            if quantity == "loss rate" and conditions.transport == "dccp":
                continue  # the complement of the ratio
            for period, chosen in _COMPARED_PERIODS[conditions.scenario].items():
                by_seed = [np.nanmean(getattr(run, what)[chosen]) for run in ours[conditions]]
                mine = average([float(one) for one in by_seed])
                comparisons.append(
                    Comparison(
                        quantity=f"{quantity} of voice over {conditions.transport.upper()}",
                        conditions={
                            "TCP": conditions.tcp,
                            "period": period,
                            "jitter": "yes" if conditions.jitter else "no",
                            "interval (ms)": f"{1e3 * conditions.interval_s:.4g}",
                        },
                        unit=unit,
                        ours=_finite(mine.value),
                        ns2=_finite(theirs(conditions, what).mean[chosen].mean()),
                        limit_percent=NS2_LIMIT_PERCENT,
                        # Some means differ by more than the limit by chance.
                        interval95=_finite(mine.margin),
                    )
                )
    return comparisons


def without_fitted(ours: Spreads) -> tuple[int, int]:
    """Return how many values match without those that the send queue was fitted to, of how many."""
    fitted = {f"table4/loss/{tcp.lower()}/{PERIODS[0]}" for tcp in FLAVOURS}
    values = published(ours)
    judged = {name: value for name, value in values.items() if name not in fitted}
    return len(LEDGER.met(judged)), len(judged)


def agreements(ours: Spreads, ns2: Spreads) -> dict[str, list[dict[str, float]]]:
    """Return how near both simulators come to Tables 3 and 4, by the label of the setting.

    ``matches`` of the values ``judged`` meet their rules, which allow for deviations of ours. The
    others are root-mean-square distances of means from 10 s on, in percentage points and ms.
    """

    def agreement(chosen: Sequence[Conditions], of: Spreads) -> dict[str, float]:
        def distance(measure: str, printed: Mapping[str, tuple[float, ...]]) -> float:
            differences = [
                of(conditions, measure).mean[1:] - np.array(printed[conditions.tcp][-5:])
                for conditions in chosen
            ]
            return float(np.sqrt(np.mean(np.square(differences))))

        values = tables(chosen, of, allowing_for=ours)
        return {
            "judged": len(values),
            "matches": len(LEDGER.met(values)),
            "ratio": distance("ratio_percent", RATIO),
            "delay_ms": distance("delay_ms", DELAY_MS),
            "loss": distance("loss_percent", LOSS),
        }

    settings = {
        "as for the verdicts": setting.TABLES,
        "with jitter": setting.JITTERED,
        "30 ms, ns-2's send queue, jitter": setting.TABLE_1,
    }
    return {label: [agreement(one, of) for of in (ours, ns2)] for label, one in settings.items()}
