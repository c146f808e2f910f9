"""Call quality by the E-model of ITU-T G.107, from the results of a :class:`~skywave.Voice` flow.

Computes only what a network affects: delay, and loss with the codec. All other parameters have
their defaults in G.107, and echo is cancelled, so that ``R = 93.2 - Id - Ie_eff``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from skywave.results import Results

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


def quality(
    results: Results,
    flow: str,
    codec: Codec,
    *,
    playout_s: float,
    packet_s: float,
    period_s: float = 10.0,
) -> list[Quality]:
    """Rate a voice flow by periods of ``period_s`` seconds.

    A frame counts in the period in which the codec made it. It is played ``playout_s`` (the flow's
    deadline) later and contains the ``packet_s`` seconds of speech before, so the delay is their
    sum. Frames that were not played count as lost, whatever the cause. Periods without speech are
    left out. So are frames whose deadline may come after the end of the run (the results do not
    have them): the last period may be shorter than ``period_s``.

    Raises:
        KeyError: If the flow is not a voice flow, or the run has none.

    """
    table = results.voice
    rows = np.asarray(table["flow"].to_pylist()) == flow
    ends = table["time_s"].to_numpy()[rows]
    frames, played = (table[name].to_numpy()[rows] for name in ("frames", "played"))
    if not ends.size:
        raise KeyError(f"{flow} is not a voice flow")
    # A sample that ends exactly at the end of a period belongs to it.
    periods = np.ceil(ends / period_s - 1e-9).astype(int) - 1
    ratings = []
    for period in np.unique(periods):
        made = int(frames[periods == period].sum())
        if made == 0:
            continue
        loss_percent = 100 * (1 - int(played[periods == period].sum()) / made)
        delay_s = playout_s + packet_s
        ratings.append(
            Quality(
                start_s=float(period * period_s),
                end_s=float(min((period + 1) * period_s, ends.max())),
                loss_percent=loss_percent,
                delay_s=delay_s,
                r=rating(codec, delay_s, loss_percent),
            )
        )
    return ratings
