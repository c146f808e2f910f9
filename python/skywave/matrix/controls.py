"""The controls of the matrix: what each paper proposes, and what it is compared with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from skywave.papers.nor2011.setting import PUBLISHED_SSTHRESH
from skywave.scenario import Dccp, DynamicFeedback, Tcp, Tfrc, Vcp


@dataclass(frozen=True)
class Control:
    """A congestion control as a flow has it.

    ``transport`` lacks only what the network says, the size of TCP's segments. ``chain`` is the
    number of packets in which its routers tell their load; None where it needs no such routers.
    """

    key: str
    label: str
    transport: Dccp | Tcp
    note: str
    chain: int | None = None

    @property
    def kind(self) -> Literal["dccp", "tcp"]:
        """Which transport it is a control of."""
        return "dccp" if isinstance(self.transport, Dccp) else "tcp"


_SCHEMES = {1: "VCP", 2: "DPCP", 3: "TPCP"}
"""MPCP(n), by n."""
_CCID_OF_VCP = 248
_SSTHRESH, *_, _WIDE_SSTHRESH = PUBLISHED_SSTHRESH


def _dccp(key: str, label: str, ccid: int, note: str, **given: int | Tfrc | None) -> Control:
    # The routers of these do not mark.
    return Control(key, label, Dccp(ccid=ccid, ecn=False, **given), note)  # type: ignore[arg-type]


def _tcp(key: str, label: str, note: str, **given: str) -> Control:
    return Control(key, label, Tcp(**given), note)  # type: ignore[arg-type]


def _over_dccp(chain: int) -> Control:
    name = _SCHEMES[chain]
    return Control(
        f"dccp-{name.lower()}",
        f"DCCP/{name}",
        Dccp(ccid=_CCID_OF_VCP + chain - 1),
        f"CCID {_CCID_OF_VCP + chain - 1}, with {name} routers",
        chain,
    )


def _over_tcp(chain: int) -> Control:
    name = _SCHEMES[chain]
    return Control(
        f"tcp-{name.lower()}",
        f"TCP/{name}",
        Tcp(control="vcp", vcp=Vcp(chain=chain)),
        f"{name} in TCP's headers, with {name} routers",
        chain,
    )


NEWRENO = _tcp("tcp-newreno", "TCP NewReno", "RFC 5681 and RFC 6582", recovery="newreno")
"""What each control is put beside to see whether it shares."""

CONTROLS = {
    control.key: control
    for control in (
        _dccp(
            "ccid2",
            "CCID 2",
            2,
            f"initial ssthresh of {_SSTHRESH} packets, ns-2's and the papers'",
            initial_ssthresh=_SSTHRESH,
        ),
        _dccp(
            f"ccid2-ssthresh{_WIDE_SSTHRESH}",
            f"CCID 2, ssthresh {_WIDE_SSTHRESH}",
            2,
            "what Nor et al. propose",
            initial_ssthresh=_WIDE_SSTHRESH,
        ),
        _dccp("ccid3", "CCID 3", 3, "TFRC, RFC 5348"),
        _dccp(
            "ccid3-dynamic",
            "CCID 3, dynamic feedback",
            3,
            "what Sarwar et al. propose: a report each 100 ms",
            tfrc=Tfrc(feedback=DynamicFeedback(rtt_ref="100 ms")),
        ),
        _dccp("ccid4", "CCID 4", 4, "TFRC for small packets: at most one each 10 ms"),
        *map(_over_dccp, _SCHEMES),
        NEWRENO,
        _tcp("tcp-sack", "TCP SACK", "the window of NewReno, RFC 6675", recovery="sack"),
        _tcp("tcp-vegas", "TCP Vegas", "answers delay", control="vegas"),
        _tcp("tcp-cubic", "TCP CUBIC", "RFC 9438, with SACK", control="cubic", recovery="sack"),
        *map(_over_tcp, _SCHEMES),
    )
}
"""All controls by their key, in the order in which they are shown."""
