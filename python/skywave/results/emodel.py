"""Call quality by the E-model of ITU-T G.107, from the results of a :class:`~skywave.Voice` flow.

Computes only what a network affects: delay, and loss with the codec. All other parameters have
their defaults in G.107, and echo is cancelled, so that ``R = 93.2 - Id - Ie_eff``. Codec and delay
are those of the scenario.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from skywave.results.samples import Samples

if TYPE_CHECKING:
    import pyarrow as pa


R_DEFAULT = 93.2
"""R of a call without delay and loss, with all parameters at their defaults (G.107 table 2)."""
USABLE_R = 70.0
"""R below which "many users are dissatisfied" (G.109 table 1)."""


@dataclass(frozen=True)
class Codec:
    """The effect of a codec on speech (G.113 Appendix I).

    ``impairment`` is Ie, the impairment by the codec itself. ``robustness`` is Bpl, in percent: how
    well the codec hides losses. The values of G.729A, G.723.1 and G.711 with concealment give the
    impairments at 0 and 2 % of loss that ICAO's working paper ACP WG-I/3 WP-306 prints (table B-1).
    They were not checked against the text of G.113.
    """

    name: str
    impairment: float
    robustness: float


G711 = Codec("G.711 with concealment", 0, 25.1)
G729A = Codec("G.729A", 11, 19)
G723_1 = Codec("G.723.1 at 6.3 kbit/s", 15, 16.1)
CODECS = {"g711": G711, "g729a": G729A, "g723.1": G723_1}
"""The codecs by their names in scenarios."""
PERIOD_S = 10.0
"""How long the periods are that are rated, unless another length is given."""


@dataclass(frozen=True)
class Call:
    """The factors that determine the quality of a call besides its losses."""

    codec: Codec | None
    """None if the scenario does not say."""
    delay_s: float
    """From mouth to ear."""

    def mos(self, played: float) -> float:
        """Return the MOS if this fraction of the frames is played; NaN without a codec."""
        if self.codec is None:
            return math.nan
        return mean_opinion_score(rating(self.codec, self.delay_s, 100 * (1 - played)))


@dataclass(frozen=True)
class Quality:
    """Speech quality over a period. ``loss_percent`` counts everything that was not played."""

    start_s: float
    end_s: float
    loss_percent: float
    delay_s: float
    r: float

    @property
    def mos(self) -> float:
        """Mean opinion score, 1 to 4.5."""
        return mean_opinion_score(self.r)

    @property
    def usable(self) -> bool:
        """Whether R is at least ``USABLE_R``."""
        return self.r >= USABLE_R


def delay_impairment(delay_s: float) -> float:
    """Return Idd, the reduction of R by a mouth-to-ear delay (G.107 section 7.4)."""
    delay_ms = 1e3 * delay_s
    if delay_ms <= 100:
        return 0.0
    x = math.log2(delay_ms / 100)
    rise = math.pow(1 + x**6, 1 / 6) - 3 * math.pow(1 + (x / 3) ** 6, 1 / 6) + 2
    return 25 * rise


def loss_impairment(codec: Codec, loss_percent: float, burst_ratio: float = 1.0) -> float:
    """Return Ie,eff, the reduction of R by a codec and its losses (G.107 section 7.5).

    ``burst_ratio`` is the mean length of loss bursts over that of random losses.
    """
    if loss_percent <= 0:
        return codec.impairment
    share = loss_percent / (loss_percent / burst_ratio + codec.robustness)
    return codec.impairment + (95 - codec.impairment) * share


def rating(codec: Codec, delay_s: float, loss_percent: float, burst_ratio: float = 1.0) -> float:
    """Return the transmission rating factor R, 0 to 93.2."""
    r = R_DEFAULT - delay_impairment(delay_s) - loss_impairment(codec, loss_percent, burst_ratio)
    return max(r, 0.0)


def mean_opinion_score(r: float) -> float:
    """Return the MOS that corresponds to a rating (G.107 annex B)."""
    if r <= 0:
        return 1.0
    if r >= 100:
        return 4.5
    return max(1 + 0.035 * r + r * (r - 60) * (100 - r) * 7e-6, 1.0)


def calls(voice: pa.Table) -> dict[str, Call]:
    """Return the calls of the table ``voice``, by flow."""
    firsts = {flow: int(rows[0]) for flow, rows in Samples(voice).groups("flow").rows().items()}
    return {
        flow: Call(CODECS.get(voice["codec"][row].as_py()), voice["mouth_to_ear_s"][row].as_py())
        for flow, row in firsts.items()
    }


def quality(
    voice: pa.Table, flow: str, codec: Codec | None = None, *, period_s: float = PERIOD_S
) -> list[Quality]:
    """Rate a voice flow by periods of ``period_s`` seconds.

    ``voice`` is the table of that name in a run's results. ``codec`` is the scenario's, unless
    another is given.

    A frame counts in the period in which the codec made it. It contains the speech of the interval
    before, and is played when its deadline comes, so the delay is the sum of both. Frames that were
    not played count as lost, whatever the cause. Periods without speech are left out. So are frames
    whose deadline may come after the end of the run (the results do not have them): the last period
    may be shorter than ``period_s``.

    Raises:
        KeyError: If the flow is not a voice flow.
        ValueError: If the codec is not known.
    """
    call = calls(voice).get(flow)
    if call is None:
        raise KeyError(f"{flow} is not a voice flow")
    codec = codec or call.codec
    if codec is None:
        raise ValueError(f"the codec of {flow} is not known: give it here or in the scenario")
    ratings = []
    for start_s, end_s, played in _played(voice, flow, period_s):
        loss_percent = 100 * (1 - played)
        r = rating(codec, call.delay_s, loss_percent)
        ratings.append(Quality(start_s, end_s, loss_percent, call.delay_s, r))
    return ratings


def over_time(voice: pa.Table, period_s: float = PERIOD_S) -> pa.Table:
    """Return a table of calls by periods: when they end, the fraction played, and the MOS.

    ``voice`` is the table of that name. :func:`quality` says what a period has.
    """
    import pyarrow as pa  # noqa: PLC0415  (loaded when there are tables)

    rows = [
        {"time_s": end_s, "flow": flow, "played": played, "mos": call.mos(played)}
        for flow, call in calls(voice).items()
        for _, end_s, played in _played(voice, flow, period_s)
    ]
    columns = {"time_s": "float64", "flow": "string", "played": "float64", "mos": "float64"}
    types = [(name, pa.type_for_alias(alias)) for name, alias in columns.items()]
    return pa.Table.from_pylist(rows, schema=pa.schema(types))


def _played(voice: pa.Table, flow: str, period_s: float) -> Iterator[tuple[float, float, float]]:
    """Yield when each period with speech begins and ends, and the fraction played of it."""
    samples = Samples(voice)
    rows = samples.groups("flow").rows()[flow]
    ends_s, frames, played = (samples[name][rows] for name in ("time_s", "frames", "played"))
    # A sample that ends exactly at the end of a period belongs to it.
    periods = np.ceil(ends_s / period_s - 1e-9).astype(int) - 1
    for period in np.unique(periods):
        among = periods == period
        made = frames[among].sum()
        if made > 0:
            end_s = min((period + 1) * period_s, ends_s.max())
            yield float(period * period_s), float(end_s), float(played[among].sum() / made)
