"""Published values of Table I and Figures 3 to 6 beside the downloads over the emulated link."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from skywave.papers.cells import CLOSE, Cell, Limit, SameOrder
from skywave.papers.reasons import Cause, Reason
from skywave_papers.sarwar2008 import downloads, fit
from skywave_papers.sarwar2008.live import (
    BEYOND_SEEDS,
    DURATION_S,
    DYNAMIC,
    SEEDS,
    SLOW_SMOOTHING,
    STANDARD,
)
from skywave_papers.sarwar2008.published import GAIN_PERCENT, LIVE_EXIT_GAIN_S, TABLE_1

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skywave_papers.sarwar2008.downloads import Course, Totals
    from skywave_papers.sarwar2008.live import Download

    Downloads = Mapping[Download, Sequence[Totals]]

FIT_REASON = Reason(
    Cause.UNSTATED,
    "The fit holds for the seeds of the search; with those of the table it is worse.",
)
LOSS_REASON = Reason(
    Cause.UNSTATED,
    "More than half of our loss is the overshoot at the end of slow start, which dynamic feedback "
    "hardly changes: X doubles until the first loss is reported, with either. After it dynamic "
    "feedback loses less, as published (table above). The weight of an overshoot depends on the "
    "queue and on the duration of a download, neither of which is published.",
)
EXIT_REASON = Reason(
    Cause.UNSTATED,
    "From one packet per RTT to the link's rate both need the same number of doublings; dynamic "
    "feedback only saves waiting for feedback. How much it saves depends on the rate at which slow "
    "start ends, which the paper does not give for its live link.",
)


def _deviation_reason(ours: Downloads) -> Reason:
    slow_start_percent = 100 * downloads.mean(ours[STANDARD], "first_loss_s") / DURATION_S
    return Reason(
        Cause.UNSTATED,
        "The paper does not say which downloads its deviation covers: their durations and times of "
        f"day differ. Ours all last {DURATION_S} s, of which slow start takes "
        f"{slow_start_percent:.0f} % and a single busy time or burst of errors a large part. "
        "No access with a smaller deviation meets both the mean rate and the mean loss: see the "
        "search.",
    )


def _prediction_reason() -> Reason:
    gains = [trial.gain_percent for trial in fit.fitting(fit.TABLE.read())]
    return Reason(
        Cause.UNSTATED,
        "Nothing was fitted to dynamic feedback. It gains for the reasons that the paper gives, a "
        "shorter slow start and a mean round-trip time that follows more closely, but it gains "
        f"less: the accesses that fit standard feedback predict {min(gains):.0f} to "
        f"{max(gains):.0f} % with the seeds of the search (its table). How the round-trip time of "
        "the live link varied is not published. Nor does the paper say that its two rows had the "
        "same load by others, as ours have.",
    )


@dataclass(frozen=True)
class SameSign:
    """The correlation has the published sign and is not weak."""

    least: float

    @property
    def text(self) -> str:
        """The rule in words."""
        return f"same sign, at least {self.least:g} in magnitude"

    def holds(self, published: float, ours: float) -> bool:
        """Return whether the values agree."""
        return published * ours > 0 and abs(ours) >= self.least


def published_cells(
    ours: Downloads, beyond: Downloads, courses: Mapping[Download, Course]
) -> list[Cell]:
    """Judge Table I and the statements of section VI."""
    return [
        *_row("standard", ours, FIT_REASON, FIT_REASON),
        *_row("dynamic", ours, _prediction_reason(), LOSS_REASON),
        *_differences(ours),
        *_exit(ours),
        *_correlations(ours, courses),
        _cell(
            "text/rtt-accuracy",
            "share of the gain that is lost if the mean round-trip time forgets as slowly as with "
            "standard feedback (its accuracy is believed to be the main benefit)",
            "%",
            50.0,
            rtt_share_percent(beyond),
            rule=Limit(">"),
            runs=len(BEYOND_SEEDS),
        ),
    ]


def rtt_share_percent(beyond: Downloads) -> float:
    """Return the share of dynamic feedback's gain that is due to following the RTT closely."""
    gain, slower = (
        downloads.gain(beyond[download], beyond[STANDARD], "rate_kbps")[0]
        for download in (DYNAMIC, SLOW_SMOOTHING)
    )
    return 100 * (1 - slower / gain)


def _cell(
    id_: str,
    what: str,
    unit: str,
    published: float,
    ours: float,
    *,
    runs: int = len(SEEDS),
    **more: object,
) -> Cell:
    """Return a cell about ``runs`` downloads of a kind over the live link, without ns-2."""
    judged = {"rule": CLOSE, "known_reason": None, **more}
    conditions: dict[str, str | float] = {"link": "IPSTAR, emulated", "downloads": runs}
    return Cell(
        id=id_,
        what=what,
        conditions=conditions,
        unit=unit,
        published=published,
        ours=ours,
        **judged,  # type: ignore[arg-type]
    )


def _row(feedback: str, ours: Downloads, rate_why: Reason, loss_why: Reason) -> list[Cell]:
    runs = ours[STANDARD if feedback == "standard" else DYNAMIC]
    row = TABLE_1[feedback]
    made = "fitted" if feedback == "standard" else "predicted"
    published = (row.rate_kbps, row.deviation_kbps, row.loss_percent)
    found = (
        downloads.mean(runs, "rate_kbps"),
        downloads.deviation(runs, "rate_kbps"),
        downloads.mean(runs, "loss_percent"),
    )
    columns = (
        ("rate", "mean rate", "kbit/s", rate_why),
        ("deviation", "standard deviation of the rate", "kbit/s", _deviation_reason(ours)),
        ("loss", "mean packet loss", "%", loss_why),
    )
    return [
        _cell(
            f"table1/{feedback}/{name}",
            f"{what}, {feedback} feedback ({made})",
            unit,
            theirs,
            mine,
            known_reason=why,
        )
        for (name, what, unit, why), theirs, mine in zip(columns, published, found, strict=True)
    ]


def _differences(ours: Downloads) -> list[Cell]:
    """Judge the gains of dynamic feedback: the differences between the rows, and the text."""
    slow, fast = ours[STANDARD], ours[DYNAMIC]
    rates = [downloads.values(runs, "rate_kbps") for runs in (slow, fast)]
    rate_gain, _ = downloads.gain(fast, slow, "rate_kbps")
    loss_gain, _ = downloads.gain(slow, fast, "loss_percent")
    standard, dynamic = TABLE_1["standard"], TABLE_1["dynamic"]
    return [
        _cell(
            "table1/rate-order",
            "how much higher the rate is with dynamic feedback",
            "kbit/s",
            dynamic.rate_kbps - standard.rate_kbps,
            rate_gain,
            rule=SameOrder(resolution=10, unit="kbit/s"),
            known_reason=_prediction_reason(),
        ),
        _cell(
            "table1/loss-order",
            "how much lower the loss is with dynamic feedback",
            "points",
            standard.loss_percent - dynamic.loss_percent,
            loss_gain,
            rule=SameOrder(resolution=0.1, unit="points"),
            known_reason=LOSS_REASON,
        ),
        _cell(
            "text/gain",
            "how much higher the rate is with dynamic feedback (Table I has 42 %)",
            "%",
            GAIN_PERCENT,
            100 * rate_gain / float(rates[0].mean()),
            known_reason=_prediction_reason(),
        ),
        _cell(
            "text/majority",
            "downloads that are faster with dynamic feedback",
            "%",
            50.0,
            100 * float(np.mean(rates[1] > rates[0])),
            rule=Limit(">"),
        ),
    ]


def _exit(ours: Downloads) -> list[Cell]:
    later_s, _ = downloads.gain(ours[STANDARD], ours[DYNAMIC], "first_loss_s")
    return [
        _cell(
            f"fig5/exit{suffix}",
            "how much earlier the first loss occurs with dynamic feedback",
            "s",
            LIVE_EXIT_GAIN_S,
            later_s,
            rule=rule,
            known_reason=EXIT_REASON,
        )
        for suffix, rule in (("", CLOSE), ("-order", SameOrder(resolution=1, unit="s")))
    ]


def _correlations(ours: Downloads, courses: Mapping[Download, Course]) -> list[Cell]:
    """Judge "p and RTT can be directly correlated with received rates", for the plotted runs."""
    standard, dynamic = courses[STANDARD], courses[DYNAMIC]
    skip_s = {name: downloads.mean(ours[name], "first_loss_s") for name in (STANDARD, DYNAMIC)}
    rule = SameSign(least=0.2)
    return [
        _cell(
            "fig3/loss-events",
            "correlation of X with p after slow start, standard feedback (one download)",
            "",
            -1.0,
            standard.correlation(standard.loss_event_rate, skip_s[STANDARD]),
            rule=rule,
            runs=1,
        ),
        _cell(
            "fig4/rtt",
            "correlation of X with the round-trip time after slow start, dynamic feedback "
            "(one download)",
            "",
            -1.0,
            dynamic.correlation(dynamic.rtt_s, skip_s[DYNAMIC]),
            rule=rule,
            runs=1,
        ),
    ]
