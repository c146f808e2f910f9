"""The averages of Figures 5 to 7 beside ours, and ours beside ns-2's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from skywave.averages import average
from skywave.papers.cells import Cell, Comparison, Limit
from skywave.papers.chen2010.analysis import Model
from skywave.papers.chen2010.published import CLOSE, PUBLISHED, RATE_BY_EQUATION_9_KBPS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from skywave.papers.chen2010.measures import Run, Series
    from skywave.papers.chen2010.oracle import Measure
    from skywave.papers.chen2010.setting import Scheme

    Runs = Mapping[Scheme, Sequence[Run]]
    Ns2 = Mapping[Scheme, Mapping[Measure, float]]

NS2_LIMIT_PERCENT = 10.0
"""How close we want to be to ns-2 under the same settings."""

DCCP_REASON = (
    "With the buffer that gives TCP/RED its values, DCCP fills it too: its 200 flows have some "
    "three packets in flight each, and to hold a window that grows by packets to that takes 8 % of "
    "losses, in ns-2's module as here. No reading of CCID 2 that was run gives both values; "
    "nearest is growth by acknowledgements before a buffer of 140 packets, with 122 packets and "
    "4.4 %."
)
EQUATION_9_REASON = (
    "A slip of units: the last term of equation 9, 49.9 packets per s, was added to bits per s. "
    "In bits it is 408.7 kbps, and 200 flows of the right value would need 2.8 C. What the paper "
    "calls a match with theory is gamma C / N = 220.5 kbps, its fair share."
)
PEAK_REASON = (
    "How much the first windows overshoot depends on initial windows and starts, of which the "
    "paper says nothing for DCCP. With ns-2's module, here and there, it is as with TCP."
)
VCP_PEAK_REASON = (
    "VCP's senders begin with multiplicative increase, 6.25 % in 200 ms, as in its authors' code, "
    "and overshoot less than a slow start does. A peak of 55 %, near those behind RED, would fit "
    "senders that keep slow start, as the paper's Figure 2 has it; its appendix does not."
)
VCP_DROPS_REASON = (
    "The buffer that gives TCP/RED its values is small for 200 flows that each add alpha packets "
    "in a round-trip time whatever the others do (the fluid model rests at a load above 1), and "
    "web traffic in the same queue obeys drops only: TCP loses 1 % and DCCP 0.3 % to the end."
)
VCP_RATE_REASON = (
    "With 60 ms a flow answers overload every 0.26 s, with 220 ms every 0.42 s (t_rho and a "
    "round-trip time), and both grow alike in time: so the former gets half of the fair share and "
    "the latter more than it. The mean over all flows is near the fair share of 220 kbps."
)
REASONS = {
    "fig6b": DCCP_REASON,
    "fig7b": DCCP_REASON,
    "fig7-peakb": PEAK_REASON,
    "fig7-peakc": VCP_PEAK_REASON,
    "fig7-peakd": VCP_PEAK_REASON,
    "fig7-quietc": VCP_DROPS_REASON,
    "fig7-quietd": VCP_DROPS_REASON,
    "fig5d": VCP_RATE_REASON,
}
"""Why values are known not to be met."""


def published_cells(ours: Runs, ns2: Ns2) -> list[Cell]:
    """Judge every published value of the schemes that were run, and equation 9."""
    cells: list[Cell] = []
    for scheme, runs in ours.items():
        cells += _of_scheme(scheme, runs, ns2.get(scheme, {}))
    return [*cells, _equation_9()]


def _of_scheme(scheme: Scheme, runs: Sequence[Run], ns2: Mapping[Measure, float]) -> list[Cell]:
    row = PUBLISHED[scheme.name]
    rows: tuple[
        tuple[str, str, str, float | None, Callable[[Series], float], Measure | None], ...
    ] = (
        (
            "fig6",
            "mean queue",
            "packets",
            row.queue_packets,
            lambda series: series.queue_mean,
            "queue_pkts",
        ),
        (
            "fig7",
            "packets dropped",
            "%",
            row.drop_percent,
            lambda series: series.drop_percent,
            "drop_pct",
        ),
        (
            "fig7-peak",
            "highest packet drop rate at the beginning",
            "%",
            row.peak_percent,
            lambda series: series.peak_percent,
            "peak_pct",
        ),
        (
            "fig7-quiet",
            "from when on no packet is dropped",
            "s",
            row.quiet_from_s,
            lambda series: series.quiet_from_s,
            None,
        ),
        (
            "fig5",
            "steady rate of a source with 60 ms",
            "kbps",
            row.rate_kbps,
            lambda series: series.shown_mean_kbps,
            None,
        ),
    )
    cells = []
    for name, what, unit, published, measure, ns2_name in rows:
        if published is None:
            continue
        found = average([measure(run.series) for run in runs])
        cells.append(
            Cell(
                id=f"{name}{scheme.panel}",
                what=what,
                conditions={
                    "scheme": scheme.label,
                    "seeds": len(runs),
                    "95 % confidence": f"± {found.margin:.2g} {unit}",
                },
                unit=unit,
                published=published,
                ours=found.mean,
                ns2=None if ns2_name is None else ns2.get(ns2_name),
                rule=Limit("<=") if name == "fig7-quiet" else CLOSE,
                known_reason=REASONS.get(f"{name}{scheme.panel}"),
            )
        )
    return cells


def _equation_9() -> Cell:
    return Cell(
        id="equation9",
        what="steady rate of a DCCP/VCP source by equation 9, its units put right",
        conditions={"R_p (ms)": 60, "R_q (ms)": 20},
        unit="kbps",
        published=RATE_BY_EQUATION_9_KBPS,
        ours=Model().rate_at_rest_bps / 1e3,
        rule=CLOSE,
        known_reason=EQUATION_9_REASON,
    )


def ns2_comparisons(ours: Runs, ns2: Ns2) -> list[Comparison]:
    """Compare the schemes that ns-2 has, under the same settings."""
    rows: tuple[tuple[str, str, Callable[[Run], float], Measure], ...] = (
        ("mean queue", "packets", lambda run: run.series.queue_mean, "queue_pkts"),
        ("packets dropped", "%", lambda run: run.series.drop_percent, "drop_pct"),
        (
            "mean drop rate of intervals",
            "%",
            lambda run: run.series.interval_drop_percent,
            "interval_drop_pct",
        ),
        ("highest drop rate, 0 to 5 s", "%", lambda run: run.series.peak_percent, "peak_pct"),
        ("utilisation", "", lambda run: run.utilisation, "utilisation"),
    )
    return [
        Comparison(
            quantity=quantity,
            conditions={"scheme": scheme.label},
            unit=unit,
            ours=float(np.mean([measure(run) for run in ours[scheme]])),
            ns2=theirs[name],
            limit_percent=NS2_LIMIT_PERCENT,
        )
        for scheme, theirs in ns2.items()
        for quantity, unit, measure, name in rows
    ]
