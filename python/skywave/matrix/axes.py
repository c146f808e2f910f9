"""The axes of the matrix: the networks of papers, and the core's and papers' controls."""

from __future__ import annotations

from skywave.papers import installed
from skywave.papers.errors import BrokenPaperError
from skywave.papers.lent import Control
from skywave.scenario import Dccp, Tcp, Vcp

PAPERS, _BROKEN = installed.every()

NETWORKS = {paper.key: paper.network for paper in PAPERS if paper.network is not None}
"""All networks by the key of their paper."""
CALLS = {key: network.call for key, network in NETWORKS.items() if network.call is not None}
"""The calls of the networks that have one, by the key of their paper."""

_SCHEMES = {1: "VCP", 2: "DPCP", 3: "TPCP"}
"""Names of MPCP(n), by n."""
_CCID_OF_VCP = 248
_NS2_SSTHRESH = 20
"""ns-2's initial ssthresh, in packets."""
_TCP_WINDOW = 1000
"""A receive window that limits no flow of these networks, in segments."""


def _dccp(ccid: int, note: str, initial_ssthresh: int | None = None) -> Control:
    # The routers of these controls do not mark.
    transport = Dccp(ccid=ccid, ecn=False, initial_ssthresh=initial_ssthresh)
    return Control(f"ccid{ccid}", f"CCID {ccid}", transport, note)


def _tcp(key: str, label: str, note: str, **given: str) -> Control:
    tcp = Tcp(receive_window=_TCP_WINDOW, **given)  # type: ignore[arg-type]
    return Control(key, label, tcp, note)


def _over_dccp(chain: int, name: str) -> Control:
    ccid = _CCID_OF_VCP + chain - 1
    note = f"CCID {ccid}, with {name} routers"
    return Control(f"dccp-{name.lower()}", f"DCCP/{name}", Dccp(ccid=ccid), note, chain)


def _over_tcp(chain: int, name: str) -> Control:
    tcp = Tcp(control="vcp", vcp=Vcp(chain=chain), receive_window=_TCP_WINDOW)
    note = f"{name} in TCP's headers, with {name} routers"
    return Control(f"tcp-{name.lower()}", f"TCP/{name}", tcp, note, chain)


NEWRENO = _tcp("tcp-newreno", "TCP NewReno", "RFC 5681 and RFC 6582", recovery="newreno")
"""The control that competes with each other control, to see whether they share."""

_OURS = (
    _dccp(
        2, f"initial ssthresh of {_NS2_SSTHRESH} packets, as in ns-2 and the papers", _NS2_SSTHRESH
    ),
    _dccp(3, "TFRC, RFC 5348"),
    _dccp(4, "TFRC for small packets: at most one every 10 ms"),
    *(_over_dccp(chain, name) for chain, name in _SCHEMES.items()),
    NEWRENO,
    _tcp("tcp-sack", "TCP SACK", "the window of NewReno, RFC 6675", recovery="sack"),
    _tcp("tcp-vegas", "TCP Vegas", "reacts to delay", control="vegas"),
    _tcp("tcp-cubic", "TCP CUBIC", "RFC 9438, with SACK", control="cubic", recovery="sack"),
    *(_over_tcp(chain, name) for chain, name in _SCHEMES.items()),
)


def _gathered() -> tuple[list[Control], dict[str, BrokenPaperError]]:
    """Return all controls, and by paper why its controls are left out."""
    found, clashes = {control.key: control for control in _OURS}, {}
    for paper in PAPERS:
        own = {control.key: control for control in paper.controls}
        if taken := ", ".join(own.keys() & found.keys()):
            clashes[paper.key] = BrokenPaperError(
                f"{paper.key} of {installed.distribution(paper.key)} defines controls for the "
                f"matrix whose keys are taken ({taken}): rename them"
            )
        else:
            found |= own
    return list(found.values()), clashes


def _place(control: Control) -> tuple[bool, int]:
    """Return the place of a control: those of DCCP by CCID, then those of TCP."""
    transport = control.transport
    return (False, transport.ccid) if isinstance(transport, Dccp) else (True, 0)


_FOUND, _CLASHES = _gathered()

CONTROLS = {control.key: control for control in sorted(_FOUND, key=_place)}
"""All controls by key, in display order: a control that a paper proposes follows the control of
which it is a variant."""

LEFT_OUT = _BROKEN | _CLASHES
"""Why papers, by key, are missing from the matrix, at least in part."""
