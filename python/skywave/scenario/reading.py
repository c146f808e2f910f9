"""From normalised JSON, as the core writes it, back to parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from skywave.control import imported
from skywave.scenario.mirror import Mirror
from skywave.scenario.networks import Back, Bernoulli, GilbertElliott, PacketLoss, Step, Trace
from skywave.scenario.queues import (
    AdaptiveRed,
    CoDel,
    DropTail,
    FqCoDel,
    Pie,
    Red,
    SubQueue,
    VcpRouter,
    Weighted,
)
from skywave.scenario.sources import Adapt, Cbr, FileSize, Ftp, Talkspurts, Think, Voice, Web
from skywave.scenario.transports import (
    Aimd,
    Cubic,
    Dccp,
    DynamicFeedback,
    PerRoundTrip,
    Reno,
    Tcp,
    Tfrc,
    Udp,
    Vcp,
    Vegas,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

PartT = TypeVar("PartT", bound=Mirror)


_TAGGED: dict[str | None, type[Mirror]] = {
    variant.TAG: variant
    for variant in (
        Tcp,
        Dccp,
        Udp,
        Ftp,
        Cbr,
        Voice,
        Web,
        DropTail,
        Red,
        AdaptiveRed,
        CoDel,
        FqCoDel,
        Pie,
        VcpRouter,
        Weighted,
        Bernoulli,
        GilbertElliott,
        PerRoundTrip,
        DynamicFeedback,
    )
}
"""Variants by their tag, for the keys whose value has one of several forms."""
_LISTS: dict[str, type[Mirror]] = {"steps": Step, "queues": SubQueue, "think": Think}
_PARTS: dict[str, type[Mirror]] = {
    "trace": Trace,
    "back": Back,
    "talkspurts": Talkspurts,
    "adapt": Adapt,
    "tfrc": Tfrc,
    "aimd": Aimd,
    "reno": Reno,
    "cubic": Cubic,
    "vegas": Vegas,
    "vcp": Vcp,
    "size": FileSize,
}


def read(mirror: type[PartT], document: Mapping[str, Any]) -> PartT:
    """Read a part from the core's normalised JSON."""
    values: dict[str, Any] = {}
    document = dict(document)
    if (name := document.get("control")) and ":" in name:
        document["control"] = imported(name, document.pop(name, {}))
    for key, value in document.items():
        if key in ("transport", "source", "queue", "loss", "feedback") and isinstance(value, dict):
            ((tag, body),) = value.items()
            values[key] = read(_TAGGED[tag], body) if tag in _TAGGED else read(PacketLoss, value)
        elif key == "queue":
            # "unlimited" is what there is without a queue.
            continue
        elif key in _PARTS and isinstance(value, dict):
            values[key] = read(_PARTS[key], value)
        elif key in _LISTS:
            values[key] = tuple(read(_LISTS[key], item) for item in value)
        else:
            name = f"{key}_" if key in ("from", "class") else key
            values[name] = tuple(value) if isinstance(value, list) else value
    return mirror(**values)
