"""Published averages of Figures 5 to 7 beside ours, and ours beside ns-2's."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Literal

import numpy as np

from skywave.papers.cells import CLOSE, NS2_LIMIT_PERCENT, Cell, Comparison, Limit
from skywave.papers.reasons import Cause, Reason
from skywave.stats import average
from skywave_papers.chen2010 import further, readings
from skywave_papers.chen2010.analysis import Model
from skywave_papers.chen2010.published import PUBLISHED, RATE_BY_EQUATION_9_KBPS
from skywave_papers.chen2010.setting import DCCP_RED, DCCP_VCP, LEAST_RTT_MS, TCP_RED, TCP_VCP

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from skywave_papers.chen2010.measures import Run, Series
    from skywave_papers.chen2010.oracle import Measure
    from skywave_papers.chen2010.setting import Scheme

    Runs = Mapping[Scheme, Sequence[Run]]
    Ns2 = Mapping[Scheme, Mapping[Measure, float]]

VCP_PEAK_REASON = (
    "VCP's senders begin in slow start, as the paper says, and overshoot by about as much as those "
    "of TCP/RED. How far depends on initial windows, which the paper does not give. Windows of 6 "
    "packets that the load factor controls from the start give this value, but they are fitted to "
    'it (section "Readings, judged by all values").'
)
TCP_QUEUE_REASON = (
    "No reading gives this value and fig7-quietc together: what fills the queue that far makes it "
    "overflow later on too. With web traffic that does not use VCP, it has {queue_packets:.0f} "
    "packets, and {late_percent:.2f} % are dropped from 10 s on (section \"Other traffic in VCP's "
    'queue").'
)
LATE_REASON = (
    "In {late} of {runs} runs the queue overflows for a moment later on; {percent:.2g} % of the "
    "packets after 10 s are dropped. The paper shows one run."
)
SHORT_QUEUE_REASON = (
    "Not known. It is not the least cwnd of 2: with the published queue, a window of 2 packets "
    "gives a source with 60 ms {floor_kbps:.0f} kbps, and fig5d has {published_kbps:g}, so both "
    "values fit each other. What fills the queue that far is missing here. A least cwnd of 1 fills "
    'it (section "Readings, judged by all values"), but then fig5d is not met.'
)
RED_PEAK_REASON = (
    "With one reduction for all losses of a window, as RFC 4341 has it, the peak is the published "
    "one, and fig7b is not. With growth for each packet the peak is higher: in ns-2 "
    "{ns2_percent:.0f} %."
)
DropRate = Literal["drop_percent", "interval_drop_percent"]
"""The share of a run's packets, or the mean share of intervals of 10 ms."""
SHARES: Mapping[str, DropRate] = {TCP_RED.name: "drop_percent", DCCP_RED.name: "drop_percent"}
MEANS_OF_INTERVALS: Mapping[str, DropRate] = {
    TCP_RED.name: "interval_drop_percent",
    DCCP_RED.name: "interval_drop_percent",
}
DROP_RATES: Mapping[str, DropRate] = {
    TCP_RED.name: "drop_percent",
    DCCP_RED.name: "interval_drop_percent",
}
"""As the paper says: "About 7% of the packets are dropped" with TCP/RED; with DCCP/RED the "average
packet drop rate", which it defines for intervals."""
NS2_DROPS: Mapping[DropRate, Measure] = {
    "drop_percent": "drop_pct",
    "interval_drop_percent": "interval_drop_pct",
}
OverSeeds = Literal["median", "mean"]
"""What the time without drops is over seeds. The paper shows one run, and one late packet in a few
runs decides a mean."""


def _reasons(ours: Runs, ns2: Ns2) -> dict[str, Reason]:
    """Return reasons for expected mismatches, by id of the cell, with numbers from these runs."""

    def mean(scheme: Scheme, measure: Callable[[Run], float]) -> float:
        return float(np.mean([measure(run) for run in ours[scheme]]))

    model = Model()
    share_kbps = model.target * model.capacity_bps / model.flows / 1e3
    nearest = readings.nearest(readings.TABLE.read())[0]
    buffer = (
        "RED drops nothing early while its average queue is below its minimum threshold of 150 "
        "packets. So a mean of 125 with drops takes either large swings or a buffer that is hardly "
        f"larger: the closest reading of CCID 2 has {nearest.reading.buffer} packets, and with "
        f"them a queue of {nearest.queue_packets:.0f} packets and {nearest.drop_percent:.1f} % "
        f"dropped. TCP/RED's queue of {PUBLISHED[TCP_RED.name].queue_packets:g} packets does not "
        "fit into that buffer."
    )
    near_kbps = mean(DCCP_VCP, lambda run: float(run.goodput_kbps[0].mean()))
    vcp_rate = (
        "The value is that of a single source, which differs between seeds. All sources with 60 ms "
        f"have a mean goodput of {near_kbps:.0f} kbps; the fair share of the link is "
        f"{share_kbps:.0f} kbps."
    )
    over_tcp = further.read().of(further.WEB_OVER_TCP, TCP_VCP)
    tcp_queue = TCP_QUEUE_REASON.format(
        queue_packets=np.mean([row.queue_packets for row in over_tcp]),
        late_percent=np.mean([row.late_drop_percent for row in over_tcp]),
    )
    late = LATE_REASON.format(
        late=sum(run.series.quiet_from_s > further.LATE_S for run in ours[DCCP_VCP]),
        runs=len(ours[DCCP_VCP]),
        percent=mean(DCCP_VCP, lambda run: run.series.drop_percent_from(further.LATE_S)),
    )
    vcp = PUBLISHED[DCCP_VCP.name]
    queue_s = vcp.queue_packets * model.packet_bits / model.capacity_bps
    short_queue = SHORT_QUEUE_REASON.format(
        floor_kbps=2e-3 * model.packet_bits / (LEAST_RTT_MS / 1e3 + queue_s),
        published_kbps=vcp.rate_kbps,
    )
    red_peak = RED_PEAK_REASON.format(ns2_percent=ns2[DCCP_RED]["peak_pct"])
    return {
        "fig6b": Reason(Cause.CONFLICT, buffer),
        "fig6c": Reason(Cause.CONFLICT, tcp_queue),
        "fig6d": Reason(Cause.NO_READING, short_queue),
        "fig7-peakb": Reason(Cause.CONFLICT, red_peak),
        "fig7-peakc": Reason(Cause.UNSTATED, VCP_PEAK_REASON),
        "fig7-peakd": Reason(Cause.UNSTATED, VCP_PEAK_REASON),
        "fig7-quietd": Reason(Cause.UNSTATED, late),
        "fig5d": Reason(Cause.UNSTATED, vcp_rate),
    }


def published_cells(
    ours: Runs,
    ns2: Ns2,
    drop_rates: Mapping[str, DropRate] = DROP_RATES,
    quiet_over_seeds: OverSeeds = "median",
) -> list[Cell]:
    """Judge every published value of the given schemes, and equation 9.

    ``drop_rates`` says by scheme what the published drop rate is. ``quiet_over_seeds`` judges times
    without drops; other values are means over seeds.
    """
    cells: list[Cell] = []
    reasons = _reasons(ours, ns2)
    for scheme, runs in ours.items():
        cells += _of_scheme(
            scheme,
            runs,
            ns2.get(scheme, {}),
            reasons,
            drop_rates.get(scheme.name, "drop_percent"),
            quiet_over_seeds,
        )
    return [*cells, _equation_9()]


def _of_scheme(
    scheme: Scheme,
    runs: Sequence[Run],
    ns2: Mapping[Measure, float],
    reasons: Mapping[str, Reason],
    drop_rate: DropRate,
    quiet_over_seeds: OverSeeds,
) -> list[Cell]:
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
            attrgetter(drop_rate),
            NS2_DROPS[drop_rate],
        ),
        (
            "fig7-peak",
            "highest packet drop rate at the start",
            "%",
            row.peak_percent,
            lambda series: series.peak_percent,
            "peak_pct",
        ),
        (
            "fig7-quiet",
            "time from which on no packet is dropped",
            "s",
            row.quiet_from_s,
            lambda series: series.quiet_from_s,
            None,
        ),
        (
            "fig5",
            "steady-state rate of a source with 60 ms",
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
        by_seed = [measure(run.series) for run in runs]
        found = average(by_seed)
        is_median = name == "fig7-quiet" and quiet_over_seeds == "median"
        spread = (
            {"median of": f"{min(by_seed):.2g} to {max(by_seed):.3g} {unit}"}
            if is_median
            else {"95 % confidence": f"± {found.margin:.2g} {unit}"}
        )
        cells.append(
            Cell(
                id=f"{name}{scheme.panel}",
                what=what,
                conditions={"scheme": scheme.label, "seeds": len(runs), **spread},
                unit=unit,
                published=published,
                ours=float(np.median(by_seed)) if is_median else found.mean,
                ns2=None if ns2_name is None else ns2.get(ns2_name),
                rule=Limit("<=") if name == "fig7-quiet" else CLOSE,
                known_reason=reasons.get(f"{name}{scheme.panel}"),
            )
        )
    return cells


def _equation_9() -> Cell:
    return Cell(
        id="equation9",
        what="steady-state rate of a DCCP/VCP source by equation 9 as printed: arithmetic alone",
        conditions={"R_p (ms)": 60, "R_q (ms)": 20},
        unit="kbps",
        published=RATE_BY_EQUATION_9_KBPS,
        ours=Model().rate_at_rest_as_printed / 1e3,
        rule=CLOSE,
    )


def ns2_comparisons(ours: Runs, ns2: Ns2) -> list[Comparison]:
    """Compare the schemes that ns-2 has with ns-2's, under the same settings."""
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
