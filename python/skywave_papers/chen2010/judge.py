"""The measurements for the tests of ``paper.toml``, and our schemes with RED beside ns-2's.

Measurements are means over seeds unless they say something else. ``READINGS`` are measured over the
seeds of the report: ``python -m skywave.papers stored chen2010/readings`` runs and stores them.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from skywave import run_many
from skywave.papers.cells import NS2_LIMIT_PERCENT, Comparison
from skywave.papers.measures import Measure, Measures, mean
from skywave.papers.readings import ReadingResult
from skywave.report.tables import Table
from skywave.scenario import Scenario
from skywave.stats import average
from skywave_papers.chen2010 import further, setting
from skywave_papers.chen2010.analysis import Model
from skywave_papers.chen2010.measures import LATE_S, Run, from_results
from skywave_papers.chen2010.searches import CCID2
from skywave_papers.chen2010.setting import DCCP_RED, DCCP_VCP, LEDGER, TCP_RED, TCP_VCP

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skywave.papers.sentences import Reading
    from skywave_papers.chen2010.measures import Floats
    from skywave_papers.chen2010.setting import Scheme

    Runs = Mapping[Scheme, Sequence[Run]]
    Ns2 = Mapping[Scheme, Mapping[str, float]]


BOTH_ROUTERS = ((TCP_VCP, TCP_RED), (DCCP_VCP, DCCP_RED))
"""Each transport with VCP and with RED."""


def measures_of(scheme: Scheme, drop_rate: str | None = None) -> dict[str, str]:
    """Return which measure of a run each figure has.

    ``drop_rate`` is that of Figure 7. By default it is what the paper says: "About 7% of the
    packets are dropped" with TCP/RED; otherwise the "average packet drop rate", which it defines
    for intervals.
    """
    as_said = "drop_percent" if scheme == TCP_RED else "interval_drop_percent"
    return {
        "fig5": "shown_mean_kbps",
        "fig6": "queue_mean",
        "fig7": drop_rate or as_said,
        "fig7-peak": "peak_percent",
        "fig7-quiet": "quiet_from_s",
    }


def published_value(figure: str, scheme: Scheme) -> float | None:
    """Return what is published in a scheme's panel of a figure; None if nothing is."""
    value = f"{figure}{scheme.panel}"
    return LEDGER.published(value) if value in LEDGER.values else None


def measure(ours: Runs, ns2: Ns2) -> Measures:
    """Measure everything; ns-2 has only the schemes with RED."""
    return Measures(
        ours={
            **published(ours),
            **_of_equations(),
            **_of_schemes(ours),
            **{
                f"{claim}/{vcp.transport}": value
                for vcp, red in BOTH_ROUTERS
                for claim, value in _of_transport(ours, vcp, red).items()
            },
        },
        ns2={
            f"{figure}{scheme.panel}": means[name]
            for scheme, means in ns2.items()
            for figure, name in measures_of(scheme).items()
            if name in means
        },
        words=_words(ours, ns2),
    )


def published(
    ours: Runs,
    drop_rate: str | None = None,
    quiet_over_seeds: Literal["median", "mean"] = "median",
) -> dict[str, Measure]:
    """Measure the values of figures, scheme by scheme, and equation 9.

    ``drop_rate`` is for ``measures_of``. ``quiet_over_seeds`` is what a time without drops is over
    seeds: the paper shows one run, and one late packet in a few runs decides a mean.
    """
    found = {"equation9": Measure(Model().rate_at_rest_as_printed / 1e3)}
    for scheme, runs in ours.items():
        for figure, name in measures_of(scheme, drop_rate).items():
            value = f"{figure}{scheme.panel}"
            if value not in LEDGER.values:
                continue
            by_seed = [getattr(run, name) for run in runs]
            unit = LEDGER.expected(value).unit
            if figure == "fig7-quiet" and quiet_over_seeds == "median":
                over = float(np.median(by_seed))
                spread = {"median of": f"{min(by_seed):.2g} to {max(by_seed):.3g} {unit}"}
            else:
                mean_of = average(by_seed)
                over = mean_of.value
                spread = {"95 % confidence": f"± {mean_of.margin:.2g} {unit}"}
            found[value] = Measure(over, {"seeds": len(by_seed), **spread})
    return found


def _of_equations() -> dict[str, float]:
    """Measure what the paper says of section 3, in runs with equal round-trip times."""
    base = further.settled("N", Model().flows)
    return {
        "2/target": 100 * mean(base, "utilisation"),
        "3/stable": Model().critical_h(),
        "3/same-rate": min(row.jain for row in base),
        **{
            f"3/equation9/{symbol.lower()}/{number}": mean(
                further.settled(symbol, value), "rate_kbps"
            )
            for symbol, (name, values) in further.VARIED.items()
            for number, value in enumerate(values, start=1)
            # The values of section 4 are in each parameter, and are judged once.
            if symbol == "N" or value != getattr(Model(), name)
        },
        **{f"3/falls/{one.lower()}": _growths_percent(one).max() for one in ("N", "R")},
        **{
            f"3/grows/{one.lower()}": _growths_percent(one).min()
            for one in ("C", "zeta", "s", "gamma")
        },
        "4/equation9-units": Model().rate_at_rest_bps / 1e3,
    }


def _growths_percent(symbol: str) -> Floats:
    """Return the relative changes between successive values of a parameter, by value and seed."""
    _, values = further.VARIED[symbol]
    rates = np.array(
        [[row.rate_kbps for row in further.settled(symbol, value)] for value in values]
    )
    return np.asarray(100 * (rates[1:] / rates[:-1] - 1))


def _of_schemes(ours: Runs) -> dict[str, float]:
    """Measure what the paper says of single schemes, and of DCCP and TCP in one network."""
    queue = {scheme: mean(ours[scheme], "queue_mean") for scheme in ours}
    rate = {scheme: mean(ours[scheme], "interval_drop_percent") for scheme in ours}
    return {
        **{f"4/full-use/{one.name}": 100 * mean(ours[one], "utilisation") for one in ours},
        "4.2/dccp-red-lower": queue[DCCP_RED] - queue[TCP_RED],
        "4.2/vcp-shorter": queue[TCP_VCP] - queue[TCP_RED],
        "4.2/smallest": queue[DCCP_VCP] - min(queue[one] for one in ours if one != DCCP_VCP),
        "4.3/keeps-dropping": mean(ours[TCP_RED], "lossy_percent"),
        "4.3/highest-first": mean(ours[TCP_RED], "later_peak_points"),
        "4.3/dccp-red-lower": rate[DCCP_RED] - rate[TCP_RED],
        "4.4/one-queue": mean(further.CHANGED.rows(change=further.IN_VCPS_QUEUE), "of_tcp_percent"),
        "4.4/web": _change(ours, further.WEB_OVER_TCP, DCCP_VCP, "late_drop_percent"),
        "4.4/two-queues": mean(further.CHANGED.rows(change=further.TWO_QUEUES), "of_tcp_percent"),
    }


def _of_transport(ours: Runs, vcp: Scheme, red: Scheme) -> dict[str, float]:
    """Measure what the paper says of both transports, behind either router."""

    def percent(name: str, of: Scheme) -> float:
        return 100 * mean(ours[vcp], name) / mean(ours[of], name)

    return {
        "2/fairness": mean(ours[vcp], lambda run: float(run.jain_by_subnet.min())),
        "4.1/smoother": percent("shown_variation", red),
        "4.1/very-low": mean(ours[vcp], "shown_lowest_percent"),
        "4.1/web-disturbs": _change(ours, further.WITHOUT_WEB, vcp, "shown_variation"),
        "4.2/larger-fluctuations": mean(ours[vcp], "queue_sd") - mean(ours[red], "queue_sd"),
        "4.2/web-causes": _change(ours, further.WITHOUT_WEB, vcp, "queue_sd"),
        "4.3/similar-peak": percent("peak_percent", DCCP_RED),
        "4.3/almost-none": mean(ours[vcp], "late_drop_percent"),
        "5/queue": percent("queue_mean", red),
    }


def _change(ours: Runs, change: str, scheme: Scheme, name: str) -> float:
    """Return what a change of the network makes of a measure, over the seeds that both have."""
    pairs = zip(further.CHANGED.rows(change=change, scheme=scheme.name), ours[scheme], strict=False)
    return float(np.mean([getattr(row, name) - getattr(run, name) for row, run in pairs]))


def _words(ours: Runs, ns2: Ns2) -> dict[str, object]:
    """Return the numbers of reasons and finding."""
    late = [run.quiet_from_s > LATE_S for run in ours[DCCP_VCP]]
    near_kbps = mean(ours[DCCP_VCP], lambda run: float(run.kbps_by_subnet[0]))
    over_tcp = {
        scheme: further.CHANGED.rows(change=further.WEB_OVER_TCP, scheme=scheme.name)
        for scheme, _ in BOTH_ROUTERS
    }

    def by_web(scheme: Scheme, name: str) -> float:
        without = further.CHANGED.rows(change=further.WITHOUT_WEB, scheme=scheme.name)
        return mean(over_tcp[scheme], name) - mean(without, name)

    nearest = min(CCID2.read(), key=lambda answer: answer.miss)
    return {
        "late_runs": sum(late),
        "runs": len(late),
        "late_drops": f"{mean(ours[DCCP_VCP], 'late_drop_percent'):.2g}",
        "near_goodput": f"{near_kbps:.0f}",
        "vcp_drops": f"{mean(ours[DCCP_VCP], 'interval_drop_percent'):.1f}",
        "red_drops": f"{mean(ours[DCCP_RED], 'interval_drop_percent'):.1f}",
        "vcp_queue": f"{mean(ours[DCCP_VCP], 'queue_mean'):.0f}",
        "red_queue": f"{mean(ours[DCCP_RED], 'queue_mean'):.0f}",
        "other_web_queue": f"{mean(over_tcp[TCP_VCP], 'queue_mean'):.0f}",
        "other_web_late": f"{mean(over_tcp[TCP_VCP], 'late_drop_percent'):.2f}",
        **{
            f"{one.transport}_variation_by_web": f"{by_web(one, 'shown_variation'):+.3f}"
            for one in over_tcp
        },
        **{
            f"{one.transport}_queue_sd_by_web": f"{by_web(one, 'queue_sd'):+.1f}"
            for one in over_tcp
        },
        "nearest_buffer": nearest.reading.buffer,
        "nearest_queue": f"{nearest.queue_packets:.0f}",
        "nearest_drops": f"{nearest.drop_percent:.1f}",
        "ns2_peak": f"{ns2[DCCP_RED]['peak_percent']:.0f}",
    }


def compare(ours: Runs, ns2: Ns2) -> list[Comparison]:
    """Compare the schemes that ns-2 has with ns-2's, under the same settings."""
    rows = (
        ("mean queue", "packets", "queue_mean"),
        ("packets dropped", "%", "drop_percent"),
        ("mean drop rate of intervals", "%", "interval_drop_percent"),
        ("highest drop rate, 0 to 5 s", "%", "peak_percent"),
        ("utilisation", "", "utilisation"),
    )
    return [
        Comparison(
            quantity=quantity,
            conditions={"scheme": scheme.label},
            unit=unit,
            ours=mean(ours[scheme], name),
            ns2=theirs[name],
            limit_percent=NS2_LIMIT_PERCENT,
        )
        for scheme, theirs in ns2.items()
        for quantity, unit, name in rows
    ]


SENDERS = {"words": setting.WORDS, "fewer-words": setting.FEWER_WORDS, "codes": setting.CODES}


def scenarios(scheme: Scheme, reading: Reading) -> list[Scenario]:
    """Return a scheme's runs under a reading.

    A reading changes the senders (``senders``, from those of ``senders_as``; "rfc" stands for what
    the paper changes), the ``buffer``, or how values are judged (``drop_rate``,
    ``quiet_over_seeds``).
    """
    given = reading.changes
    changes: dict[str, Any] = {
        name: None if value == "rfc" else value for name, value in given.get("senders", {}).items()
    }
    senders = replace(SENDERS[given.get("senders_as", "words")], **changes)
    usual = setting.UNPUBLISHED
    unpublished = replace(usual, buffer=given.get("buffer", usual.buffer))
    return [setting.scenario(scheme, seed, unpublished, senders=senders) for seed in setting.SEEDS]


@cache
def _runs(*scenarios: str) -> list[Run]:
    """Run scenarios in JSON, once where readings of a scheme do not differ."""
    runs = run_many(Scenario.from_text(scenario, "json") for scenario in scenarios)
    return [from_results(results) for results in runs]


def attempt(reading: Reading) -> ReadingResult:
    """Run all schemes under this reading, and judge them."""
    runs = {
        scheme: _runs(*(one.to_json() for one in scenarios(scheme, reading)))
        for scheme in setting.SCHEMES
    }

    def met(seeds: slice) -> list[str]:
        over = {scheme: of_scheme[seeds] for scheme, of_scheme in runs.items()}
        values = published(
            over,
            reading.changes.get("drop_rate"),
            reading.changes.get("quiet_over_seeds", "median"),
        )
        return LEDGER.met(values)

    singly = [len(met(slice(index, index + 1))) for index in range(len(setting.SEEDS))]
    return ReadingResult.of(reading.label, met(slice(None)), singly)


READINGS = Table(Path(__file__).with_name("readings.csv"), ReadingResult, LEDGER.reading, attempt)
