"""The runs behind the paper's further claims, other than those of its table and figures.

- Slow start on a link that is never full, with several round-trip times.
- A TCP flow in the place of the download, and one beside it.
- A link whose rate halves and comes back.
- Standard feedback on a short path.
- A flow with Quick-Start and without, in `quick_start`.

ns-2 does not repeat them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from skywave.results.fairness import jain
from skywave.scenario import DropTail, Step, Tcp, TraceSteps
from skywave_papers.sarwar2008 import measures, quick_start
from skywave_papers.sarwar2008.measures import RECOVERED_BPS, SEARCH_S
from skywave_papers.sarwar2008.setting import (
    DURATION_S,
    DYNAMIC,
    LINK_BPS,
    PACKET_SIZE,
    QUEUES,
    SATELLITE,
    STANDARD,
    START_S,
    Conditions,
    add_download,
    dccp,
    network,
    scenario,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from skywave.results import Results
    from skywave.scenario import Scenario, Transport
    from skywave_papers.sarwar2008.measures import Series
    from skywave_papers.sarwar2008.quick_start import QuickStartGain

    Floats = NDArray[np.float64]

Feedback = Literal["standard", "dynamic"]
FEEDBACKS: tuple[Feedback, ...] = ("standard", "dynamic")

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
SHORT = Conditions("standard", errors=0, queue=min(QUEUES), rtt_s=SHORT_RTT_S)
"""A path with the reference round-trip time, on which N is 1."""
SETTLED_S = 60.0
"""From here on, shares and variations are measured."""
HALVES_S, DOUBLES_S = 100.0, 150.0
"""When the rate of the link halves, and when it comes back."""
TCP = Tcp(recovery="sack", segment=f"{PACKET_SIZE} B", receive_window=1000)
"""TCP whose window no receiver limits."""


@dataclass(frozen=True)
class Growth:
    """A slow start: when X reaches the paper's link rate, and the delays of feedback about it.

    Times are since the end of the handshake. There is a delay for each increase of X that is
    reported by at least 20 packets.
    """

    reached_s: float | None
    delays_s: Floats


@dataclass(frozen=True)
class AfterError:
    """Figure 2 with one error: the time until p has halved, and the mean X after the error.

    ``equation_ratio`` is the median of X relative to that of equation 1, or to 2 X_recv if that is
    lower. ``most_growth`` is the largest factor by which X grows in less than a round-trip time,
    ``most_of_receive_rate`` the largest X relative to 2 X_recv when X increases.
    """

    p_halved_s: float | None
    mean_rate_bps: float
    equation_ratio: float
    most_growth: float
    most_of_receive_rate: float


@dataclass(frozen=True)
class RateChange:
    """How a sender follows a link whose rate changes.

    ``falls_s`` is the time from the halving of the rate to the last loss before it comes back.
    ``rises_s`` is the time from then until throughput is at 80 % of the link, at most until the
    end of the run.
    """

    falls_s: float
    rises_s: float


@dataclass(frozen=True)
class Further:
    """The outcomes of all runs."""

    growth: Mapping[tuple[Feedback, float], Growth]
    after_error: Mapping[Feedback, AfterError]
    changing: Mapping[str, RateChange]
    tcp: Series
    short: Series
    fairness: float
    """Jain's index of the throughput of standard feedback and a TCP flow."""
    quick_start: Sequence[QuickStartGain]


def _transport(name: str) -> Transport:
    return TCP if name == "tcp" else dccp(_of(name))


def _of(feedback: str) -> Conditions:
    return STANDARD if feedback == "standard" else DYNAMIC


def _growth(feedback: str, rtt_s: float) -> Scenario:
    described = network(
        f"growth-{feedback}-rtt{rtt_s:g}", GROWTH_RTTS * rtt_s, rtt_s=rtt_s, rate=WIDE_RATE
    )
    return add_download(described, "dccp", dccp(_of(feedback)))


def _changing(name: str) -> Scenario:
    steps = (
        Step(at=f"{HALVES_S:g} s", rate=f"{LINK_BPS / 2e6:g} Mbps"),
        Step(at=f"{DOUBLES_S:g} s", rate=f"{LINK_BPS / 1e6:g} Mbps"),
    )
    described = network(
        f"changing-{name}",
        DOUBLES_S + 2 * SEARCH_S,
        queue=DropTail(packets=QUEUE - 1),
        trace=TraceSteps(steps=steps),
    )
    return add_download(described, name, _transport(name))


def scenarios() -> dict[str, Scenario]:
    """Return all scenarios, by name."""
    queue = DropTail(packets=QUEUE - 1)
    shared = network("beside-tcp", DURATION_S, queue=queue)
    for name in ("standard", "tcp"):
        add_download(shared, name, _transport(name))
    every = [
        *(_growth(feedback, rtt_s) for feedback in FEEDBACKS for rtt_s in RTTS_S),
        *(_changing(name) for name in (*FEEDBACKS, "tcp")),
        add_download(network("tcp", DURATION_S, queue=queue), "tcp", TCP),
        scenario(SHORT),
        shared,
    ]
    own = {one.name.removeprefix("sarwar2008-"): one for one in every}
    return own | quick_start.scenarios()


def measure(results: Mapping[str, Results], figure_2: Mapping[Conditions, Results]) -> Further:
    """Return what the runs come to. ``figure_2`` has those with one error."""
    shared = results["beside-tcp"].flows_at(SATELLITE)
    later = shared.filter(shared["time_s"].to_numpy() > SETTLED_S)
    bits = [
        float(
            later.filter(later["flow"].to_numpy(zero_copy_only=False) == name)["throughput_bps"]
            .to_numpy()
            .sum()
        )
        for name in ("standard", "tcp")
    ]
    return Further(
        growth={
            (feedback, rtt_s): _grown(results[f"growth-{feedback}-rtt{rtt_s:g}"], feedback, rtt_s)
            for feedback in FEEDBACKS
            for rtt_s in RTTS_S
        },
        after_error={feedback: _after_error(figure_2[_of(feedback)]) for feedback in FEEDBACKS},
        changing={
            name: _followed(measures.from_results(results[f"changing-{name}"]))
            for name in (*FEEDBACKS, "tcp")
        },
        tcp=measures.from_results(results["tcp"]),
        short=measures.from_results(results[SHORT.name]),
        fairness=jain(bits),
        quick_start=quick_start.measure(results),
    )


def _grown(results: Results, feedback: Feedback, rtt_s: float) -> Growth:
    rates = results.rates
    time_s = rates["time_s"].to_numpy() - START_S - rtt_s
    allowed, received = (
        rates[name].to_numpy().astype(np.float64)
        for name in ("allowed_rate_bps", "receive_rate_bps")
    )
    reached = np.flatnonzero(allowed >= LINK_BPS)
    interval_s = rtt_s if feedback == "standard" else SHORT_RTT_S
    measurable_bps = MEASURABLE_PACKETS * 8 * PACKET_SIZE / interval_s
    increases = np.flatnonzero(allowed[1:] > 1.01 * allowed[:-1]) + 1
    return Growth(
        float(time_s[reached[0]]) if reached.size else None,
        feedback_delays(time_s, allowed, received, increases[allowed[increases] >= measurable_bps]),
    )


def feedback_delays(
    time_s: Floats, allowed: Floats, received: Floats, increases: NDArray[np.int64]
) -> Floats:
    """Return how long after each increase of X a report has it."""
    delays = []
    for increase in increases:
        reports = np.flatnonzero(received[increase:] >= REPORTED * allowed[increase])
        if reports.size:
            delays.append(time_s[increase + reports[0]] - time_s[increase])
    return np.array(delays)


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


def _after_error(results: Results) -> AfterError:
    rates = results.rates
    rtt_s = rates["rtt_s"].to_numpy(zero_copy_only=False).astype(np.float64)
    known = np.isfinite(rtt_s)
    time_s, allowed, received, p = (
        rates[name].to_numpy().astype(np.float64)[known]
        for name in ("time_s", "allowed_rate_bps", "receive_rate_bps", "loss_event_rate")
    )
    rtt_s = rtt_s[known]
    after = p > 0
    first = int(np.flatnonzero(after)[0])
    halved = np.flatnonzero((time_s > time_s[first]) & (p <= p[first] / 2))
    soon = after & (time_s < time_s[first] + SEARCH_S)
    limit = np.minimum(equation_1(p[after], rtt_s[after]), 2 * received[after])
    # Below one packet per round-trip time, RFC 3448 lets X rise to that whatever X_recv is.
    increased = (np.diff(allowed, prepend=0) > 0) & (allowed > 1.01 * 8 * PACKET_SIZE / rtt_s)
    held_s = np.diff(time_s[soon], append=time_s[first] + SEARCH_S)
    return AfterError(
        float(time_s[halved[0]] - time_s[first]) if halved.size else None,
        float(np.average(allowed[soon], weights=held_s)),
        float(np.median(allowed[after] / limit)),
        most_growth(time_s, allowed, rtt_s),
        float(np.max(allowed[increased] / (2 * received[increased]))),
    )


def _followed(series: Series) -> RateChange:
    lossy = (series.drops > 0) & (series.time_s > HALVES_S) & (series.time_s <= DOUBLES_S)
    losses_s = series.time_s[lossy]
    back = series.time_s[(series.time_s > DOUBLES_S) & (series.throughput_bps >= RECOVERED_BPS)]
    return RateChange(
        float(losses_s[-1]) - HALVES_S if losses_s.size else 0.0,
        float(back[0] if back.size else series.time_s[-1]) - DOUBLES_S,
    )


def variation(series: Series) -> float:
    """Return the coefficient of variation of throughput once the flow has settled."""
    settled = series.throughput_bps[series.time_s > SETTLED_S]
    return float(settled.std() / settled.mean())


def back_percent(series: Series) -> float:
    """Return the rate of the reverse path relative to throughput, in percent."""
    return 100 * (series.return_bps or 0) / series.mean_bps


def reports_per_s(series: Series) -> float:
    """Return the packets of the reverse path per second, once the flow has settled."""
    return float(series.reports[series.time_s > SETTLED_S].mean())
