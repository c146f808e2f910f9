"""The measurements for the tests of ``paper.toml``, and our means beside ns-2's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from skywave.papers.cells import NS2_LIMIT_PERCENT, Comparison
from skywave.papers.measures import Measure, Measures, Value
from skywave_papers.lien2009 import further
from skywave_papers.lien2009.ledger import LEDGER
from skywave_papers.lien2009.measures import mean_over_runs, over_runs
from skywave_papers.lien2009.setting import (
    DURATION_S,
    FLAVOURS,
    GAP_S,
    STREAMS,
    TABLES,
    TRANSPORTS,
    Conditions,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from skywave_papers.lien2009.further import VariedResult
    from skywave_papers.lien2009.measures import Floats, Run, Spread
    from skywave_papers.lien2009.oracle import Periods
    from skywave_papers.lien2009.setting import Transport

    Runs = Mapping[Conditions, Sequence[Run]]
    Spreads = Callable[[Conditions, str], Spread]
    """Mean and deviation of a measure under some conditions, by period."""
    Values = dict[str, Value]


PERIODS = tuple(f"{start}-{start + GAP_S}" for start in range(0, DURATION_S[1], GAP_S))
_ROWS = {
    "table3": ("ratio_percent", PERIODS[1:]),
    "table4/delay": ("delay_ms", PERIODS),
    "table4/loss": ("loss_percent", PERIODS),
}
"""Measure and periods of the rows of Tables 3 and 4."""
_MUCH_FASTER = ("NewReno", "SACK", "Tahoe")
"""The TCPs that have much more than DCCP, by the paper."""


def measure(ours: Runs, ns2: Mapping[str, Periods]) -> Measures:
    """Measure everything. ns-2 repeats neither what is stored nor what needs its series."""
    mine, theirs = of_runs(ours), of_ns2(ns2)

    def lost(conditions: Conditions, flows: int) -> str:
        return f"{mine(conditions, 'loss_percent').mean[flows]:.0f}"

    over_udp = Conditions("NewReno", "udp")
    return Measures(
        ours={
            **published(mine),
            **_claims(mine),
            **_claims_of_ours(mine, ours),
            **_further_claims(mine, ours),
        },
        ns2={
            **{name: Measure.of(one).value for name, one in published(theirs).items()},
            **_claims(theirs),
        },
        words={
            "lost": lost(Conditions("NewReno"), 1),
            "lost_beside_vegas": lost(Conditions("Vegas"), 1),
            "lost_over_udp": lost(over_udp, 1),
            "lost_over_udp_beside_five": lost(over_udp, STREAMS),
        },
    )


def of_runs(runs: Runs) -> Spreads:
    """Return the spreads of our runs."""
    return lambda conditions, what: over_runs(runs[conditions], what)


def of_ns2(periods: Mapping[str, Periods]) -> Spreads:
    """Return the spreads of ns-2's runs."""
    return lambda conditions, what: getattr(periods[conditions.name], what)


def published(of: Spreads, allowing_for: Spreads | None = None) -> Values:
    """Measure the values of tables and figures.

    Rules allow for deviations of single runs: those of ``allowing_for``, or else of ``of``.
    """
    udp, vegas = Conditions("NewReno", "udp"), Conditions("Vegas")
    return {
        **tables(TABLES, of, allowing_for),
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
    ratio = _beside_each(of, "ratio_percent")
    delay_ms, loss = _beside_each(of, "delay_ms"), _beside_each(of, "loss_percent")
    ratio_of_udp = _beside_each(of, "ratio_percent", "udp")
    delay_of_udp_ms, loss_of_udp = (
        [one[1:] for one in _beside_each(of, what, "udp").values()]
        for what in ("delay_ms", "loss_percent")
    )
    others = [one[1] for tcp, one in ratio.items() if tcp != "Vegas"]
    values = {
        **{f"3.2/udp-keeps/{tcp.lower()}": one[1:].min() for tcp, one in ratio_of_udp.items()},
        "3.2/one-tcp": ratio["NewReno"][1],
        "3.2/vegas-courtesy": ratio["Vegas"][1] - max(others),
        "3.2/two-vegas": ratio["Vegas"][2],
        "3.2/three-vegas": ratio["Vegas"][3],
        "3.3/udp-delay": np.max(delay_of_udp_ms),
        "3.3/udp-loss": np.max(loss_of_udp),
        **{f"3.3/longer-delay/{tcp.lower()}": np.diff(one).min() for tcp, one in delay_ms.items()},
        **{f"3.3/higher-loss/{tcp.lower()}": np.diff(one).min() for tcp, one in loss.items()},
        "3.3/one-newreno": loss["NewReno"][1],
        "4/loss": min(one[1] for one in loss.values()),
        "4/delay": min(one[-1] for one in delay_ms.values()),
        "5/many-vegas": loss["Vegas"][2:].min(),
    }
    return {name: float(value) for name, value in values.items()}


def _claims_of_ours(mine: Spreads, ours: Runs) -> Values:
    """Measure what needs our series, or sources that ns-2 does not have."""
    delay_ms = _beside_each(mine, "delay_ms")

    def tcp_kbps(tcp: str, transport: Transport) -> Floats:
        """Return the throughput of the first TCP flow, by period from 10 s on."""
        by_second = mine(Conditions(tcp, transport), "tcp_kbps").mean[: DURATION_S[1]]
        means: Floats = by_second.reshape(-1, GAP_S).mean(axis=1)[1:]
        return means

    def gain(tcp: str) -> float:
        """Return by how much more is played if the source adapts."""
        adapts, does_not = (
            mine(Conditions(tcp, adapt=adapt), "played_percent").mean[1:].mean()
            for adapt in (True, False)
        )
        return float(adapts - does_not)

    return {
        **{
            f"3.2/tcp1-beside-{transport}": float(np.diff(tcp_kbps("NewReno", transport)).max())
            for transport in TRANSPORTS
        },
        **{
            f"3.2/much-less/{tcp.lower()}": further.of_tcp_percent(
                ours[Conditions(tcp)], slice(GAP_S, DURATION_S[1])
            )
            for tcp in _MUCH_FASTER
        },
        "3.3/vegas-sooner": float(
            delay_ms["Vegas"][1] - min(one[1] for tcp, one in delay_ms.items() if tcp != "Vegas")
        ),
        "4/friendlier": float(
            min(tcp_kbps(tcp, "dccp")[0] - tcp_kbps(tcp, "udp")[0] for tcp in FLAVOURS)
        ),
        "5/adapting": min(gain(tcp) for tcp in FLAVOURS),
    }


def _further_claims(mine: Spreads, ours: Runs) -> Values:
    """Measure what only the stored runs can tell."""
    beside_five_vegas = 100 - mine(Conditions("Vegas"), "loss_percent").mean[-1]
    beside_vegas_first = further.TCP_FIRST.row(tcp="Vegas", transport="dccp").arrived_percent
    values: Values = {
        "1/vegas-yields": further.RIVALS.row(pair=further.VEGAS_AND_NEWRENO).goodput_percent,
        "2.4/near-and-far": further.RIVALS.row(pair=further.NEAR_AND_FAR).goodput_percent,
        "3.2/vegas-first": float(100 * beside_vegas_first / beside_five_vegas),
    }
    for tcp in _MUCH_FASTER:
        share = further.TCP_FIRST.row(tcp=tcp, transport="dccp").of_tcp_percent
        values[f"3.2/much-less-tcp-first/{tcp.lower()}"] = share
    for tcp in FLAVOURS:
        name, conditions = tcp.lower(), Conditions(tcp)
        usual, others = further.varied(conditions, ours[conditions]), further.of_latency(tcp)
        values |= {
            f"3.1/latency/ratio/{name}": _largest_change("ratio", "percent", usual, others),
            f"3.1/latency/queuing/{name}": _largest_change("queuing", "ms", usual, others),
            f"3.2/udp-keeps-tcp-first/{name}": further.TCP_FIRST.row(
                tcp=tcp, transport="udp"
            ).least_percent,
            f"table1/1.5mbps/{name}": further.VARIED.row(tcp=tcp, rate="1.5 Mbps").loss_percent,
            f"table1/10mbps/{name}": further.VARIED.row(tcp=tcp, rate="10 Mbps").loss_percent,
        }
    return values


def _largest_change(
    what: str, unit: str, usual: VariedResult, others: Sequence[VariedResult]
) -> Measure:
    """Return the largest change from the paper's latency, and the latency that makes it."""
    before = getattr(usual, f"{what}_{unit}")
    changes = {other.latency: getattr(other, f"{what}_{unit}") - before for other in others}
    latency = max(changes, key=lambda one: abs(changes[one]))
    return Measure(changes[latency], {"latency": latency}, sd=getattr(usual, f"{what}_sd"))


_COMPARED = {
    "throughput ratio": ("ratio_percent", "%"),
    "delay": ("delay_ms", "ms"),
    "loss rate": ("loss_percent", "%"),
}
"""Measure and unit, by quantity."""
_COMPARED_PERIODS = {
    1: {"10-20 s": slice(1, 2), "10-60 s": slice(1, None)},
    3: {"10-60 s, one TCP": slice(1, 6), "100-200 s, one TCP": slice(10, None)},
}
"""The periods over which we compare with ns-2, by scenario and label."""


def compare(ours: Runs, ns2: Mapping[str, Periods]) -> list[Comparison]:
    """Compare with ns-2: the first period beside each TCP, and all periods."""
    comparisons = []
    for conditions, runs in ours.items():
        if conditions.name not in ns2 or conditions.scenario not in _COMPARED_PERIODS:
            continue
        for quantity, (what, unit) in _COMPARED.items():
            if quantity == "loss rate" and conditions.transport == "dccp":
                continue  # the complement of the ratio
            theirs: Floats = getattr(ns2[conditions.name], what).mean
            for period, chosen in _COMPARED_PERIODS[conditions.scenario].items():
                mine = mean_over_runs(runs, what, chosen)
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
                        ns2=_finite(theirs[chosen].mean()),
                        limit_percent=NS2_LIMIT_PERCENT,
                        # Some means differ by more than the limit by chance.
                        interval95=_finite(mine.margin),
                    )
                )
    return comparisons


def without_fitted(ours: Runs) -> tuple[int, int]:
    """Return how many values match without those that the send queue was fitted to, of how many."""
    fitted = {f"table4/loss/{tcp.lower()}/{PERIODS[0]}" for tcp in FLAVOURS}
    values = published(of_runs(ours))
    judged = {name: value for name, value in values.items() if name not in fitted}
    return len(LEDGER.met(judged)), len(judged)
