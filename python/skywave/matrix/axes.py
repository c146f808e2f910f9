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
"""A receive window in segments, which limits no flow of these networks but Hybla's, whose slow
start has no other bound where the round-trip time is long."""


def _dccp(ccid: int, note: str, initial_ssthresh: int | None = None) -> Control:
    # The routers of these controls do not mark.
    transport = Dccp(ccid=ccid, ecn=False, initial_ssthresh=initial_ssthresh)
    return Control(f"ccid{ccid}", f"CCID {ccid}", transport, note)


def _tcp(key: str, label: str, note: str, **given: str) -> Control:
    tcp = Tcp(receive_window=_TCP_WINDOW, **given)  # type: ignore[arg-type]
    return Control(key, label, tcp, note)


def _as_in_linux(control: str, label: str, note: str, key: str | None = None) -> Control:
    return _tcp(f"tcp-{key or control}", label, note, control=control, profile="linux")


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
    _as_in_linux(
        "cubic",
        "TCP CUBIC, Linux",
        "RFC 9438 with HyStart and the other mechanisms of Linux's TCP (profile linux), such as "
        "RACK-TLP, PRR and an initial window of 10 segments",
        key="cubic-linux",
    ),
    _as_in_linux("bbr", "TCP BBR", "BBRv3, draft-ietf-ccwg-bbr"),
    _as_in_linux("c4", "TCP C4", "draft-huitema-ccwg-c4-spec"),
    _as_in_linux(
        "prague",
        "TCP Prague",
        "for L4S, with Accurate ECN; no queue here marks, so it responds to losses alone, as Reno",
    ),
    _as_in_linux(
        "dctcp",
        "DCTCP",
        "RFC 8257, for queues that mark early; none here marks, so it is Reno",
    ),
    _as_in_linux("hybla", "TCP Hybla", "grows on a long path as Reno does on one of 25 ms"),
    _as_in_linux("htcp", "H-TCP", "grows faster the longer ago the last loss was"),
    _as_in_linux(
        "illinois", "TCP-Illinois", "grows fast and gives up little while the queue is short"
    ),
    _as_in_linux(
        "westwood", "TCP Westwood+", "a loss leaves what fills the path at the measured bandwidth"
    ),
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
