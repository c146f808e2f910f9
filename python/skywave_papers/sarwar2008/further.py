"""The runs behind the paper's further claims, other than those of its table and figures.

- Slow start on a link that is never full, with several round-trip times.
- A TCP flow in the place of the download, and one beside it.
- A link whose rate halves and comes back.
- Standard feedback on a short path.
- A flow with Quick-Start and without.

ns-2 does not repeat them.

By related work that the paper quotes, Quick-Start and Faster Restart "do not provide a consistent
improvement to poor TFRC performances over a long delay network" (section II). References 11 and 12
were not available, so the conditions are ours. They were fixed, and the rule written, before the
runs. Faster Restart is not tested. "Consistent" is read as: in each condition, the flow delivers at
least a tenth more in its first minute, in which its slow start falls. The flow asks for the rate of
the satellite link, which Quick-Start rounds down to 640 kbit/s (RFC 4782 table 1). The request
leaves with the first data packet, so handshake and request take two round-trip times.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from skywave.papers.measures import Measures, difference
from skywave.results.fairness import jain
from skywave.results.samples import Samples
from skywave.scenario import Step, Tcp, TraceSteps, Transport
from skywave_papers.sarwar2008 import measures, setting
from skywave_papers.sarwar2008.measures import RECOVERED_BPS, SEARCH_S
from skywave_papers.sarwar2008.setting import LINK_BPS, PACKET_SIZE, START_S, add_download, network

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from skywave.results import Results
    from skywave.scenario import Scenario
    from skywave_papers.sarwar2008.measures import Floats, Series

    Values = dict[str, float | None]

RTTS_S = (0.5, 1.0, 1.2, 2.0)
"""Round-trip times at which the equations are tested. 1.2 s is that of the live link."""
GROWTH_RTTS = 32
"""Length of a slow start, in round-trip times."""
WIDE_RATE = "8 Mbps"
"""Rate of the link that is never full before X is far above that of the paper's link."""
MEASURABLE_PACKETS = 20
"""X_recv of fewer packets per report depends on where the report falls between packets."""
REPORTED = 0.95
"""Share of X from which on X_recv counts as feedback about it."""
QUEUE = 50
SHORT_RTT_S = 0.1
SHORT = setting.Conditions("standard", errors=0, queue=min(setting.QUEUES), rtt_s=SHORT_RTT_S)
"""A path with the reference round-trip time, on which N is 1."""
SETTLED_S = 60.0
"""From here on, shares and variations are measured."""
HALVES_S, DOUBLES_S = 100.0, 150.0
"""When the rate of the link halves, and when it comes back."""
TRANSPORTS: dict[str, Transport] = {
    "standard": setting.STANDARD.transport,
    "dynamic": setting.DYNAMIC.transport,
    # No receiver limits its window.
    "tcp": Tcp(recovery="sack", segment=f"{PACKET_SIZE} B", receive_window=1000),
}

SHARE = 0.9
"""The share of each link that Quick-Start may give away."""
MINUTE_S = 60.0
"""The time since its start in which the packets of the flow with Quick-Start are counted."""
BESIDE_IT = ((0, 0), (1, 0), (0, 2))
"""How many flows begin a minute before it, and how many at the same time, which ask for the same
rate: an idle link, one that an older flow uses, and three flows that start together."""


def scenarios() -> dict[str, Scenario]:
    """Return all scenarios, by name."""
    every = []
    for feedback in ("standard", "dynamic"):
        for rtt_s in RTTS_S:
            name = f"growth-{feedback}-rtt{rtt_s:g}"
            described = network(name, GROWTH_RTTS * rtt_s, rtt_s=rtt_s, rate=WIDE_RATE)
            every.append(add_download(described, "dccp", TRANSPORTS[feedback]))
    steps = (
        Step(at=f"{HALVES_S:g} s", rate=f"{LINK_BPS / 2e6:g} Mbps"),
        Step(at=f"{DOUBLES_S:g} s", rate=f"{LINK_BPS / 1e6:g} Mbps"),
    )
    duration_s, trace = DOUBLES_S + 2 * SEARCH_S, TraceSteps(steps=steps)
    for name, transport in TRANSPORTS.items():
        described = network(f"changing-{name}", duration_s, queue=QUEUE, trace=trace)
        every.append(add_download(described, name, transport))
    alone, shared = (
        network(name, setting.DURATION_S, queue=QUEUE) for name in ("tcp", "beside-tcp")
    )
    add_download(alone, "tcp", TRANSPORTS["tcp"])
    for name in ("standard", "tcp"):
        add_download(shared, name, TRANSPORTS[name])
    every += [alone, setting.scenario(SHORT), shared, *quick_starts()]
    return {one.name.removeprefix("sarwar2008-"): one for one in every}


def quick_start(case: int, *, asks: bool) -> Scenario:
    """Return the scenario of a case of ``BESIDE_IT``, with or without Quick-Start."""
    older, together = BESIDE_IT[case]
    start_s = START_S + (MINUTE_S if older else 0.0)
    name = f"quick-start-{case}-{'with' if asks else 'without'}"
    described = network(name, start_s + MINUTE_S, queue=QUEUE)
    described.links = [link.replace(quick_start=SHARE) for link in described.links]
    transport = setting.STANDARD.transport
    asking = transport.replace(quick_start=f"{LINK_BPS / 1e6:g} Mbps" if asks else None)
    add_download(described, "dccp", asking, start_s)
    for number in range(older):
        add_download(described, f"older-{number}", transport)
    for number in range(together):
        add_download(described, f"other-{number}", asking, start_s)
    return described


def quick_starts() -> list[Scenario]:
    """Return the scenarios of all cases, in pairs without and with Quick-Start."""
    return [
        quick_start(case, asks=asks) for case in range(len(BESIDE_IT)) for asks in (False, True)
    ]


def measure(
    results: Mapping[str, Results],
    figure_2: Mapping[setting.Conditions, Results],
    ours: Mapping[setting.Conditions, Series],
) -> Measures:
    """Measure the claims that need these runs, some of them beside those of Figure 2."""
    standard, dynamic = (ours[one] for one in setting.BY_QUEUE[QUEUE])
    tcp, short = (measures.from_results(results[name]) for name in ("tcp", SHORT.name))
    falls_s, rises_s = {}, {}
    for name in TRANSPORTS:
        series = measures.from_results(results[f"changing-{name}"])
        falls_s[name], rises_s[name] = _followed(series)
    variations = variation(standard), variation(tcp)
    return Measures(
        ours={
            "I/fair": _fairness(results["beside-tcp"]),
            "I/difficulties": 100 * standard.mean_bps / short.mean_bps,
            "I/overhead/simulation": back_percent(dynamic),
            "II/smoother": variations[0] / variations[1],
            "II/slower-than-tcp": rises_s["standard"] - rises_s["tcp"],
            "II/quick-start": min(gains_percent(results)),
            "III/reports/simulation": reports_per_s(dynamic),
            "V/responsive": falls_s["standard"] - falls_s["dynamic"],
            "VI-C/equivalent": reports_per_s(dynamic) / reports_per_s(short),
            **_growth(results),
            **_after_error(figure_2),
        },
        words={
            "tfrc_variation": f"{variations[0]:.3f}",
            "tcp_variation": f"{variations[1]:.3f}",
        },
    )


def variation(series: Series) -> float:
    """Return the coefficient of variation of throughput once the flow has settled."""
    settled = series.throughput_bps[series.time_s > SETTLED_S]
    return float(settled.std() / settled.mean())


def back_percent(series: Series) -> float:
    """Return the rate of the reverse path relative to throughput, in percent."""
    return 100 * series.return_bps / series.mean_bps


def reports_per_s(series: Series) -> float:
    """Return the packets of the reverse path per second, once the flow has settled."""
    return float(series.reports[series.time_s > SETTLED_S].mean())


def _fairness(results: Results) -> float:
    """Return Jain's index of the throughput of standard feedback and a TCP flow."""
    rates = []
    for name in ("standard", "tcp"):
        samples = Samples(results.flows_at(setting.SATELLITE, name))
        rates.append(samples["throughput_bps"][samples["time_s"] > SETTLED_S].sum())
    return jain(rates)


def delivered(results: Results, flow: str = "dccp") -> float:
    """Return the packets of a flow that begins a minute before the end."""
    return float(Samples(results.flows_at(setting.SATELLITE, flow))["delivered"].sum())


def gains_percent(results: Mapping[str, Results]) -> list[float]:
    """Return by how many percent more packets the flow delivers with Quick-Start in each case."""
    packets = [
        [delivered(results[f"quick-start-{case}-{kind}"]) for kind in ("without", "with")]
        for case in range(len(BESIDE_IT))
    ]
    return [100 * (asking / without - 1) for without, asking in packets]


def _growth(results: Mapping[str, Results]) -> Values:
    """Measure equations 3 to 6 in slow starts on a link that is never full.

    These are the shortest delay until feedback about an increase of X that is reported by at least
    20 packets, and when X reaches the rate of the paper's link, since the end of the handshake.
    """
    values: Values = {}
    for feedback, delay, rate in (("standard", 3, 5), ("dynamic", 4, 6)):
        for rtt_s in RTTS_S:
            rates = Samples(results[f"growth-{feedback}-rtt{rtt_s:g}"].rates)
            time_s = rates["time_s"] - START_S - rtt_s
            allowed = rates["allowed_rate_bps"]
            interval_s = rtt_s if feedback == "standard" else SHORT_RTT_S
            measurable_bps = MEASURABLE_PACKETS * 8 * PACKET_SIZE / interval_s
            increases = np.flatnonzero(allowed[1:] > 1.01 * allowed[:-1]) + 1
            increases = increases[allowed[increases] >= measurable_bps]
            delays_s = feedback_delays(time_s, allowed, rates["receive_rate_bps"], increases)
            reached_s = time_s[allowed >= LINK_BPS]
            values[f"V-A/equation-{delay}/rtt={rtt_s:g}"] = min(delays_s, default=None)
            values[f"V-A/equation-{rate}/rtt={rtt_s:g}"] = _first(reached_s)
    return values


def _first(times_s: Floats) -> float | None:
    return float(times_s[0]) if times_s.size else None


def feedback_delays(
    time_s: Floats, allowed: Floats, received: Floats, increases: NDArray[np.int64]
) -> list[float]:
    """Return how long after each increase of X a report has it."""
    delays = []
    for increase in increases:
        reports = np.flatnonzero(received[increase:] >= REPORTED * allowed[increase])
        if reports.size:
            delays.append(float(time_s[increase + reports[0]] - time_s[increase]))
    return delays


def equation_1(p: Floats, rtt_s: Floats) -> Floats:
    """Return X of the paper's equation 1 in bit/s, with an RTO of four round-trip times."""
    term = np.sqrt(27 * p / 8) * p * (1 + 32 * p**2)
    rate: Floats = 8 * PACKET_SIZE / (rtt_s * (np.sqrt(2 * p / 3) + 4 * term))
    return rate


def most_growth(time_s: Floats, rate: Floats, rtt_s: Floats) -> float:
    """Return the largest factor by which a rate grows in less than a round-trip time.

    A rate holds from its time to the next; ``rtt_s`` is the round-trip time known at each time.
    """
    most = 1.0
    for now in range(1, time_s.size):
        begun = int(np.searchsorted(time_s, time_s[now] - 0.999 * rtt_s[now], side="right"))
        before = rate[max(begun - 1, 0) : now]
        most = max(most, float(rate[now] / before.min()))
    return most


def _after_error(figure_2: Mapping[setting.Conditions, Results]) -> Values:
    """Measure Figure 2 with one error: X by equation 1, p after the error, and the safeguards."""
    values: Values = {}
    p_halved_s, mean_rate_bps, ratio = [], [], []
    for conditions in (setting.STANDARD, setting.DYNAMIC):
        rates = Samples(figure_2[conditions].rates)
        known = np.isfinite(rates["rtt_s"])
        time_s, rtt_s, p = (rates[name][known] for name in ("time_s", "rtt_s", "loss_event_rate"))
        allowed, received = (
            rates[name][known] for name in ("allowed_rate_bps", "receive_rate_bps")
        )
        after = p > 0
        first_s = time_s[after][0]
        halved_s = _first(time_s[(time_s > first_s) & (p <= p[after][0] / 2)])
        p_halved_s.append(difference(halved_s, first_s))
        soon = after & (time_s < first_s + SEARCH_S)
        held_s = np.diff(time_s[soon], append=first_s + SEARCH_S)
        mean_rate_bps.append(float(np.average(allowed[soon], weights=held_s)))
        limit = np.minimum(equation_1(p[after], rtt_s[after]), 2 * received[after])
        ratio.append(float(np.median(allowed[after] / limit)))
        # Below one packet per round-trip time, RFC 3448 lets X rise to that whatever X_recv is.
        increased = (np.diff(allowed, prepend=0) > 0) & (allowed > 1.01 * 8 * PACKET_SIZE / rtt_s)
        of_receive_rate = float(np.max(allowed[increased] / received[increased]))
        # Rates are recorded in whole bit/s.
        growth = round(most_growth(time_s, allowed, rtt_s), 4)
        values[f"V-C/safeguards/growth/{conditions.feedback}"] = growth
        values[f"V-C/safeguards/receive-rate/{conditions.feedback}"] = round(of_receive_rate, 4)
    return {
        **values,
        "II/equation-1": ratio[0],
        "V-B/p-falls": difference(*p_halved_s),
        "V-B/higher-rate": (mean_rate_bps[1] - mean_rate_bps[0]) / 1e3,
    }


def _followed(series: Series) -> tuple[float, float]:
    """Return how long a sender takes to follow a link whose rate changes.

    The first is the time from the halving of the rate to the last loss before it comes back, the
    second that from then until throughput is at 80 % of the link, at most until the end of the run.
    """
    lossy = (series.drops > 0) & (series.time_s > HALVES_S) & (series.time_s <= DOUBLES_S)
    losses_s = series.time_s[lossy]
    back = series.time_s[(series.time_s > DOUBLES_S) & (series.throughput_bps >= RECOVERED_BPS)]
    return (
        float(losses_s[-1]) - HALVES_S if losses_s.size else 0.0,
        float(back[0] if back.size else series.time_s[-1]) - DOUBLES_S,
    )
