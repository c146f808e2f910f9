"""The downloads over the live satellite link as scenarios on its emulation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from skywave.papers.reproduction import Parameter
from skywave.scenario import Dccp, DynamicFeedback, Ftp, Probes, Tfrc
from skywave_papers.sarwar2008.access import FITTED, PACKET_ERROR_RATE, SharedAccess
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
    return description.add_flow(
        "download",
        "s1",
        "d1",
        Dccp(ccid=3, ecn=False, short_seqnos=True, tfrc=tfrc),
        Ftp(datagram=f"{PACKET_SIZE} B"),
    )


PARAMETERS = (
    Parameter(
        "Live link", "emulated: 1 Mbps down, 256 kbps up, queue of 50 packets, RTT of 1.2 s", "ours"
    ),
    Parameter(
        "Errors of the live link",
        f"{100 * PACKET_ERROR_RATE:g} % of packets, in bursts of {FITTED.burst_packets:g} (mean)",
        "rate: paper (0.24 to 0.42 %); bursts: fitted to Table I, standard",
    ),
    Parameter(
        "Load of the live link by others",
        f"leaves {FITTED.left_kbps:g} kbps for {FITTED.busy_s:g} s, then all for "
        f"{FITTED.quiet_s:g} s (exponential means)",
        "model: ours; numbers: fitted to Table I, standard",
    ),
    Parameter(
        "Downloads",
        f"{len(SEEDS)} seeds, the same for each condition; {len(BEYOND_SEEDS)} beyond the paper",
        "paper: 50 in all",
    ),
    Parameter(
        "RTT at the receiver, live link",
        "by the window counter (RFC 4342), with both kinds of feedback",
        'paper, section IV: "standard DCCP/CCID3 default parameters"; section I: Linux',
    ),
    Parameter("Length of a download", f"{DURATION_S} s", "ours; the paper's differ"),
)
"""The parameters of the downloads."""
