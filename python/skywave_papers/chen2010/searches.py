"""Searches for what the paper does not give, with seeds that no average of the report uses.

``FIT`` is for buffer, number of web sources and flavour of TCP. It has every combination of a
coarse grid with TCP/RED, the scheme best known from other sources. The closest to TCP/RED's row is
used for all schemes, so the values of the others are predictions; among equals, the closest with
NewReno, which is our decision. If all three values fit, it also has those of DCCP/RED, which decide
nothing. It has twelve seeds, since with three a nanosecond at the bottleneck moves a distance by
more than ``TIE``.

``CCID2`` asks whether some reading of CCID 2 gives the published DCCP/RED: 125 packets, 3 %
dropped, as a mean over intervals of 10 ms. CCID 2 reduces its window once for all packets lost in
it, as in RFC 4341 and in ns-2's module.

``python -m skywave.papers stored chen2010/fit`` runs the first search and stores its trials.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from skywave import run_many
from skywave.papers.cells import relative_distance
from skywave.papers.measures import mean
from skywave.report.tables import Table
from skywave_papers.chen2010 import setting
from skywave_papers.chen2010.measures import from_results
from skywave_papers.chen2010.setting import DCCP_RED, LEDGER, TCP_RED, UNPUBLISHED, Unpublished

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from skywave_papers.chen2010.setting import Scheme


@dataclass(frozen=True)
class Trial:
    """The means of a search over its seeds."""

    queue_packets: float
    drop_percent: float
    peak_percent: float

    tests = "fig6a fig7a fig7-peaka"
    """The ids of their published values, as far as they decide."""

    @property
    def fits(self) -> bool:
        """Whether all of them would count as a match."""
        return len(LEDGER.met(self._values)) == len(self._values)

    @property
    def miss(self) -> float:
        """Root-mean-square relative distance to the published values."""
        published = map(LEDGER.published, self._values)
        return relative_distance(*zip(self._values.values(), published, strict=True))

    @property
    def _values(self) -> Mapping[str, float]:
        means = (self.queue_packets, self.drop_percent, self.peak_percent)
        return dict(zip(self.tests.split(), means, strict=False))


def _means(scheme: Scheme, seeds: range, drop_rate: str, **given: Any) -> list[float]:
    """Run a scheme with each seed; return mean queue, drop rate, peak and utilisation."""
    scenarios = (setting.scenario(scheme, seed, **given) for seed in seeds)
    runs = [from_results(results) for results in run_many(scenarios)]
    return [mean(runs, of) for of in ("queue_mean", drop_rate, "peak_percent", "utilisation")]


FIT_SEEDS = range(1001, 1013)
GRID = [
    Unpublished(*combination)
    for combination in product(
        (150, 175, 200, 250, 300, 500, 1500), (0, 20, 50, 100), get_args(setting.Flavour)
    )
]
TIE = 0.01
"""Misses that differ by less than this, a percentage point, are equal: other seeds, or a rule of
ns-2's TCP, change them by as much."""


@dataclass(frozen=True)
class Fit(Trial):
    """The means of TCP/RED with one combination; if they fit, those of DCCP/RED too."""

    unpublished: Unpublished = field(kw_only=True)
    dccp_queue_packets: float | None = None
    dccp_drop_percent: float | None = None
    dccp_peak_percent: float | None = None


def equals(trials: Iterable[Fit]) -> list[Fit]:
    """Return the trials that count as closest, the one with the smallest miss first."""
    by_miss = sorted(trials, key=lambda trial: trial.miss)
    return [trial for trial in by_miss if trial.miss < by_miss[0].miss + TIE]


def attempt(unpublished: Unpublished) -> Fit:
    """Run one combination."""

    def row(scheme: Scheme) -> list[float]:
        return _means(scheme, FIT_SEEDS, "drop_percent", unpublished=unpublished)[:3]

    tcp = row(TCP_RED)
    trial = Fit(*tcp, unpublished=unpublished)
    return Fit(*tcp, *row(DCCP_RED), unpublished=unpublished) if trial.fits else trial


FIT = Table(Path(__file__).with_name("fit.csv"), Fit, GRID, attempt)

CCID2_SEEDS = range(1001, 1003)
BUFFERS = (130, 140, 200, 800)
GROWTHS = ("rfc4341", "ns2-tcplike", "per-ack")
TIMEOUTS = ("200 ms", "1 s")
RULES: tuple[tuple[str, str, Sequence[str], Sequence[int]], ...] = (
    ("rfc", "drops", TIMEOUTS, (1, 2)),
    ("rfc", "marks", TIMEOUTS[:1], (2,)),
    ("ns2", "drops", TIMEOUTS[1:], (2,)),
)
"""The rules of DCCP, what RED does, the smallest RTOs and the initial Ack Ratios."""


@dataclass(frozen=True)
class Ccid2:
    """One reading of what the paper calls CCID 2.

    ``growth`` is by packets (in slow start half a packet for each, or one) or, with a fractional
    window, by acknowledgements. ``ack_ratio`` is the initial one; with windows of a few packets it
    cannot stay above 2 (RFC 4341 section 6.1.2). ``least_rto`` is the smallest RTO. RED may mark
    instead of dropping, since CCID 2 is designed for ECN.
    """

    profile: str
    growth: str
    ack_ratio: int
    least_rto: str
    router: str
    buffer: int


CCID2_READINGS = [
    Ccid2(profile, growth, ack_ratio, least_rto, router, buffer)
    for profile, router, timeouts, ack_ratios in RULES
    for growth, ack_ratio, least_rto, buffer in product(GROWTHS, ack_ratios, timeouts, BUFFERS)
]


@dataclass(frozen=True)
class Answer(Trial):
    """The means of a reading. Drops are a mean over intervals of 10 ms, as published."""

    reading: Ccid2 = field(kw_only=True)
    utilisation: float

    tests = "fig6b fig7b"


def ask(reading: Ccid2) -> Answer:
    """Run one reading."""
    unpublished = replace(UNPUBLISHED, buffer=reading.buffer)
    marks = reading.router == "marks"
    transport = setting.transport_of(
        DCCP_RED,
        unpublished,
        setting.CODES,
        profile=reading.profile,
        growth=reading.growth,
        ack_ratio=reading.ack_ratio,
        min_rto=reading.least_rto,
        ecn=marks,
        # With these, all packets have the same size.
        short_seqnos=True,
    )
    means = _means(
        DCCP_RED,
        CCID2_SEEDS,
        "interval_drop_percent",
        unpublished=unpublished,
        senders=setting.CODES,
        queue=setting.queue_of(DCCP_RED, unpublished, ecn=marks),
        transport=transport,
    )
    return Answer(*means, reading=reading)


CCID2 = Table(Path(__file__).with_name("ccid2.csv"), Answer, CCID2_READINGS, ask)
