"""What applications send."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from skywave.scenario.mirror import Mirror


@dataclass(frozen=True, kw_only=True)
class Ftp(Mirror):
    """Always has data, or ``size`` in all; ``datagram`` is for transports that carry datagrams."""

    TAG: ClassVar[str] = "ftp"
    size: str | None = None
    datagram: str | None = None


@dataclass(frozen=True, kw_only=True)
class Cbr(Mirror):
    """Datagrams of one size at a constant rate of application data."""

    TAG: ClassVar[str] = "cbr"
    rate: str
    datagram: str


@dataclass(frozen=True, kw_only=True)
class Talkspurts(Mirror):
    """Mean lengths of talk and pauses, exponentially distributed; those of ITU-T P.59 if None."""

    talk: str | None = None
    pause: str | None = None


@dataclass(frozen=True, kw_only=True)
class Adapt(Mirror):
    """How a voice source adapts: it sends only when no datagram waits in the transport.

    Until then it gathers up to ``frames`` frames for one datagram, and gives up the oldest when
    there are more. ``modes`` are the bytes of a frame in each lower mode of the codec; it goes down
    one when it has to wait, and up again when it has not for a while.
    """

    frames: int
    modes: tuple[str, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class Voice(Mirror):
    """A voice call, one way: a ``frame`` every ``interval``, ``frames`` of them in a datagram.

    ``header`` is RTP's. A frame is played if it arrives within ``deadline`` from when it was made;
    ``Results.voice`` counts what becomes of each.
    """

    TAG: ClassVar[str] = "voice"
    frame: str
    interval: str
    frames: int | None = None
    header: str | None = None
    deadline: str | None = None
    talkspurts: Talkspurts | None = None
    adapt: Adapt | None = None


@dataclass(frozen=True, kw_only=True)
class Think(Mirror):
    """One part of a mixture of think times: log-logistic, with this ``median`` and ``shape``.

    ``probability`` is the share of think times that are of this part; shares add up to 1.
    """

    probability: float
    median: str
    shape: float


@dataclass(frozen=True, kw_only=True)
class FileSize(Mirror):
    """Lengths of files: log-logistic, ``P{F > f} = 1 / (1 + (f / median)**shape)``."""

    median: str | None = None
    shape: float | None = None


@dataclass(frozen=True, kw_only=True)
class Web(Mirror):
    """Web traffic: thinks, sends a file over a connection of its own, and thinks again.

    Think times and lengths have the laws of Ott, Lakshman and Wong ("SRED", 1999) unless others
    are given: ``P{T > t}`` is the sum of ``probability / (1 + (t / median)**shape)``. ``datagram``
    is for transports that carry datagrams. ``Results.transfers`` has every file.
    """

    TAG: ClassVar[str] = "web"
    think: tuple[Think, ...] | None = None
    size: FileSize | None = None
    datagram: str | None = None


Source = Ftp | Cbr | Voice | Web
