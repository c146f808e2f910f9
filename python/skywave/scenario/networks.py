"""Links, what happens to packets on them, and the classic topology."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from skywave.scenario.mirror import Mirror

if TYPE_CHECKING:
    from skywave.scenario.queues import Queue


@dataclass(frozen=True, kw_only=True)
class PacketLoss(Mirror):
    """Loses the packets with these arrival ordinals at the link, counted from 1."""

    packets: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Bernoulli(Mirror):
    """Loses packets at random: each packet or bit has an error with this ``probability``."""

    TAG: ClassVar[str] = "bernoulli"
    probability: float
    per: Literal["packet", "bit"] | None = None


@dataclass(frozen=True, kw_only=True)
class GilbertElliott(Mirror):
    """Loses packets in bursts: a channel that is good or bad, and may change before each packet.

    The probabilities are those of a change, and of an error (of a packet, or of a bit) in either
    state. Without others, all packets are lost while it is bad and none while it is good.
    """

    TAG: ClassVar[str] = "gilbert-elliott"
    good_to_bad: float
    bad_to_good: float
    in_good: float | None = None
    in_bad: float | None = None
    per: Literal["packet", "bit"] | None = None


Loss = PacketLoss | Bernoulli | GilbertElliott


@dataclass(frozen=True, kw_only=True)
class Step(Mirror):
    """From ``at`` on, a link has this rate and delay; what is None is as it was.

    At ``"0 bps"`` the link is out.
    """

    at: str
    rate: str | None = None
    delay: str | None = None


@dataclass(frozen=True, kw_only=True)
class Trace(Mirror):
    """How a link's rate and delay change with time: its steps, in order.

    A packet has the rate and delay of the beginning of its transmission. None overtakes another:
    where the delay falls, those that would arrive behind the one ahead, at the link's rate.
    """

    steps: tuple[Step, ...]


@dataclass(frozen=True, kw_only=True)
class Back(Mirror):
    """The way back of a link: what is None is as on the way forward.

    Losses, trace and jitter it has only where they stand here.
    """

    rate: str | None = None
    delay: str | None = None
    queue: Queue | None = None
    loss: Loss | None = None
    trace: Trace | None = None
    jitter: str | None = None


@dataclass(frozen=True, kw_only=True)
class Dumbbell(Mirror):
    """Hosts ``s1``.. ``sN`` behind router ``r1``, hosts ``d1``.. ``dN`` behind router ``r2``.

    ``access_delays`` are those of pair 1, pair 2 and so on, from the beginning again where there
    are more pairs than delays. The queue is that of the bottleneck, both ways; without one it is
    unlimited. ``loss``, ``trace`` and ``jitter`` are those of the bottleneck, forward; ``back`` is
    its way back, where that differs.
    """

    pairs: int
    rate: str
    delay: str
    access_rate: str
    access_delays: tuple[str, ...]
    queue: Queue | None = None
    loss: Loss | None = None
    trace: Trace | None = None
    jitter: str | None = None
    back: Back | None = None


@dataclass(frozen=True, kw_only=True)
class Link(Mirror):
    """A link between two nodes, in both directions unless ``one_way``.

    Without a queue it never drops. ``loss``, ``trace`` and ``jitter`` (each packet takes up to so
    much longer, and none overtakes another) are those of the forward direction; ``back`` is the way
    back, where that differs.
    """

    from_: str
    to: str
    rate: str
    delay: str
    queue: Queue | None = None
    loss: Loss | None = None
    trace: Trace | None = None
    jitter: str | None = None
    back: Back | None = None
    one_way: bool | None = None
