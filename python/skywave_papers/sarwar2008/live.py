"""The downloads over the live satellite link as scenarios on its emulation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from skywave.scenario import Dccp, DynamicFeedback, Ftp, Probes, Tfrc
from skywave_papers.sarwar2008.access import FITTED, SharedAccess
from skywave_papers.sarwar2008.setting import PACKET_SIZE

if TYPE_CHECKING:
    from skywave.scenario import Scenario

DURATION_S = 200
SEEDS = range(1, 51)
"""The 50 downloads. A seed determines errors and load by others, the same for each condition."""
BEYOND_SEEDS = SEEDS[:20]
"""The downloads of conditions that the paper does not have."""
DOWN = "r1->r2"
UP = "r2->r1"
RTT_REFS_MS = (25, 50, 100, 200, 400)


@dataclass(frozen=True)
class Download:
    """The conditions of a download."""

    feedback: Literal["standard", "dynamic"]
    rules: Literal["rfc3448", "rfc5348"] = "rfc3448"
    rtt_ref_ms: int = 100
    window: Literal["interval", "round-trip"] = "interval"
    smoothing: Literal["per-report", "per-round-trip"] = "per-report"
    receiver_rtt: Literal["window-counter", "option"] = "window-counter"

    @property
    def name(self) -> str:
        """The name for files, which lists what differs from the paper's experiment."""
        name = f"ipstar-{self.feedback}"
        if self.rules != "rfc3448":
            name += f"-{self.rules}"
        if self.rtt_ref_ms != 100:
            name += f"-rttref{self.rtt_ref_ms}"
        if self.window != "interval":
            name += f"-window-{self.window}"
        if self.smoothing != "per-report":
            name += f"-smoothing-{self.smoothing}"
        if self.receiver_rtt != Download.receiver_rtt:
            name += f"-rtt-{self.receiver_rtt}"
        return name


STANDARD = Download("standard")
DYNAMIC = Download("dynamic")
BY_RULES = (
    STANDARD,
    DYNAMIC,
    replace(STANDARD, rules="rfc5348"),
    replace(DYNAMIC, rules="rfc5348"),
)
LONG_WINDOW = replace(DYNAMIC, window="round-trip")
"""X_recv is measured over a whole round-trip time, however often it is reported."""
SLOW_SMOOTHING = replace(DYNAMIC, smoothing="per-round-trip")
"""The mean round-trip time forgets as slowly as with standard feedback."""
MOST_REPORTS_SLOW_SMOOTHING = replace(SLOW_SMOOTHING, rtt_ref_ms=min(RTT_REFS_MS))
WHY = (STANDARD, DYNAMIC, LONG_WINDOW, SLOW_SMOOTHING, MOST_REPORTS_SLOW_SMOOTHING)
BY_RTT_REF = {rtt_ref: replace(DYNAMIC, rtt_ref_ms=rtt_ref) for rtt_ref in RTT_REFS_MS}
ALL_DOWNLOADS = tuple(dict.fromkeys((*BY_RULES, *WHY, *BY_RTT_REF.values())))


def seeds(download: Download) -> range:
    """Return the seeds of a condition."""
    return SEEDS if download in (STANDARD, DYNAMIC) else BEYOND_SEEDS


def scenario(
    download: Download, seed: int, access: SharedAccess = FITTED, *, rates: bool = False
) -> Scenario:
    """Return the scenario of one download. ``rates`` records X, p and the round-trip time."""
    description = access.scenario(
        f"sarwar2008-{download.name}-{seed}", seed=seed, duration_s=DURATION_S
    )
    description.probes = Probes(interval="1 s", links=(DOWN,), rates=rates)
    dynamic = DynamicFeedback(rtt_ref=f"{download.rtt_ref_ms} ms", window=download.window)
    tfrc = Tfrc(
        rules=download.rules,
        smoothing=download.smoothing,
        feedback=dynamic if download.feedback == "dynamic" else "window-counter",
        receiver_rtt=download.receiver_rtt,
    )
    description.add_flow(
        "download",
        "s1",
        "d1",
        Dccp(ccid=3, ecn=False, short_seqnos=True, tfrc=tfrc),
        Ftp(datagram=f"{PACKET_SIZE} B"),
    )
    return description
